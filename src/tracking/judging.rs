//! Judges the operations of a repository again when something in it changed: what was lost, and which mode a
//! reset had that no command says. Writes the summaries of those that are told otherwise now.

use super::git_episodes::metadata;
use super::reset_modes::Trees;
use super::same_work::SameWork;
use super::track_options::TrackOptions;
use super::verdict::{Judge, may_lose};
use crate::host::git;
use crate::host::patch::PatchFile;
use crate::host::reachability::Reachable;
use crate::host::reflog::{self, WorkTree};
use crate::host::repository::Repository;
use crate::model::git::{CommitLine, GitOperation, OperationKind, RefOperation};
use crate::model::time::Time;
use crate::store::{GitRow, GitUnit, Project, Store, Stored};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// What happened longer ago is judged when it is read first, and not again.
const JUDGED_MS: i64 = 90 * 86_400_000;
/// Clocks of those who commit may differ by so much.
const CLOCKS_SECONDS: i64 = 86_400;

/// Judges what is known of a repository's operations; `first`: the earliest of those that are new.
///
/// # Errors
/// When the store fails. What can't be read of the repository leaves the verdicts as they are.
pub(super) fn judge(
    store: &mut Store,
    options: &TrackOptions<'_>,
    project: &Project,
    group: &str,
    trees: &[WorkTree],
    first: Option<Time>,
) -> Result<Stored> {
    let since = Time(options.now.0 - JUDGED_MS);
    let since = first.map_or(since, |first| first.min(since));
    let mut rows = store.operations_between(&project.namespace, since, Time(i64::MAX))?;
    rows.reverse();
    rows.sort_by_key(|row| happened(&row.git));
    let Some(main) = trees.first().filter(|_| rows.iter().any(is_open)) else {
        return Ok(Stored::default());
    };
    let Ok(repository) = Repository::open(main) else {
        return Ok(Stored::default());
    };
    let Ok(tips) = all_tips(&repository, main, project, options) else {
        return Ok(Stored::default());
    };
    let oldest = rows.iter().filter(|row| may_lose(&row.git));
    let oldest = oldest
        .flat_map(|row| commits(&row.git))
        .map(|commit| commit.at.0);
    let since = oldest
        .min()
        .map_or(0, |oldest| oldest / 1_000 - CLOCKS_SECONDS);
    let from: BTreeSet<String> = tips.values().cloned().collect();
    let reachable = match repository.reachable(&from, since) {
        // more than can be walked: what isn't among them may be there all the same
        Ok(reachable) if !reachable.is_cut => reachable,
        _ => return Ok(Stored::default()),
    };
    let excludes = |path: &Path| options.context.excludes(path);
    let roots = trees.iter().filter_map(|tree| root(tree, project));
    let mut work = SameWork::new(&repository, roots.collect(), &excludes);
    work.learn(rows.iter().map(|row| &row.git));
    let judged = Judged {
        repository: &repository,
        reachable: &reachable,
        work: &work,
        tips: &tips,
        trees,
        project,
    };
    let (changed, watched) = judged.again(rows);
    let units = changed.into_iter().map(rewritten).collect();
    let stored = store.put_operations(project, group, units, None, options.now)?;
    watch(store, project, group, main, watched, options.now)?;
    Ok(stored)
}

/// When it happened at the earliest: what no log tells was seen some time after.
fn happened(git: &GitOperation) -> Time {
    let is_gone = matches!(
        git.operation.kind,
        OperationKind::BranchDeleted | OperationKind::WorktreeRemoved
    );
    let last = git.effect.left.first().filter(|_| is_gone);
    last.map_or(git.operation.at, |last| last.at.min(git.operation.at))
}

/// What takes a commit back, by the commit.
fn reverters(rows: &[GitRow]) -> HashMap<String, Vec<String>> {
    let mut reverters: HashMap<String, Vec<String>> = HashMap::new();
    for revert in rows.iter().flat_map(|row| &row.git.effect.reverts) {
        let by = reverters.entry(revert.commit.hash.clone()).or_default();
        by.push(revert.by.clone());
    }
    reverters
}

/// Something of it may be told otherwise one day.
fn is_open(row: &GitRow) -> bool {
    let operation = &row.git.operation;
    let is_reset = operation.kind == OperationKind::Reset && operation.old != operation.new;
    may_lose(&row.git) || is_reset && !operation.is_mode_named
}

fn commits(git: &GitOperation) -> impl Iterator<Item = &CommitLine> {
    let reverted = git.effect.reverts.iter().map(|revert| &revert.commit);
    let all = git.effect.left.iter().chain(reverted);
    all.filter(|commit| commit.at > Time(0))
}

/// References of the repository, and what the one around it points to in it, where it is a submodule.
fn all_tips(
    repository: &Repository,
    main: &WorkTree,
    project: &Project,
    options: &TrackOptions<'_>,
) -> Result<BTreeMap<String, String>, String> {
    let mut tips = repository.tips(main)?;
    let own = Path::new(&project.path);
    let around = own.parent().and_then(git::repository);
    let around = around.filter(|root| options.context.refuses_folder(root).is_none());
    let tree = around
        .as_ref()
        .and_then(|root| reflog::work_trees(root).into_iter().next());
    let below = around
        .as_ref()
        .and_then(|root| own.strip_prefix(root).ok()?.to_str());
    if let (Some(tree), Some(below)) = (tree, below)
        && let Ok(around) = Repository::open(&tree)
    {
        let pointers = around.submodule_commits(below).into_iter();
        tips.extend(pointers.map(|commit| (format!("submodule {commit}"), commit)));
    }
    Ok(tips)
}

