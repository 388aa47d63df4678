//! Other programs' SQLite, read-only: nothing of it is changed, and no file is made beside it.
//!
//! Knows how to open a database that its owner may be writing, and how lines are made of rows; what its tables
//! are called and mean is in [`Tables`], which `agents` fill in.

mod write_ahead;

use super::Result;
use super::error::words;
use super::schema::open::{escaped, open_unchanging};
use crate::model::error::{Error, ErrorKind};
use crate::model::table_log::{TableLines, TableLog, Tables};
use rusqlite::{Connection, MAIN_DB, OpenFlags, OptionalExtension};
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Waits so long for a moment in which the owner doesn't hold the whole database.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of lines that are made at once. Larger: memory; smaller: the database is locked and left more often.
const LINES_BYTES: usize = 64 << 10;

/// Bytes of a database that is read into memory, since its log can't be read in place. Larger: memory; smaller:
/// such a database isn't read until its owner has opened it again.
const IN_MEMORY_MAX: u64 = 512 << 20;

/// A database as it was when it was opened: what its owner writes later is not seen.
pub struct ForeignDatabase {
    db: Mutex<Connection>,
    tables: &'static Tables,
}

/// A log in its tables.
pub struct ForeignLog {
    /// Its name: parts that are split by `/`.
    pub name: String,
    /// How many lines it has, about.
    pub lines: u64,
    /// Two numbers of which one changes whenever the log does; the first is a time in milliseconds.
    pub changed: (i64, i64),
    /// Its lines.
    pub inside: TableLog,
}

impl ForeignDatabase {
    /// Opens a database for as long as the value lives.
    ///
    /// # Errors
    /// When it can't be read now, with the reason.
    pub fn open(path: &Path, tables: &'static Tables) -> Result<Arc<ForeignDatabase>> {
        let db = connect(path)?;
        db.busy_timeout(PATIENCE).map_err(failed)?;
        // what its schema calls is somebody else's
        db.pragma_update(None, "trusted_schema", false)
            .map_err(failed)?;
        // what is read from now on is of one moment
        db.execute_batch("BEGIN").map_err(failed)?;
        Ok(Arc::new(ForeignDatabase {
            db: Mutex::new(db),
            tables,
        }))
    }

    /// Its logs, in no order; none where its owner has made no table yet.
    ///
    /// # Errors
    /// When it has other tables than these, or can't be read.
    pub fn logs(self: &Arc<Self>) -> Result<Vec<ForeignLog>> {
        self.listed().map_err(failed)
    }

    fn listed(self: &Arc<Self>) -> rusqlite::Result<Vec<ForeignLog>> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let mut prepared = self.tables.logs.iter().map(|logs| db.prepare(logs));
        let newest = prepared
            .next()
            .unwrap_or(Err(rusqlite::Error::InvalidQuery));
        let mut older = prepared.filter_map(|prepared| prepared.ok());
        let mut statement = match newest.or_else(|error| older.next().ok_or(error)) {
            Ok(statement) => statement,
            Err(_) if has_no_table(&db)? => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let logs = statement.query_map([], |row| {
            let lines = DatabaseLines {
                database: Arc::clone(self),
                rows: row.get(1)?,
                value: row.get(2)?,
            };
            Ok(ForeignLog {
                name: row.get(0)?,
                lines: u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
                changed: (row.get(4)?, row.get(5)?),
                inside: TableLog::new(lines),
            })
        })?;
        logs.collect()
    }
}

/// None but those that keep account of how far the tables are made.
fn has_no_table(db: &Connection) -> rusqlite::Result<bool> {
    let others = "SELECT count(*) FROM sqlite_schema
        WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '%migration%'";
    db.query_row(others, [], |row| Ok(row.get::<_, i64>(0)? == 0))
}

