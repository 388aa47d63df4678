//! What sinks have still to get, and what they got. A queue is a query: an episode that is sealed or
//! settled, and of whose revision a sink has no receipt, waits.
//! Knows rows and their states; refuses to know sinks and when to try again.

use crate::model::delivery::{Delivery, Receipt, State};
use crate::model::episode::EpisodeSource;
use crate::model::time::Time;
use crate::store::columns::{hash, int};
use crate::store::error::failed;
use crate::store::search::episodes::{Found, found_in};
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Which episodes are due.
#[derive(Clone, Debug)]
pub struct Due<'a> {
    /// The run's time.
    pub now: Time,
    /// An open episode counts as settled after so many milliseconds without a record.
    pub settled_ms: i64,
    /// The same for one whose calls wait for their results.
    pub pending_ms: i64,
    /// Projects whose episodes stay here.
    pub kept_here: &'a [String],
    /// Chunks and pages only: what was cut from no log has its group.
    pub only_logs: bool,
    /// What was stored before the sink was known too.
    pub history: bool,
    /// Episodes of this source stay here; `None`: of none.
    pub without: Option<EpisodeSource>,
}

/// How a sink stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryStatus {
    /// Deliveries by state; `before` and `gone` included.
    pub states: BTreeMap<String, u64>,
    /// The last time that one was seen there.
    pub last_seen: Option<Time>,
}

/// Given up, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The sink's name.
    pub sink: String,
    /// Which episode.
    pub id: Uuid,
    /// Failed attempts.
    pub attempts: u32,
    /// When it was given up.
    pub at: Time,
    /// Never content.
    pub error: String,
}

impl Store {
    /// Somebody else wrote the store since this was asked last.
    pub fn changed_elsewhere(&mut self) -> Result<bool> {
        let version: i64 = self
            .db
            .query_row("PRAGMA data_version", [], |row| row.get(0))
            .map_err(failed("looking for changes"))?;
        Ok(std::mem::replace(&mut self.version, version) != version)
    }

    /// Names may be other ones: somebody else may have written them.
    pub fn forget_names(&mut self) {
        self.names.clear();
    }

    /// What was stored before the sink was known is due too.
    pub fn ask_for_history(&mut self, sink: i64) -> Result<()> {
        self.write_transaction("asking for history", |tx| {
            let asked = tx.execute(
                "DELETE FROM delivery WHERE sink = ?1 AND state = 'before'",
                [sink],
            )?;
            if asked > 0 {
                tx.execute("UPDATE sink SET clean_to = 0 WHERE n = ?1", [sink])?;
            }
            Ok(())
        })
    }

