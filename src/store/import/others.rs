//! What projects have besides logs: memories, git operations, and what their groups are called.

use super::episodes;
use super::other_sessions::without_log;
use super::taken::Imported;
use crate::model::git::GitOperation;
use crate::store::compression::{Json, pack_json};
use rusqlite::{Connection, OptionalExtension, params};

/// Takes in what isn't here.
pub(super) fn put(tx: &Connection, imported: &mut Imported) -> rusqlite::Result<()> {
    put_memories(tx, imported)?;
    put_operations(tx, imported)?;
    tx.execute(
        "INSERT OR IGNORE INTO main.workspace (namespace, key, first_commit)
         SELECT namespace, key, first_commit FROM other.workspace WHERE namespace IN
             (SELECT namespace FROM main.session)",
        [],
    )?;
    Ok(())
}

/// A memory that was removed here stays removed, and one that was said in a forgotten session is forgotten with
/// it. What nobody judged there yet is judged there.
fn put_memories(tx: &Connection, imported: &mut Imported) -> rusqlite::Result<()> {
    let ids: Vec<[u8; 16]> = tx
        .prepare(
            "SELECT id FROM other.memory WHERE state <> 'said' AND id NOT IN (SELECT id FROM main.memory)
             AND NOT (origin = 'directive' AND coalesce(session, '') IN
                 (SELECT session FROM main.forgotten))
             ORDER BY id",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in ids {
        tx.prepare_cached(
            "INSERT INTO main.memory (id, kind, scope, origin, state, session, text, reason, git, at, edited)
             SELECT id, kind, scope, origin, state, session, text, reason, git, at, edited
             FROM other.memory WHERE id = ?1",
        )?
        .execute([id])?;
        if put_episode(tx, id)? {
            imported.memories += 1;
        }
    }
    Ok(())
}

/// The episode with this id, of a session without a log; whether it wasn't here.
fn put_episode(tx: &Connection, id: [u8; 16]) -> rusqlite::Result<bool> {
    let found: Option<(i64, i64)> = tx
        .prepare_cached(
            "SELECT n, session FROM other.episode WHERE id = ?1
             AND id NOT IN (SELECT id FROM main.episode WHERE id = ?1)",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((theirs, session)) = found else {
        return Ok(false);
    };
    let session = without_log(tx, session)?;
    episodes::add(tx, theirs, session)?;
    Ok(true)
}

/// An operation of the other machine's repository is judged by that machine alone.
fn put_operations(tx: &Connection, imported: &mut Imported) -> rusqlite::Result<()> {
    type Operation = ([u8; 16], i64, i64, Json<GitOperation>, bool, Option<String>);
    let operations: Vec<Operation> = tx
        .prepare(
            "SELECT o.id, o.session, o.at, o.deed, o.untold, o.agent FROM other.git_operation o
             JOIN other.session s ON s.n = o.session
             WHERE o.id NOT IN (SELECT id FROM main.git_operation)
             AND NOT EXISTS (SELECT 1 FROM main.forgotten_before b WHERE o.at < b.before
                 AND substr(s.namespace, 1, length(b.namespace)) = b.namespace)
             ORDER BY o.at, o.id",
        )?
        .query_map([], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get(2)?,
                row.get(3)?,
                row.get(4)?,
                row.get(5)?,
            ))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (id, session, at, Json(mut git), mut untold, agent) in operations {
        let session = without_log(tx, session)?;
        let quotes = git.reason.as_ref().map(|reason| reason.session.clone());
        let is_forgotten = match quotes {
            Some(quoted) => tx
                .prepare_cached("SELECT 1 FROM main.forgotten WHERE session = ?1")?
                .exists([quoted])?,
            None => false,
        };
        if is_forgotten {
            git.reason = None;
            git.effect.is_reason_forgotten = true;
            untold = true;
        }
        tx.prepare_cached(
            "INSERT INTO main.git_operation (id, session, at, deed, untold, agent, judged, open)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, 0)",
        )?
        .execute(params![id, session, at, pack_json(&git), untold, agent])?;
        imported.operations += 1;
        put_told(tx, id)?;
    }
    Ok(())
}

/// What is told of an operation, but for what quotes a forgotten session.
fn put_told(tx: &Connection, operation: [u8; 16]) -> rusqlite::Result<()> {
    let episodes: Vec<[u8; 16]> = tx
        .prepare_cached(
            "SELECT episode FROM other.git_episode g WHERE operation = ?1
             AND NOT EXISTS (SELECT 1 FROM json_each(coalesce(g.quotes, '[]')) q
                 JOIN main.forgotten f ON f.session = q.value)
             ORDER BY episode",
        )?
        .query_map([operation], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for episode in episodes {
        tx.prepare_cached(
            "INSERT OR IGNORE INTO main.git_episode (episode, operation, quotes)
             SELECT episode, operation, quotes FROM other.git_episode WHERE episode = ?1",
        )?
        .execute([episode])?;
        put_episode(tx, episode)?;
    }
    Ok(())
}
