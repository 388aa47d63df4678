//! Takes what can still be read out of a damaged file into a new one, row by row. Knows tables only
//! by what the new file's schema says of them; refuses to guess values that can't be read.
//!
//! What the logs can tell again is told again by the run that follows. What only the store has
//! (episodes whose logs are gone, consents, switches, what was forgotten, when an episode was first
//! stored) is why the damaged file is read at all. It is set aside under another name and never
//! deleted.

use crate::model::consent::TRACKING;
use crate::model::error::{Error, ErrorKind};
use crate::model::ledger::Ledger;
use crate::model::resume_state::ResumeState;
use crate::model::session::SessionFacts;
use crate::store::compression::{Packed, Unpacked, pack_json};
use crate::store::error::failed;
use crate::store::pending_tasks::Task;
use crate::store::removal::remove;
use crate::store::schema::database_state::beside;
use crate::store::schema::open::{NEW, clear};
use crate::store::{Access, DatabaseState, Result, Store};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql, params, params_from_iter};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What came out of a damaged file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Rows that could be read, by table.
    pub rows: BTreeMap<String, u64>,
    /// Stretches of rows that could not, by table; nobody knows how many rows each had.
    pub holes: BTreeMap<String, u64>,
    /// Episodes whose row is there and whose text is not.
    pub without_text: u64,
    /// Texts whose episode's row is not there.
    pub without_row: u64,
}

impl Salvaged {
    /// Every row of this table could be read, and there are some.
    pub fn is_whole(&self, table: &str) -> bool {
        !self.holes.contains_key(table) && self.rows.get(table).is_some_and(|rows| *rows > 0)
    }
}

/// A store that is being made of a damaged one.
#[derive(Debug)]
pub struct Salvage {
    /// The new store: what could be read, findable. Its logs still have to be read again.
    pub store: Store,
    /// What that was.
    pub salvaged: Salvaged,
    place: PathBuf,
}

impl Salvage {
    /// Reads the file at `place` into a new one beside it. `place` itself stays as it is, whatever
    /// it is; an error where it is absent or its folder can't be written to.
    pub fn of(place: &Path) -> Result<Salvage> {
        let unfinished = beside(place, NEW);
        clear(&unfinished).map_err(|error| io_error("removing an unfinished store", &error))?;
        let mut store = Store::open(&unfinished, Access::ReadWrite)?;
        let salvaged = match open_damaged(place) {
            Ok(damaged) => copy(&damaged, &mut store.db).map_err(failed("salvaging"))?,
            Err(_) => Salvaged::default(),
        };
        store.rebuild_index()?;
        Ok(Salvage {
            store,
            salvaged,
            place: place.to_path_buf(),
        })
    }

    /// Closes the new store and moves it to its place; the damaged file, with its companions, gets
    /// a name that ends in `.damaged-` and `mark` (and a number where that name is taken), which is given
    /// back. Episodes whose text nobody
    /// could tell again are dropped; their number is given too.
    pub fn finish(mut self, mark: &str) -> Result<(PathBuf, u64)> {
        let lost = drop_unfounded(&self.store.db).map_err(failed("salvaging"))?;
        Task::Titles
            .set(&self.store.db)
            .map_err(failed("salvaging"))?;
        self.store.dirty = true;
        self.store.finish()?;
        let unfinished = self.store.path.clone();
        drop(self.store);
        let aside = free(&beside(&self.place, &format!(".damaged-{mark}")));
        let set_aside = |error: std::io::Error| io_error("setting the damaged file aside", &error);
        // The log first: beside the new file it would be taken for its own.
        for suffix in ["-wal", "-shm"] {
            let from = beside(&self.place, suffix);
            if from.exists() {
                fs::rename(&from, beside(&aside, suffix)).map_err(set_aside)?;
            }
        }
        // A second name, where there can be one: so at no moment is there no store.
        fs::hard_link(&self.place, &aside)
            .or_else(|_| fs::rename(&self.place, &aside))
            .map_err(set_aside)?;
        fs::rename(&unfinished, &self.place)
            .map_err(|error| io_error("moving the new store to its place", &error))?;
        Ok((aside, lost))
    }
}

/// The name itself, or with the first number behind it that nothing has.
fn free(name: &Path) -> PathBuf {
    let numbered = (2..).map(|n| beside(name, &format!("-{n}")));
    let mut names = std::iter::once(name.to_path_buf()).chain(numbered);
    names
        .find(|name| !name.exists())
        .unwrap_or_else(|| name.to_path_buf())
}

