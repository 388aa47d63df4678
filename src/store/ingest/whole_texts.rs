//! Episodes with long messages on their way in: with the messages in full they wait to be condensed, unless
//! the same text was condensed before.

use crate::store::ingest::prepare::Row;
use rusqlite::{Connection, OptionalExtension, params};

/// Revision and bytes of the text that is stored, where a model condensed just this one by the same
/// templates. A rebuild begins afresh: the cache has what the model said.
pub(crate) fn condensed(db: &Connection, row: &Row) -> rusqlite::Result<Option<(i64, i64)>> {
    let Some(templates) = &row.condensing else {
        return Ok(None);
    };
    db.prepare_cached(
        "SELECT e.revision, e.body_bytes FROM episode e JOIN condensing c ON c.episode = e.n
         WHERE e.id = ?1 AND e.stale = 0 AND c.state <> 'waiting' AND c.whole = ?2
             AND c.templates = ?3
             AND EXISTS (SELECT 1 FROM body b WHERE b.episode = e.n AND b.text <> '')",
    )?
    .query_row(
        params![row.episode.id.as_bytes(), row.revision, templates],
        |found| Ok((found.get(0)?, found.get(1)?)),
    )
    .optional()
}

/// An episode was written with its messages in full.
pub(crate) fn note(db: &Connection, n: i64, row: &Row) -> rusqlite::Result<()> {
    let Some(templates) = &row.condensing else {
        return db
            .prepare_cached("DELETE FROM condensing WHERE episode = ?1")?
            .execute([n])
            .map(drop);
    };
    db.prepare_cached(
        "INSERT INTO condensing (episode, templates, state, whole) VALUES (?1, ?2, 'waiting', ?3)
         ON CONFLICT DO UPDATE SET (templates, state, whole) = (excluded.templates, 'waiting', ?3)
         WHERE (templates, state, whole) IS NOT (excluded.templates, 'waiting', ?3)",
    )?
    .execute(params![n, templates, row.revision])
    .map(drop)
}
