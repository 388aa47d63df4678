//! Judges the operations of a repository again when something in it changed: what was lost, and which mode a
//! reset had that no command says. Writes the summaries of those that are told otherwise now.

use super::git_episodes::metadata;
use super::reset_modes::Trees;
use super::same_work::SameWork;
use super::track_options::TrackOptions;
use super::track_report::TrackReport;
use super::verdict::{Judge, may_lose};
use crate::host::git;
use crate::host::patch::PatchFile;
use crate::host::reachability::Reachable;
use crate::host::reflog::{self, WorkTree};
use crate::host::repository::{Repository, RepositoryError};
use crate::model::git::{CommitLine, GitOperation, OperationKind, RefOperation};
use crate::model::time::Time;
use crate::store::{GitRow, GitUnit, Project, Store};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// What happened longer ago is judged when it is read first, and not again.
const JUDGED_MS: i64 = 90 * 86_400_000;
/// Operations that are judged at once, the latest; others keep their verdict.
const OPEN_MAX: u32 = 500;
/// Of these, resets whose mode is looked for anew.
const MODES_MAX: usize = 20;
/// Operations after a reset among which the one is that went on from it.
const NEXT_MAX: u32 = 64;
/// More references are not noted down.
const TIPS_MAX: usize = 2_000;
/// Clocks of those who commit may differ by so much.
const CLOCKS_SECONDS: i64 = 86_400;

/// Judges what is known of a repository's operations; `first`: the earliest of those that are new. What can't
/// be read leaves the verdicts as they are and is a problem of the report.
///
/// # Errors
/// When the store fails.
pub(super) fn judge(
    store: &mut Store,
    options: &TrackOptions<'_>,
    (project, group): (&Project, &str),
    trees: &[WorkTree],
    first: Option<Time>,
    done: &mut TrackReport,
) -> Result<()> {
    let since = Time(options.now.0 - JUDGED_MS);
    let since = first.map_or(since, |first| first.min(since));
    let mut rows = store.open_operations(&project.namespace, since, OPEN_MAX)?;
    rows.sort_by_key(|row| happened(&row.git));
    let mut notes = JudgeNotes::default();
    if !rows.is_empty() {
        match verdicts(store, options, project, trees, rows)? {
            Ok((changed, new)) => {
                let units = changed.into_iter().map(rewritten).collect();
                let stored = store.put_operations(project, group, units, None, options.now)?;
                done.stored.merge(stored);
                notes = new;
            }
            Err(why) => {
                let why = format!("what was given up in it can't be judged: {why}");
                done.problems.push((project.path.clone(), why));
            }
        }
    }
    note(store, (project, group), trees, notes, options.now)
}

/// What the next look needs to know.
#[derive(Default, PartialEq)]
struct JudgeNotes {
    /// Files whose change makes a verdict another one.
    watched: BTreeSet<String>,
    /// What was reachable.
    tips: BTreeSet<String>,
}

/// The operations that are told otherwise now; or why nobody can tell.
fn verdicts(
    store: &Store,
    options: &TrackOptions<'_>,
    project: &Project,
    trees: &[WorkTree],
    mut rows: Vec<GitRow>,
) -> Result<Result<(Vec<GitRow>, JudgeNotes), RepositoryError>> {
    let main = &trees[0];
    let opened = Repository::open(main).and_then(|repository| {
        let tips = all_tips(&repository, main, project, options)?;
        let from: BTreeSet<String> = tips.values().cloned().collect();
        let reachable = repository.reachable(&from, oldest(&rows))?;
        Ok((repository, tips, reachable))
    });
    let (repository, tips, reachable) = match opened {
        Ok(opened) => opened,
        Err(why) => return Ok(Err(why)),
    };
    if let Some(cut) = reachable.cut_at {
        // too many commits: what is older keeps its verdict
        let is_after = |commit: &CommitLine| commit.at.0 / 1_000 > cut + CLOCKS_SECONDS;
        rows.retain(|row| commits(&row.git).all(is_after));
    }
    let excludes = |path: &Path| options.context.excludes(path);
    let roots = trees.iter().filter_map(|tree| root(tree, project));
    let mut work = SameWork::new(&repository, roots.collect(), &excludes);
    work.learn(rows.iter().map(|row| &row.git));
    let seen = store.git_seen(&main.git_dir.to_string_lossy())?;
    let known = seen.map(|seen| seen.judged_tips).unwrap_or_default();
    let judged = Judged {
        stored_name: &|name| options.stored_name(name),
        known: &known,
        store,
        repository: &repository,
        reachable: &reachable,
        work: &work,
        tips: &tips,
        trees,
        project,
    };
    let (changed, watched) = judged.again(rows)?;
    let mut tips = reachable.heads();
    if tips.len() > TIPS_MAX {
        tips.clear();
    }
    let root = Path::new(&project.path);
    let watched = watched
        .iter()
        .filter_map(|path| watched_name(path, root, options));
    let watched = watched.collect();
    Ok(Ok((changed, JudgeNotes { watched, tips })))
}

