//! What a sink has that it still has to work through. An episode is asked for in the order in which
//! it happened; that it was asked for is noted before, so that nothing is asked for twice in the
//! dark.

use crate::model::delivery::{Delivery, Receipt, State};
use crate::model::time::Time;
use crate::store::error::failed;
use crate::store::outbox::deliveries::receipt;
use crate::store::{Result, Store};
use rusqlite::params;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Of an episode that waits to be enriched: in the revision that is stored, its time has come.
const WAITS: &str = "d.sink = ?1 AND d.state = 'seen' AND d.revision = e.revision
    AND (d.attempts = 0 AND d.next_at IS NULL OR d.next_at <= ?2)";

impl Store {
    /// Row numbers of the episodes that a sink holds and has to work through, in the order in which
    /// they happened; without those of these projects.
    pub fn to_enrich(&self, sink: i64, kept_here: &[String], now: Time) -> Result<Vec<i64>> {
        let kept_here = serde_json::to_string(kept_here).unwrap_or_default();
        let read = || -> rusqlite::Result<Vec<i64>> {
            self.db
                .prepare_cached(&format!(
                    "SELECT e.n FROM delivery d JOIN episode e ON e.id = d.id WHERE {WAITS}
                       AND (SELECT project_path FROM session WHERE n = e.session)
                           NOT IN (SELECT value FROM json_each(?3))
                     ORDER BY coalesce(e.valid_at, e.indexed_at), e.n"
                ))?
                .query_map(params![sink, now.0, kept_here], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading what waits to be enriched"))
    }

    /// A sink has enriched something, and nothing is under way there.
    pub fn enrichment_is_settled(&self, sink: i64) -> Result<bool> {
        let read = || {
            self.db.query_row(
                "SELECT EXISTS (SELECT 1 FROM delivery WHERE sink = ?1 AND state = 'enriched')
                    AND NOT EXISTS (SELECT 1 FROM delivery WHERE sink = ?1 AND asked IS NOT NULL)",
                [sink],
                |row| row.get(0),
            )
        };
        read().map_err(failed("reading what is under way"))
    }

    /// What a sink was asked for, or stopped at, and may still be at.
    pub fn asked(&self, sink: i64) -> Result<Vec<Receipt>> {
        let read = || -> rusqlite::Result<Vec<Receipt>> {
            self.db
                .prepare_cached(
                    "SELECT id, revision, place FROM delivery WHERE sink = ?1 AND asked IS NOT NULL",
                )?
                .query_map([sink], receipt)?
                .collect()
        };
        read().map_err(failed("reading what is under way"))
    }

    /// Row numbers of the episodes that a sink failed to work through.
    pub fn blamed(&self, sink: i64) -> Result<BTreeSet<i64>> {
        let read = || -> rusqlite::Result<BTreeSet<i64>> {
            self.db
                .prepare_cached(
                    "SELECT e.n FROM delivery d JOIN episode e ON e.id = d.id
                     WHERE d.sink = ?1 AND d.state = 'seen' AND d.attempts > 0",
                )?
                .query_map([sink], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading what failed to be worked through"))
    }

    /// Where a sink has what was worked through.
    pub fn places(&self, sink: i64) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare_cached(
                    "SELECT DISTINCT place FROM delivery WHERE sink = ?1 AND state = 'enriched'",
                )?
                .query_map([sink], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading where episodes are"))
    }

    /// A sink is to forget something that may be under way there.
    pub fn forgets_what_is_under_way(&self, sink: i64) -> Result<bool> {
        let read = || {
            self.db.query_row(
                "SELECT EXISTS (SELECT 1 FROM delivery
                     WHERE sink = ?1 AND state = 'gone' AND asked IS NOT NULL)",
                [sink],
                |row| row.get(0),
            )
        };
        read().map_err(failed("reading what is under way"))
    }

    /// Notes that a sink is about to be asked for these. Gives those that are noted; the others went or changed
    /// since they were read, and must not be asked for.
    pub fn asking(&mut self, sink: i64, receipts: &[Receipt], at: Time) -> Result<BTreeSet<Uuid>> {
        self.write_transaction("noting what is asked for", |tx| {
            let mut update = tx.prepare_cached(
                "UPDATE delivery SET asked = ?4
                 WHERE id = ?1 AND sink = ?2 AND revision = ?3 AND state = 'seen'",
            )?;
            let mut noted = BTreeSet::new();
            for asked in receipts {
                let revision = asked.revision as i64;
                if update.execute(params![asked.id.as_bytes(), sink, revision, at.0])? > 0 {
                    noted.insert(asked.id);
                }
            }
            Ok(noted)
        })
    }

    /// Notes that nothing is under way at a sink: what was asked for is done or lost.
    pub fn settled(&mut self, sink: i64) -> Result<()> {
        self.write_transaction("noting that nothing is under way", |tx| {
            tx.execute(
                "UPDATE delivery SET asked = NULL WHERE sink = ?1 AND asked IS NOT NULL",
                [sink],
            )?;
            Ok(())
        })
    }

    /// Notes what became of what was asked for: `Enriched`, or still `Seen` with its failures; after
    /// one, it may be under way still. Where an episode went or changed meanwhile, that counts.
    pub fn enriched(&mut self, sink: i64, deliveries: &[Delivery], at: Time) -> Result<()> {
        self.write_transaction("noting what was enriched", |tx| {
            let mut update = tx.prepare_cached(
                "UPDATE delivery SET state = ?4, attempts = ?5, next_at = ?6, error = ?7,
                     asked = CASE ?5 WHEN 0 THEN NULL ELSE asked END, at = CASE ?4 WHEN state THEN at ELSE ?8 END
                 WHERE id = ?1 AND sink = ?2 AND revision = ?3 AND state = 'seen'",
            )?;
            for d in deliveries {
                let state = if d.state == State::Enriched { d.state } else { State::Seen };
                update.execute(params![
                    d.id.as_bytes(),
                    sink,
                    d.revision as i64,
                    state.as_str(),
                    d.attempts,
                    d.next_at.map(|t| t.0),
                    d.error,
                    at.0
                ])?;
            }
            Ok(())
        })
    }
}
