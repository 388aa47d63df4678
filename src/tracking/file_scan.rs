//! Files of tracked projects, in two halves: looking ([`look`]), before git is asked what it did, and
//! telling ([`tell`]), after it. A look without news costs a `stat` per file and opens none. Knows the
//! order of things; refuses to know globs (`config`), disks (`host`), episodes (`track`) and rows
//! (`store`).

use super::exclusions::{Exclusions, TrackingContext};
use super::file_recorder::Teller;
use super::git_attribution::Doings;
use super::{Orders, Workers};
use crate::config::{FilePattern, Tracked, TrackedProject};
use crate::host::content::{self, Unread};
use crate::host::tree::{self, Walked, Wanted};
use crate::model::file::{Hashes, Known, Sighting, is_racy, print_of, shown};
use crate::model::namespace::namespace;
use crate::model::source::Stat;
use crate::store::{FileFailure, Project, Store, Stored, TrackedRow};
use crate::tracking::file_episodes::Words;
use anyhow::Result;
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What looking at files did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesDone {
    /// Projects that were looked at.
    pub projects: u64,
    /// Files that patterns name.
    pub seen: u64,
    /// Files that were opened.
    pub opened: u64,
    /// New files.
    pub created: u64,
    /// Files with another content.
    pub updated: u64,
    /// Files that are gone.
    pub deleted: u64,
    /// Files that are elsewhere, or are called otherwise.
    pub moved: u64,
    /// Of all these, what git did.
    pub by_git: u64,
    /// Files that are named only: too large, or no text.
    pub named: u64,
    /// Links that were not followed; pipes, sockets and devices.
    pub passed: u64,
    /// Changes that wait for room in the queue.
    pub waiting: u64,
    /// Files that could not be read: project, path, why. Never content.
    pub unread: Vec<(String, String, String)>,
    /// Projects that can't be looked at, with why.
    pub problems: Vec<(String, String)>,
    /// What that changed.
    pub stored: Stored,
}

impl FilesDone {
    /// Files of which something was told.
    pub fn changes(&self) -> u64 {
        self.created + self.updated + self.deleted + self.moved
    }
}

/// Texts that one look holds in memory; what is beyond is read again when it is told.
const HELD_BYTES_MAX: u64 = 64 << 20;

/// What a look at one project found.
pub(super) struct Look<'a> {
    pub(super) project: Project,
    pub(super) tracked: &'a Tracked,
    pub(super) row: TrackedRow,
    /// Git operations up to this one were stored before the look.
    pub(super) operations_to: i64,
    /// New or changed, by path.
    pub(super) found: Vec<FoundFile>,
    /// No longer there, by path.
    pub(super) gone: Vec<(Vec<u8>, Known)>,
    /// There, and not wanted any more.
    pub(super) unwanted: Vec<Vec<u8>>,
}

/// A file whose print is new.
pub(super) struct FoundFile {
    pub(super) sighting: Sighting,
    /// As the catalogue has it.
    pub(super) known: Option<Known>,
    /// Of its content; absent where it was not read.
    pub(super) hashes: Option<Hashes>,
    /// `None`: it is read again when it is told.
    pub(super) words: Option<Words>,
    /// What the catalogue will compare.
    pub(super) print: u64,
}

impl FoundFile {
    /// Its content is what the catalogue has; of one that is not read, size and time say so.
    pub(super) fn is_same(&self) -> bool {
        let of = |stat: &Stat| (stat.size, stat.mtime_ns);
        self.known
            .as_ref()
            .is_some_and(|known| match &known.hashes {
                Some(_) => known.hashes == self.hashes,
                None => self.hashes.is_none() && of(&known.stat) == of(&self.sighting.stat),
            })
    }
}

struct Matcher<'a> {
    tracked: &'a Tracked,
    follows_links: bool,
    barred: Exclusions<'a>,
}