/// A watched file from the repository's root; `None`: it has a name that may not be stored.
fn watched_name(path: &str, root: &Path, options: &TrackOptions<'_>) -> Option<String> {
    let below = Path::new(path).strip_prefix(root).ok();
    let name = below.map_or_else(|| path.into(), |below| below.to_string_lossy());
    (options.stored_name(&name) == name).then(|| name.into_owned())
}

/// As far back as is to be walked, in seconds.
fn oldest(rows: &[GitRow]) -> i64 {
    let open = rows.iter().filter(|row| may_lose(&row.git));
    let commits = open.flat_map(|row| commits(&row.git));
    let oldest = commits.map(|commit| commit.at.0).min();
    oldest.map_or(0, |oldest| oldest / 1_000 - CLOCKS_SECONDS)
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
    let has_submodules = |root: &PathBuf| root.join(".gitmodules").exists();
    let around = around.filter(has_submodules);
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
    stored_name: &'r dyn Fn(&str) -> String,
    known: &'r BTreeSet<String>,
    store: &'r Store,
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
    fn again(&self, mut rows: Vec<GitRow>) -> Result<(Vec<GitRow>, BTreeSet<String>)> {
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
        let unnamed = rows.iter_mut().rev().filter(|row| {
            let operation = &row.git.operation;
            let is_reset = operation.kind == OperationKind::Reset && operation.old != operation.new;
            is_reset && !operation.is_mode_named
        });
        for row in unnamed.take(MODES_MAX) {
            let next = self.next(&row.git.operation)?;
            let operation = &mut row.git.operation;
            operation.mode = trees.mode(operation, next.as_ref(), |files| {
                self.came_back(operation, files)
            });
        }
        let judge = Judge {
            repository: self.repository,
            tips: self.tips,
            reachable: self.reachable,
            known: self
                .reachable
                .history_of(self.known.iter().map(String::as_str)),
            work: self.work,
            reverters: reverters(&rows),
        };
        let verdicts = judge.verdicts(&rows.iter().map(|row| &row.git).collect::<Vec<_>>());
        let mut watched = BTreeSet::new();
        let mut changed = Vec::new();
        for ((mut row, verdict), before) in rows.into_iter().zip(verdicts).zip(before) {
            let effect = &mut row.git.effect;
            if let Some(verdict) = verdict {
                watched.extend(verdict.watched.iter().cloned());
                verdict.write(effect);
                // a branch's name, which people choose
                effect.kept_in = effect.kept_in.as_deref().map(self.stored_name);
            }
            if row.git != before {
                changed.push(row);
            }
        }
        Ok((changed, watched))
    }

    /// The operation that went on from where a reset went.
    fn next(&self, reset: &RefOperation) -> Result<Option<RefOperation>> {
        let namespace = &self.project.namespace;
        let later = self.store.operations_from(namespace, reset.at, NEXT_MAX)?;
        let all = later.into_iter().map(|row| row.git.operation);
        // of the same second: those that were stored after it
        let is_it = |one: &RefOperation| (&one.old, &one.message) == (&reset.old, &reset.message);
        let mut later = all.skip_while(|one| !is_it(one)).skip(1);
        Ok(later.find(|operation| {
            let is_head = !matches!(
                operation.kind,
                OperationKind::BranchDeleted
                    | OperationKind::BranchMoved
                    | OperationKind::BranchRenamed
                    | OperationKind::WorktreeAdded
                    | OperationKind::WorktreeRemoved
            );
            is_head && operation.tree == reset.tree && operation.old == reset.new
        }))
    }

    /// Some of what a reset left is in what came after it.
    fn came_back(&self, operation: &RefOperation, files: &[PatchFile]) -> bool {
        let before = self.reachable.history_of([operation.new.as_str()]);
        let histories = [&before];
        let mut after = self.reachable.without(&histories);
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

/// The summary alone: what was said and which files it changed stay as they are.
fn rewritten(row: GitRow) -> GitUnit {
    let quoted = row.git.reason.iter().map(|reason| reason.session.clone());
    GitUnit {
        id: row.id,
        episodes: vec![(metadata(row.id, &row.git), quoted.collect())],
        git: row.git,
    }
}

/// Notes down what the next look needs, with the main work tree, and that verdicts were reached.
fn note(
    store: &mut Store,
    (project, group): (&Project, &str),
    trees: &[WorkTree],
    notes: JudgeNotes,
    now: Time,
) -> Result<()> {
    let mut notes = Some(notes);
    for tree in trees {
        let notes = notes.take();
        let name = tree.git_dir.to_string_lossy();
        let Some(known) = store.git_seen(&name)? else {
            continue;
        };
        let mut seen = known.clone();
        seen.awaits_verdict = false;
        if let Some(notes) = notes {
            (seen.watched, seen.judged_tips) = (notes.watched, notes.tips);
        }
        if !seen.stamp.is_empty() && seen.watched != known.watched {
            let folders = seen.folders.iter().map(String::as_str);
            seen.stamp = tree.stamp(folders, seen.watched_in(&project.path));
        }
        if seen != known {
            store.put_operations(project, group, Vec::new(), Some((&name, &seen)), now)?;
        }
    }
    Ok(())
}