/// Where the owner's index of its log is, it says which moment is read; without a log, the file is whole; else
/// both are put together in memory.
fn connect(path: &Path) -> Result<Connection> {
    let size = |end: &str| fs::metadata(beside(path, end)).map(|meta| meta.len()).ok();
    // without a log SQLite would make one
    if size("-shm").is_some() && size("-wal").is_some() {
        let uri = format!("file:{}?mode=ro&readonly_shm=1", escaped(path));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        return Connection::open_with_flags(uri, flags).map_err(failed);
    }
    if size("-wal").unwrap_or(0) == 0 {
        return open_unchanging(path);
    }
    let whole = size("").unwrap_or(0) + size("-wal").unwrap_or(0);
    if whole > IN_MEMORY_MAX {
        let error = unreadable("its log can't be read in place");
        return Err(error.hinted("start its program once"));
    }
    let read = |path: PathBuf| fs::read(&path).map_err(|e| unreadable(&e.to_string()));
    let (database, log) = (read(path.to_owned())?, read(beside(path, "-wal"))?);
    let whole = write_ahead::applied(database, &log, IN_MEMORY_MAX)
        .ok_or_else(|| unreadable("its log isn't SQLite's"))?;
    let mut db = Connection::open_in_memory().map_err(failed)?;
    let bytes = whole.len();
    db.deserialize_read_exact(MAIN_DB, whole.as_slice(), bytes, true)
        .map_err(failed)?;
    Ok(db)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Which database it is, the caller says.
fn failed(error: rusqlite::Error) -> Error {
    unreadable(&words(&error))
}

fn unreadable(why: &str) -> Error {
    Error::new(ErrorKind::Failed, why)
}

/// The lines of one log.
struct DatabaseLines {
    database: Arc<ForeignDatabase>,
    /// Which of the statements that give its rows.
    rows: usize,
    /// What that takes.
    value: String,
}

impl TableLines for DatabaseLines {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let database = Arc::clone(&self.database);
        let Some(statement) = database.tables.rows.get(self.rows) else {
            return Err(io::Error::other("no such rows"));
        };
        let db = database.db.lock().unwrap_or_else(PoisonError::into_inner);
        let left = || -> rusqlite::Result<VecDeque<(usize, i64)>> {
            let mut rows = db.prepare_cached(statement)?;
            rows.query_map([&self.value], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let left = left().map_err(|error| io::Error::other(words(&error)))?;
        drop(db);
        Ok(Box::new(LinesReader {
            database,
            left,
            lines: Vec::new(),
            used: 0,
        }))
    }
}

/// Lines on their way out.
struct LinesReader {
    database: Arc<ForeignDatabase>,
    /// Rows of which no line was made yet.
    left: VecDeque<(usize, i64)>,
    lines: Vec<u8>,
    /// Of `lines`, handed out already.
    used: usize,
}

impl LinesReader {
    fn more(&mut self) -> rusqlite::Result<()> {
        self.lines.clear();
        self.used = 0;
        let db = &self.database.db;
        let db = db.lock().unwrap_or_else(PoisonError::into_inner);
        while self.lines.len() < LINES_BYTES
            && let Some((line, value)) = self.left.pop_front()
        {
            let Some(statement) = self.database.tables.lines.get(line) else {
                continue;
            };
            let from = self.lines.len();
            let mut statement = db.prepare_cached(statement)?;
            let written = statement.query_row([value], |row| {
                if let Ok(bytes) = row.get_ref(0)?.as_bytes() {
                    self.lines.extend_from_slice(bytes);
                }
                Ok(())
            });
            written.optional()?;
            // between JSON's values a newline is a blank; inside of a string it can't stand
            self.lines[from..]
                .iter_mut()
                .filter(|byte| **byte == b'\n')
                .for_each(|byte| *byte = b' ');
            self.lines.push(b'\n');
        }
        Ok(())
    }
}

impl Read for LinesReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.used == self.lines.len() {
            let made = self.more();
            made.map_err(|error| io::Error::other(words(&error)))?;
        }
        let bytes = (self.lines.len() - self.used).min(buffer.len());
        buffer[..bytes].copy_from_slice(&self.lines[self.used..self.used + bytes]);
        self.used += bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
pub(crate) mod tests;
