//! Scans files of tracked projects ([`scan`]), before git is asked what it did, and again as far as texts had no room in memory. A scan without news costs a `stat` per file and opens none.

use super::exclusions::{Exclusions, TrackingContext};
use super::track_options::{TrackOptions, Workers};
use super::track_report::FilesReport;
use crate::config::{FilePattern, Tracked, TrackedProject};
use crate::host::content::{self, Unread};
use crate::host::tree::{self, PathFilter, Walked};
use crate::model::file::{Hashes, Known, Sighting, is_racy, path_of, print_of, shown};
use crate::model::namespace::namespace;
use crate::model::source::Stat;
use crate::store::{FileFailure, Project, Store, TrackedRow};
use crate::tracking::file_episodes::Words;
use anyhow::Result;
use rustc_hash::FxHashMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Texts that one scan holds in memory; what is beyond is read again when it is recorded.
const HELD_BYTES_MAX: u64 = 64 << 20;

/// What a scan of one project found.
pub(super) struct ProjectScan<'a> {
    pub(super) project: Project,
    pub(super) tracked: &'a Tracked,
    pub(super) row: TrackedRow,
    /// Git operations up to this one were stored before the scan.
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
    /// `None`: it is read again when it is recorded.
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
    exclusions: Exclusions<'a>,
}

impl PathFilter for Matcher<'_> {
    fn file(&self, path: &Path) -> bool {
        self.tracked.pattern(path).is_some() && !self.exclusions.covers(path)
    }

    fn below(&self, folder: &Path) -> bool {
        self.tracked.may_keep_below(folder) && !self.exclusions.covers(folder)
    }

    fn is_barred(&self, path: &Path) -> bool {
        self.exclusions.covers(path)
    }

    fn is_left_alone(&self, folder: &Path) -> bool {
        self.exclusions.is_left_alone(folder)
    }

    fn starts(&self) -> Vec<PathBuf> {
        self.tracked.starts()
    }

    fn follows_links(&self) -> bool {
        self.follows_links
    }
}

/// Scans all tracked projects that may be read.
///
/// # Errors
/// When the store fails.
pub(super) fn scan<'a>(
    store: &mut Store,
    options: &TrackOptions<'a>,
    workers: &impl Workers,
    done: &mut FilesReport,
) -> Result<Vec<ProjectScan<'a>>> {
    let mut scans = Vec::new();
    let mut scanner = Scanner {
        store,
        options,
        workers,
        done,
    };
    for project in options.context.tracking.projects() {
        if !options.includes(&project.root) || project.tracked.patterns.is_empty() {
            continue;
        }
        let row = scanner.store.tracked_project(&project.root)?;
        if !project.enabled || row.paused_at.is_some() {
            continue;
        }
        let is_there = || Path::new(&project.root).is_dir();
        let refused = options.context.refuses_root(&project.root);
        let missing = || (!is_there()).then(|| "its folder is not there".to_owned());
        if let Some(why) = refused.or_else(missing) {
            let problem = (project.root.clone(), why);
            scanner.done.problems.push(problem);
            continue;
        }
        scanner.done.projects += 1;
        scans.push(scanner.scan(project, row)?);
    }
    Ok(scans)
}

/// What scanning needs, and what it counts.
struct Scanner<'s, 'a, W> {
    store: &'s mut Store,
    options: &'s TrackOptions<'a>,
    workers: &'s W,
    done: &'s mut FilesReport,
}