fn io_error(doing: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Store, format!("{doing}: {}", error.kind()))
        .hinted("check the permissions of the folder")
}

/// As leniently as SQLite can be: a length that contradicts the header, a schema with a fault.
fn open_damaged(place: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(place, flags)?;
    db.pragma_update(None, "writable_schema", true)?;
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(db)
}

/// A table as the new file has it.
struct Table {
    name: String,
    columns: Vec<String>,
    /// Columns of the primary key, where that is how rows lie; `None`: by row number.
    key: Option<Vec<String>>,
}

fn copy(damaged: &Connection, fresh: &mut Connection) -> rusqlite::Result<Salvaged> {
    let tables = tables(fresh)?;
    let tx = fresh.transaction()?;
    let mut salvaged = Salvaged::default();
    for table in tables {
        let table = table.within(damaged);
        let mut insert = tx.prepare(&table.insert())?;
        let mut rows = 0;
        let holes = table.read(damaged, &mut |values| {
            // A row that contradicts another one is as good as unreadable.
            rows += insert.execute(params_from_iter(values)).unwrap_or(0) as u64;
        });
        salvaged.rows.insert(table.name.clone(), rows);
        if holes > 0 {
            salvaged.holes.insert(table.name.clone(), holes);
        }
    }
    salvaged.without_text = forget_texts(&tx)?;
    salvaged.without_row = drop_parts(&tx)?;
    stand_in(&tx)?;
    if salvaged.holes.contains_key("consent") {
        // One that can't be read may have taken another one back: they are asked for again.
        tx.execute("DELETE FROM consent WHERE scope <> ?1", [TRACKING])?;
    }
    tx.commit()?;
    Ok(salvaged)
}

/// All but the index, which is made from the texts again.
fn tables(fresh: &Connection) -> rusqlite::Result<Vec<Table>> {
    let named: Vec<(String, bool)> = fresh
        .prepare(
            "SELECT name, wr FROM pragma_table_list
             WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
             ORDER BY name",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let columns = |name: &str, sql: &str| -> rusqlite::Result<Vec<String>> {
        fresh
            .prepare(&format!("SELECT name FROM pragma_table_info(?1) {sql}"))?
            .query_map([name], |row| row.get(0))?
            .collect()
    };
    let mut tables = Vec::new();
    for (name, keyed) in named {
        tables.push(Table {
            columns: columns(&name, "")?,
            key: match keyed {
                true => Some(columns(&name, "WHERE pk > 0 ORDER BY pk")?),
                false => None,
            },
            name,
        });
    }
    Ok(tables)
}

impl Table {
    /// Without the columns that an older file doesn't have: their defaults hold.
    fn within(mut self, damaged: &Connection) -> Table {
        let has = || -> rusqlite::Result<Vec<String>> {
            damaged
                .prepare("SELECT name FROM pragma_table_info(?1)")?
                .query_map([&self.name], |row| row.get(0))?
                .collect()
        };
        // Where even this can't be read, no row can.
        let has = has().unwrap_or_default();
        if !has.is_empty() {
            self.columns.retain(|column| has.contains(column));
        }
        self
    }

    fn insert(&self) -> String {
        let holes = vec!["?"; self.columns.len()].join(", ");
        let (table, columns) = (&self.name, self.columns.join(", "));
        format!("INSERT OR IGNORE INTO {table} ({columns}) VALUES ({holes})")
    }

    /// Hands every row that can be read to `keep`, some of them twice; gives the number of
    /// stretches that could not be read.
    fn read(&self, damaged: &Connection, keep: &mut dyn FnMut(Vec<Value>)) -> u64 {
        match &self.key {
            Some(key) => self.read_from_both_ends(damaged, key, keep),
            None => self.read_around_holes(damaged, keep),
        }
    }

    /// Forwards to the first fault, then backwards to the last one.
    fn read_from_both_ends(
        &self,
        damaged: &Connection,
        key: &[String],
        keep: &mut dyn FnMut(Vec<Value>),
    ) -> u64 {
        let columns = self.columns.join(", ");
        for order in ["ASC", "DESC"] {
            let by: Vec<String> = key
                .iter()
                .map(|column| format!("{column} {order}"))
                .collect();
            let sql = format!(
                "SELECT {columns} FROM {} ORDER BY {}",
                self.name,
                by.join(", ")
            );
            if self.each(damaged, &sql, &[], &mut |_, values| keep(values)) {
                return 0;
            }
        }
        1
    }

