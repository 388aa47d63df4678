//! Floor 3.
