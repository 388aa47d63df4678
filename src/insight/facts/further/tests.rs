//! Which later requests are listed, and with what answer.

use super::listed::REQUESTS_MAX;
use super::*;
use crate::insight::facts::prompts::prompts;
use crate::model::exchange::ItemKind;
use std::sync::LazyLock;

/// Answers of which none is told elsewhere.
fn of(steps: &[(usize, Sourced<String>)]) -> Answers<'_> {
    static NONE: LazyLock<FxHashMap<usize, Withdrawn>> = LazyLock::new(FxHashMap::default);
    let (in_result, withdrawn) = (&[][..], &*NONE);
    Answers {
        steps,
        in_result,
        withdrawn,
        commits: &[],
    }
}

fn listed(items: &[(ItemKind, &str)]) -> Vec<String> {
    let lines: Vec<LocatedItem<'_>> = items
        .iter()
        .enumerate()
        .map(|(nth, (kind, text))| LocatedItem::sample(*kind, nth as u64, text, &[]))
        .collect();
    let first = lines[0].source(String::new());
    let told = requests(&lines, &prompts(&lines), Some(&first), &of(&[])).lines();
    told.into_iter().map(|told| told.what).collect()
}

#[test]
fn an_agreement_is_told_with_what_it_agrees_with() {
    let offer = "Agent: The table lists all carts.\n\nShall I add a column for the shop's name?";
    let told = |reply| {
        let talk = [
            (ItemKind::Prompt, "User: list the carts"),
            (ItemKind::Agent, offer),
            (ItemKind::Prompt, reply),
            (
                ItemKind::Agent,
                "Agent: There are two columns in the table of carts now.",
            ),
        ];
        listed(&talk)
    };
    let answer = "There are two columns in the table of carts now.";
    let wants =
        format!("“Yes, please add it” to: Shall I add a column for the shop's name? → {answer}");
    assert_eq!(told("User: Yes, please add it"), [wants]);
    let wants = format!(
        "test the old table with the small model (“yes” to: Shall I add a column for the shop's name?) → {answer}"
    );
    assert_eq!(
        told("User: yes, and test the old table with the small model"),
        [wants]
    );
}

#[test]
fn who_agrees_with_a_list_of_offers_agrees_with_all_of_it() {
    let offer = "Agent: Two pages are out of date.\n\nWould you like me to:\n1. **Rewrite the page on carts**?\n2. **Move \
                 the old plans** to an archive?\n\nLet me know which ones!";
    let talk = [
        (ItemKind::Prompt, "User: are the pages current?"),
        (ItemKind::Agent, offer),
        (ItemKind::Prompt, "User: Yes, please update all"),
        (
            ItemKind::Agent,
            "Agent: Both pages are current now, and the plans are archived.",
        ),
    ];
    let wants = "“Yes, please update all” to: Would you like me to: Rewrite the page on carts; Move the old plans to an \
                 archive? → Both pages are current now, and the plans are archived.";
    assert_eq!(listed(&talk), [wants]);
}

#[test]
fn of_very_many_requests_the_rest_is_counted_and_work_of_sub_agents_is_work() {
    let asks: Vec<String> = (0..18)
        .map(|nth| format!("User: add column {nth} to the list of carts, please"))
        .collect();
    let mut talk = vec![(ItemKind::Prompt, "User: list the carts")];
    for (nth, ask) in asks.iter().enumerate() {
        talk.push((ItemKind::Prompt, ask));
        if nth == 1 {
            talk.push((ItemKind::Digest, "Action: Agent(add the column) → ok"));
        }
    }
    let told = listed(&talk);
    assert_eq!(told.len(), REQUESTS_MAX + 1, "{told:?}");
    assert_eq!(told.last().map(String::as_str), Some("and 4 more requests"));
    assert!(told[0].contains("column 1 "), "{told:?}");
}

#[test]
fn an_address_alone_is_a_request_where_something_came_of_it() {
    let address = "User: https://github.com/owner/shop/pull/7#pullrequestreview-12";
    let mut talk = vec![
        (ItemKind::Prompt, "User: list the carts"),
        (ItemKind::Agent, "Agent: There are two carts."),
        (ItemKind::Prompt, address),
    ];
    assert!(listed(&talk).is_empty());
    talk.push((
        ItemKind::Agent,
        "Agent: The review has two findings about the carts, both of which are right.",
    ));
    let wants =
        "shop PR #7 → The review has two findings about the carts, both of which are right.";
    assert_eq!(listed(&talk), [wants]);
}

