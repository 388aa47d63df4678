//! Which commits something still points to.

use super::object_id::hex;
use super::reflog::{self, WorkTree};
use super::repository::{Repository, RepositoryError, fault, id};
use gix::ObjectId;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

/// Commits that are walked at most. More: a history that is older than what is asked about.
const COMMITS_MAX: usize = 50_000;

/// What reading an index may take at once, whatever it says of itself.
const INDEX_BYTES_MAX: usize = 256 << 20;

/// Commits of the repository around a submodule that are looked at.
const POINTERS_MAX: usize = 500;

/// Commits with a way from a branch, a tag, a stash or a work tree, the latest first, as far back as they
/// were asked for.
#[derive(Debug, Default)]
pub struct Reachable {
    /// In the order of their times, the latest first.
    pub commits: Vec<String>,
    numbers: HashMap<String, usize>,
    /// By number; without those that are further back.
    parents: Vec<Vec<usize>>,
    /// There are more than were walked: of what is not later than this (seconds), what is missing here may be
    /// reachable all the same.
    pub cut_at: Option<i64>,
}

/// Some of the commits of a [`Reachable`], by their numbers.
#[derive(Debug)]
pub struct History(Vec<bool>);

impl History {
    /// The commit with this number is one of them.
    pub fn has(&self, number: usize) -> bool {
        self.0[number]
    }
}

impl Reachable {
    fn of(commits: Vec<(String, Vec<String>)>, cut_at: Option<i64>) -> Reachable {
        let numbers = commits.iter().enumerate();
        let numbers: HashMap<String, usize> = numbers
            .map(|(n, (commit, _))| (commit.clone(), n))
            .collect();
        let known = |parents: &Vec<String>| -> Vec<usize> {
            let known = parents.iter().filter_map(|parent| numbers.get(parent));
            known.copied().collect()
        };
        Reachable {
            parents: commits.iter().map(|(_, parents)| known(parents)).collect(),
            commits: commits.into_iter().map(|(commit, _)| commit).collect(),
            numbers,
            cut_at,
        }
    }

    /// Something points to it, or to a commit after it.
    pub fn has(&self, commit: &str) -> bool {
        self.numbers.contains_key(commit)
    }

    /// These commits and all before them, as far as they are known here. A step for each commit.
    pub fn history_of<'a>(&self, from: impl IntoIterator<Item = &'a str>) -> History {
        let known = from
            .into_iter()
            .filter_map(|commit| self.numbers.get(commit));
        let mut waiting: Vec<usize> = known.copied().collect();
        let mut history = History(vec![false; self.commits.len()]);
        while let Some(number) = waiting.pop() {
            if !std::mem::replace(&mut history.0[number], true) {
                waiting.extend(&self.parents[number]);
            }
        }
        history
    }

    /// A commit is in the history of another one, or is it.
    pub fn is_in_history(&self, commit: &str, of: &str) -> bool {
        let number = self.numbers.get(commit);
        number.is_some_and(|number| self.history_of([of]).has(*number))
    }

    /// Those that no other one came after: all the others are in their histories.
    pub fn heads(&self) -> BTreeSet<String> {
        let mut is_parent = vec![false; self.commits.len()];
        for parent in self.parents.iter().flatten() {
            is_parent[*parent] = true;
        }
        let heads = self.commits.iter().zip(is_parent).filter(|(_, is)| !is);
        heads.map(|(commit, _)| commit.clone()).collect()
    }

    /// Those that came after a commit, up to another one, the latest first.
    pub fn between(&self, from: &str, to: &str) -> Vec<String> {
        let (before, until) = (self.history_of([from]), self.history_of([to]));
        let is_between =
            |(number, _): &(usize, &String)| until.has(*number) && !before.has(*number);
        let commits = self.commits.iter().enumerate().filter(is_between);
        commits.map(|(_, commit)| commit.clone()).collect()
    }

    /// Those that are in none of these histories, the latest first.
    pub fn without<'a>(&'a self, histories: &'a [&'a History]) -> impl Iterator<Item = &'a String> {
        let is_new = |(number, _): &(usize, &String)| histories.iter().all(|h| !h.has(*number));
        let commits = self.commits.iter().enumerate().filter(is_new);
        commits.map(|(_, commit)| commit)
    }
}

