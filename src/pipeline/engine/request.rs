//! Which files a transformation reads, one a line of its standard input: a path, or a JSON object that says more
//! (docs/engine.md). What was read of a file before is remembered by its commits' lines.

use super::line::{CommittedLine, LineStep, MovedLine, kind};
use crate::agents::registry;
use crate::host::files::{FoundFile, source_file};
use crate::model::checkpoint::{COPY, Checkpoint, LastSeen, RecordIds};
use crate::model::resume_state::ResumeState;
use crate::model::source::{Agent, OddPlace, SourceFile, Stat};
use crate::model::tombstone::Tombstones;
use crate::pipeline::steps::ingest::log_memory::{LogMemory, TiedLogs};
use anyhow::{Context, Result, bail};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// One line of standard input.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Where its bytes are now. Absent: it is gone, or unchanged, and only remembered.
    path: Option<PathBuf>,
    /// What it is called in the tables; absent: its path.
    key: Option<String>,
    /// Whose log it is; absent: what its path says.
    agent: Option<String>,
    /// The machine that wrote it; absent: what `--host` says.
    host: Option<String>,
    /// As a listing says it, where the file is a copy of something far away.
    size: Option<u64>,
    /// Nanoseconds since the epoch; goes with `size`.
    mtime_ns: Option<i64>,
    /// Its commits of earlier runs: lines that were printed then.
    #[serde(default)]
    known: Vec<Value>,
    /// Where it comes among files that are read in other calls; absent: as this call reads them.
    order: Option<u64>,
    /// Short ids of records that other files of its family own, in base64.
    #[serde(default)]
    taken: super::line::PackedIds,
}

/// All lines of standard input.
#[derive(Debug, Default)]
pub struct Requests {
    /// What is on disk, by key, and what is not understood.
    pub found: FoundFile,
    /// What is no log.
    pub others: Vec<(String, String)>,
    /// What is known of them.
    pub memory: KnownFiles,
    /// The machines that wrote them, by key, where somebody said so.
    pub hosts: FxHashMap<String, String>,
    /// Where files come among others, by key, where somebody said so.
    pub orders: FxHashMap<String, u64>,
    /// Records that files outside of this call own, by key.
    pub taken: FxHashMap<String, Vec<u64>>,
    /// What earlier runs printed of files, under the keys that these had then.
    commits: FxHashMap<String, Vec<CommittedLine>>,
    moves: Vec<MovedLine>,
}

