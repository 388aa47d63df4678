//! From what is on disk to families of files to read: walk, discover, peek, tie.
//!
//! Reads heads of new files only; writes nothing.

use super::account::Account;
use super::family::{Family, Works, families};
use super::file::{Before, Descent, FileWork, Folder};
use super::ids::Ids;
use super::log_memory::LogMemory;
use super::report::IngestReport;
use super::ties::Ties;
use super::workers::Pool;
use crate::agents::registry;
use crate::host::files::FoundFile;
use crate::host::git;
use crate::host::read::{Content, content, fingerprints};
use crate::model::checkpoint::Checkpoint;
use crate::model::fork::{Course, KIN_MAX, Kin};
use crate::model::resume_state::ResumeState;
use crate::model::source::{Slice, SourceChange, SourceFile, Stat};
use crate::model::summary::MASKED_USER;
use crate::model::time::Time;
use crate::model::tombstone::{FORGOTTEN, Tombstones};
use crate::pipeline::disk_logs::logs_on_disk;
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::ingest_options::Rules;
use crate::pipeline::parsed_log::ParsedLog;
use crate::pipeline::peek::{Peek, peek};
use crate::pipeline::sweep::UnreadLog;
use crate::stages::discover::{KnownLog, discover};
use crate::store::Store;
use anyhow::{Result, anyhow};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// What has to be read, and what was found on the way.
#[derive(Debug, Default)]
pub struct Gathered {
    /// In the order in which they are committed.
    pub families: Vec<Family>,
    /// Files that moved or were touched: (old key, file). Their content was checked.
    pub moved: Vec<(String, SourceFile)>,
    /// Bytes to read.
    pub bytes: u64,
    /// Files to read.
    pub files: u64,
    /// What stays out.
    pub tombstones: Tombstones,
}

/// Looks at the configured places. Costs a `stat` per file, and for new files a look at the head.
///
/// # Errors
/// When the store can't be read. Files that can't be read become problems of the report.
pub fn gather(
    store: Option<&Store>,
    setup: &IngestOptions<'_>,
    report: &mut IngestReport,
) -> Result<Gathered> {
    let (found, last_seen) = std::thread::scope(|scope| {
        let walk = scope.spawn(|| logs_on_disk(&setup.roots));
        let last_seen = store.map_or(Ok(Vec::new()), Store::last_seen);
        (walk.join(), last_seen)
    });
    let found = found.map_err(|_| anyhow!("internal error while looking for logs"))?;
    let known = KnownLog::new(last_seen?);
    let memory = store.map(|store| store as &dyn LogMemory);
    gather_found(found, &known, memory, &root_on_disk, setup, report)
}

/// The root of the project that a directory belongs to, where somebody knows better than its spelling.
pub type RootOf<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The same for files that were found elsewhere, by what `store` remembers of them.
///
/// # Errors
/// As [`gather`].
pub fn gather_found(
    found: FoundFile,
    known: &KnownLog,
    store: Option<&dyn LogMemory>,
    root_of: &RootOf<'_>,
    setup: &IngestOptions<'_>,
    report: &mut IngestReport,
) -> Result<Gathered> {
    report.files_found = found.files.len() as u64;
    report.roots_missing = found.missing;
    if found.links > 0 {
        report.left_out.insert("symbolic link".into(), found.links);
    }
    for (path, reason) in found.problems {
        report.problem(path.to_string_lossy(), reason);
    }
    let discovered = discover(&found.files, known, &setup.discover, &registry::family);
    report.files_unchanged = discovered.unchanged;
    (report.files_outside, report.bytes_outside) = discovered.outside_sizes();
    report.unread = discovered.outside.iter().map(UnreadLog::of).collect();
    drop(found.files);
    report.files_vanished = discovered.vanished.len() as u64;
    let mut gathered = Gathered::default();
    if discovered.slices.is_empty() {
        return Ok(gathered);
    }
    let known = checkpoints(&discovered.slices, known, store)?;
    gathered.tombstones = store.map_or(Ok(Tombstones::default()), LogMemory::tombstones)?;
    let context = GatherContext {
        store,
        known: &known,
        setup,
    };
    let mut works = Works::new();
    let mut folders = Folders::of_roots(root_of);
    let mut slices = discovered.slices.into_iter();
    let pool = Pool::start(setup.jobs, slices.len())?;
    while slices.len() > 0 {
        let some = slices.by_ref().take(LOOKS).collect();
        for outcome in pool.each(some, |slice| look_safely(slice, &known)) {
            match outcome {
                Err((path, error)) => report.problem(path, format!("{:#}", error.root_cause())),
                Ok(looked) => {
                    report.bytes_read += looked.read_bytes;
                    let work = admit(looked, &context, &mut gathered, &mut folders, report)?;
                    works.extend(work.map(Box::new));
                }
            }
        }
    }
    drop((slices, pool));
    tell_forks(&mut works, report);
    gathered.files = works.len() as u64;
    gathered.bytes = works
        .iter()
        .map(|w| w.slice.file.stat.size.saturating_sub(w.slice.from))
        .sum();
    gathered.families = with_relatives(works, &gathered.tombstones, store)?;
    Ok(gathered)
}

