//! Bytes to entries: lines, then one dialect per file. Never fails; what is not understood is a reject.

pub mod dialect;
pub mod lines;

pub use dialect::{Dialect, LogName};
pub use lines::parse;

use crate::model::entry::{Context, Identity};
use std::sync::Arc;
use uuid::Uuid;

/// Of the ids of records that have none: UUIDv5 in this namespace of the line. The value is UUIDv5
/// (URL) of `urn:sessionmill:line`. Changing it makes every such record another one.
const LINES: Uuid = Uuid::from_u128(0x5d34_a931_85d0_57d5_ac25_d54b_27e1_e2db);

/// The identity of a record without one whose words are kept: what the line says.
pub fn nameless(line: &[u8]) -> Identity {
    Identity::Nth(Uuid::new_v5(&LINES, line))
}

/// What a dialect remembers from line to line. Only `context` has to survive between runs.
#[derive(Debug, Default)]
pub struct ParseState {
    /// Of the last record.
    pub context: Arc<Context>,
    /// What the file's path says.
    pub file: LogName,
    /// Contexts of neighbouring lines, so that they are shared.
    pub recent: Vec<Arc<Context>>,
    /// The last model's name, shared.
    pub model: Option<Arc<str>>,
}

impl ParseState {
    /// Reads on after the record that had `context`.
    pub fn resume(dialect: &dyn Dialect, mut context: Context, key: &str) -> ParseState {
        dialect.resume(&mut context);
        ParseState {
            context: Arc::new(context),
            file: dialect.name(key),
            ..ParseState::default()
        }
    }

    /// `next` as the context of this record; neighbours with equal contexts share one.
    pub fn enter(&mut self, next: Context) -> Arc<Context> {
        if *self.context != next {
            let known = self.recent.iter().find(|c| ***c == next).cloned();
            let next = known.unwrap_or_else(|| {
                let next = Arc::new(next);
                if self.recent.len() >= 4 {
                    self.recent.remove(0);
                }
                self.recent.push(next.clone());
                next
            });
            self.context = next;
        }
        self.context.clone()
    }
}
