//! The unit that is stored, found and delivered, and the names by which its origin is known.

use super::activity::{ActivityTally, ExchangeTally};
use super::batch::Delta;
use super::item::Mark;
use super::tally::Tally;
use super::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use uuid::Uuid;

/// What an episode is (004-028 and architecture § 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeSource {
    /// A chunk: cut from a session.
    #[default]
    Session,
    /// A session's summary.
    SessionSummary,
    /// A project file changed.
    FilesystemWatch,
    /// A git operation.
    GitMetadata,
    /// The conversation before a git operation.
    GitContext,
    /// A file that a git operation changed.
    GitBulkUpdate,
    /// Curated text.
    Text,
    /// Curated JSON.
    Json,
    /// A message.
    Message,
}

impl EpisodeSource {
    /// All of them, in the order of the declaration.
    pub const ALL: [EpisodeSource; 9] = [
        EpisodeSource::Session,
        EpisodeSource::SessionSummary,
        EpisodeSource::FilesystemWatch,
        EpisodeSource::GitMetadata,
        EpisodeSource::GitContext,
        EpisodeSource::GitBulkUpdate,
        EpisodeSource::Text,
        EpisodeSource::Json,
        EpisodeSource::Message,
    ];

    /// The word used in tables, options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            EpisodeSource::Session => "session",
            EpisodeSource::SessionSummary => "session_summary",
            EpisodeSource::FilesystemWatch => "filesystem_watch",
            EpisodeSource::GitMetadata => "git_metadata",
            EpisodeSource::GitContext => "git_context",
            EpisodeSource::GitBulkUpdate => "git_bulk_update",
            EpisodeSource::Text => "text",
            EpisodeSource::Json => "json",
            EpisodeSource::Message => "message",
        }
    }

    /// It tells of a git operation or of a file, which somebody did.
    pub fn has_doer(self) -> bool {
        matches!(
            self,
            EpisodeSource::FilesystemWatch
                | EpisodeSource::GitMetadata
                | EpisodeSource::GitContext
                | EpisodeSource::GitBulkUpdate
        )
    }

    /// The inverse of [`EpisodeSource::as_str`].
    pub fn parse(word: &str) -> Option<EpisodeSource> {
        EpisodeSource::ALL.into_iter().find(|s| s.as_str() == word)
    }
}

/// What happened to files, or to a repository (004-014, 004-017, 004-035).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A file came.
    Create,
    /// A file changed.
    Update,
    /// A file went.
    Delete,
    /// A file went to another folder.
    Move,
    /// A file got another name.
    Rename,
    /// A git operation as a whole.
    GitMetadata,
    /// What was said before a git operation.
    GitContext,
}

impl Operation {
    /// All of them, in the order of the declaration.
    pub const ALL: [Operation; 7] = [
        Operation::Create,
        Operation::Update,
        Operation::Delete,
        Operation::Move,
        Operation::Rename,
        Operation::GitMetadata,
        Operation::GitContext,
    ];

    /// The word used in options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Delete => "delete",
            Operation::Move => "move",
            Operation::Rename => "rename",
            Operation::GitMetadata => "git_metadata",
            Operation::GitContext => "git_context",
        }
    }

    /// The inverse of [`Operation::as_str`].
    pub fn parse(word: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|o| o.as_str() == word)
    }

    /// The source that all episodes of it have; `None` for files' operations.
    pub fn source(self) -> Option<EpisodeSource> {
        match self {
            Operation::GitMetadata => Some(EpisodeSource::GitMetadata),
            Operation::GitContext => Some(EpisodeSource::GitContext),
            _ => None,
        }
    }
}

/// A chunk: an episode cut from a session. What the session knows (namespace, path, host) is not
/// repeated here; [`super::session::Session`] has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// UUIDv5 of its first record's id (and, where a record was cut, the part of it); it stays
    /// when an open episode grows.
    pub id: Uuid,
    /// What it is.
    pub source: EpisodeSource,
    /// `None`: the session's main log.
    pub stream: Option<String>,
    /// Counts from 1 within the stream; fixed when sealed.
    pub part: u32,
    /// A boundary follows: it will never change.
    pub sealed: bool,
    /// A call waits for its result; only open episodes can.
    pub pending_calls: u32,
    /// The stream's first prompt: first line, at most 80 characters.
    pub title: String,
    /// The body without frontmatter and heading.
    pub text: String,
    /// Time of its first record.
    pub valid_at: Option<Time>,
    /// Latest time in it.
    pub ended_at: Option<Time>,
    /// The bytes of its file that it was cut from: first record's first byte to last record's end.
    pub bytes: Delta,
    /// First and last line, 1-based, inclusive.
    pub lines: (u64, u64),
    /// Prompts + assistant messages of the stream up to this episode's end.
    pub message_count: u64,
    /// Minutes from the stream's first record to this episode's end: what was quiet for as long as ends an
    /// episode is taken out.
    pub duration_minutes: u64,
    /// Distinct tasks completed in the stream up to this episode's end.
    pub completed_tasks: u64,
    /// Distinct files modified in the stream up to this episode's end.
    pub files_modified: u64,
    /// Paths that its tool calls name.
    pub files: BTreeSet<String>,
    /// Its own counts, not cumulative.
    pub tally: Tally,
    /// What its work is told by, exchange by exchange, not cumulative.
    pub exchanges: Vec<ExchangeTally>,
    /// Its items, in the order of the text; empty where an older program stored it.
    pub outline: Vec<Mark>,
}

impl Episode {
    /// What its work is told by: the sum of its exchanges.
    pub fn activity(&self) -> ActivityTally {
        self.exchanges.iter().map(|exchange| &exchange.tally).sum()
    }
}
