//! What takes rows out, with everything that hangs on them: episodes, memories, summaries, what git
//! operations quote. Below all subjects, because a log's own words can ask for it in the middle of a
//! run (`ingest`) as a person can (`maintenance`).

use crate::model::git::GitOperation;
use crate::store::compression::{Json, pack_json};
use crate::store::damaged_rows::sound_or_none;
use crate::store::pending_tasks::after_removal;
use rusqlite::{Connection, OptionalExtension, ToSql, params};
use uuid::Uuid;

/// The row of the episode with this id.
pub(crate) fn number(db: &Connection, id: Uuid) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT n FROM episode WHERE id = ?1")?
        .query_row([id.as_bytes()], |row| row.get(0))
        .optional()
}

/// Removes the episode with this id, where there is one.
pub(crate) fn remove_id(db: &Connection, id: Uuid) -> rusqlite::Result<()> {
    number(db, id)?.map_or(Ok(()), |n| remove(db, n))
}

/// Removes an episode with everything that hangs on it.
pub(crate) fn remove(db: &Connection, n: i64) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM words WHERE rowid = ?1",
        "DELETE FROM body WHERE episode = ?1",
        "DELETE FROM activity WHERE episode = ?1",
        "DELETE FROM outline WHERE episode = ?1",
        "DELETE FROM condensing WHERE episode = ?1",
        "DELETE FROM condensed WHERE episode = ?1",
        "DELETE FROM episode_tool WHERE episode = ?1",
        "DELETE FROM episode_usage WHERE episode = ?1",
        "DELETE FROM episode_path WHERE episode = ?1",
        "DELETE FROM episode WHERE n = ?1",
    ] {
        db.prepare_cached(sql)?.execute([n])?;
    }
    Ok(())
}

/// Takes the memories out that a condition on `m` with these values names; gives how many.
pub(crate) fn forget_memories(
    db: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> rusqlite::Result<u64> {
    let sql =
        format!("SELECT m.id FROM memory m WHERE m.state IN ('said', 'kept') AND ({condition})");
    let ids: Vec<[u8; 16]> = db
        .prepare_cached(&sql)?
        .query_map(values, |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in &ids {
        remove_memory(db, Uuid::from_bytes(*id), "forgotten")?;
    }
    Ok(ids.len() as u64)
}

pub(crate) fn remove_memory(db: &Connection, id: Uuid, state: &str) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE memory SET (state, text, git) = (?2, NULL, NULL) WHERE id = ?1")?
        .execute(params![id.as_bytes(), state])?;
    remove_id(db, id)
}

/// Takes a session's page away: some of what it tells is to be forgotten, or nothing is left.
pub(crate) fn remove_summary(db: &Connection, session: i64) -> rusqlite::Result<()> {
    untell(db, session)?;
    db.prepare_cached("DELETE FROM unsummarised WHERE session = ?1")?
        .execute([session])?;
    let page: Option<i64> = db
        .prepare_cached("SELECT n FROM episode WHERE session = ?1 AND source = 'session_summary'")?
        .query_row(params![session], |row| row.get(0))
        .optional()?;
    page.map_or(Ok(()), |n| remove(db, n))
}

/// Nothing is left of what was told.
pub(crate) fn untell(db: &Connection, session: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM telling WHERE session = ?1")?
        .execute([session])
        .map(drop)
}

/// Takes out what git operations quote of a session: the conversation goes, the summary is written
/// again without it.
pub(crate) fn forget_quotes(db: &Connection, session: &str) -> rusqlite::Result<()> {
    let quoting: Vec<([u8; 16], [u8; 16])> = db
        .prepare_cached(
            "SELECT episode, operation FROM git_episode
             WHERE EXISTS (SELECT 1 FROM json_each(quotes) q WHERE q.value = ?1)",
        )?
        .query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (episode, operation) in quoting {
        remove_operation_episode(db, episode)?;
        let git = db
            .prepare_cached("SELECT deed FROM git_operation WHERE id = ?1")?
            .query_row([operation], |row| row.get::<_, Json<GitOperation>>(0))
            .optional();
        if let Some(Json(mut git)) = sound_or_none(git)?.flatten() {
            git.effect.is_reason_forgotten |= git.reason.take().is_some();
            db.prepare_cached("UPDATE git_operation SET (deed, untold) = (?2, 1) WHERE id = ?1")?
                .execute(params![operation, pack_json(&git)])?;
        }
        after_removal(db)?;
    }
    Ok(())
}

pub(crate) fn remove_operation_episode(db: &Connection, id: [u8; 16]) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM git_episode WHERE episode = ?1")?
        .execute([id])?;
    remove_id(db, Uuid::from_bytes(id))
}
