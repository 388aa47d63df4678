//! Bytes to entries: one dialect per file.

pub mod claude;
pub mod codex;
pub mod lines;
pub mod plain;
