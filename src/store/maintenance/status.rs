//! What is in the store, in numbers: files, sessions, episodes, lines, oddities, bytes.
//! Knows sums; refuses to know what a run would still have to do.

use crate::model::ledger::Ledger;
use crate::model::source::{Agent, Span};
use crate::model::time::Time;
use crate::store::columns::{agent, place};
use crate::store::error::failed;
use crate::store::schema::database_state::beside;
use crate::store::search::sessions::facts;
use crate::store::tombstones::{BY_TIME, NOT_FORGOTTEN};
use crate::store::{Result, Store};
use rusqlite::Row;
use std::collections::BTreeMap;
use std::fs;

/// The store in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreStatus {
    /// Files by agent.
    pub files: BTreeMap<String, u64>,
    /// Sessions by agent, without the forgotten ones.
    pub sessions: BTreeMap<String, u64>,
    /// Episodes that a boundary has closed.
    pub sealed: u64,
    /// Episodes that may still grow.
    pub open: u64,
    /// Episodes by source.
    pub sources: BTreeMap<String, u64>,
    /// Sessions by what a model was asked about them: `waiting`, `told`, `refused`.
    pub llm_summaries: BTreeMap<String, u64>,
    /// Episodes by the version of the rules and settings that made them.
    pub made_by: BTreeMap<String, u64>,
    /// Lines of all files by fate and reason.
    pub ledger: Ledger,
    /// Refused records.
    pub rejects: u64,
    /// Names that nobody knew.
    pub unknown: Vec<UnknownRow>,
    /// The agents' versions that the logs name, by agent and version.
    pub versions: Vec<VersionRow>,
    /// Bytes of log that were read, decompressed.
    pub read_bytes: u64,
    /// Of these, in open tails: read again when their files grow.
    pub tail_bytes: u64,
    /// UTF-8 bytes of the episodes' texts.
    pub body_bytes: u64,
    /// Bytes on disk, the write-ahead log included.
    pub store_bytes: u64,
    /// Sessions that were forgotten.
    pub forgotten: u64,
    /// Of these, the ones that a marker in one of their prompts kept out.
    pub kept_out: u64,
}

/// A version of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRow {
    /// Whose it is.
    pub agent: Agent,
    /// As its logs spell it.
    pub version: String,
    /// Sessions that end with it.
    pub sessions: u64,
    /// The start of the first of them.
    pub first: Option<Time>,
    /// A log of that one.
    pub path: String,
}

/// A name that nobody knew: of a kind of record, or of a field with its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRow {
    /// As the log names it.
    pub kind: String,
    /// Files that have it.
    pub files: u64,
    /// The first of them, by path.
    pub path: String,
    /// Its first place there.
    pub place: Span,
    /// How often it was met, in all files.
    pub count: u64,
    /// Words that these records hold: what was said in them is not stored.
    pub words: u64,
    /// The earliest record of these first places that states its time.
    pub first: Option<Time>,
}

/// A refused record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectRow {
    /// Its file.
    pub path: String,
    /// Where in it.
    pub place: Span,
    /// Why.
    pub reason: String,
}

impl Store {
    /// Everything counted. Reads all rows but no text: some ten ms for a thousand files.
    pub fn status(&self) -> Result<StoreStatus> {
        let mut status = self.count().map_err(failed("counting"))?;
        status.store_bytes = self.bytes_on_disk();
        Ok(status)
    }

    /// The first `limit` refused records, by path and offset.
    pub fn rejects(&self, limit: u32) -> Result<Vec<RejectRow>> {
        let read = || -> rusqlite::Result<Vec<RejectRow>> {
            self.db
                .prepare(
                    "SELECT r.offset, r.bytes, r.line, r.reason, coalesce(f.path, f.key)
                     FROM reject r JOIN file f ON f.n = r.file ORDER BY f.key, r.offset LIMIT ?1",
                )?
                .query_map([limit], |row| {
                    Ok(RejectRow {
                        place: place(row, 0)?,
                        reason: row.get(3)?,
                        path: row.get(4)?,
                    })
                })?
                .collect()
        };
        read().map_err(failed("listing rejects"))
    }

