//! What was read of logs before: asked of the store by a run, of an engine's tables elsewhere.

use crate::model::checkpoint::{Checkpoint, RecordIds};
use crate::model::resume_state::ResumeState;
use crate::model::tombstone::Tombstones;
use crate::store::Store;
use anyhow::Result;
use std::borrow::Cow;

/// Keys of logs, each with its names.
pub type TiedLogs = Vec<(String, Vec<String>)>;

/// What was read of logs before, whoever remembers it.
pub trait LogMemory {
    /// As [`Store::checkpoint`].
    fn checkpoint(&self, key: &str) -> Result<Option<Checkpoint>>;
    /// As [`Store::record_ids`].
    fn record_ids(&self, key: &str) -> Result<RecordIds>;
    /// As [`Store::resume_state`].
    fn resume_state(&self, key: &str) -> Result<Option<ResumeState>>;
    /// The first directory of a session, where it is known.
    fn session_cwd(&self, session: &str) -> Result<Option<String>>;
    /// Files that may be of the family of these names.
    fn tied(&self, ties: &mut dyn Iterator<Item = Cow<'_, str>>) -> Result<TiedLogs>;
    /// What stays out.
    fn tombstones(&self) -> Result<Tombstones>;
}

impl LogMemory for Store {
    fn checkpoint(&self, key: &str) -> Result<Option<Checkpoint>> {
        Ok(Store::checkpoint(self, key)?)
    }

    fn record_ids(&self, key: &str) -> Result<RecordIds> {
        Ok(Store::record_ids(self, key)?)
    }

    fn resume_state(&self, key: &str) -> Result<Option<ResumeState>> {
        Ok(Store::resume_state(self, key)?)
    }

    fn session_cwd(&self, session: &str) -> Result<Option<String>> {
        Ok(self.session(session)?.and_then(|s| s.session.cwd))
    }

    fn tied(&self, ties: &mut dyn Iterator<Item = Cow<'_, str>>) -> Result<TiedLogs> {
        Ok(Store::tied(self, ties)?)
    }

    fn tombstones(&self) -> Result<Tombstones> {
        Ok(Store::tombstones(self)?)
    }
}
