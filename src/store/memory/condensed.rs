//! Long messages that a language model condenses: which episodes wait, what became of each message, and the
//! texts with paragraphs in their places. The queue is a query.

use crate::model::episode::Episode;
use crate::model::time::Time;
use crate::store::error::failed;
use crate::store::ingest::episode_items;
use crate::store::ingest::prepare::Row;
use crate::store::maintenance::redact::rewrite;
use crate::store::memory::spent::{Spent, note_spent};
use crate::store::memory::summaries::Resting;
use crate::store::pending_tasks::set_unsummarised;
use crate::store::tombstones::NOT_FORGOTTEN;
use crate::store::{Result, Store};
use rusqlite::{OptionalExtension, params};

/// What a message is known by: a hash of it and of its template.
pub type MessageKey = [u8; 16];

/// An episode whose messages wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToCondense {
    /// Its row.
    pub n: i64,
    /// The title of its session.
    pub title: Option<String>,
    /// Its project.
    pub project_path: String,
    /// Where its session worked.
    pub cwd: Option<String>,
    /// Its log.
    pub path: String,
    /// JSON, the templates of its messages.
    pub templates: String,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condensed {
    /// A paragraph.
    Made(String),
    /// Somebody is asked again.
    Waiting {
        /// Attempts that failed.
        attempts: u32,
        /// Not before; `None`: any time.
        next_at: Option<Time>,
        /// Why the last one failed.
        error: String,
    },
    /// It stays as it is, and why.
    Refused(String),
}

/// A message with what became of asking about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedMessage {
    /// Which one.
    pub key: MessageKey,
    /// The row of the episode that has it.
    pub episode: i64,
    /// What came of it.
    pub outcome: Condensed,
}

impl Store {
    /// The episodes that are settled and whose messages wait, those of the latest session first.
    pub fn to_condense(&self, resting: Resting) -> Result<Vec<ToCondense>> {
        let before = |ms: i64| resting.now.0.saturating_sub(ms);
        let sql = format!(
            "SELECT e.n, s.title, s.project_path, s.cwd, coalesce(f.path, f.key, ''), c.templates
             FROM condensing c JOIN episode e ON e.n = c.episode JOIN session s ON s.n = e.session
                 LEFT JOIN file f ON f.n = e.file
             WHERE c.state = 'waiting' AND e.stale = 0 AND {NOT_FORGOTTEN}
                 AND EXISTS (SELECT 1 FROM body b WHERE b.episode = e.n AND b.text <> '')
                 AND (e.sealed = 1 OR coalesce(e.ended_at, e.indexed_at)
                     <= CASE e.pending_calls WHEN 0 THEN ?1 ELSE ?2 END)
             ORDER BY coalesce(s.ended, s.started) DESC, s.id, e.valid_at, e.n"
        );
        let read = || -> rusqlite::Result<Vec<ToCondense>> {
            let times = [before(resting.settled_ms), before(resting.pending_ms)];
            let mut select = self.db.prepare_cached(&sql)?;
            let rows = select.query_map(times, |row| {
                Ok(ToCondense {
                    n: row.get(0)?,
                    title: row.get(1)?,
                    project_path: row.get(2)?,
                    cwd: row.get(3)?,
                    path: row.get(4)?,
                    templates: row.get(5)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(failed("reading which messages wait to be condensed"))
    }

    /// An episode with its items, as it is stored now.
    pub fn episode_to_condense(&self, n: i64) -> Result<Option<Episode>> {
        let read = || -> rusqlite::Result<Option<Episode>> {
            let Some(found) = self.found("e.n = ?1", &[&n])?.pop() else {
                return Ok(None);
            };
            let mut episode = found.episode;
            episode.outline = episode_items::read(&self.db, n)?;
            Ok(Some(episode))
        };
        read().map_err(failed("reading an episode"))
    }

    /// What became of a message; `None`: nobody was asked.
    pub fn condensed(&self, key: &MessageKey) -> Result<Option<Condensed>> {
        let read = || {
            let sql =
                "SELECT state, text, attempts, next_at, error FROM condensed WHERE content = ?1";
            let mut select = self.db.prepare_cached(sql)?;
            let found = select.query_row([key.as_slice()], |row| {
                let error = row.get::<_, Option<String>>(4)?.unwrap_or_default();
                Ok(match row.get::<_, String>(0)?.as_str() {
                    "made" => Condensed::Made(row.get(1)?),
                    "refused" => Condensed::Refused(error),
                    _ => Condensed::Waiting {
                        attempts: row.get(2)?,
                        next_at: row.get::<_, Option<i64>>(3)?.map(Time),
                        error,
                    },
                })
            });
            found.optional()
        };
        read().map_err(failed("reading a condensed message"))
    }

    /// Notes what came of a question, and what it cost, in one transaction.
    pub fn put_condensed(&mut self, asked: &[AskedMessage], spent: Spent, at: Time) -> Result<()> {
        self.write_transaction("noting condensed messages", |tx| {
            let mut upsert = tx.prepare_cached(
                "INSERT INTO condensed (content, episode, state, text, attempts, next_at, error, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT DO UPDATE SET (state, text, attempts, next_at, error, at) = (
                     excluded.state, excluded.text, excluded.attempts, excluded.next_at,
                     excluded.error, excluded.at)",
            )?;
            for AskedMessage {
                key,
                episode,
                outcome,
            } in asked
            {
                let (state, text, attempts, next_at, error) = match outcome {
                    Condensed::Made(text) => ("made", Some(text), 0, None, None),
                    Condensed::Refused(why) => ("refused", None, 0, None, Some(why)),
                    Condensed::Waiting {
                        attempts,
                        next_at,
                        error,
                    } => ("waiting", None, *attempts, *next_at, Some(error)),
                };
                let next_at = next_at.map(|t| t.0);
                upsert.execute(params![
                    key.as_slice(),
                    episode,
                    state,
                    text,
                    attempts,
                    next_at,
                    error,
                    at.0
                ])?;
            }
            note_spent(tx, spent, at)
        })
    }

    /// Writes an episode whose messages wait no more: a new revision where its text changed. `complete`:
    /// none of them was given up.
    pub fn put_condensed_episode(
        &mut self,
        n: i64,
        episode: Episode,
        complete: bool,
    ) -> Result<()> {
        let (id, sealed) = (episode.id, episode.sealed);
        let row = Row::new(episode, sealed);
        self.write_transaction("storing a condensed episode", |tx| {
            let state = if complete { "done" } else { "left" };
            tx.prepare_cached("UPDATE condensing SET state = ?2 WHERE episode = ?1")?
                .execute(params![n, state])?;
            let (old, session): (i64, i64) = tx
                .prepare_cached("SELECT revision, session FROM episode WHERE n = ?1")?
                .query_row([n], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if old == row.revision {
                return Ok(());
            }
            rewrite(tx, n, &row)?;
            episode_items::resize(tx, n, &row.outline)?;
            // what a sink didn't ask for isn't news because it is shorter now
            tx.prepare_cached(
                "UPDATE delivery SET revision = ?3 WHERE id = ?1 AND state = 'before' AND revision = ?2",
            )?
            .execute(params![id.as_bytes(), old, row.revision])?;
            set_unsummarised(tx, session)
        })
    }
}
