//! What language models tell of sessions, and which sessions they are still to be asked about: the
//! queue is a query.

use crate::model::summary::Summary;
use crate::model::time::Time;
use crate::store::columns::hash;
use crate::store::compression::{Json, pack_json};
use crate::store::damaged_rows::sound_or_none;
use crate::store::error::failed;
use crate::store::ingest::write::Stored;
use crate::store::memory::spent::{Spent, note_spent};
use crate::store::memory::summaries::{SummaryUpdate, Unsummarised, content, put_all};
use crate::store::tombstones::NOT_FORGOTTEN;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

/// A session that a model is to be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingSummary {
    /// Its id.
    pub id: String,
    /// The title to show.
    pub title: Option<String>,
    /// Its project.
    pub project_path: String,
    /// The last git branch.
    pub branch: Option<String>,
    /// Attempts that failed.
    pub attempts: u32,
}

impl From<PendingSummary> for Unsummarised {
    fn from(pending: PendingSummary) -> Unsummarised {
        Unsummarised {
            id: pending.id,
            title: pending.title,
            project_path: pending.project_path,
            branch: pending.branch,
        }
    }
}

/// What became of asking about a session.
#[derive(Clone, Debug, PartialEq)]
pub enum LlmSummary {
    /// Nobody was asked yet, or somebody is asked again.
    Pending {
        /// Attempts that failed.
        attempts: u32,
        /// Not before; `None`: in the next run.
        next_at: Option<Time>,
        /// Why the last one failed.
        error: Option<String>,
    },
    /// The facts with what a model added.
    Summarized(Box<Summary>),
    /// The facts alone, for good, and why.
    Refused(String),
}

impl Store {
    /// What a model said to the session with exactly this id, or why it didn't. `None`: its summary was
    /// not written, or the session changed since.
    pub fn llm_summary(&self, session: &str) -> Result<Option<LlmSummary>> {
        let read = || -> rusqlite::Result<Option<LlmSummary>> {
            let read = self
                .db
                .prepare_cached(
                    "SELECT s.n, t.content, t.state, t.attempts, t.next_at, t.error, t.summary
                     FROM telling t JOIN session s ON s.n = t.session WHERE s.id = ?1",
                )?
                .query_row([session], |row| {
                    Ok((row.get::<_, i64>(0)?, hash(row, 1)?, llm_summary(row, 2)?))
                });
            match sound_or_none(read.optional())?.flatten() {
                Some((n, about, llm_summary)) if content(&self.db, n)? == about => {
                    Ok(Some(llm_summary))
                }
                _ => Ok(None),
            }
        };
        read().map_err(failed("reading a model's answer"))
    }

