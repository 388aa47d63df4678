//! What of a prompt its writer wrote, and what was pasted.

use super::*;

fn read(prompt: &str) -> Vec<String> {
    prose(prompt, &[]).sentences
}

#[test]
fn what_was_pasted_is_no_prose() {
    for (prompt, wants) in [
        ("fix the tests", vec!["fix the tests"]),
        ("Fix it. Then push.", vec!["Fix it.", "Then push."]),
        ("{\"task_id\": 1}", vec![]),
        ("[Image #1]\nwhy is it red?", vec!["why is it red?"]),
        ("```\ncode here\n```\nexplain this", vec!["explain this"]),
        (
            "# Make   **it** fast\n- one\n2. two",
            vec!["Make it fast", "one", "two"],
        ),
        ("keep `a ** b` as it is", vec!["keep `a ** b` as it is"]),
        ("!git status\nwhy is it dirty?", vec!["why is it dirty?"]),
        (
            "➜ shop git push\nerror: no\n- try this\n\nplease fix. now",
            vec!["please fix.", "now"],
        ),
        ("'/a b.png' '/c.png' fix it all", vec!["fix it all"]),
        ("one ┃ two │ three", vec!["one two three"]),
        (
            "see https://example.com/a/b?q=1, and stop",
            vec!["see example.com/a/b and stop"],
        ),
        (
            "review https://github.com/corner/shop/pull/12#discussion_r1 please",
            vec!["review shop PR #12 please"],
        ),
        (
            "look at the PR https://github.com/ada/shop/pull/12 and this issue: https://github.com/ada/shop/issues/3",
            vec!["look at the shop PR #12 and this shop issue #3"],
        ),
        (
            "shop on main\n❯ ls\na b c d\n\nwhy so many?",
            vec!["why so many?"],
        ),
        ("ada@box shop % ls\na\n\nwhy?", vec!["why?"]),
        ("look into ../shop", vec!["look into ../shop"]),
        ("pull main..clean up", vec!["pull main", "clean up"]),
        ("stop asking...just do", vec!["stop asking...just do"]),
        ("2026-02-03T10:00:00Z INFO started\nwhy?", vec!["why?"]),
        (
            "run this:\n    let x = 1;\n    - and this",
            vec!["run this:", "and this"],
        ),
        ("~/shots/a.png", vec![]),
        ("看看这个", vec!["看看这个"]),
    ] {
        assert_eq!(read(prompt), wants, "{prompt}");
    }
}

#[test]
fn what_a_terminal_drew_is_no_prose_and_templates_are() {
    for (prompt, wants) in [
        (
            "find out from where {{ total }} may come, whoever wrote the folder's name into the cart",
            vec![
                "find out from where {{ total }} may come, whoever wrote the folder's name into the cart",
            ],
        ),
        ("if (all == one) { return {}; }", vec![]),
        (
            "why is it told?\n\nStopped by a hook:          \n  another cart is open         \n             \n  Press the up arrow.",
            vec!["why is it told?"],
        ),
        (
            "look at it:\n  cart 40%            \n\nI'd like two:\n  show the shop\n  hide the rest",
            vec![
                "look at it:",
                "I'd like two:",
                "show the shop",
                "hide the rest",
            ],
        ),
        (
            "two carts:\n  one, and another",
            vec!["two carts:", "one, and another"],
        ),
    ] {
        assert_eq!(read(prompt), wants, "{prompt}");
    }
}

#[test]
fn what_was_pasted_behind_its_announcement_is_no_prose() {
    let prompt = "I got this during a rebase:\n\n$ git rebase main\nLink this commit?\n\nI think we should prevent it.";
    let wants = [
        "I got this during a rebase:",
        "I think we should prevent it.",
    ];
    assert_eq!(read(prompt), wants);
    let found = prose(
        "Look at this feedback:\n\nThe store has no lock.\nIt races.",
        &[],
    );
    assert_eq!(found.sentences, ["Look at this feedback:"]);
    assert_eq!(found.pasted.as_deref(), Some("The store has no lock."));
    let prompt =
        "Implement this plan:\n\n# Two parsers\n\n## Context\n\nIt grew.\n\nWe should test it.";
    assert_eq!(read(prompt), ["Implement this plan:", "Two parsers"]);
    assert_eq!(
        read("do these:\n- one thing\n- another"),
        ["do these:", "one thing", "another"]
    );
    let found = prose("we get this: 2026/02/03 10:00:00 WARN no such ref", &[]);
    assert_eq!(
        (found.sentences, found.is_cut),
        (vec!["we get this".to_owned()], true)
    );
    assert_eq!(read("it fails: {\"time\":1}"), ["it fails"]);
    let id = "why is the session 0bdbfa06-acf1-473a-b3e4-6a03313d1d0e not there any more";
    assert_eq!(
        read(id),
        ["why is the session 0bdbfa06… not there any more"]
    );
}

