//! Records what was done to repositories: each work tree that changed is opened, what its log says since
//! the last scan becomes operations, and each operation its episodes. Without news it costs a few `stat`s
//! and opens nothing.

use super::conversation_context::{Detail, LONG_AGO_MS, around};
use super::exclusions::Exclusions;
use super::track_options::TrackOptions;
use super::track_report::TrackReport;
use crate::config::{FileTracking, Tracked, TrackedProject};
use crate::host::git;
use crate::host::reflog::{self, Log, WorkTree};
use crate::host::repository::Repository;
use crate::model::episode::Episode;
use crate::model::error::Error;
use crate::model::git::{
    Effect, GitOperation, HistoryCursor, LogLine, OperationKind, Reason, RefOperation,
};
use crate::model::namespace::{namespace, project_root};
use crate::model::time::Time;
use crate::store::{GitUnit, Project, Store};
use crate::tracking::git_episodes::{bulk_update, context, metadata, quoted};
use crate::tracking::operations::{self, Start, renamed};
use crate::tracking::reasons::{Conversation, UndoneWork, may_have_reason, reset_mode, why};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// A repository that is tracked.
pub struct TrackedRepository<'t> {
    /// The project that led to it.
    pub project: String,
    /// Its root, as everywhere ([`project_root`]).
    pub root: String,
    /// How it is tracked.
    pub tracked: &'t Tracked,
}

/// The tracked repositories of projects that stored sessions were in or that have an entry; one that
/// several projects led to comes as often. A few `stat`s for each.
///
/// # Errors
/// When the store fails.
pub fn repositories<'t>(
    store: &Store,
    tracking: &'t FileTracking,
) -> Result<Vec<TrackedRepository<'t>>> {
    let named = store.projects("")?.into_iter().map(|(_, path)| path);
    let entries = tracking.projects().iter().filter(|entry| entry.enabled);
    let projects = named.chain(entries.map(|entry| entry.root.clone()));
    let tracked = |project: String| {
        let root = git::owner(Path::new(&project))?;
        let root = project_root(&root.to_string_lossy());
        let tracked = tracking.of(&root)?;
        Some(TrackedRepository {
            project,
            root,
            tracked,
        })
    };
    Ok(projects.filter_map(tracked).collect())
}

/// Files of one operation that get an episode of their own.
const BULK_MAX: usize = 200;

/// Records what is new in the repositories that may be read.
///
/// # Errors
/// When the store fails.
pub(super) fn record(
    store: &mut Store,
    options: &TrackOptions<'_>,
    done: &mut TrackReport,
) -> Result<()> {
    let mut met = BTreeSet::new();
    for repo in repositories(store, options.context.tracking)? {
        let is_meant = options.includes(&repo.root) || options.includes(&repo.project);
        if !is_meant
            || options.context.refuses_root(&repo.root).is_some()
            || !met.insert(repo.root.clone())
        {
            continue;
        }
        let project = Project {
            namespace: namespace(&repo.root),
            path: repo.root,
            host: options.host.to_owned(),
        };
        for tree in reflog::work_trees(Path::new(&project.path)) {
            done.trees += 1;
            let scan = TreeScan {
                options,
                project: &project,
                tracked: repo.tracked,
                tree: &tree,
            };
            scan.scan(store, done)?;
        }
    }
    Ok(())
}

/// Writes the summaries again that lost what they quoted.
///
/// # Errors
/// When the store fails.
pub(super) fn record_again(store: &mut Store, options: &TrackOptions<'_>) -> Result<()> {
    for row in store.operations_to_rewrite()? {
        let group = match options.context.tracking.of(&row.project.path) {
            Some(tracked) => options.group_of(tracked),
            None => options.group,
        };
        let unit = GitUnit {
            id: row.id,
            episodes: vec![(metadata(row.id, &row.git), BTreeSet::new())],
            git: row.git,
        };
        store.put_operations(&row.project, group, vec![unit], None, options.now)?;
    }
    Ok(())
}

/// A scan of one work tree.
struct TreeScan<'a> {
    options: &'a TrackOptions<'a>,
    project: &'a Project,
    tracked: &'a Tracked,
    tree: &'a WorkTree,
}

/// What a scan found.
struct News {
    operations: Vec<RefOperation>,
    seen: HistoryCursor,
    /// The log has lines that the next run reads.
    has_more: bool,
}

