//! Which sinks there are. A sink is a name at an address: what stands in one place says nothing of
//! another, though the settings call both the same.

use crate::model::time::Time;
use crate::store::error::failed;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, params};

/// A sink as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkRow {
    /// Its number in this store.
    pub n: i64,
    /// As the settings call it.
    pub name: String,
    /// Times in a row that it was away.
    pub failures: u32,
    /// Not before.
    pub paused_until: Option<Time>,
    /// Why it was left the last time. Never content.
    pub error: Option<String>,
}

impl Store {
    /// The sink of this name at this address. One that is new gets memories and what is stored from now
    /// on; the chunks and pages that are there are marked `before`, until [`Store::ask_for_history`]. What was delivered under the
    /// name to another address is kept under `NAME at ADDRESS`, and is there again when that is.
    pub fn sink(&mut self, name: &str, address: &str, now: Time) -> Result<SinkRow> {
        if self.address_of(name)?.as_deref() != Some(address) {
            self.write_transaction("noting where a sink is", |tx| {
                settle_in(tx, name, address, now)
            })?;
        }
        let known = self.known_sink(name, address)?;
        known.ok_or_else(|| failed("adding a sink")(rusqlite::Error::QueryReturnedNoRows))
    }

    /// The same; `None` where no run has met it yet. One whose address an older program didn't note
    /// counts as being there.
    pub fn known_sink(&self, name: &str, address: &str) -> Result<Option<SinkRow>> {
        self.db
            .query_row(
                "SELECT n, name, failures, paused_until, error FROM sink
                 WHERE name = ?1 AND coalesce(address, ?2) = ?2 OR name = ?3",
                params![name, address, elsewhere(name, address)],
                |row| {
                    Ok(SinkRow {
                        n: row.get(0)?,
                        name: row.get(1)?,
                        failures: row.get(2)?,
                        paused_until: row.get::<_, Option<i64>>(3)?.map(Time),
                        error: row.get(4)?,
                    })
                },
            )
            .optional()
            .map_err(failed("reading a sink"))
    }

    /// Other addresses at which something was delivered under this name, with how many episodes.
    pub fn addresses_before(&self, name: &str, address: &str) -> Result<Vec<(String, u64)>> {
        let read = || -> rusqlite::Result<Vec<(String, u64)>> {
            self.db
                .prepare(
                    "SELECT s.address, count(*) FROM sink s JOIN delivery d ON d.sink = s.n
                     WHERE (s.name = ?1 OR s.name = ?1 || ' at ' || s.address) AND s.address <> ?2
                       AND d.state IN ('sent', 'seen', 'enriched', 'unverified', 'gone', 'kept')
                     GROUP BY s.n ORDER BY s.address",
                )?
                .query_map([name, address], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        read().map_err(failed("reading sinks"))
    }

    fn address_of(&self, name: &str) -> Result<Option<String>> {
        let address = self
            .db
            .query_row("SELECT address FROM sink WHERE name = ?1", [name], |row| {
                row.get::<_, Option<String>>(0)
            })
            .optional();
        Ok(address.map_err(failed("reading a sink"))?.flatten())
    }

    /// The sink answers, or is left alone until then.
    pub fn pause(
        &mut self,
        sink: i64,
        failures: u32,
        until: Option<Time>,
        error: Option<&str>,
    ) -> Result<()> {
        self.write_transaction("noting how a sink is", |tx| {
            let row = params![sink, failures, until.map(|t| t.0), error];
            tx.execute(
                "UPDATE sink SET (failures, paused_until, error) = (?2, ?3, ?4) WHERE n = ?1
                 AND (failures, paused_until, error) IS NOT (?2, ?3, ?4)",
                row,
            )?;
            Ok(())
        })
    }
}

/// What a sink is called while its name is at another address. No setting can call one so.
fn elsewhere(name: &str, address: &str) -> String {
    format!("{name} at {address}")
}

fn settle_in(tx: &Connection, name: &str, address: &str, now: Time) -> rusqlite::Result<()> {
    tx.execute(
        "UPDATE sink SET address = ?2 WHERE name = ?1 AND address IS NULL",
        [name, address],
    )?;
    tx.execute(
        "UPDATE sink SET name = name || ' at ' || address WHERE name = ?1 AND address <> ?2",
        [name, address],
    )?;
    tx.execute(
        "UPDATE sink SET name = ?1 WHERE name = ?2",
        params![name, elsewhere(name, address)],
    )?;
    let added = tx.execute(
        "INSERT INTO sink (name, address, clean_to, failures)
         SELECT ?1, ?2, coalesce((SELECT min(n) - 1 FROM episode WHERE file = 0),
             (SELECT max(n) FROM episode), 0), 0
         WHERE NOT EXISTS (SELECT 1 FROM sink WHERE name = ?1)",
        [name, address],
    )?;
    if added > 0 {
        tx.execute(
            "INSERT INTO delivery (id, sink, revision, state, attempts, at, place)
             SELECT id, ?1, revision, 'before', 0, ?2, '' FROM episode WHERE file <> 0",
            params![tx.last_insert_rowid(), now.0],
        )?;
    }
    Ok(())
}
