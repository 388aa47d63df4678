//! Floor 2: stored sessions as tables for SQL and dataframes. Knows which tables there are and what a row
//! says; refuses to know the store and disks.
//!
//! [`schema`] is the contract (docs/tables.md), [`source`] what rows are made of, [`session_rows`] and [`git_rows`]
//! make them.

mod call;
mod column;
mod columns;
pub mod git_rows;
mod items;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod row;
pub mod schema;
pub mod session_rows;
pub mod source;
#[cfg(test)]
mod tests;
