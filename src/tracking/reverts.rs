//! Which commits are taken back by what an operation brought: those that a message names, and those whose
//! opposite a commit is, whatever it is called.

use super::same_work::SameWork;
use crate::host::repository::Repository;
use crate::model::git::{CommitLine, RevertedCommit};
use crate::model::time::Time;

/// Commits that are looked back for the one that is taken back.
const BACK_MAX: usize = 200;
/// Commits that one commit may take back at once.
const AT_ONCE_MAX: usize = 50;
/// Longer ago it is another story.
const LONG_AGO_SECONDS: i64 = 60 * 86_400;
/// So many lines are no coincidence.
const LINES_MIN: u64 = 3;

/// Commits that are taken back by these, each once.
pub(super) fn reverts(
    repository: &Repository,
    work: &SameWork<'_>,
    made: &[CommitLine],
) -> Vec<RevertedCommit> {
    let mut all: Vec<RevertedCommit> = Vec::new();
    for by in made.iter().rev() {
        let named = repository.all_undone(&by.hash);
        let reverted = match named.is_empty() {
            true => opposite(work, &by.hash),
            false => named,
        };
        for hash in reverted {
            let is_known = all.iter().any(|known| known.commit.hash == hash);
            if !is_known {
                let unknown = || CommitLine {
                    hash: hash.clone(),
                    subject: String::new(),
                    at: Time(0),
                };
                all.push(RevertedCommit {
                    commit: repository.commit_line(&hash).unwrap_or_else(unknown),
                    by: by.hash.clone(),
                });
            }
        }
    }
    all
}

/// The commit before that this one is the opposite of; or all those since its files were as a whole as they
/// are now.
fn opposite(work: &SameWork<'_>, commit: &str) -> Vec<String> {
    let Some(patch) = work.patch(commit) else {
        return Vec::new();
    };
    if patch.files.is_empty() || patch.is_merge() {
        return Vec::new();
    }
    let mut before = patch.parents.first().cloned();
    let mut between = Vec::new();
    while let Some(hash) = before.take() {
        let Some(other) = work.patch(&hash) else {
            break;
        };
        if between.len() == BACK_MAX || patch.committed - other.committed > LONG_AGO_SECONDS {
            break;
        }
        // a whole state that comes back takes back all that came since
        if other.tree == patch.tree && between.len() <= AT_ONCE_MAX {
            return between;
        }
        let is_opposite = || {
            patch.has_files_of(&other)
                && work.ids(commit).is_some_and(|ids| {
                    let other = work.ids(&hash);
                    ids.lines >= LINES_MIN && other.is_some_and(|other| other.id == ids.opposite)
                })
        };
        let is_plain = !other.is_merge();
        if is_plain && (patch.is_opposite_of(&other) || is_opposite()) {
            return vec![hash];
        }
        before = other.parents.first().cloned();
        between.push(hash);
    }
    Vec::new()
}
