//! A run of tests, which command it was of, and what somebody says of all of them.

use crate::insight::facts::line::LocatedItem;
use crate::insight::facts::ran::{RUNNING, call};
use crate::model::exchange::ItemKind;
use crate::model::finding::TestCounts;
use crate::rules::commands::{CommandCheck, TestScope, test_commands, test_scope};
use crate::rules::test_runners::is_kin;
use crate::rules::test_words::passes;
use crate::rules::tools::{AnswerKind, tool};
use std::borrow::Cow;

/// A run with what it says of the work.
pub(super) struct Run<'c> {
    /// Its line's index.
    pub at: usize,
    pub counts: Cow<'c, TestCounts>,
    pub standing: Standing,
    /// The session's changes were put aside.
    pub is_aside: bool,
    /// Where the command began that it is polled of.
    pub begun: Option<usize>,
    /// `None`: nobody knows.
    pub scope: Option<TestScope>,
}

impl Run<'_> {
    /// Adds what a later poll of the same command printed: packages that were done since.
    pub fn add(&mut self, at: usize, more: &TestCounts) {
        let counts = self.counts.to_mut();
        counts.passed += more.passed;
        counts.failed += more.failed;
        counts.skipped += more.skipped;
        counts.failures.extend(more.failures.iter().cloned());
        counts.cause = counts.cause.take().filter(|_| more.failed == 0);
        counts.partial = true;
        self.at = at;
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    Work,
    /// It failed, not for the work's sake, as the agent says.
    Excused,
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
    call(&until[begun_at(until)?])
}

fn begun_at(until: &[LocatedItem<'_>]) -> Option<usize> {
    let last = until.last()?;
    let before = until.iter().enumerate().rev().skip(1).take(CALLS_MAX);
    let mut before = before.filter(|(_, line)| line.main == last.main);
    let is_begun = |line: &LocatedItem<'_>| {
        line.item.text.ends_with(RUNNING) && call(line).is_some_and(|call| !polls(call))
    };
    before.find(|(_, line)| is_begun(line)).map(|(at, _)| at)
}

/// Where the command began of which the last of these lines prints what it printed since it was asked before.
pub(super) fn polled_of(until: &[LocatedItem<'_>]) -> Option<usize> {
    let words = call(until.last()?)?;
    let asks = words.starts_with("write_stdin(") || polls(words);
    asks.then(|| begun_at(until)).flatten()
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
