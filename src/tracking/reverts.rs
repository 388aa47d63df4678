//! Which commits are taken back by what an operation brought: those that a message names, and those whose
//! opposite a commit is, whatever it is called.

use super::same_work::SameWork;
use crate::host::patch::CommitPatch;
use crate::host::repository::Repository;
use crate::model::git::{CommitLine, RevertedCommit};
use crate::model::time::Time;
use std::collections::BTreeMap;
use std::rc::Rc;

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
        let reverted = reverted
            .into_iter()
            .filter(|hash| work.is_whole_in(hash, &by.hash));
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

/// The commits before that this one takes back: those since its files were as they are now, where all of
/// what they touched is so again; or the one whose lines it is the opposite of.
fn opposite(work: &SameWork<'_>, commit: &str) -> Vec<String> {
    let Some(patch) = work.patch(commit).filter(|patch| !patch.is_merge()) else {
        return Vec::new();
    };
    let before = ancestors(work, &patch);
    let taken_back = restored(&patch, &before);
    if !taken_back.is_empty() {
        return taken_back;
    }
    let Some(ids) = work.ids(commit).filter(|ids| ids.lines >= LINES_MIN) else {
        return Vec::new();
    };
    let is_opposite = |(hash, other): &&(String, Rc<CommitPatch>)| {
        let is_like_it = patch.has_files_of(other) && !other.is_merge();
        is_like_it && work.ids(hash).is_some_and(|other| other.id == ids.opposite)
    };
    let found = before.iter().find(is_opposite);
    found.map(|(hash, _)| hash.clone()).into_iter().collect()
}

/// The commits before a commit, along first parents, the latest first, with what they change.
fn ancestors(work: &SameWork<'_>, patch: &CommitPatch) -> Vec<(String, Rc<CommitPatch>)> {
    let mut before = Vec::new();
    let mut next = patch.parents.first().cloned();
    while let Some(hash) = next.take().filter(|_| before.len() < BACK_MAX) {
        let Some(other) = work.patch(&hash) else {
            break;
        };
        if patch.committed - other.committed > LONG_AGO_SECONDS {
            break;
        }
        next = other.parents.first().cloned();
        before.push((hash, other));
    }
    before
}

/// Commits that are taken back by a commit that does nothing else: each of its files is as it was before one
/// of them. One that touched other files too is not taken back as a whole.
fn restored(patch: &CommitPatch, before: &[(String, Rc<CommitPatch>)]) -> Vec<String> {
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &patch.files {
        let was_so = |(_, other): &(String, Rc<CommitPatch>)| {
            let mut files = other.files.iter();
            files.any(|was| was.path == file.path && was.before == file.after)
        };
        match before.iter().position(was_so) {
            Some(depth) => drop(depths.insert(&file.path, depth)),
            None => return Vec::new(),
        }
    }
    let is_taken_back = |(nth, (_, other)): &(usize, &(String, Rc<CommitPatch>))| {
        let is_so = |path: &str| depths.get(path).is_some_and(|depth| nth <= depth);
        !other.files.is_empty() && other.files.iter().all(|file| is_so(&file.path))
    };
    let taken_back = before.iter().enumerate().filter(is_taken_back);
    let taken_back: Vec<String> = taken_back.map(|(_, (hash, _))| hash.clone()).collect();
    match taken_back.len() <= AT_ONCE_MAX {
        true => taken_back,
        false => Vec::new(),
    }
}