/// The families of these files, with the records that the store has of their relatives.
fn with_relatives(
    works: Works,
    tombstones: &Tombstones,
    store: Option<&dyn LogMemory>,
) -> Result<Vec<Family>> {
    let mut also = match store {
        Some(store) => store.tied(&mut works.iter().flat_map(|work| work.ties()))?,
        None => Vec::new(),
    };
    if !also.is_empty() {
        let reading: FxHashSet<&str> = works.iter().map(|w| w.slice.known_as()).collect();
        also.retain(|(key, _)| !reading.contains(&**key));
    }
    let mut all = families(works, &also, tombstones);
    for others in all.iter_mut().filter_map(|family| family.others.as_mut()) {
        for (key, store) in others.keys.iter().filter_map(|key| Some((key, store?))) {
            others.ids.extend(store.record_ids(key)?.owned());
        }
    }
    Ok(all)
}

/// The checkpoints of the files to read, by key.
type Checkpoints = FxHashMap<String, Checkpoint>;

fn checkpoints(
    slices: &[Slice],
    known: &KnownLog,
    store: Option<&dyn LogMemory>,
) -> Result<Checkpoints> {
    let keys = slices.iter().map(Slice::known_as);
    let keys = keys.filter(|key| known.get(key).is_some());
    let mut checkpoints = Checkpoints::default();
    for (key, store) in keys.filter_map(|key| Some((key, store?))) {
        let checkpoint = store.checkpoint(key)?;
        checkpoints.extend(checkpoint.map(|checkpoint| (key.to_owned(), checkpoint)));
    }
    Ok(checkpoints)
}

/// A slice with what its head says, where the store doesn't know it.
struct Looked {
    slice: Slice,
    peek: Option<Peek>,
    /// Only its stat differs from what the store knows.
    same: bool,
    read_bytes: u64,
}

/// Looks that wait to be judged. More: memory; fewer: workers that wait.
const LOOKS: usize = 1_024;

/// [`look`], where one file's panic is one file's failure.
fn look_safely(slice: Slice, known: &Checkpoints) -> Result<Looked, (String, anyhow::Error)> {
    let name = slice.file.key.clone();
    catch_unwind(AssertUnwindSafe(|| look(slice, known))).unwrap_or_else(|_| {
        let reason = anyhow!("internal error while reading it");
        Err((name.to_string(), reason))
    })
}

/// Folders that logs name, each once: many logs name few.
struct Folders<'a> {
    root_of: &'a RootOf<'a>,
    known: FxHashMap<String, Arc<Folder>>,
}

impl<'a> Folders<'a> {
    fn of_roots(root_of: &'a RootOf<'a>) -> Folders<'a> {
        let known = FxHashMap::default();
        Folders { root_of, known }
    }

    /// Asks for the root of each folder once.
    fn of(&mut self, cwd: Option<String>) -> Option<Arc<Folder>> {
        let cwd = cwd?;
        if let Some(known) = self.known.get(&cwd) {
            return Some(known.clone());
        }
        let root = (self.root_of)(&cwd);
        let new = Arc::new(Folder {
            cwd: cwd.clone(),
            root,
        });
        self.known.insert(cwd, new.clone());
        Some(new)
    }
}

