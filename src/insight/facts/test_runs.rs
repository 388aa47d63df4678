//! What state the tests of a session's work ended in: the last run that says something about the work. A run on
//! code that was put aside, one that was meant to fail, one whose output was filtered, and a hook's that
//! found others' faults say nothing where another run says more.

mod other_runs;
mod runs;
mod uncounted;

use super::line::LocatedItem;
use super::ran::{call, hides_passed, is_hook};
use super::stale::Changes;
use super::stash::{Stash, stash};
use super::unseen_runs::{Unseen, says_more, unseen};
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, TestCounts};
use crate::model::summary::{Sourced, TestRuns, UnseenEnd};
use crate::rules::commands::{TestScope, bare, whole_test_runs};
use crate::rules::test_words::{blames_others, excuse, fails, fails_on_purpose, tests_excuse};
use runs::{
    Run, Standing, begun, command, is_runner, polled_of, polls, says_passed, scope, test_command,
    tested_by,
};
use std::borrow::Cow;
use uncounted::may_be_more;

/// The test runs; `None` where none ran that says something, and no words say how they ended.
pub fn test_runs(lines: &[LocatedItem<'_>]) -> Option<Sourced<TestRuns>> {
    let (runs, hidden) = judged(lines);
    let last = runs
        .iter()
        .rfind(|run| run.standing == Standing::Work)
        .or_else(|| runs.iter().rfind(|run| run.standing != Standing::Nothing));
    let is_red = last.is_none_or(|run| run.counts.failed > 0);
    let since = last.map_or(0, |run| run.at);
    let mut found = seen(lines, &runs, last);
    let later = last.map_or(0, |run| hidden.partition_point(|at| *at <= run.at));
    let (earlier, later) = hidden.split_at(later);
    let [later, earlier] = [later, earlier].map(|places| {
        let places = places.iter().rev();
        places.filter_map(|at| unexcused(lines, *at))
    });
    if let Some(unseen) = says_more(later, earlier, last.map(|_| &found)) {
        let passed = matches!(unseen.run.end, UnseenEnd::Worked | UnseenEnd::Silent);
        if is_red && (passed || unseen.said.is_some()) {
            older(&mut found, green(&runs, last));
        }
        if !unseen.run.is_later {
            (found.full, found.full_is_part) = (None, false);
        }
        let at = if unseen.run.is_later {
            unseen.at
        } else {
            since
        };
        (found.said, found.unseen) = (unseen.said, Some(unseen.run));
        return Some(lines[at].source(found));
    }
    let said = is_red.then(|| says_passed(&lines[since..])).flatten();
    if last.is_some() && !is_red {
        found.open = fails_at_end(lines.iter().rev()).map(|said| said.trim().to_owned());
    }
    let Some((line, sentence)) = said else {
        return last.map(|run| lines[run.at].source(found));
    };
    older(&mut found, green(&runs, last));
    found.said = Some(sentence.to_owned());
    Some(line.source(found))
}

/// What the log shows of the last run, and of those of its runner.
fn seen(lines: &[LocatedItem<'_>], runs: &[Run<'_>], last: Option<&Run<'_>>) -> TestRuns {
    // others count for themselves
    let is_own = |run: &&Run<'_>| last.is_none_or(|last| is_runner(run, last));
    let own = || runs.iter().filter(is_own).filter(|run| !run.is_aside);
    let own_failed = || failed(runs).filter(is_own);
    let mut found = TestRuns {
        runs: own().count() as u64,
        all_seen: !may_be_more(lines, runs),
        failed: own_failed().count() as u64,
        failed_in_part: own_failed().any(|run| run.scope == Some(TestScope::Part)),
        coverage: coverage(lines),
        ..TestRuns::default()
    };
    let Some(last) = last else {
        found.excuse = excused(lines, 0);
        return found;
    };
    found.last = counts(lines, last);
    found.others = other_runs::others(lines, runs, last);
    found.part = is_part(runs, last, found.last.partial);
    let mut full = full(runs, last);
    let is_all = last.scope == Some(TestScope::Whole);
    found.command = (found.last.partial && is_all)
        .then(|| whole_command(&lines[..=last.at]))
        .flatten();
    if found.command.is_some() {
        full = None;
    }
    if found.part && last.scope == Some(TestScope::Part) {
        let run = tested_by(&lines[..=last.at]).and_then(test_command);
        found.part_command = run.map(|run| bare(&run.words).join(" "));
    }
    if found.part && full.is_none() {
        full = larger_run(runs, last);
        found.full_is_part = full.is_some();
    }
    let changes = Changes::of(lines);
    found.changed_after = is_stale(lines, &changes, last);
    found.full_changed_after = full.is_some_and(|full| is_stale(lines, &changes, full));
    found.aside = aside(runs, last);
    let red = [Some(last), full].into_iter().flatten();
    found.excuse = match red.into_iter().find(|run| run.counts.failed > 0) {
        Some(red) => excused_tests(&lines[red.at..], red.counts.failed),
        None => excused(lines, last.at),
    };
    found.full = full.map(|run| (*run.counts).clone());
    found
}

/// Words of the agent that are read for one thing.
const WORDS_MAX: usize = 12;

/// The agent's words since the last change of a file, or since the last run, that something which fails isn't of this work.
fn excused(lines: &[LocatedItem<'_>], since: usize) -> Option<String> {
    let from = lines
        .iter()
        .rposition(LocatedItem::is_edit)
        .unwrap_or(0)
        .max(since);
    let words = lines[from..].iter().rev();
    let words = words.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    let mut said = words
        .take(WORDS_MAX)
        .filter_map(|line| excuse(line.words()));
    said.next().map(str::to_owned)
}

/// The agent's last words behind a run that what failed there isn't of this work.
fn excused_tests(after: &[LocatedItem<'_>], failed: u64) -> Option<String> {
    let words = after.iter().rev();
    let mut words = words.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    let said = words.find_map(|line| tests_excuse(line.words(), failed))?;
    Some(said.to_owned())
}

/// The command of a run of all tests: its own, or that of the call whose output the last of these lines polls.
fn whole_command(until: &[LocatedItem<'_>]) -> Option<String> {
    let run = begun(until).or_else(|| call(until.last()?))?;
    let run = whole_test_runs(command(run)).pop()?;
    Some(bare(&run.words).join(" "))
}

/// The numbers are of an earlier state, where there are any.
fn older(found: &mut TestRuns, green: Option<&Run<'_>>) {
    found.part = green.is_some_and(|run| run.scope == Some(TestScope::Part));
    found.part_command = None;
    found.last = green.map(|run| (*run.counts).clone()).unwrap_or_default();
    (found.changed_after, found.aside) = (false, None);
    (found.full, found.full_is_part) = (None, false);
}

/// Runs that failed and were not meant to.
fn failed<'r, 'c>(runs: &'r [Run<'c>]) -> impl Iterator<Item = &'r Run<'c>> {
    let failed = runs.iter().filter(|run| run.counts.failed > 0);
    failed.filter(|run| run.standing != Standing::Nothing)
}

/// The numbers of a run; what a script polls may have printed some of them before.
fn counts(lines: &[LocatedItem<'_>], run: &Run<'_>) -> TestCounts {
    let mut counts = (*run.counts).clone();
    counts.partial |= counts.packages && call(&lines[run.at]).is_some_and(polls);
    counts
}

/// The run is of some tests: its command says so, or nobody knows and it is far smaller than another one; of one whose
/// numbers are partial nobody knows how large it was.
fn is_part(runs: &[Run<'_>], last: &Run<'_>, is_partial: bool) -> bool {
    let size = |run: &Run<'_>| run.counts.passed + run.counts.failed;
    let is_larger = |run: &Run<'_>| {
        run.standing == Standing::Work
            && run.counts.runner == last.counts.runner
            && size(last) * 2 <= size(run)
    };
    match last.scope {
        Some(scope) => scope == TestScope::Part,
        None => !is_partial && last.counts.failed == 0 && runs.iter().any(is_larger),
    }
}

/// The sentence of the agent's last words that says that tests of the work fail, if one does; of the items of the
/// main log, the last one first.
pub(in crate::insight) fn fails_at_end<'l, 't: 'l>(
    backwards: impl Iterator<Item = &'l LocatedItem<'t>>,
) -> Option<&'t str> {
    let mut words = backwards.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    fails(words.next()?.words())
}

/// The runs with numbers, and where calls stand that may have run tests and showed none.
fn judged<'c>(lines: &[LocatedItem<'c>]) -> (Vec<Run<'c>>, Vec<usize>) {
    let (mut runs, mut hidden) = (Vec::new(), Vec::new());
    let mut is_stashed = false;
    for (at, line) in lines.iter().enumerate() {
        let call = call(line);
        let stash = call.map_or(Stash::default(), stash);
        let goes_on = line.item.kind == ItemKind::Prompt || line.is_edit();
        is_stashed &= !goes_on && !stash.ends;
        let known = runs.len();
        for finding in line.item.findings {
            let Finding::Tests(counts) = finding else {
                continue;
            };
            let is_aside = is_stashed || stash.begins;
            let is_red = counts.failed > 0;
            let begun = polled_of(&lines[..=at]);
            let is_same = |run: &&mut Run<'_>| {
                begun.is_some() && run.begun == begun && run.counts.packages && counts.packages
            };
            if let Some(known) = runs.last_mut().filter(is_same) {
                known.add(at, counts);
                continue;
            }
            runs.push(Run {
                at,
                counts: Cow::Borrowed(counts),
                is_aside,
                begun,
                scope: scope(&lines[..=at]),
                standing: match is_aside || is_red && is_meant_to_fail(&lines[..at]) {
                    true => Standing::Nothing,
                    false if is_red => red(call, &lines[at + 1..], counts.failed),
                    false => Standing::Work,
                },
            });
        }
        if runs.len() == known && !is_stashed {
            hidden.push(at);
        }
        is_stashed |= stash.begins && !stash.ends;
    }
    (runs, hidden)
}

