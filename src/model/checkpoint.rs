//! How far a file is in the store, and what one transaction adds to it.

use super::condensing::Condensing;
use super::episode::Episode;
use super::ledger::{Ledger, Reject, Unknown};
use super::memory::PromptDirective;
use super::resume_state::ResumeState;
use super::session::{Session, SessionFacts};
use super::source::{Agent, Stat};
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

/// How a record's id is kept in the store: xxh3 of its 16 bytes (UUIDv7 begins with the time),
/// made even. Two of a billion records share one with a probability of one in twenty.
pub fn short_id(id: Uuid) -> u64 {
    xxh3_64(id.as_bytes()) & !COPY
}

/// Set in the short id of a record that its file has a copy of: it belongs to another file, or to
/// an earlier line of this one.
pub const COPY: u64 = 1;

/// Short ids of the records of one file, each marked where it is a [`COPY`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordIds {
    /// Before the checkpoint, in file order.
    pub committed: Vec<u64>,
    /// In the open tail, in file order.
    pub tail: Vec<u64>,
    /// Of earlier generations: what they held is stored.
    pub older: Vec<u64>,
}

impl RecordIds {
    /// All of them, in file order, earlier generations last.
    pub fn all(&self) -> impl Iterator<Item = u64> {
        let ids = self.committed.iter().chain(&self.tail).chain(&self.older);
        ids.copied()
    }

    /// Those that the file doesn't merely have copies of.
    pub fn owned(&self) -> impl Iterator<Item = u64> {
        self.all().filter(|id| id & COPY == 0)
    }
}

/// What identifies a file's content at two places (formats § 7). xxh3 of up to 4 KiB each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprints {
    /// Of the first `head_bytes` bytes.
    pub head: u64,
    /// How many bytes `head` covers: 4,096, or the file's size when it was shorter.
    pub head_bytes: u64,
    /// Of the up to 4 KiB before the byte `read_to`.
    pub tail: u64,
    /// CRC-32 of everything before `content_to`: can be continued without reading that again.
    #[serde(default)]
    pub content: u32,
    /// How far `content` goes: `read_to`, but beyond it in the middle of a file's first reading.
    #[serde(default)]
    pub content_to: u64,
}

/// How far a file is in the store. Every byte before `offset` is in sealed episodes or accounted
/// for; the bytes `[offset, read_to)` are the open tail, stored too, and read again when it grows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// [`super::source::SourceFile::key`].
    pub key: String,
    /// Where it was when last seen.
    pub path: String,
    /// Whose log it is.
    pub agent: Agent,
    /// As it was when it was read.
    pub stat: Stat,
    /// Counts from 1; a replaced file starts a new one.
    pub generation: u32,
    /// Start of the open tail, decompressed bytes.
    pub offset: u64,
    /// Lines before `offset`.
    pub line: u64,
    /// End of the last complete line that was read.
    pub read_to: u64,
    /// At the head and before `read_to`.
    pub fingerprints: Fingerprints,
    /// The session that it belongs to.
    pub session: String,
    /// `None`: the session's main log.
    pub stream: Option<String>,
    /// Names that tie files to one family: `uuid:…` of the first record, `session:…`, `thread:…`.
    pub ties: Vec<String>,
}

/// How a file was when it was last read: what says whether there is news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSeen {
    /// [`super::source::SourceFile::key`].
    pub key: String,
    /// Whose log it is.
    pub agent: Agent,
    /// As it was when it was read.
    pub stat: Stat,
    /// It was compressed.
    pub compressed: bool,
    /// Start of the open tail, decompressed bytes.
    pub offset: u64,
    /// Lines before `offset`.
    pub line: u64,
    /// End of the last complete line that was read.
    pub read_to: u64,
}

/// One transaction: what came of some bytes of one file, and the checkpoint that passes them.
#[derive(Clone, Debug)]
pub struct FileCommit {
    /// Where the file stands after it.
    pub checkpoint: Checkpoint,
    /// The folds' state at `checkpoint.offset`.
    pub resume_state: ResumeState,
    /// The version of the rules and settings that made its episodes.
    pub made_by: String,
    /// The session, as far as this file knows it; merged into what is stored. A stored session
    /// without a `cwd` takes namespace, path and `cwd` from the first one that has it.
    pub session: Session,
    /// What the records before `checkpoint.offset` say, since the last commit of this file.
    pub facts: SessionFacts,
    /// What the open tail says; replaces the last commit's.
    pub tail_facts: SessionFacts,
    /// New sealed episodes.
    pub sealed: Vec<Episode>,
    /// The open ones: replace this file's open episodes.
    pub open: Vec<Episode>,
    /// Short ids of the records before `checkpoint.offset`, since the last commit of this file;
    /// each with [`COPY`] where it is one.
    pub ids: Vec<u64>,
    /// Short ids of the records in the open tail; replace the last commit's.
    pub tail_ids: Vec<u64>,
    /// Account of the lines before `checkpoint.offset`, since the last commit of this file.
    pub ledger: Ledger,
    /// Account of the open tail; replaces the last commit's.
    pub tail_ledger: Ledger,
    /// Refused records; (file, offset) is their key.
    pub rejects: Vec<Reject>,
    /// Names that nobody knew, with where each was first met.
    pub unknown: Vec<Unknown>,
    /// The first of a rebuild (`run --rebuild`): the file's account, record ids and resume state start
    /// afresh with it. Episodes that are not told again go with the commit that passes the file's
    /// end, whichever run makes it.
    pub rebuild: bool,
    /// A person said in it that the session stays out: it is forgotten with this transaction.
    pub keeps_out: bool,
    /// What its people's words ask to be remembered (D38).
    pub said: Vec<PromptDirective>,
    /// By what templates its long messages are condensed.
    pub condensing: Condensing,
}