/// Runs in a worker: the only reading that gathering does.
fn look(mut slice: Slice, known: &Checkpoints) -> Result<Looked, (String, anyhow::Error)> {
    let named = |e| (slice.file.key.to_string(), e);
    let old = known.get(slice.known_as());
    let (goes_on, mut read_bytes) = match old {
        Some(old) => goes_on(&slice, old).map_err(named)?,
        None => (false, 0),
    };
    let same = goes_on && old.is_some_and(|old| is_as_it_was(&slice, old));
    // a log that was empty, or replaced, may have got the record that it begins with since
    let head_is_known = old.is_some_and(|old| old.read_to > 0 && old.generation == 1);
    if same || goes_on && head_is_known {
        return Ok(Looked {
            slice,
            peek: None,
            same,
            read_bytes,
        });
    }
    let peek = peek(&slice.file).map_err(named)?;
    read_bytes += peek.read_bytes;
    if goes_on {
        return Ok(Looked {
            slice,
            peek: Some(peek),
            same,
            read_bytes,
        });
    }
    let moved = slice.was.is_some();
    // moved and changed: a new generation of the same log, unless it is another one's
    let old = old.filter(|old| !moved || is_same_log(old, &peek));
    slice.seen = match old {
        Some(_) => SourceChange::Replaced,
        None => SourceChange::New,
    };
    slice.was = slice.was.filter(|_| old.is_some());
    (slice.from, slice.line) = (0, 0);
    Ok(Looked {
        slice,
        peek: Some(peek),
        same: false,
        read_bytes,
    })
}

/// A sub-agent's log is called after its stream: renamed, it is known by its first record.
fn is_same_log(old: &Checkpoint, now: &Peek) -> bool {
    let begins_alike = || {
        let mut first = now.ties.iter().filter(|tie| tie.starts_with("uuid:"));
        first.any(|tie| old.ties.contains(tie))
    };
    let streams = old.stream.is_some() && now.stream.is_some();
    old.session == now.session && (old.stream == now.stream || streams && begins_alike())
}

/// The file still begins with what was read of it, and how many bytes it took to know.
fn goes_on(slice: &Slice, old: &Checkpoint) -> Result<(bool, u64)> {
    let (file, known) = (&slice.file, old.fingerprints);
    match slice.seen {
        SourceChange::New | SourceChange::Replaced => Ok((false, 0)),
        SourceChange::Touched => {
            let (now, bytes) = content(file, known.content_to)?;
            let (crc, to) = (known.content, known.content_to);
            Ok((now == Content { crc, to }, bytes))
        }
        SourceChange::Again if file.stat == old.stat => Ok((true, 0)),
        SourceChange::Grown | SourceChange::Again => {
            let (now, bytes) = fingerprints(file, known.head_bytes, old.read_to)?;
            Ok(((now.head, now.tail) == (known.head, known.tail), bytes))
        }
    }
}

/// A log that goes on holds nothing that was not read, and isn't to be derived again.
fn is_as_it_was(slice: &Slice, old: &Checkpoint) -> bool {
    let size = slice.file.stat.size;
    let whole = !slice.file.is_packed() && size == old.stat.size && size == old.read_to;
    whole && slice.was.is_none() && slice.seen != SourceChange::Again
}

/// What a file is judged by.
struct GatherContext<'a> {
    store: Option<&'a dyn LogMemory>,
    known: &'a Checkpoints,
    setup: &'a IngestOptions<'a>,
}

