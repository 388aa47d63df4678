//! What has to be done before a run may say that it is done: kept in the file, so that whoever
//! opens it after a crash does it.

use rusqlite::Connection;

/// A task, by its name in the table `due`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    /// The file has to be rewritten without free pages.
    Compact,
    /// Titles that logs tell by a record's id have to be given to the sessions that own the records.
    Titles,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Task::Compact => "compact",
            Task::Titles => "titles",
        }
    }

    /// Said in the transaction that makes it necessary.
    pub(crate) fn set(self, db: &Connection) -> rusqlite::Result<()> {
        db.prepare_cached("INSERT OR IGNORE INTO due (task) VALUES (?1)")?
            .execute([self.name()])
            .map(drop)
    }

    pub(crate) fn is_due(self, db: &Connection) -> rusqlite::Result<bool> {
        db.prepare_cached("SELECT 1 FROM due WHERE task = ?1")?
            .exists([self.name()])
    }

    /// Said when it is done.
    pub(crate) fn clear(self, db: &Connection) -> rusqlite::Result<()> {
        db.prepare_cached("DELETE FROM due WHERE task = ?1")?
            .execute([self.name()])
            .map(drop)
    }
}

/// The file has to be compacted, and titles may be other ones: said in the transaction that removes
/// something for good.
pub(crate) fn after_removal(db: &Connection) -> rusqlite::Result<()> {
    Task::Titles.set(db)?;
    Task::Compact.set(db)
}

/// The session's page is wrong until it is written again.
pub(crate) fn set_unsummarised(db: &Connection, session: i64) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO unsummarised (session) VALUES (?1)")?
        .execute([session])
        .map(drop)
}
