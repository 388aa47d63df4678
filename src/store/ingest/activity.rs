//! What the work of episodes is told by.

use crate::model::activity::ActivityTally;
use crate::store::columns::activity_sum;
use crate::store::compression::Packed;
use crate::store::error::failed;
use crate::store::{Result, Store};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

impl Store {
    /// What the work of the session with exactly this id is told by, sub-agents' included; empty
    /// where nothing was counted.
    pub fn activity(&self, session: &str) -> Result<ActivityTally> {
        let read = || -> rusqlite::Result<ActivityTally> {
            let mut select = self.db.prepare_cached(
                "SELECT exchanges FROM activity JOIN episode e ON e.n = activity.episode
                 JOIN session s ON s.n = e.session
                 WHERE s.id = ?1 AND e.source = 'session'",
            )?;
            let mut sum = ActivityTally::default();
            for tally in select.query_map([session], |row| activity_sum(row, 0))? {
                sum.merge(&tally?);
            }
            Ok(sum)
        };
        read().map_err(failed("reading activity"))
    }

    /// Calls by the names under which they were counted, of all episodes. Reads every tally.
    pub fn counted_tools(&self) -> Result<BTreeMap<String, u64>> {
        let read = || -> rusqlite::Result<BTreeMap<String, u64>> {
            let mut sum: BTreeMap<String, u64> = BTreeMap::new();
            let mut select = self.db.prepare(
                "SELECT exchanges FROM activity JOIN episode e ON e.n = activity.episode
                 WHERE e.source = 'session'",
            )?;
            for tally in select.query_map([], |row| activity_sum(row, 0))? {
                for (name, calls) in tally?.tools {
                    *sum.entry(name).or_default() += calls;
                }
            }
            Ok(sum)
        };
        read().map_err(failed("reading activity"))
    }

    /// What the work of the episode with this row number is told by.
    pub(crate) fn counted(&self, n: i64) -> rusqlite::Result<ActivityTally> {
        self.db
            .prepare_cached("SELECT (SELECT exchanges FROM activity WHERE episode = ?1)")?
            .query_row([n], |row| activity_sum(row, 0))
    }
}

/// Replaces an episode's; says nothing where they are the same.
pub(crate) fn write(db: &Connection, episode: i64, exchanges: &Packed) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO activity (episode, exchanges) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET exchanges = excluded.exchanges
         WHERE exchanges IS NOT excluded.exchanges",
    )?
    .execute(params![episode, exchanges])?;
    Ok(())
}