impl Wanted for Matcher<'_> {
    fn file(&self, path: &Path) -> bool {
        self.tracked.pattern(path).is_some() && !self.barred.covers(path)
    }

    fn below(&self, folder: &Path) -> bool {
        self.tracked.may_keep_below(folder) && !self.barred.covers(folder)
    }

    fn is_barred(&self, path: &Path) -> bool {
        self.barred.covers(path)
    }

    fn is_left_alone(&self, folder: &Path) -> bool {
        self.barred.is_left_alone(folder)
    }

    fn starts(&self) -> Vec<PathBuf> {
        self.tracked.starts()
    }

    fn follows_links(&self) -> bool {
        self.follows_links
    }
}

/// Looks at all tracked projects that may be looked at.
///
/// # Errors
/// When the store fails.
pub(super) fn look<'a>(
    store: &mut Store,
    orders: &Orders<'a>,
    workers: &impl Workers,
    done: &mut FilesDone,
) -> Result<Vec<Look<'a>>> {
    let mut looks = Vec::new();
    for project in orders.context.tracking.projects() {
        if !orders.includes(&project.root) || project.tracked.patterns.is_empty() {
            continue;
        }
        let row = store.tracked_project(&project.root)?;
        if !project.enabled || row.paused_at.is_some() {
            continue;
        }
        if let Some(why) = orders.context.refuses_root(&project.root) {
            done.problems.push((project.root.clone(), why));
            continue;
        }
        if !Path::new(&project.root).is_dir() {
            let why = "its folder is not there".to_owned();
            done.problems.push((project.root.clone(), why));
            continue;
        }
        done.projects += 1;
        looks.push(look_at(project, row, store, orders, workers, done)?);
    }
    Ok(looks)
}

fn look_at<'a>(
    project: &'a TrackedProject,
    row: TrackedRow,
    store: &mut Store,
    orders: &Orders<'a>,
    workers: &impl Workers,
    done: &mut FilesDone,
) -> Result<Look<'a>> {
    let root = Path::new(&project.root);
    let mut prints = store.tracked_prints(row.n)?;
    let walked = walked(project, &orders.context);
    done.seen += walked.files.len() as u64;
    done.passed += walked.links + walked.specials;
    for (path, why) in &walked.problems {
        let path = shown(path.as_os_str().as_bytes());
        done.unread.push((project.root.clone(), path, why.clone()));
    }
    let mut news = Vec::new();
    for sighting in walked.files {
        let known = prints.remove(sighting.path.as_slice());
        if orders.force || known != Some(print_of(&sighting.stat)) {
            news.push(sighting);
        }
    }
    news.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let mut look = Look {
        project: Project {
            namespace: namespace(&project.root),
            path: project.root.clone(),
            host: orders.host.to_owned(),
        },
        tracked: &project.tracked,
        operations_to: store.last_operation()?,
        found: Vec::new(),
        gone: Vec::new(),
        unwanted: Vec::new(),
        row,
    };
    let room = match news.is_empty() && prints.is_empty() {
        true => u64::MAX,
        false => room(store, orders)?,
    };
    look.missing(&prints, &walked.problems, root, room, store, done)?;
    let left = room.saturating_sub(look.gone.len() as u64);
    let kept = news.len().min(usize::try_from(left).unwrap_or(usize::MAX));
    done.waiting += (news.len() - kept) as u64;
    news.truncate(kept);
    look.read(news, root, store, orders, workers, done)?;
    Ok(look)
}

/// What is on disk of what a project's patterns name.
pub(super) fn walked(project: &TrackedProject, place: &TrackingContext<'_>) -> Walked {
    let root = Path::new(&project.root);
    let matcher = Matcher {
        tracked: &project.tracked,
        follows_links: place.tracking.limits().follows_links,
        barred: Exclusions::of(root, place),
    };
    tree::walk(root, &matcher, place.jobs)
}

/// How many more episodes of files the fullest queue takes.
fn room(store: &Store, orders: &Orders<'_>) -> Result<u64> {
    let max = orders.context.tracking.limits().queue_max;
    let mut room = u64::MAX;
    for sink in orders.sinks {
        room = room.min(max.saturating_sub(store.files_waiting(*sink, max)?));
    }
    Ok(room)
}

