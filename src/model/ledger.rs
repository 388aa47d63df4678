//! The account of every line: what became of it, and why. Lines read = the sum of all fates.

use super::source::Place;
use super::time::Time;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What became of a line. Ordered by strength: a line with several values has its strongest fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Understood and not worth keeping (progress, snapshots, thinking, injected text).
    Filtered,
    /// A record that the store already has from another place.
    Copied,
    /// A kind of record that this version doesn't know.
    Unknown,
    /// Not understood: torn, not JSON, not an object.
    Rejected,
    /// Something of it is in an episode or a session.
    Kept,
}

impl Fate {
    /// The word used in tables and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Filtered => "filtered",
            Fate::Copied => "copied",
            Fate::Unknown => "unknown",
            Fate::Rejected => "rejected",
            Fate::Kept => "kept",
        }
    }
}

/// Lines by fate and reason, of one file or of many.
///
/// Merging is associative and commutative; `pending` is the unterminated last line, which no
/// checkpoint passes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Lines per fate and reason (`prompt`, `progress`, `thinking`, an unknown type's name, …).
    pub lines: BTreeMap<Fate, BTreeMap<Cow<'static, str>, u64>>,
    /// Lines without a newline at the end of the file whose JSON is incomplete: 0 or 1 per file.
    pub pending: u64,
    /// Values beyond the first on their line (FORMATS § 2.3); not lines, so not in the sum.
    pub glued: u64,
    /// How often each name was met that this version doesn't know: kinds of records, and fields of
    /// known kinds with a type that they never had. Not lines: theirs may be kept all the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drift: BTreeMap<String, u64>,
}

impl Ledger {
    /// Counts one line.
    pub fn count(&mut self, fate: Fate, reason: impl Into<Cow<'static, str>>) {
        self.add(fate, reason, 1);
    }

    /// Counts some lines.
    pub fn add(&mut self, fate: Fate, reason: impl Into<Cow<'static, str>>, lines: u64) {
        *self
            .lines
            .entry(fate)
            .or_default()
            .entry(reason.into())
            .or_default() += lines;
    }

    /// Lines with this fate.
    pub fn of(&self, fate: Fate) -> u64 {
        self.lines
            .get(&fate)
            .map_or(0, |reasons| reasons.values().sum())
    }

    /// Lines read: kept + filtered + copied + rejected + unknown + pending.
    pub fn total(&self) -> u64 {
        self.lines.values().flat_map(|r| r.values()).sum::<u64>() + self.pending
    }

    /// Adds another account to this one.
    pub fn merge(&mut self, other: &Ledger) {
        for (fate, reasons) in &other.lines {
            let mine = self.lines.entry(*fate).or_default();
            for (reason, lines) in reasons {
                *mine.entry(reason.clone()).or_default() += lines;
            }
        }
        self.pending += other.pending;
        self.glued += other.glued;
        for (name, times) in &other.drift {
            *self.drift.entry(name.clone()).or_default() += times;
        }
    }
}

/// The first place in a file of a name that nobody knew. Never holds content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The record's kind, or `kind.field: type`.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// The record's time; `None` where it states none.
    pub time: Option<Time>,
}

/// A record that could not be understood. Never holds content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Where it is.
    pub place: Place,
    /// Why, in words from a fixed set (`torn json`, `not an object`, `invalid utf-8`, …).
    pub reason: Cow<'static, str>,
}
