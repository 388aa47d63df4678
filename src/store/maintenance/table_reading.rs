//! The units of `table_units`, read whole.

use crate::model::git::GitOperation;
use crate::model::item::Mark;
use crate::model::ledger::Ledger;
use crate::model::session::SessionFacts;
use crate::model::source::Agent;
use crate::store::compression::Json;
use crate::store::damaged_rows::{sound, sound_or_none};
use crate::store::error::failed;
use crate::store::ingest::episode_items;
use crate::store::search::episodes::{Found, found_in};
use crate::store::{Result, SessionRow, Store};
use rusqlite::params;
use std::collections::BTreeMap;
use uuid::Uuid;

/// An episode with what tables want of it.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeEpisode {
    /// The episode, without its outline.
    pub found: Found,
    /// Where its items are in its text.
    pub outline: Vec<Mark>,
    /// UTF-8 bytes of its text, also where sinks alone have it.
    pub text_bytes: u64,
}

/// A session with everything that is stored of it.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeSession {
    /// The session.
    pub row: SessionRow,
    /// Its chunks and its summary.
    pub episodes: Vec<WholeEpisode>,
    /// Of each log its path, the stream that it is, and the account of its lines.
    pub logs: Vec<(String, Option<String>, Ledger)>,
}

/// A git operation with who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedOperation {
    /// `git_batch_id`.
    pub id: Uuid,
    /// What was done.
    pub git: GitOperation,
    /// Who did it; `None`: nobody judged it yet.
    pub done_by: Option<Agent>,
}

/// What happened in one month of what a project has besides logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MonthWithoutLog {
    /// Memories, what is told of git operations, files.
    pub episodes: Vec<WholeEpisode>,
    /// Git operations.
    pub operations: Vec<JudgedOperation>,
}

/// The month of `e.valid_at` or `o.at` is `?2`.
const IN_MONTH: &str = "coalesce(strftime('%Y-%m', {} / 1000, 'unixepoch'), 'none') = ?2";

impl Store {
    /// A session that has a log; `None` where there is none with exactly this id.
    pub fn whole_session(&self, session: &str) -> Result<Option<WholeSession>> {
        let Some(row) = self.session_of_id(session)? else {
            return Ok(None);
        };
        let read = || -> rusqlite::Result<WholeSession> {
            Ok(WholeSession {
                episodes: self.whole("s.id = ?1", &[&session])?,
                logs: self.accounts_of(session)?,
                row,
            })
        };
        read().map(Some).map_err(failed("reading a session"))
    }

    /// One month of a session without a log.
    pub fn month_without_log(&self, session: &str, month: &str) -> Result<MonthWithoutLog> {
        let read = || -> rusqlite::Result<MonthWithoutLog> {
            let condition = format!("s.id = ?1 AND {}", IN_MONTH.replace("{}", "e.valid_at"));
            let sql = format!(
                "SELECT o.id, o.deed, o.agent FROM git_operation o JOIN session s ON s.n = o.session
                 WHERE s.id = ?1 AND {} ORDER BY o.at, o.id",
                IN_MONTH.replace("{}", "o.at")
            );
            let mut select = self.db.prepare_cached(&sql)?;
            let operations = select.query_map(params![session, month], |row| {
                let agent: Option<String> = row.get(2)?;
                Ok(JudgedOperation {
                    id: Uuid::from_bytes(row.get(0)?),
                    git: row.get::<_, Json<GitOperation>>(1)?.0,
                    done_by: agent.as_deref().map(Agent::of),
                })
            })?;
            Ok(MonthWithoutLog {
                episodes: self.whole(&condition, &[&session, &month])?,
                operations: operations
                    .filter_map(sound)
                    .collect::<rusqlite::Result<_>>()?,
            })
        };
        read().map_err(failed("reading what happened in a month"))
    }

    fn whole(
        &self,
        condition: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> rusqlite::Result<Vec<WholeEpisode>> {
        let sql = format!(
            "SELECT e.id, e.n, e.body_bytes FROM episode e JOIN session s ON s.n = e.session
             WHERE {condition}"
        );
        let numbers: BTreeMap<[u8; 16], (i64, u64)> = self
            .db
            .prepare_cached(&sql)?
            .query_map(values, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
            .collect::<rusqlite::Result<_>>()?;
        let found = found_in(&self.db, condition, values)?;
        let whole = found.into_iter().filter_map(|found| {
            let (n, text_bytes) = *numbers.get(found.episode.id.as_bytes())?;
            Some(
                episode_items::read(&self.db, n).map(|outline| WholeEpisode {
                    found,
                    outline,
                    text_bytes,
                }),
            )
        });
        whole.collect()
    }

    fn accounts_of(
        &self,
        session: &str,
    ) -> rusqlite::Result<Vec<(String, Option<String>, Ledger)>> {
        type State = Json<(Ledger, SessionFacts)>;
        let mut select = self.db.prepare_cached(
            "SELECT coalesce(f.path, f.key), f.stream, fold.sealed, fold.tail
             FROM file f JOIN session s ON s.n = f.session JOIN fold ON fold.file = f.n
             WHERE s.id = ?1 ORDER BY f.key",
        )?;
        let mut rows = select.query([session])?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            let mut sum = Ledger::default();
            for column in 2..4 {
                if let Some(Json((ledger, _))) = sound_or_none(row.get::<_, State>(column))? {
                    sum.merge(&ledger);
                }
            }
            all.push((row.get(0)?, row.get(1)?, sum));
        }
        Ok(all)
    }
}
