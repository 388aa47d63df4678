//! What `config show` says of keys that are read and change nothing.

/// For keys of another architecture (D60).
pub const NEVER: &str = "accepted, without effect";
