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

/// Values that can't be read, by table; tables without any are absent. Unpacks everything, about 300 MB/s.
pub(crate) fn unreadable(db: &Connection) -> rusqlite::Result<BTreeMap<&'static str, u64>> {
    let mut found = BTreeMap::new();
    for (table, column, reads) in COLUMNS {
        let mut select = db.prepare(&format!("SELECT {column} FROM {table}"))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            if !reads(row.get_ref(0)?) {
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