struct Judged<'r> {
    repository: &'r Repository,
    reachable: &'r Reachable,
    work: &'r SameWork<'r>,
    tips: &'r BTreeMap<String, String>,
    trees: &'r [WorkTree],
    project: &'r Project,
}

/// Where a work tree's files are; `None`: it has none, or they are gone.
fn root(tree: &WorkTree, project: &Project) -> Option<PathBuf> {
    let main = Path::new(&project.path);
    match tree.name {
        None => main.join(".git").exists().then(|| main.to_owned()),
        Some(_) => tree.root(),
    }
}

impl Judged<'_> {
    /// The operations that are told otherwise now, and the files on which that hangs.
    fn again(&self, mut rows: Vec<GitRow>) -> (Vec<GitRow>, BTreeSet<String>) {
        let heads = self.trees.iter().filter_map(|tree| {
            let head = Repository::open(tree).ok()?.head().ok()??;
            Some((tree, root(tree, self.project)?, head))
        });
        let trees = Trees {
            repository: self.repository,
            work: self.work,
            reachable: self.reachable,
            heads: heads.collect(),
        };
        let before: Vec<GitOperation> = rows.iter().map(|row| row.git.clone()).collect();
        for (nth, row) in rows.iter_mut().enumerate() {
            let operation = &mut row.git.operation;
            let is_reset = operation.kind == OperationKind::Reset && operation.old != operation.new;
            if is_reset && !operation.is_mode_named {
                let mode = trees.mode(operation, next(&before[nth + 1..], operation), |base| {
                    self.came_back(operation, base)
                });
                operation.mode = mode;
            }
        }
        let judge = Judge {
            repository: self.repository,
            tips: self.tips,
            reachable: self.reachable,
            work: self.work,
            reverters: reverters(&rows),
        };
        let verdicts = judge.verdicts(&rows.iter().map(|row| &row.git).collect::<Vec<_>>());
        let mut watched = BTreeSet::new();
        let mut changed = Vec::new();
        for ((mut row, verdict), before) in rows.into_iter().zip(verdicts).zip(before) {
            watched.extend(verdict.watched.iter().cloned());
            verdict.write(&mut row.git.effect);
            if row.git != before {
                changed.push(row);
            }
        }
        (changed, watched)
    }

    /// Some of what a reset left is in what came after it.
    fn came_back(&self, operation: &RefOperation, files: &[PatchFile]) -> bool {
        let before = self.reachable.history_of([operation.new.as_str()]);
        let after = self.reachable.commits.iter();
        let mut after = after.filter(|commit| !before.contains(commit.as_str()));
        let has_some = |commit: &String| {
            let patch = self.work.patch(commit);
            patch.is_some_and(|patch| {
                patch.files.iter().any(|file| {
                    let is_it = |left: &&PatchFile| left.path == file.path;
                    let left = files.iter().find(is_it);
                    left.is_some_and(|left| left.after == file.after)
                })
            })
        };
        after.any(has_some)
    }
}

/// The operation that went on from where a reset went.
fn next<'g>(later: &'g [GitOperation], reset: &RefOperation) -> Option<&'g RefOperation> {
    let later = later.iter().map(|git| &git.operation);
    later.into_iter().find(|operation| {
        let is_head = !matches!(
            operation.kind,
            OperationKind::BranchDeleted
                | OperationKind::BranchMoved
                | OperationKind::BranchRenamed
                | OperationKind::WorktreeAdded
                | OperationKind::WorktreeRemoved
        );
        is_head
            && operation.tree == reset.tree
            && operation.old == reset.new
            && operation.at >= reset.at
    })
}

/// The summary alone: what was said and which files it changed stay as they are.
fn rewritten(row: GitRow) -> GitUnit {
    let quoted = row.git.reason.iter().map(|reason| reason.session.clone());
    GitUnit {
        id: row.id,
        episodes: vec![(metadata(row.id, &row.git), quoted.collect())],
        git: row.git,
    }
}

/// Notes the files whose change makes a verdict another one.
fn watch(
    store: &mut Store,
    project: &Project,
    group: &str,
    tree: &WorkTree,
    watched: BTreeSet<String>,
    now: Time,
) -> Result<()> {
    let name = tree.git_dir.to_string_lossy();
    let Some(mut seen) = store
        .git_seen(&name)?
        .filter(|seen| seen.watched != watched)
    else {
        return Ok(());
    };
    if !seen.stamp.is_empty() {
        let folders = seen.folders.iter().map(String::as_str);
        seen.stamp = tree.stamp(folders, watched.iter().map(String::as_str));
    }
    seen.watched = watched;
    store.put_operations(project, group, Vec::new(), Some((&name, &seen)), now)?;
    Ok(())
}
