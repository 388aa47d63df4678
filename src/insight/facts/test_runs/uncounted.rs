//! Whether a session may have run more tests than the runs of which the log shows numbers.

use super::runs::Run;
use crate::insight::facts::line::LocatedItem;
use crate::insight::facts::ran::{RanCommand, call, is_hook};
use crate::insight::facts::untested::may_test;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::commands::{checks, is_absent, test_commands};
use crate::rules::tools::{AnswerKind, tool};

/// A call whose numbers nobody saw may have run some, or a sub-agent whose log isn't here; or what a poll printed is part of
/// a run that was counted.
pub(super) fn may_be_more(lines: &[LocatedItem<'_>], runs: &[Run<'_>]) -> bool {
    let hooks = runs
        .iter()
        .any(|run| call(&lines[run.at]).is_some_and(is_hook));
    let has_helpers = lines.iter().any(|line| !line.main);
    let is_seen = |line: &LocatedItem<'_>| {
        let mut findings = line.item.findings.iter();
        findings.any(|finding| matches!(finding, Finding::Tests(_)))
    };
    let hides = |line: &LocatedItem<'_>| {
        let Some(call) = call(line) else { return false };
        let ran = || RanCommand::of(line).or_else(|| RanCommand::begun(line));
        match starts_helper(call) {
            true => !has_helpers,
            false => ran().is_some_and(|ran| hides_tests(&ran, hooks && is_hook(call))),
        }
    };
    let mut calls = lines
        .iter()
        .filter(|line| line.item.kind == ItemKind::Digest);
    let is_polled = runs.iter().any(|run| run.begun.is_some());
    is_polled || calls.any(|line| !is_seen(line) && hides(line))
}

fn hides_tests(ran: &RanCommand<'_>, is_hooked: bool) -> bool {
    if ran.output.starts_with("no tests ran") || ran.failed && is_absent(ran.output) {
        return false;
    }
    let is_unknown = || may_test(ran.command) && checks(ran.command).is_empty();
    is_hooked || !test_commands(ran.command).is_empty() || is_unknown()
}

fn starts_helper(call: &str) -> bool {
    let name = call.split(['(', ' ']).next().unwrap_or_default();
    tool(name).answer == AnswerKind::Agent
}