#[test]
fn what_a_terminal_showed_is_the_error_that_is_asked_about() {
    let prompt = "➜  shop git:(main) ✗ git push\nerror: no `hooks.toml` in this folder\n\
        ➜  shop git:(main) ✗ hooks uninstall\n`pre-push` does not exist\n\nplease fix. i use no hooks";
    let prose = prose(prompt, &[]);
    assert_eq!(prose.sentences, ["please fix.", "i use no hooks"]);
    assert_eq!(prose.error, Some("error: no `hooks.toml` in this folder"));
}

#[test]
fn the_agents_words_are_quoted() {
    let said = "I would drop the second cache and read the file again each time.";
    let prompt = format!("{said}\nwhy?");
    assert_eq!(prose(&prompt, &[said]).sentences, ["why?"]);
    assert_eq!(prose(&prompt, &[]).sentences.len(), 2);
}

#[test]
fn a_long_output_is_nobodys_words_paragraph_by_paragraph() {
    let output = "built it\n\n  You need to set the format of carts.\n\n".repeat(12);
    let prompt =
        format!("The warnings are still there.\n\nada@box shop % make\n{output}Please fix them.");
    let wants = ["The warnings are still there.", "Please fix them."];
    assert_eq!(prose(&prompt, &[]).sentences, wants);
}

#[test]
fn an_error_that_was_pasted_is_known() {
    let found = prose("I get this:\n  shop: error: no such column: price\n", &[]);
    assert_eq!(found.error, None, "too short a line would be prose");
    let ended = "I get this\n[shop] failed: error: shop exited with code 2\n[shop] error: no such column: price";
    assert_eq!(
        prose(ended, &[]).error,
        Some("error: no such column: price")
    );
    let found = prose("I get this\n[shop] error: no such column: price", &[]);
    assert_eq!(found.error, Some("error: no such column: price"));
    let found = prose("\u{23bf}\u{a0}\u{a0}Error: unknown skill: commit", &[]);
    assert_eq!(found.error, Some("Error: unknown skill: commit"));
    let found = prose("fix this\nhttps://example.com/boards/1", &[]);
    assert_eq!(found.address, Some("https://example.com/boards/1"));
}

#[test]
fn what_an_agent_said_is_quoted_without_its_marks() {
    let said = [
        "1. **The cart is read**: twice, by the `shop` and by the page",
        "Let me write that down.",
    ];
    let prompt =
        "1. The cart is read: twice, by the shop and by the page\n\nI think it is read once";
    assert_eq!(prose(prompt, &said).sentences, ["I think it is read once"]);
    let remark = "- The cart is read: twice, by the shop <- why is that?";
    let wants = ["The cart is read: twice, by the shop <- why is that?"];
    assert_eq!(prose(remark, &said).sentences, wants);
}

#[test]
fn a_conversation_that_was_pasted_is_no_prose() {
    let prompt = "Sum this conversation up.\n\nUser: sell the cart\n\nAgent: It is sold.\n\nUser: please open your shop";
    assert_eq!(read(prompt), ["Sum this conversation up."]);
    assert_eq!(read("User: is a word").len(), 1, "one turn is none");
}

#[test]
fn how_much_a_finding_matters_is_no_prose() {
    assert_eq!(
        read("Low Severity\n\nThe cart is rounded twice."),
        ["The cart is rounded twice."]
    );
    assert_eq!(read("**P2**\nfix the cart"), ["fix the cart"]);
    assert_eq!(read("high priority today"), ["high priority today"]);
}

#[test]
fn a_long_address_keeps_what_it_names() {
    for (address, wants) in [
        (
            "review https://plans.example/gh/corner/shop/trails/4/carts-13x-faster-and-a-cache-of-all-the-rows-of-it now",
            "review plans.example/…/trails/4/carts-13x-faster-and-a-cache… now",
        ),
        (
            "see https://docs.example/a/long/way/down/to/the/very/last/of/all/pages/carts",
            "see docs.example/a/…/carts",
        ),
    ] {
        assert_eq!(read(address), [wants]);
    }
}

#[test]
fn what_a_program_printed_is_no_part_of_an_ask() {
    let prompt = "The release fails. What is the right fix? I get this [10:02:03.123] GET /carts\n  • loading carts\n  \
        • cleaning the folder\n  ⨯ release failed after 0s   error=the tree has changes\n\nFor more information, try \
        '--help'.\n(no stdout)";
    let found = prose(prompt, &[]);
    assert_eq!(
        found.sentences,
        ["The release fails.", "What is the right fix?", "I get this"]
    );
    assert_eq!(found.error, Some("error=the tree has changes"));
    let plan = "Implement the following plan:\n\n# Trust carts\n\n## Context\n\nCarts have to be trusted since the last \
        release. On the other machine they are refused with:\n\n```\nno\n```\n\nNobody can buy there.";
    let found = prose(plan, &[]);
    let wants = [
        "Carts have to be trusted since the last release.",
        "On the other machine they are refused with …",
        "Nobody can buy there.",
    ];
    assert_eq!(found.document, wants);
}