impl Look<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.gone.is_empty() && self.unwanted.is_empty()
    }

    /// What the catalogue has and the walk didn't find: gone, not wanted any more, or out of sight.
    fn missing(
        &mut self,
        prints: &FxHashMap<Box<[u8]>, u64>,
        problems: &[(PathBuf, String)],
        root: &Path,
        room: u64,
        store: &Store,
        done: &mut FilesDone,
    ) -> Result<()> {
        let mut paths: Vec<&[u8]> = prints.keys().map(|path| &**path).collect();
        paths.sort_unstable();
        for bytes in paths {
            let path = path_of(bytes);
            let is_hidden = problems.iter().any(|(at, _)| path.starts_with(at));
            let is_gone = match fs::symlink_metadata(root.join(path)) {
                Ok(meta) => !meta.is_file(),
                Err(error) => match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => true,
                    _ => continue,
                },
            };
            match is_gone {
                _ if is_hidden => {}
                false => self.unwanted.push(bytes.to_vec()),
                true if self.gone.len() as u64 >= room => done.waiting += 1,
                true => {
                    let known = store.tracked_file(self.row.n, bytes)?;
                    self.gone.extend(known.map(|known| (bytes.to_vec(), known)));
                }
            }
        }
        Ok(())
    }

    fn read(
        &mut self,
        news: Vec<Sighting>,
        root: &Path,
        store: &mut Store,
        orders: &Orders<'_>,
        workers: &impl Workers,
        done: &mut FilesDone,
    ) -> Result<()> {
        if news.is_empty() {
            return Ok(());
        }
        let failures = Failures::of(store, self.row.n)?;
        let now_ns = content::file_system_now(orders.context.own).unwrap_or(0);
        let mut jobs = Vec::new();
        for sighting in news {
            if !orders.force && failures.rest(&sighting, orders) {
                continue;
            }
            let known = store.tracked_file(self.row.n, &sighting.path)?;
            jobs.push((sighting, known));
        }
        let reader = Reader {
            root,
            tracked: self.tracked,
            orders,
            now_ns,
            held: AtomicU64::new(0),
            opened: AtomicU64::new(0),
        };
        let read = workers.map(jobs, |(sighting, known)| reader.read(sighting, known));
        done.opened += reader.opened.into_inner();
        let (mut worse, mut better) = (Vec::new(), Vec::new());
        for outcome in read {
            match outcome {
                Ok(found) => {
                    better.extend(failures.has(&found.sighting.path));
                    self.found.push(found);
                }
                Err((sighting, why)) => {
                    let path = shown(&sighting.path);
                    done.unread
                        .push((self.project.path.clone(), path, why.clone()));
                    worse.extend(failures.noted(&sighting, why, orders));
                }
            }
        }
        Ok(store.put_failures(&self.project.path, &worse, &better)?)
    }
}

/// What could not be read before.
struct Failures(FxHashMap<Vec<u8>, FileFailure>);

impl Failures {
    fn of(store: &Store, project: i64) -> Result<Failures> {
        let all = store.file_failures(project)?.into_iter();
        Ok(Failures(all.map(|one| (one.path.clone(), one)).collect()))
    }

    /// It is too early to try again.
    fn rest(&self, sighting: &Sighting, orders: &Orders<'_>) -> bool {
        let until =
            |failure: &FileFailure| failure.at.0 + orders.context.tracking.limits().retry_ms;
        let known = self.0.get(&sighting.path);
        known.is_some_and(|failure| {
            failure.print == print_of(&sighting.stat) && until(failure) > orders.now.0
        })
    }

    fn has(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.0.get(path).map(|failure| failure.path.clone())
    }

    /// `None`: it is noted so already.
    fn noted(
        &self,
        sighting: &Sighting,
        reason: String,
        orders: &Orders<'_>,
    ) -> Option<FileFailure> {
        let print = print_of(&sighting.stat);
        let is_known = self
            .0
            .get(&sighting.path)
            .is_some_and(|known| known.print == print && known.reason == reason);
        (!is_known).then(|| FileFailure {
            path: sighting.path.clone(),
            print,
            at: orders.now,
            reason,
        })
    }
}

/// Reads files, on any thread.
pub(super) struct Reader<'a> {
    root: &'a Path,
    tracked: &'a Tracked,
    orders: &'a Orders<'a>,
    now_ns: i64,
    held: AtomicU64,
    opened: AtomicU64,
}

