//! What the work of episodes is told by. Knows rows; refuses to know what the counts mean.

use super::fault::failed;
use super::pack::{Json, Packed};
use super::{Result, Store};
use crate::model::activity::ActivityTally;
use rusqlite::{Connection, params};

impl Store {
    /// What the work of the session with exactly this id is told by, sub-agents' included; empty
    /// where nothing was counted.
    pub fn activity(&self, session: &str) -> Result<ActivityTally> {
        let read = || -> rusqlite::Result<ActivityTally> {
            let mut select = self.db.prepare_cached(
                "SELECT tally FROM activity JOIN episode e ON e.n = activity.episode
                 JOIN session s ON s.n = e.session WHERE s.id = ?1",
            )?;
            let tallies = select.query_map([session], |row| row.get(0))?;
            let mut sum = ActivityTally::default();
            for tally in tallies {
                let Json(tally): Json<ActivityTally> = tally?;
                sum.merge(&tally);
            }
            Ok(sum)
        };
        read().map_err(failed("reading activity"))
    }
}

/// Replaces an episode's; says nothing where it is the same.
pub(super) fn write(db: &Connection, episode: i64, tally: &Packed) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO activity (episode, tally) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET tally = excluded.tally WHERE tally IS NOT excluded.tally",
    )?
    .execute(params![episode, tally])?;
    Ok(())
}
