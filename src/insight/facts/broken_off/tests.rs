//! How logs that break off are told.

use super::*;

#[test]
fn what_somebody_chose_last_is_what_is_not_finished() {
    let chosen = [Finding::Answered {
        question: "Shall I plan it?".into(),
        answer: "Plan the cart".into(),
        header: String::new(),
        means: None,
    }];
    let lines = [
        LocatedItem::sample(ItemKind::Prompt, 1, "User: what would a cart cost?", &[]),
        LocatedItem::sample(ItemKind::Agent, 2, "Agent: Next to nothing.", &[]),
        LocatedItem::sample(
            ItemKind::Digest,
            3,
            "Action: AskUserQuestion → answered",
            &chosen,
        ),
        LocatedItem::sample(ItemKind::Digest, 4, "", &[]),
    ];
    let asked = lines[0].source("what would a cart cost?".to_owned());
    let left = unfinished(&lines, Some(asked)).expect("a step");
    assert_eq!(
        (left.what.as_str(), left.line),
        ("Not finished: Plan the cart", 3)
    );
}

#[test]
fn who_stops_in_the_middle_says_what_comes_next() {
    let said = |text| {
        let line = LocatedItem::sample(ItemKind::Agent, 1, text, &[]);
        announced(&[line]).map(|step| step.what)
    };
    let wants = Some("In progress: I'll amend the commit".to_owned());
    assert_eq!(said("Agent: The docs pass. I'll amend the commit:"), wants);
    assert_eq!(said("Agent: The docs pass."), None);
    assert_eq!(said("Agent: Tests pass. Let me do the final steps."), None);
    let waits = "Agent: The rewrite of carts is with an agent. Waiting on completion.";
    let wants = "In progress: The rewrite of carts is with an agent. Waiting on completion.";
    assert_eq!(said(waits).as_deref(), Some(wants));
}

