//! The contract: which tables there are, what their columns are called, hold and mean, and how rows are
//! divided over files. docs/tables.md is written from here.

pub use super::column::{Column, ColumnKind, TABLES_MAX, Table};
use super::columns;
use std::sync::LazyLock;

/// Goes up by one where a column is renamed, removed, or means something else. A column that is added,
/// behind the others, or a new table leaves it.
pub const TABLES_VERSION: u32 = 1;

/// The column by which files are divided: `2026-03`, in UTC, of the session's first record, or of the
/// operation. It stands in the name of the folder, not in the files.
pub const PARTITION: &str = "month";

/// The partition of what has no time.
pub const NO_MONTH: &str = "none";

/// A table's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// One row a session.
    Sessions,
    /// One row an episode.
    Episodes,
    /// One row for what somebody said.
    Messages,
    /// One row a tool call.
    ToolCalls,
    /// One row for a tool call that ran a shell command.
    Commands,
    /// One row a test run, or a coverage that was printed.
    Tests,
    /// One row for each file that a call changed.
    FilesChanged,
    /// One row an episode: what kind of work it was.
    Activity,
    /// One row a decision.
    Decisions,
    /// One row a git operation.
    GitOperations,
    /// One row an episode, model and half hour.
    Usage,
    /// One row a log, fate and reason.
    Ledger,
}

impl Name {
    /// All of them, in the order of the declaration.
    pub const ALL: [Name; TABLES_MAX] = [
        Name::Sessions,
        Name::Episodes,
        Name::Messages,
        Name::ToolCalls,
        Name::Commands,
        Name::Tests,
        Name::FilesChanged,
        Name::Activity,
        Name::Decisions,
        Name::GitOperations,
        Name::Usage,
        Name::Ledger,
    ];
}

/// The table of this name.
pub fn table(name: Name) -> &'static Table {
    &TABLES[name as usize]
}

static TABLES: LazyLock<[Table; TABLES_MAX]> = LazyLock::new(columns::all);
