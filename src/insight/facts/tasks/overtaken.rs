//! Tasks in progress that others overtook.

use crate::insight::facts::line::LocatedItem;
use crate::model::finding::Finding;

/// Work was done on a task that was begun at `from`, before another one was begun that was then done and committed: `done` is
/// where those were begun. Nobody knows whether the first one is open: agents forget to tick off.
pub(super) fn is_overtaken(from: usize, done: &[usize], lines: &[LocatedItem<'_>]) -> bool {
    let Some(committed) = lines.iter().rposition(is_commit) else {
        return false;
    };
    let later = done.iter().filter(|at| (from + 1..committed).contains(*at));
    later.min().is_some_and(|at| {
        let own = &lines[from..*at];
        own.iter().any(|line| line.is_edit() || !line.main)
    })
}

fn is_commit(line: &LocatedItem<'_>) -> bool {
    let mut findings = line.item.findings.iter();
    findings.any(|finding| matches!(finding, Finding::Commit { .. }))
}
