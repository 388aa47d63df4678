//! Records what was done to repositories: each work tree that changed is opened, what its log says since
//! the last scan becomes operations, and each operation its episodes. Without news it costs a few `stat`s
//! and opens nothing.

use super::conversation_context::{Detail, around};
use super::track_options::TrackOptions;
use super::track_report::TrackReport;
use crate::config::{FileTracking, Tracked};
use crate::host::git;
use crate::host::reflog::{self, Log, WorkTree};
use crate::host::repository::Repository;
use crate::model::episode::Episode;
use crate::model::error::Error;
use crate::model::git::{
    Effect, GitOperation, HistoryCursor, LogLine, OperationKind, RefOperation,
};
use crate::model::namespace::{namespace, project_root};
use crate::model::time::Time;
use crate::store::{GitRow, GitUnit, Project, Store};
use crate::tracking::git_episodes::{bulk_update, context, metadata, quoted};
use crate::tracking::judging::judge;
use crate::tracking::operations::{self, Start, renamed};
use crate::tracking::quoted_reasons::quoted_reason;
use crate::tracking::reasons::{Conversation, may_have_reason};
use crate::tracking::reset_modes;
use crate::tracking::reverts::reverts;
use crate::tracking::same_work::SameWork;
use crate::tracking::tracked_contents::TrackedContents;
use crate::tracking::unlogged;
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

/// A branch that was left longer ago may be gone as long.
const GONE_MS: i64 = 90 * 86_400_000;
/// Operations among which branches are looked for that are gone.
const GONE_MAX: u32 = 500;
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
        let trees = reflog::work_trees(Path::new(&project.path));
        let mut news = News::default();
        for tree in &trees {
            done.trees += 1;
            let scan = TreeScan {
                options,
                project: &project,
                tracked: repo.tracked,
                tree,
            };
            news.add(scan.scan(store, done)?);
        }
        if let Some(main) = trees.first().filter(|_| news.is_any && !news.has_more) {
            let scan = TreeScan {
                options,
                project: &project,
                tracked: repo.tracked,
                tree: main,
            };
            scan.gone(&trees, store, done)?;
            let group = options.group_of(repo.tracked);
            judge(store, options, (&project, group), &trees, news.first, done)?;
        }
    }
    Ok(())
}

/// What the scans of a repository's work trees found.
#[derive(Clone, Copy, Default)]
struct News {
    /// Something changed.
    is_any: bool,
    /// The next run reads more.
    has_more: bool,
    /// The earliest operation that is new.
    first: Option<Time>,
}