impl TreeScan<'_> {
    fn scan(&self, store: &mut Store, done: &mut TrackReport) -> Result<()> {
        let tree = self.tree.git_dir.to_string_lossy();
        let seen = store.git_seen(&tree)?;
        let is_known = seen.is_some();
        let known = seen.unwrap_or_default();
        let stamp = self.stamp(&known);
        if is_known && stamp == known.stamp {
            // what can't be read was named when it changed last; `doctor` names it again
            return Ok(());
        }
        done.opened += 1;
        let read = Repository::open(self.tree).and_then(|repository| {
            self.allowed(&repository)?;
            let news = self.news(&repository, &known, is_known)?;
            Ok((repository, news))
        });
        let (units, mut next, has_more) = match read {
            Ok((repository, news)) => {
                let units = self.units(&repository, news.operations, store)?;
                (units, news.seen, news.has_more)
            }
            Err(why) => {
                done.problems.push((self.project.path.clone(), why.clone()));
                let seen = HistoryCursor {
                    problem: Some(why),
                    ..known.clone()
                };
                (Vec::new(), seen, false)
            }
        };
        let is_still = self.stamp(&known) == stamp;
        next.stamp = match (has_more, is_still) {
            (true, _) => String::new(),
            // branches that are new have folders of their own
            (_, true) => self.stamp(&next),
            (_, false) => stamp,
        };
        done.operations += units.len() as u64;
        let group = self.options.group_of(self.tracked);
        let seen = Some((&*tree, &next));
        let stored = store.put_operations(self.project, group, units, seen, self.options.now)?;
        done.stored.merge(stored);
        Ok(())
    }

    fn stamp(&self, seen: &HistoryCursor) -> String {
        self.tree.stamp(seen.branches.keys().map(String::as_str))
    }

    /// What a repository borrows, or points to, may be read too: another one's history is not recorded as this
    /// one's where that is left alone.
    fn allowed(&self, repository: &Repository) -> Result<(), String> {
        let own = Path::new(&self.project.path).canonicalize().ok();
        let is_own = |place: &&Path| own.as_ref().is_some_and(|own| place.starts_with(own));
        for place in repository.places().filter(|place| !is_own(place)) {
            if let Some(why) = self.options.context.refuses_folder(place) {
                return Err(format!("its history lies in what is left alone: {why}"));
            }
        }
        Ok(())
    }

    /// Operations since the last scan, in order, and how far that is.
    fn news(
        &self,
        repository: &Repository,
        known: &HistoryCursor,
        is_known: bool,
    ) -> Result<News, String> {
        let unread = |error: std::io::Error| format!("its log can't be read: {}", error.kind());
        let log = reflog::read(&self.tree.log(), known.log_to, &known.log_last).map_err(unread)?;
        let stash = self.tree.stash_log();
        let stash = stash.map(|path| reflog::read(&path, known.stash_to, &known.stash_last));
        let stash = stash.transpose().map_err(unread)?.unwrap_or_default();
        let head = repository.head()?.unwrap_or_default();
        let name = |name: String| self.options.stored_name(&name);
        let branches = repository.branches()?.into_iter();
        let branches = branches.map(|(branch, tip)| (name(branch), tip)).collect();
        let start = Start {
            branch: known.branch.clone().filter(|_| !log.is_anew),
            branch_now: repository.branch(),
            is_busy: self.tree.is_busy(),
        };
        let sorted = operations::operations(&log.lines, &stash.lines, &start);
        let mut operations = sorted.operations;
        operations.extend(stashed(&stash.lines, repository));
        if sorted.lines == log.lines.len() && is_known {
            operations.extend(self.moved(&log.lines, known, &head, start.branch_now));
        }
        if is_known && self.tree.name.is_none() {
            operations.extend(self.dropped(&log.lines, known, &branches));
        }
        operations.sort_by_key(|operation| operation.at);
        Ok(News {
            operations,
            seen: HistoryCursor {
                stamp: String::new(),
                log_to: log.to_after(sorted.lines),
                log_last: last(&log, sorted.lines, &known.log_last),
                stash_to: stash.to,
                stash_last: last(&stash, stash.lines.len(), &known.stash_last),
                head,
                branch: sorted.branch.map(name),
                branches,
                problem: None,
            },
            has_more: sorted.has_more,
        })
    }

    /// HEAD is elsewhere, and no line says so.
    fn moved(
        &self,
        lines: &[LogLine],
        known: &HistoryCursor,
        head: &str,
        branch_now: Option<String>,
    ) -> Option<RefOperation> {
        let last = lines.last().map_or(known.head.as_str(), |line| &line.new);
        if last == head || known.head.is_empty() {
            return None;
        }
        let at = self.tree.moved_at(branch_now.as_deref())?;
        Some(RefOperation {
            branch: branch_now,
            ..guessed(OperationKind::Moved, last, head, at)
        })
    }

    /// Branches that are no more, and were not renamed.
    fn dropped(
        &self,
        lines: &[LogLine],
        known: &HistoryCursor,
        now: &BTreeMap<String, String>,
    ) -> Vec<RefOperation> {
        let renamed = lines.iter().filter_map(|line| renamed(&line.message));
        let renamed = renamed.map(|(from, _)| self.options.stored_name(from));
        let renamed: BTreeSet<String> = renamed.collect();
        let gone = known.branches.iter();
        let gone = gone.filter(|(name, _)| !now.contains_key(*name) && !renamed.contains(*name));
        gone.filter_map(|(name, commit)| {
            let at = self.tree.dropped_at(name)?;
            Some(RefOperation {
                branch: Some(name.clone()),
                ..guessed(OperationKind::BranchDeleted, commit, "", at)
            })
        })
        .collect()
    }

    /// Everything that is to be stored of operations that are not stored yet.
    fn units(
        &self,
        repository: &Repository,
        operations: Vec<RefOperation>,
        store: &Store,
    ) -> Result<Vec<GitUnit>> {
        let forgotten = store.tombstones()?.before(&self.project.namespace);
        let first = forgotten.max(self.options.since);
        let mut units: Vec<GitUnit> = Vec::new();
        for operation in operations {
            let is_old = first.is_some_and(|first| operation.at < first);
            if is_old || operation.kind == OperationKind::Other {
                continue;
            }
            if let Some(id) = self.new_id(&operation, &units, store)? {
                units.push(self.unit(repository, operation, id, &units, store)?);
            }
        }
        Ok(units)
    }

    /// The operation's id; `None`: it is recorded already.
    fn new_id(
        &self,
        operation: &RefOperation,
        units: &[GitUnit],
        store: &Store,
    ) -> Result<Option<Uuid>> {
        let mut masked = operation.clone();
        masked.message = self.options.stored_name(&masked.message);
        let name = self.repository_name();
        for id in [operation.id(&name), masked.twin_id(&name)] {
            let recorded = match units.iter().find(|unit| unit.id == id) {
                Some(unit) => Some(unit.git.operation.clone()),
                None => store.operation(id)?.map(|row| row.git.operation),
            };
            match recorded {
                None => return Ok(Some(id)),
                Some(recorded) if recorded.is_same_line(&masked) => return Ok(None),
                Some(_) => {}
            }
        }
        Ok(None)
    }

    fn unit(
        &self,
        repository: &Repository,
        mut operation: RefOperation,
        id: Uuid,
        units: &[GitUnit],
        store: &Store,
    ) -> Result<GitUnit, Error> {
        let said = match operation.kind.is_plain_work() {
            true => Conversation::default(),
            false => {
                let detail = match may_have_reason(&operation) {
                    true => Detail::Times,
                    false => Detail::Order,
                };
                around(store, &self.project.path, operation.at, detail)?
            }
        };
        if operation.kind == OperationKind::Reset {
            operation.mode = reset_mode(&said.near).map(str::to_owned);
        }
        let mut effect = effect(repository, &operation);
        let reason = self.reason(repository, (&operation, &effect), &said, units, store)?;
        let root = Path::new(&self.project.path);
        effect.hide(|path| self.options.context.excludes(&root.join(path)));
        let paths: Vec<PathBuf> = effect.files.iter().map(|f| (&f.path).into()).collect();
        let git = self.masked(GitOperation {
            operation,
            effect,
            reason,
        });
        let mut episodes = episodes(id, &git, &said);
        if git.operation.kind.writes_files() {
            let kept = self.kept(store)?;
            for (file, path) in git.effect.files.iter().zip(&paths).take(BULK_MAX) {
                let content = kept
                    .as_ref()
                    .and_then(|kept| self.content(repository, kept, file.blob.as_deref()?, path));
                let episode = bulk_update(id, &git, file, content.as_deref());
                episodes.push((episode, BTreeSet::new()));
            }
        }
        Ok(GitUnit { id, git, episodes })
    }

    /// Why an operation was done, as far as somebody said it. A sentence is the reason of one undoing.
    fn reason(
        &self,
        repository: &Repository,
        (operation, effect): (&RefOperation, &Effect),
        said: &Conversation,
        units: &[GitUnit],
        store: &Store,
    ) -> Result<Option<Reason>, Error> {
        let undone = effect.undone.as_deref().and_then(|undone| {
            let parent = repository.parent(undone).unwrap_or_default();
            repository.effect(&parent, undone).made.into_iter().next()
        });
        let reason = why(
            said,
            &UndoneWork {
                operation,
                commits: undone.as_ref().map_or(&effect.left, std::slice::from_ref),
                files: &effect.files,
            },
        );
        let Some(reason) = reason else {
            return Ok(None);
        };
        let since = Time(operation.at.0 - LONG_AGO_MS);
        let rows = store.operations_between(&self.project.namespace, since, operation.at)?;
        let known = units
            .iter()
            .map(|unit| &unit.git)
            .chain(rows.iter().map(|row| &row.git));
        let mut told = known.filter_map(|git| git.reason.as_ref());
        let is_told = told.any(|told| (&told.session, told.line) == (&reason.session, reason.line));
        Ok((!is_told).then_some(reason))
    }

    /// The project whose patterns may name files of the repository; `None`: none has any, or it is left alone
    /// for a while.
    fn kept(&self, store: &Store) -> Result<Option<Kept<'_>>, Error> {
        let context = &self.options.context;
        let Some(project) = context.tracking.around(&self.project.path) else {
            return Ok(None);
        };
        let is_paused = store.tracked_project(&project.root)?.paused_at.is_some();
        let root = Path::new(&project.root);
        let below = Path::new(&self.project.path).strip_prefix(root);
        Ok(below.ok().filter(|_| !is_paused).map(|below| Kept {
            project,
            below: below.to_path_buf(),
            exclusions: Exclusions::of(root, context),
        }))
    }

    /// A file's content, where a pattern names it and a scan of the disk would read it.
    fn content(
        &self,
        repository: &Repository,
        kept: &Kept<'_>,
        blob: &str,
        path: &Path,
    ) -> Option<String> {
        let path = kept.below.join(path);
        let pattern = kept.project.tracked.pattern(&path)?;
        if kept.exclusions.covers_content(&path) {
            return None;
        }
        let content = repository.file(blob, pattern.max_bytes)?;
        Some(self.options.redactor.redact(&content).into_owned())
    }

    /// What people wrote into commits, branches and paths goes through the same filter as sessions, and is
    /// one line.
    fn masked(&self, mut git: GitOperation) -> GitOperation {
        let mask = |text: &mut String| *text = self.options.stored_name(text);
        let operation = &mut git.operation;
        mask(&mut operation.message);
        let names = operation.branch.iter_mut().chain(&mut operation.to);
        names.for_each(mask);
        let commits = git.effect.left.iter_mut().chain(&mut git.effect.made);
        commits.for_each(|commit| mask(&mut commit.subject));
        for file in &mut git.effect.files {
            mask(&mut file.path);
            file.previous_path.iter_mut().for_each(mask);
        }
        git
    }

    /// Distinguishes work trees of one project.
    fn repository_name(&self) -> String {
        let name = self.tree.name.as_deref().unwrap_or_default();
        format!("{}\n{name}", self.project.namespace)
    }
}

