//! All columns that hold packed content, and whether what lies there can be read as what it should be.
//! Knows the type of each; refuses to judge what follows where it can't.

use crate::model::file::FileFacts;
use crate::model::finding::Finding;
use crate::model::git::{GitOperation, HistoryCursor};
use crate::model::ledger::Ledger;
use crate::model::resume_state::ResumeState;
use crate::model::session::SessionFacts;
use crate::model::summary::Summary;
use crate::store::columns::Counted;
use crate::store::compression::{Json, Unpacked};
use crate::store::pending_tasks::Task;
use rusqlite::Connection;
use rusqlite::types::{FromSql, ValueRef};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

type State = (Ledger, SessionFacts);

/// A packed column: table, column, and whether a value of it can be read.
type PackedColumn = (&'static str, &'static str, fn(ValueRef<'_>) -> bool);

const COLUMNS: [PackedColumn; 11] = [
    ("session", "facts", json::<SessionFacts>),
    ("fold", "carry", json::<ResumeState>),
    ("fold", "sealed", json::<State>),
    ("fold", "tail", json::<State>),
    ("body", "text", text),
    ("activity", "exchanges", json::<Counted>),
    ("outline", "findings", json::<Vec<(usize, Finding)>>),
    ("telling", "summary", json::<Summary>),
    ("git_tree", "seen", json::<HistoryCursor>),
    ("git_operation", "deed", json::<GitOperation>),
    ("tracked_episode", "facts", json::<FileFacts>),
];

fn text(value: ValueRef<'_>) -> bool {
    Unpacked::column_result(value).is_ok()
}

fn json<T: DeserializeOwned>(value: ValueRef<'_>) -> bool {
    value == ValueRef::Null || Json::<T>::column_result(value).is_ok()
}

/// Whether this value of a column can be read; `None`: the column holds nothing packed.
pub(crate) fn reads(table: &str, column: &str, value: ValueRef<'_>) -> Option<bool> {
    let mut packed = COLUMNS.iter();
    let (.., reads) = packed.find(|(t, c, _)| (*t, *c) == (table, column))?;
    Some(reads(value))
}

/// The schema since which every text of an episode has a checksum.
const CHECKSUMS_SINCE: i32 = 18;

/// Whether every text of an episode has a checksum: an older program's have none until a run packs them again.
pub(crate) fn has_checksums(db: &Connection) -> bool {
    let version = db.query_row("PRAGMA user_version", [], |row| row.get::<_, i32>(0));
    let is_due = Task::Checksums.is_due(db);
    version.is_ok_and(|version| version >= CHECKSUMS_SINCE) && is_due.is_ok_and(|due| !due)
}

/// A plain text where a frame with a checksum has to be: a page of another table lies in this one's place.
pub(crate) fn is_of_another_page(table: &str, column: &str, value: ValueRef<'_>) -> bool {
    let is_plain = matches!(value, ValueRef::Text(text) if !text.is_empty());
    is_plain && (table, column) == ("body", "text")
}

/// Values that can't be read, by table; tables without any are absent. Unpacks everything, about 300 MB/s.
pub(crate) fn unreadable(db: &Connection) -> rusqlite::Result<BTreeMap<&'static str, u64>> {
    let mut found = BTreeMap::new();
    let has_checksums = has_checksums(db);
    for (table, column, reads) in COLUMNS {
        let mut select = db.prepare(&format!("SELECT {column} FROM {table}"))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let value = row.get_ref(0)?;
            let is_foreign = has_checksums && is_of_another_page(table, column, value);
            if is_foreign || !reads(value) {
                *found.entry(table).or_default() += 1;
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::schema::migrations::MIGRATIONS;

    #[test]
    fn every_column_that_the_schema_calls_packed_is_known() {
        let lines = MIGRATIONS.iter().flat_map(|sql| sql.lines());
        let packed = lines.filter(|line| line.contains("-- packed"));
        let named = packed.map(|line| match line.split_once("RENAME COLUMN") {
            Some(_) => "",
            None => line.split_whitespace().next().unwrap_or_default(),
        });
        let mut named: Vec<&str> = named.filter(|name| !name.is_empty()).collect();
        // by its later name
        named.iter_mut().for_each(|name| {
            if *name == "tally" {
                *name = "exchanges";
            }
        });
        named.sort_unstable();
        let mut known: Vec<&str> = COLUMNS.iter().map(|(_, column, _)| *column).collect();
        known.sort_unstable();
        assert_eq!(named, known);
    }
}
