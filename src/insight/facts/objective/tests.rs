//! What a session was asked for, in a line.

use super::*;
use crate::insight::facts::prompts::prompts;
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::model::finding::Finding;

fn told(context: &SessionContext<'_>, items: &[(ItemKind, &str)]) -> Option<String> {
    let lines: Vec<LocatedItem<'_>> = items
        .iter()
        .zip(1..)
        .map(|((kind, text), line)| LocatedItem::sample(*kind, line, text, &[]))
        .collect();
    let asked = asked(&lines, &prompts(&lines), context);
    asked.objective.map(|told| told.what)
}

#[test]
fn other_work_that_was_committed_is_no_part_of_an_ask() {
    let commit = [Finding::Commit {
        hash: "0abc123".into(),
        subject: "docs: tell when the page of carts moved".into(),
        again: false,
        size: None,
    }];
    for (asked, wants) in [
        (
            "User: is the mail to customers planned already, and what does it cost?",
            "is the mail to customers planned already, and what does it cost?",
        ),
        (
            "User: write down how the carts of customers add up",
            "write down how the carts of customers add up (commit: docs: tell when the page of carts moved)",
        ),
    ] {
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, asked, &[]),
            LocatedItem::sample(
                ItemKind::Digest,
                2,
                "Action: Bash(git commit) → ok",
                &commit,
            ),
        ];
        let asked = super::asked(&lines, &prompts(&lines), &SessionContext::default());
        assert_eq!(asked.objective.expect("asked").what, wants);
    }
}

#[test]
fn an_ask_that_says_enough_needs_no_commit_behind_it() {
    let about = ["shop", "commit: Move the page of carts"].map(str::to_owned);
    let context = SessionContext {
        project: Some("shop"),
        ..SessionContext::default()
    };
    let told = |ask: &str| with_new_places(ask.to_owned(), &about, &context);
    let short = "move the page";
    assert_eq!(
        told(short),
        format!("{short} (commit: Move the page of carts)")
    );
    let long = "move the totals of carts from their page into the export, rounded once, with a test of each currency";
    assert_eq!(told(long), long);
}

#[test]
fn what_was_stopped_before_anything_was_done_is_no_objective() {
    let stopped = format!("Note: {INTERRUPTED}");
    let talk = |second: &'static str| {
        let items = [
            (
                ItemKind::Prompt,
                "User: install the small shop on the server",
            ),
            (ItemKind::Note, stopped.as_str()),
            (ItemKind::Prompt, second),
            (
                ItemKind::Agent,
                "Agent: It runs there, and all carts are moved.",
            ),
        ];
        told(&SessionContext::default(), &items)
    };
    let wants = "run the large shop on the old server and move all carts there";
    let second = "User: run the large shop on the old server and move all carts there";
    assert_eq!(talk(second).as_deref(), Some(wants));
    let first = talk("User: on a branch").expect("an objective");
    assert!(first.starts_with("install the small shop"), "{first}");
}

#[test]
fn an_objective_is_the_ask() {
    let shop = SessionContext::new(None, "/home/ada/shop", Some("fix/totals"), false);
    let named = SessionContext::new(Some("Round totals half up"), "/p/shop", None, true);
    for (context, prompts, wants) in [
        (
            SessionContext::default(),
            vec!["Hey, can you please fix the rounding of totals? Thanks!"],
            "fix the rounding of totals",
        ),
        (
            shop,
            vec!["review the changes in this branch"],
            "review the changes in this branch (shop, fix/totals)",
        ),
        (shop, vec!["/init"], "/init (shop, fix/totals)"),
        (
            shop,
            vec!["/clear", "rename the cart's fields"],
            "rename the cart's fields (shop)",
        ),
        (named, vec!["continue"], "continue; Round totals half up"),
        (named, vec!["Round totals half up"], "Round totals half up"),
        (
            SessionContext::default(),
            vec![
                "Implement this plan:\n\n# Plan: Split the parser in two\n\n## Context\n\nIt grew.",
            ],
            "Split the parser in two",
        ),
        (
            SessionContext::default(),
            vec![
                "The totals are wrong. Can you fix the rounding of carts? Don't touch the docs.",
                "thanks",
                "now rename the cart's fields to English ones",
            ],
            "The totals are wrong. fix the rounding of carts; then: rename the cart's fields to English ones",
        ),
        (
            shop,
            vec![
                "take a look at tmp/plan.md",
                "write a parser for the invoices",
            ],
            "take a look at tmp/plan.md; write a parser for the invoices (shop)",
        ),
        (
            SessionContext::default(),
            vec![
                "merge https://github.com/ada/shop/pull/7 please",
                "commit it",
                "write the docs of carts",
            ],
            "merge shop PR #7; write the docs of carts",
        ),
        (
            SessionContext::default(),
            vec!["User: fix this\n[api] error: no such column: price"],
            "fix this: error: no such column: price",
        ),
        (SessionContext::default(), vec!["看看这个"], "看看这个"),
    ] {
        let items = prompts.iter().map(|text| (ItemKind::Prompt, *text));
        let told = told(&context, &items.collect::<Vec<_>>());
        assert_eq!(told.as_deref(), Some(wants), "{prompts:?}");
    }
    let nothing = told(&shop, &[(ItemKind::Prompt, "User: /clear")]);
    assert_eq!(nothing, None);
}

