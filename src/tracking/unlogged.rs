//! Operations that HEAD's log doesn't tell: what happened to branches that nobody was on, to branches and work
//! trees that are no more, and to a HEAD that went elsewhere without a line.

use super::operations::renamed;
use super::same_work::SameWork;
use crate::host::patch::PatchFile;
use crate::host::reflog::{self, WorkTree};
use crate::model::git::{HistoryCursor, LogLine, OperationKind, RefOperation};
use crate::model::time::Time;
use crate::store::GitRow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// HEAD is elsewhere, and no line says so.
pub(super) fn moved(
    tree: &WorkTree,
    lines: &[LogLine],
    known: &HistoryCursor,
    head: &str,
    branch_now: Option<String>,
) -> Option<RefOperation> {
    let last = lines.last().map_or(known.head.as_str(), |line| &line.new);
    if last == head || known.head.is_empty() {
        return None;
    }
    let at = tree.moved_at(branch_now.as_deref())?;
    Some(RefOperation {
        branch: branch_now,
        ..guessed(OperationKind::Moved, last, head, at)
    })
}

/// Branches that are no more, and were not renamed; `name`: as branches are stored.
pub(super) fn dropped(
    tree: &WorkTree,
    renamed: &BTreeSet<String>,
    known: &HistoryCursor,
    now: &BTreeMap<String, String>,
) -> Vec<RefOperation> {
    let gone = known.branches.iter();
    let gone = gone.filter(|(name, _)| !now.contains_key(*name) && !renamed.contains(*name));
    gone.filter_map(|(name, commit)| {
        let at = tree.dropped_at(name)?;
        Some(RefOperation {
            branch: Some(name.clone()),
            ..guessed(OperationKind::BranchDeleted, commit, "", at)
        })
    })
    .collect()
}

/// Branches that somebody was on, by the operations that are stored, and that are no more although no run saw
/// them go: each with the commit that was left last, at the time when it was left.
pub(super) fn left_and_gone(
    operations: &[GitRow],
    now: &BTreeMap<String, String>,
) -> Vec<RefOperation> {
    let mut left: BTreeMap<&str, &RefOperation> = BTreeMap::new();
    for row in operations {
        let operation = &row.git.operation;
        let Some(branch) = operation.branch.as_deref() else {
            continue;
        };
        let was_renamed = renamed(&operation.message).is_some_and(|(from, _)| from == branch);
        match operation.kind {
            OperationKind::Checkout => drop(left.insert(branch, operation)),
            OperationKind::BranchDeleted => drop(left.remove(branch)),
            OperationKind::BranchRenamed if was_renamed => drop(left.remove(branch)),
            _ => {}
        }
    }
    let gone = left
        .into_iter()
        .filter(|(name, _)| !now.contains_key(*name));
    gone.map(|(name, operation)| RefOperation {
        branch: Some(name.to_owned()),
        ..guessed(
            OperationKind::BranchDeleted,
            &operation.old,
            "",
            operation.at,
        )
    })
    .collect()
}

/// What the branches' own logs tell since the last look: moves that nobody made by a commit on them, and new
/// names. With the bytes that were read of each.
pub(super) fn branch_moves(
    tree: &WorkTree,
    known: &HistoryCursor,
    now: &BTreeMap<String, String>,
) -> (Vec<RefOperation>, BTreeMap<String, u64>) {
    let (mut moves, mut read) = (Vec::new(), BTreeMap::new());
    for name in now.keys() {
        let path = tree.branch_log(name);
        let from = known.branch_logs.get(name).copied().unwrap_or_default();
        let log = match reflog::size(&path) == from {
            true => None,
            false => reflog::read(&path, from, "").ok(),
        };
        read.insert(name.clone(), log.as_ref().map_or(from, |log| log.to));
        let lines = log.iter().flat_map(|log| &log.lines);
        moves.extend(lines.filter_map(|line| {
            let kind = branch_move(line)?;
            let names = renamed(&line.message);
            let before = names.map(|(from, _)| from.to_owned());
            Some(RefOperation {
                branch: before.or_else(|| Some(name.clone())),
                to: names.map(|(_, to)| to.to_owned()),
                at_is_guessed: false,
                message: line.message.clone(),
                ..guessed(kind, &line.old, &line.new, line.at)
            })
        }));
    }
    (moves, read)
}

/// `None`: made on the branch, or by what HEAD's log tells too.
fn branch_move(line: &LogLine) -> Option<OperationKind> {
    let is_moved = !line.old.is_empty() && line.old != line.new;
    match &*line.message {
        message if renamed(message).is_some() => Some(OperationKind::BranchRenamed),
        "" if is_moved => Some(OperationKind::BranchMoved),
        message if is_moved && message.starts_with("branch: Reset to ") => {
            Some(OperationKind::BranchMoved)
        }
        _ => None,
    }
}

/// Stashes that are no more and whose files are on the disk as they had them. Those that are not there were
/// dropped, or popped long ago.
pub(super) fn popped(
    (tree, root): (&WorkTree, &Path),
    work: &SameWork<'_>,
    known: &HistoryCursor,
    now: &[String],
) -> Vec<RefOperation> {
    let gone = known.stashes.iter().filter(|stash| !now.contains(*stash));
    let popped = gone.filter_map(|stash| {
        let patch = work.patch(stash)?;
        let is_there = |file: &PatchFile| work.on_disk(root, &file.path) == file.after;
        if patch.files.is_empty() || !patch.files.iter().all(is_there) {
            return None;
        }
        let at = tree.stashes_changed_at()?;
        let head = patch.parents.first()?;
        Some(RefOperation {
            branch: known.branch.clone(),
            ..guessed(OperationKind::StashPop, stash, head, at)
        })
    });
    popped.collect()
}

/// A linked work tree that is no more.
pub(super) fn removed(main: &WorkTree, known: &HistoryCursor) -> Option<RefOperation> {
    let at = main.trees_changed_at()?;
    let is_there = !known.head.is_empty();
    is_there.then(|| RefOperation {
        branch: known.branch.clone(),
        ..guessed(OperationKind::WorktreeRemoved, &known.head, "", at)
    })
}

fn guessed(kind: OperationKind, old: &str, new: &str, at: Time) -> RefOperation {
    RefOperation {
        kind,
        mode: None,
        is_mode_named: false,
        old: old.to_owned(),
        new: new.to_owned(),
        tree: None,
        branch: None,
        to: None,
        at,
        at_is_guessed: true,
        message: "(no log)".to_owned(),
        steps: 1,
    }
}