impl News {
    fn add(&mut self, other: News) {
        self.is_any |= other.is_any;
        self.has_more |= other.has_more;
        self.first = [self.first, other.first].into_iter().flatten().min();
    }
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

/// What a log tells.
struct LogNews {
    operations: Vec<RefOperation>,
    seen: HistoryCursor,
    /// The log has lines that the next run reads.
    has_more: bool,
}

impl TreeScan<'_> {
    fn scan(&self, store: &mut Store, done: &mut TrackReport) -> Result<News> {
        let tree = self.tree.git_dir.to_string_lossy();
        let seen = store.git_seen(&tree)?;
        let is_known = seen.is_some();
        let known = seen.unwrap_or_default();
        let stamp = self.stamp(&known);
        if is_known && stamp == known.stamp {
            // what can't be read was named when it changed last; `doctor` names it again
            return Ok(News {
                is_any: known.awaits_verdict,
                ..News::default()
            });
        }
        done.opened += 1;
        let read = Repository::open(self.tree).and_then(|repository| {
            self.allowed(&repository)?;
            let news = self.news(&repository, &known, is_known)?;
            Ok((repository, news))
        });
        let (units, mut next, has_more) = match read {
            Ok((repository, mut news)) => {
                if !is_known {
                    self.drop_recorded_elsewhere(&mut news.operations, store)?;
                }
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
        let news = News {
            is_any: next.problem.is_none(),
            has_more,
            first: units.iter().map(|unit| unit.git.operation.at).min(),
        };
        let group = self.options.group_of(self.tracked);
        let seen = Some((&*tree, &next));
        let stored = store.put_operations(self.project, group, units, seen, self.options.now)?;
        done.stored.merge(stored);
        Ok(news)
    }

    /// What is gone without a line in any log: work trees that an earlier run saw, and branches that somebody
    /// was on.
    fn gone(&self, trees: &[WorkTree], store: &mut Store, done: &mut TrackReport) -> Result<()> {
        let Ok(repository) = Repository::open(self.tree) else {
            return Ok(());
        };
        let group = self.options.group_of(self.tracked);
        let (now, folder) = (self.options.now, self.tree.common_dir.join("worktrees"));
        for (name, mut seen) in store.trees_below(&folder.to_string_lossy())? {
            let is_there = |tree: &WorkTree| tree.git_dir.to_string_lossy() == name;
            if trees.iter().any(is_there) {
                continue;
            }
            let removed = unlogged::removed(self.tree, &seen).into_iter().collect();
            let units = self.units(&repository, removed, store)?;
            done.operations += units.len() as u64;
            seen.head.clear();
            let seen = Some((&*name, &seen));
            let stored = store.put_operations(self.project, group, units, seen, now)?;
            done.stored.merge(stored);
        }
        let branches = repository.branches().unwrap_or_default().into_iter();
        let branches = branches.map(|(name, tip)| (self.options.stored_name(&name), tip));
        let since = Time(now.0 - GONE_MS);
        let rows = store.open_operations(&self.project.namespace, since, GONE_MAX)?;
        let left = unlogged::left_and_gone(&rows, &branches.collect());
        let mut units = self.units(&repository, left, store)?;
        units.retain(|unit| unit.git.effect.left_count > 0);
        done.operations += units.len() as u64;
        let stored = store.put_operations(self.project, group, units, None, now)?;
        done.stored.merge(stored);
        Ok(())
    }

    fn stamp(&self, seen: &HistoryCursor) -> String {
        let folders = seen.folders.iter().map(String::as_str);
        self.tree
            .stamp(folders, seen.watched_in(&self.project.path))
    }

    /// What a repository borrows, or points to, may be read too: another one's history is not recorded as this
    /// one's where that is left alone.
    fn allowed(&self, repository: &Repository) -> Result<(), String> {
        let own = Path::new(&self.project.path).canonicalize().ok();
        let is_own = |place: &&Path| own.as_ref().is_some_and(|own| place.starts_with(own));
        for place in repository.places().filter(|place| !is_own(place)) {
            if let Some(why) = self.options.context.refuses_folder(place) {
                return Err(format!(
                    "its history is in a folder that is left alone: {why}"
                ));
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
    ) -> Result<LogNews, String> {
        let unread = |error: std::io::Error| format!("its log can't be read: {}", error.kind());
        let log = reflog::read(&self.tree.log(), known.log_to, &known.log_last).map_err(unread)?;
        let stash = self.tree.stash_log();
        let stash = stash.map(|path| reflog::read(&path, known.stash_to, &known.stash_last));
        let stash = stash.transpose().map_err(unread)?.unwrap_or_default();
        let head = repository.head()?.unwrap_or_default();
        let name = |name: String| self.options.stored_name(&name);
        let branches = repository.branches()?.into_iter();
        let branches: BTreeMap<String, String> =
            branches.map(|(branch, tip)| (name(branch), tip)).collect();
        let start = Start {
            branch: known.branch.clone().filter(|_| !log.is_anew),
            branch_now: repository.branch(),
            is_busy: self.tree.is_busy(),
        };
        let sorted = operations::operations(&log.lines, &stash.lines, &start);
        let mut operations = sorted.operations;
        operations.extend(stashed(&stash.lines, repository));
        let tags = repository.tags();
        for operation in &mut operations {
            let is_tag = |to: &String| tags.contains(to) && !branches.contains_key(to);
            if operation.to.as_ref().is_some_and(is_tag) {
                operation.mode = Some("tag".to_owned());
            }
        }
        let stashes = self.tree.stashes();
        if sorted.lines == log.lines.len() && is_known {
            operations.extend(unlogged::moved(
                self.tree,
                &log.lines,
                known,
                &head,
                start.branch_now,
            ));
        }
        let (unlogged, branch_logs) =
            self.unlogged(repository, &log.lines, &stashes, known, &branches);
        operations.extend(unlogged);
        operations.sort_by_key(|operation| operation.at);
        Ok(LogNews {
            operations,
            seen: HistoryCursor {
                stamp: String::new(),
                log_to: log.to_after(sorted.lines),
                log_last: last(&log, sorted.lines, &known.log_last),
                stash_to: stash.to,
                stash_last: last(&stash, stash.lines.len(), &known.stash_last),
                stashes,
                head,
                branch: sorted.branch.map(name),
                branch_logs,
                branches,
                folders: self.tree.ref_folders(),
                watched: known.watched.clone(),
                awaits_verdict: true,
                judged_tips: known.judged_tips.clone(),
                problem: None,
            },
            has_more: sorted.has_more,
        })
    }

    /// Operations that HEAD's log doesn't tell.
    fn unlogged(
        &self,
        repository: &Repository,
        log: &[LogLine],
        stashes: &[String],
        known: &HistoryCursor,
        now: &BTreeMap<String, String>,
    ) -> (Vec<RefOperation>, BTreeMap<String, u64>) {
        if self.tree.name.is_some() {
            return Default::default();
        }
        let (mut operations, read) = unlogged::branch_moves(self.tree, known, now);
        let messages = operations.iter().map(|operation| &operation.message);
        let messages = messages.chain(log.iter().map(|line| &line.message));
        let renamed = messages.filter_map(|message| Some(renamed(message)?.0));
        let renamed = renamed.map(|from| self.options.stored_name(from)).collect();
        operations.extend(unlogged::dropped(self.tree, &renamed, known, now));
        let excludes = |path: &Path| self.options.context.excludes(path);
        let work = SameWork::new(repository, Vec::new(), &excludes);
        let root = Path::new(&self.project.path);
        operations.extend(unlogged::popped((self.tree, root), &work, known, stashes));
        (operations, read)
    }

    /// Everything that is to be stored of operations that are not stored yet.
    fn units(
        &self,
        repository: &Repository,
        operations: Vec<RefOperation>,
        store: &Store,
    ) -> Result<Vec<GitUnit>> {
        let excludes = |path: &Path| self.options.context.excludes(path);
        let work = SameWork::new(repository, Vec::new(), &excludes);
        let forgotten = store.tombstones()?.before(&self.project.namespace);
        let first = forgotten.max(self.options.since);
        let mut units: Vec<GitUnit> = Vec::new();
        for operation in operations {
            let is_old = first.is_some_and(|first| operation.at < first);
            if is_old || operation.kind == OperationKind::Other {
                continue;
            }
            if let Some(id) = self.new_id(&operation, &units, store)? {
                units.push(self.unit(repository, &work, operation, id, (&units, store))?);
            }
        }
        Ok(units)
    }

    /// A repository that was moved brings its history along: what is recorded under the path that it had, where
    /// none is any more, is not told again.
    fn drop_recorded_elsewhere(
        &self,
        operations: &mut Vec<RefOperation>,
        store: &Store,
    ) -> Result<(), Error> {
        let Some(first) = operations.first() else {
            return Ok(());
        };
        let rows = store.operations_at(first.at)?.into_iter();
        let is_elsewhere = |row: &GitRow| {
            let path = Path::new(&row.project.path);
            self.is_same(&row.git.operation, first)
                && row.project.namespace != self.project.namespace
                && git::common_dir(path).is_none()
        };
        let Some(row) = rows.into_iter().find(is_elsewhere) else {
            return Ok(());
        };
        let until = Time(i64::MAX);
        let recorded = store.operations_between(&row.project.namespace, first.at, until)?;
        operations.retain(|operation| {
            let mut recorded = recorded.iter().map(|row| &row.git.operation);
            !recorded.any(|recorded| self.is_same(recorded, operation))
        });
        Ok(())
    }

    fn is_same(&self, recorded: &RefOperation, operation: &RefOperation) -> bool {
        (recorded.at, &recorded.old, &recorded.new)
            == (operation.at, &operation.old, &operation.new)
            && recorded.message == self.options.stored_name(&operation.message)
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
        work: &SameWork<'_>,
        mut operation: RefOperation,
        id: Uuid,
        (units, store): (&[GitUnit], &Store),
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
        operation.tree.clone_from(&self.tree.name);
        if operation.kind == OperationKind::Reset {
            reset_modes::name(&mut operation, &self.project.path, store)?;
        }
        let mut effect = effect(repository, &operation);
        if operation.kind.may_bring_commits() {
            effect.reverts = reverts(repository, work, &effect.made);
            let first = effect.reverts.first();
            effect.undone = first.map(|revert| revert.commit.hash.clone());
        }
        let told = (units, &*self.project.namespace);
        let reason = quoted_reason((&operation, &effect), &said, told, store)?;
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
            let contents = TrackedContents::of(self.options, &self.project.path, store)?;
            for (file, path) in git.effect.files.iter().zip(&paths).take(BULK_MAX) {
                let contents = contents.as_ref().zip(file.blob.as_deref());
                let content = contents.and_then(|(all, blob)| all.read(repository, blob, path));
                let episode = bulk_update(id, &git, file, content.as_deref());
                episodes.push((episode, BTreeSet::new()));
            }
        }
        Ok(GitUnit { id, git, episodes })
    }

    /// What people wrote into commits, branches and paths goes through the same filter as sessions, and is
    /// one line.
    fn masked(&self, mut git: GitOperation) -> GitOperation {
        let mask = |text: &mut String| *text = self.options.stored_name(text);
        let operation = &mut git.operation;
        mask(&mut operation.message);
        let names = operation.branch.iter_mut().chain(&mut operation.to);
        let names = names.chain(&mut operation.tree);
        names.for_each(mask);
        let commits = git.effect.left.iter_mut().chain(&mut git.effect.made);
        let reverted = git
            .effect
            .reverts
            .iter_mut()
            .map(|revert| &mut revert.commit);
        commits
            .chain(reverted)
            .for_each(|commit| mask(&mut commit.subject));
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
        OperationKind::BranchDeleted | OperationKind::WorktreeRemoved => {
            let others = repository.branches().unwrap_or_default();
            repository.effect_of_dropping(old, &others.into_values().collect::<Vec<_>>())
        }
        // its commits were there before
        OperationKind::WorktreeAdded => Effect::default(),
        _ => repository.effect(old, new),
    }
}
