//! The step `track`: what happened to the files of tracked projects, and what was done to the
//! repositories of those that sessions name, becomes episodes, with the words before it. Without news it looks with `stat` and opens no file of a
//! repository. Knows the order of things; refuses to know git's formats (`host`), messages (`track`)
//! and rows (`store`).

mod barred;
mod doing;
mod files;
pub mod look;
mod spoken;
pub mod standing;
mod telling;

pub use files::FilesDone;

use crate::config::{Tracked, TrackedProject};
use crate::host::git;
use crate::host::reflog::{self, Log, WorkTree};
use crate::host::repository::Repository;
use crate::model::error::Error;
use crate::model::file::shown;
use crate::model::git::{Deed, Effect, LogLine, Operation, OperationKind, Seen};
use crate::model::namespace::{namespace, project_root};
use crate::model::time::Time;
use crate::rules::secrets::Redactor;
use crate::store::{GitDeed, Project, Store, Stored};
use crate::track::episodes::{bulk_update, context, metadata, quoted};
use crate::track::operations::{self, Start};
use crate::track::why::{reset_mode, why};
use anyhow::Result;
use barred::{Barred, Place};
use spoken::Heard;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// What the step is told.
pub struct Orders<'a> {
    /// The run's time.
    pub now: Time,
    /// The machine's name.
    pub host: &'a str,
    /// Which projects, and what of them is left alone.
    pub place: Place<'a>,
    /// Operations before it are left alone; `None`: all are told.
    pub since: Option<Time>,
    /// The group of the episodes, where the project has none of its own.
    pub group: &'a str,
    /// Masks every word.
    pub redactor: &'a Redactor,
    /// Only the project at this root; `None`: all.
    pub only: Option<&'a str>,
    /// Files whose `stat` is as it was are read too.
    pub force: bool,
    /// Numbers of the sinks that episodes of files wait for.
    pub sinks: &'a [i64],
}

impl Orders<'_> {
    /// The project at this root is meant.
    fn includes(&self, root: &str) -> bool {
        self.only.is_none_or(|only| only == root)
    }
}

/// What the step did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Work trees that were looked at.
    pub trees: u64,
    /// Work trees of which something was opened.
    pub opened: u64,
    /// Operations that were new.
    pub operations: u64,
    /// What that changed.
    pub stored: Stored,
    /// Repositories that can't be read and changed since they were looked at last, with why. Never content.
    pub problems: Vec<(String, String)>,
    /// What happened to files.
    pub files: FilesDone,
}

/// Operations of one work tree that one run tells; the others wait for the next run.
const OPERATIONS_MAX: usize = 500;

/// Files of one operation that get an episode of their own.
const BULK_MAX: usize = 200;

/// Tells what is new in every tracked project: the one way in, for a run, `track sync` and whoever
/// watches. Files are looked at before git is asked and told after it, so that no operation between the
/// two makes a person's edit of what git wrote.
///
/// # Errors
/// When the store fails. What can't be read is a problem of the report.
pub fn track(store: &mut Store, orders: &Orders<'_>) -> Result<Done> {
    let mut done = Done::default();
    tell_again(store, orders)?;
    if !orders.place.tracking.is_on() {
        return Ok(done);
    }
    let looks = files::look(store, orders, &mut done.files)?;
    for (project, tracked) in repositories(store, orders)? {
        for tree in reflog::work_trees(Path::new(&project.path)) {
            done.trees += 1;
            let mut look = Look {
                orders,
                project: &project,
                tracked: &tracked,
                tree: &tree,
            };
            look.look(store, &mut done)?;
        }
    }
    files::tell(store, orders, looks, &mut done.files)?;
    Ok(done)
}

/// Summaries that lost what they quoted.
fn tell_again(store: &mut Store, orders: &Orders<'_>) -> Result<()> {
    for row in store.untold_deeds()? {
        let deed = GitDeed {
            id: row.id,
            episodes: vec![(metadata(row.id, &row.deed), BTreeSet::new())],
            deed: row.deed,
        };
        store.put_deeds(&row.project, orders.group, vec![deed], None, orders.now)?;
    }
    Ok(())
}