impl<'a, W: Workers> Scanner<'_, 'a, W> {
    fn scan(&mut self, project: &'a TrackedProject, row: TrackedRow) -> Result<ProjectScan<'a>> {
        let mut prints = self.store.tracked_prints(row.n)?;
        let walked = walked(project, &self.options.context);
        self.done.seen += walked.files.len() as u64;
        self.done.passed += walked.links + walked.specials;
        for (path, why) in &walked.problems {
            let path = shown(path.as_os_str().as_bytes());
            let unread = (project.root.clone(), path, why.clone());
            self.done.unread.push(unread);
        }
        let mut news = Vec::new();
        for sighting in walked.files {
            let known = prints.remove(sighting.path.as_slice());
            if self.options.force || known != Some(print_of(&sighting.stat)) {
                news.push(sighting);
            }
        }
        news.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut scan = ProjectScan {
            project: Project {
                namespace: namespace(&project.root),
                path: project.root.clone(),
                host: self.options.host.to_owned(),
            },
            tracked: &project.tracked,
            operations_to: self.store.last_operation()?,
            found: Vec::new(),
            gone: Vec::new(),
            unwanted: Vec::new(),
            row,
        };
        let room = match news.is_empty() && prints.is_empty() {
            true => u64::MAX,
            false => self.room()?,
        };
        self.missing(&mut scan, &prints, &walked.problems, room)?;
        let left = room.saturating_sub(scan.gone.len() as u64);
        let kept = news.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.done.waiting += (news.len() - kept) as u64;
        news.truncate(kept);
        self.read(&mut scan, news)?;
        Ok(scan)
    }

    /// How many more episodes of files the fullest queue takes.
    fn room(&self) -> Result<u64> {
        let max = self.options.context.tracking.limits().queue_max;
        let mut room = u64::MAX;
        for sink in self.options.sinks {
            room = room.min(max.saturating_sub(self.store.files_waiting(*sink, max)?));
        }
        Ok(room)
    }

    /// What the catalogue has and the walk didn't find: gone, not wanted any more, or out of sight.
    fn missing(
        &mut self,
        scan: &mut ProjectScan<'_>,
        prints: &FxHashMap<Box<[u8]>, u64>,
        problems: &[(PathBuf, String)],
        room: u64,
    ) -> Result<()> {
        let root = PathBuf::from(&scan.project.path);
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
                false => scan.unwanted.push(bytes.to_vec()),
                true if scan.gone.len() as u64 >= room => self.done.waiting += 1,
                true => {
                    let known = self.store.tracked_file(scan.row.n, bytes)?;
                    scan.gone.extend(known.map(|known| (bytes.to_vec(), known)));
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, scan: &mut ProjectScan<'_>, news: Vec<Sighting>) -> Result<()> {
        if news.is_empty() {
            return Ok(());
        }
        let failures = ReadFailures::of(self.store, scan.row.n)?;
        let now_ns = content::file_system_now(self.options.context.own).unwrap_or(0);
        let mut jobs = Vec::new();
        for sighting in news {
            if !self.options.force && failures.rest(&sighting, self.options) {
                continue;
            }
            let known = self.store.tracked_file(scan.row.n, &sighting.path)?;
            jobs.push((sighting, known));
        }
        let root = PathBuf::from(&scan.project.path);
        let reader = Reader {
            root: &root,
            tracked: scan.tracked,
            options: self.options,
            now_ns,
            held: AtomicU64::new(0),
            opened: AtomicU64::new(0),
        };
        let read = |(sighting, known)| reader.read(sighting, known);
        let outcomes = self.workers.map(jobs, read);
        self.done.opened += reader.opened.into_inner();
        let (mut worse, mut better) = (Vec::new(), Vec::new());
        for outcome in outcomes {
            match outcome {
                Ok(found) => {
                    better.extend(failures.has(&found.sighting.path));
                    scan.found.push(found);
                }
                Err((sighting, why)) => {
                    let unread = (
                        scan.project.path.clone(),
                        shown(&sighting.path),
                        why.clone(),
                    );
                    self.done.unread.push(unread);
                    worse.extend(failures.noted(&sighting, why, self.options));
                }
            }
        }
        let root = &scan.project.path;
        Ok(self.store.put_failures(root, &worse, &better)?)
    }
}

/// What is on disk of what a project's patterns name.
pub(super) fn walked(project: &TrackedProject, context: &TrackingContext<'_>) -> Walked {
    let root = Path::new(&project.root);
    let matcher = Matcher {
        tracked: &project.tracked,
        follows_links: context.tracking.limits().follows_links,
        exclusions: Exclusions::of(root, context),
    };
    tree::walk(root, &matcher, context.jobs)
}

impl ProjectScan<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.gone.is_empty() && self.unwanted.is_empty()
    }
}

/// What could not be read before.
struct ReadFailures(FxHashMap<Vec<u8>, FileFailure>);

impl ReadFailures {
    fn of(store: &Store, project: i64) -> Result<ReadFailures> {
        let all = store.file_failures(project)?.into_iter();
        Ok(ReadFailures(
            all.map(|one| (one.path.clone(), one)).collect(),
        ))
    }

    /// It is too early to try again.
    fn rest(&self, sighting: &Sighting, options: &TrackOptions<'_>) -> bool {
        let until =
            |failure: &FileFailure| failure.at.0 + options.context.tracking.limits().retry_ms;
        let known = self.0.get(&sighting.path);
        known.is_some_and(|failure| {
            failure.print == print_of(&sighting.stat) && until(failure) > options.now.0
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
        options: &TrackOptions<'_>,
    ) -> Option<FileFailure> {
        let print = print_of(&sighting.stat);
        let is_known = self
            .0
            .get(&sighting.path)
            .is_some_and(|known| known.print == print && known.reason == reason);
        (!is_known).then(|| FileFailure {
            path: sighting.path.clone(),
            print,
            at: options.now,
            reason,
        })
    }
}

/// Reads files, on any thread.
pub(super) struct Reader<'a> {
    root: &'a Path,
    tracked: &'a Tracked,
    options: &'a TrackOptions<'a>,
    now_ns: i64,
    held: AtomicU64,
    opened: AtomicU64,
}

impl<'a> Reader<'a> {
    /// For what was seen before and is recorded now; holds nothing.
    pub(super) fn again(scan: &'a ProjectScan<'a>, options: &'a TrackOptions<'a>) -> Reader<'a> {
        Reader {
            root: Path::new(&scan.project.path),
            tracked: scan.tracked,
            options,
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
        let is_needed = self.options.force || !found.is_same();
        let fits = || self.held.fetch_add(size, Ordering::Relaxed) + size <= HELD_BYTES_MAX;
        let words = (is_needed && fits()).then(|| self.words(&content));
        Ok(FoundFile { words, ..found })
    }

    /// What is recorded of a file; `None`: it has another content by now, which the next scan finds.
    pub(super) fn words_of(&self, found: &FoundFile) -> Option<Words> {
        if let Some(words) = &found.words {
            return Some(words.clone());
        }
        let content = self.content(&found.sighting).ok()?;
        (Some(&content.hashes) == found.hashes.as_ref()).then(|| self.words(&content))
    }

    fn content(&self, sighting: &Sighting) -> Result<content::FileContent, Unread> {
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

    fn words(&self, content: &content::FileContent) -> Words {
        match content.text() {
            Some(text) => Words::Text(self.options.redactor.redact(text).into_owned()),
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