#[test]
fn a_request_that_refers_back_is_told_from_the_beginning() {
    let prompt = "User: the nightly build of the shop is red again, and everybody waits for an hour \
                  until the runner in the other building says so - could we maybe build it here, on \
                  our own machines, before anything is pushed. lets shorten that loop";
    let told = listed(&[
        (ItemKind::Prompt, "User: list the carts"),
        (ItemKind::Agent, "Agent: There are two carts."),
        (ItemKind::Prompt, prompt),
        (ItemKind::Agent, "Agent: The shop's build runs here now."),
    ]);
    assert!(
        told[0].starts_with("the nightly build of the shop is red"),
        "{told:?}"
    );
}

#[test]
fn what_was_typed_after_the_turn_begins_its_own() {
    let told = listed(&[
        (ItemKind::Prompt, "User: round the cart"),
        (ItemKind::Agent, "Agent: It rounds once now."),
        (
            ItemKind::Prompt,
            "User: I only meant the log of the cart's totals",
        ),
        (ItemKind::Digest, "Action: Edit(cart.rs) → +1 −1"),
        (
            ItemKind::Agent,
            "Agent: The log of totals is at debug again, as it was before the change.",
        ),
        (
            ItemKind::Aside,
            "User (while working): measure the export of all orders of the shop",
        ),
        (ItemKind::Digest, "Action: Bash(./export.sh) → ok"),
        (
            ItemKind::Agent,
            "Agent: The export of all orders takes two seconds now, and four before.",
        ),
    ]);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].contains("→ The log of totals is at debug again"),
        "{told:?}"
    );
    assert!(
        told[1].contains("→ The export of all orders takes two seconds"),
        "{told:?}"
    );
}

#[test]
fn what_was_typed_meanwhile_has_the_answer_that_is_about_it() {
    let told = |last: &str| {
        listed(&[
            (ItemKind::Prompt, "User: round the cart"),
            (ItemKind::Agent, "Agent: It rounds once now."),
            (
                ItemKind::Prompt,
                "User: verify all of it with the automatic checkout",
            ),
            (ItemKind::Agent, "Agent: All eight checkouts pass."),
            (ItemKind::Digest, "Action: Bash(kill 7) → ok"),
            (
                ItemKind::Aside,
                "User (while working): should we clean up some of the logging?",
            ),
            (ItemKind::Digest, "Action: Bash(kill 8) → ok"),
            (ItemKind::Agent, "Agent: Let me see what is there."),
            (ItemKind::Digest, "Action: Grep(log) → 9 matches"),
            (ItemKind::Agent, last),
        ])
    };
    let of_log = "The logging is as it should be, nothing of what was added is left.";
    assert_eq!(
        told(&format!("Agent: {of_log}")),
        [
            "verify all of it with the automatic checkout → All eight checkouts pass.".to_owned(),
            format!("should we clean up some of the logging? → {of_log}"),
        ]
    );
    let both = "Agent: The checkout was verified with eight carts, and the logging is cleaned up.";
    assert!(
        told(both)[0].contains("→ The checkout was verified"),
        "{:?}",
        told(both)
    );
}

#[test]
fn a_request_that_was_stopped_before_anything_was_done_says_so() {
    let told = |next: &str| {
        listed(&[
            (ItemKind::Prompt, "User: drop the old carts"),
            (ItemKind::Agent, "Agent: The old carts are gone."),
            (
                ItemKind::Prompt,
                "User: add a page with the totals of all orders",
            ),
            (ItemKind::Digest, "Action: Read(order.rs) → 9 lines"),
            (ItemKind::Note, "Note: interrupted by the user"),
            (ItemKind::Prompt, next),
            (
                ItemKind::Agent,
                "Agent: The page has a table of all orders of the shop.",
            ),
        ])
    };
    let stopped = "add a page with the totals of all orders (interrupted)";
    assert_eq!(
        told("User: show all orders on the page of the shop")[0],
        stopped
    );
    let open = stopped.trim_end_matches(" (interrupted)");
    assert_eq!(told("User: continue")[0], open);
}

