//! What tables are made of, unit by unit, with a number that changes when a unit does: so that whoever
//! keeps tables elsewhere finds what is new without reading texts.
//!
//! A unit is a session with a log; or, of a project's memories, files and git operations, one month.

use crate::model::time::Time;
use crate::store::columns::{AGENT, time};
use crate::store::error::failed;
use crate::store::tombstones::NOT_FORGOTTEN;
use crate::store::{Result, Store};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::Xxh3;

/// A part of the store that becomes rows together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableUnit {
    /// The session's id.
    pub session: String,
    /// Of a session without a log: what happened in this month, `2026-03`, or without a time (`none`).
    pub month: Option<String>,
    /// 16 hex digits.
    pub namespace: String,
    /// The project's root, as sessions were stored with it.
    pub project_path: String,
    /// When it began.
    pub began: Option<Time>,
    /// UTF-8 bytes of its texts.
    pub text_bytes: u64,
    /// Another one where anything of the unit is another.
    pub fingerprint: u64,
}

/// A unit while its parts are added up: in any order, they come to the same.
#[derive(Default)]
struct Sum {
    fingerprint: u64,
    text_bytes: u64,
    began: Option<i64>,
}

/// The month of a time `{}`, as SQL.
const MONTH: &str = "coalesce(strftime('%Y-%m', {} / 1000, 'unixepoch'), 'none')";

impl Store {
    /// Every unit that no tombstone keeps out, in the order in which they began. Reads every row but the texts:
    /// some tens of milliseconds for a gigabyte of logs.
    pub fn table_units(&self) -> Result<Vec<TableUnit>> {
        let read = || -> rusqlite::Result<Vec<TableUnit>> {
            let mut units = self.units_with_log()?;
            units.extend(self.units_without_log()?);
            units.sort_by(|a, b| {
                let order =
                    |unit: &TableUnit| (unit.began, unit.session.clone(), unit.month.clone());
                order(a).cmp(&order(b))
            });
            Ok(units)
        };
        read().map_err(failed("looking for what changed"))
    }

    fn units_with_log(&self) -> rusqlite::Result<Vec<TableUnit>> {
        let mut sums: BTreeMap<i64, Sum> = BTreeMap::new();
        for (table, sql) in [
            "SELECT n, started, 0, id, agent, namespace, project_path, host, title, branch, facts FROM session
             WHERE standing >= 0",
            "SELECT f.session, NULL, 0, f.key, f.path, f.stream, fold.sealed, fold.tail
             FROM file f JOIN fold ON fold.file = f.n",
            EPISODES,
            "SELECT e.session, NULL, 0, o.episode, o.items, o.findings FROM outline o
             CROSS JOIN episode e ON e.n = o.episode",
            "SELECT e.session, NULL, 0, a.episode, a.exchanges FROM activity a
             CROSS JOIN episode e ON e.n = a.episode",
            "SELECT e.session, NULL, 0, u.* FROM episode_usage u CROSS JOIN episode e ON e.n = u.episode",
        ]
        .into_iter()
        .enumerate()
        {
            self.add_up(sql, |row| row.get(0), table, &mut sums)?;
        }
        let sql = format!(
            "SELECT s.n, s.id, s.namespace, s.project_path FROM session s WHERE {NOT_FORGOTTEN}"
        );
        let mut select = self.db.prepare(&sql)?;
        let rows = select.query_map([], |row| {
            let sum = sums.remove(&row.get::<_, i64>(0)?).unwrap_or_default();
            Ok(TableUnit {
                session: row.get(1)?,
                month: None,
                namespace: row.get(2)?,
                project_path: row.get(3)?,
                began: sum.began.map(Time),
                text_bytes: sum.text_bytes,
                fingerprint: sum.fingerprint,
            })
        })?;
        rows.collect()
    }

