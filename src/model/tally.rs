//! The counters. One set, mergeable in any order; an episode has one, a session is the sum of its
//! episodes', a run is the sum of what it read.

use super::spending::Spending;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tokens as the provider billed them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Fresh input.
    pub input: u64,
    /// Output; a lower bound in logs of old versions (formats § 3).
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
    /// Of [`Usage::cache_write`], what stays there for an hour instead of five minutes.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Field by field.
    #[must_use]
    pub fn max(self, other: Usage) -> Usage {
        self.zip(other, u64::max)
    }

    /// Field by field.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        self.zip(other, u64::saturating_add)
    }

    /// Field by field, not below 0.
    #[must_use]
    pub fn minus(self, other: Usage) -> Usage {
        self.zip(other, u64::saturating_sub)
    }

    /// All of them together.
    #[must_use]
    pub fn total(self) -> u64 {
        let parts = [self.input, self.output, self.cache_read, self.cache_write];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    fn zip(self, other: Usage, f: impl Fn(u64, u64) -> u64) -> Usage {
        Usage {
            input: f(self.input, other.input),
            output: f(self.output, other.output),
            cache_read: f(self.cache_read, other.cache_read),
            cache_write: f(self.cache_write, other.cache_write),
            cache_write_1h: f(self.cache_write_1h, other.cache_write_1h),
        }
    }
}

/// Calls of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolTally {
    /// Calls that have a digest.
    pub calls: u64,
    /// Of these, failed ones (a refusal is not a failure).
    pub failed: u64,
}

/// What was counted. Merging is associative and commutative.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Bytes of log that were parsed, decompressed.
    pub read_bytes: u64,
    /// Values in them (lines, plus glued ones).
    pub records: u64,
    /// People's prompts, mid-turn ones included.
    pub prompts: u64,
    /// Assistant messages, grouped over their lines.
    pub messages: u64,
    /// Tool calls with a digest.
    pub calls: u64,
    /// Failed ones.
    pub failures: u64,
    /// Calls that a person refused.
    pub refusals: u64,
    /// UTF-8 bytes of people's words kept.
    pub user_bytes: u64,
    /// UTF-8 bytes of the agent's words kept.
    pub agent_bytes: u64,
    /// UTF-8 bytes of digests.
    pub digest_bytes: u64,
    /// UTF-8 bytes of the tool outputs that digests stand for.
    pub output_bytes: u64,
    /// Tokens billed, maximum per message.
    pub usage: Usage,
    /// The same by model and time, as far as the log states them.
    #[serde(skip_serializing_if = "Spending::is_empty")]
    pub spending: Spending,
    /// Per tool name.
    pub tools: BTreeMap<String, ToolTally>,
}

impl Tally {
    /// Adds another account to this one.
    pub fn merge(&mut self, other: &Tally) {
        self.read_bytes += other.read_bytes;
        self.records += other.records;
        self.prompts += other.prompts;
        self.messages += other.messages;
        self.calls += other.calls;
        self.failures += other.failures;
        self.refusals += other.refusals;
        self.user_bytes += other.user_bytes;
        self.agent_bytes += other.agent_bytes;
        self.digest_bytes += other.digest_bytes;
        self.output_bytes += other.output_bytes;
        self.usage = self.usage.plus(other.usage);
        self.spending.merge(&other.spending);
        for (tool, theirs) in &other.tools {
            let mine = self.tools.entry(tool.clone()).or_default();
            mine.calls += theirs.calls;
            mine.failed += theirs.failed;
        }
    }
}
