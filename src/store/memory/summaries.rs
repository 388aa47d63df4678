//! Sessions in one summary, kept as episodes of their own.
//! Knows which sessions wait for a summary; refuses to know what a summary says.

use crate::model::activity::ActivityTally;
use crate::model::episode::Episode;
use crate::model::time::Time;
use crate::store::error::failed;
use crate::store::ingest::episode_items;
use crate::store::ingest::prepare::Row;
use crate::store::ingest::write::EpisodeWriter;
use crate::store::ingest::write::{Stamp, Stored};
use crate::store::removal::untell;
use crate::store::search::episodes::{Found, nameless};
use crate::store::tombstones::NOT_FORGOTTEN;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use uuid::Uuid;
use xxhash_rust::xxh3::Xxh3;

/// Of the ids of summaries: UUIDv5 in this namespace of the session's id.
const IDS: Uuid = Uuid::from_u128(0x1b8f_5f9e_6c1d_5a0e_9a57_3c3f_2d84_b6a1);

/// A session that waits for its summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsummarised {
    /// Its id.
    pub id: String,
    /// The title to show.
    pub title: Option<String>,
    /// Its project.
    pub project_path: String,
    /// The last git branch.
    pub branch: Option<String>,
}

/// When a session rests: nobody writes to it any more.
#[derive(Clone, Copy, Debug)]
pub struct Resting {
    /// The run's time.
    pub now: Time,
    /// Without a record for so many milliseconds.
    pub settled_ms: i64,
    /// The same where calls wait for their results.
    pub pending_ms: i64,
}

/// What becomes of a session's summary.
#[derive(Debug)]
pub struct SummaryUpdate {
    session: String,
    group: String,
    made_by: String,
    says: Says,
}

#[derive(Debug)]
enum Says {
    This(Box<Row>),
    Nothing,
    AsBefore,
}

impl SummaryUpdate {
    /// It says this from now on. It goes to the group that the session's episodes go to, and is made
    /// by what made them.
    pub fn new(session: &str, group: &str, made_by: &str, episode: Episode) -> SummaryUpdate {
        SummaryUpdate {
            group: group.to_owned(),
            made_by: made_by.to_owned(),
            says: Says::This(Box::new(Row::new(episode, true))),
            ..SummaryUpdate::nothing(session)
        }
    }

    /// There is nothing to tell, and what was told goes.
    pub fn nothing(session: &str) -> SummaryUpdate {
        SummaryUpdate {
            session: session.to_owned(),
            group: String::new(),
            made_by: String::new(),
            says: Says::Nothing,
        }
    }

    /// It stays as it is.
    pub fn as_before(session: &str) -> SummaryUpdate {
        SummaryUpdate {
            says: Says::AsBefore,
            ..SummaryUpdate::nothing(session)
        }
    }

    /// The id of a session's summary: the same wherever it is made.
    pub fn id(session: &str) -> Uuid {
        Uuid::new_v5(&IDS, session.as_bytes())
    }
}

impl Store {
    /// Ids of sessions that rest and changed since their summary was written, in their order.
    pub fn unsummarised(&self, resting: Resting) -> Result<Vec<String>> {
        let before = |ms: i64| resting.now.0.saturating_sub(ms);
        // CROSS: the few that changed are read, however many sessions there are
        let sql = format!(
            "SELECT s.id FROM unsummarised u CROSS JOIN session s ON s.n = u.session
             WHERE {NOT_FORGOTTEN}
                 AND NOT EXISTS (SELECT 1 FROM episode e WHERE e.session = s.n AND e.stale = 1)
                 AND coalesce(s.ended, s.started, 0) <= iif(EXISTS (SELECT 1 FROM episode e
                     WHERE e.session = s.n AND e.sealed = 0 AND e.pending_calls > 0), ?2, ?1)
             ORDER BY s.id"
        );
        let read = || -> rusqlite::Result<Vec<String>> {
            let times = [before(resting.settled_ms), before(resting.pending_ms)];
            let mut select = self.db.prepare_cached(&sql)?;
            select.query_map(times, |row| row.get(0))?.collect()
        };
        read().map_err(failed("reading which sessions wait for a summary"))
    }

