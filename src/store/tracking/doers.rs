//! Who did what git and files tell: what there is to judge it by, and the judgement. It is made in
//! `tracking`; here is only which ones wait for it.

use crate::model::file::FileFacts;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::columns::agent;
use crate::store::compression::Json;
use crate::store::damaged_rows::sound;
use crate::store::error::failed;
use crate::store::ingest::episode_items;
use crate::store::search::episodes::{Found, nameless};
use crate::store::{Result, Store};
use rusqlite::{OptionalExtension, params};
use uuid::Uuid;

/// A session that has a log, with the time that it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSpan {
    /// `session.n`.
    pub n: i64,
    /// Its project.
    pub project_path: String,
    /// Its first record.
    pub started: Time,
    /// Its last one.
    pub ended: Time,
}

/// A repository whose operations are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationExtent {
    /// Its namespace.
    pub namespace: String,
    /// Its root.
    pub project_path: String,
    /// When the first one was done.
    pub since: Time,
    /// How many there are.
    pub operations: u64,
}

/// A change of a file that nobody judged yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnjudgedFile {
    /// `tracked_episode.n`.
    pub n: i64,
    /// The tracked project's root.
    pub root: String,
    /// When it happened, or was seen.
    pub at: Time,
    /// What is known of it.
    pub facts: FileFacts,
}

impl Store {
    /// Who did the operation with this id.
    pub fn operation_agent(&self, id: Uuid) -> Result<Agent> {
        let sql = "SELECT CASE WHEN agent = 'person'
                 AND at < (SELECT min(started) FROM session WHERE standing >= 0)
             THEN 'unknown' ELSE coalesce(agent, 'unknown') END
             FROM git_operation WHERE id = ?1";
        let known = self.db.prepare_cached(sql).and_then(|mut select| {
            let row = select.query_row([id.as_bytes()], |row| agent(row, 0));
            row.optional()
        });
        Ok(known
            .map_err(failed("reading who did it"))?
            .unwrap_or(Agent::UNKNOWN))
    }

    /// Operations that nobody judged since they or the sessions around them changed: number and id, the
    /// first ones first, at most so many.
    pub fn unjudged_operations(&self, limit: u32) -> Result<Vec<(i64, Uuid)>> {
        let read = || -> rusqlite::Result<Vec<(i64, Uuid)>> {
            self.db
                .prepare_cached(
                    "SELECT n, id FROM git_operation WHERE judged = 0 ORDER BY at LIMIT ?1",
                )?
                .query_map([limit], |row| {
                    Ok((row.get(0)?, Uuid::from_bytes(row.get(1)?)))
                })?
                .collect()
        };
        read().map_err(failed("reading what is to be judged"))
    }

    /// The same of files; those that git wrote are told by their operation.
    pub fn unjudged_files(&self, limit: u32) -> Result<Vec<UnjudgedFile>> {
        let read = || -> rusqlite::Result<Vec<UnjudgedFile>> {
            self.db
                .prepare_cached(
                    "SELECT t.n, p.root, t.at, t.facts FROM tracked_episode t
                     JOIN tracked_project p ON p.n = t.project
                     WHERE t.judged = 0 ORDER BY t.at LIMIT ?1",
                )?
                .query_map([limit], |row| {
                    let Json(facts) = row.get(3)?;
                    Ok(UnjudgedFile {
                        n: row.get(0)?,
                        root: row.get(1)?,
                        at: Time(row.get(2)?),
                        facts,
                    })
                })?
                .filter_map(sound)
                .collect()
        };
        read().map_err(failed("reading what is to be judged"))
    }

    /// Notes who did these operations.
    pub fn put_operation_agents(&mut self, judged: &[(i64, Agent)]) -> Result<()> {
        self.put_agents("git_operation", judged)
    }

    /// Notes who changed these files.
    pub fn put_file_agents(&mut self, judged: &[(i64, Agent)]) -> Result<()> {
        self.put_agents("tracked_episode", judged)
    }

    /// What a log once proved stays: logs are deleted.
    fn put_agents(&mut self, table: &str, judged: &[(i64, Agent)]) -> Result<()> {
        let sql = format!(
            "UPDATE {table} SET judged = 1, agent = CASE
                 WHEN ?2 IN ('person', 'unknown') AND agent NOT IN ('person', 'unknown') THEN agent
                 ELSE ?2 END WHERE n = ?1"
        );
        self.write_transaction("noting who did it", |tx| {
            let mut update = tx.prepare_cached(&sql)?;
            for (n, agent) in judged {
                update.execute(params![n, agent.as_str()])?;
            }
            Ok(())
        })
    }

    /// The repositories whose operations are stored.
    pub fn operation_extents(&self) -> Result<Vec<OperationExtent>> {
        let read = || -> rusqlite::Result<Vec<OperationExtent>> {
            self.db
                .prepare_cached(
                    "SELECT s.namespace, s.project_path, min(o.at), count(*)
                     FROM git_operation o JOIN session s ON s.n = o.session GROUP BY o.session",
                )?
                .query_map([], |row| {
                    Ok(OperationExtent {
                        namespace: row.get(0)?,
                        project_path: row.get(1)?,
                        since: Time(row.get(2)?),
                        operations: row.get(3)?,
                    })
                })?
                .collect()
        };
        read().map_err(failed("reading what is known of repositories"))
    }

    /// All sessions that have logs and times.
    pub fn session_spans(&self) -> Result<Vec<SessionSpan>> {
        let read = || -> rusqlite::Result<Vec<SessionSpan>> {
            self.db
                .prepare_cached(
                    "SELECT n, project_path, started, coalesce(ended, started) FROM session
                     WHERE standing >= 0 AND started IS NOT NULL ORDER BY started",
                )?
                .query_map([], |row| {
                    Ok(SessionSpan {
                        n: row.get(0)?,
                        project_path: row.get(1)?,
                        started: Time(row.get(2)?),
                        ended: Time(row.get(3)?),
                    })
                })?
                .collect()
        };
        read().map_err(failed("reading when sessions were"))
    }

    /// Chunks of a session, sub-agents' too, that were under way in that time, with their items; the latest
    /// first, at most so many.
    pub fn session_chunks(
        &self,
        session: i64,
        (since, until): (Time, Time),
        limit: u32,
    ) -> Result<Vec<Found>> {
        let read = || -> rusqlite::Result<Vec<Found>> {
            let condition = "s.n = ?1 AND e.source = 'session' AND s.standing >= 0
                 AND e.valid_at <= ?2 AND coalesce(e.ended_at, e.valid_at) >= ?3
                 ORDER BY e.valid_at DESC, e.id LIMIT ?4";
            let values: [&dyn rusqlite::ToSql; 4] = [&session, &until.0, &since.0, &limit];
            let found = nameless(&self.db, condition, &values)?.into_iter();
            let with_items = |(n, mut found): (i64, Found)| {
                found.episode.outline = episode_items::read(&self.db, n)?;
                Ok(found)
            };
            found.map(with_items).collect()
        };
        read().map_err(failed("reading who was at work"))
    }
}