#[test]
fn a_short_errand_that_the_log_ends_in_is_not_done() {
    let told = listed(&[
        (ItemKind::Prompt, "User: drop the old carts"),
        (ItemKind::Agent, "Agent: The old carts are gone."),
        (ItemKind::Prompt, "User: please push"),
        (
            ItemKind::Agent,
            "Agent: The carts aren't committed yet, so I make a commit first.",
        ),
        (ItemKind::Digest, ""),
    ]);
    assert_eq!(told, ["please push (not done)"]);
}

#[test]
fn an_error_that_was_pasted_later_asks() {
    let told = |prompt: &str| {
        listed(&[
            (ItemKind::Prompt, "User: round the cart"),
            (ItemKind::Agent, "Agent: It rounds once now."),
            (ItemKind::Prompt, prompt),
            (
                ItemKind::Agent,
                "Agent: The folder of the shop is not the one that the cart was made in.",
            ),
        ])
    };
    let answer = "The folder of the shop is not the one that the cart was made in.";
    let pasted = "Error: carts of the shop and of the folder differ";
    let wants = format!("{pasted} → {answer}");
    let only = format!("User: {pasted}");
    assert_eq!(told(&only), [wants]);
    let said = format!("User: it stops at once\n{pasted}");
    let wants = format!("it stops at once: {pasted} → {answer}");
    assert_eq!(told(&said), [wants]);
}

#[test]
fn an_answer_that_was_taken_back_is_not_told() {
    let items = [
        (ItemKind::Prompt, "User: round the cart"),
        (ItemKind::Agent, "Agent: It rounds once now."),
        (
            ItemKind::Prompt,
            "User: why is the total of the shop one cent off then?",
        ),
        (
            ItemKind::Agent,
            "Agent: The cache of the shop holds the total of the day before.",
        ),
    ];
    let lines: Vec<LocatedItem<'_>> = items
        .iter()
        .zip(1..)
        .map(|((kind, text), nth)| LocatedItem::sample(*kind, nth, text, &[]))
        .collect();
    let first = lines[0].source(String::new());
    let withdrawn = FxHashMap::from_iter([(2, Withdrawn::Said)]);
    let answers = Answers {
        steps: &[],
        in_result: &[],
        withdrawn: &withdrawn,
        commits: &[],
    };
    let told = requests(&lines, &prompts(&lines), Some(&first), &answers).lines();
    let told: Vec<&str> = told.iter().map(|told| told.what.as_str()).collect();
    assert_eq!(
        told,
        ["why is the total of the shop one cent off then? (answer taken back)"]
    );
}

#[test]
fn a_remark_during_work_is_not_answered_by_what_ends_the_work() {
    let told = |next| {
        let talk = [
            (ItemKind::Prompt, "User: round the cart"),
            (
                ItemKind::Aside,
                "User (while working): is the export rounded as well?",
            ),
            (ItemKind::Agent, next),
            (ItemKind::Digest, "Action: Bash(ls) → ok"),
            (
                ItemKind::Agent,
                "Agent: Done: the cart rounds its total once, at the end of the sum.",
            ),
        ];
        listed(&talk)
    };
    let answers = "Agent: The export takes the same sum, so it is rounded in the same way.";
    let wants = "is the export rounded as well? → The export takes the same sum, so it is rounded in the same way.";
    assert_eq!(told(answers), [wants]);
    let other = told("Agent: The lint of the cart's module has one more complaint to look at.");
    assert!(other.iter().all(|told| !told.contains("→")), "{other:?}");
}

#[test]
fn a_request_says_what_became_of_it() {
    let edit = [Finding::Changed {
        path: "/p/a.rs".into(),
        added: 1,
        removed: 0,
    }];
    let line = |nth, kind, text, findings| LocatedItem::sample(kind, nth, text, findings);
    let lines = [
        line(1, ItemKind::Prompt, "User: fix the cart", &[]),
        line(
            2,
            ItemKind::Agent,
            "Agent: Fixed. Shall I write a test for it?",
            &[],
        ),
        line(3, ItemKind::Prompt, "User: yes please", &[]),
        line(4, ItemKind::Digest, "Action: Edit(a.rs) → +1 −0", &edit[..]),
        line(5, ItemKind::Agent, "Agent: There is a test now.", &[]),
        line(6, ItemKind::Prompt, "User: why was it wrong?", &[]),
        line(7, ItemKind::Agent, "Agent: It rounded twice.", &[]),
        line(
            8,
            ItemKind::Prompt,
            "User: ok. now write the docs of it please",
            &[],
        ),
        line(9, ItemKind::Note, "Note: interrupted by the user", &[]),
    ];
    let first = lines[0].source(String::new());
    let answer = lines[6].source("It rounded twice.".to_owned());
    let answers = [(5, answer)];
    let answers = of(&answers);
    let all = requests(&lines, &prompts(&lines), Some(&first), &answers);
    let (told, at) = (all.lines(), all.told());
    assert_eq!(at.len(), told.len());
    let told: Vec<&str> = told.iter().map(|told| told.what.as_str()).collect();
    assert!(asks_for_nothing("I was mistaken") && asks_for_nothing("2 and 3"));
    assert!(is_own("I'd drop it") && is_own("看看这个") && !is_own("the session is gone"));
    assert!(!asks_for_nothing("sail it") && !asks_for_nothing("看看这个"));
    let wants = [
        "“yes please” to: Shall I write a test for it? → There is a test now.",
        "why was it wrong? → It rounded twice.",
        "write the docs of it (not done)",
    ];
    assert_eq!(told, wants);
}

