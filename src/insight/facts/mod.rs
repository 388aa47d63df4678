//! A session's summary, from what its log states. Pure and deterministic: no language model, no clock.
//!
//! Facts of sub-agents count where they are about files, tests and commits; words count only in the main
//! log.

mod asks;
mod decided;
mod errors;
mod history;
mod line;
mod tasks;
mod words;

pub use asks::UNANSWERED;
pub use decided::{decided, stated, stated_by_agent};
#[cfg(test)]
pub use history::OLDER_TASK;
pub use history::{is_older_task, says_unpushed, unpushed};
pub use line::LocatedItem;

use super::outcome::outcome;
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, TestCounts};
use crate::model::summary::{SessionOutcome, SettingChange, Sourced, Summary, TestRuns};
use line::found;

/// The facts of a session, from its items in the order of time. About 10 MB/s of text.
pub fn facts(lines: &[LocatedItem<'_>]) -> Summary {
    let main = || lines.iter().filter(|line| line.main);
    let tasks = tasks::tasks(lines);
    let last_words = main().rev().find(|line| line.item.kind == ItemKind::Agent);
    let bare = |line: &LocatedItem<'_>| asked(line, words::command);
    let objective = main().find_map(|line| asked(line, words::objective));
    let objective = objective.or_else(|| main().find_map(bare));
    let commits = history::commits(lines);
    let outcome = outcome(main().rev().map(|line| line.item));
    let mut next = tasks.open;
    if outcome == Some(SessionOutcome::Completed) {
        history::note_older(&mut next, &commits, lines);
    }
    next.extend(history::unpushed(&commits, history::has_remote(lines)));
    next.extend(asks::unanswered(lines));
    Summary {
        result: last_words.and_then(|line| Some(line.source(words::beginning(line.words())?))),
        requests: requests(lines, objective.as_ref()),
        objective,
        outcome,
        completed: tasks.done,
        decisions: decided::listed(lines),
        agent_decisions: stated_by_agent(lines, &decided(lines)),
        errors_resolved: errors::resolved(lines),
        config_changes: settings(lines),
        tests: tests(lines),
        files_modified: history::files(lines),
        commits,
        pull_requests: history::pull_requests(lines),
        mcp_tools_used: Vec::new(),
        next_steps: tasks::next_steps(next, last_words),
        llm: None,
    }
}

/// What a prompt asks for.
fn asked(line: &LocatedItem<'_>, says: fn(&str) -> Option<String>) -> Option<Sourced<String>> {
    let is_prompt = line.item.kind == ItemKind::Prompt;
    let said = is_prompt.then(|| says(line.words()))??;
    Some(line.source(said))
}

/// What people asked for after the first request, each in a line: of many the first, the longest and
/// the last ones.
fn requests(lines: &[LocatedItem<'_>], first: Option<&Sourced<String>>) -> Vec<Sourced<String>> {
    let asked = lines.iter().filter(|line| {
        let by_people = matches!(line.item.kind, ItemKind::Prompt | ItemKind::Aside);
        line.main && by_people && first.is_none_or(|first| first.line != line.line)
    });
    let mut all: Vec<(usize, Sourced<String>)> = asked
        .filter_map(|line| {
            Some((
                line.words().len(),
                line.source(words::request(line.words())?),
            ))
        })
        .collect();
    while all.len() > REQUESTS_MAX {
        let middle = REQUESTS_FIRST..all.len() - REQUESTS_LAST;
        let shortest = middle.min_by_key(|nth| all[*nth].0);
        shortest.map(|nth| all.remove(nth));
    }
    all.into_iter().map(|(_, request)| request).collect()
}

/// Requests of one session that are listed, and of these the first and the last ones in any case.
const REQUESTS_MAX: usize = 8;
const REQUESTS_FIRST: usize = 2;
const REQUESTS_LAST: usize = 4;

/// Of each setting the first value and the last, where they differ.
fn settings(lines: &[LocatedItem<'_>]) -> Vec<Sourced<SettingChange>> {
    let mut all: Vec<Sourced<SettingChange>> = Vec::new();
    for (line, finding) in found(lines) {
        let Finding::Set {
            path,
            setting,
            old,
            new,
            renamed,
        } = finding
        else {
            continue;
        };
        let same = |known: &&mut Sourced<SettingChange>| {
            known.what.file == *path && known.what.setting == *setting
        };
        match all.iter_mut().find(same) {
            Some(known) => known.what.new.clone_from(new),
            None => all.push(line.source(SettingChange {
                file: path.clone(),
                setting: setting.clone(),
                old: old.clone(),
                new: new.clone(),
                renamed: renamed.clone(),
                reason: None,
            })),
        }
    }
    all.retain(|change| change.what.old != change.what.new || change.what.renamed.is_some());
    all
}

fn tests(lines: &[LocatedItem<'_>]) -> Option<Sourced<TestRuns>> {
    let mut runs: Vec<(&LocatedItem<'_>, &TestCounts)> = Vec::new();
    for (line, finding) in found(lines) {
        if let Finding::Tests(counts) = finding {
            runs.push((line, counts));
        }
    }
    let ((_, first), (line, last)) = (runs.first()?, runs.last()?);
    Some(line.source(TestRuns {
        runs: runs.len() as u64,
        first: (*first).clone(),
        last: (*last).clone(),
        full: full(&runs, last).cloned(),
    }))
}

/// Where the last run was of less than half of the tests that its runner ran at most: the last one of
/// about all of them.
fn full<'c>(
    runs: &[(&LocatedItem<'_>, &'c TestCounts)],
    last: &TestCounts,
) -> Option<&'c TestCounts> {
    let size = |run: &TestCounts| run.passed + run.failed;
    let same = runs.iter().map(|(_, run)| *run);
    let same = same.filter(|run| run.runner == last.runner);
    let most = same.clone().map(size).max()?;
    let mut large = same.filter(|run| size(run) * 10 >= most * 9);
    large.next_back().filter(|_| size(last) * 2 < most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_some_tests_stands_beside_the_last_run_of_all() {
        let run = |passed, runner: &str| {
            Finding::Tests(TestCounts {
                runner: runner.into(),
                passed,
                ..TestCounts::default()
            })
        };
        let full = |findings: &[Finding]| {
            let line = LocatedItem::sample(ItemKind::Digest, 1, "", findings);
            let runs = tests(&[line]).expect("runs").what;
            runs.full.map(|full| full.passed)
        };
        let all = [run(90, "jest"), run(95, "jest"), run(3, "jest")];
        assert_eq!(full(&all), Some(95));
        assert_eq!(full(&all[..2]), None, "the last one is of all");
        assert_eq!(full(&[run(90, "jest"), run(3, "pytest")]), None);
    }
}