impl<'a> Reader<'a> {
    /// For what was seen before and is told now; holds nothing.
    pub(super) fn again(look: &'a Look<'a>, orders: &'a Orders<'a>) -> Reader<'a> {
        Reader {
            root: Path::new(&look.project.path),
            tracked: look.tracked,
            orders,
            now_ns: 0,
            held: AtomicU64::new(0),
            opened: AtomicU64::new(0),
        }
    }

    fn read(
        &self,
        sighting: Sighting,
        known: Option<Known>,
    ) -> Result<FoundFile, (Sighting, String)> {
        let bytes_max = self
            .pattern(&sighting)
            .map_or(0, |pattern| pattern.max_bytes);
        if sighting.stat.size > bytes_max {
            let print = print_of(&sighting.stat);
            return Ok(FoundFile {
                sighting,
                known,
                hashes: None,
                words: Some(Words::Named("too large")),
                print,
            });
        }
        let content = match self.content(&sighting) {
            Ok(content) => content,
            Err(unread) => return Err((sighting, why(unread))),
        };
        let is_racy = is_racy(&content.stat, self.now_ns);
        let found = FoundFile {
            print: if is_racy { 0 } else { print_of(&content.stat) },
            hashes: Some(content.hashes.clone()),
            sighting,
            known,
            words: None,
        };
        let size = content.bytes.len() as u64;
        let is_needed = self.orders.force || !found.is_same();
        let fits = || self.held.fetch_add(size, Ordering::Relaxed) + size <= HELD_BYTES_MAX;
        let words = (is_needed && fits()).then(|| self.words(&content));
        Ok(FoundFile { words, ..found })
    }

    /// What is told of a file; `None`: it has another content by now, which the next look finds.
    pub(super) fn words_of(&self, found: &FoundFile) -> Option<Words> {
        if let Some(words) = &found.words {
            return Some(words.clone());
        }
        let content = self.content(&found.sighting).ok()?;
        (Some(&content.hashes) == found.hashes.as_ref()).then(|| self.words(&content))
    }

    fn content(&self, sighting: &Sighting) -> Result<content::Content, Unread> {
        if sighting.stat.size > 0 {
            self.opened.fetch_add(1, Ordering::Relaxed);
        }
        content::read(
            self.root,
            path_of(&sighting.path),
            &sighting.stat,
            sighting.is_linked,
        )
    }

    fn words(&self, content: &content::Content) -> Words {
        match content.text() {
            Some(text) => Words::Text(self.orders.redactor.redact(text).into_owned()),
            None => Words::Named("binary"),
        }
    }

    fn pattern(&self, sighting: &Sighting) -> Option<&FilePattern> {
        pattern(self.tracked, &sighting.path)
    }
}

/// The pattern that names a file.
pub(super) fn pattern<'a>(tracked: &'a Tracked, path: &[u8]) -> Option<&'a FilePattern> {
    tracked.pattern(path_of(path))
}

/// Bytes as the file system has them.
pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn why(unread: Unread) -> String {
    match unread {
        Unread::Vanished => "it vanished".to_owned(),
        Unread::Changing => "it is being written".to_owned(),
        Unread::Unreadable(why) => why,
    }
}

/// Of `stat`, what a catalogue row keeps.
pub(super) fn known(stat: Stat, hashes: Option<Hashes>) -> Known {
    Known {
        stat,
        hashes,
        episode: None,
        operation: None,
    }
}

/// Tells what the looks found.
///
/// # Errors
/// When the store fails.
pub(super) fn tell(
    store: &mut Store,
    orders: &Orders<'_>,
    looks: Vec<Look<'_>>,
    workers: &impl Workers,
    done: &mut FilesDone,
) -> Result<()> {
    for look in looks.iter().filter(|look| !look.is_empty()) {
        // what was there before the first look is nobody's change
        let since = look.row.changed_at.map(|_| look.row.told_to);
        let doings = Doings::since(store, since, &look.project.path, orders.redactor)?;
        let teller = Teller::new(look, orders);
        let has_news = teller.tell(&doings, store, workers, done)?;
        if has_news {
            store.looked(&look.project.path, orders.now, look.operations_to)?;
        }
    }
    Ok(())
}
