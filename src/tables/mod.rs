//! Floor 2: stored sessions as tables for SQL and dataframes. Knows which tables there are and what a row
//! says; refuses to know the store, file formats and disks.
//!
//! [`schema`] is the contract (docs/tables.md), the other modules make rows of what a session's logs came to.

mod columns;
pub mod row;
pub mod schema;
#[cfg(test)]
mod tests;
