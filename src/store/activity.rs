//! What the work of episodes is told by. Knows rows; refuses to know what the counts mean.

use super::fault::failed;
use super::pack::{Json, Packed};
use super::{Result, Store};
use crate::model::activity::ActivityTally;
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;

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

impl Store {
    /// Calls by the names under which they were counted, of all episodes. Reads every tally.
    pub fn counted_tools(&self) -> Result<BTreeMap<String, u64>> {
        let read = || -> rusqlite::Result<BTreeMap<String, u64>> {
            let mut sum: BTreeMap<String, u64> = BTreeMap::new();
            let mut select = self.db.prepare("SELECT tally FROM activity")?;
            for tally in select.query_map([], |row| told(row, 0))? {
                for (name, calls) in tally?.tools {
                    *sum.entry(name).or_default() += calls;
                }
            }
            Ok(sum)
        };
        read().map_err(failed("reading activity"))
    }

    /// What the work of the episode with this row number is told by.
    pub(super) fn counted(&self, n: i64) -> rusqlite::Result<ActivityTally> {
        self.db
            .prepare_cached("SELECT (SELECT tally FROM activity WHERE episode = ?1)")?
            .query_row([n], |row| told(row, 0))
    }
}

/// A column that holds a tally; empty where there is none.
pub(super) fn told(row: &Row<'_>, column: usize) -> rusqlite::Result<ActivityTally> {
    let tally: Option<Json<ActivityTally>> = row.get(column)?;
    Ok(tally.map(|Json(tally)| tally).unwrap_or_default())
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