#[test]
fn a_request_that_the_log_breaks_off_in_is_left() {
    let prompt = LocatedItem::sample(ItemKind::Prompt, 1, "User: open a PR", &[]);
    let agent = LocatedItem::sample(ItemKind::Agent, 2, "Agent: The tree is clean.", &[]);
    let call = LocatedItem::sample(ItemKind::Digest, 3, "Action: Bash(git add .) → ok", &[]);
    let note = LocatedItem::sample(ItemKind::Note, 4, "Note: interrupted by the user", &[]);
    let left = |lines: &[LocatedItem<'_>]| {
        let asked = prompt.source("open a PR".to_owned());
        unfinished(lines, Some(asked)).map(|step| step.what)
    };
    let wants = Some("Not finished: open a PR".to_owned());
    assert_eq!(left(&[prompt, agent, call]), wants);
    assert_eq!(left(&[prompt, agent, note]), wants);
    let pending = LocatedItem::sample(ItemKind::Digest, 5, "", &[]);
    assert_eq!(left(&[prompt, agent, pending]), wants);
    assert_eq!(left(&[prompt, call, agent]), None);
    let announces = LocatedItem::sample(ItemKind::Agent, 2, "Agent: Let me push it.", &[]);
    let said = |lines: &[LocatedItem<'_>]| announced(lines).map(|step| step.what);
    assert!(said(&[prompt, announces, call]).is_some());
    let other = "Agent: If it still fails, let me copy the file.";
    let other = LocatedItem::sample(ItemKind::Agent, 2, other, &[]);
    assert_eq!(said(&[prompt, other, call]), None, "it may never come");
    let many = [&[prompt, announces][..], &[call; 9]].concat();
    assert_eq!(said(&many), None, "it did that");
}

#[test]
fn the_heading_of_what_was_pasted_is_no_part_of_the_request() {
    assert_eq!(without_heading("Fix the cart. Summary"), "Fix the cart");
    assert_eq!(
        without_heading("Fix the cart. Thanks!"),
        "Fix the cart. Thanks!"
    );
    assert_eq!(without_heading("Summary"), "Summary");
    let whole = "Fix the cart. It adds up twice";
    assert_eq!(without_heading(whole), whole);
}

#[test]
fn what_was_announced_and_then_worked_is_not_in_progress() {
    let line = |kind, text, found| LocatedItem::sample(kind, 1, text, found);
    let said = line(
        ItemKind::Agent,
        "Agent: Tests pass. Now let me continue the rebase:",
        &[],
    );
    let ok = [Finding::Worked { key: 1 }];
    let done = "Action: Bash(git rebase --continue) → 3 lines, 97 bytes";
    let other = "Action: Bash(ls src) → 3 lines, 97 bytes";
    let is_told = |call| announced(&[said, line(ItemKind::Digest, call, &ok)]).is_some();
    assert!(!is_told(done));
    assert!(is_told(other));
    let is_left = |call| {
        let lines = [said, line(ItemKind::Digest, call, &ok)];
        unfinished(&lines, Some(said.source("rebase it".to_owned()))).is_some()
    };
    assert!(!is_left(done));
    assert!(is_left(other));
}

#[test]
fn a_refused_plan_is_left() {
    let refused = [Finding::Refused { key: 0 }];
    let call = "Action: ExitPlanMode(\"Plan: Split the cart\") → refused by the user";
    let line = LocatedItem::sample(ItemKind::Digest, 1, call, &refused);
    let note = LocatedItem::sample(ItemKind::Note, 2, "Note: interrupted by the user", &[]);
    let said = |lines: &[LocatedItem<'_>]| refused_plan(lines).map(|step| step.what);
    let wants = Some("Plan not approved: Split the cart".to_owned());
    assert_eq!(said(&[line, note]), wants);
    let later = LocatedItem::sample(ItemKind::Agent, 3, "Agent: Done.", &[]);
    assert_eq!(said(&[line, later]), None);
}

#[test]
fn a_call_that_was_refused_at_the_end_is_left() {
    let refused = [Finding::Refused { key: 7 }];
    let call = "Action: Bash(sudo apt install shop) → refused by the user";
    let line = LocatedItem::sample(ItemKind::Digest, 1, call, &refused);
    let said = |lines: &[LocatedItem<'_>]| refused_call(lines).map(|step| step.what);
    let wants = Some("Refused by the user: Bash(sudo apt install shop)".to_owned());
    let exit = LocatedItem::sample(ItemKind::Prompt, 2, "User: /exit", &[]);
    assert_eq!(said(&[line, exit]), wants);
    let later = LocatedItem::sample(ItemKind::Agent, 3, "Agent: It is built from source.", &[]);
    assert_eq!(said(&[line, later]), None);
}

#[test]
fn what_was_waited_for_and_has_come_is_not_in_progress() {
    let edit = [Finding::Changed {
        path: "/p/cart.rs".into(),
        added: 1,
        removed: 0,
    }];
    let waits = LocatedItem::sample(
        ItemKind::Agent,
        1,
        "Agent: Three reviews are running. Waiting for their results.",
        &[],
    );
    let call = LocatedItem::sample(ItemKind::Digest, 2, "Action: Edit(cart.rs) → +1 −0", &edit);
    let told = |lines: &[LocatedItem<'_>]| broken_off(lines, &[], true, || None);
    assert!(told(&[waits]).is_some());
    assert_eq!(told(&[waits, call]), None);
    let idle = LocatedItem::sample(ItemKind::Agent, 1, "Agent: Waiting for my next task.", &[]);
    assert_eq!(told(&[idle]), None);
}

#[test]
fn who_only_looks_around_does_what_was_asked_in_full() {
    let prompt = "User: Refuse carts without rows, and ask somebody above 100 of them.\nThe limits come from the shop.";
    let lines = [
        LocatedItem::sample(ItemKind::Prompt, 1, prompt, &[]),
        LocatedItem::sample(
            ItemKind::Digest,
            2,
            "Action: EnterPlanMode → Entered plan mode.",
            &[],
        ),
        LocatedItem::sample(
            ItemKind::Agent,
            3,
            "Agent: Good. Now let me design the plan.",
            &[],
        ),
        LocatedItem::sample(ItemKind::Digest, 4, "", &[]),
    ];
    let asked = || Some(lines[0].source("Refuse carts without rows…".to_owned()));
    let told =
        |lines: &[LocatedItem<'_>]| broken_off(lines, &[], false, asked).map(|step| step.what);
    let whole = "Refuse carts without rows, and ask somebody above 100 of them. The limits come from the shop.";
    assert_eq!(told(&lines), Some(format!("Being planned: {whole}")));
    let plain = [lines[0], lines[2], lines[3]];
    assert_eq!(told(&plain), Some(format!("Not finished: {whole}")));
}

#[test]
fn what_was_chosen_last_is_told_where_it_says_what_to_do() {
    let chosen = |answer: &str| {
        let answered = [Finding::Answered {
            question: "Which store?".into(),
            answer: answer.into(),
            header: String::new(),
            means: None,
        }];
        let text = "Action: AskUserQuestion(Which store?) → …";
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, "User: keep the carts", &[]),
            LocatedItem::sample(ItemKind::Digest, 2, text, &answered),
        ];
        chosen_last(&lines).map(|chosen| chosen.what)
    };
    let wants = "Move the carts into Redis";
    assert_eq!(chosen(wants).as_deref(), Some(wants));
    assert_eq!(chosen("Redis"), None);
}
