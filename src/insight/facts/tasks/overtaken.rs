//! Tasks in progress that others overtook.

use crate::insight::facts::line::LocatedItem;
use crate::model::finding::Finding;

/// Of places where tasks were begun that were done, those before the last commit, in order.
pub(super) fn before_commit(
    begun: impl Iterator<Item = usize>,
    lines: &[LocatedItem<'_>],
) -> Vec<usize> {
    let committed = lines.iter().rposition(is_commit).unwrap_or(0);
    let mut all: Vec<usize> = begun.filter(|at| *at < committed).collect();
    all.sort_unstable();
    all
}

/// Work was done on a task that was begun at `from`, before the next one of `done` was begun. Nobody knows whether it is
/// open: agents forget to tick off.
pub(super) fn is_overtaken(from: usize, done: &[usize], lines: &[LocatedItem<'_>]) -> bool {
    let next = done.get(done.partition_point(|at| *at <= from));
    next.is_some_and(|next| {
        let own = &lines[from..*next];
        own.iter().any(|line| line.is_edit() || !line.main)
    })
}

fn is_commit(line: &LocatedItem<'_>) -> bool {
    let mut findings = line.item.findings.iter();
    findings.any(|finding| matches!(finding, Finding::Commit { .. }))
}