impl Requests {
    /// Takes one line. Empty ones say nothing.
    ///
    /// # Errors
    /// When it can't be understood; a file that can't be `stat`ed is a problem, not an error.
    pub fn add(&mut self, line: &str) -> Result<()> {
        let line = line.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            return Ok(());
        }
        let request = match line.starts_with('{') {
            true => serde_json::from_str(line).context("a line of standard input")?,
            false => Request {
                path: Some(line.into()),
                ..Request::default()
            },
        };
        self.take(request)
    }

    /// What was added, ready to be read: each file once, by key.
    #[must_use]
    pub fn sorted(mut self) -> Requests {
        // of a log and its compressed copy, the plain one
        let place = |file: &SourceFile| (file.key.clone(), file.compressed);
        self.found.files.sort_by_key(place);
        self.found.files.dedup_by(|next, kept| next.key == kept.key);
        self.moves.sort_by(|a, b| a.step.cmp(&b.step));
        self.moves.dedup_by(|next, kept| next.step == kept.step);
        // what was printed before a file moved is of the file that it is now
        for moved in self
            .moves
            .iter()
            .filter(|moved| moved.was != moved.step.file)
        {
            let held = self.commits.remove(&moved.was).unwrap_or_default();
            let (before, since) = held
                .into_iter()
                .partition(|commit| commit.step.run < moved.step.run);
            let before: Vec<CommittedLine> = before;
            self.commits.insert(moved.was.clone(), since);
            let now = self.commits.entry(moved.step.file.clone()).or_default();
            now.extend(before);
        }
        for (key, commits) in std::mem::take(&mut self.commits) {
            let moves = self.moves.iter().filter(|moved| moved.step.file == key);
            if let Some(known) = KnownFile::of(commits, moves.cloned().collect()) {
                self.memory.0.insert(key, known);
            }
        }
        self
    }

    /// What an earlier task said of a file.
    fn know(&mut self, known: Value) -> Result<()> {
        let wrong = "`known` of a line of standard input";
        match known["type"].as_str() {
            Some(kind::COMMIT) => {
                let commit: CommittedLine = serde_json::from_value(known).context(wrong)?;
                let held = self.commits.entry(commit.step.file.clone());
                held.or_default().push(commit);
            }
            Some(kind::MOVED) => self
                .moves
                .push(serde_json::from_value(known).context(wrong)?),
            _ => bail!("{wrong} takes lines of the types `commit` and `moved`"),
        }
        Ok(())
    }

    fn take(&mut self, request: Request) -> Result<()> {
        request
            .known
            .into_iter()
            .try_for_each(|known| self.know(known))?;
        let plain = |key: &str| key.strip_suffix(".zst").unwrap_or(key).to_owned();
        let key = match (&request.key, &request.path) {
            (Some(key), _) => plain(key),
            (None, Some(path)) => plain(&path.to_string_lossy()),
            (None, None) => bail!("a line of standard input has neither `path` nor `key`"),
        };
        if let Some(host) = request.host {
            self.hosts.insert(key.clone(), host);
        }
        if let Some(order) = request.order {
            self.orders.insert(key.clone(), order);
        }
        if !request.taken.0.is_empty() {
            self.taken.insert(key.clone(), request.taken.0);
        }
        let Some(path) = request.path else {
            return Ok(());
        };
        let shown = request.key.as_deref().map_or(&*path, Path::new);
        let Some(agent) = agent(request.agent.as_deref(), shown)? else {
            let why = "its path doesn't say whose log it is: give `agent`, or the folder it was in";
            self.found.problems.push((path, why.into()));
            return Ok(());
        };
        let name = shown
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let name = name.strip_suffix(".zst").unwrap_or(name);
        let stem = name.strip_suffix(".jsonl");
        if !stem.is_some_and(|stem| registry::is_log(agent, stem.as_bytes())) {
            self.others.push((key, "not named like a log".into()));
            return Ok(());
        }
        match source_file(&path, agent) {
            Err(error) => {
                let reason = error.kind().to_string();
                self.found.problems.push((path, reason));
            }
            Ok(mut file) => {
                if let (Some(size), Some(mtime_ns)) = (request.size, request.mtime_ns) {
                    file.stat = Stat {
                        size,
                        mtime_ns,
                        ..Stat::default()
                    };
                }
                if request.key.is_some() {
                    let at = Box::new(OddPlace { path, inside: None });
                    (file.key, file.odd_place) = (key.into(), Some(at));
                }
                self.found.files.push(file);
            }
        }
        Ok(())
    }
}

/// Whose log it is: what was said, else whose folder a part of the path is called after.
fn agent(said: Option<&str>, path: &Path) -> Result<Option<Agent>> {
    if let Some(word) = said {
        return match registry::named(word) {
            Ok(agent) => Ok(Some(agent)),
            Err(instead) => bail!("`agent` of a line of standard input is `{word}`: {instead}"),
        };
    }
    let folders = path
        .components()
        .filter_map(|part| part.as_os_str().to_str());
    let mut folders = folders.filter_map(|name| name.strip_prefix('.'));
    Ok(folders.find_map(registry::by_word))
}

/// What earlier runs printed of a file.
#[derive(Debug)]
struct KnownFile {
    checkpoint: Checkpoint,
    resume_state: ResumeState,
    ids: RecordIds,
    cwd: Option<String>,
}