#[test]
fn a_commit_that_failed_is_told_with_what_the_agent_says() {
    let failed = [Finding::Failed { key: 1 }];
    let made = [Finding::Commit {
        hash: "0abc123".into(),
        subject: "Round once".into(),
        again: false,
        size: None,
    }];
    let line = |nth, kind, text, findings| LocatedItem::sample(kind, nth, text, findings);
    let said = "Agent: A hook put both changes into the commit before, under its subject.";
    let told = |first_call, findings| {
        let lines = [
            line(1, ItemKind::Prompt, "User: fix the cart", &[][..]),
            line(2, ItemKind::Agent, "Agent: It rounds once now.", &[]),
            line(3, ItemKind::Prompt, "User: commit", &[]),
            line(4, ItemKind::Digest, first_call, &failed),
            line(
                5,
                ItemKind::Digest,
                "Action: Bash(git commit -m x) → ok",
                findings,
            ),
            line(6, ItemKind::Agent, said, &[]),
        ];
        let first = lines[0].source(String::new());
        let told = requests(&lines, &prompts(&lines), Some(&first), &of(&[])).lines();
        let told: Vec<String> = told.into_iter().map(|told| told.what).collect();
        let last = last(&lines, &prompts(&lines), Some(&first));
        (told, last.map(|last| last.what))
    };
    let failed_commit = "Action: Bash(git commit -m x) → failed";
    let (missed, last) = told(failed_commit, &[]);
    let wants = "commit (git commit failed) → A hook put both changes into the commit before, under its subject.";
    assert_eq!(missed, [wants]);
    assert_eq!(last.as_deref(), Some("commit"));
    assert_eq!(told(failed_commit, &made), (Vec::new(), None));
    let (of_a_check, _) = told("Action: Bash(make lint) → failed", &[]);
    assert!(
        of_a_check.iter().all(|told| !told.contains("failed")),
        "{of_a_check:?}"
    );
}

#[test]
fn a_short_word_says_that_what_was_agreed_on_is_done() {
    let told = |words| {
        listed(&[
            (ItemKind::Prompt, "User: review the page of carts"),
            (
                ItemKind::Agent,
                "Agent: Two totals are wrong. Want me to post that to the pull request now?",
            ),
            (ItemKind::Prompt, "User: yes"),
            (ItemKind::Digest, "Action: Bash(gh pr comment 7) → ok"),
            (ItemKind::Agent, words),
        ])
    };
    let wants = "“yes” to: Two totals are wrong. Want me to post that to the pull request now? → Posted a comment on shop.";
    assert_eq!(told("Agent: Posted a comment on shop."), [wants]);
    assert!(!told("Agent: Done.").concat().contains("Done"));
}

#[test]
fn what_only_points_at_quoted_words_is_told_with_them() {
    let answer =
        "Agent: The page is up.\n\nYou must set the key of the shop in its settings first of all.";
    let talk = [
        (ItemKind::Prompt, "User: bring the page up"),
        (ItemKind::Agent, answer),
        (
            ItemKind::Prompt,
            "User: Can you do this?:\n\nYou must set the key of the shop in its settings first of all.",
        ),
        (
            ItemKind::Agent,
            "Agent: The key of the shop is set, and the page reads it.",
        ),
    ];
    let wants = "do this: You must set the key of the shop in its settings first of all → The key of the shop is set, \
        and the page reads it.";
    assert_eq!(listed(&talk), [wants]);
}

