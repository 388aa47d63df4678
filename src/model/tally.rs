//! The counters. One set, mergeable in any order; an episode has one, a session is the sum of its
//! episodes', a run is the sum of what it read.

use super::spending::Spending;
use super::usage::Usage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
