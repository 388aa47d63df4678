//! Where logs come from: agents, dialects, files as `stat` sees them, and slices of them to read.

use super::table_log::TableLog;
use super::time::Time;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The program whose log it is, by its word: one of the registry's (`agents`), or one that another
/// version wrote to the store. Of a git operation or a file: who did it, which may be a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Agent(&'static str);

/// Words that were read. They are never freed, so few are taken: what a store names are agents.
static READ: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Agent {
    /// For the agent's own folder.
    pub const fn new(word: &'static str) -> Agent {
        Agent(word)
    }

    /// The agent of a word that was stored, known or not.
    pub fn of(word: &str) -> Agent {
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let known = read.get(word).copied();
        Agent(known.unwrap_or_else(|| {
            let word = &*Box::leak(word.into());
            read.insert(word);
            word
        }))
    }

    /// Of what no log tells: a person did it.
    pub const PERSON: Agent = Agent("person");
    /// Nobody knows who did it.
    pub const UNKNOWN: Agent = Agent("unknown");

    /// The word used in tables, options and output.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// It is a program with logs.
    pub fn is_program(self) -> bool {
        ![Agent::PERSON, Agent::UNKNOWN].contains(&self)
    }
}

impl Serialize for Agent {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Agent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Agent, D::Error> {
        Ok(Agent::of(&Cow::<str>::deserialize(from)?))
    }
}

/// What `stat` says about a file; equal stats mean unchanged content (architecture § 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Bytes on disk (compressed size for `.zst`).
    pub size: u64,
    /// Modification time, nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Status change time, nanoseconds since the epoch.
    pub ctime_ns: i64,
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

impl Stat {
    /// When it was written.
    pub fn modified(&self) -> Time {
        Time(self.mtime_ns / 1_000_000)
    }
}

/// A place with logs of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// A directory, or one file.
    pub path: PathBuf,
    /// Whose logs they are.
    pub agent: Agent,
    /// Globs over the path below `path`; empty: everything that looks like a log.
    pub include: Vec<String>,
    /// Globs over the path below `path` that are left out.
    pub exclude: Vec<String>,
    /// Somebody named it: it should be there.
    pub named: bool,
}

/// A log file that exists now. `x.jsonl` and `x.jsonl.zst` are one logical file; plain wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path without `.zst`: the identity of the logical file. Shared, since there may be a
    /// hundred thousand.
    pub key: Arc<str>,
    /// Where it is, if the key doesn't spell that.
    pub odd_place: Option<Box<OddPlace>>,
    /// Whose log it is.
    pub agent: Agent,
    /// What `stat` said when the run looked.
    pub stat: Stat,
    /// The bytes on disk are a zstd frame; offsets refer to decompressed bytes.
    pub compressed: bool,
}

/// Where a log is whose key doesn't say it: its name isn't UTF-8, or it stands in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OddPlace {
    /// The file.
    pub path: PathBuf,
    /// Its tables; offsets refer to the lines that are made of them.
    pub inside: Option<TableLog>,
}

impl SourceFile {
    /// Where its bytes are.
    pub fn path(&self) -> Cow<'_, Path> {
        match &self.odd_place {
            Some(place) => Cow::Borrowed(&place.path),
            None if self.compressed => Cow::Owned(PathBuf::from(format!("{}.zst", self.key))),
            None => Cow::Borrowed(Path::new(&*self.key)),
        }
    }

    /// The file's bytes on disk are not the log's: its size says nothing about the log's length.
    pub fn is_packed(&self) -> bool {
        self.compressed || self.inside().is_some()
    }

    /// Where its lines come from, if it stands in a database.
    pub fn inside(&self) -> Option<&TableLog> {
        self.odd_place.as_ref()?.inside.as_ref()
    }

    /// The last part of its key.
    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or(&self.key)
    }
}

/// How a file differs from what the store knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceChange {
    /// The store has no checkpoint for it.
    New,
    /// Longer than the checkpoint: both fingerprints are checked at the first read; where they
    /// differ the slice is read as [`SourceChange::Replaced`].
    Grown,
    /// As long as before by another `stat`, or (de)compressed: the whole content is compared first.
    Touched,
    /// Derive it again from the start, in place of what is stored (`run --rebuild`).
    Again,
    /// Shorter than the checkpoint: a new generation, read from the start and merged by record id.
    Replaced,
}

/// The bytes of one file that a run still has to read: `[from, end of file)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The file.
    pub file: SourceFile,
    /// The first byte to read (decompressed); 0 for new and replaced files.
    pub from: u64,
    /// Lines before `from`.
    pub line: u64,
    /// Why it has to be read.
    pub seen: SourceChange,
    /// The key under which the store knows it, where it moved.
    pub was: Option<Box<str>>,
}

impl Slice {
    /// The key under which the store has the file, if it has it.
    pub fn known_as(&self) -> &str {
        self.was.as_deref().unwrap_or(&self.file.key)
    }
}

/// One record's bytes in its file.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span {
    /// Of the line's first byte, in decompressed bytes.
    pub offset: u64,
    /// Of the line, without its newline.
    pub bytes: u64,
    /// 1-based.
    pub line: u64,
}

impl Span {
    /// The first byte after the line and its newline.
    pub fn end(self) -> u64 {
        self.offset + self.bytes + 1
    }
}
