//! Floor 5.
