//! What last words, refusals and the end of a log say is left.

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
fn what_was_left_on_purpose_is_no_step() {
    assert_eq!(
        super::said("All adds up. Nothing was committed, as you asked.", true),
        Vec::<String>::new()
    );
    let left = super::said("All adds up. Nothing was committed.", true);
    assert_eq!(left, Vec::<String>::new(), "commits say so themselves");
    let left = super::said("All adds up. I didn't run the tests of carts.", true);
    assert_eq!(left, ["I didn't run the tests of carts."]);
}

#[test]
fn last_words_say_what_is_left() {
    let words = "The cart adds up.\n\n- **Tests**: all pass\n- I didn't run the export.\n\n\
        You'll need to restart the server. Is the cache still broken?\n```\nstill open\n```";
    let wants = [
        "I didn't run the export.",
        "You'll need to restart the server.",
    ];
    assert_eq!(said(words, true), wants);
    assert_eq!(said(words, false), wants[..1]);
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
fn a_change_that_nobody_permitted_is_left() {
    let failed = [Finding::Unchanged {
        key: file_key("/p/a.md"),
    }];
    let made = [Finding::Changed {
        path: "/p/a.md".into(),
        added: 1,
        removed: 0,
    }];
    let call = "Action: Write(a.md) → failed: permissions to write to a.md, but you haven't granted it yet.";
    let failed = LocatedItem::sample(ItemKind::Digest, 1, call, &failed);
    let made = LocatedItem::sample(ItemKind::Digest, 2, "Action: Write(a.md) → +1", &made);
    let left = |lines: &[LocatedItem<'_>]| -> Vec<String> {
        not_permitted(lines)
            .into_iter()
            .map(|step| step.what)
            .collect()
    };
    assert_eq!(left(&[failed]), ["Not permitted: Write(a.md)"]);
    assert!(left(&[failed, made]).is_empty());
    let refused = [Finding::Refused {
        key: file_key("/p/a.md"),
    }];
    let call = "Action: Edit(a.md) → refused by the user";
    let refused = LocatedItem::sample(ItemKind::Digest, 1, call, &refused);
    assert_eq!(left(&[refused]), ["Refused by the user: Edit(a.md)"]);
    assert!(left(&[refused, made]).is_empty(), "the next one was fine");
}

#[test]
fn what_a_rule_denied_to_remove_is_left_unless_it_was_removed_otherwise() {
    let line = |n, text, found| LocatedItem::sample(ItemKind::Digest, n, text, found);
    let ok = [Finding::Worked { key: 1 }];
    let by_rule = "Action: Bash(rm -rf /shop/old/) → denied by a permission rule";
    let again = "Action: Bash(sudo rm -rf /shop/old/) → denied by a permission rule";
    let done = "Action: Bash(rm -r /shop/old/) → ok, no output";
    let looks = "Action: Bash(ls /shop/old/) → denied by a permission rule";
    let left = |lines: &[LocatedItem<'_>]| -> Vec<String> {
        let all = not_permitted(lines).into_iter();
        all.map(|step| step.what).collect()
    };
    let (first, second) = (line(1, by_rule, &[]), line(2, again, &[]));
    let wants = ["Not permitted: Bash(sudo rm -rf /shop/old/)"];
    assert_eq!(left(&[first, second]), wants);
    assert!(left(&[first, line(3, done, &ok)]).is_empty());
    assert!(left(&[line(4, looks, &[])]).is_empty());
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
fn changes_that_nobody_committed_are_left() {
    let edit = [Finding::Changed {
        path: "/p/a.rs".into(),
        added: 1,
        removed: 0,
    }];
    let commit = [Finding::Commit {
        hash: String::new(),
        subject: "a".into(),
        again: false,
        size: None,
    }];
    let line = |kind, text, findings| LocatedItem::sample(kind, 1, text, findings);
    let edited = line(ItemKind::Digest, "Action: Edit(a.rs) → +1 −0", &edit[..]);
    let mut made = line(
        ItemKind::Digest,
        "Action: Bash(git commit -m a) → ok",
        &commit[..],
    );
    made.line = 2;
    let told = line(ItemKind::Prompt, "User: I committed it", &[]);
    let files = crate::insight::facts::changed_files::files(&[edited]);
    let left = |lines: &[LocatedItem<'_>], branch| {
        uncommitted(lines, &files, lines[0].line == 2, branch).map(|step| step.what)
    };
    let wants = Some(NO_COMMIT.to_owned());
    assert_eq!(left(&[edited], Some("main")), wants);
    let later = "Changed after the last commit: 1 file";
    assert_eq!(left(&[made, edited], None).as_deref(), Some(later));
    for lines in [&[edited, made][..], &[edited, told]] {
        assert_eq!(left(lines, Some("main")), None);
    }
    let git = |text| line(ItemKind::Digest, text, &[]);
    let compared =
        git("Action: Bash(git stash && make lint | tail; git stash pop) → 9 lines, 400 bytes");
    let (aside, back) = (
        git("Action: Bash(git stash) → ok"),
        git("Action: Bash(git stash pop) → ok"),
    );
    assert_eq!(left(&[edited, compared], None), wants);
    assert_eq!(left(&[edited, aside, back], None), wants);
    assert_eq!(left(&[edited, aside], None), None);
    assert_eq!(left(&[edited], None), None, "nothing is known of git");
    let agent = |text| line(ItemKind::Agent, text, &[]);
    let pending = line(ItemKind::Digest, "", &[]);
    let commits = agent("Agent: Now I commit both files.");
    let tests = agent("Agent: Now I run the tests.");
    let at_end = Some(AT_END.to_owned());
    assert_eq!(left(&[edited, commits, pending], Some("main")), at_end);
    assert_eq!(left(&[edited, tests, pending], Some("main")), wants);
    assert_eq!(left(&[edited, commits], Some("main")), wants);
    let opened = agent("Agent: PR: https://github.com/us/shop/pull/7");
    assert_eq!(left(&[edited, opened], Some("main")), None);
    assert_eq!(
        left(&[opened, edited], Some("main")),
        wants,
        "it was changed later"
    );
    assert!(says_uncommitted(later) && says_uncommitted(NO_COMMIT));
}

#[test]
fn what_was_made_a_task_of_its_own_is_left_where_it_was_said_last() {
    let said = "Agent: Carts add up. The old totals are wrong; I spun that off as a separate task.";
    let said = LocatedItem::sample(ItemKind::Agent, 1, said, &[]);
    let asked = LocatedItem::sample(ItemKind::Prompt, 2, "User: do it now", &[]);
    let done = LocatedItem::sample(ItemKind::Agent, 3, "Agent: Mended them too.", &[]);
    let left = spun_off(&[said]).expect("a step").what;
    assert_eq!(
        left,
        "The old totals are wrong; I spun that off as a separate task."
    );
    assert_eq!(spun_off(&[said, asked]), None);
    assert_eq!(spun_off(&[said, done]), None);
}