#[test]
fn who_only_asks_back_has_not_done_it() {
    let plan = "Agent: Here's what I'll do when the night is over:\n\n1. Empty the cart\n2. Close the shop\n\nWhich would you \
        prefer, a script or a word from you? I can also do it by hand.";
    let talk = [
        (ItemKind::Prompt, "User: look at the shop"),
        (ItemKind::Agent, "Agent: The shop is open all night."),
        (
            ItemKind::Prompt,
            "User: close the shop after the last order",
        ),
        (ItemKind::Agent, plan),
        (
            ItemKind::Prompt,
            "User: how many carts are there in the shop?",
        ),
        (
            ItemKind::Agent,
            "Agent: There are 7 carts in the shop at this hour.",
        ),
    ];
    let wants = [
        "close the shop after the last order (the agent asked back)",
        "how many carts are there in the shop? → There are 7 carts in the shop at this hour.",
    ];
    assert_eq!(listed(&talk), wants);
}

#[test]
fn who_was_interrupted_to_add_a_picture_has_asked() {
    let talk = |added| {
        [
            (ItemKind::Prompt, "User: list the carts"),
            (ItemKind::Agent, "Agent: There are two carts."),
            (
                ItemKind::Prompt,
                "User: Two more things to mend.\n1- make the button of carts as blue as the others.\n2- the sign of the shop should , if \
                clicked empty the page.",
            ),
            (ItemKind::Note, "Note: interrupted by the user"),
            (ItemKind::Prompt, added),
            (
                ItemKind::Agent,
                "Agent: The button is as blue as the others now, and a click at the sign empties the page of carts.",
            ),
        ]
    };
    let told = listed(&talk("User: screen"));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("button of carts as blue") && told[0].contains("→ The button is"),
        "{told:?}"
    );
    let again = "User: Two more things to mend, both on the page of carts.\n1- make the button of carts as blue as the others.\n\
        2- the sign of the shop should , if clicked empty the page.";
    let told = listed(&talk(again));
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn who_agrees_to_a_commit_asked_for_no_more() {
    let commit = [Finding::Commit {
        hash: "0abc123".into(),
        subject: "Round once".into(),
        again: false,
        size: None,
    }];
    let files = "Agent: Files of the commit of carts that you agreed to:\n- src/cart.rs\n- src/shop.rs\n- src/page.rs\n- src/totals.rs\n\n\
        Ack to commit?";
    let offer = "Agent: Carts round once.\n\nWant me to stage and commit these?";
    let told = |findings| {
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, "User: round once", &[]),
            LocatedItem::sample(ItemKind::Agent, 2, offer, &[]),
            LocatedItem::sample(ItemKind::Prompt, 3, "User: yep", &[]),
            LocatedItem::sample(
                ItemKind::Digest,
                4,
                "Action: Bash(git commit) → ok",
                findings,
            ),
            LocatedItem::sample(ItemKind::Agent, 5, files, &[]),
        ];
        let first = lines[0].source(String::new());
        let told = requests(&lines, &prompts(&lines), Some(&first), &of(&[])).lines();
        told.len()
    };
    assert_eq!(told(&commit), 0);
    assert_eq!(told(&[]), 1);
}

#[test]
fn a_short_request_that_files_were_changed_for_is_listed() {
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 0,
    }];
    let told = |asked, findings| {
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, "User: review the cart", &[]),
            LocatedItem::sample(ItemKind::Agent, 2, "Agent: It has two faults.", &[]),
            LocatedItem::sample(ItemKind::Prompt, 3, asked, &[]),
            LocatedItem::sample(ItemKind::Digest, 4, "Action: Edit(cart.rs) → +1", findings),
            LocatedItem::sample(ItemKind::Agent, 5, "Agent: Both are gone.", &[]),
        ];
        let first = lines[0].source(String::new());
        let answers = Answers {
            in_result: &[2],
            ..of(&[])
        };
        let told = requests(&lines, &prompts(&lines), Some(&first), &answers).lines();
        told.into_iter()
            .map(|told| told.what)
            .collect::<Vec<String>>()
    };
    assert_eq!(
        told("User: fix them all", &edit),
        ["fix them all (see Result)"]
    );
    assert!(told("User: fix them all", &[]).is_empty());
    assert!(
        told("User: do it", &edit).is_empty(),
        "it says nothing of its own"
    );
}