    /// By row number, over every stretch of rows that lies on an unreadable page.
    fn read_around_holes(&self, damaged: &Connection, keep: &mut dyn FnMut(Vec<Value>)) -> u64 {
        let columns = self.columns.join(", ");
        let sql = |end: &str| {
            let table = &self.name;
            format!("SELECT {columns}, rowid FROM {table} WHERE rowid >= ?1 ORDER BY rowid {end}")
        };
        let (all, one) = (sql(""), sql("LIMIT 1"));
        let (mut from, mut holes) = (0, 0);
        loop {
            let start = from;
            let done = self.each(damaged, &all, &[&start], &mut |n, values| {
                from = n + 1;
                keep(values);
            });
            if done {
                return holes;
            }
            holes += 1;
            let readable = |n: i64| self.each(damaged, &one, &[&n], &mut |_, _| {});
            match end_of_hole(from, readable) {
                Some(next) => from = next,
                None => return holes,
            }
        }
    }

    /// The rows of a query until it fails; whether it didn't. The row number is the column after
    /// the table's own, 0 where there is none.
    fn each(
        &self,
        damaged: &Connection,
        sql: &str,
        values: &[&dyn ToSql],
        take: &mut dyn FnMut(i64, Vec<Value>),
    ) -> bool {
        let mut read = || -> rusqlite::Result<()> {
            let mut select = damaged.prepare(sql)?;
            let mut rows = select.query(values)?;
            while let Some(row) = rows.next()? {
                let values = (0..self.columns.len()).map(|i| row.get(i));
                let values = values.collect::<rusqlite::Result<Vec<Value>>>()?;
                take(row.get(self.columns.len()).unwrap_or(0), values);
            }
            Ok(())
        };
        read().is_ok()
    }
}

/// The first number after `from` from which rows can be read again; `None`: there is none. About
/// eighty questions, however large the hole is.
fn end_of_hole(from: i64, readable: impl Fn(i64) -> bool) -> Option<i64> {
    let steps = (0..48).map(|power| from.saturating_add(1 << power));
    let mut good = steps.into_iter().find(|n| readable(*n))?;
    let mut bad = from;
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        match readable(middle) {
            true => good = middle,
            false => bad = middle,
        }
    }
    Some(good)
}

/// Takes out texts that don't unpack; an episode without one gets a revision that no text has, so
/// that its log's next telling writes it again. Gives their number.
fn forget_texts(db: &Connection) -> rusqlite::Result<u64> {
    let mut unreadable = Vec::new();
    let mut select = db.prepare("SELECT episode, text FROM body")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        if row.get::<_, Unpacked>(1).is_err() {
            unreadable.push(row.get::<_, i64>(0)?);
        }
    }
    for n in unreadable {
        db.execute("DELETE FROM body WHERE episode = ?1", [n])?;
    }
    let sql = "UPDATE episode SET revision = 0 WHERE n NOT IN (SELECT episode FROM body)";
    Ok(db.execute(sql, [])? as u64)
}

/// Takes out the parts of episodes whose row could not be read; gives the number of texts.
fn drop_parts(db: &Connection) -> rusqlite::Result<u64> {
    let mut dropped = 0;
    for table in [
        "activity",
        "outline",
        "condensing",
        "condensed",
        "embedding",
        "episode_tool",
        "episode_path",
        "body",
    ] {
        let sql = format!("DELETE FROM {table} WHERE episode NOT IN (SELECT n FROM episode)");
        dropped = db.execute(&sql, [])? as u64;
    }
    Ok(dropped)
}