/// A file to read, or `None` where it is left out on purpose.
fn admit(
    looked: Looked,
    context: &GatherContext<'_>,
    gathered: &mut Gathered,
    folders: &mut Folders<'_>,
    report: &mut IngestReport,
) -> Result<Option<FileWork>> {
    let (mut slice, setup) = (looked.slice, context.setup);
    if looked.same {
        let key = slice.file.key.to_string();
        gathered.moved.push((key, slice.file));
        report.files_unchanged += 1;
        return Ok(None);
    }
    let key = slice.known_as();
    let (checkpoint, store) = match (context.known.get(key), context.store) {
        (Some(checkpoint), Some(store)) if slice.seen != SourceChange::New => (checkpoint, store),
        _ => {
            let peek = looked.peek.unwrap_or_default();
            return Ok(new_work(slice, peek, setup, folders, report));
        }
    };
    let Some(mut head) = head(&slice, checkpoint, store, report)? else {
        return Ok(None);
    };
    add_ties(&mut head.ties, looked.peek);
    let folder = folders.of(head.cwd.take());
    let rules = match admitted(folder.as_deref(), head.stream.is_some(), &slice, setup) {
        Ok(rules) => rules,
        Err(reason) => {
            report.refuse(&slice.file.key, reason);
            return Ok(None);
        }
    };
    let (ids, resume_state) = (store.record_ids(key)?, resume_state(&slice, store)?);
    match not_again(checkpoint, &gathered.tombstones) {
        Some(reason) if slice.seen == SourceChange::Again => {
            report.leave_out(reason.into());
            return Ok(None);
        }
        // what the store can't read any more its log tells again
        None if resume_state.is_none() => slice.seen = SourceChange::Again,
        _ => {}
    }
    // only what was admitted: a log that is left out stays where the store has it
    if let Some(was) = &slice.was
        && follow(was, &slice, checkpoint, gathered, report)
    {
        return Ok(None);
    }
    let checkpoint = Checkpoint {
        key: slice.file.key.to_string(),
        ..checkpoint.clone()
    };
    Ok(Some(FileWork {
        ties: Ties::new(&head.ties, &head.session),
        session: FileWork::kept_session(head.session, &slice.file.key),
        stream: head.stream.map(String::into_boxed_str),
        folder,
        begun: None,
        descent: None,
        rules,
        before: Some(Box::new(Before {
            checkpoint,
            resume_state: resume_state.unwrap_or_default(),
            ids,
        })),
        slice,
    }))
}

/// Where the folds of a log go on; `None`: that can't be read. Who begins anew needs none: those of all logs at
/// once would be most of a rebuild's memory.
fn resume_state(slice: &Slice, store: &dyn LogMemory) -> Result<Option<ResumeState>> {
    match slice.seen {
        SourceChange::Again => Ok(Some(ResumeState::default())),
        _ => store.resume_state(slice.known_as()),
    }
}

/// A log that was too short to tell may say by now whose relative it is.
fn add_ties(ties: &mut Vec<String>, peek: Option<Peek>) {
    for tie in peek.into_iter().flat_map(|peek| peek.ties) {
        if !ties.contains(&tie) {
            ties.push(tie);
        }
    }
}

/// A log that moved keeps what is known of it; `true`: there is nothing more to read.
fn follow(
    was: &str,
    slice: &Slice,
    checkpoint: &Checkpoint,
    gathered: &mut Gathered,
    report: &mut IngestReport,
) -> bool {
    let as_long = slice.file.stat.size == checkpoint.stat.size;
    let same = slice.seen == SourceChange::Grown && !slice.file.is_packed() && as_long;
    let mut file = slice.file.clone();
    if !same {
        // until it is read, the store must not take it for read
        file.stat = Stat::default();
    }
    gathered.moved.push((was.to_owned(), file));
    report.files_moved += 1;
    same
}

/// What the store knows of a log's head; another look where the log was too short to tell, or where
/// earlier versions masked whose home it was. `None` is a problem of the report: a log that can't be looked
/// at now is read by the next run, since what it would have told decides whose it is.
fn head(
    slice: &Slice,
    checkpoint: &Checkpoint,
    store: &dyn LogMemory,
    report: &mut IngestReport,
) -> Result<Option<Peek>> {
    let cwd = store.session_cwd(&checkpoint.session)?;
    let has_ids = registry::dialect(slice.file.agent).has_record_ids();
    let head_is_known = !has_ids || checkpoint.ties.iter().any(|t| t.starts_with("uuid:"));
    let is_masked = cwd.as_ref().is_some_and(|cwd| cwd.contains(MASKED_USER));
    if cwd.is_none() || is_masked || !head_is_known {
        return Ok(match peek(&slice.file) {
            Ok(peek) => {
                report.bytes_read += peek.read_bytes;
                Some(peek)
            }
            Err(error) => {
                let path = slice.file.key.to_string();
                report.problem(path, format!("{:#}", error.root_cause()));
                None
            }
        });
    }
    Ok(Some(Peek {
        session: checkpoint.session.clone(),
        stream: checkpoint.stream.clone(),
        cwd,
        ties: checkpoint.ties.clone(),
        ..Peek::default()
    }))
}

/// Why a log that is to be told again from its start can't be.
fn not_again(checkpoint: &Checkpoint, tombstones: &Tombstones) -> Option<&'static str> {
    // Its records would have no owner for a while, and a fork could tell them.
    if tombstones.holds(&checkpoint.session) {
        return Some(FORGOTTEN);
    }
    // What its first generation gave is nowhere else.
    (checkpoint.generation > 1).then_some("replaced log")
}

