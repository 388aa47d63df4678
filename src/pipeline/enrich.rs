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

/// What there is to ask about what is stored, within `tokens` for question and answer; `None`:
/// nothing. Reads every tally of the store.
///
/// # Errors
/// When the store can't be read.
pub fn question(
    store: &Store,
    classifier: &Classifier,
    now: Time,
    tokens: Option<u64>,
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
        let cost = prompt.len().div_ceil(4) as u64 + tokens_max;
        if tokens.is_none_or(|budget| cost <= budget) {
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
