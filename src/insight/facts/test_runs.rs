//! What state the tests of a session's work ended in: the last run that says something about the work. A run on
//! code that was put aside, one that was meant to fail, one whose output was filtered, and a hook's that
//! found others' faults say nothing where another run says more.

use super::line::LocatedItem;
use super::ran::{RUNNING, call, hides_passed, is_hook};
use super::stash::{Stash, stash};
use super::unseen_runs::{Unseen, says_more, unseen};
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, TestCounts};
use crate::model::summary::{Sourced, TestRuns, UnseenEnd};
use crate::rules::commands::{TestScope, bare, test_scope, whole_test_runs};
use crate::rules::test_words::{blames_others, excuse, fails, fails_on_purpose, passes};
use crate::rules::tools::{AnswerKind, tool};

/// The test runs; `None` where none ran that says something, and no words say how they ended.
pub fn test_runs(lines: &[LocatedItem<'_>]) -> Option<Sourced<TestRuns>> {
    let (runs, hidden) = judged(lines);
    let last =
        of_standing(&runs, Standing::Work).or_else(|| of_standing(&runs, Standing::Doubtful));
    let is_red = last.is_none_or(|run| run.counts.failed > 0);
    let since = last.map_or(0, |run| run.at);
    let numbers = last.map(|run| counts(lines, run)).unwrap_or_default();
    let mut found = TestRuns {
        runs: runs.len() as u64,
        failed: failed(&runs).count() as u64,
        failed_in_part: failed(&runs).any(|run| run.scope == Some(TestScope::Part)),
        part: last.is_some_and(|last| is_part(&runs, last, numbers.partial)),
        last: numbers,
        full: last.and_then(|last| full(&runs, last)).cloned(),
        coverage: coverage(lines),
        ..TestRuns::default()
    };
    found.command = last
        .filter(|last| found.last.partial && last.scope == Some(TestScope::Whole))
        .and_then(|last| whole_command(&lines[..=last.at]));
    if found.command.is_some() {
        found.full = None;
    }
    found.excuse = excused(lines, since);
    if let Some(larger) = last.filter(|_| found.part && found.full.is_none()) {
        found.full = larger_run(&runs, larger).cloned();
        found.full_is_part = found.full.is_some();
    }
    let later = last.map_or(0, |run| hidden.partition_point(|at| *at <= run.at));
    let (earlier, later) = hidden.split_at(later);
    let [later, earlier] = [later, earlier].map(|places| {
        let places = places.iter().rev();
        places.filter_map(|at| unexcused(lines, *at))
    });
    if let Some(unseen) = says_more(later, earlier, last.map(|_| &found)) {
        let passed = matches!(unseen.run.end, UnseenEnd::Worked | UnseenEnd::Silent);
        if is_red && (passed || unseen.said.is_some()) {
            older(&mut found, green(&runs));
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
    older(&mut found, green(&runs));
    found.said = Some(sentence.to_owned());
    Some(line.source(found))
}

/// The agent's words since the last change of a file, or since the last run, that something which fails isn't of this work.
fn excused(lines: &[LocatedItem<'_>], since: usize) -> Option<String> {
    const WORDS_MAX: usize = 12;
    let is_change = |finding: &Finding| matches!(finding, Finding::Changed { .. });
    let changes = |line: &LocatedItem<'_>| line.item.findings.iter().any(is_change);
    let from = lines.iter().rposition(changes).unwrap_or(0).max(since);
    let words = lines[from..].iter().rev();
    let words = words.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    let mut said = words
        .take(WORDS_MAX)
        .filter_map(|line| excuse(line.words()));
    said.next().map(str::to_owned)
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
    found.last = green.map(|run| run.counts.clone()).unwrap_or_default();
    (found.full, found.full_is_part) = (None, false);
}

/// Runs that failed and were not meant to.
fn failed<'r, 'c>(runs: &'r [Run<'c>]) -> impl Iterator<Item = &'r Run<'c>> {
    let failed = runs.iter().filter(|run| run.counts.failed > 0);
    failed.filter(|run| run.standing != Standing::Nothing)
}

/// The numbers of a run; what a script polls may have printed some of them before.
fn counts(lines: &[LocatedItem<'_>], run: &Run<'_>) -> TestCounts {
    let mut counts = run.counts.clone();
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

/// A run with what it says of the work.
struct Run<'c> {
    /// Its line's index.
    at: usize,
    counts: &'c TestCounts,
    standing: Standing,
    /// `None`: nobody knows.
    scope: Option<TestScope>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    Work,
    /// It failed, and maybe not for the work's sake, or only what failed was shown.
    Doubtful,
    /// Of code that is not the work's end, or meant to fail.
    Nothing,
}

/// The runs with numbers, and where calls stand that may have run tests and showed none.
fn judged<'c>(lines: &[LocatedItem<'c>]) -> (Vec<Run<'c>>, Vec<usize>) {
    let (mut runs, mut hidden) = (Vec::new(), Vec::new());
    let mut is_stashed = false;
    for (at, line) in lines.iter().enumerate() {
        let call = call(line);
        let stash = call.map_or(Stash::default(), stash);
        let goes_on = line.item.kind == ItemKind::Prompt
            || line
                .item
                .findings
                .iter()
                .any(|finding| matches!(finding, Finding::Changed { .. }));
        is_stashed &= !goes_on && !stash.ends;
        let known = runs.len();
        for finding in line.item.findings {
            let Finding::Tests(counts) = finding else {
                continue;
            };
            let is_aside = is_stashed || stash.begins;
            let is_red = counts.failed > 0;
            runs.push(Run {
                at,
                counts,
                scope: scope(&lines[..=at]),
                standing: match is_aside || is_red && is_meant_to_fail(&lines[..at]) {
                    true => Standing::Nothing,
                    false if is_red && is_doubtful(call, &lines[at + 1..]) => Standing::Doubtful,
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
            && (is_meant_to_fail(&lines[..at]) || is_doubtful(call(&lines[at]), &lines[at + 1..]))
    };
    unseen(lines, at).filter(|unseen| !is_excused(unseen))
}

fn of_standing<'r, 'c>(runs: &'r [Run<'c>], standing: Standing) -> Option<&'r Run<'c>> {
    runs.iter().rfind(|run| run.standing == standing)
}

/// What the agent said last before a run.
fn is_meant_to_fail(before: &[LocatedItem<'_>]) -> bool {
    const CALLS_MAX: usize = 8;
    let near = before.iter().rev().take(CALLS_MAX).filter(|line| line.main);
    let mut near = near.take_while(|line| line.item.kind != ItemKind::Prompt);
    let said = near.find(|line| line.item.kind == ItemKind::Agent);
    said.is_some_and(|said| fails_on_purpose(said.words()))
}

fn is_doubtful(call: Option<&str>, after: &[LocatedItem<'_>]) -> bool {
    let until_next = after.iter().take_while(|line| {
        let is_run = |finding: &Finding| matches!(finding, Finding::Tests(_));
        !line.item.findings.iter().any(is_run)
    });
    let mut said = until_next.filter(|line| line.item.kind == ItemKind::Agent && line.main);
    call.is_some_and(|call| is_hook(call) || hides_passed(call))
        || said.any(|line| blames_others(line.words()))
}

/// The last words that say that all tests pass.
fn says_passed<'l, 't>(lines: &'l [LocatedItem<'t>]) -> Option<(&'l LocatedItem<'t>, &'t str)> {
    let words = lines.iter().rev();
    let mut words = words.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    words.find_map(|line| Some((line, passes(line.words())?.trim())))
}

/// The last run that didn't fail.
fn green<'r, 'c>(runs: &'r [Run<'c>]) -> Option<&'r Run<'c>> {
    let mut passed = runs.iter().filter(|run| run.counts.failed == 0);
    passed.rfind(|run| run.standing == Standing::Work)
}

/// Which tests the run of the last of these lines was of: by its own command, or by that of the call whose
/// output it polls.
fn scope(until: &[LocatedItem<'_>]) -> Option<TestScope> {
    let last = until.last()?;
    let words = call(last)?;
    if tool(words.split('(').next()?).answer != AnswerKind::Poll && !polls(words) {
        return test_scope(command(words));
    }
    if let Some(begun) = begun(until) {
        return test_scope(command(begun));
    }
    let before = until.iter().rev().skip(1).take(CALLS_MAX);
    let mut before = before.filter(|line| line.main == last.main);
    before.find_map(|line| test_scope(command(call(line)?)))
}

/// Calls between a command that goes on and one that asks for what it printed.
const CALLS_MAX: usize = 12;

/// The call that began what the last of these lines polls.
fn begun<'t>(until: &[LocatedItem<'t>]) -> Option<&'t str> {
    let last = until.last()?;
    let before = until.iter().rev().skip(1).take(CALLS_MAX);
    let mut before = before.filter(|line| line.main == last.main);
    let is_begun = |line: &&LocatedItem<'_>| {
        line.item.text.ends_with(RUNNING) && call(line).is_some_and(|call| !polls(call))
    };
    before.find(is_begun).and_then(call)
}

/// A script that asks for what a command printed since.
fn polls(call: &str) -> bool {
    call.contains("tools.write_stdin(")
}

/// What stands in a call's parentheses, without where it ran.
fn command(call: &str) -> &str {
    let given = call.split_once('(').map_or(call, |(_, given)| given);
    let given = given.strip_suffix(')').unwrap_or(given);
    match given.rsplit_once(", in ") {
        Some((command, place)) if !place.contains(' ') => command,
        _ => given,
    }
}

/// Where the last run was of some tests, the last one whose command runs all of them. Else, where it was of less than
/// half of what such commands ran at most: the last one of about all of them.
fn full<'c>(runs: &[Run<'c>], last: &Run<'c>) -> Option<&'c TestCounts> {
    let is_own = |run: &&Run<'c>| run.standing == Standing::Work && is_runner(run, last);
    let own = runs.iter().filter(is_own);
    let mut whole = own
        .filter(|run| run.scope == Some(TestScope::Whole))
        .map(|run| run.counts);
    if last.scope == Some(TestScope::Part) {
        return whole.next_back();
    }
    let size = |run: &TestCounts| run.passed + run.failed;
    let same = whole.filter(|run| run.runner == last.counts.runner);
    let most = same.clone().map(size).max()?;
    let mut large = same.filter(|run| size(run) * 10 >= most * 9);
    large.next_back().filter(|_| size(last.counts) * 2 < most)
}

/// The last run of far more tests than one of some.
fn larger_run<'c>(runs: &[Run<'c>], last: &Run<'c>) -> Option<&'c TestCounts> {
    const TIMES: u64 = 3;
    let size = |run: &TestCounts| run.passed + run.failed;
    let mut larger = runs.iter().rev().filter(|run| {
        run.standing != Standing::Nothing
            && is_runner(run, last)
            && run.counts.packages == last.counts.packages
            && size(run.counts) >= size(last.counts) * TIMES
    });
    Some(larger.next()?.counts)
}

