//! Reads the rows of a table in a damaged file, over whatever can't be read. Knows how rows lie, and that
//! every loop here ends: each row takes of a budget of bytes and each probe for the end of a hole of one of
//! probes, which both go by the size of the file; no row of a sound file is read twice.

use crate::store::maintenance::packed_columns;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, ToSql};
use std::collections::BTreeMap;

/// Row numbers that no store comes to: what says so is damaged.
const ROW_MAX: i64 = 1 << 40;

/// Probes for the ends of holes, of one table: some, and so many for each page of the file. A hole takes 20
/// to 400 of them.
const PROBES: u64 = 2_000;
const PROBES_PER_PAGE: u64 = 16;

/// How often the bytes of the file may be read for one table: there and back, and once more where rows are
/// out of order.
const BYTES_READ_MAX: u64 = 3;

/// What pages are counted in where the file doesn't say.
const PAGE_BYTES: u64 = 4_096;

/// A table as the new file has it.
pub(super) struct Table {
    pub(super) name: String,
    columns: Vec<Column>,
    /// Columns of the primary key, where that is how rows lie; `None`: by row number.
    key: Option<Vec<String>>,
}

#[derive(Clone)]
struct Column {
    name: String,
    /// As the schema declares it.
    kind: String,
    is_required: bool,
}

/// What reading a table came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// Stretches of rows that could not be read.
    pub(super) holes: u64,
    /// Rows that could be read, and hold something else than they should.
    pub(super) unfit: u64,
    /// Rows and probes: what it cost.
    pub(super) steps: u64,
}

/// A damaged file, and how much of it may be read for one table.
pub(super) struct Source<'d> {
    damaged: &'d Connection,
    bytes: u64,
    /// A text without a checksum is not one of ours.
    has_checksums: bool,
}

/// Takes the rows of a table; told how many bytes each has.
pub(super) type Keep<'k> = dyn FnMut(Vec<Value>, u64) + 'k;

impl<'d> Source<'d> {
    /// `bytes`: the file's length.
    pub(super) fn new(damaged: &'d Connection, bytes: u64) -> Source<'d> {
        Source {
            damaged,
            bytes,
            has_checksums: packed_columns::has_checksums(damaged),
        }
    }

    /// Hands every row that can be read to `keep`, some of them twice.
    pub(super) fn read(&self, table: &Table, keep: &mut Keep<'_>) -> Reading {
        let table = table.within(self.damaged);
        let scan = Scan {
            table: &table,
            source: self,
            reading: Reading::default(),
            bytes_left: BYTES_READ_MAX * (self.bytes + PAGE_BYTES),
            probes_left: PROBES + PROBES_PER_PAGE * (self.bytes / PAGE_BYTES),
        };
        match &table.key {
            Some(key) => scan.read_from_both_ends(key, keep),
            None => scan.around_holes(keep),
        }
    }
}

/// One table being read.
struct Scan<'s> {
    table: &'s Table,
    source: &'s Source<'s>,
    reading: Reading,
    bytes_left: u64,
    probes_left: u64,
}