impl KnownFile {
    /// Folds its commits, in the order in which they were made.
    fn of(mut commits: Vec<CommittedLine>, mut moves: Vec<MovedLine>) -> Option<KnownFile> {
        commits.sort_by(|a, b| a.step.cmp(&b.step));
        commits.dedup_by(|next, kept| next.step == kept.step);
        let mut ids = RecordIds::default();
        let mut last: Option<(LineStep, CommittedLine)> = None;
        for commit in commits {
            let before = last.as_ref().map(|(step, _)| step);
            if commit.rebuild {
                ids = RecordIds::default();
            } else if before.is_some_and(|b| b.generation != commit.step.generation) {
                ids = set_aside(&ids);
            }
            let same_offset = before.is_some_and(|before| {
                let place = |step: &LineStep| (step.generation, step.offset);
                !commit.rebuild && place(before) == place(&commit.step)
            });
            if !same_offset {
                ids.committed.extend(&commit.ids.0);
            }
            ids.tail.clone_from(&commit.tail_ids.0);
            last = Some((commit.step.clone(), commit));
        }
        let (step, last) = last?;
        let mut checkpoint = last.checkpoint;
        moves.sort_by(|a, b| a.step.cmp(&b.step));
        // a run moves files before it reads them
        for moved in moves.into_iter().filter(|moved| moved.step.run > step.run) {
            (checkpoint.key, checkpoint.path) = (moved.step.file, moved.path);
            checkpoint.stat = moved.stat;
        }
        Some(KnownFile {
            checkpoint,
            resume_state: last.resume_state,
            ids,
            cwd: last.session.cwd,
        })
    }
}

/// What a generation held stays known, its open tail too.
fn set_aside(known: &RecordIds) -> RecordIds {
    let mut met = FxHashSet::default();
    let all = known.owned().chain(known.all());
    RecordIds {
        older: all.filter(|id| met.insert(id & !COPY)).collect(),
        ..RecordIds::default()
    }
}

/// What is known of files, by key.
#[derive(Debug, Default)]
pub struct KnownFiles(FxHashMap<String, KnownFile>);

impl KnownFiles {
    /// How the files were when they were last read.
    pub fn last_seen(&self) -> Vec<LastSeen> {
        let seen = |checkpoint: &Checkpoint| LastSeen {
            key: checkpoint.key.clone(),
            agent: checkpoint.agent,
            stat: checkpoint.stat,
            compressed: checkpoint.path.ends_with(".zst"),
            offset: checkpoint.offset,
            line: checkpoint.line,
            read_to: checkpoint.read_to,
        };
        self.0.values().map(|file| seen(&file.checkpoint)).collect()
    }
}

impl LogMemory for KnownFiles {
    fn checkpoint(&self, key: &str) -> Result<Option<Checkpoint>> {
        Ok(self.0.get(key).map(|file| file.checkpoint.clone()))
    }

    fn record_ids(&self, key: &str) -> Result<RecordIds> {
        let known = self.0.get(key);
        Ok(known.map_or_else(RecordIds::default, |file| file.ids.clone()))
    }

    fn resume_state(&self, key: &str) -> Result<Option<ResumeState>> {
        Ok(self.0.get(key).map(|file| file.resume_state.clone()))
    }

    fn session_cwd(&self, session: &str) -> Result<Option<String>> {
        let mut files = self.0.values();
        let of_session =
            |file: &&KnownFile| file.checkpoint.session == session && file.cwd.is_some();
        Ok(files.find(of_session).and_then(|file| file.cwd.clone()))
    }

    fn tied(&self, _: &mut dyn Iterator<Item = Cow<'_, str>>) -> Result<TiedLogs> {
        // whoever asks ties them himself; what isn't related falls out there
        let named =
            |(key, file): (&String, &KnownFile)| (key.clone(), file.checkpoint.ties.clone());
        let mut all: Vec<_> = self.0.iter().map(named).collect();
        all.sort();
        Ok(all)
    }

    fn tombstones(&self) -> Result<Tombstones> {
        Ok(Tombstones::default())
    }
}