/// Rows in place of those that others name and that could not be read. The next telling of a log
/// replaces them; an episode whose log is gone stays findable with them.
fn stand_in(db: &Connection) -> rusqlite::Result<()> {
    let facts = pack_json(&SessionFacts::default());
    let state = pack_json(&(Ledger::default(), SessionFacts::default()));
    let resume_state = pack_json(&ResumeState::default());
    db.execute(
        "INSERT OR IGNORE INTO session (n, id, agent, namespace, project_path, host, file,
             standing, facts)
         SELECT DISTINCT session, 'salvaged-' || session, 'claude', '', 'salvaged', '', '', 0, ?1
         FROM (SELECT session FROM episode UNION SELECT session FROM file)",
        [&facts],
    )?;
    db.execute(
        "INSERT OR IGNORE INTO file (n, key, agent, session, size, mtime_ns, ctime_ns, device,
             inode, generation, offset, line, read_to, head_print, head_bytes, tail_print,
             content, content_to, ties)
         SELECT file, 'salvaged-' || file, 'claude', min(session), 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
             0, 0, 0, '' FROM episode WHERE file <> 0 GROUP BY file",
        [],
    )?;
    keep_readable(db, "fold", &["carry", "sealed", "tail"])?;
    keep_readable(db, "telling", &["summary"])?;
    db.execute(
        "INSERT OR IGNORE INTO fold (file, carry, sealed, tail) SELECT n, ?1, ?2, ?2 FROM file",
        params![resume_state, state],
    )?;
    db.execute(
        "INSERT OR IGNORE INTO name (n, text)
         SELECT n, 'salvaged-' || n
         FROM (SELECT made_by AS n FROM episode UNION SELECT graph FROM episode)",
        [],
    )?;
    for sql in [
        "DELETE FROM episode_tool WHERE tool NOT IN (SELECT n FROM name)",
        "DELETE FROM episode_path WHERE path NOT IN (SELECT n FROM name)",
        "DELETE FROM tie WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM record WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM reject WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM unknown_kind WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM summary WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM telling WHERE session NOT IN (SELECT n FROM session)",
        "DELETE FROM unsummarised WHERE session NOT IN (SELECT n FROM session)",
        // a page that could not be read is written again
        "INSERT OR IGNORE INTO unsummarised (session) SELECT session FROM episode
         WHERE source = 'session' AND session NOT IN (
             SELECT session FROM episode JOIN body ON episode = n WHERE source = 'session_summary')",
    ] {
        db.execute(sql, [])?;
    }
    Ok(())
}

/// Takes out rows whose packed columns don't unpack; what is absent is not damaged.
fn keep_readable(db: &Connection, table: &str, packed: &[&str]) -> rusqlite::Result<()> {
    let columns = packed.join(", ");
    let mut select = db.prepare(&format!("SELECT rowid, {columns} FROM {table}"))?;
    let mut rows = select.query([])?;
    let mut unreadable = Vec::new();
    while let Some(row) = rows.next()? {
        let json = |i| {
            let column = row.get_ref(i)?;
            if column != ValueRef::Null {
                Packed::of(column)?.json::<serde::de::IgnoredAny>()?;
            }
            Ok(())
        };
        let read: rusqlite::Result<Vec<_>> = (1..=packed.len()).map(json).collect();
        if read.is_err() {
            unreadable.push(row.get::<_, i64>(0)?);
        }
    }
    for n in unreadable {
        db.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [n])?;
    }
    Ok(())
}

/// Drops what has no text, and stand-ins that nothing needs; gives the number of episodes.
fn drop_unfounded(db: &Connection) -> rusqlite::Result<u64> {
    let textless: Vec<i64> = db
        .prepare("SELECT n FROM episode WHERE n NOT IN (SELECT episode FROM body)")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for n in &textless {
        // a sink that has it keeps it: that is the only copy
        db.prepare_cached("DELETE FROM delivery WHERE id = (SELECT id FROM episode WHERE n = ?1)")?
            .execute([n])?;
        remove(db, *n)?;
    }
    for sql in [
        "DELETE FROM fold WHERE file IN (SELECT n FROM file WHERE key LIKE 'salvaged-%'
             AND n NOT IN (SELECT file FROM episode))",
        "DELETE FROM file WHERE key LIKE 'salvaged-%' AND n NOT IN (SELECT file FROM episode)",
        "DELETE FROM session WHERE id LIKE 'salvaged-%'
             AND n NOT IN (SELECT session FROM episode UNION SELECT session FROM file)",
    ] {
        db.execute(sql, [])?;
    }
    Ok(textless.len() as u64)
}

/// Whether a file has anything of ours to salvage or to set aside.
impl DatabaseState {
    /// [`Salvage::of`] may take this file's place.
    pub fn may_be_replaced(self) -> bool {
        !matches!(
            self,
            DatabaseState::Missing | DatabaseState::Newer(_) | DatabaseState::Remote(_)
        )
    }
}
