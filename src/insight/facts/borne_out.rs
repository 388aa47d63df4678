//! Which tasks that a list ticks off the log bears out: agents also tick off what they skipped.

use super::command_forms::command_of;
use super::hindrances::reads;
use super::line::LocatedItem;
use super::ran::call;
use super::untested::may_test;
use crate::model::activity::Dimension;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::check_words::tells_to_check;
use crate::rules::commands::checks_or_tests;
use crate::rules::paths::is_source;
use crate::rules::test_words::runs_checks;
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::{content_words, tokens};
use crate::rules::work_words::titled;

/// A task that was ticked off.
pub struct Ticked<'t> {
    pub text: &'t str,
    /// Where it was begun, or listed first: an index of the session's lines.
    pub from: usize,
    /// Where it was ticked off.
    pub at: usize,
    /// A list said that it was in progress.
    pub was_active: bool,
}

/// What the log says of a ticked task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Nothing speaks against it.
    Open,
    /// It was to run checks, and none ran; it was to change a file, and no call did; or what was done for it last failed.
    Missing,
    /// The command that the task names failed when it ran last.
    Failed,
}

/// Reads the calls between a task's beginning and its end, and for a task that names checks those of the session.
pub fn proof(task: &Ticked<'_>, lines: &[LocatedItem<'_>]) -> Proof {
    let names_checks = runs_checks(task.text);
    if names_checks && !lines.iter().any(|line| is_check(line)) {
        return Proof::Missing;
    }
    if is_unchanged(task.text, lines) {
        return Proof::Missing;
    }
    let done = lines.get(task.from + 1..task.at).unwrap_or_default();
    let mut done = done.iter().rev().filter(|line| line.main && acts(line));
    let Some(last) = done.next().filter(|line| has_failed(line)) else {
        return Proof::Open;
    };
    let words = content_words(task.text);
    let named = named(&words, last);
    // what worked before may have been it
    let is_done = |line: &LocatedItem<'_>| !has_failed(line) && self::named(&words, line) >= named;
    match named {
        _ if done.any(is_done) => Proof::Open,
        0 if !task.was_active => Proof::Open,
        all if all == words.len() && !names_checks => Proof::Failed,
        _ => Proof::Missing,
    }
}

/// A task that names a file of code which it was to change, and no call of the session can have changed it.
fn is_unchanged(task: &str, lines: &[LocatedItem<'_>]) -> bool {
    let changes = matches!(
        titled(task),
        Some(Dimension::Building | Dimension::Fixing | Dimension::Refactoring)
    );
    let Some(file) = source_named(task).filter(|_| changes) else {
        return false;
    };
    let may_be_it = |line: &LocatedItem<'_>| {
        let has = |finding: &Finding| match finding {
            Finding::Changed { path, .. } | Finding::Stat { path, .. } => path.ends_with(file),
            _ => false,
        };
        line.item.findings.iter().any(has)
            || acts(line)
                && call(line).is_some_and(|call| match answer(call) {
                    AnswerKind::Shell => call.contains(file),
                    AnswerKind::Edit | AnswerKind::Write => false,
                    // what a patch names, or a sub-agent does, may stand in no line
                    _ => true,
                })
    };
    !lines.iter().any(may_be_it)
}

/// The name of the only file of code that a task names.
fn source_named(task: &str) -> Option<&str> {
    let mut files = named_words(task).filter(|word| is_source(word));
    let file = files.next().filter(|_| files.next().is_none())?;
    file.rsplit(['/', '\\']).next()
}

/// What stands between blanks and marks: a path is one of them.
pub fn named_words(task: &str) -> impl Iterator<Item = &str> {
    task.split(|c: char| c.is_whitespace() || matches!(c, '`' | '(' | ')' | ',' | ':'))
}

/// A check or tests ran, here or at another agent's.
fn is_check(line: &LocatedItem<'_>) -> bool {
    if line.item.kind != ItemKind::Digest {
        return false;
    }
    let is_tests = |finding: &Finding| matches!(finding, Finding::Tests(_));
    if line.item.findings.iter().any(is_tests) {
        return true;
    }
    let Some(call) = call(line) else { return false };
    match answer(call) {
        AnswerKind::Shell => {
            command_of(call).is_some_and(|command| checks_or_tests(command) || may_test(command))
        }
        // what a sub-agent ran may be in no log
        AnswerKind::Agent | AnswerKind::Other | AnswerKind::Said => {
            tokens(call).any(|word| tells_to_check(&word))
        }
        _ => false,
    }
}

/// A call that does something: not one that only looks, or a list of tasks.
fn acts(line: &LocatedItem<'_>) -> bool {
    if line.item.kind != ItemKind::Digest {
        return false;
    }
    let Some(call) = call(line) else { return false };
    match answer(call) {
        AnswerKind::Shell => command_of(call).is_some_and(|command| !reads(command)),
        AnswerKind::Edit | AnswerKind::Write | AnswerKind::Patch => true,
        AnswerKind::Agent | AnswerKind::Other | AnswerKind::Said => true,
        _ => false,
    }
}

fn answer(call: &str) -> AnswerKind {
    let name = call.split(['(', ' ']).next().unwrap_or_default();
    tool(name).answer
}

