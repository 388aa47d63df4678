//! The account of every line: what became of it, and why. Lines read = the sum of all fates.

use super::source::Span;
use super::time::Time;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Reasons of one fate that are told apart in one account; lines with further ones count under
/// [`OTHER`]. Real accounts have some dozens; without a limit, a log of made-up kinds has as many
/// as lines.
pub const REASONS_MAX: usize = 1_000;
/// The reason that stands for those beyond [`REASONS_MAX`].
pub const OTHER: &str = "other";

/// Refused lines of one file whose places are kept, the first ones; all are counted. Larger: a file
/// that is no log fills the store with rows that nobody reads.
pub const REJECTS_MAX: usize = 1_000;

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
    /// All of them, in the order in which people are told: what was kept first.
    pub const ALL: [Fate; 5] = [
        Fate::Kept,
        Fate::Filtered,
        Fate::Copied,
        Fate::Unknown,
        Fate::Rejected,
    ];

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
    /// Values beyond the first on their line (formats § 2.3); not lines, so not in the sum.
    pub glued: u64,
    /// How often each name was met that this version doesn't know: kinds of records, and fields of
    /// known kinds with a type that they never had. Not lines: theirs may be kept all the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drift: BTreeMap<String, u64>,
    /// Of these names, the ones whose records hold words, with how many: what is said there is not
    /// stored.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unread_words: BTreeMap<String, u64>,
}

impl Ledger {
    /// Counts one line.
    pub fn count(&mut self, fate: Fate, reason: impl Into<Cow<'static, str>>) {
        self.add(fate, reason, 1);
    }

    /// Counts some lines.
    pub fn add(&mut self, fate: Fate, reason: impl Into<Cow<'static, str>>, lines: u64) {
        let (reasons, reason) = (self.lines.entry(fate).or_default(), reason.into());
        let is_listed = reasons.len() < REASONS_MAX || reasons.contains_key(&reason);
        let reason = if is_listed { reason } else { OTHER.into() };
        *reasons.entry(reason).or_default() += lines;
    }

    /// What was kept stays out for `reason`.
    pub fn withhold(&mut self, reason: &'static str) {
        let kept = self.lines.remove(&Fate::Kept).unwrap_or_default();
        let lines = kept.values().sum();
        if lines > 0 {
            self.add(Fate::Filtered, reason, lines);
        }
    }

    /// Counts meetings of a name that nobody knew, and the words of those records.
    pub fn drifted(&mut self, name: &str, times: u64, words: u64) {
        let is_listed = self.drift.len() < REASONS_MAX || self.drift.contains_key(name);
        let name = if is_listed { name } else { OTHER };
        *self.drift.entry(name.to_owned()).or_default() += times;
        if words > 0 {
            *self.unread_words.entry(name.to_owned()).or_default() += words;
        }
    }

    /// In how many kinds of records that nobody knows stands what was said, and in how many words.
    pub fn unread(&self) -> Option<(u64, u64)> {
        let words = self.unread_words.values().sum();
        (words > 0).then_some((self.unread_words.len() as u64, words))
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
            for (reason, lines) in reasons {
                self.add(*fate, reason.clone(), *lines);
            }
        }
        self.pending += other.pending;
        self.glued += other.glued;
        for (name, times) in &other.drift {
            self.drifted(
                name,
                *times,
                other.unread_words.get(name).copied().unwrap_or(0),
            );
        }
    }
}

/// The first place in a file of a name that nobody knew. Never holds content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// The record's kind, or `kind.field: type`.
    pub name: String,
    /// Where it is.
    pub place: Span,
    /// The record's time; `None` where it states none.
    pub time: Option<Time>,
}

/// A record that could not be understood. Never holds content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Where it is.
    pub place: Span,
    /// Why, in words from a fixed set (`torn json`, `not an object`, `invalid utf-8`, …).
    pub reason: Cow<'static, str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countless_reasons_are_counted_together_past_the_limit() {
        let mut ledger = Ledger::default();
        for n in 0..REASONS_MAX + 5 {
            ledger.count(Fate::Unknown, format!("kind {n}"));
        }
        ledger.count(Fate::Unknown, "kind 0");
        let mut twice = ledger.clone();
        twice.merge(&ledger);
        let reasons = &twice.lines[&Fate::Unknown];
        assert_eq!((reasons[OTHER], reasons["kind 0"]), (10, 4));
        assert_eq!(twice.total(), 2 * (REASONS_MAX as u64 + 6));
    }
}