impl Repository {
    /// What points to commits: branches, remote ones, tags and all other references, by name; stashes; the
    /// heads of all work trees. Those that can't be read are left out.
    ///
    /// # Errors
    /// When there is no telling which references there are.
    pub fn tips(&self, tree: &WorkTree) -> Result<BTreeMap<String, String>, RepositoryError> {
        let failed = |error: gix::error::Error| fault("its branches can't be read", &error);
        let mut tips = BTreeMap::new();
        let platform = self.git.references().map_err(failed)?;
        for mut reference in platform.all().map_err(failed)?.flatten() {
            if let Ok(id) = reference.peel_to_id() {
                let name = reference.name().as_bstr().to_string();
                tips.insert(name, hex(id.detach()));
            }
        }
        let stashes = reflog::read(&tree.common_dir.join("logs/refs/stash"), 0, "");
        for (nth, line) in stashes.unwrap_or_default().lines.into_iter().enumerate() {
            tips.insert(format!("stash@{nth}"), line.new);
        }
        for head in heads(&tree.common_dir) {
            tips.insert(format!("HEAD {head}"), head);
        }
        Ok(tips)
    }

    /// Commits that are reachable from `tips`, not older than `since` (seconds).
    ///
    /// # Errors
    /// When a commit can't be read.
    pub fn reachable(
        &self,
        tips: &BTreeSet<String>,
        since: i64,
    ) -> Result<Reachable, RepositoryError> {
        let failed = |error: gix::error::Error| fault("commits are missing", &error);
        let tips: Vec<ObjectId> = tips
            .iter()
            .filter_map(|tip| id(tip))
            .filter(|tip| self.git.find_commit(*tip).is_ok())
            .collect();
        if tips.is_empty() {
            return Ok(Reachable::default());
        }
        let walk = self
            .git
            .rev_walk(tips)
            .sorting(Sorting::ByCommitTimeCutoff {
                order: CommitTimeOrder::NewestFirst,
                seconds: since,
            });
        let (mut commits, mut cut_at) = (Vec::new(), None);
        for info in walk.all().map_err(failed)? {
            let info = info.map_err(failed)?;
            if commits.len() == COMMITS_MAX {
                cut_at = Some(info.commit_time());
                break;
            }
            let parents = info.parent_ids.iter().map(|id| hex(*id)).collect();
            commits.push((hex(info.id), parents));
        }
        Ok(Reachable::of(commits, cut_at))
    }

    /// The objects that are staged at these paths in a work tree; those that are not staged are left out.
    /// `None`: there is no index, or it can't be read.
    pub fn staged<'p>(
        &self,
        tree: &WorkTree,
        paths: impl Iterator<Item = &'p str>,
    ) -> Option<BTreeMap<String, String>> {
        let path = tree.git_dir.join("index");
        if !fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
            return None;
        }
        let options = gix::index::decode::Options {
            alloc_limit_bytes: Some(INDEX_BYTES_MAX),
            ..Default::default()
        };
        let index = gix::index::File::at(path, self.git.object_hash(), true, options).ok()?;
        let staged = paths.filter_map(|path| {
            let entry = index.entry_by_path(path.into())?;
            Some((path.to_owned(), hex(entry.id)))
        });
        Some(staged.collect())
    }

    /// Commits that the repository around this one, as its submodule at `path`, points to or pointed to lately.
    pub fn submodule_commits(&self, path: &str) -> BTreeSet<String> {
        let heads = self.branches().unwrap_or_default().into_values();
        let heads: Vec<ObjectId> = heads
            .chain(self.head().ok().flatten())
            .filter_map(|tip| id(&tip))
            .collect();
        let Ok(walk) = self.git.rev_walk(heads).all() else {
            return BTreeSet::new();
        };
        let commits = walk.take(POINTERS_MAX).flatten().map(|info| hex(info.id));
        commits
            .filter_map(|commit| self.entry(&commit, path))
            .collect()
    }

    /// Whether a commit is in the history of one of these; when it is gone, it is in none. Walks as far as it
    /// takes.
    pub fn is_in_history_of<'a>(
        &self,
        commit: &str,
        mut tips: impl Iterator<Item = &'a String> + Clone,
    ) -> bool {
        let all: Vec<String> = tips.clone().cloned().collect();
        tips.any(|tip| tip == commit)
            || self
                .between(commit, &all)
                .is_ok_and(|(_, count)| count == 0)
    }
}

/// The commits that detached heads of work trees are at; those on a branch are the branch's.
fn heads(common_dir: &Path) -> Vec<String> {
    let linked = fs::read_dir(common_dir.join("worktrees"));
    let linked = linked.into_iter().flatten().flatten();
    let dirs = linked.map(|entry| entry.path());
    let heads = std::iter::once(common_dir.to_path_buf()).chain(dirs);
    let heads = heads.filter_map(|dir| super::content::read_start(&dir.join("HEAD"), 256));
    let heads = heads.map(|head| String::from_utf8_lossy(&head).trim().to_owned());
    heads.filter(|head| id(head).is_some()).collect()
}