#[test]
fn who_describes_and_then_asks_is_told_with_the_question() {
    let prompt = "User: Lately the cart rounds each row. On some days that is a cent too much, and on all the \
        other days it is a cent too little. Totals of the shop come from the same rows as those of the export. \
        Is there something in our settings that causes that?";
    let told = told(&SessionContext::default(), &[(ItemKind::Prompt, prompt)]);
    let told = told.expect("somebody asks");
    assert!(
        told.starts_with("Lately the cart rounds each row."),
        "{told}"
    );
    assert!(
        told.ends_with("Is there something in our settings that causes that?"),
        "{told}"
    );
}

#[test]
fn a_pull_request_is_named_where_the_log_speaks_of_one() {
    let context = SessionContext::default();
    let ask = (ItemKind::Prompt, "User: address the comments on the PR");
    let view = (ItemKind::Digest, "Action: Bash(gh pr view 7) → ok");
    let other = (ItemKind::Digest, "Action: Bash(gh pr view 8) → ok");
    let wants = "address the comments on the PR (PR #7)";
    assert_eq!(told(&context, &[ask, view]).as_deref(), Some(wants));
    let wants = "address the comments on the PR";
    assert_eq!(told(&context, &[ask, view, other]).as_deref(), Some(wants));
}

#[test]
fn an_objective_has_200_characters_at_most() {
    let long = format!("User: write {}", "long words about carts ".repeat(60));
    let told = told(&SessionContext::default(), &[(ItemKind::Prompt, &long)]);
    assert!(told.is_some_and(|told| told.chars().count() <= OBJECTIVE_CHARS_MAX));
}

#[test]
fn what_a_session_is_for_stands_behind_its_errands() {
    let call = (ItemKind::Digest, "Action: Read(cart.rs) → 9 lines");
    let ask = |text| (ItemKind::Prompt, text);
    let mut items = vec![
        ask("User: pull main and prune what was merged"),
        call,
        ask("User: how do other shops round the totals of carts?"),
    ];
    items.extend([call; 20]);
    let short = items.clone();
    for more in [
        "User: and those of days?",
        "User: sort the carts by name",
        "User: why by name?",
        "User: explain the page of carts",
        "User: sort it by price",
    ] {
        items.push(ask(more));
    }
    let shop = SessionContext::default();
    let long = told(&shop, &items).expect("an objective");
    assert!(long.starts_with("how do other shops round"), "{long}");
    let few = told(&shop, &short).expect("an objective");
    assert!(few.starts_with("pull main"), "{few}");
}

#[test]
fn what_most_was_done_for_is_told_behind_a_question() {
    let edit = [crate::model::finding::Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 0,
    }];
    let question = format!(
        "User: {} and is that right?",
        "have the totals of carts ever been rounded twice "
            .repeat(4)
            .trim()
    );
    let line = |nth, kind, text, findings| LocatedItem::sample(kind, nth, text, findings);
    let lines = [
        line(1, ItemKind::Prompt, question.as_str(), &[][..]),
        line(2, ItemKind::Agent, "Agent: They have, for each row.", &[]),
        line(
            3,
            ItemKind::Prompt,
            "User: then change the totals of each cart to be rounded once",
            &[],
        ),
        line(4, ItemKind::Digest, "Action: Edit(cart.rs) → +1", &edit),
        line(5, ItemKind::Digest, "Action: Edit(cart.rs) → +1", &edit),
    ];
    let asked = asked(&lines, &prompts(&lines), &SessionContext::default());
    let whole = asked.whole.expect("more than the question");
    assert!(
        whole.ends_with("then: change the totals of each cart to be rounded once"),
        "{whole}"
    );
}