    /// What the summary of the session with exactly this id tells beside its texts; `None`: there is none.
    pub fn unsummarised_session(&self, id: &str) -> Result<Option<Unsummarised>> {
        let read = || -> rusqlite::Result<Option<Unsummarised>> {
            let mut select = self
                .db
                .prepare_cached("SELECT title, project_path, branch FROM session WHERE id = ?1")?;
            let session = select.query_row([id], |row| {
                Ok(Unsummarised {
                    id: id.to_owned(),
                    title: row.get(0)?,
                    project_path: row.get(1)?,
                    branch: row.get(2)?,
                })
            });
            session.optional()
        };
        read().map_err(failed("reading a session that waits for a summary"))
    }

    /// The chunks of a session as its summary takes them, in the order of time: with their items, without
    /// tools and paths. Where they have more than `bytes_max` of text: the first one and the last ones.
    /// And what the work of all of them is told by.
    pub fn chunks(&self, session: &str, bytes_max: u64) -> Result<(Vec<Found>, ActivityTally)> {
        let read = || -> rusqlite::Result<(Vec<Found>, ActivityTally)> {
            let sizes: Vec<(i64, u64)> = self
                .db
                .prepare_cached(
                    "SELECT e.n, e.body_bytes FROM episode e JOIN session s ON s.n = e.session
                     WHERE s.id = ?1 AND e.source = 'session' ORDER BY e.valid_at, e.part, e.id",
                )?
                .query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            let mut left = bytes_max;
            let fits = |(_, bytes): &&(i64, u64)| {
                let fits = *bytes <= left;
                left = left.saturating_sub(*bytes);
                fits
            };
            let last = sizes.iter().rev().take_while(fits).count();
            let first = usize::from(last < sizes.len());
            let left_out = first..sizes.len() - last;
            let mut chunks = Vec::with_capacity(first + last);
            let mut tally = ActivityTally::default();
            for (nth, (n, _)) in sizes.iter().enumerate() {
                if left_out.contains(&nth) {
                    tally.merge(&self.counted(*n)?);
                    continue;
                }
                for (_, mut found) in nameless(&self.db, "e.n = ?1", &[n])? {
                    found.episode.outline = episode_items::read(&self.db, *n)?;
                    found
                        .episode
                        .exchanges
                        .iter()
                        .for_each(|e| tally.merge(&e.tally));
                    chunks.push(found);
                }
            }
            Ok((chunks, tally))
        };
        read().map_err(failed("reading a session's chunks"))
    }

    /// The summary of the session with exactly this id; `None`: it has none yet.
    pub fn summary(&self, session: &str) -> Result<Option<Found>> {
        let id = SummaryUpdate::id(session);
        self.found("e.id = ?1", &[&id.as_bytes().as_slice()])
            .map(|mut found| found.pop())
            .map_err(failed("reading a summary"))
    }

    /// What the summary of the session with exactly this id calls it; `None`: it has none yet.
    pub fn summary_title(&self, session: &str) -> Result<Option<String>> {
        let id = SummaryUpdate::id(session);
        let read = || {
            self.db
                .prepare_cached("SELECT title FROM episode WHERE id = ?1")?
                .query_row([id.as_bytes().as_slice()], |row| row.get(0))
                .optional()
        };
        read().map_err(failed("reading a summary's title"))
    }

    /// Writes summaries, or takes them away, in one transaction; one that says what it said is not
    /// written.
    pub fn put_summaries(
        &mut self,
        summaries: &[SummaryUpdate],
        indexed_at: Time,
    ) -> Result<Stored> {
        self.writable()?;
        if summaries.is_empty() {
            return Ok(Stored::default());
        }
        let before = self.db.total_changes();
        let mut write = || -> rusqlite::Result<Stored> {
            let tx = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let stored = put_all(&tx, &mut self.names, summaries, indexed_at)?;
            tx.commit()?;
            Ok(stored)
        };
        let stored = write().map_err(failed("storing summaries"));
        if stored.is_err() {
            self.names.clear();
        }
        self.dirty |= self.db.total_changes() != before;
        stored
    }
}

