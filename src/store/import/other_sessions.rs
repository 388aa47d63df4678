//! Which sessions of the other store are taken in, and their rows.

use super::taken::Imported;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// A session of the other store.
#[derive(Clone, Debug)]
pub(super) struct OtherSession {
    /// There.
    pub n: i64,
    /// Here; `None`: it isn't here.
    pub ours: Option<i64>,
    pub host: String,
    /// A log of it is of this machine: what is here goes before what is there.
    pub has_own_log: bool,
    /// Episodes that began earlier were forgotten here.
    pub forgotten_before: Option<i64>,
}

/// What stands in no file and is gone at the end: rows there and here.
pub(super) fn begin(tx: &Connection) -> rusqlite::Result<()> {
    end(tx)?;
    tx.execute_batch(
        "CREATE TEMP TABLE import_file (theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL);
         CREATE TEMP TABLE import_episode (theirs INTEGER PRIMARY KEY, ours INTEGER NOT NULL);",
    )
}

pub(super) fn end(tx: &Connection) -> rusqlite::Result<()> {
    tx.execute_batch(
        "DROP TABLE IF EXISTS temp.import_file; DROP TABLE IF EXISTS temp.import_episode;",
    )
}

/// Those with a log that nobody forgot, here or there, in the order of their ids.
pub(super) fn to_take(
    tx: &Connection,
    imported: &mut Imported,
) -> rusqlite::Result<Vec<OtherSession>> {
    imported.kept_out = tx.query_row(
        "SELECT count(*) FROM other.session s JOIN main.forgotten f ON f.session = s.id
         WHERE s.id NOT IN (SELECT session FROM other.forgotten)",
        [],
        |row| row.get(0),
    )?;
    imported.forgotten_there = tx
        .prepare(
            "SELECT f.session FROM other.forgotten f JOIN main.session s ON s.id = f.session
             WHERE f.session NOT IN (SELECT session FROM main.forgotten) ORDER BY f.session",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    tx.execute(
        "INSERT OR IGNORE INTO main.forgotten (session, reason, at)
         SELECT session, reason, at FROM other.forgotten
         WHERE session NOT IN (SELECT id FROM main.session)",
        [],
    )?;
    let mut select = tx.prepare(
        "SELECT s.n, m.n, s.host,
             EXISTS (SELECT 1 FROM main.file f WHERE f.session = m.n
                 AND substr(f.key, 1, length(s.host) + 1) <> s.host || ':'),
             (SELECT max(before) FROM main.forgotten_before b
                 WHERE substr(s.namespace, 1, length(b.namespace)) = b.namespace)
         FROM other.session s LEFT JOIN main.session m ON m.id = s.id
         WHERE s.standing >= 0 AND s.id NOT IN (SELECT session FROM main.forgotten)
             AND s.id NOT IN (SELECT session FROM other.forgotten)
             AND NOT EXISTS (SELECT 1 FROM other.forgotten_before b
                 WHERE substr(s.namespace, 1, length(b.namespace)) = b.namespace
                     AND (s.ended < b.before OR NOT EXISTS (SELECT 1 FROM other.episode e
                         WHERE e.session = s.n AND e.source = 'session')))
             AND NOT EXISTS (SELECT 1 FROM main.forgotten_before b
                 WHERE substr(s.namespace, 1, length(b.namespace)) = b.namespace
                     AND s.ended < b.before)
         ORDER BY s.id",
    )?;
    select.query_map([], session)?.collect()
}

fn session(row: &Row<'_>) -> rusqlite::Result<OtherSession> {
    Ok(OtherSession {
        n: row.get(0)?,
        ours: row.get(1)?,
        host: row.get(2)?,
        has_own_log: row.get(3)?,
        forgotten_before: row.get(4)?,
    })
}

/// The session's row here, made where there is none.
pub(super) fn put(tx: &Connection, session: &OtherSession) -> rusqlite::Result<i64> {
    if let Some(n) = session.ours {
        return Ok(n);
    }
    tx.prepare_cached(
        "INSERT INTO main.session (id, agent, namespace, project_path, cwd, host, file, standing, summary,
             title, branch, started, ended, facts)
         SELECT id, agent, namespace, project_path, cwd, host, file, standing, summary, title, branch,
             started, ended, facts FROM other.session WHERE n = ?1",
    )?
    .insert([session.n])
}

/// What a model said of it there; of a session with a log here, this machine's summary counts.
pub(super) fn put_summary(tx: &Connection, session: &OtherSession, n: i64) -> rusqlite::Result<()> {
    if session.has_own_log {
        return Ok(());
    }
    tx.prepare_cached(
        "INSERT OR REPLACE INTO main.telling (session, content, state, attempts, next_at, error, summary, at)
         SELECT ?2, content, state, attempts, next_at, error, summary, at FROM other.telling
         WHERE session = ?1 AND state <> 'waiting'",
    )?
    .execute(params![session.n, n])
    .map(drop)
}

/// The row here of a session there that has no log: a project's memories or git operations.
pub(super) fn without_log(tx: &Connection, theirs: i64) -> rusqlite::Result<i64> {
    let known: Option<i64> = tx
        .prepare_cached(
            "SELECT m.n FROM other.session s JOIN main.session m ON m.id = s.id WHERE s.n = ?1",
        )?
        .query_row([theirs], |row| row.get(0))
        .optional()?;
    if let Some(n) = known {
        return Ok(n);
    }
    tx.prepare_cached(
        "INSERT INTO main.session (id, agent, namespace, project_path, cwd, host, file, standing, facts)
         SELECT id, agent, namespace, project_path, cwd, host, file, standing, facts
         FROM other.session WHERE n = ?1",
    )?
    .insert([theirs])
}