/// The repositories that sessions name, by root, that may be looked at.
fn repositories(store: &Store, orders: &Orders<'_>) -> Result<Vec<(Project, Tracked)>> {
    let mut all = BTreeMap::new();
    let named = store.projects("")?.into_iter().map(|(_, path)| path);
    let tracked = orders.place.tracking.projects().iter();
    let tracked = tracked.filter(|project| project.enabled);
    for project in named.chain(tracked.map(|project| project.root.clone())) {
        let Some(root) = git::owner(Path::new(&project)) else {
            continue;
        };
        let root = project_root(&root.to_string_lossy());
        let is_meant = orders.includes(&root) || orders.includes(&project);
        if !is_meant || all.contains_key(&root) || orders.place.refuses_root(&root).is_some() {
            continue;
        }
        let Some(tracked) = orders.place.tracking.of(&root) else {
            continue;
        };
        let project = Project {
            namespace: namespace(&root),
            path: root.clone(),
            host: orders.host.to_owned(),
        };
        all.insert(root, (project, tracked));
    }
    Ok(all.into_values().collect())
}

/// A look at one work tree.
struct Look<'a> {
    orders: &'a Orders<'a>,
    project: &'a Project,
    tracked: &'a Tracked,
    tree: &'a WorkTree,
}

impl Look<'_> {
    fn look(&mut self, store: &mut Store, done: &mut Done) -> Result<()> {
        let key = self.tree.git_dir.to_string_lossy().into_owned();
        let seen = store.git_seen(&key)?;
        let known = seen.clone().unwrap_or_default();
        let stamp = self.tree.stamp(known.branches.keys().map(String::as_str));
        if seen.is_some() && stamp == known.stamp {
            // what can't be read was named when it changed last; `doctor` names it again
            return Ok(());
        }
        done.opened += 1;
        let read = Repository::open(self.tree).and_then(|repository| {
            self.allowed(&repository)?;
            let news = self.news(&repository, &known, seen.is_some())?;
            Ok((repository, news))
        });
        let known_branches: Vec<String> = known.branches.keys().cloned().collect();
        let (deeds, mut next, has_more) = match read {
            Ok((repository, news)) => {
                let deeds = self.deeds(&repository, news.operations, store)?;
                (deeds, news.seen, news.has_more)
            }
            Err(why) => {
                done.problems.push((self.project.path.clone(), why.clone()));
                let problem = Some(why);
                (Vec::new(), Seen { problem, ..known }, false)
            }
        };
        let is_still = self.tree.stamp(known_branches.iter().map(String::as_str)) == stamp;
        next.stamp = match (has_more, is_still) {
            (true, _) => String::new(),
            // branches that are new have folders of their own
            (_, true) => self.tree.stamp(next.branches.keys().map(String::as_str)),
            (_, false) => stamp,
        };
        done.operations += deeds.len() as u64;
        let group = self.tracked.group.as_deref().unwrap_or(self.orders.group);
        let tree = Some((key.as_str(), &next));
        let stored = store.put_deeds(self.project, group, deeds, tree, self.orders.now)?;
        done.stored.merge(stored);
        Ok(())
    }

    /// What a repository borrows, or points to, may be read too: another one's history is not told as this
    /// one's where that is left alone.
    fn allowed(&self, repository: &Repository) -> Result<(), String> {
        let own = Path::new(&self.project.path).canonicalize().ok();
        let is_own = |place: &&Path| own.as_ref().is_some_and(|own| place.starts_with(own));
        for place in repository.places().filter(|place| !is_own(place)) {
            if let Some(why) = self.orders.place.refuses_folder(place) {
                return Err(format!("its history lies in what is left alone: {why}"));
            }
        }
        Ok(())
    }

    /// Operations since the last look, in order, and how far that is.
    fn news(&self, repository: &Repository, known: &Seen, again: bool) -> Result<News, String> {
        let unread = |error: std::io::Error| format!("its log can't be read: {}", error.kind());
        let log = reflog::read(&self.tree.log(), known.log_to, &known.log_last).map_err(unread)?;
        let stash = self
            .tree
            .stash_log()
            .map(|path| reflog::read(&path, known.stash_to, &known.stash_last));
        let stash = stash.transpose().map_err(unread)?.unwrap_or_default();
        let head = repository.head()?.unwrap_or_default();
        let name = |name: String| named(self.orders.redactor, &name);
        let branches = repository.branches()?.into_iter();
        let branches = branches.map(|(branch, tip)| (name(branch), tip)).collect();
        let start = Start {
            branch: known.branch.clone().filter(|_| !log.is_anew),
            branch_now: repository.branch(),
            is_busy: self.tree.is_busy(),
        };
        let wanted = log.lines.len().min(LINES_MAX);
        let told = operations::operations(&log.lines[..wanted], &stash.lines, &start);
        let log_to = match told.lines {
            all if all == log.lines.len() => log.to,
            0 if log.is_anew => 0,
            0 => known.log_to,
            some => log.lines[some - 1].to,
        };
        let mut operations = told.operations;
        operations.extend(stashed(&stash.lines, repository));
        let is_all_told = log_to == log.to;
        if is_all_told && again {
            operations.extend(self.moved(&log.lines, known, &head, &start));
        }
        if again && self.tree.name.is_none() {
            operations.extend(self.dropped(known, &branches));
        }
        operations.sort_by_key(|operation| operation.at);
        let seen = Seen {
            stamp: String::new(),
            log_to,
            log_last: last(&log, told.lines, &known.log_last),
            stash_to: stash.to,
            stash_last: last(&stash, stash.lines.len(), &known.stash_last),
            head,
            branch: told.branch.map(name),
            branches,
            problem: None,
        };
        Ok(News {
            has_more: told.lines == wanted && !is_all_told,
            operations,
            seen,
        })
    }

    /// HEAD is elsewhere, and no line says so.
    fn moved(
        &self,
        lines: &[LogLine],
        known: &Seen,
        head: &str,
        start: &Start,
    ) -> Option<Operation> {
        let last = lines.last().map_or(known.head.as_str(), |line| &line.new);
        if last == head || known.head.is_empty() {
            return None;
        }
        let at = self.tree.moved_at(start.branch_now.as_deref())?;
        Some(Operation {
            branch: start.branch_now.clone(),
            ..guessed(OperationKind::Moved, last, head, at)
        })
    }

    /// Branches that are no more.
    fn dropped(&self, known: &Seen, now: &BTreeMap<String, String>) -> Vec<Operation> {
        let gone = known.branches.iter();
        let gone = gone.filter(|(name, _)| !now.contains_key(*name));
        gone.filter_map(|(name, commit)| {
            let at = self.tree.dropped_at(name)?;
            Some(Operation {
                branch: Some(name.clone()),
                ..guessed(OperationKind::BranchDeleted, commit, "", at)
            })
        })
        .collect()
    }

    /// Everything that is to be stored of operations that are not stored yet.
    fn deeds(
        &self,
        repository: &Repository,
        operations: Vec<Operation>,
        store: &Store,
    ) -> Result<Vec<GitDeed>> {
        let before = store.tombstones()?;
        let forgotten = before
            .before
            .iter()
            .filter(|(namespace, _)| self.project.namespace.starts_with(namespace.as_str()));
        let forgotten = forgotten.map(|(_, before)| *before).max();
        let first = forgotten.max(self.orders.since);
        let mut deeds: Vec<GitDeed> = Vec::new();
        for operation in operations {
            let is_old = first.is_some_and(|first| operation.at < first);
            if is_old || operation.kind == OperationKind::Other {
                continue;
            }
            if let Some(id) = self.new_id(&operation, &deeds, store)? {
                deeds.push(self.deed(repository, operation, id, store)?);
            }
        }
        Ok(deeds)
    }

    /// The operation's id; `None`: it is told already.
    fn new_id(
        &self,
        operation: &Operation,
        deeds: &[GitDeed],
        store: &Store,
    ) -> Result<Option<Uuid>> {
        let mut masked = operation.clone();
        masked.message = named(self.orders.redactor, &masked.message);
        let name = self.repository_name();
        for id in [operation.id(&name), masked.twin_id(&name)] {
            let told = match deeds.iter().find(|deed| deed.id == id) {
                Some(deed) => Some(deed.deed.operation.clone()),
                None => store.deed(id)?.map(|row| row.deed.operation),
            };
            match told {
                None => return Ok(Some(id)),
                Some(told) if told.is_told_as(&masked) => return Ok(None),
                Some(_) => {}
            }
        }
        Ok(None)
    }

    fn deed(
        &self,
        repository: &Repository,
        mut operation: Operation,
        id: Uuid,
        store: &Store,
    ) -> Result<GitDeed, Error> {
        let heard = match operation.kind.is_plain_work() {
            true => Heard::default(),
            false => spoken::heard(store, &self.project.path, operation.at)?,
        };
        if operation.kind == OperationKind::Reset {
            operation.mode = reset_mode(&heard.near).map(str::to_owned);
        }
        let hidden = match operation.kind {
            OperationKind::BranchDeleted => {
                let rest = repository.branches().unwrap_or_default();
                rest.into_values().collect()
            }
            _ => Vec::new(),
        };
        let effect = effect(repository, &operation, &hidden);
        let reason = match operation.kind.leaves() {
            true => why(&heard.before),
            false => None,
        };
        let paths: Vec<PathBuf> = effect.files.iter().map(|f| (&f.path).into()).collect();
        let deed = self.masked(Deed {
            operation,
            effect,
            reason,
        });
        let mut episodes = vec![(metadata(id, &deed), BTreeSet::new())];
        if let Some(reason) = &deed.reason {
            episodes[0].1.insert(reason.session.clone());
        }
        let told = context(id, &deed, &heard.before);
        episodes.extend(told.map(|episode| (episode, quoted(&heard.before))));
        if deed.operation.kind.writes_files() {
            let kept = self.kept(store)?;
            for (file, path) in deed.effect.files.iter().zip(&paths).take(BULK_MAX) {
                let blob = file.blob.as_deref();
                let content = kept
                    .as_ref()
                    .and_then(|kept| self.content(repository, kept, blob?, path));
                let episode = bulk_update(id, &deed, file, content.as_deref());
                episodes.push((episode, BTreeSet::new()));
            }
        }
        Ok(GitDeed { id, deed, episodes })
    }

    /// The project whose patterns may name files of the repository; `None`: none has any, or it is left alone
    /// for a while.
    fn kept(&self, store: &Store) -> Result<Option<Kept<'_>>, Error> {
        let place = &self.orders.place;
        let Some(project) = place.tracking.around(&self.project.path) else {
            return Ok(None);
        };
        let is_paused = store.tracked_project(&project.root)?.paused_at.is_some();
        let root = Path::new(&project.root);
        let below = Path::new(&self.project.path).strip_prefix(root);
        Ok(below.ok().filter(|_| !is_paused).map(|below| Kept {
            project,
            below: below.to_path_buf(),
            barred: Barred::of(root, place),
        }))
    }

    /// A file's content, where a pattern names it and a look at the disk would read it.
    fn content(
        &self,
        repository: &Repository,
        kept: &Kept<'_>,
        blob: &str,
        path: &Path,
    ) -> Option<String> {
        let path = kept.below.join(path);
        let pattern = kept.project.tracked.pattern(&path)?;
        if kept.barred.covers_content(&path) {
            return None;
        }
        let content = repository.file(blob, pattern.max_bytes)?;
        Some(self.orders.redactor.redact(&content).into_owned())
    }

    /// What people wrote into commits, branches and paths goes through the same filter as sessions, and is
    /// one line.
    fn masked(&self, mut deed: Deed) -> Deed {
        let mask = |text: &mut String| *text = named(self.orders.redactor, text);
        let operation = &mut deed.operation;
        mask(&mut operation.message);
        operation
            .branch
            .iter_mut()
            .chain(&mut operation.to)
            .for_each(mask);
        let commits = deed.effect.left.iter_mut().chain(&mut deed.effect.made);
        commits.for_each(|commit| mask(&mut commit.subject));
        for file in &mut deed.effect.files {
            mask(&mut file.path);
            file.previous_path.iter_mut().for_each(mask);
        }
        deed
    }

    /// What tells work trees of one project apart.
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
    barred: Barred<'a>,
}