/// The run of all tests there, unless it failed and was meant to, or maybe not for the work's sake.
fn unexcused(lines: &[LocatedItem<'_>], at: usize) -> Option<Unseen> {
    let is_excused = |unseen: &Unseen| {
        unseen.run.end == UnseenEnd::Failed
            && (is_meant_to_fail(&lines[..at])
                || red(call(&lines[at]), &lines[at + 1..], 0) != Standing::Work)
    };
    unseen(lines, at).filter(|unseen| !is_excused(unseen))
}

/// What the agent said last before a run.
fn is_meant_to_fail(before: &[LocatedItem<'_>]) -> bool {
    const CALLS_MAX: usize = 8;
    let near = before.iter().rev().take(CALLS_MAX).filter(|line| line.main);
    let mut near = near.take_while(|line| line.item.kind != ItemKind::Prompt);
    let said = near.find(|line| line.item.kind == ItemKind::Agent);
    said.is_some_and(|said| fails_on_purpose(said.words()))
}

/// What a run says that failed.
fn red(call: Option<&str>, after: &[LocatedItem<'_>], failed: u64) -> Standing {
    let hides = call.is_some_and(|call| is_hook(call) || hides_passed(call));
    let mut said = said_of(after);
    match () {
        () if !hides
            && said
                .clone()
                .any(|said| tests_excuse(said, failed).is_some()) =>
        {
            Standing::Excused
        }
        () if hides || said.any(blames_others) => Standing::Doubtful,
        () => Standing::Work,
    }
}

/// The agent's words up to the next run.
fn said_of<'l, 't>(after: &'l [LocatedItem<'t>]) -> impl Iterator<Item = &'t str> + Clone + 'l {
    let until_next = after.iter().take_while(|line| {
        let is_run = |finding: &Finding| matches!(finding, Finding::Tests(_));
        !line.item.findings.iter().any(is_run)
    });
    let said = until_next.filter(|line| line.item.kind == ItemKind::Agent && line.main);
    said.map(LocatedItem::words)
}

/// The last run that didn't fail, of the same runner as the last one.
fn green<'r, 'c>(runs: &'r [Run<'c>], last: Option<&Run<'c>>) -> Option<&'r Run<'c>> {
    let is_own = |run: &&Run<'_>| last.is_none_or(|last| is_runner(run, last));
    let mut passed = runs
        .iter()
        .filter(|run| run.counts.failed == 0)
        .filter(is_own);
    passed.rfind(|run| run.standing == Standing::Work)
}

/// Where the last run was of some tests, the last one whose command runs all of them. Else, where it was of less than
/// half of what such commands ran at most: the last one of about all of them.
fn full<'r, 'c>(runs: &'r [Run<'c>], last: &Run<'c>) -> Option<&'r Run<'c>> {
    let counts = [Standing::Work, Standing::Excused];
    let is_own = |run: &&Run<'c>| counts.contains(&run.standing) && is_runner(run, last);
    let own = runs.iter().filter(is_own);
    let mut whole = own.filter(|run| run.scope == Some(TestScope::Whole));
    if last.scope == Some(TestScope::Part) {
        return whole.next_back();
    }
    let size = |run: &Run<'_>| run.counts.passed + run.counts.failed;
    let same = whole.filter(|run| run.counts.runner == last.counts.runner);
    let most = same.clone().map(size).max()?;
    let mut large = same.filter(|run| size(run) * 10 >= most * 9);
    large.next_back().filter(|_| size(last) * 2 < most)
}

