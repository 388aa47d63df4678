//! Which tasks that a list ticks off the log bears out: agents also tick off what they skipped.

use super::command_forms::command_of;
use super::hindrances::reads;
use super::line::LocatedItem;
use super::ran::call;
use super::untested::may_test;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::commands::checks_or_tests;
use crate::rules::test_words::runs_checks;
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::{content_words, tokens};

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
    /// It was to run checks, and none ran; or what was done for it last failed.
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
    let done = lines.get(task.from + 1..task.at).unwrap_or_default();
    let Some(last) = done.iter().rev().find(|line| line.main && acts(line)) else {
        return Proof::Open;
    };
    if !has_failed(last) {
        return Proof::Open;
    }
    let named = names(task.text, last);
    match (named, names_checks) {
        (Named::Whole, false) => Proof::Failed,
        (Named::Whole | Named::Part, _) => Proof::Missing,
        (Named::No, _) if task.was_active => Proof::Missing,
        (Named::No, _) => Proof::Open,
    }
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
            tokens(call).any(|word| CHECKS.contains(&word.as_str()))
        }
        _ => false,
    }
}

/// Words of what another agent or a tool is told to check.
const CHECKS: [&str; 18] = [
    "test",
    "tests",
    "testing",
    "check",
    "checks",
    "ci",
    "lint",
    "linter",
    "build",
    "compile",
    "typecheck",
    "types",
    "format",
    "verify",
    "validate",
    "verification",
    "pytest",
    "diagnostics",
];

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

/// How much of a task's words a call has.
enum Named {
    Whole,
    Part,
    No,
}

fn names(task: &str, line: &LocatedItem<'_>) -> Named {
    let said: Vec<String> = call(line).map(tokens).into_iter().flatten().collect();
    let words = content_words(task);
    let has = |word: &&String| said.contains(word);
    match words.iter().filter(has).count() {
        0 => Named::No,
        all if all == words.len() => Named::Whole,
        _ => Named::Part,
    }
}
