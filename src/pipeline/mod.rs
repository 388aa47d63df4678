//! Floor 4.
pub mod lock;
pub mod progress;
pub mod spec;
