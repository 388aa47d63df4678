//! Rows of tables: plain values, whatever format they are written in.

use super::schema::{ColumnKind, Name, TABLES_MAX, Table, table};
use crate::model::time::Time;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing is known.
    Null,
    /// Of [`ColumnKind::Text`].
    Text(String),
    /// Of [`ColumnKind::Int`].
    Int(i64),
    /// Of [`ColumnKind::Real`].
    Real(f64),
    /// Of [`ColumnKind::Bool`].
    Bool(bool),
    /// Of [`ColumnKind::Time`].
    Time(Time),
    /// Of [`ColumnKind::Texts`].
    Texts(Vec<String>),
}

/// The values of one row, in the order of the table's columns.
pub type TableRow = Vec<Cell>;

/// Rows of all tables, each list in the order of its session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows([Vec<TableRow>; TABLES_MAX]);

impl Rows {
    /// Adds a row.
    pub fn push(&mut self, name: Name, row: TableRow) {
        debug_assert!(fits(table(name), &row), "{}: {row:?}", table(name).name);
        self.0[name as usize].push(row);
    }

    /// Of one table.
    pub fn of(&self, name: Name) -> &[TableRow] {
        &self.0[name as usize]
    }

    /// Adds those of another stretch behind these.
    pub fn append(&mut self, mut other: Rows) {
        for (own, more) in self.0.iter_mut().zip(&mut other.0) {
            own.append(more);
        }
    }

    /// In all tables.
    pub fn count(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}

/// A row has a value of the right kind for each column, and nothing is missing where something has to be.
pub fn fits(table: &Table, row: &[Cell]) -> bool {
    let fits = |(column, cell): (&super::schema::Column, &Cell)| match cell {
        Cell::Null => column.nullable,
        Cell::Text(_) => column.kind == ColumnKind::Text,
        Cell::Int(_) => column.kind == ColumnKind::Int,
        Cell::Real(_) => column.kind == ColumnKind::Real,
        Cell::Bool(_) => column.kind == ColumnKind::Bool,
        Cell::Time(_) => column.kind == ColumnKind::Time,
        Cell::Texts(_) => column.kind == ColumnKind::Texts,
    };
    row.len() == table.columns.len() && table.columns.iter().zip(row).all(fits)
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

/// Counts that no table of numbers could hold end at its largest.
impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Cell {
        Cell::Int(count.into())
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Cell {
        Cell::from(count as u64)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Real(number)
    }
}

impl From<bool> for Cell {
    fn from(is_so: bool) -> Cell {
        Cell::Bool(is_so)
    }
}

impl From<Time> for Cell {
    fn from(time: Time) -> Cell {
        Cell::Time(time)
    }
}

impl<S: Into<String>> FromIterator<S> for Cell {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Cell {
        Cell::Texts(texts.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Null, Into::into)
    }
}
