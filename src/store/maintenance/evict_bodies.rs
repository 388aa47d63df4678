//! Texts that only sinks keep (`upload.keep_local: false`).

use crate::model::delivery::Receipt;
use crate::store::error::failed;
use crate::store::ingest::prepare::indexed;
use crate::store::ingest::write::index;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, Row};
use uuid::Uuid;

/// Chunks and pages whose text the store still has, of which every one of the sinks in `?1` has this
/// revision for sure. Git's summaries stay: the store knows their operations anyway, and finds them by
/// their words.
const EVERYWHERE: &str = "SELECT e.n, e.title FROM episode e JOIN body b ON b.episode = e.n
    WHERE b.text <> '' AND e.stale = 0 AND e.source NOT IN ('text', 'message', 'git_metadata') AND NOT EXISTS (
        SELECT 1 FROM json_each(?1) wanted WHERE NOT EXISTS (
            SELECT 1 FROM delivery d JOIN sink s ON s.n = d.sink
            WHERE s.name = wanted.value AND d.id = e.id AND d.revision = e.revision
              AND d.state IN ('seen', 'enriched')))";

impl Store {
    /// Empties the texts that every one of these sinks has, and takes their words out of the index;
    /// ids, titles, counts and receipts stay. Gives how many. No sinks: none. Reads the receipts of
    /// all texts that are still here.
    pub fn leave_to_sinks(&mut self, sinks: &[&str]) -> Result<u64> {
        if sinks.is_empty() {
            return Ok(0);
        }
        let names = serde_json::to_string(sinks).unwrap_or_default();
        let mut left = 0;
        self.write_transaction("emptying what sinks keep", |tx| {
            let mut select = tx.prepare(EVERYWHERE)?;
            let rows = select.query_map([names], |row| Ok((row.get(0)?, row.get(1)?)))?;
            for (n, title) in rows.collect::<rusqlite::Result<Vec<(i64, String)>>>()? {
                empty(tx, n, &title)?;
                left += 1;
            }
            Ok(())
        })?;
        Ok(left)
    }

    /// Episodes whose text was left to a sink.
    pub fn left_to_sinks(&self) -> Result<Vec<Uuid>> {
        let read = || -> rusqlite::Result<Vec<Uuid>> {
            let mut select = self.db.prepare_cached(
                "SELECT e.id FROM episode e JOIN body b ON b.episode = e.n
                 WHERE b.text = '' AND EXISTS (SELECT 1 FROM delivery d
                     WHERE d.id = e.id AND d.state IN ('seen', 'enriched'))",
            )?;
            select
                .query_map([], |row| row.get(0).map(Uuid::from_bytes))?
                .collect()
        };
        read().map_err(failed("reading texts"))
    }

    /// Empties these texts, as they are in another store of the same logs.
    pub fn leave_texts(&mut self, episodes: &[Uuid]) -> Result<()> {
        self.write_transaction("emptying what sinks keep", |tx| {
            for id in episodes {
                let found = tx
                    .prepare_cached("SELECT n, title FROM episode WHERE id = ?1")?
                    .query_row([id.as_bytes()], |row| {
                        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
                    })
                    .optional()?;
                if let Some((n, title)) = found {
                    empty(tx, n, &title)?;
                }
            }
            Ok(())
        })
    }

    /// How many of these have no text here any more.
    pub fn without_text(&self, receipts: &[Receipt]) -> Result<u64> {
        let read = || -> rusqlite::Result<u64> {
            let mut select = self.db.prepare_cached(
                "SELECT count(*) FROM episode e JOIN body b ON b.episode = e.n
                 WHERE e.id = ?1 AND b.text = ''",
            )?;
            let counts = receipts.iter().map(|receipt| {
                let count = |row: &Row<'_>| row.get::<_, u64>(0);
                select.query_row([receipt.id.as_bytes()], count)
            });
            counts.sum()
        };
        read().map_err(failed("reading texts"))
    }
}

fn empty(tx: &Connection, n: i64, title: &str) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE body SET text = '' WHERE episode = ?1")?
        .execute([n])?;
    tx.prepare_cached("DELETE FROM outline WHERE episode = ?1")?
        .execute([n])?;
    tx.prepare_cached("DELETE FROM words WHERE rowid = ?1")?
        .execute([n])?;
    let (title, nothing) = indexed(title, "");
    index(tx, n, &title, &nothing)
}
