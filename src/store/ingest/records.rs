//! Short ids of records, packed: 8 bytes each, little-endian, in blocks per file; odd ones are
//! copies. Knows which files hold which records.

use crate::model::checkpoint::{COPY, Checkpoint, RecordIds};
use crate::store::columns::{packed_ids, unpacked_ids};
use crate::store::error::failed;
use crate::store::ingest::files::Move;
use crate::store::pending_tasks::Task;
use crate::store::{Prepared, Result, Store};
use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashSet;

/// A block is added to until it has this many bytes. Larger: more is rewritten for each line
/// that is appended to a log; smaller: more rows.
const BLOCK_BYTES_MAX: usize = 2_048;

/// The block that holds the open tail.
const TAIL: i64 = 0;

/// The block that holds what earlier generations had.
const OLDER: i64 = -1;

impl Store {
    /// Short ids of a file's records. Empty for unknown keys. One lookup, then as fast as memory.
    pub fn record_ids(&self, key: &str) -> Result<RecordIds> {
        let read = || -> rusqlite::Result<RecordIds> {
            let file: Option<i64> = self
                .db
                .prepare_cached("SELECT n FROM file WHERE key = ?1")?
                .query_row([key], |row| row.get(0))
                .optional()?;
            file.map_or(Ok(RecordIds::default()), |file| of(&self.db, file))
        };
        read().map_err(failed("reading record ids"))
    }

    /// Keys of the other files of a log's family that own one of these records, in order. Costs
    /// reading their record ids.
    pub fn holders(&self, log: &Checkpoint, ids: &[u64]) -> Result<Vec<String>> {
        let mut holders = Vec::new();
        for (key, _) in self.tied(&log.ties)? {
            let holds = self.record_ids(&key)?.all().any(|id| ids.contains(&id));
            if holds && key != log.key {
                holders.push(key);
            }
        }
        Ok(holders)
    }
}

/// Of all files of a session, marked as [`RecordIds`] are.
pub(crate) fn of_session(db: &Connection, session: i64) -> rusqlite::Result<Vec<u64>> {
    let mut select = db.prepare_cached(
        "SELECT ids FROM record JOIN file ON file.n = record.file WHERE file.session = ?1",
    )?;
    let mut rows = select.query([session])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.extend(unpacked_ids(row.get_ref(0)?.as_blob()?));
    }
    Ok(ids)
}

fn of(db: &Connection, file: i64) -> rusqlite::Result<RecordIds> {
    let mut select =
        db.prepare_cached("SELECT block, ids FROM record WHERE file = ?1 ORDER BY block")?;
    let mut rows = select.query([file])?;
    let mut found = RecordIds::default();
    while let Some(row) = rows.next()? {
        let ids = unpacked_ids(row.get_ref(1)?.as_blob()?);
        match row.get::<_, i64>(0)? {
            OLDER => found.older.extend(ids),
            TAIL => found.tail.extend(ids),
            _ => found.committed.extend(ids),
        }
    }
    Ok(found)
}

/// Appends the commit's ids and replaces the tail's.
pub(crate) fn write(
    db: &Connection,
    file: i64,
    commit: &Prepared,
    moved: Move,
) -> rusqlite::Result<()> {
    if moved == Move::Renewed {
        set_aside(db, file)?;
    }
    if moved != Move::Tail {
        append(db, file, &commit.ids)?;
    }
    if commit.tail_ids.is_empty() {
        db.prepare_cached("DELETE FROM record WHERE file = ?1 AND block = ?2")?
            .execute([file, TAIL])?;
    } else {
        put(db, file, TAIL, &commit.tail_ids)?;
    }
    Ok(())
}

/// Whether a commit brings records that logs tell titles for. Costs reading the ids of all such
/// records, unless titles are due anyway. Asked before the commit is written.
pub(crate) fn are_titled(
    db: &Connection,
    file: i64,
    commit: &Prepared,
    moved: Move,
) -> rusqlite::Result<bool> {
    if Task::Titles.is_due(db)? {
        return Ok(false);
    }
    let leaves: Vec<i64> = db
        .prepare_cached("SELECT leaf FROM summary")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if leaves.is_empty() {
        return Ok(false);
    }
    let tail: Option<Vec<u8>> = db
        .prepare_cached("SELECT ids FROM record WHERE file = ?1 AND block = ?2")?
        .query_row([file, TAIL], |row| row.get(0))
        .optional()?;
    let known: FxHashSet<u64> = unpacked_ids(&tail.unwrap_or_default()).collect();
    let sealed = (moved != Move::Tail).then_some(&commit.ids);
    let brought = sealed.into_iter().chain([&commit.tail_ids]);
    let new: FxHashSet<u64> = brought
        .flat_map(|ids| unpacked_ids(ids))
        .filter(|id| !known.contains(id))
        .collect();
    Ok(leaves.iter().any(|leaf| new.contains(&(*leaf as u64))))
}

/// What a generation held stays known, its open tail too: each record once.
fn set_aside(db: &Connection, file: i64) -> rusqlite::Result<()> {
    let known = of(db, file)?;
    let owned = known.owned().chain(known.all());
    let mut met = FxHashSet::default();
    let ids: Vec<u64> = owned.filter(|id| met.insert(id & !COPY)).collect();
    db.prepare_cached("DELETE FROM record WHERE file = ?1")?
        .execute([file])?;
    put(db, file, OLDER, &packed_ids(&ids))
}

fn append(db: &Connection, file: i64, ids: &[u8]) -> rusqlite::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let last: Option<(i64, Vec<u8>)> = db
        .prepare_cached(
            "SELECT block, ids FROM record WHERE file = ?1 AND block > 0
             ORDER BY block DESC LIMIT 1",
        )?
        .query_row([file], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match last {
        Some((block, mut held)) if held.len() < BLOCK_BYTES_MAX => {
            held.extend_from_slice(ids);
            put(db, file, block, &held)
        }
        last => put(db, file, last.map_or(1, |(block, _)| block + 1), ids),
    }
}

fn put(db: &Connection, file: i64, block: i64, ids: &[u8]) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO record (file, block, ids) VALUES (?1, ?2, ?3)
         ON CONFLICT (file, block) DO UPDATE SET ids = excluded.ids
         WHERE length(ids) <> length(excluded.ids) OR ids IS NOT excluded.ids",
    )?
    .execute(params![file, block, ids])?;
    Ok(())
}
