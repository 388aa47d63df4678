//! One file through the stages: blocks in, commits out.
//!
//! Memory is bounded by a block, the open tail's rows and what a commit gathers. Nothing here
//! writes; the commits go to whoever asked for them.

use super::account::{Account, Settled};
use super::directives::said;
use super::ids::Ids;
use super::ties::Ties;
use crate::host::decompress::BrokenOff;
use crate::host::read::{self, Content};
use crate::memory::places::root_of;
use crate::model::batch::Batch;
use crate::model::checkpoint::{COPY, Checkpoint, FileCommit, Fingerprints, RecordIds};
use crate::model::condensing::Condensing;
use crate::model::entry::{Entry, EntryKind, Fact};
use crate::model::episode::Episode;
use crate::model::exchange::is_idle_title;
use crate::model::fork::{Course, Kin, ToldTurn};
use crate::model::ledger::{REJECTS_MAX, Reject};
use crate::model::memory::PromptDirective;
use crate::model::namespace::{namespace, project_root};
use crate::model::resume_state::ResumeState;
use crate::model::session::Session;
use crate::model::source::{Slice, SourceChange, SourceFile, Span, Stat};
use crate::model::tally::Tally;
use crate::model::time::Time;
use crate::model::tombstone::Tombstones;
use crate::pipeline::ingest_options::Rules;
use crate::pipeline::parsed_log::{ParsedLog, Scratch};
use crate::pipeline::peek::label;
use crate::pipeline::progress::Progress;
use crate::rules::markers::Markers;
use crate::stages::chunk::{ChunkState, Tail, chunk};
use crate::stages::filter::{FilterState, filter, note_begun, redact};
use crate::stages::parse::dialect::stem;
use crate::stages::score::score;
use anyhow::Result;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Text that one commit gathers before it goes out. Larger: fewer transactions; smaller: less
/// memory per worker and less to read again after a crash.
const COMMIT_BYTES: usize = 512 << 10;
/// Lines that one commit may settle, for files with little text.
const COMMIT_LINES: usize = 20_000;

/// One file to read. All of a run's are in memory at once, so it is small.
#[derive(Debug)]
pub struct FileWork {
    /// Which bytes.
    pub slice: Slice,
    /// Names that tie it to its family.
    pub ties: Ties,
    /// The session that it belongs to; `None`: it is called like its log.
    pub session: Option<Box<str>>,
    /// `None`: the session's main log.
    pub stream: Option<Box<str>>,
    /// The session's first directory, as far as known.
    pub folder: Option<Arc<Folder>>,
    /// The first time that it states.
    pub begun: Option<Time>,
    /// What else is needed to know whose records it holds; `None`: nothing.
    pub descent: Option<Box<Descent>>,
    /// How it is treated; `None`: as every file of the run.
    pub rules: Option<Arc<Rules>>,
    /// What the store has of it.
    pub before: Option<Box<Before>>,
}

/// Of a hundred thousand logs, each takes some 450 bytes until it is read, its names included.
const _: () = assert!(size_of::<FileWork>() <= 224);

impl FileWork {
    /// The session that it belongs to.
    pub fn session(&self) -> &str {
        let called = || stem(&self.slice.file.key);
        self.session.as_deref().unwrap_or_else(called)
    }

    /// Its session as it is kept.
    pub fn kept_session(session: String, key: &str) -> Option<Box<str>> {
        (session != stem(key)).then(|| session.into_boxed_str())
    }

    /// Names that tie it to its family.
    pub fn ties(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.ties.of(self.session())
    }

    /// Its session among those that it may share records with.
    pub fn kin(&self) -> Kin {
        let descent = self.descent.as_deref();
        let stated = descent.and_then(|descent| descent.forked_from.clone());
        let course = Course {
            begun: self.begun,
            turns: descent.map_or_else(Vec::new, |descent| descent.turns.clone()),
        };
        Kin::new(self.session().to_owned(), stated, course)
    }
}

/// What a log says of where its records come from.
#[derive(Debug, Default)]
pub struct Descent {
    /// The session that its head says it was forked from.
    pub forked_from: Option<String>,
    /// How it goes on.
    pub turns: Vec<ToldTurn>,
}

