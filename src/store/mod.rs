//! The store: one SQLite file that is checkpoint, memory and search index at once. The only SQL.
//!
//! Reading order: `schema/migrations/0001.sql` (what there is), [`Store::open`], [`Prepared`] (what
//! workers make of a commit), [`Store::commit`] (one transaction, the only way in), then the ways out:
//! checkpoints, sessions, episodes, [`Store::search`], [`Store::status`].
//!
//! Subjects use one another in this direction only: `schema`, `search`, `ingest`; then `memory`,
//! `outbox` and `tracking`; then `maintenance` and `import`, which know all tables. What they share is in the
//! files beside them: `columns`, `compression`, `damaged_rows`, `error`, `pending_tasks`, `removal`, `tombstones`.

mod columns;
mod compression;
mod damaged_rows;
mod error;
mod foreign;
mod import;
mod ingest;
mod maintenance;
mod memory;
mod outbox;
mod pending_tasks;
mod removal;
mod schema;
mod search;
#[cfg(test)]
mod tests;
mod tombstones;
mod tracking;

pub use damaged_rows::passed_over;
#[cfg(test)]
pub(crate) use foreign::tests::execute;
pub use foreign::{ForeignDatabase, ForeignLog};
pub use import::Imported;
pub use ingest::account::FileAccount;
pub use ingest::prepare::Prepared;
pub use ingest::without_log::Project;
pub use ingest::write::Stored;
pub use maintenance::compact::Compacted;
pub use maintenance::compare::{Contents, Differences};
pub use maintenance::health::Health;
pub use maintenance::salvage::{Salvage, Salvaged};
pub use maintenance::stand_ins::Lost;
pub use maintenance::stats::{Stats, StatsRow};
pub use maintenance::status::{RejectRow, StoreStatus, UnknownRow, VersionRow};
pub use maintenance::table_reading::{
    JudgedOperation, MonthWithoutLog, WholeEpisode, WholeSession,
};
pub use maintenance::table_units::TableUnit;
pub use memory::condensed::{AskedMessage, Condensed, MessageKey, ToCondense};
pub use memory::llm_summaries::{LlmSummary, PendingSummary};
pub use memory::memories::{Curated, KeptWords, MemoryRow, MemoryState, Waiting};
pub use memory::spent::Spent;
pub use memory::summaries::{Resting, SummaryUpdate, Unsummarised};
pub use memory::workspaces::{KnownWorkspace, SessionKey};
pub use outbox::consent::Switch;
pub use outbox::deliveries::{DeadLetter, DeliveryStatus, Due};
pub use outbox::sink::SinkRow;
pub use schema::database_state::DatabaseState;
pub use schema::migrations::{APPLICATION_ID, SCHEMA_VERSION};
pub use search::candidates::{Candidates, SearchCandidate};
pub use search::embeddings::{Embedded, Nearest, ToEmbed, Unembedded};
pub use search::episode_text::EpisodeText;
pub use search::episodes::Found;
pub use search::evidence::{Evidence, Sketch, TermPosition};
pub use search::file_versions::FileVersion;
pub use search::overview::{ProjectTool, Workload};
pub use search::pattern::Term;
pub use search::query::{Hit, Keeps, Query, Whole};
pub use search::sessions::{SessionFilter, SessionRow};
pub use search::short_ids::{KEPT, TYPED};
pub use search::snippet::Snippet;
pub use search::usage::SessionUsage;
pub use search::words;
pub use tombstones::Forgotten;
pub use tracking::doers::{OperationExtent, SessionSpan, UnjudgedFile};
pub use tracking::git::{GitRow, GitUnit};
pub use tracking::tracked::{FileFailure, FileUnit, Supersede, TrackedRow};

use crate::model::error::Error;
use rusqlite::Connection;
use rustc_hash::FxHashMap;
use std::path::PathBuf;

/// What every method of the store gives: errors are of kind `Store`, or `Busy` when another
/// process holds the write lock for longer than the busy timeout.
pub type Result<T> = std::result::Result<T, Error>;

/// What the opener means to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Creates, migrates, writes. The caller holds the run's lock.
    ReadWrite,
    /// Never creates and never changes what is stored; works while a run writes. The last one to
    /// leave folds a log that a crash left into the file, where it may write.
    ReadOnly,
}

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
    /// Episodes whose words this run added to the index.
    indexed: u64,
    /// Of the data, when it was looked at last.
    version: i64,
}