/// Both are of one runner, whatever it counts: `go test` tells packages, with `-v` tests.
fn is_runner(run: &Run<'_>, other: &Run<'_>) -> bool {
    let name = |run: &Run<'_>| run.counts.runner.trim_end_matches(" -v").to_owned();
    name(run) == name(other)
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
mod tests {
    use super::*;

    fn run(passed: u64, failed: u64) -> Vec<Finding> {
        of("jest", passed, failed)
    }

    fn of(runner: &str, passed: u64, failed: u64) -> Vec<Finding> {
        vec![Finding::Tests(TestCounts {
            runner: runner.into(),
            passed,
            failed,
            ..TestCounts::default()
        })]
    }

    /// `Action: …` lines with what they came to, `Agent: …` lines and `User: …` lines.
    fn runs(items: &[(&str, Vec<Finding>)]) -> Option<TestRuns> {
        let lines = items.iter().zip(1..).map(|((text, findings), n)| {
            let kind = match text.split_once(": ").expect("a label").0 {
                "Agent" => ItemKind::Agent,
                "User" => ItemKind::Prompt,
                _ => ItemKind::Digest,
            };
            LocatedItem::sample(kind, n, text, findings)
        });
        test_runs(&lines.collect::<Vec<_>>()).map(|runs| runs.what)
    }

    #[test]
    fn a_run_of_a_few_is_never_told_as_one_of_all() {
        let go = |command: &str, passed, failed, runner: &str| {
            let text: &str = Box::leak(format!("Action: Bash({command}) → …").into_boxed_str());
            (text, of(runner, passed, failed))
        };
        let all = || go("go test ./...", 9, 0, "go test");
        let some = || go("go test ./a -run TestX -v", 3, 0, "go test -v");
        let found = runs(&[all(), some()]).expect("runs");
        assert_eq!((found.part, found.last.passed), (true, 3));
        assert_eq!(found.full.map(|full| full.passed), Some(9));
        let found = runs(&[some(), some()]).expect("runs");
        assert_eq!((found.part, found.full), (true, None));
        let found = runs(&[some(), all()]).expect("runs");
        assert_eq!((found.part, found.full), (false, None));
        // what a poll prints is of the command that runs
        let begun = ("Action: exec_command(go test ./a) → 6 lines", vec![]);
        let polled = ("Action: write_stdin(7) → …", of("go test", 1, 0));
        assert!(runs(&[begun.clone(), polled.clone()]).expect("a run").part);
        // that is the last one that goes on
        let other = (
            "Action: exec(just test) → running in the background",
            vec![],
        );
        let found = runs(&[all(), begun.clone(), other.clone(), polled]).expect("runs");
        assert!(!found.part);
        let script = "Action: exec(const r = await tools.write_stdin({session_id:7})) → …";
        let found = runs(&[begun, other, (script, of("go test", 1, 0))]).expect("a run");
        assert!(!found.part && !found.last.partial, "it counts tests");
    }

    #[test]
    fn beside_a_run_of_a_few_stands_one_of_far_more() {
        let some = |path: &str, passed, failed| {
            let text: &str = Box::leak(format!("Action: Bash(bun test {path}) → …").into());
            (text, of("bun test", passed, failed))
        };
        let found = runs(&[some("src/", 90, 9), some("src/a.test.ts", 3, 0)]).expect("runs");
        let full = found.full.map(|full| (full.passed, full.failed));
        assert_eq!((full, found.full_is_part), (Some((90, 9)), true));
        let found = runs(&[some("src/b.test.ts", 4, 0), some("src/a.test.ts", 3, 0)]);
        assert_eq!(found.expect("runs").full, None);
        // a command that is cut says nothing of which tests it ran
        let cut = (
            "Action: Bash(bun x && bun run long…) → …",
            of("bun test", 3, 0),
        );
        let found = runs(&[some("src/", 90, 0), cut]).expect("runs");
        assert!(found.part && found.full_is_part);
    }

    #[test]
    fn runs_of_some_tests_that_failed_are_known() {
        let some = || ("Action: Bash(npm test -- a.test.ts) → …", run(0, 1));
        let found = runs(&[some(), some(), (NPM, run(8, 1)), (NPM, run(9, 0))]).expect("runs");
        assert_eq!((found.failed, found.failed_in_part), (3, true));
        let found = runs(&[(NPM, run(8, 1)), (NPM, run(9, 0))]).expect("runs");
        assert_eq!((found.failed, found.failed_in_part), (1, false));
    }

    #[test]
    fn words_at_the_end_that_say_that_tests_fail_stand_beside_a_run_that_passed() {
        let words = "Agent: Unit tests pass.\n3 integration tests are failing with `agent=0`.";
        let found = runs(&[(NPM, run(9, 0)), (words, vec![])]).expect("a run");
        assert_eq!(
            found.open.as_deref(),
            Some("3 integration tests are failing with `agent=0`.")
        );
        let later = ("Agent: All tests pass now.", vec![]);
        let found = runs(&[(NPM, run(9, 0)), (words, vec![]), later]).expect("a run");
        assert_eq!(found.open, None);
    }

    #[test]
    fn a_packages_coverage_is_not_that_of_all() {
        let of_one = "Action: Bash(go test -cover ./internal/auth) → …";
        let of_all = "Action: Bash(go test -cover ./...) → …";
        let covered = |text| vec![(text, vec![Finding::Coverage(1300)]), (NPM, run(9, 0))];
        let coverage = |text| runs(&covered(text)).expect("a run").coverage;
        assert_eq!(coverage(of_one), None);
        assert_eq!(coverage(of_all), Some(1300));
    }

    /// Passed and failed of the run that counts as the last one.
    fn last(items: &[(&str, Vec<Finding>)]) -> Option<(u64, u64)> {
        runs(items).map(|runs| (runs.last.passed, runs.last.failed))
    }

    const NPM: &str = "Action: Bash(npm test) → …";

    #[test]
    fn a_run_of_some_tests_stands_beside_the_last_run_of_all() {
        let full = |items: &[(&str, Vec<Finding>)]| runs(items)?.full.map(|full| full.passed);
        let all = [(NPM, run(90, 0)), (NPM, run(95, 0)), (NPM, run(3, 0))];
        assert_eq!(full(&all), Some(95));
        assert_eq!(full(&all[..2]), None, "the last one is of all");
        assert_eq!(full(&[(NPM, run(90, 0)), (NPM, of("pytest", 3, 0))]), None);
    }

    #[test]
    fn a_run_on_code_that_was_put_aside_says_nothing() {
        let stash = ("Action: Bash(git stash -u) → saved", vec![]);
        let pop = ("Action: Bash(git stash pop) → ok", vec![]);
        let both = "Action: Bash(git stash -q && npm test; git stash pop) → …";
        let green = (NPM, run(9, 0));
        let items = [green.clone(), stash.clone(), (NPM, run(8, 1)), pop.clone()];
        assert_eq!(last(&items), Some((9, 0)));
        assert_eq!(last(&[green.clone(), (both, run(8, 1))]), Some((9, 0)));
        let back = "Action: Bash(git stash pop && npm test) → …";
        let items = [green.clone(), stash.clone(), (back, run(8, 1))];
        assert_eq!(last(&items), Some((8, 1)));
        assert_eq!(last(&[stash, (NPM, run(8, 1)), pop]), None);
        let list = ("Action: Bash(git stash list) → none", vec![]);
        assert_eq!(last(&[green, list, (NPM, run(8, 1))]), Some((8, 1)));
    }

    #[test]
    fn what_is_meant_to_fail_or_only_shows_failures_says_nothing_beside_another_run() {
        let green = (NPM, run(9, 0));
        let red = ("Agent: The test is in. It should fail now:", vec![]);
        assert_eq!(last(&[green.clone(), red, (NPM, run(0, 1))]), Some((9, 0)));
        for filter in [
            "Action: Bash(go test ./... | grep -v ^ok) → …",
            "Action: Bash(npm test 2>&1 | grep -E 'FAIL|Error') → …",
            "Action: Bash(git add a && git commit -m x) → …",
        ] {
            assert_eq!(
                last(&[green.clone(), (filter, run(0, 1))]),
                Some((9, 0)),
                "{filter}"
            );
            assert_eq!(last(&[(filter, run(0, 1))]), Some((0, 1)), "{filter}");
        }
        for own in [
            "Action: Bash(go test ./... | grep -E '^(ok|FAIL)') → …",
            "Action: Bash(npm test && git commit -m x) → …",
            "Action: Bash(npm test 2>&1 | tail -5) → …",
        ] {
            assert_eq!(
                last(&[green.clone(), (own, run(0, 1))]),
                Some((0, 1)),
                "{own}"
            );
        }
        let others = ("Agent: That failure is pre-existing.", vec![]);
        assert_eq!(last(&[green, (NPM, run(8, 1)), others]), Some((9, 0)));
    }

    #[test]
    fn words_that_say_that_all_pass_speak_against_an_older_failure() {
        let said = ("Agent: Fixed. All 9 tests pass.", vec![]);
        let found = runs(&[(NPM, run(8, 1)), said.clone()]).expect("words");
        assert_eq!((found.last.passed, found.last.failed), (0, 0));
        assert_eq!(found.said.as_deref(), Some("All 9 tests pass."));
        let found = runs(&[(NPM, run(9, 0)), (NPM, run(8, 1)), said.clone()]).expect("words");
        assert_eq!((found.last.passed, found.last.failed), (9, 0));
        let found = runs(&[said.clone(), (NPM, run(8, 1))]).expect("a run");
        assert_eq!((found.said, found.last.failed), (None, 1));
        assert_eq!(runs(&[said]).expect("words").runs, 0);
        assert_eq!(
            runs(&[("Agent: Let me make sure all tests pass.", vec![])]),
            None
        );
    }

    #[test]
    fn what_is_polled_of_a_run_of_all_is_told_by_its_command() {
        let begun = (
            "Action: exec(env C=/t mise run test) → running in the background",
            vec![],
        );
        let polled = "Action: exec(const r = await tools.write_stdin({session_id: 1}); text(r)) → passed 1/1 packages";
        let mut counts = of("go test", 1, 0);
        if let Some(Finding::Tests(counts)) = counts.first_mut() {
            counts.packages = true;
        }
        let found = runs(&[begun, (polled, counts.clone())]).expect("a run");
        assert_eq!(found.command.as_deref(), Some("mise run test"));
        let some = (
            "Action: exec(go test ./a -run X) → running in the background",
            vec![],
        );
        let found = runs(&[some, (polled, counts)]).expect("a run");
        assert_eq!(found.command, None);
    }

    #[test]
    fn what_the_agent_says_of_others_trouble_is_told() {
        let said = "Agent: All tests pass. The formatter's issues are in unrelated documents.";
        let found = runs(&[(NPM, run(9, 0)), (said, vec![])]).expect("a run");
        let wants = Some("The formatter's issues are in unrelated documents.");
        assert_eq!(found.excuse.as_deref(), wants);
        let found = runs(&[(said, vec![]), (NPM, run(9, 0))]).expect("a run");
        assert_eq!(found.excuse, None, "it ran since");
    }

    #[test]
    fn the_last_coverage_counts_wherever_it_was_printed() {
        let report = (
            "Action: Bash(coverage report) → …",
            vec![Finding::Coverage(9125)],
        );
        let found = runs(&[(NPM, run(9, 0)), report]).expect("a run");
        assert_eq!(found.coverage, Some(9125));
    }
}