    /// Bytes of the store's file and its write-ahead log.
    pub fn bytes_on_disk(&self) -> u64 {
        let size = |path| fs::metadata(path).map_or(0, |file| file.len());
        size(self.path.clone()) + size(beside(&self.path, "-wal"))
    }

    fn versions(&self) -> rusqlite::Result<Vec<VersionRow>> {
        let mut select = self.db.prepare(
            "SELECT s.agent, s.facts, s.started, min(coalesce(f.path, f.key))
             FROM session s JOIN file f ON f.session = s.n GROUP BY s.n ORDER BY s.started, s.id",
        )?;
        let mut rows = select.query([])?;
        let mut known: BTreeMap<(Agent, String), VersionRow> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let Some(version) = facts(row, 1)?.version else {
                continue;
            };
            let (agent, path) = (agent(row, 0)?, row.get(3)?);
            let first = row.get::<_, Option<i64>>(2)?.map(Time);
            let entry = known.entry((agent, version.clone()));
            entry
                .or_insert(VersionRow {
                    agent,
                    version,
                    sessions: 0,
                    first,
                    path,
                })
                .sessions += 1;
        }
        Ok(known.into_values().collect())
    }

    fn count(&self) -> rusqlite::Result<StoreStatus> {
        let groups = |sql: &str| -> rusqlite::Result<BTreeMap<String, u64>> {
            self.db
                .prepare(sql)?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let number = |sql: &str| self.db.query_row(sql, [], |row| row.get::<_, u64>(0));
        let mut unknown = self.db.prepare(
            "SELECT u.offset, u.bytes, u.line, u.kind,
                 (SELECT count(*) FROM unknown_kind a WHERE a.kind = u.kind),
                 min(coalesce(f.path, f.key)),
                 (SELECT min(time) FROM unknown_kind a WHERE a.kind = u.kind)
             FROM unknown_kind u JOIN file f ON f.n = u.file GROUP BY u.kind ORDER BY u.kind",
        )?;
        let ledger = self.ledger_where("", &[])?;
        let unknown = unknown
            .query_map([], |row| unknown_row(row, &ledger))?
            .collect::<rusqlite::Result<_>>()?;
        Ok(StoreStatus {
            files: groups("SELECT agent, count(*) FROM file GROUP BY agent")?,
            sessions: groups(&format!(
                "SELECT agent, count(*) FROM session s WHERE {NOT_FORGOTTEN} GROUP BY agent"
            ))?,
            sealed: number("SELECT count(*) FROM episode WHERE sealed = 1 AND source = 'session'")?,
            open: number("SELECT count(*) FROM episode WHERE sealed = 0")?,
            sources: groups("SELECT source, count(*) FROM episode GROUP BY source")?,
            llm_summaries: groups("SELECT state, count(*) FROM telling GROUP BY state")?,
            made_by: groups(
                "SELECT name.text, count(*) FROM episode JOIN name ON name.n = made_by
                 WHERE source = 'session' GROUP BY made_by",
            )?,
            ledger,
            rejects: number("SELECT count(*) FROM reject")?,
            unknown,
            versions: self.versions()?,
            read_bytes: number("SELECT coalesce(sum(read_to), 0) FROM file")?,
            tail_bytes: number("SELECT coalesce(sum(read_to - offset), 0) FROM file")?,
            body_bytes: number(
                "SELECT coalesce(sum(body_bytes), 0) FROM episode WHERE source = 'session'",
            )?,
            store_bytes: 0,
            forgotten: number("SELECT count(*) FROM forgotten")?
                + number(&format!("SELECT count(*) FROM session s WHERE {BY_TIME}"))?,
            kept_out: number("SELECT count(*) FROM forgotten WHERE reason = 'marker'")?,
        })
    }
}

fn unknown_row(row: &Row<'_>, ledger: &Ledger) -> rusqlite::Result<UnknownRow> {
    let kind: String = row.get(3)?;
    Ok(UnknownRow {
        place: place(row, 0)?,
        count: ledger.drift.get(&kind).copied().unwrap_or(0),
        words: ledger.unread_words.get(&kind).copied().unwrap_or(0),
        kind,
        files: row.get(4)?,
        path: row.get(5)?,
        first: row.get::<_, Option<i64>>(6)?.map(Time),
    })
}
