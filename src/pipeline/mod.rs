//! Floor 4.
