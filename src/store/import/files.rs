//! Logs of the other machine: how far they were read there, and which records they hold.

use super::other_sessions::OtherSession;
use crate::model::checkpoint::COPY;
use crate::model::ledger::{Fate, Ledger};
use crate::model::session::SessionFacts;
use crate::store::columns::{packed_ids, unpacked_ids};
use crate::store::compression::{Json, pack_json};
use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashSet;

/// What the ledger says of lines that a log of this machine has too.
const ELSEWHERE: &str = "on another machine too";

/// Takes in a session's logs; whether one was new or had grown.
pub(super) fn put(tx: &Connection, session: &OtherSession, n: i64) -> rusqlite::Result<bool> {
    type File = (i64, String, i64, i64, i64);
    let files: Vec<File> = tx
        .prepare_cached(
            "SELECT n, key, read_to, content, generation FROM other.file WHERE session = ?1 ORDER BY key",
        )?
        .query_map([session.n], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut is_news = false;
    for (theirs, key, read_to, content, generation) in files {
        // one that was taken in there from somewhere else has its name already
        let is_named = key.starts_with(&format!("{}:", session.host));
        let prefix = if is_named {
            String::new()
        } else {
            format!("{}:", session.host)
        };
        let key = format!("{prefix}{key}");
        let known: Option<(i64, i64, i64, i64)> = tx
            .prepare_cached("SELECT n, read_to, content, generation FROM main.file WHERE key = ?1")?
            .query_row([&key], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        let ours = match known {
            Some((ours, of, at, which)) if (of, at, which) == (read_to, content, generation) => {
                note(tx, theirs, ours)?;
                continue;
            }
            Some((ours, ..)) => {
                clear(tx, ours)?;
                insert(tx, theirs, Some(ours), n, &prefix)?
            }
            None => insert(tx, theirs, None, n, &prefix)?,
        };
        is_news = true;
        note(tx, theirs, ours)?;
        put_state(tx, theirs, ours, session.has_own_log)?;
        put_records(tx, theirs, ours, session.has_own_log)?;
    }
    Ok(is_news)
}

fn note(tx: &Connection, theirs: i64, ours: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT OR REPLACE INTO temp.import_file (theirs, ours) VALUES (?1, ?2)")?
        .execute([theirs, ours])
        .map(drop)
}

fn clear(tx: &Connection, ours: i64) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM main.tie WHERE file = ?1",
        "DELETE FROM main.fold WHERE file = ?1",
        "DELETE FROM main.record WHERE file = ?1",
        "DELETE FROM main.reject WHERE file = ?1",
        "DELETE FROM main.unknown_kind WHERE file = ?1",
        "DELETE FROM main.summary WHERE file = ?1",
        "DELETE FROM main.file WHERE n = ?1",
    ] {
        tx.prepare_cached(sql)?.execute([ours])?;
    }
    Ok(())
}

/// Device and inode are another machine's: no file here is this one under another name.
fn insert(
    tx: &Connection,
    theirs: i64,
    ours: Option<i64>,
    session: i64,
    prefix: &str,
) -> rusqlite::Result<i64> {
    tx.prepare_cached(
        "INSERT INTO main.file (n, key, path, agent, session, stream, size, mtime_ns, ctime_ns, device, inode,
             generation, offset, line, read_to, head_print, head_bytes, tail_print, content, content_to, ties)
         SELECT ?2, ?4 || key, ?4 || path, agent, ?3, stream, size, mtime_ns, ctime_ns, 0, 0,
             generation, offset, line, read_to, head_print, head_bytes, tail_print, content, content_to, ties
         FROM other.file WHERE n = ?1",
    )?
    .execute(params![theirs, ours, session, prefix])?;
    Ok(ours.unwrap_or_else(|| tx.last_insert_rowid()))
}

/// The account of its lines and what they say of the session. Where a log of this machine says it too, lines
/// are copies, and what is counted up is not counted again.
fn put_state(tx: &Connection, theirs: i64, ours: i64, is_told_here: bool) -> rusqlite::Result<()> {
    for (table, columns) in [
        ("tie", "name"),
        ("reject", "offset, bytes, line, reason"),
        ("unknown_kind", "kind, offset, bytes, line, time"),
        ("summary", "leaf, text"),
    ] {
        let sql = format!(
            "INSERT OR IGNORE INTO main.{table} (file, {columns})
             SELECT ?2, {columns} FROM other.{table} WHERE file = ?1"
        );
        tx.prepare_cached(&sql)?.execute([theirs, ours])?;
    }
    tx.prepare_cached(
        "INSERT INTO main.fold (file, carry, sealed, tail)
         SELECT ?2, carry, sealed, tail FROM other.fold WHERE file = ?1",
    )?
    .execute([theirs, ours])?;
    if !is_told_here {
        return Ok(());
    }
    type State = Json<(Ledger, SessionFacts)>;
    let (sealed, tail): (State, State) = tx
        .prepare_cached("SELECT sealed, tail FROM main.fold WHERE file = ?1")?
        .query_row([ours], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let copied = |Json((mut ledger, mut facts)): State| {
        let kept = ledger.lines.remove(&Fate::Kept).unwrap_or_default();
        let lines: u64 = kept.values().sum();
        if lines > 0 {
            ledger.add(Fate::Copied, ELSEWHERE, lines);
        }
        (facts.compactions, facts.interruptions) = (0, 0);
        pack_json(&(ledger, facts))
    };
    tx.prepare_cached("UPDATE main.fold SET (sealed, tail) = (?2, ?3) WHERE file = ?1")?
        .execute(params![ours, copied(sealed), copied(tail)])
        .map(drop)
}

/// Ids of its records: those that a log here owns are copies there. Where a log of this machine tells the same
/// session, all are: what that log comes to say is its own.
fn put_records(
    tx: &Connection,
    theirs: i64,
    ours: i64,
    is_told_here: bool,
) -> rusqlite::Result<()> {
    let owned: FxHashSet<u64> = {
        let mut select = tx.prepare_cached(
            "SELECT ids FROM main.record WHERE file IN (SELECT file FROM main.tie WHERE name IN
                 (SELECT name FROM main.tie WHERE file = ?1)) AND file <> ?1",
        )?;
        let mut rows = select.query([ours])?;
        let mut owned = FxHashSet::default();
        while let Some(row) = rows.next()? {
            let ids = unpacked_ids(row.get_ref(0)?.as_blob()?);
            owned.extend(ids.filter(|id| id & COPY == 0));
        }
        owned
    };
    let blocks: Vec<(i64, Vec<u8>)> = tx
        .prepare_cached("SELECT block, ids FROM other.record WHERE file = ?1")?
        .query_map([theirs], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (block, ids) in blocks {
        let marked = unpacked_ids(&ids).map(|id| match is_told_here || owned.contains(&id) {
            true => id | COPY,
            false => id,
        });
        let marked: Vec<u64> = marked.collect();
        tx.prepare_cached("INSERT INTO main.record (file, block, ids) VALUES (?1, ?2, ?3)")?
            .execute(params![ours, block, packed_ids(&marked)])?;
    }
    Ok(())
}