    /// Sessions whose summary is written of facts alone and that a model may be asked about now, the
    /// latest first. Left out are those that ended before `since` (without times: never), and those
    /// of which only sinks hold the texts, and those with messages that are still to be condensed.
    pub fn pending_summaries(&self, now: Time, since: Option<Time>) -> Result<Vec<PendingSummary>> {
        let sql = format!(
            "SELECT s.id, s.title, s.project_path, t.attempts, s.branch
             FROM telling t JOIN session s ON s.n = t.session
             WHERE t.state = 'waiting' AND coalesce(t.next_at, 0) <= ?1
                 AND coalesce(s.ended, s.started, ?2) >= ?2 AND {NOT_FORGOTTEN}
                 AND NOT EXISTS (SELECT 1 FROM unsummarised u WHERE u.session = s.n)
                 AND NOT EXISTS (SELECT 1 FROM condensing c JOIN episode x ON x.n = c.episode
                     WHERE c.state = 'waiting' AND x.session = s.n)
                 AND NOT EXISTS (SELECT 1 FROM episode e JOIN body b ON b.episode = e.n
                     WHERE e.session = s.n AND e.source = 'session' AND b.text = '')
             ORDER BY coalesce(s.ended, s.started) DESC, s.id"
        );
        let read = || -> rusqlite::Result<Vec<PendingSummary>> {
            let values = [now.0, since.map_or(i64::MIN, |since| since.0)];
            let mut select = self.db.prepare_cached(&sql)?;
            let rows = select.query_map(values, |row| {
                Ok(PendingSummary {
                    id: row.get(0)?,
                    title: row.get(1)?,
                    project_path: row.get(2)?,
                    attempts: row.get(3)?,
                    branch: row.get(4)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(failed(
            "reading which sessions a model is to be asked about",
        ))
    }

    /// When the model may be asked again that didn't answer the last time; `None`: at once.
    pub fn model_rests_until(&self, now: Time) -> Result<Option<Time>> {
        self.db
            .query_row(
                "SELECT max(next_at) FROM (
                     SELECT next_at FROM telling WHERE state = 'waiting'
                     UNION ALL SELECT next_at FROM condensed WHERE state = 'waiting')
                 WHERE next_at > ?1",
                [now.0],
                |row| Ok(row.get::<_, Option<i64>>(0)?.map(Time)),
            )
            .map_err(failed("reading when a model may be asked again"))
    }

    /// Models are to be asked in the next run about every session, message and text that was given up, or
    /// that waits for another attempt.
    pub fn ask_all_again(&mut self) -> Result<()> {
        self.writable()?;
        let sql = "UPDATE telling SET (state, attempts, next_at) = ('waiting', 0, NULL)
            WHERE state = 'refused' OR state = 'waiting' AND attempts > 0";
        let texts = "DELETE FROM embedding WHERE state <> 'made'";
        let messages = "DELETE FROM condensed WHERE state <> 'made'";
        let episodes = "UPDATE condensing SET state = 'waiting' WHERE state = 'left'";
        for sql in [sql, texts, messages, episodes] {
            let changed = self.db.execute(sql, []);
            self.dirty |= changed.map_err(failed("asking a model again"))? > 0;
        }
        Ok(())
    }

    /// Notes what became of asking about a session, and what that cost. `summary` says it too.
    pub fn put_llm_summary(
        &mut self,
        session: &str,
        llm_summary: &LlmSummary,
        summary: Option<SummaryUpdate>,
        spent: Spent,
        at: Time,
    ) -> Result<Stored> {
        self.writable()?;
        let mut write = || -> rusqlite::Result<Stored> {
            let tx = self
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let stored = put_all(&tx, &mut self.names, summary.as_slice(), at)?;
            note(&tx, session, llm_summary, at)?;
            note_spent(&tx, spent, at)?;
            tx.commit()?;
            Ok(stored)
        };
        let stored = write().map_err(failed("storing a model's answer"));
        if stored.is_err() {
            self.names.clear();
        }
        self.dirty = true;
        stored
    }
}

fn note(
    db: &Connection,
    session: &str,
    llm_summary: &LlmSummary,
    at: Time,
) -> rusqlite::Result<()> {
    let (state, attempts, next_at, error, summary) = match llm_summary {
        LlmSummary::Pending {
            attempts,
            next_at,
            error,
        } => ("waiting", *attempts, *next_at, error.as_deref(), None),
        LlmSummary::Summarized(summary) => ("told", 0, None, None, Some(pack_json(summary))),
        LlmSummary::Refused(why) => ("refused", 0, None, Some(why.as_str()), None),
    };
    let values = params![
        session,
        state,
        attempts,
        next_at.map(|t| t.0),
        error,
        summary,
        at.0
    ];
    db.prepare_cached(
        "UPDATE telling SET (state, attempts, next_at, error, summary, at)
             = (?2, ?3, ?4, ?5, ?6, ?7)
         WHERE session = (SELECT n FROM session WHERE id = ?1)",
    )?
    .execute(values)
    .map(drop)
}

fn llm_summary(row: &Row<'_>, first: usize) -> rusqlite::Result<LlmSummary> {
    let state: String = row.get(first)?;
    let error: Option<String> = row.get(first + 3)?;
    Ok(match state.as_str() {
        "told" => {
            let Json(summary) = row.get::<_, Json<Summary>>(first + 4)?;
            LlmSummary::Summarized(Box::new(summary))
        }
        "refused" => LlmSummary::Refused(error.unwrap_or_default()),
        _ => LlmSummary::Pending {
            attempts: row.get(first + 1)?,
            next_at: row.get::<_, Option<i64>>(first + 2)?.map(Time),
            error,
        },
    })
}
