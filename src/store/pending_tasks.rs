//! What has to be done before a run may say that it is done: kept in the file, so that whoever
//! opens it after a crash does it.

use crate::model::git::AFTER_MS;
use crate::model::namespace::{namespace, project_root};
use crate::model::time::Time;
use rusqlite::{Connection, params};
use std::path::Path;

/// A task, by its name in the table `due`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    /// The file has to be rewritten without free pages.
    Compact,
    /// Titles that logs tell by a record's id have to be given to the sessions that own the records.
    Titles,
    /// Texts that an older program stored have no checksum yet.
    Checksums,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Task::Compact => "compact",
            Task::Titles => "titles",
            Task::Checksums => "checksums",
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

/// A file that is gone was so at some time since the last scan: a day is looked back.
const DELETED_MS: i64 = 24 * 3_600_000;

/// A session of this project has new words from these times: who did what then is judged again.
pub(crate) fn judge_again(
    db: &Connection,
    project_path: &str,
    (since, until): (Time, Time),
) -> rusqlite::Result<()> {
    let (since, until) = (since.0 - AFTER_MS, until.0 + AFTER_MS);
    for root in Path::new(project_path).ancestors() {
        let root = root.to_string_lossy();
        let session = format!("git-{}", namespace(&project_root(&root)));
        db.prepare_cached(
            "UPDATE git_operation SET judged = 0 WHERE judged = 1 AND at BETWEEN ?2 AND ?3
                 AND session = (SELECT n FROM session WHERE id = ?1)",
        )?
        .execute(params![session, since, until])?;
    }
    db.prepare_cached(
        "UPDATE tracked_episode SET judged = 0 WHERE judged = 1 AND at BETWEEN ?1 AND ?2",
    )?
    .execute([since, until + DELETED_MS])
    .map(drop)
}
