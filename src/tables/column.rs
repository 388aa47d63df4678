//! What a table and a column are.

/// Tables that there are.
pub const TABLES_MAX: usize = 12;

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
