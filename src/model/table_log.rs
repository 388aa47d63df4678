//! Logs that stand in another program's database: what its tables are called, and how lines are made of their
//! rows. Plain values; the store reads them.

use std::fmt;
use std::io;
use std::sync::Arc;

/// Statements that make logs of tables. They only read.
#[derive(Debug)]
pub struct Tables {
    /// Whether a file of this name is such a database.
    pub is_database: fn(&str) -> bool,
    /// Of each version of the tables, newest first; the first that fits counts. A row for each log: its name (of parts that are split by `/`), the number of one of `rows`, the value that
    /// these take, how many lines it has about, and two numbers of which one changes whenever the log does, the
    /// first the time of that change in milliseconds.
    pub logs: &'static [&'static str],
    /// The lines of a log whose value is `?1`, in their order: the number of one of `lines`, and the value that it
    /// takes. What was once told stays in its place.
    pub rows: &'static [&'static str],
    /// The line of the value `?1`: one JSON object.
    pub lines: &'static [&'static str],
}

/// The lines of one log.
pub trait TableLines: Send + Sync {
    /// Reads them from the first.
    ///
    /// # Errors
    /// When the database can't be read.
    fn open(&self) -> io::Result<Box<dyn io::Read + Send>>;
}

/// One log of a database.
#[derive(Clone)]
pub struct TableLog(Arc<dyn TableLines>);

impl TableLog {
    /// Of these lines.
    pub fn new(lines: impl TableLines + 'static) -> TableLog {
        TableLog(Arc::new(lines))
    }

    /// Reads it from its first line.
    ///
    /// # Errors
    /// As [`TableLines::open`].
    pub fn open(&self) -> io::Result<Box<dyn io::Read + Send>> {
        self.0.open()
    }
}

impl fmt::Debug for TableLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TableLog")
    }
}

/// Which log it is, its file's key says.
impl PartialEq for TableLog {
    fn eq(&self, _: &TableLog) -> bool {
        true
    }
}

impl Eq for TableLog {}