fn has_failed(line: &LocatedItem<'_>) -> bool {
    let fails = |finding: &Finding| {
        matches!(
            finding,
            Finding::Failed { .. } | Finding::Unchanged { .. } | Finding::Refused { .. }
        )
    };
    let works = |finding: &Finding| matches!(finding, Finding::Commit { .. } | Finding::Pushed);
    let mut findings = line.item.findings.iter();
    findings.clone().any(fails) && !findings.any(works)
}

/// How many of a task's words a call has.
fn named(words: &[String], line: &LocatedItem<'_>) -> usize {
    let said: Vec<String> = call(line).map(tokens).into_iter().flatten().collect();
    words.iter().filter(|word| said.contains(word)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::tasks::tasks;
    use crate::model::finding::{Task, TaskState};

    /// A list in which the task is in progress, these calls, and one in which it is done: what is told as done, and as failed.
    fn told(task: &str, calls: &[(&str, &[Finding])]) -> (Vec<String>, Vec<String>) {
        let list = |state| {
            let task = Task {
                id: None,
                text: task.into(),
                state,
            };
            vec![Finding::Plan(vec![task])]
        };
        let (begun, done) = (list(TaskState::Active), list(TaskState::Done));
        let edit = [Finding::Changed {
            path: "/p/a.md".into(),
            added: 1,
            removed: 0,
        }];
        let digest = |n, text, findings| LocatedItem::sample(ItemKind::Digest, n, text, findings);
        let mut lines = vec![
            digest(1, "Action: Edit(a.md) → +1 −0", &edit[..]),
            digest(2, "Action: TodoWrite → 0 of 1 done", &begun),
        ];
        let calls = calls.iter().zip(3..);
        lines.extend(calls.map(|((text, findings), n)| digest(n, text, findings)));
        lines.push(digest(99, "Action: TodoWrite → 1 of 1 done", &done));
        let tasks = tasks(&lines);
        let what = |all: Vec<crate::model::summary::Sourced<String>>| {
            all.into_iter().map(|task| task.what).collect()
        };
        (what(tasks.done), what(tasks.failed))
    }

    const OK: [Finding; 1] = [Finding::Worked { key: 1 }];
    const BAD: [Finding; 1] = [Finding::Failed { key: 2 }];

    #[test]
    fn a_task_of_checks_is_done_only_where_some_ran() {
        let task = "Run CI checks on the changed page";
        let is_told = |calls: &[(&str, &[Finding])]| !told(task, calls).0.is_empty();
        assert!(!is_told(&[]), "the agent only ticked it off");
        let committed = "Action: Bash(git commit -m 'Run checks') → ok, no output";
        assert!(!is_told(&[(committed, &OK)]));
        let reviewed = "Action: Task(Verify that the review is answered) → done, 5 tool calls";
        assert!(!is_told(&[(reviewed, &[])]));
        for ran in [
            "Action: Bash(npm run lint) → ok, no output",
            "Action: Bash(make ci 2>&1 | grep -v ok) → ok, no output",
            "Action: Task(Run the fast checks) → done, 5 tool calls",
        ] {
            assert!(is_told(&[(ran, &OK)]), "{ran}");
        }
    }

    #[test]
    fn a_task_that_names_a_file_is_done_only_where_that_may_have_changed() {
        let is_told = |task: &str, calls: &[(&str, &[Finding])]| !told(task, calls).0.is_empty();
        let edit = "Action: Edit(src/cart.rs) → +1 −0";
        let cart = [Finding::Changed {
            path: "/p/src/cart.rs".into(),
            added: 1,
            removed: 0,
        }];
        let task = "Add the filter to shop.rs";
        assert!(!is_told(task, &[(edit, &cart)]), "it was ticked off only");
        for ran in [
            "Action: Bash(sed -i s/a/b/ src/shop.rs) → ok, no output",
            "Action: Task(Add the filter) → done, 5 tool calls",
        ] {
            assert!(is_told(task, &[(edit, &cart), (ran, &OK)]), "{ran}");
        }
        assert!(is_told("Add the filter to cart.rs", &[(edit, &cart)]));
        assert!(
            is_told("Read shop.rs", &[(edit, &cart)]),
            "nothing to change"
        );
    }

    #[test]
    fn a_task_whose_command_failed_last_is_not_done() {
        let failed =
            "Action: Bash(shop update-order-page --order 7) → exit 1: the page is too long";
        let worked = "Action: Bash(shop update-order-page --order 7) → ok, no output";
        let task = "Update order page";
        let wants = vec!["Ticked off, but its command failed: Update order page".to_owned()];
        assert_eq!(told(task, &[(failed, &BAD)]), (vec![], wants));
        let done = (vec![task.to_owned()], vec![]);
        assert_eq!(told(task, &[(failed, &BAD), (worked, &OK)]), done);
        assert_eq!(
            told(task, &[(worked, &OK), (failed, &BAD)]),
            done,
            "it was done before"
        );
        // nobody knows what the call was for
        let other = "Action: Bash(./send.sh) → exit 1: no";
        assert_eq!(told(task, &[(other, &BAD)]), (vec![], vec![]));
    }
}
