//! Episodes with everything that hangs on them.

use super::other_sessions::OtherSession;
use super::taken::Imported;
use crate::store::compression::Unpacked;
use crate::store::ingest::prepare::indexed;
use crate::store::ingest::write::index;
use crate::store::removal::remove;
use rusqlite::{Connection, OptionalExtension, params};

/// Columns that are the same here and there.
const SAME: &str = "id, source, stream, part, sealed, pending_calls, title, valid_at, ended_at, byte_from,
    byte_to, line_from, line_to, message_count, duration_minutes, completed_tasks, files_modified, revision,
    indexed_at, body_bytes, read_bytes, records, prompts, messages, calls, failures, refusals, user_bytes,
    agent_bytes, digest_bytes, output_bytes, input_tokens, output_tokens, cache_read, cache_write";

/// Tables with one row an episode, or several: name, columns, of these the ones that name a string.
const PARTS: [(&str, &str, &str); 8] = [
    ("body", "text", ""),
    ("activity", "exchanges", ""),
    ("outline", "items, findings", ""),
    ("episode_tool", "calls, failed", "tool"),
    ("episode_path", "", "path"),
    (
        "episode_usage",
        "half_hour, input_tokens, output_tokens, cache_read, cache_write, cache_write_1h",
        "model",
    ),
    ("condensing", "templates, state, whole", ""),
    (
        "embedding",
        "model, state, attempts, next_at, error, vector",
        "",
    ),
];