impl Scan<'_> {
    /// Forwards to the first fault, then backwards to the last one.
    fn read_from_both_ends(mut self, key: &[String], keep: &mut Keep<'_>) -> Reading {
        let (table, columns) = (&self.table.name, self.table.names());
        for order in ["ASC", "DESC"] {
            let by: Vec<String> = key.iter().map(|name| format!("{name} {order}")).collect();
            let sql = format!("SELECT {columns} FROM {table} ORDER BY {}", by.join(", "));
            self.reading.holes = match self.each(&sql, &[], &mut 0, keep) {
                true => return self.reading,
                false => 1,
            };
        }
        self.reading
    }

    /// By row number, over every stretch of rows that lies on an unreadable page. Rows of pages that are in
    /// another's place are out of order: what is read on from is beyond both the place where this began and
    /// the last row.
    fn around_holes(mut self, keep: &mut Keep<'_>) -> Reading {
        let (table, columns) = (&self.table.name, self.table.names());
        let sql = |end: &str| {
            format!("SELECT {columns}, rowid FROM {table} WHERE rowid >= ?1 ORDER BY rowid {end}")
        };
        let (all, one) = (sql(""), sql("LIMIT 1"));
        let mut from: i64 = 0;
        loop {
            let mut last = from;
            if self.each(&all, &[&from], &mut last, keep) {
                return self.reading;
            }
            self.reading.holes += 1;
            match self.end_of_hole(from.max(last), &one) {
                Some(next) => from = next,
                None => return self.reading,
            }
        }
    }

    /// The first number after `from` from which rows can be read again, as far as probes tell that lie the
    /// further from another the longer the hole is; `None`: there is none.
    fn end_of_hole(&mut self, from: i64, one: &str) -> Option<i64> {
        let (mut bad, mut good) = (from, from + 1);
        while !self.probe(good, one)? {
            bad = good;
            good += 1 + (good - from) / 16;
            if good > ROW_MAX {
                return None;
            }
        }
        while good - bad > 1 {
            let middle = bad + (good - bad) / 2;
            match self.probe(middle, one)? {
                true => good = middle,
                false => bad = middle,
            }
        }
        Some(good)
    }

    /// Whether the first row from `n` on can be read; `None`: that was asked often enough.
    fn probe(&mut self, n: i64, one: &str) -> Option<bool> {
        self.probes_left = self.probes_left.checked_sub(1)?;
        self.reading.steps += 1;
        let read = || -> rusqlite::Result<bool> {
            let mut select = self.source.damaged.prepare_cached(one)?;
            let mut rows = select.query([n])?;
            Ok(match rows.next()? {
                Some(row) => {
                    self.table.values(row)?;
                    true
                }
                None => true,
            })
        };
        Some(read().unwrap_or(false))
    }

    /// The rows of a query until it fails or the budget is spent; whether neither was so. `last` becomes
    /// the number of the last row that was read, where rows have one.
    fn each(
        &mut self,
        sql: &str,
        values: &[&dyn ToSql],
        last: &mut i64,
        keep: &mut Keep<'_>,
    ) -> bool {
        let table = self.table;
        let mut read = || -> rusqlite::Result<bool> {
            let mut select = self.source.damaged.prepare(sql)?;
            let mut rows = select.query(values)?;
            while let Some(row) = rows.next()? {
                self.reading.steps += 1;
                let values = table.values(row)?;
                let bytes: u64 = values.iter().map(bytes).sum();
                let Some(left) = self.bytes_left.checked_sub(bytes) else {
                    return Ok(false);
                };
                self.bytes_left = left;
                let mut is_sound = table.fits(&values, self.source.has_checksums);
                if table.key.is_none() {
                    let n = row.get(table.columns.len())?;
                    is_sound &= (0..ROW_MAX).contains(&n);
                    *last = n.clamp(0, ROW_MAX);
                }
                match is_sound {
                    true => keep(values, bytes),
                    false => self.reading.unfit += 1,
                }
            }
            Ok(true)
        };
        read().unwrap_or(false)
    }
}

impl Table {
    /// All tables of a new store but the index, which is made from the texts again, and the packs, which are copies.
    pub(super) fn all(fresh: &Connection) -> rusqlite::Result<Vec<Table>> {
        let named: Vec<(String, bool)> = fresh
            .prepare(
                "SELECT name, wr FROM pragma_table_list
                 WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
                     AND name <> 'vector_pack'
                 ORDER BY name",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let mut select =
            fresh.prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1)")?;
        let mut table = |(name, is_keyed): (String, bool)| -> rusqlite::Result<Table> {
            let mut key = BTreeMap::new();
            let mut columns = Vec::new();
            let mut rows = select.query([&name])?;
            while let Some(row) = rows.next()? {
                let column = Column {
                    name: row.get(0)?,
                    kind: row.get(1)?,
                    is_required: row.get(2)?,
                };
                key.insert(row.get::<_, i64>(3)?, column.name.clone());
                columns.push(column);
            }
            key.remove(&0);
            let key = is_keyed.then(|| key.into_values().collect());
            Ok(Table { name, columns, key })
        };
        named.into_iter().map(&mut table).collect()
    }

