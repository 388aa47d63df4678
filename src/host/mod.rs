//! Floor 1.
pub mod git;
pub mod identity;