#[test]
fn what_a_number_stands_for_is_told_by_its_title() {
    let titled = |named: &str| {
        [Finding::Titled {
            named: named.into(),
            title: "Carts of two customers add up".into(),
        }]
    };
    let told = |asked: &str, named: &str| {
        let titled = titled(named);
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, asked, &[]),
            LocatedItem::sample(
                ItemKind::Digest,
                2,
                "Action: Bash(gh pr view 7) → ok",
                &titled,
            ),
        ];
        let asked = super::asked(&lines, &prompts(&lines), &SessionContext::default());
        asked.objective.expect("asked").what
    };
    let wants = "review PR #7 (Carts of two customers add up)";
    assert_eq!(told("User: review PR #7", "#7"), wants);
    assert_eq!(told("User: review PR #7", "#17"), "review PR #7");
    let others = [
        "fix the 7 bugs of carts",
        "fix the carts of shop#7",
        "fix the carts of #7.5",
        "fix the carts of tracker.example/shop/issues/7",
    ];
    for other in others {
        assert_eq!(told(&format!("User: {other}"), "#7"), other);
    }
    let wants = "review the pull request (PR #7, Carts of two customers add up)";
    assert_eq!(told("User: review the pull request", "#7"), wants);
}

#[test]
fn a_review_tells_how_much_was_read() {
    let size = crate::model::finding::CommitSize {
        files: 2,
        added: 76,
        removed: 2,
    };
    let compared = [Finding::Compared(size)];
    let told = |asked: &str, compared: &[Finding]| {
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, asked, &[]),
            LocatedItem::sample(ItemKind::Digest, 2, "Action: Bash(git diff) → ok", compared),
        ];
        let asked = super::asked(&lines, &prompts(&lines), &SessionContext::default());
        asked.objective.expect("asked").what
    };
    let formula = "User: Review the code changes against the base branch 'main'. The merge base commit for this comparison is 0abc123. \
        Run `git diff 0abc123` to inspect the changes relative to main. Provide prioritized, actionable findings.";
    let wants = "Review the code changes against the base branch 'main' (2 files +76 −2)";
    assert_eq!(told(formula, &compared), wants);
    let larger = crate::model::finding::CommitSize { files: 30, ..size };
    let two = [Finding::Compared(size), Finding::Compared(larger)];
    let wants = "Review the code changes against the base branch 'main'";
    assert_eq!(told(formula, &two), wants, "which of them?");
    let open = "review our open tasks and tell me which of them are stale";
    assert_eq!(told(&format!("User: {open}"), &compared), open);
}

#[test]
fn later_asks_stand_behind_the_first_one() {
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 0,
    }];
    let told = |items: &[(ItemKind, &str)]| {
        let lines = items.iter().zip(1..);
        let lines: Vec<LocatedItem<'_>> = lines
            .map(|((kind, text), line)| {
                let is_edit = text.contains("Edit(");
                LocatedItem::sample(*kind, line, text, if is_edit { &edit } else { &[] })
            })
            .collect();
        let asked = super::asked(&lines, &prompts(&lines), &SessionContext::default());
        asked.objective.expect("asked").what
    };
    let edited = (ItemKind::Digest, "Action: Edit(cart.rs) → +1");
    let offer =
        "Agent: Totals are rounded twice.\n\nWant me to drop the second rounding of totals?";
    let items = [
        (ItemKind::Prompt, "User: why are the totals of carts wrong?"),
        (ItemKind::Agent, offer),
        (ItemKind::Prompt, "User: yes please"),
        edited,
        (
            ItemKind::Prompt,
            "User: one last thing, rename the page of carts",
        ),
        edited,
        (
            ItemKind::Prompt,
            "User: what do the tests of the shop cost us?",
        ),
        (ItemKind::Agent, "Agent: A minute."),
    ];
    let wants = "why are the totals of carts wrong?; then: drop the second rounding of totals";
    assert_eq!(told(&items), wants);
    let stopped = format!("Note: {INTERRUPTED}");
    let items = [
        (
            ItemKind::Prompt,
            "User: round totals, export carts and translate the page of the shop",
        ),
        edited,
        (ItemKind::Note, stopped.as_str()),
        (ItemKind::Prompt, "User: focus only on the export of carts"),
        edited,
    ];
    let wants = "round totals, export carts and translate the page of the shop; \
        then only: focus only on the export of carts";
    assert_eq!(told(&items), wants);
}
