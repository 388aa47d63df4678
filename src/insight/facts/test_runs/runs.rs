//! A run of tests, which command it was of, and what somebody says of all of them.

use crate::insight::facts::line::LocatedItem;
use crate::insight::facts::ran::{RUNNING, call};
use crate::model::exchange::ItemKind;
use crate::model::finding::TestCounts;
use crate::rules::commands::{CommandCheck, TestScope, test_commands, test_scope};
use crate::rules::test_runners::is_kin;
use crate::rules::test_words::passes;
use crate::rules::tools::{AnswerKind, tool};

/// A run with what it says of the work.
pub(super) struct Run<'c> {
    /// Its line's index.
    pub at: usize,
    pub counts: &'c TestCounts,
    pub standing: Standing,
    /// `None`: nobody knows.
    pub scope: Option<TestScope>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    Work,
    /// It failed, and maybe not for the work's sake, or only what failed was shown.
    Doubtful,
    /// Of code that is not the work's end, or meant to fail.
    Nothing,
}

/// Which tests the run of the last of these lines was of.
pub(super) fn scope(until: &[LocatedItem<'_>]) -> Option<TestScope> {
    test_scope(tested_by(until)?)
}

/// The command line of the run of the last of these lines: its own, or that of the call whose output it polls.
pub(super) fn tested_by<'t>(until: &[LocatedItem<'t>]) -> Option<&'t str> {
    let last = until.last()?;
    let words = call(last)?;
    if tool(words.split('(').next()?).answer != AnswerKind::Poll && !polls(words) {
        return Some(command(words));
    }
    if let Some(begun) = begun(until) {
        return Some(command(begun));
    }
    let before = until.iter().rev().skip(1).take(CALLS_MAX);
    let mut before = before.filter(|line| line.main == last.main);
    before.find_map(|line| Some(command(call(line)?)).filter(|line| test_scope(line).is_some()))
}

/// The command of a line that runs tests, where it has only one.
pub(super) fn test_command(line: &str) -> Option<CommandCheck> {
    let mut found = test_commands(line).into_iter();
    found.next().filter(|_| found.next().is_none())
}

/// Calls between a command that goes on and one that asks for what it printed.
const CALLS_MAX: usize = 12;

/// The call that began what the last of these lines polls.
pub(super) fn begun<'t>(until: &[LocatedItem<'t>]) -> Option<&'t str> {
    let last = until.last()?;
    let before = until.iter().rev().skip(1).take(CALLS_MAX);
    let mut before = before.filter(|line| line.main == last.main);
    let is_begun = |line: &&LocatedItem<'_>| {
        line.item.text.ends_with(RUNNING) && call(line).is_some_and(|call| !polls(call))
    };
    before.find(is_begun).and_then(call)
}

/// A script that asks for what a command printed since.
pub(super) fn polls(call: &str) -> bool {
    call.contains("tools.write_stdin(")
}

/// What stands in a call's parentheses, without where it ran.
pub(super) fn command(call: &str) -> &str {
    let given = call.split_once('(').map_or(call, |(_, given)| given);
    let given = given.strip_suffix(')').unwrap_or(given);
    match given.rsplit_once(", in ") {
        Some((command, place)) if !place.contains(' ') => command,
        _ => given,
    }
}

/// Both are of one runner, whatever it counts: `go test` tells packages, with `-v` tests.
pub(super) fn is_runner(run: &Run<'_>, other: &Run<'_>) -> bool {
    is_kin(&run.counts.runner, &other.counts.runner)
}

/// The last words that say that all tests pass.
pub(super) fn says_passed<'l, 't>(
    lines: &'l [LocatedItem<'t>],
) -> Option<(&'l LocatedItem<'t>, &'t str)> {
    let words = lines.iter().rev();
    let mut words = words.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    words.find_map(|line| Some((line, passes(line.words())?.trim())))
}