    /// Without the columns that an older file doesn't have: their defaults hold.
    fn within(&self, damaged: &Connection) -> Table {
        let has = || -> rusqlite::Result<Vec<String>> {
            damaged
                .prepare("SELECT name FROM pragma_table_info(?1)")?
                .query_map([&self.name], |row| row.get(0))?
                .collect()
        };
        // where even this can't be read, no row can
        let has = has().unwrap_or_default();
        let is_there = |column: &&Column| has.is_empty() || has.contains(&column.name);
        Table {
            name: self.name.clone(),
            columns: self.columns.iter().filter(is_there).cloned().collect(),
            key: self.key.clone(),
        }
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
        names.join(", ")
    }

    /// What puts a row that [`Source::read`] gave into the new file, unless it contradicts another one.
    pub(super) fn insert(&self, damaged: &Connection) -> String {
        let table = self.within(damaged);
        let holes = vec!["?"; table.columns.len()].join(", ");
        let (name, columns) = (&table.name, table.names());
        format!("INSERT OR IGNORE INTO {name} ({columns}) VALUES ({holes})")
    }

    /// The columns of a row. A text that is none comes as its bytes, which fit nowhere.
    fn values(&self, row: &Row<'_>) -> rusqlite::Result<Vec<Value>> {
        let value = |i| {
            row.get_ref(i).map(|value| match value {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(n) => Value::Integer(n),
                ValueRef::Real(n) => Value::Real(n),
                ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                    Ok(text) => Value::Text(text.to_owned()),
                    Err(_) => Value::Blob(bytes.to_vec()),
                },
                ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
            })
        };
        (0..self.columns.len()).map(value).collect()
    }

    /// Every value is such as we write them.
    fn fits(&self, values: &[Value], has_checksums: bool) -> bool {
        let mut pairs = self.columns.iter().zip(values);
        pairs.all(|(column, value)| column.fits(&self.name, value, has_checksums))
    }
}

/// Columns of numbers that may be below zero: hashes, times, and what has such a meaning.
const SIGNED: [&str; 31] = [
    "at",
    "asked",
    "before",
    "block",
    "content",
    "ctime_ns",
    "device",
    "ended",
    "ended_at",
    "head_print",
    "inode",
    "indexed_at",
    "invalid_at",
    "leaf",
    "mtime_ns",
    "name",
    "next_at",
    "paused_at",
    "paused_until",
    "changed_at",
    "edited",
    "print",
    "revision",
    "standing",
    "started",
    "tail_print",
    "time",
    "valid_at",
    "whole",
    "day",
    "clean_to",
];

/// Whether a text may be in this column, where a row of another table can be told by it: what people decided is
/// read by nobody else.
fn has_its_shape(table: &str, column: &str, text: &str) -> bool {
    let is_path = text.starts_with('/');
    match (table, column) {
        ("forgotten", "session") => !is_path,
        ("tracked_project", "root") | ("file", "key") => is_path,
        _ => true,
    }
}

/// Columns that hold an id of 16 bytes, where they are bytes.
const IDS: [&str; 4] = ["id", "episode", "operation", "content"];

impl Column {
    fn fits(&self, table: &str, value: &Value, has_checksums: bool) -> bool {
        if *value == Value::Null {
            return !self.is_required;
        }
        if has_checksums && packed_columns::is_of_another_page(table, &self.name, value.into()) {
            return false;
        }
        if let Some(reads) = packed_columns::reads(table, &self.name, value.into()) {
            return reads;
        }
        match (self.kind.as_str(), value) {
            ("INTEGER", Value::Integer(n)) => *n >= 0 || SIGNED.contains(&self.name.as_str()),
            ("REAL", Value::Real(_)) | ("REAL", Value::Integer(_)) => true,
            // a page that was zeroed under the end of a text
            ("TEXT", Value::Text(text)) => {
                !text.ends_with('\0') && has_its_shape(table, &self.name, text)
            }
            ("BLOB", Value::Blob(bytes)) => match self.name.as_str() {
                "ids" => bytes.len() % 8 == 0,
                name => bytes.len() == 16 || !IDS.contains(&name),
            },
            _ => false,
        }
    }
}

fn bytes(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Integer(_) | Value::Real(_) => 1,
        Value::Text(text) => text.len() as u64,
        Value::Blob(bytes) => bytes.len() as u64,
    }
}
