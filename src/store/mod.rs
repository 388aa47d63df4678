//! The store: one SQLite file that is checkpoint, memory and search index at once. The only SQL.
//!
//! Knows tables, transactions and the full-text index; refuses to know what the episodes say,
//! who asks for them, and where the file should lie. Reading order: `migrations/0001.sql` (what
//! there is), [`Store::open`], [`Prepared`] (what workers make of a commit), [`Store::commit`]
//! (one transaction, the only way in), then the ways out: checkpoints, sessions, episodes,
//! [`Store::search`], [`Store::status`].

mod account;
mod activity;
mod apart;
mod candidates;
mod commit;
mod compact;
mod consent;
mod due;
mod dump;
mod embeddings;
mod enrichment;
mod episodes;
mod evidence;
mod fault;
mod files;
mod fold;
mod forget;
mod git;
mod health;
mod leave;
mod memories;
mod network;
mod open;
mod outbox;
mod outline;
mod pack;
mod pattern;
mod prepare;
mod records;
mod redact;
mod salvage;
mod search;
mod sessions;
mod sink;
mod snippet;
mod standing;
mod stats;
mod status;
mod summaries;
mod telling;
#[cfg(test)]
mod tests;
mod tracked;
pub mod words;
mod workspaces;
mod write;

pub use account::FileAccount;
pub use apart::{KEPT, TYPED};
pub use candidates::{Candidate, Candidates};
pub use commit::Stored;
pub use compact::Compacted;
pub use consent::Switch;
pub use embeddings::{Embedded, Nearest, ToEmbed, Unembedded};
pub use episodes::Found;
pub use evidence::{Evidence, Place, Sketch};
pub use forget::Forgotten;
pub use git::{GitRow, GitUnit};
pub use health::Health;
pub use memories::{Curated, KeptWords, MemoryRow, MemoryState, Project, Waiting};
pub use open::{APPLICATION_ID, Access, SCHEMA_VERSION};
pub use outbox::{DeadLetter, Due, SinkStanding};
pub use prepare::Prepared;
pub use salvage::{Salvage, Salvaged};
pub use search::{Hit, Keeps, Query, Term, Whole};
pub use sessions::{SessionFilter, SessionRow};
pub use sink::SinkRow;
pub use snippet::Snippet;
pub use standing::Standing;
pub use stats::{Stats, StatsRow};
pub use status::{RejectRow, Status, UnknownRow, VersionRow};
pub use summaries::{Page, Resting, Unsummarised};
pub use telling::{Spent, Telling, Untold};
pub use tracked::{FileFailure, FileUnit, Supersede, TrackedRow};
pub use workspaces::SessionKey;

use crate::model::error::Error;
use rusqlite::Connection;
use rustc_hash::FxHashMap;
use std::path::PathBuf;

/// What every method of the store gives: errors are of kind `Store`, or `Busy` when another
/// process holds the write lock for longer than the busy timeout.
pub type Result<T> = std::result::Result<T, Error>;

/// An open store. One thread at a time; readers in other processes open their own.
#[derive(Debug)]
pub struct Store {
    db: Connection,
    path: PathBuf,
    access: Access,
    /// `name.n` by text, of names met since opening.
    names: FxHashMap<String, i64>,
    /// Something was written since opening or the last [`Store::finish`].
    dirty: bool,
}