/// Writes summaries, group by group.
pub(crate) fn put_all(
    db: &Connection,
    names: &mut FxHashMap<String, i64>,
    summaries: &[SummaryUpdate],
    at: Time,
) -> rusqlite::Result<Stored> {
    let mut by_group: BTreeMap<&str, Vec<&SummaryUpdate>> = BTreeMap::new();
    for summary in summaries {
        by_group.entry(&summary.group).or_default().push(summary);
    }
    let mut stored = Stored::default();
    for (group, summaries) in by_group {
        let stamp = Stamp {
            indexed_at: at,
            group,
        };
        let mut writer = EpisodeWriter::new(db, names, &stamp);
        for summary in summaries {
            put(db, summary, at, &mut writer)?;
        }
        stored.merge(writer.finish()?);
    }
    Ok(stored)
}

fn put<'a>(
    db: &Connection,
    summary: &'a SummaryUpdate,
    at: Time,
    writer: &mut EpisodeWriter<'a>,
) -> rusqlite::Result<()> {
    // it lies where the session's first words do
    let place: Option<(i64, i64)> = db
        .prepare_cached(
            "SELECT s.n, e.file FROM session s JOIN episode e ON e.session = s.n
             WHERE s.id = ?1 AND e.source = 'session'
             ORDER BY e.stream IS NOT NULL, e.valid_at, e.part LIMIT 1",
        )?
        .query_row([&summary.session], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match (place, &summary.says) {
        (Some(_), Says::AsBefore) => {}
        (Some((session, file)), Says::This(row)) => {
            writer.upsert(session, file, row, &summary.made_by)?;
            keep_from_sinks(db, session, at)?;
            ask_again(db, session)?;
        }
        (place, _) => {
            writer.remove_id(SummaryUpdate::id(&summary.session))?;
            place.map_or(Ok(()), |(session, _)| untell(db, session))?;
        }
    }
    db.prepare_cached(
        "DELETE FROM unsummarised WHERE session = (SELECT n FROM session WHERE id = ?1)",
    )?
    .execute([&summary.session])?;
    Ok(())
}

/// A sink that didn't ask for what was before it isn't told of it by its summary either.
fn keep_from_sinks(db: &Connection, session: i64, at: Time) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO delivery (id, sink, revision, state, attempts, at, place)
         SELECT p.id, s.n, p.revision, 'before', 0, ?2, '' FROM sink s JOIN episode p
             ON p.session = ?1 AND p.source = 'session_summary'
         WHERE NOT EXISTS (SELECT 1 FROM episode e
             WHERE e.session = ?1 AND e.source = 'session' AND NOT EXISTS (
                 SELECT 1 FROM delivery d
                 WHERE d.sink = s.n AND d.id = e.id AND d.state = 'before'
                     AND d.revision = e.revision))
         ON CONFLICT DO UPDATE SET revision = excluded.revision WHERE state = 'before'",
    )?
    .execute(params![session, at.0])
    .map(drop)
}

/// What a session's chunks say, as a number.
pub(crate) fn content(db: &Connection, session: i64) -> rusqlite::Result<u64> {
    let mut select = db.prepare_cached(
        "SELECT id, revision FROM episode WHERE session = ?1 AND source = 'session' ORDER BY id",
    )?;
    let mut rows = select.query([session])?;
    let mut content = Xxh3::new();
    while let Some(row) = rows.next()? {
        content.update(&row.get::<_, [u8; 16]>(0)?);
        content.update(&row.get::<_, i64>(1)?.to_le_bytes());
    }
    Ok(content.digest())
}

/// A model is to be asked about the session as it is now, unless it was.
fn ask_again(db: &Connection, session: i64) -> rusqlite::Result<()> {
    let content = content(db, session)? as i64;
    db.prepare_cached(
        "INSERT INTO telling (session, content, state) VALUES (?1, ?2, 'waiting')
         ON CONFLICT DO UPDATE SET
             (content, state, attempts, next_at, error, summary, at)
                 = (excluded.content, 'waiting', 0, NULL, NULL, NULL, NULL)
             WHERE content <> excluded.content",
    )?
    .execute(params![session, content])
    .map(drop)
}