/// The project whose patterns name files of a repository.
struct Kept<'a> {
    project: &'a TrackedProject,
    /// The repository, from the project's root.
    below: PathBuf,
    exclusions: Exclusions<'a>,
}

/// The summary of an operation and the conversation before it, each with the sessions whose words it has.
fn episodes(id: Uuid, git: &GitOperation, said: &Conversation) -> Vec<(Episode, BTreeSet<String>)> {
    let reason = git.reason.iter().map(|reason| reason.session.clone());
    let summary = (metadata(id, git), reason.collect());
    let context = context(id, git, &said.before);
    let context = context.map(|episode| (episode, quoted(&said.before)));
    [summary].into_iter().chain(context).collect()
}

/// The commit that the last of so many lines came to; what was known where there is none.
fn last(log: &Log, lines: usize, known: &str) -> String {
    match lines.checked_sub(1).map(|nth| &log.lines[nth]) {
        Some(line) => line.new.clone(),
        None if log.is_anew => String::new(),
        None => known.to_owned(),
    }
}

/// A stash lies on the commit that it was made on.
fn stashed(lines: &[LogLine], repository: &Repository) -> Vec<RefOperation> {
    let mut stashes = operations::stashes(lines);
    for stash in &mut stashes {
        stash.old = repository.parent(&stash.new).unwrap_or_default();
    }
    stashes
}

fn effect(repository: &Repository, operation: &RefOperation) -> Effect {
    let (old, new) = (operation.old.as_str(), operation.new.as_str());
    match operation.kind {
        OperationKind::BranchDeleted => {
            let others = repository.branches().unwrap_or_default();
            repository.effect_of_dropping(old, &others.into_values().collect::<Vec<_>>())
        }
        OperationKind::Revert => Effect {
            undone: repository.undone(new),
            ..repository.effect(old, new)
        },
        _ => repository.effect(old, new),
    }
}

fn guessed(kind: OperationKind, old: &str, new: &str, at: Time) -> RefOperation {
    RefOperation {
        kind,
        mode: None,
        old: old.to_owned(),
        new: new.to_owned(),
        branch: None,
        to: None,
        at,
        at_is_guessed: true,
        message: "(no log)".to_owned(),
        steps: 1,
    }
}
