//! A session's tests, as Markdown.

use super::checks::{CHANGED_AFTER, COMMAND_CHARS_MAX};
use super::escape::inline;
use super::shortened::short;
use crate::model::finding::TestCounts;
use crate::model::human::plural;
use crate::model::summary::{
    LlmAdditions, OtherRun, Sourced, Summary, TestRuns, UnseenEnd, UnseenRun,
};

/// The last run, and others that say more.
pub fn tests(summary: &Summary, llm: &LlmAdditions) -> Vec<String> {
    let (last, runs) = match (&summary.tests, &llm.tests) {
        (Some(Sourced { what: runs, .. }), _) => (&runs.last, Some(runs)),
        (None, Some(last)) => (last, None),
        (None, None) => return Vec::new(),
    };
    let framework = Some(inline(&last.runner)).filter(|name| !name.is_empty());
    let framework = framework.map(|name| format!("- **Framework**: {name}"));
    let said = runs.and_then(|runs| runs.said.as_deref());
    let some = runs.map_or(String::new(), some);
    let unseen = runs.and_then(|runs| runs.unseen.as_ref());
    let results = match (said, unseen.filter(|unseen| unseen.is_later)) {
        (Some(said), _) => format!("passed, says the agent: “{}”", inline(said)),
        (None, Some(unseen)) => format!("not shown. The last run, {}", unseen_run(unseen)),
        (None, None) => match runs.and_then(|runs| runs.command.as_ref()) {
            Some(command) if last.failed == 0 => {
                let command = short(&command.replace('`', "'"), COMMAND_CHARS_MAX);
                format!("`{command}`{PASSED}{}", counts(last))
            }
            _ => format!(
                "{}{some}{}",
                counts(last),
                after(runs.is_some_and(|runs| runs.changed_after))
            ),
        },
    };
    let mut lines: Vec<String> = framework.into_iter().collect();
    lines.push(format!("- **Results**: {results}"));
    if unseen.is_none_or(|unseen| !unseen.is_later) {
        lines.extend(failed(last));
        let aside = runs.and_then(|runs| runs.aside.as_ref());
        let aside = aside.map(|aside| format!("- **{ASIDE}**: {}", counts(aside)));
        lines.extend(aside);
        lines.extend(runs.filter(|runs| is_beside(runs)).and_then(excuse));
    }
    let printed = runs.and_then(|runs| Some(f64::from(runs.coverage?) / 100.0));
    if let Some(coverage) = printed.or(llm.coverage) {
        lines.push(format!("- **Coverage**: {coverage:.1}%"));
    }
    lines.extend(runs.into_iter().flat_map(other_runs));
    lines
}

/// What was run without the session's work.
const ASIDE: &str = "With the changes put aside";

/// The agent's words on what fails, told beside the names of these.
fn excuse(runs: &TestRuns) -> Option<String> {
    let excuse = inline(runs.excuse.as_ref()?);
    Some(format!(
        "- **Not of this work**, says the agent: “{excuse}”"
    ))
}

fn is_beside(runs: &TestRuns) -> bool {
    runs.numbers().is_some_and(|last| last.failed > 0)
}

/// A run of some tests says nothing of the others; which they were, its command tells.
fn some(runs: &TestRuns) -> String {
    let command = runs.part_command.as_ref();
    match command.filter(|_| runs.part) {
        Some(command) => {
            let command = short(&command.replace('`', "'"), COMMAND_CHARS_MAX);
            format!(" (some of the tests: `{command}`)")
        }
        None if runs.part => SOME.to_owned(),
        None => String::new(),
    }
}

/// The same of a run whose command nobody knows.
const SOME: &str = " (some of the tests)";

/// Stands between a command that ran all tests and what the log shows of its numbers.
pub const PASSED: &str = " passed: ";

fn other_runs(runs: &TestRuns) -> Vec<String> {
    let mut lines = Vec::new();
    let some = some(runs);
    let is_later = |unseen: &UnseenRun| unseen.is_later;
    let has_numbers = runs.last.passed + runs.last.failed > 0;
    if has_numbers && runs.unseen.as_ref().is_some_and(is_later) {
        let last = counts(&runs.last);
        lines.push(format!("- {LAST_WITH_NUMBERS}{last}{some}"));
        lines.extend(failed(&runs.last));
    } else if runs.said.is_some() && runs.last.passed > 0 {
        let last = counts(&runs.last);
        lines.push(format!("- **Last passed run**: {last}{some}"));
    }
    let earlier = runs.unseen.as_ref().filter(|unseen| !unseen.is_later);
    if let Some(unseen) = earlier {
        let unseen = unseen_run(unseen);
        lines.push(format!(
            "- **Last full run**: {unseen}; no numbers were shown"
        ));
    }
    if let Some(full) = &runs.full {
        let name = match runs.full_is_part {
            true => "Last larger run",
            false => "Last full run",
        };
        let after = after(runs.full_changed_after);
        lines.push(format!("- **{name}**: {}{after}", counts(full)));
        lines.extend(failed(full));
    }
    if let Some(open) = &runs.open {
        lines.push(format!(
            "- **Still failing**, says the agent: “{}”",
            inline(open)
        ));
    }
    lines.extend(excuse(runs).filter(|_| !is_beside(runs)));
    lines.extend(others(runs));
    lines.extend(how_many(runs));
    lines
}

