//! Floor 1.

pub mod documents;
pub mod endings;
pub mod injected;
