//! What is in the store, in numbers: files, sessions, episodes, lines, oddities, bytes.
//! Knows sums; refuses to know what a run would still have to do.

use super::account::place;
use super::fault::failed;
use super::open::beside;
use super::{Result, Store};
use crate::model::ledger::Ledger;
use crate::model::source::Place;
use rusqlite::Row;
use std::collections::BTreeMap;
use std::fs;

/// The store in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
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
    /// Episodes by the version of the rules and settings that made them.
    pub made_by: BTreeMap<String, u64>,
    /// Lines of all files by fate and reason.
    pub ledger: Ledger,
    /// Refused records.
    pub rejects: u64,
    /// Kinds of records that nobody knew, by name.
    pub unknown: Vec<UnknownRow>,
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
}

/// An unknown kind of record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRow {
    /// As the log names it.
    pub kind: String,
    /// Files that have it.
    pub files: u64,
    /// The first of them, by path.
    pub path: String,
    /// Its first place there.
    pub place: Place,
}

/// A refused record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectRow {
    /// Its file.
    pub path: String,
    /// Where in it.
    pub place: Place,
    /// Why.
    pub reason: String,
}

impl Store {
    /// Everything counted. Reads all rows but no text: some ten ms for a thousand files.
    pub fn status(&self) -> Result<Status> {
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

    fn count(&self) -> rusqlite::Result<Status> {
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
                 min(coalesce(f.path, f.key))
             FROM unknown_kind u JOIN file f ON f.n = u.file GROUP BY u.kind ORDER BY u.kind",
        )?;
        Ok(Status {
            files: groups("SELECT agent, count(*) FROM file GROUP BY agent")?,
            sessions: groups(
                "SELECT agent, count(*) FROM session
                 WHERE id NOT IN (SELECT session FROM forgotten) GROUP BY agent",
            )?,
            sealed: number("SELECT count(*) FROM episode WHERE sealed = 1")?,
            open: number("SELECT count(*) FROM episode WHERE sealed = 0")?,
            sources: groups("SELECT source, count(*) FROM episode GROUP BY source")?,
            made_by: groups(
                "SELECT name.text, count(*) FROM episode JOIN name ON name.n = made_by
                 GROUP BY made_by",
            )?,
            ledger: self.ledger_where("", &[])?,
            rejects: number("SELECT count(*) FROM reject")?,
            unknown: unknown
                .query_map([], unknown_row)?
                .collect::<rusqlite::Result<_>>()?,
            read_bytes: number("SELECT coalesce(sum(read_to), 0) FROM file")?,
            tail_bytes: number("SELECT coalesce(sum(read_to - offset), 0) FROM file")?,
            body_bytes: number("SELECT coalesce(sum(body_bytes), 0) FROM episode")?,
            store_bytes: 0,
            forgotten: number("SELECT count(*) FROM forgotten")?,
        })
    }
}

fn unknown_row(row: &Row<'_>) -> rusqlite::Result<UnknownRow> {
    Ok(UnknownRow {
        place: place(row, 0)?,
        kind: row.get(3)?,
        files: row.get(4)?,
        path: row.get(5)?,
    })
}
