//! What hooks of commits checked.

use crate::insight::facts::later_checks::{Overlap, is_superseded};
use crate::insight::facts::line::LocatedItem;
use crate::insight::facts::stale::Changes;
use crate::model::finding::Finding;
use crate::model::summary::{CheckRun, Sourced};
use crate::rules::check_words::scope;

/// The last run of each check that hooks ran: without those that passed of which `told` says as much, and those that failed
/// and may be mended since.
pub(super) fn hooked(
    lines: &[LocatedItem<'_>],
    changes: &Changes<'_>,
    told: &[Sourced<CheckRun>],
) -> Vec<Sourced<CheckRun>> {
    let mut all: Vec<(usize, Sourced<CheckRun>)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for finding in line.item.findings {
            let Finding::HookChecked { check, passed } = finding else {
                continue;
            };
            let known = all.iter().position(|(_, run)| run.what.command == *check);
            let known = known.map(|known| all.remove(known).1.what);
            let run = CheckRun {
                command: check.clone(),
                passed: *passed,
                by_hook: true,
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
    all.retain(|(at, Sourced { what: run, .. })| {
        let looks_at = scope(&run.command);
        let says_as_much = |other: &CheckRun| {
            other.passed && !other.changed_after && scope(&other.command).covers(looks_at)
        };
        match run.passed {
            true => !told.iter().any(|other| says_as_much(&other.what)),
            // once there is a commit nobody knows what became of a fault: its hook may have printed nothing
            false => commits < Some(*at) && !is_superseded(run, &lines[at + 1..], Overlap::All),
        }
    });
    all.into_iter().map(|(_, run)| run).collect()
}