/// A name as it is kept: masked, in one line.
fn named(redactor: &Redactor, name: &str) -> String {
    redactor.redact(&shown(name.as_bytes())).into_owned()
}

/// What a look found.
struct News {
    operations: Vec<Operation>,
    seen: Seen,
    /// The log has lines that the next run tells.
    has_more: bool,
}

/// Lines that are told at once; a rebase of more is told in parts.
const LINES_MAX: usize = OPERATIONS_MAX * 4;

/// The commit that the last of so many lines came to; what was known where there is none.
fn last(log: &Log, lines: usize, known: &str) -> String {
    match lines.checked_sub(1).map(|nth| &log.lines[nth]) {
        Some(line) => line.new.clone(),
        None if log.is_anew => String::new(),
        None => known.to_owned(),
    }
}

/// A stash lies on the commit that it was made on.
fn stashed(lines: &[LogLine], repository: &Repository) -> Vec<Operation> {
    let mut stashes = operations::stashes(lines);
    for stash in &mut stashes {
        stash.old = repository.parent(&stash.new).unwrap_or_default();
    }
    stashes
}

fn effect(repository: &Repository, operation: &Operation, hidden: &[String]) -> Effect {
    let (old, new) = (operation.old.as_str(), operation.new.as_str());
    if operation.kind == OperationKind::BranchDeleted {
        return repository.effect_of_dropping(old, hidden);
    }
    let mut effect = repository.effect(old, new, hidden);
    if operation.kind != OperationKind::Revert {
        effect.undone = None;
    }
    effect
}

fn guessed(kind: OperationKind, old: &str, new: &str, at: Time) -> Operation {
    Operation {
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
