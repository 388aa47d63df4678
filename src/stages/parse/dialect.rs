//! The plug that agents fill: how one of them spells its logs, in names of files and in lines.

use super::ParseState;
use crate::model::entry::{Context, Entry};
use crate::model::source::Span;
use crate::model::table_log::Tables;
use std::borrow::Cow;

/// How one agent spells its logs.
pub trait Dialect: Sync {
    /// Whether a file of this name is one of the agent's logs. `stem` is without `.jsonl` and `.zst`.
    fn is_log(&self, stem: &[u8]) -> bool;

    /// The tables in which its logs stand, where these are no files of their own. They lie in the root itself, and
    /// in files that end in none of ours.
    fn tables(&self) -> Option<&'static Tables> {
        None
    }

    /// What the path of a log says. Costs no look at the file.
    fn name(&self, key: &str) -> LogName;

    /// Whether most records have an id that the agent wrote.
    fn has_record_ids(&self) -> bool {
        false
    }

    /// Takes up what a store has kept of the state before a record.
    fn resume(&self, _context: &mut Context) {}

    /// Logs of equal families belong to one session, as far as their names tell.
    fn family<'k>(&self, key: &'k str) -> &'k str {
        stem(key)
    }

    /// Reads the object at the start of `bytes`; gives how many bytes it takes. Pushes at least one
    /// entry, whose `nth` need not be counted. An entry's context is the state before its record, so
    /// that reading may start again there.
    ///
    /// # Errors
    /// A reject's reason, where the object is torn or no record.
    fn value(
        &self,
        state: &mut ParseState,
        place: Span,
        bytes: &[u8],
        out: &mut Vec<Entry>,
    ) -> Result<usize, Cow<'static, str>>;
}

/// What the path of a log says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogName {
    /// The session, whatever the records say.
    pub session: Option<String>,
    /// The session where no record states one.
    pub fallback_session: Option<String>,
    /// The stream of all records; `None`: the records say.
    pub stream: Option<String>,
    /// The file repeats another log (a compaction agent's own run): nothing of it is kept.
    pub is_replay: bool,
}

/// The last part of a key, without `.jsonl`.
pub fn stem(key: &str) -> &str {
    let name = key.rsplit('/').next().unwrap_or(key);
    name.trim_end_matches(".jsonl")
}
