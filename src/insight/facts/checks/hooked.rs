//! What hooks of commits said of what was staged.

use crate::insight::facts::line::LocatedItem;
use crate::insight::facts::stale::Changes;
use crate::model::finding::Finding;
use crate::model::summary::{CheckRun, Sourced};
use crate::rules::check_words::scope;

/// The last run of each check that hooks ran, without those of which `told` says as much.
pub(super) fn hooked(
    lines: &[LocatedItem<'_>],
    changes: &Changes<'_>,
    told: &[Sourced<CheckRun>],
) -> Vec<Sourced<CheckRun>> {
    let mut all: Vec<(usize, Sourced<CheckRun>)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for finding in line.item.findings {
            let Finding::Staged { check, passed } = finding else {
                continue;
            };
            let known = all.iter().position(|(_, run)| run.what.command == *check);
            let known = known.map(|known| all.remove(known).1.what);
            let run = CheckRun {
                command: check.clone(),
                passed: *passed,
                staged: true,
                failed_before: known.is_some_and(|run| run.failed_before || !run.passed),
                changed_after: changes.last_for(check, None) > Some(at),
                ..CheckRun::default()
            };
            all.push((at, line.source(run)));
        }
    }
    let is_commit = |finding: &Finding| matches!(finding, Finding::Commit { .. });
    let commits = lines
        .iter()
        .rposition(|line| line.item.findings.iter().any(is_commit));
    all.retain(|(at, run)| {
        let looks_at = scope(&run.what.command);
        let is_told = |other: &Sourced<CheckRun>| {
            other.what.passed && scope(&other.what.command).covers(looks_at)
        };
        // once there is a commit nobody knows what became of a fault: its hook may have printed nothing
        let is_open = run.what.passed || commits < Some(*at);
        is_open && !told.iter().any(is_told)
    });
    all.into_iter().map(|(_, run)| run).collect()
}
