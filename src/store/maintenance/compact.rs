//! Giving room back, so that no page of the file keeps what was removed. Knows what is still due
//! after a crash.

use crate::store::error::failed;
use crate::store::pending_tasks::Task;
use crate::store::{Result, Store};

/// Paths, tools and the like that hung on episodes which are no more.
const UNUSED_NAMES: &str = "DELETE FROM name WHERE n NOT IN (SELECT path FROM episode_path
    UNION SELECT tool FROM episode_tool UNION SELECT made_by FROM episode
    UNION SELECT graph FROM episode)";

/// What compacting gained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes on disk before.
    pub before: u64,
    /// Bytes on disk after.
    pub after: u64,
    /// A reader was at work, so that the file still has its old pages. The next run goes on.
    pub unfinished: bool,
}

impl Store {
    /// Drops names that nothing has, merges the index into one segment, rewrites the file without free pages, cuts the
    /// write-ahead log. Needs as much free disk as the store has; seconds per GB.
    pub fn compact(&mut self) -> Result<Compacted> {
        self.writable()?;
        let before = self.bytes_on_disk();
        self.names.clear();
        self.db
            .execute(UNUSED_NAMES, [])
            .map_err(failed("compacting"))?;
        self.db
            .execute_batch("INSERT INTO words (words) VALUES ('optimize'); VACUUM;")
            .map_err(failed("compacting"))?;
        let unfinished = !self.truncate_log()?;
        if !unfinished {
            Task::Compact
                .clear(&self.db)
                .map_err(failed("compacting"))?;
            self.truncate_log()?;
        }
        let after = self.bytes_on_disk();
        Ok(Compacted {
            before,
            after,
            unfinished,
        })
    }

    /// Something was removed for good and the file was not compacted since.
    pub fn is_compaction_due(&self) -> Result<bool> {
        Task::Compact
            .is_due(&self.db)
            .map_err(failed("reading what is due"))
    }
}