    /// What the sink has nothing of stays here, as what was stored before the sink was known: all of it, or
    /// of these projects. Gives how many that are. Looks only at what came since everything was delivered,
    /// and writes nothing where there is nothing.
    pub fn keep_here(&mut self, sink: i64, projects: Option<&[String]>, now: Time) -> Result<u64> {
        const NEW: &str = "FROM episode e WHERE e.n > (SELECT clean_to FROM sink WHERE n = ?1)
             AND (?2 = 'null' OR (SELECT project_path FROM session WHERE n = e.session)
                 IN (SELECT value FROM json_each(?2)))
             AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.id = e.id AND d.sink = ?1
                 AND (d.state <> 'before' OR d.revision = e.revision))";
        let projects = serde_json::to_string(&projects).unwrap_or_default();
        let count = format!("SELECT count(*) {NEW}");
        let new: rusqlite::Result<u64> =
            self.db
                .query_row(&count, params![sink, projects], |row| row.get(0));
        let new = new.map_err(failed("reading what stays here"))?;
        if new > 0 {
            self.write_transaction("noting what stays here", |tx| {
                let sql = format!(
                    "INSERT INTO delivery (id, sink, revision, state, attempts, at, place)
                     SELECT e.id, ?1, e.revision, 'before', 0, ?3, '' {NEW}
                     ON CONFLICT DO UPDATE SET revision = excluded.revision"
                );
                tx.execute(&sql, params![sink, projects, now.0]).map(drop)
            })?;
        }
        Ok(new)
    }

    /// Row numbers of the episodes that are due, in the order in which they happened; not those with
    /// messages that are still to be condensed, and the summaries of their sessions. Looks only at what
    /// came or changed since everything was delivered.
    pub fn due(&self, sink: i64, due: &Due<'_>) -> Result<Vec<i64>> {
        let kept_here = serde_json::to_string(due.kept_here).unwrap_or_default();
        let settled = due.now.0.saturating_sub(due.settled_ms);
        let pending = due.now.0.saturating_sub(due.pending_ms);
        let read = || -> rusqlite::Result<Vec<i64>> {
            self.db
                .prepare_cached(
                    "SELECT e.n FROM episode e
                     WHERE e.n > CASE WHEN ?7 THEN 0 ELSE (SELECT clean_to FROM sink WHERE n = ?1) END
                       AND e.stale = 0
                       AND EXISTS (SELECT 1 FROM body b WHERE b.episode = e.n AND b.text <> '')
                       AND (e.sealed = 1 OR coalesce(e.ended_at, e.indexed_at)
                            <= CASE e.pending_calls WHEN 0 THEN ?2 ELSE ?3 END)
                       AND NOT EXISTS (
                           SELECT 1 FROM delivery d WHERE d.id = e.id AND d.sink = ?1
                             AND d.revision = e.revision AND d.state NOT IN ('gone', 'kept')
                             AND NOT (?7 AND d.state = 'before')
                             AND (d.state <> 'queued' OR d.next_at > ?4))
                       AND (SELECT project_path FROM session WHERE n = e.session)
                           NOT IN (SELECT value FROM json_each(?5))
                       AND (NOT ?6 OR e.file <> 0)
                       AND (?8 IS NULL OR e.source <> ?8)
                       AND e.n NOT IN (SELECT episode FROM condensing WHERE state = 'waiting')
                       AND (e.source <> 'session_summary' OR e.session NOT IN (
                           SELECT x.session FROM condensing c JOIN episode x ON x.n = c.episode
                           WHERE c.state = 'waiting'))
                     ORDER BY coalesce(e.valid_at, e.indexed_at), e.n",
                )?
                .query_map(
                    params![
                        sink,
                        settled,
                        pending,
                        due.now.0,
                        kept_here,
                        due.only_logs,
                        due.history,
                        due.without.map(EpisodeSource::as_str)
                    ],
                    |row| row.get(0),
                )?
                .collect()
        };
        read().map_err(failed("reading what is due"))
    }

    /// Episodes by row number, in that order, with the attempts that failed at `sink` for the same
    /// revision. Those that are no more are left out.
    pub fn outgoing(&self, sink: i64, rows: &[i64]) -> Result<Vec<(Found, u32)>> {
        let read = || -> rusqlite::Result<Vec<(Found, u32)>> {
            let mut all = Vec::with_capacity(rows.len());
            for n in rows {
                for found in found_in(&self.db, "e.n = ?1", &[n])? {
                    let attempts = attempts(&self.db, sink, &found)?;
                    all.push((found, attempts));
                }
            }
            Ok(all)
        };
        read().map_err(failed("reading what is due"))
    }

    /// Notes that these are about to be handed over, before they are: whatever happens then, a later
    /// run looks whether they arrived. Gives those that are noted; the others went or changed since they were
    /// read, and must not be sent: nobody would remove them.
    pub fn sending(&mut self, sink: i64, receipts: &[Receipt], at: Time) -> Result<BTreeSet<Uuid>> {
        self.write_transaction("noting what is sent", |tx| {
            let mut upsert = tx.prepare_cached(
                "INSERT INTO delivery (id, sink, revision, state, attempts, at, place)
                 SELECT ?1, ?2, ?3, 'sent', 0, ?4, ?5
                 WHERE EXISTS (SELECT 1 FROM episode WHERE id = ?1 AND revision = ?3)
                 ON CONFLICT DO UPDATE SET
                     attempts = CASE WHEN revision = excluded.revision THEN attempts ELSE 0 END,
                     (revision, state, at, next_at, place)
                         = (excluded.revision, 'sent', ?4, NULL, ?5)",
            )?;
            let mut noted = BTreeSet::new();
            for sent in receipts {
                let revision = sent.revision as i64;
                let row = params![sent.id.as_bytes(), sink, revision, at.0, sent.place];
                if upsert.execute(row)? > 0 {
                    noted.insert(sent.id);
                }
            }
            Ok(noted)
        })
    }

    /// Notes what became of attempts, and what may be under way after them. Where an episode went or
    /// changed meanwhile, that counts.
    pub fn delivered(&mut self, sink: i64, deliveries: &[Delivery], at: Time) -> Result<()> {
        self.write_transaction("noting what was delivered", |tx| {
            let mut update = tx.prepare_cached(
                "UPDATE delivery SET state = ?4, attempts = ?5, next_at = ?6, error = ?7, at = ?8,
                     asked = CASE WHEN ?9 THEN ?8 ELSE asked END
                 WHERE id = ?1 AND sink = ?2 AND revision = ?3 AND state = 'sent'",
            )?;
            for d in deliveries {
                update.execute(params![
                    d.id.as_bytes(),
                    sink,
                    d.revision as i64,
                    d.state.as_str(),
                    d.attempts,
                    d.next_at.map(|t| t.0),
                    d.error,
                    at.0,
                    d.is_under_way
                ])?;
            }
            Ok(())
        })
    }

    /// Sinks that have episodes which are no more here, by name: how many they are still to be asked
    /// for, and how many they can't remove.
    pub fn left_at_sinks(&self) -> Result<Vec<(String, u64, u64)>> {
        let read = || -> rusqlite::Result<Vec<(String, u64, u64)>> {
            self.db
                .prepare(
                    "SELECT s.name, sum(d.state = 'gone'), sum(d.state = 'kept') FROM delivery d JOIN sink s ON s.n = d.sink
                     WHERE d.state IN ('gone', 'kept') GROUP BY s.name ORDER BY s.name",
                )?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect()
        };
        read().map_err(failed("reading what sinks have still"))
    }

    /// It was delivered, and is no more here.
    pub fn is_removed(&self, id: Uuid) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM delivery
            WHERE id = ?1 AND state IN ('gone', 'kept'))";
        let read = || {
            self.db
                .prepare_cached(sql)?
                .query_row([id.as_bytes()], |row| row.get(0))
        };
        read().map_err(failed("reading deliveries"))
    }

    /// Takes back that these were sent or seen: they wait as before. For what a sink doesn't have,
    /// after it was asked.
    pub fn unsent(&mut self, sink: i64, receipts: &[Receipt], at: Time) -> Result<()> {
        self.write_transaction("noting what was not sent", |tx| {
            let mut update = tx.prepare_cached(
                "UPDATE delivery SET attempts = CASE WHEN state = 'sent'
                         OR state = 'seen' AND error IS NOT NULL THEN attempts ELSE 0 END,
                     state = 'queued', next_at = ?4, at = ?4
                 WHERE id = ?1 AND sink = ?2 AND revision = ?3 AND state IN ('sent', 'seen', 'enriched')",
            )?;
            for sent in receipts {
                update.execute(params![
                    sent.id.as_bytes(),
                    sink,
                    sent.revision as i64,
                    at.0
                ])?;
            }
            tx.execute(LOWER, [sink])?;
            Ok(())
        })
    }

    /// Names of the sinks that hold the episode, as far as anybody knows.
    pub fn sinks_holding(&self, episode: Uuid) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare_cached(
                    "SELECT DISTINCT s.name FROM delivery d JOIN sink s ON s.n = d.sink
                     WHERE d.id = ?1 AND d.state IN ('seen', 'enriched', 'unverified')
                     ORDER BY s.name",
                )?
                .query_map([episode.as_bytes()], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading receipts"))
    }

    /// Row numbers of the episodes that were sent, or were about to be, and that nobody has seen there yet.
    pub fn unconfirmed(&self, sink: i64) -> Result<Vec<i64>> {
        let read = || -> rusqlite::Result<Vec<i64>> {
            self.db
                .prepare_cached(
                    "SELECT e.n FROM delivery d JOIN episode e ON e.id = d.id
                     WHERE d.sink = ?1 AND d.state = 'sent' ORDER BY e.n",
                )?
                .query_map([sink], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading receipts"))
    }

    /// Receipts in one of these states, by id, from after `after` on; at most `limit`.
    pub fn receipts(
        &self,
        sink: i64,
        states: &[State],
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<Receipt>> {
        let after = after.unwrap_or_default();
        let states: Vec<String> = states.iter().map(|s| format!("'{}'", s.as_str())).collect();
        let read = || -> rusqlite::Result<Vec<Receipt>> {
            self.db
                .prepare_cached(&format!(
                    "SELECT id, revision, place FROM delivery
                     WHERE sink = ?1 AND state IN ({}) AND id > ?2 ORDER BY id LIMIT ?3",
                    states.join(", ")
                ))?
                .query_map(params![sink, after.as_bytes(), int(limit as u64)], receipt)?
                .collect()
        };
        read().map_err(failed("reading receipts"))
    }

    /// A sink has removed these, but for the ones that it can't: of what was `gone` nothing else is
    /// left.
    pub fn forget_receipts(
        &mut self,
        sink: i64,
        receipts: &[Receipt],
        kept: &[Receipt],
    ) -> Result<()> {
        self.write_transaction("noting what a sink forgot", |tx| {
            let mut keep = tx.prepare_cached(
                "UPDATE delivery SET state = 'kept'
                 WHERE id = ?1 AND sink = ?2 AND state = 'gone'",
            )?;
            for kept in kept {
                keep.execute(params![kept.id.as_bytes(), sink])?;
            }
            let mut delete = tx.prepare_cached(
                "DELETE FROM delivery WHERE id = ?1 AND sink = ?2 AND state = 'gone'",
            )?;
            for gone in receipts {
                delete.execute(params![gone.id.as_bytes(), sink])?;
            }
            Ok(())
        })
    }

    /// Notes up to where nothing is left to send, so that the next run looks at nothing before it.
    /// `only_logs`: as in [`Due`].
    pub fn clean(&mut self, sink: i64, only_logs: bool) -> Result<()> {
        self.write_transaction("noting what is delivered", |tx| {
            tx.execute(
                "WITH clean (n) AS (SELECT coalesce(
                     (SELECT min(e.n) - 1 FROM episode e
                      WHERE e.n > (SELECT clean_to FROM sink WHERE n = ?1)
                        AND (NOT ?2 OR e.file <> 0) AND NOT EXISTS (
                          SELECT 1 FROM delivery d WHERE d.id = e.id AND d.sink = ?1
                            AND d.revision = e.revision
                            AND d.state NOT IN ('queued', 'sent', 'gone', 'kept'))),
                     (SELECT max(n) FROM episode), 0))
                 UPDATE sink SET clean_to = (SELECT n FROM clean)
                 WHERE n = ?1 AND clean_to <> (SELECT n FROM clean)",
                params![sink, only_logs],
            )?;
            Ok(())
        })
    }

    /// What is given up, the oldest first; of one sink or all.
    pub fn dead_letters(&self, sink: Option<&str>) -> Result<Vec<DeadLetter>> {
        let read = || -> rusqlite::Result<Vec<DeadLetter>> {
            self.db
                .prepare(
                    "SELECT s.name, d.id, d.attempts, d.at, coalesce(d.error, '')
                     FROM delivery d JOIN sink s ON s.n = d.sink
                     WHERE (d.state = 'dead' OR d.state = 'seen' AND d.attempts > 0
                         AND d.next_at IS NULL AND d.error IS NOT NULL)
                       AND (?1 IS NULL OR s.name = ?1) ORDER BY d.at, d.id",
                )?
                .query_map([sink], |row| {
                    Ok(DeadLetter {
                        sink: row.get(0)?,
                        id: Uuid::from_bytes(row.get(1)?),
                        attempts: row.get(2)?,
                        at: Time(row.get(3)?),
                        error: row.get(4)?,
                    })
                })?
                .collect()
        };
        read().map_err(failed("reading dead letters"))
    }

    /// Gives dead letters another life from the first attempt on, or (`replay` false) up for good.
    /// All of them, or those with one of these ids; gives how many.
    pub fn settle_dead(
        &mut self,
        sink: Option<&str>,
        ids: &[Uuid],
        replay: bool,
        at: Time,
    ) -> Result<u64> {
        let dead = self.dead_letters(sink)?;
        let chosen = dead
            .iter()
            .filter(|d| ids.is_empty() || ids.contains(&d.id));
        let chosen: Vec<&DeadLetter> = chosen.collect();
        self.write_transaction("settling dead letters", |tx| {
            let (sent, seen) = match replay {
                true => (
                    "state = 'queued', attempts = 0",
                    "attempts = 0, error = NULL",
                ),
                false => ("state = 'dropped', attempts = 0", "error = NULL"),
            };
            // one that is there and was given up on the way to being enriched stays there
            let its = "WHERE id = ?1 AND sink = (SELECT n FROM sink WHERE name = ?2)";
            for letter in &chosen {
                let key = params![letter.id.as_bytes(), letter.sink, at.0];
                let settle = format!(
                    "UPDATE delivery SET {sent}, next_at = ?3, at = ?3 {its} AND state = 'dead'"
                );
                if tx.execute(&settle, key)? == 0 {
                    let settle = format!("UPDATE delivery SET {seen} {its} AND state = 'seen'");
                    tx.execute(&settle, params![letter.id.as_bytes(), letter.sink])?;
                }
            }
            if replay {
                tx.execute("UPDATE sink SET clean_to = 0", [])?;
            }
            Ok(())
        })?;
        Ok(chosen.len() as u64)
    }

    /// Where else than at these places a sink was given the same episodes: what it has to remove,
    /// so that none of them stands at two places.
    pub fn elsewhere(&self, sink: i64, receipts: &[Receipt]) -> Result<Vec<Receipt>> {
        let read = || -> rusqlite::Result<Vec<Receipt>> {
            let mut select = self.db.prepare_cached(
                "SELECT id, revision, place FROM delivery WHERE id = ?1 AND sink = ?2
                   AND place <> ?3 AND state <> 'before'",
            )?;
            let mut all = Vec::new();
            for new in receipts {
                let row = params![new.id.as_bytes(), sink, new.place];
                all.extend(select.query_row(row, receipt).optional()?);
            }
            Ok(all)
        };
        read().map_err(failed("reading receipts"))
    }

    /// How a sink stands. Reads all its rows.
    pub fn sink_status(&self, sink: i64) -> Result<DeliveryStatus> {
        let read = || -> rusqlite::Result<DeliveryStatus> {
            let mut status = DeliveryStatus::default();
            let mut select = self.db.prepare_cached(
                "SELECT state, count(*), max(at) FROM delivery WHERE sink = ?1 GROUP BY state",
            )?;
            let mut rows = select.query([sink])?;
            while let Some(row) = rows.next()? {
                let state: String = row.get(0)?;
                if [State::Seen, State::Enriched]
                    .iter()
                    .any(|s| s.as_str() == state)
                {
                    let last = row.get::<_, Option<i64>>(2)?.map(Time);
                    status.last_seen = status.last_seen.max(last);
                }
                status.states.insert(state, row.get(1)?);
            }
            Ok(status)
        };
        read().map_err(failed("reading deliveries"))
    }

    /// Deliveries to a sink that were given up and that nobody settled.
    pub fn dead(&self, sink: i64) -> Result<u64> {
        let count = "SELECT count(*) FROM delivery WHERE sink = ?1 AND (state = 'dead'
            OR state = 'seen' AND attempts > 0 AND next_at IS NULL AND error IS NOT NULL)";
        let read = || {
            self.db
                .prepare_cached(count)?
                .query_row([sink], |row| row.get(0))
        };
        read().map_err(failed("reading deliveries"))
    }

    /// All groups that episodes are in.
    pub fn groups(&self) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare(
                    "SELECT text FROM name WHERE n IN (SELECT DISTINCT graph FROM episode)
                     ORDER BY text",
                )?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading groups"))
    }
}

/// Queued deliveries have to be looked at again.
const LOWER: &str = "UPDATE sink SET clean_to = min(clean_to, coalesce(
    (SELECT min(e.n) - 1 FROM delivery d JOIN episode e ON e.id = d.id
     WHERE d.sink = ?1 AND d.state IN ('queued', 'sent')), clean_to)) WHERE n = ?1";

fn attempts(db: &Connection, sink: i64, found: &Found) -> rusqlite::Result<u32> {
    let values: [&dyn ToSql; 3] = [
        &found.episode.id.as_bytes(),
        &sink,
        &(found.revision as i64),
    ];
    db.prepare_cached(
        "SELECT attempts FROM delivery WHERE id = ?1 AND sink = ?2 AND revision = ?3",
    )?
    .query_row(&values[..], |row| row.get(0))
    .optional()
    .map(Option::unwrap_or_default)
}

pub(crate) fn receipt(row: &Row<'_>) -> rusqlite::Result<Receipt> {
    Ok(Receipt {
        id: Uuid::from_bytes(row.get(0)?),
        revision: hash(row, 1)?,
        place: row.get(2)?,
    })
}
