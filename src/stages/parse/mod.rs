//! Bytes to entries: one dialect per file.

pub mod claude;
pub mod codex;
pub mod lines;
pub mod plain;

use crate::model::entry::Context;
use std::sync::Arc;

/// What one file's parser remembers between lines.
#[derive(Clone, Debug, Default)]
pub struct ParseState {
    /// Sticky values; also the carry.
    pub context: Arc<Context>,
}
