//! The rows of an episode's tokens by model and half hour.

use crate::model::spending::Spending;
use crate::store::columns::int;
use rusqlite::{Connection, params};

/// Writes what an episode used in place of what it has; `name` numbers the models. Nothing is
/// written where nothing changed.
pub(super) fn write(
    db: &Connection,
    n: i64,
    spending: &Spending,
    mut name: impl FnMut(&str) -> rusqlite::Result<i64>,
) -> rusqlite::Result<()> {
    let mut held: Vec<(i64, i64)> = db
        .prepare_cached("SELECT model, half_hour FROM episode_usage WHERE episode = ?1")?
        .query_map([n], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for row in spending.rows() {
        let model = name(&row.model)?;
        held.retain(|key| *key != (model, row.half_hour));
        let usage = &row.usage;
        db.prepare_cached(UPSERT)?.execute(params![
            n,
            model,
            row.half_hour,
            int(usage.input),
            int(usage.output),
            int(usage.cache_read),
            int(usage.cache_write),
            int(usage.cache_write_1h),
        ])?;
    }
    for (model, half_hour) in held {
        db.prepare_cached(
            "DELETE FROM episode_usage WHERE (episode, model, half_hour) = (?1, ?2, ?3)",
        )?
        .execute([n, model, half_hour])?;
    }
    Ok(())
}

const UPSERT: &str =
    "INSERT INTO episode_usage (episode, model, half_hour, input_tokens, output_tokens,
        cache_read, cache_write, cache_write_1h)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT DO UPDATE SET (input_tokens, output_tokens, cache_read, cache_write, cache_write_1h)
        = (excluded.input_tokens, excluded.output_tokens, excluded.cache_read, excluded.cache_write,
            excluded.cache_write_1h)
    WHERE (input_tokens, output_tokens, cache_read, cache_write, cache_write_1h)
        IS NOT (excluded.input_tokens, excluded.output_tokens, excluded.cache_read,
            excluded.cache_write, excluded.cache_write_1h)";
