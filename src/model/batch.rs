//! What one stage hands to the next: items, the bytes they came from, refusals, counts.

use super::ledger::Reject;
use super::tally::Tally;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The bytes `[from, to)` of one file, in decompressed bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// First byte.
    pub from: u64,
    /// First byte after.
    pub to: u64,
}

impl fmt::Debug for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}..{})", self.from, self.to)
    }
}

/// Items of one file with the account of the bytes they came from. A stage maps `items` and
/// cannot lose the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch<T> {
    /// In file order.
    pub items: Vec<T>,
    /// The bytes that were read for them.
    pub delta: Delta,
    /// Records that were not understood.
    pub rejects: Vec<Reject>,
    /// What was counted so far.
    pub tally: Tally,
    /// Values beyond the first on their line (formats § 2.3).
    pub glued: u64,
    /// The file ends in the middle of a value: 0 or 1. It belongs to the next run.
    pub pending: u64,
}

impl<T> Default for Batch<T> {
    fn default() -> Self {
        Batch {
            items: Vec::new(),
            delta: Delta::default(),
            rejects: Vec::new(),
            tally: Tally::default(),
            glued: 0,
            pending: 0,
        }
    }
}

impl<T> Batch<T> {
    /// The same batch with other items.
    pub fn with<U>(self, items: Vec<U>) -> Batch<U> {
        self.map(|_| items)
    }

    /// The same batch with its items replaced by what `stage` makes of them.
    pub fn map<U>(self, stage: impl FnOnce(Vec<T>) -> Vec<U>) -> Batch<U> {
        Batch {
            items: stage(self.items),
            delta: self.delta,
            rejects: self.rejects,
            tally: self.tally,
            glued: self.glued,
            pending: self.pending,
        }
    }
}
