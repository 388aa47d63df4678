//! Which version of a tracked file an episode has: the one that is on the disk, or an older one.

use crate::model::time::Time;
use crate::store::error::failed;
use crate::store::{Result, Store};
use rusqlite::{OptionalExtension, Row};
use uuid::Uuid;

/// One of the versions of a tracked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// `tracked_project.n`, and the path from its root: the file.
    pub file: (i64, Vec<u8>),
    /// The episode that has the file as it was when it was last seen; `None`: it is gone, or has another
    /// name.
    pub live: Option<Uuid>,
    /// When that was told.
    pub live_at: Option<Time>,
    /// Episodes that have a version of it.
    pub versions: u64,
}

impl Store {
    /// The file whose content an episode has; `None`: it has none.
    pub fn file_version(&self, episode: Uuid) -> Result<Option<FileVersion>> {
        let read = || -> rusqlite::Result<Option<FileVersion>> {
            self.db
                .prepare_cached(
                    "SELECT t.project, t.path, f.episode,
                         (SELECT l.at FROM tracked_episode l WHERE l.episode = f.episode),
                         (SELECT count(*) FROM tracked_episode v
                          WHERE v.project = t.project AND v.path = t.path
                            AND v.operation IN ('create', 'update'))
                     FROM tracked_episode t LEFT JOIN tracked_file f
                         ON f.project = t.project AND f.path = t.path
                     WHERE t.episode = ?1 AND t.operation IN ('create', 'update')",
                )?
                .query_row([episode.as_bytes()], version)
                .optional()
        };
        read().map_err(failed("reading the versions of a file"))
    }
}

fn version(row: &Row<'_>) -> rusqlite::Result<FileVersion> {
    let live: Option<[u8; 16]> = row.get(2)?;
    Ok(FileVersion {
        file: (row.get(0)?, row.get(1)?),
        live: live.map(Uuid::from_bytes),
        live_at: row.get::<_, Option<i64>>(3)?.map(Time),
        versions: row.get(4)?,
    })
}
