//! The contract: which tables there are, what their columns are called, hold and mean, and how rows are
//! divided over files. docs/tables.md is written from here.

/// Goes up by one where a column is renamed, removed, or means something else. A column that is added,
/// behind the others, or a new table leaves it.
pub const TABLES_VERSION: u32 = 1;

/// The column by which files are divided: `2026-03`, in UTC, of the session's first record, or of the
/// operation. It stands in the name of the folder, not in the files.
pub const PARTITION: &str = "month";

/// The partition of what has no time.
pub const NO_MONTH: &str = "none";

/// Tables that there are.
pub const TABLES_MAX: usize = 12;

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

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8.
    Text,
    /// 64 bits, signed.
    Int,
    /// 64 bits.
    Real,
    /// True or false.
    Bool,
    /// Milliseconds since 1970, UTC.
    Time,
    /// A list of texts, none of them null.
    Texts,
}

impl ColumnKind {
    /// As docs/tables.md calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            ColumnKind::Text => "text",
            ColumnKind::Int => "int64",
            ColumnKind::Real => "float64",
            ColumnKind::Bool => "bool",
            ColumnKind::Time => "timestamp",
            ColumnKind::Texts => "list of text",
        }
    }
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What queries call it.
    pub name: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
    /// It may hold nothing.
    pub nullable: bool,
    /// For people.
    pub meaning: &'static str,
}

impl Column {
    pub(super) const fn new(name: &'static str, kind: ColumnKind, meaning: &'static str) -> Column {
        Column {
            name,
            kind,
            nullable: false,
            meaning,
        }
    }

    pub(super) const fn or_null(self) -> Column {
        Column {
            nullable: true,
            ..self
        }
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The folder of its files, and what queries call it.
    pub name: &'static str,
    /// What a row is.
    pub meaning: &'static str,
    /// What tells rows apart.
    pub key: &'static [&'static str],
    /// In order.
    pub columns: Vec<Column>,
}