    fn units_without_log(&self) -> rusqlite::Result<Vec<TableUnit>> {
        let mut sums: BTreeMap<(i64, String), Sum> = BTreeMap::new();
        let key = |row: &Row<'_>| Ok((row.get(0)?, row.get(3)?));
        let month = |at: &str| MONTH.replace("{}", at);
        let episodes = format!(
            "SELECT e.session, e.valid_at, e.body_bytes, {month}, {AGENT}, e.id, e.source, e.part, e.sealed,
                e.title, e.valid_at, e.ended_at, e.revision, e.body_bytes, octet_length(b.text)
             FROM episode e JOIN session s ON s.n = e.session LEFT JOIN body b ON b.episode = e.n
             WHERE s.standing < 0",
            month = month("e.valid_at")
        );
        let operations = format!(
            "SELECT o.session, o.at, 0, {month}, o.id, o.deed, o.agent FROM git_operation o",
            month = month("o.at")
        );
        for (table, sql) in [episodes, operations].iter().enumerate() {
            self.add_up(sql, key, table, &mut sums)?;
        }
        let mut select = self
            .db
            .prepare("SELECT id, namespace, project_path FROM session WHERE n = ?1")?;
        let mut units = Vec::with_capacity(sums.len());
        for ((n, month), sum) in sums {
            units.push(select.query_row([n], |row| {
                Ok(TableUnit {
                    session: row.get(0)?,
                    month: Some(month),
                    namespace: row.get(1)?,
                    project_path: row.get(2)?,
                    began: sum.began.map(Time),
                    text_bytes: sum.text_bytes,
                    fingerprint: sum.fingerprint,
                })
            })?);
        }
        Ok(units)
    }

    /// Adds rows to the sums that `key` names: the second column is a time, the third counts bytes of text.
    fn add_up<K: Ord>(
        &self,
        sql: &str,
        key: impl Fn(&Row<'_>) -> rusqlite::Result<K>,
        table: usize,
        sums: &mut BTreeMap<K, Sum>,
    ) -> rusqlite::Result<()> {
        let mut select = self.db.prepare(sql)?;
        let columns = select.column_count();
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let sum = sums.entry(key(row)?).or_default();
            let part = fingerprint(row, columns, table)?;
            sum.fingerprint = sum.fingerprint.wrapping_add(part);
            sum.text_bytes += row.get::<_, u64>(2)?;
            let at = time(row, 1)?.map(|at| at.0);
            sum.began = [sum.began, at].into_iter().flatten().min();
        }
        Ok(())
    }
}

/// All of an episode but its number, its text, and what is only ours: its group, when it was stored, and by
/// which rules.
const EPISODES: &str = "SELECT e.session, e.valid_at,
        CASE e.source WHEN 'session' THEN e.body_bytes ELSE 0 END,
        e.id, e.source, e.stream, e.part, e.sealed, e.pending_calls,
        e.title, e.valid_at, e.ended_at, e.byte_from, e.byte_to, e.line_from, e.line_to, e.revision,
        e.body_bytes, e.read_bytes, e.records, e.prompts, e.messages, e.calls, e.failures, e.refusals,
        e.user_bytes, e.agent_bytes, e.digest_bytes, e.output_bytes, e.input_tokens, e.output_tokens,
        e.cache_read, e.cache_write, octet_length(b.text)
    FROM episode e LEFT JOIN body b ON b.episode = e.n";

/// Of a row's columns, and of which table it is.
fn fingerprint(row: &Row<'_>, columns: usize, table: usize) -> rusqlite::Result<u64> {
    let mut hash = Xxh3::new();
    hash.update(&[table as u8]);
    for column in 0..columns {
        match row.get_ref(column)? {
            ValueRef::Null => hash.update(&[0]),
            ValueRef::Integer(n) => {
                hash.update(&[1]);
                hash.update(&n.to_le_bytes());
            }
            ValueRef::Real(n) => {
                hash.update(&[2]);
                hash.update(&n.to_le_bytes());
            }
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                hash.update(&[3]);
                hash.update(&(bytes.len() as u64).to_le_bytes());
                hash.update(bytes);
            }
        }
    }
    Ok(hash.digest())
}
