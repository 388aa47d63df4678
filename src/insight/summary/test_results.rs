//! A session's tests, as Markdown.

use super::escape::inline;
use crate::model::finding::TestCounts;
use crate::model::human::plural;
use crate::model::summary::{LlmAdditions, Sourced, Summary, TestRuns};

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
    let some = runs.filter(|runs| runs.part).map_or("", |_| SOME);
    let results = match said {
        Some(said) => format!("passed, says the agent: “{}”", inline(said)),
        None => format!("{}{some}", counts(last)),
    };
    let mut lines: Vec<String> = framework.into_iter().collect();
    lines.push(format!("- **Results**: {results}"));
    lines.extend(failed(last));
    let printed = runs.and_then(|runs| Some(f64::from(runs.coverage?) / 100.0));
    if let Some(coverage) = printed.or(llm.coverage) {
        lines.push(format!("- **Coverage**: {coverage:.1}%"));
    }
    lines.extend(runs.into_iter().flat_map(other_runs));
    lines
}

/// A run of some tests says nothing of the others.
const SOME: &str = " (some of the tests)";

fn other_runs(runs: &TestRuns) -> Vec<String> {
    let mut lines = Vec::new();
    let some = if runs.part { SOME } else { "" };
    if runs.said.is_some() && runs.last.passed > 0 {
        let last = counts(&runs.last);
        lines.push(format!("- **Last passed run**: {last}{some}"));
    }
    if let Some(full) = &runs.full {
        lines.push(format!("- **Last full run**: {}", counts(full)));
        lines.extend(failed(full));
    }
    if let Some(open) = &runs.open {
        lines.push(format!(
            "- **Still failing**, says the agent: “{}”",
            inline(open)
        ));
    }
    match (runs.runs, runs.failed) {
        (0 | 1, _) => {}
        (all, 0) => lines.push(format!("- **Runs**: at least {all}")),
        (all, failed) => lines.push(format!(
            "- **Runs**: at least {all}, {failed} of them failed"
        )),
    }
    lines
}

/// The names of what failed.
fn failed(run: &TestCounts) -> Option<String> {
    let names: Vec<String> = run.failures.iter().map(|name| inline(name)).collect();
    (!names.is_empty()).then(|| format!("- **Failed**: {}", names.join(", ")))
}

/// `12/13 passed`; of packages `13 packages ok`, `12 of 13 packages ok`.
fn counts(run: &TestCounts) -> String {
    let least = if run.partial { "at least " } else { "" };
    let (passed, all) = (run.passed, run.passed + run.failed);
    match (run.packages, run.failed) {
        (false, _) => format!("{least}{passed}/{all} passed"),
        (true, 0) => format!("{least}{} ok", plural(passed, "package")),
        (true, _) if run.partial => format!("{} of at least {all} packages failed", run.failed),
        (true, _) => format!("{passed} of {} ok", plural(all, "package")),
    }
}