/// Files that its command may read were changed after it.
fn is_stale(lines: &[LocatedItem<'_>], changes: &Changes<'_>, run: &Run<'_>) -> bool {
    let line = tested_by(&lines[..=run.at]).unwrap_or_default();
    let test = test_command(line);
    let place = test.as_ref().and_then(|test| test.place.as_deref());
    let runner = run.counts.runner.as_str();
    let command = test.as_ref().map(|test| test.words.join(" "));
    let command = format!("{} {runner}", command.unwrap_or_default());
    changes
        .last_for(&command, place)
        .is_some_and(|changed| changed > run.at)
}

/// Beside a run that failed: the last one that failed too while the session's changes were put aside.
fn aside(runs: &[Run<'_>], last: &Run<'_>) -> Option<TestCounts> {
    let is_it = |run: &&Run<'_>| {
        last.counts.failed > 0 && run.is_aside && run.counts.failed > 0 && is_runner(run, last)
    };
    Some((*runs.iter().rfind(is_it)?.counts).clone())
}

/// The last run of far more tests than one of some.
fn larger_run<'r, 'c>(runs: &'r [Run<'c>], last: &Run<'c>) -> Option<&'r Run<'c>> {
    const TIMES: u64 = 3;
    let size = |run: &Run<'_>| run.counts.passed + run.counts.failed;
    let own = runs.iter().enumerate().rev();
    let mut own = own.filter(|(_, run)| {
        run.standing != Standing::Nothing
            && is_runner(run, last)
            && run.counts.packages == last.counts.packages
    });
    let (at, larger) = own.find(|(_, run)| size(run) >= size(last) * TIMES)?;
    // of what failed in the middle of the work a later run of about as much says more
    let is_over = |run: &Run<'_>| {
        run.at != last.at && run.counts.failed == 0 && size(run) * 2 >= size(larger)
    };
    let is_overtaken = larger.counts.failed > 0 && runs[at + 1..].iter().any(is_over);
    (!is_overtaken).then_some(larger)
}

/// As it was printed last for more than some packages or files.
fn coverage(lines: &[LocatedItem<'_>]) -> Option<u32> {
    let findings = lines.iter().enumerate().rev().flat_map(|(at, line)| {
        let findings = line.item.findings.iter().rev();
        findings.map(move |finding| (at, finding))
    });
    let mut found = findings.filter_map(|(at, finding)| match finding {
        Finding::Coverage(hundredths) => Some((at, *hundredths)),
        _ => None,
    });
    let of_all = found.find(|(at, _)| scope(&lines[..=*at]) != Some(TestScope::Part));
    of_all.map(|(_, hundredths)| hundredths)
}

#[cfg(test)]
mod tests;