/// A directory that logs name.
#[derive(Debug)]
pub struct Folder {
    /// As they spell it.
    pub cwd: String,
    /// The project's root, where the disk knows better than the spelling.
    pub root: Option<String>,
}

impl Folder {
    /// The root of its project.
    pub fn project(&self) -> String {
        project_root(self.root.as_ref().unwrap_or(&self.cwd))
    }
}

/// What the store has of a file.
#[derive(Debug)]
pub struct Before {
    /// How far it is.
    pub checkpoint: Checkpoint,
    /// The folds' state there.
    pub resume_state: ResumeState,
    /// The records that it has and had.
    pub ids: RecordIds,
}

/// What reading one file amounted to.
#[derive(Clone, Debug, Default)]
pub struct FileTally {
    /// Content bytes read, checks included.
    pub read_bytes: u64,
    /// What was counted on the way.
    pub tally: Tally,
}

/// What all files of a run are folded with.
#[derive(Clone, Copy)]
pub struct FoldContext<'a> {
    /// How a file is treated whose project wants nothing else.
    pub rules: &'a Rules,
    /// What stays out of the store.
    pub tombstones: &'a Tombstones,
    /// Hears of the bytes as they are read.
    pub progress: &'a dyn Progress,
}

/// Folds `work` and hands out its commits, the last one with the open tail. `emit` says whether to
/// go on.
///
/// # Errors
/// When the file can't be read (any more). Commits handed out before are good.
pub fn fold(
    work: FileWork,
    context: FoldContext<'_>,
    ids: &mut Ids,
    scratch: &mut Scratch,
    emit: &mut dyn FnMut(FileCommit) -> bool,
) -> Result<FileTally> {
    let own = work.rules.clone();
    let rules = own.as_deref().unwrap_or(context.rules);
    let scratch_taken = std::mem::take(scratch);
    let (mut fold, mut log) = Fold::open(work, rules, context.tombstones, ids, scratch_taken)?;
    let hiding = rules.hides_paths.then(|| rules.hiding(&fold.session));
    let rules = hiding.as_ref().unwrap_or(rules);
    let stopped = log.for_each_batch(|log, batch| {
        let bytes = batch.delta.to - batch.delta.from;
        context.progress.advance(bytes);
        fold.take(batch, log, rules, ids);
        if fold.has_enough()
            && let Some(commit) = fold.commit(log, false, rules)?
            && !emit(commit)
        {
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if stopped.is_none() {
        if let Some(why) = log.reader().broken_off() {
            fold.break_off(&log, why);
        }
        if let Some(commit) = fold.commit(&log, true, rules)? {
            emit(commit);
        }
    }
    let tally = fold.tally(&log);
    *scratch = log.into_scratch();
    Ok(tally)
}

/// The state of one file's fold.
struct Fold {
    slice: Slice,
    stream: Option<String>,
    ties: Vec<String>,
    session: Session,
    generation: u32,
    /// The next commit is the first of a rebuild.
    rebuild: bool,
    /// A person said that the session stays out.
    keeps_out: bool,
    checked_bytes: u64,
    filter: FilterState,
    /// The same at the last newline, where the file goes on without one: that line is read again.
    filter_at_newline: Option<FilterState>,
    chunk: ChunkState,
    account: Account,
    /// Where the last commit's open tail began.
    committed_to: u64,
    sealed: Vec<Episode>,
    rejects: Vec<Reject>,
    said: Vec<PromptDirective>,
    gathered: usize,
    tally: Tally,
}

impl Fold {
    fn open(
        work: FileWork,
        rules: &Rules,
        tombstones: &Tombstones,
        ids: &mut Ids,
        scratch: Scratch,
    ) -> Result<(Fold, ParsedLog)> {
        let (standing, checked_bytes) = standing(&work)?;
        let id = work.session().to_owned();
        let ties = work.ties().map(Cow::into_owned).collect();
        let again = standing == FileContinuity::Again;
        let (generation, content, resume_state) =
            start(work.before.map(|before| *before), standing, ids);
        let mut slice = work.slice;
        // the bytes before the offset are other ones now
        if standing != FileContinuity::GoesOn {
            (slice.from, slice.line) = (0, 0);
        }
        let log = ParsedLog::resume(&slice, content, resume_state.context.clone(), scratch)?;
        let session = session(&slice, &id, work.folder.as_deref(), rules);
        let fold = Fold {
            filter: FilterState::resume(&resume_state),
            filter_at_newline: None,
            chunk: ChunkState::resume(&resume_state),
            account: Account::forgetting(
                forgotten_before(tombstones, &session),
                tombstones,
                last_time(&resume_state),
            ),
            committed_to: slice.from,
            stream: work.stream.map(String::from),
            ties,
            session,
            generation,
            rebuild: again,
            keeps_out: false,
            checked_bytes,
            sealed: Vec::new(),
            rejects: Vec::new(),
            said: Vec::new(),
            gathered: 0,
            tally: Tally::default(),
            slice,
        };
        Ok((fold, log))
    }

    /// One batch through the stages.
    fn take(&mut self, mut batch: Batch<Entry>, log: &ParsedLog, rules: &Rules, ids: &mut Ids) {
        if log.is_unterminated() {
            self.filter_at_newline = Some(self.filter.clone());
        }
        if !rules.subagents && self.stream.is_none() {
            let entries = batch.items.iter_mut();
            for entry in entries.filter(|e| e.context.stream.is_some()) {
                (entry.what, entry.message) = (EntryKind::Noise("sub-agent".into()), None);
            }
        }
        self.keeps_out |= leave_out_marked(&mut batch.items, &rules.markers);
        self.tally.merge(&batch.tally);
        let batch = self.account.admit(batch, ids);
        let batch = filter(batch, &rules.policy, &rules.redactor, &mut self.filter);
        let batch = redact::hide(score(batch, &rules.classifier), &rules.redactor);
        if let Some(more) = &rules.directives {
            self.said.extend(said(&batch.items, more));
        }
        let batch = chunk(batch, &rules.chunk, &mut self.chunk);
        let room = REJECTS_MAX.saturating_sub(self.rejects.len());
        self.rejects.extend(batch.rejects.into_iter().take(room));
        self.gathered += batch.items.iter().map(|e| e.text.len()).sum::<usize>();
        self.sealed.extend(batch.items);
    }

    /// A commit would be worth its transaction.
    fn has_enough(&self) -> bool {
        self.gathered >= COMMIT_BYTES || self.account.open_lines() >= COMMIT_LINES
    }

    /// What came of the bytes since the last commit; `None` before the last one where the open
    /// tail hasn't moved.
    fn commit(&mut self, log: &ParsedLog, last: bool, rules: &Rules) -> Result<Option<FileCommit>> {
        let end = log.reader().position();
        let filter = self.filter_at_newline.as_ref().unwrap_or(&self.filter);
        let mut tail = self.chunk.tail(end, log.context(), filter, &self.filter);
        if !last && tail.from == self.committed_to {
            return Ok(None);
        }
        let settled = self.account.settle(tail.from);
        let mut open = Settled::default();
        if last {
            open = self.account.finish();
            open.facts.first_prompt = self.first_prompt(&tail);
            note_begun(&mut tail.open, &self.filter, &rules.policy);
        }
        let checkpoint = self.checkpoint(log, &tail, last)?;
        let is_due = |reject: &Reject| last || reject.place.offset < tail.from;
        let rejects = self.rejects.partition_point(is_due);
        self.committed_to = tail.from;
        self.gathered = 0;
        if !last {
            // the tail is not stored yet: there is no state after it
            tail.resume_state
                .streams
                .iter_mut()
                .for_each(|s| s.end = None);
            tail.open.clear();
        }
        let mut commit = FileCommit {
            checkpoint,
            resume_state: tail.resume_state,
            made_by: rules.made_by(),
            session: self.session.clone(),
            facts: settled.facts,
            tail_facts: open.facts,
            sealed: std::mem::take(&mut self.sealed),
            open: tail.open,
            ids: settled.ids,
            tail_ids: open.ids,
            ledger: settled.ledger,
            tail_ledger: open.ledger,
            rejects: self.rejects.drain(..rejects).collect(),
            unknown: std::mem::take(&mut self.account.unknown),
            rebuild: std::mem::take(&mut self.rebuild),
            keeps_out: self.keeps_out,
            said: std::mem::take(&mut self.said),
            condensing: Condensing::of(&rules.policy),
        };
        redact::leave_out(&mut commit, &rules.policy);
        redact::commit(&mut commit, &rules.redactor);
        Ok(Some(commit))
    }

    fn checkpoint(&mut self, log: &ParsedLog, tail: &Tail, last: bool) -> Result<Checkpoint> {
        // until the last commit the file counts as not read to its end
        let (stat, read_to) = match last {
            true => (self.slice.file.stat, log.reader().position().0),
            false => (Stat::default(), tail.from),
        };
        Ok(Checkpoint {
            key: self.slice.file.key.to_string(),
            path: self.slice.file.path().to_string_lossy().into_owned(),
            agent: self.slice.file.agent,
            stat,
            generation: self.generation,
            offset: tail.from,
            line: tail.line,
            read_to,
            fingerprints: self.fingerprints(log, read_to)?,
            session: self.session.id.clone(),
            stream: self.stream.clone(),
            ties: self.ties.clone(),
        })
    }

    /// A compressed log ends before its time: what was decompressed stays, and the rest is one
    /// refused record. Nobody reads it again until the file changes.
    fn break_off(&mut self, log: &ParsedLog, why: BrokenOff) {
        let (offset, lines) = log.reader().position();
        let place = Span {
            offset,
            bytes: 0,
            line: lines + 1,
        };
        let reject = Reject {
            place,
            reason: why.as_str().into(),
        };
        self.account.break_off(&reject);
        self.rejects.push(reject);
    }

    /// The first prompt of a main log is its session's title where nobody gave another. Told anew
    /// with every open tail.
    fn first_prompt(&self, tail: &Tail) -> Option<String> {
        if self.stream.is_some() {
            return None;
        }
        let known = tail
            .resume_state
            .streams
            .iter()
            .find(|s| s.stream.is_none());
        let known = known.and_then(|s| s.chunk.title.clone());
        let open = tail.open.iter().rfind(|e| e.stream.is_none());
        let open = open
            .map(|e| e.title.clone())
            .filter(|title| !title.is_empty());
        known.filter(|title| !is_idle_title(title)).or(open)
    }

    fn fingerprints(&mut self, log: &ParsedLog, read_to: u64) -> Result<Fingerprints> {
        let head = self
            .slice
            .file
            .stat
            .size
            .max(if self.slice.file.is_packed() {
                read_to
            } else {
                0
            });
        let (mut found, bytes) = read::fingerprints(&self.slice.file, head.min(read_to), read_to)?;
        self.checked_bytes += bytes;
        let content = log.reader().content();
        (found.content, found.content_to) = (content.crc, content.to);
        Ok(found)
    }

    fn tally(&self, log: &ParsedLog) -> FileTally {
        FileTally {
            read_bytes: log.reader().read_bytes() + self.checked_bytes,
            tally: self.tally.clone(),
        }
    }
}

/// Generation, content hash and folds' state to start with; tells `ids` what counts as a copy.
fn start(
    before: Option<Before>,
    standing: FileContinuity,
    ids: &mut Ids,
) -> (u32, Content, ResumeState) {
    let Some(Before {
        checkpoint,
        resume_state,
        ids: records,
    }) = before
    else {
        ids.begin(&[], []);
        return (1, Content::default(), ResumeState::default());
    };
    match standing {
        FileContinuity::GoesOn => {
            ids.begin(&records.committed, records.older);
            let content = Content {
                crc: checkpoint.fingerprints.content,
                to: checkpoint.fingerprints.content_to,
            };
            (checkpoint.generation, content, resume_state)
        }
        FileContinuity::Afresh => {
            ids.begin(&[], records.all());
            let generation = checkpoint.generation + 1;
            (generation, Content::default(), resume_state.at_the_end())
        }
        FileContinuity::Again => {
            ids.begin(&[], []);
            (
                checkpoint.generation,
                Content::default(),
                ResumeState::default(),
            )
        }
    }
}

/// What was said earlier stays out: somebody wanted it forgotten of the session's project, under any of its
/// names.
fn forgotten_before(tombstones: &Tombstones, session: &Session) -> Option<Time> {
    if tombstones.before.is_empty() {
        return None;
    }
    let root = root_of(Some(Path::new(&session.project_path)), Path::new("/"));
    let names = [session.namespace.clone(), namespace(&root)];
    names
        .iter()
        .filter_map(|name| tombstones.before(name))
        .max()
}

/// Takes out the passages that people marked; whether one of them keeps the session out. Copied
/// records count too: who goes on with a chat that is not to be indexed has its history before him.
fn leave_out_marked(entries: &mut [Entry], markers: &Markers) -> bool {
    let mut keeps_out = false;
    for entry in entries {
        // a command's text quotes what was typed behind it; that it is kept out is said in the prompt
        let (words, is_said) = match &mut entry.what {
            EntryKind::Fact(Fact::Expanded(text)) => (Some(text), false),
            what => (what.persons_words(), true),
        };
        let Some(words) = words else { continue };
        keeps_out |= is_said && markers.keeps_out(words);
        if let Cow::Owned(left) = markers.without_passages(words) {
            *words = left;
        }
    }
    keeps_out
}

/// The last time before the records that the fold goes on with.
fn last_time(resume_state: &ResumeState) -> Option<Time> {
    let times = resume_state.streams.iter().map(|stream| stream.filter.last);
    times.max().flatten()
}

/// How a file stands to its checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileContinuity {
    /// What was read is still there.
    GoesOn,
    /// New, or other content: from the start, and what is known of it stays.
    Afresh,
    /// From the start, in place of what is stored: asked for, or every record that was read is
    /// still there and some say something else.
    Again,
}

/// What has to be done with a file, and the bytes that it took to know.
fn standing(work: &FileWork) -> Result<(FileContinuity, u64)> {
    let Some(Before { ids, .. }) = work.before.as_deref() else {
        return Ok((FileContinuity::Afresh, 0));
    };
    match work.slice.seen {
        SourceChange::Grown | SourceChange::Touched => Ok((FileContinuity::GoesOn, 0)),
        SourceChange::Again => Ok((FileContinuity::Again, 0)),
        SourceChange::New | SourceChange::Replaced => {
            let (edited, bytes) = was_edited(&work.slice.file, ids)?;
            let standing = match edited {
                true => FileContinuity::Again,
                false => FileContinuity::Afresh,
            };
            Ok((standing, bytes))
        }
    }
}

/// Every record that was read is still there, in its order and before anything new, and no earlier
/// generation had others: so the bytes that differ are in what records say. Reads as far as that is
/// so; gives the bytes that took.
fn was_edited(file: &SourceFile, known: &RecordIds) -> Result<(bool, u64)> {
    if !known.older.is_empty() || known.all().next().is_none() {
        return Ok((false, 0));
    }
    let mut log = ParsedLog::open(file)?;
    let (mut account, mut ids) = (Account::default(), Ids::default());
    let mut wanted = known.all().map(|id| id & !COPY).peekable();
    let differs = log.for_each_batch(|_, batch| {
        account.admit(batch, &mut ids);
        let now = account.settle(u64::MAX).ids.into_iter();
        let same = now
            .map(|id| id & !COPY)
            .zip(&mut wanted)
            .all(|(now, then)| now == then);
        Ok(match (same, wanted.peek()) {
            (true, Some(_)) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(!same),
        })
    })?;
    let edited = differs != Some(true) && wanted.next().is_none();
    Ok((edited, log.reader().read_bytes()))
}

fn session(slice: &Slice, id: &str, folder: Option<&Folder>, rules: &Rules) -> Session {
    let project_path = match folder {
        Some(folder) => folder.project(),
        None => label(&slice.file.key),
    };
    Session {
        id: id.to_owned(),
        agent: slice.file.agent,
        namespace: namespace(&project_path),
        project_path,
        cwd: folder.map(|folder| folder.cwd.clone()),
        branch: None,
        host: rules.host.clone(),
        file: slice.file.name().to_owned(),
        facts: Default::default(),
    }
}
