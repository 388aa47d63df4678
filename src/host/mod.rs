//! Floor 1.
pub mod process;
