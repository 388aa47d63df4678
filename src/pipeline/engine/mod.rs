//! The stages for somebody else's engine: what one process makes of some files goes out as lines, and lines of
//! many processes are combined in any order (docs/engine.md).
//!
//! [`request`] says which files; [`transform`] reads them; [`line`] is what comes out, also as rows of Arrow;
//! [`merge`] combines it; [`replay`] makes a store of it, of which the tables are written. Knows no engine.

#[cfg(feature = "parquet")]
pub mod arrow;
pub mod deliver;
pub mod heads;
pub mod line;
pub mod merge;
pub mod replay;
pub mod request;
pub mod surroundings;
#[cfg(test)]
mod tests;
pub mod transform;
