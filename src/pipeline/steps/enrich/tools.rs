//! The step `enrich`: unknown tools are asked about in one call per run (D44).
//!
//! Knows which names are worth a question and what becomes of the answers; refuses to know who
//! answers and where the cache lies.

use crate::insight::classify::{answer_tokens_max, prompt, read};
use crate::model::classification::Classification;
use crate::model::time::Time;
use crate::rules::classify::Classifier;
use crate::rules::tool_cache::ToolCache;
use crate::store::{Result, Store};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Names in one question. More: answers get long and are cut off; fewer: a new machine needs more
/// runs to learn what it uses.
const NAMES_MAX: usize = 40;
/// Longer names are no tools'.
const NAME_BYTES_MAX: usize = 200;
/// A name of which nothing could be learned is asked about again after so long.
const AGAIN_AFTER_MS: i64 = 86_400_000;

/// A question, and the names in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What is asked about, the most used first; never empty.
    pub names: Vec<String>,
    /// What is sent.
    pub prompt: String,
    /// Tokens that the answer may have.
    pub tokens_max: u64,
}

/// What one run may use of a language model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Tokens, read and written; `None`: no bound.
    pub tokens: Option<u64>,
    /// US dollars; `None`: no bound.
    pub usd: Option<f64>,
    /// US dollars for a million tokens that the model reads, and that it writes.
    pub usd_per_million: (f64, f64),
}

impl Budget {
    /// Whether a call with so many tokens fits.
    pub fn allows(&self, input: u64, output: u64) -> bool {
        let (reads, writes) = self.usd_per_million;
        let usd = (input as f64 * reads + output as f64 * writes) / 1e6;
        self.tokens.is_none_or(|most| input + output <= most)
            && self.usd.is_none_or(|most| usd <= most)
    }
}

/// What there is to ask about what is stored, within a budget for question and answer; `None`:
/// nothing. Reads every tally of the store.
///
/// # Errors
/// When the store can't be read.
pub fn question(
    store: &Store,
    classifier: &Classifier,
    now: Time,
    budget: &Budget,
) -> Result<Option<Question>> {
    let mut unknown: BTreeMap<String, u64> = BTreeMap::new();
    for (counted, calls) in store.counted_tools()? {
        if let Some(name) = classifier.unknown(&counted) {
            *unknown.entry(name).or_default() += calls;
        }
    }
    let since = Time(now.0.saturating_sub(AGAIN_AFTER_MS));
    unknown.retain(|name, _| name.len() <= NAME_BYTES_MAX && !classifier.failed(name, since));
    let mut names: Vec<(String, u64)> = unknown.into_iter().collect();
    names.sort_by_key(|(_, calls)| Reverse(*calls));
    let mut names: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
    names.truncate(NAMES_MAX);
    while !names.is_empty() {
        let prompt = prompt(&names);
        let tokens_max = answer_tokens_max(names.len());
        if budget.allows(prompt.len().div_ceil(4) as u64, tokens_max) {
            return Ok(Some(Question {
                names,
                prompt,
                tokens_max,
            }));
        }
        names.pop();
    }
    Ok(None)
}

/// What an answer taught.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned {
    rows: BTreeMap<String, Classification>,
    failed: Vec<String>,
}

impl Learned {
    /// Of the names that were asked; one without a sound row could not be learned.
    pub fn of(question: &Question, answer: &str) -> Learned {
        let rows = read(answer, &question.names);
        let missing = question
            .names
            .iter()
            .filter(|name| !rows.contains_key(*name));
        Learned {
            failed: missing.cloned().collect(),
            rows,
        }
    }

    /// How many are known now.
    pub fn tools(&self) -> u64 {
        self.rows.len() as u64
    }

    /// How many are as unknown as before.
    pub fn missing(&self) -> u64 {
        self.failed.len() as u64
    }

    /// Puts it into a cache.
    pub fn remember(&self, cache: &mut ToolCache, now: Time) {
        for (name, classification) in &self.rows {
            cache.learn(name, &Value::Null, classification.clone());
        }
        for name in &self.failed {
            cache.fail(name, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_bounds_tokens_and_money() {
        let any = Budget::default();
        assert!(any.allows(u64::MAX / 2, 1));
        let tokens = Budget {
            tokens: Some(100),
            ..any
        };
        assert!(tokens.allows(60, 40) && !tokens.allows(60, 41));
        let usd = Budget {
            usd: Some(1.0),
            usd_per_million: (0.5, 2.0),
            ..any
        };
        assert!(usd.allows(2_000_000, 0) && usd.allows(0, 500_000));
        assert!(!usd.allows(1_000_000, 250_001));
    }
}