/// There is more of a session of which a log is here, too.
pub(super) fn is_further(tx: &Connection, session: &OtherSession) -> rusqlite::Result<bool> {
    for (theirs, id) in theirs(tx, session)? {
        match known(tx, theirs, &id)? {
            Some(known) if !known.is_other || !known.is_behind => {}
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// The episodes there that may come, with their ids; of a session of which a log is here, without a summary.
fn theirs(tx: &Connection, session: &OtherSession) -> rusqlite::Result<Vec<(i64, [u8; 16])>> {
    tx.prepare_cached(
        "SELECT n, id FROM other.episode WHERE session = ?1
         AND (source = 'session' OR source = 'session_summary' AND NOT ?2)
         AND coalesce(valid_at >= ?3, 1)",
    )?
    .query_map(
        params![session.n, session.has_own_log, session.forgotten_before],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?
    .collect()
}

/// Takes in what a session was cut into.
pub(super) fn put(
    tx: &Connection,
    session: &OtherSession,
    n: i64,
    imported: &mut Imported,
) -> rusqlite::Result<()> {
    let theirs = theirs(tx, session)?;
    for (theirs, id) in &theirs {
        match known(tx, *theirs, id)? {
            None => {
                add(tx, *theirs, n)?;
                imported.episodes += 1;
            }
            Some(known) if known.is_other && (known.is_behind || !session.has_own_log) => {
                replace(tx, *theirs, known.n)?;
                imported.changed += 1;
            }
            Some(_) => {}
        }
    }
    match session.has_own_log {
        true => Ok(()),
        // open ones that are no more there
        false => remove_others(tx, n, &theirs),
    }
}

struct Known {
    n: i64,
    /// Not as it is there.
    is_other: bool,
    /// It goes on there.
    is_behind: bool,
}

fn known(tx: &Connection, theirs: i64, id: &[u8; 16]) -> rusqlite::Result<Option<Known>> {
    tx.prepare_cached(
        "SELECT m.n, (m.revision, m.sealed, m.byte_to) IS NOT (t.revision, t.sealed, t.byte_to),
             m.sealed < t.sealed OR NOT m.sealed AND coalesce(m.ended_at < t.ended_at, 0)
         FROM main.episode m, other.episode t WHERE m.id = ?2 AND t.n = ?1",
    )?
    .query_row(params![theirs, id], |row| {
        Ok(Known {
            n: row.get(0)?,
            is_other: row.get(1)?,
            is_behind: row.get(2)?,
        })
    })
    .optional()
}

fn remove_others(tx: &Connection, n: i64, theirs: &[(i64, [u8; 16])]) -> rusqlite::Result<()> {
    let ours: Vec<(i64, [u8; 16])> = tx
        .prepare_cached(
            "SELECT n, id FROM main.episode WHERE session = ?1 AND source IN ('session', 'session_summary')",
        )?
        .query_map([n], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (n, id) in ours {
        if theirs.iter().all(|(_, known)| *known != id) {
            remove(tx, n)?;
        }
    }
    Ok(())
}

/// Adds an episode to a session here; gives its row.
pub(super) fn add(tx: &Connection, theirs: i64, session: i64) -> rusqlite::Result<i64> {
    let name = |column: &str| name_of(&format!("e.{column}"));
    for column in ["made_by", "graph"] {
        let sql = format!(
            "INSERT OR IGNORE INTO main.name (text) SELECT t.text FROM other.name t
             JOIN other.episode e ON e.{column} = t.n WHERE e.n = ?1"
        );
        tx.prepare_cached(&sql)?.execute([theirs])?;
    }
    let sql = format!(
        "INSERT INTO main.episode (session, file, made_by, graph, {SAME})
         SELECT ?2, coalesce((SELECT ours FROM temp.import_file f WHERE f.theirs = e.file), 0),
             {}, {}, {SAME} FROM other.episode e WHERE e.n = ?1",
        name("made_by"),
        name("graph")
    );
    let n = tx.prepare_cached(&sql)?.insert([theirs, session])?;
    put_parts(tx, theirs, n)?;
    Ok(n)
}

/// The number here of a string there.
fn name_of(column: &str) -> String {
    format!(
        "(SELECT m.n FROM main.name m JOIN other.name t ON t.text = m.text WHERE t.n = {column})"
    )
}

/// Makes an episode here what it is there. It stays in its session and log.
fn replace(tx: &Connection, theirs: i64, ours: i64) -> rusqlite::Result<()> {
    let same: Vec<&str> = SAME.split(',').map(str::trim).collect();
    let columns: Vec<&str> = same.into_iter().filter(|c| *c != "indexed_at").collect();
    let columns = columns.join(", ");
    let sql = format!(
        "UPDATE main.episode SET ({columns}) = (SELECT {columns} FROM other.episode WHERE n = ?1)
         WHERE n = ?2"
    );
    tx.prepare_cached(&sql)?.execute([theirs, ours])?;
    for (table, ..) in PARTS {
        let sql = format!("DELETE FROM main.{table} WHERE episode = ?1");
        tx.prepare_cached(&sql)?.execute([ours])?;
    }
    tx.prepare_cached("DELETE FROM main.condensed WHERE episode = ?1")?
        .execute([ours])?;
    tx.prepare_cached("DELETE FROM main.words WHERE rowid = ?1")?
        .execute([ours])?;
    put_parts(tx, theirs, ours)
}

/// Text, words, tools, tokens and the like of an episode that has none here.
fn put_parts(tx: &Connection, theirs: i64, ours: i64) -> rusqlite::Result<()> {
    for (table, columns, named) in PARTS {
        let (mut into, mut from) = (vec!["episode".to_owned()], vec!["?2".to_owned()]);
        if !named.is_empty() {
            let sql = format!(
                "INSERT OR IGNORE INTO main.name (text) SELECT t.text FROM other.{table} p
                 JOIN other.name t ON t.n = p.{named} WHERE p.episode = ?1"
            );
            tx.prepare_cached(&sql)?.execute([theirs])?;
            into.push(named.to_owned());
            from.push(name_of(&format!("p.{named}")));
        }
        if !columns.is_empty() {
            into.push(columns.to_owned());
            from.push(columns.to_owned());
        }
        // vectors that were not made there are made here
        let made = match table {
            "embedding" => " AND p.state = 'made'",
            _ => "",
        };
        let sql = format!(
            "INSERT INTO main.{table} ({}) SELECT {} FROM other.{table} p WHERE p.episode = ?1{made}",
            into.join(", "),
            from.join(", ")
        );
        tx.prepare_cached(&sql)?.execute([theirs, ours])?;
    }
    tx.prepare_cached(
        "INSERT OR IGNORE INTO main.condensed (content, episode, state, text, attempts, next_at, error, at)
         SELECT content, ?2, state, text, attempts, next_at, error, at FROM other.condensed
         WHERE episode = ?1",
    )?
    .execute([theirs, ours])?;
    let (title, text): (String, Unpacked) = tx
        .prepare_cached(
            "SELECT e.title, b.text FROM main.episode e JOIN main.body b ON b.episode = e.n WHERE e.n = ?1",
        )?
        .query_row([ours], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (title, words) = indexed(&title, &text.0);
    index(tx, ours, &title, &words)
}