/// How often tests ran, with each runner; the log may hide some.
fn how_many(runs: &TestRuns) -> Option<String> {
    let least = if runs.all_seen { "" } else { "at least " };
    let others = runs.others.iter().filter(|other| other.runs > 0);
    let with = |count: u64, runner: &str| format!("{count} with {}", inline(runner));
    let each: Vec<(u64, String)> = others
        .map(|other| (other.runs, with(other.runs, &other.counts.runner)))
        .collect();
    if runs.runs <= 1 && each.iter().all(|(count, _)| *count <= 1) {
        return None;
    }
    let own = match each.is_empty() {
        true => runs.runs.to_string(),
        false => with(runs.runs, &runs.last.runner),
    };
    // runs of some tests are often meant to fail
    let failed = match runs.failed {
        failed if failed > 0 && !runs.failed_in_part => format!(", {failed} of them failed"),
        _ => String::new(),
    };
    let others: String = each.iter().map(|(_, with)| format!("; {with}")).collect();
    Some(format!("- **Runs**: {least}{own}{failed}{others}"))
}

/// What a run says was changed since.
fn after(changed: bool) -> &'static str {
    if changed { CHANGED_AFTER } else { "" }
}

/// The last runs of other runners, or in other parts of the project.
fn others(runs: &TestRuns) -> Option<String> {
    let told: Vec<String> = runs.others.iter().map(other).collect();
    (!told.is_empty()).then(|| format!("- **Also run**: {}", told.join("; ")))
}

fn other(run: &OtherRun) -> String {
    let place = run.place.as_ref();
    let place = place.map_or(String::new(), |place| format!(" in `{}`", inline(place)));
    let some = if run.part { SOME } else { "" };
    let names: Vec<String> = run
        .counts
        .failures
        .iter()
        .map(|name| inline(name))
        .collect();
    let names = match names.is_empty() {
        true => String::new(),
        false => format!("; failed: {}", names.join(", ")),
    };
    let name = inline(&run.counts.runner);
    format!("{name}{place} {}{some}{names}", counts(&run.counts))
}

/// Stands before the numbers of a run that wasn't the last one.
pub const LAST_WITH_NUMBERS: &str = "**Last run with numbers**: ";

/// `just test`, ended with exit code 0.
fn unseen_run(run: &UnseenRun) -> String {
    let command = short(&run.command.replace('`', "'"), COMMAND_CHARS_MAX);
    let end = match run.end {
        UnseenEnd::Worked => ", ended with exit code 0",
        UnseenEnd::Failed => ", failed",
        UnseenEnd::Silent => ", showed no failures",
        UnseenEnd::Unknown => ", has no numbers in the log",
    };
    format!("`{command}`{end}")
}

/// The names of what failed, and what the output says of each.
fn failed(run: &TestCounts) -> Option<String> {
    let names: Vec<String> = run.failures.iter().map(|name| inline(name)).collect();
    let cause = run.cause.as_ref();
    let cause = cause.map(|cause| format!("“{}”, says the output of each failure", inline(cause)));
    let told: Vec<String> = [(!names.is_empty()).then(|| names.join(", ")), cause]
        .into_iter()
        .flatten()
        .collect();
    (!told.is_empty()).then(|| format!("- **Failed**: {}", told.join("; ")))
}

/// `12/13 passed`; of packages `13 packages ok`, `12 of 13 packages ok`.
fn counts(run: &TestCounts) -> String {
    let least = if run.partial { "at least " } else { "" };
    let (passed, all) = (run.passed, run.passed + run.failed);
    if all == 0 {
        return "no tests ran".to_owned();
    }
    match (run.packages, run.failed) {
        (false, _) => format!("{least}{passed}/{all} passed"),
        (true, 0) => format!("{least}{} ok", plural(passed, "package")),
        (true, _) if run.partial => format!("{} of at least {all} packages failed", run.failed),
        (true, _) => format!("{passed} of {} ok", plural(all, "package")),
    }
}
