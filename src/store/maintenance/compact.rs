//! The file written anew: giving room back, so that no page of it keeps what was removed, and checksums for
//! texts that an older program stored. Knows what is still due after a crash.

use crate::store::compression::{Packed, pack};
use crate::store::error::failed;
use crate::store::pending_tasks::Task;
use crate::store::{Result, Store};
use rusqlite::config::DbConfig;
use rusqlite::params;

/// Paths, tools and the like that hung on episodes which are no more.
const UNUSED_NAMES: &str = "DELETE FROM name WHERE n NOT IN (SELECT path FROM episode_path
    UNION SELECT tool FROM episode_tool UNION SELECT model FROM episode_usage UNION SELECT made_by FROM episode
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
        self.merge_words()?;
        self.db
            .execute_batch("VACUUM;")
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

    /// Merges the full-text index into one segment: a word is looked for once, and not in each of dozens.
    pub(crate) fn merge_words(&mut self) -> Result<()> {
        self.db
            .execute_batch("INSERT INTO words (words) VALUES ('optimize');")
            .map_err(failed("merging the index"))
    }

    /// Packs texts again that have no checksum, once after an older program; a crash in between is made
    /// good by the next time. Texts stay what they are, so that nothing hangs on it.
    pub(crate) fn add_checksums(&mut self) -> Result<()> {
        let is_due = Task::Checksums.is_due(&self.db);
        if !is_due.map_err(failed("reading what is due"))? {
            return Ok(());
        }
        let triggers = DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER;
        let switch = |db: &rusqlite::Connection, on| {
            let switched = db.set_db_config(triggers, on);
            switched.map(drop).map_err(failed("adding checksums"))
        };
        switch(&self.db, false)?;
        let added = self.pack_unchecked();
        switch(&self.db, true)?;
        added
    }

    fn pack_unchecked(&mut self) -> Result<()> {
        let mut from = i64::MIN;
        loop {
            let last = self.write_transaction("adding checksums", |tx| {
                let some: Vec<(i64, Packed)> = tx
                    .prepare_cached(
                        "SELECT episode, text FROM body WHERE episode > ?1 AND text <> ''
                         ORDER BY episode LIMIT 500",
                    )?
                    .query_map([from], |row| {
                        Ok((row.get(0)?, Packed::of(row.get_ref(1)?)?))
                    })?
                    .collect::<rusqlite::Result<_>>()?;
                let last = some.last().map(|(n, _)| *n);
                for (n, packed) in some.into_iter().filter(|(_, packed)| !packed.is_checked()) {
                    // one that can't be read stays as it is: `doctor` finds it
                    if let Ok(text) = packed.text() {
                        tx.prepare_cached("UPDATE body SET text = ?2 WHERE episode = ?1")?
                            .execute(params![n, pack(text)])?;
                    }
                }
                Ok(last)
            })?;
            match last {
                Some(last) => from = last,
                None => break,
            }
        }
        let clear = Task::Checksums.clear(&self.db);
        clear.map_err(failed("adding checksums"))
    }

    /// Something was removed for good and the file was not compacted since.
    pub fn is_compaction_due(&self) -> Result<bool> {
        Task::Compact
            .is_due(&self.db)
            .map_err(failed("reading what is due"))
    }
}
