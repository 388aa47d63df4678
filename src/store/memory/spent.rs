//! What language models cost, by day.

use crate::model::llm::Tokens;
use crate::model::time::Time;
use crate::store::error::failed;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, params};

/// What a day or a run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Tokens.
    pub tokens: Tokens,
    /// US dollars.
    pub usd: f64,
}

const DAY_MS: i64 = 86_400_000;

impl Store {
    /// What was spent on the day of this time, in UTC.
    pub fn spent(&self, at: Time) -> Result<Spent> {
        self.db
            .query_row(
                "SELECT input_tokens, output_tokens, usd FROM spent WHERE day = ?1",
                [at.0.div_euclid(DAY_MS)],
                |row| {
                    let tokens = Tokens {
                        input: row.get(0)?,
                        output: row.get(1)?,
                    };
                    let usd = row.get(2)?;
                    Ok(Spent { tokens, usd })
                },
            )
            .optional()
            .map(Option::unwrap_or_default)
            .map_err(failed("reading what was spent"))
    }
}

/// Adds to what the day of this time cost.
pub(crate) fn note_spent(db: &Connection, spent: Spent, at: Time) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO spent (day, input_tokens, output_tokens, usd) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET input_tokens = input_tokens + excluded.input_tokens,
             output_tokens = output_tokens + excluded.output_tokens, usd = usd + excluded.usd",
    )?
    .execute(params![
        at.0.div_euclid(DAY_MS),
        spent.tokens.input,
        spent.tokens.output,
        spent.usd
    ])
    .map(drop)
}