fn new_work(
    slice: Slice,
    peek: Peek,
    setup: &IngestOptions<'_>,
    folders: &mut Folders<'_>,
    report: &mut IngestReport,
) -> Option<FileWork> {
    let folder = folders.of(peek.cwd);
    let is_stream = peek.stream.is_some();
    let rules = match admitted(folder.as_deref(), is_stream, &slice, setup) {
        Ok(rules) => rules,
        Err(reason) => {
            report.refuse(&slice.file.key, reason);
            return None;
        }
    };
    let descent = peek.forked_from.map(|other| Descent {
        forked_from: Some(other),
        ..Descent::default()
    });
    Some(FileWork {
        ties: Ties::new(&peek.ties, &peek.session),
        session: FileWork::kept_session(peek.session, &slice.file.key),
        stream: peek.stream.map(String::into_boxed_str),
        folder,
        begun: peek.first,
        descent: descent.map(Box::new),
        rules,
        before: None,
        slice,
    })
}

/// Only the disk knows git worktrees that lie beside their repository.
fn root_on_disk(cwd: &str) -> Option<String> {
    let root = git::worktree_main(Path::new(cwd))?;
    Some(root.to_string_lossy().into_owned())
}

/// How a log is treated where its project wants less than the user, or why it is not read.
fn admitted(
    folder: Option<&Folder>,
    is_stream: bool,
    slice: &Slice,
    setup: &IngestOptions<'_>,
) -> Result<Option<Arc<Rules>>, String> {
    let cwd = folder.map(|folder| &*folder.cwd);
    let project = folder.map(Folder::project);
    let narrowed = (setup.admit)(project.as_deref(), cwd, &slice.file.key)?;
    let old = |since: Time| slice.file.stat.mtime_ns / 1_000_000 < since.0;
    let is_new = slice.seen == SourceChange::New && !setup.discover.is_due(&slice.file.key);
    if is_new && narrowed.as_ref().and_then(|n| n.since).is_some_and(old) {
        return Err("older than its project keeps".into());
    }
    let rules = narrowed.map(|project| Arc::new(setup.rules.narrowed(&project)));
    let keeps_subagents = rules.as_deref().unwrap_or(&setup.rules).subagents;
    if is_stream && !keeps_subagents {
        return Err("sub-agent".into());
    }
    Ok(rules)
}

/// New logs that begin with the same record are forks of one another. Where their heads don't say
/// whose history it is, how they go on does: they are read twice; there are few.
fn tell_forks(works: &mut [Box<FileWork>], report: &mut IngestReport) {
    let first_record = |n: &usize| works[*n].ties.first_record();
    let is_new_main = |n: &usize| works[*n].before.is_none() && works[*n].stream.is_none();
    let new = (0..works.len()).filter(|n| is_new_main(n) && first_record(n).is_some());
    let mut new: Vec<usize> = new.collect();
    new.sort_by_key(first_record);
    let alike = new.chunk_by(|a, b| first_record(a) == first_record(b));
    let few = alike.filter(|members| (2..=KIN_MAX).contains(&members.len()));
    for members in few.map(<[usize]>::to_vec).collect::<Vec<_>>() {
        let kin: Vec<Kin> = members.iter().map(|n| works[*n].kin()).collect();
        for (n, one) in members.iter().zip(&kin) {
            let unmarked = |other: &&Kin| one.is_unmarked(other);
            if kin.iter().filter(unmarked).count() > 1 {
                report.bytes_read += works[*n].slice.file.stat.size;
                let course = course(&works[*n].slice.file);
                works[*n].begun = course.begun;
                works[*n].descent.get_or_insert_default().turns = course.turns;
            }
        }
    }
}

/// How a log goes on; what can't be read says nothing.
fn course(file: &SourceFile) -> Course {
    let (mut account, mut ids) = (Account::default(), Ids::default());
    let mut course = Course::default();
    let Ok(mut log) = ParsedLog::open(file) else {
        return course;
    };
    // damage further on takes nothing from what was read before it
    let _ = log.for_each_batch(|_, batch| {
        account.admit(batch, &mut ids);
        course.merge(&account.settle(u64::MAX).facts.course);
        Ok(ControlFlow::<()>::Continue(()))
    });
    course
}
