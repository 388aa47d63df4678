//! Unknown tools: a language model is asked about them in one call per run (D44), and what it says is
//! kept in the cache of tools.

use super::budget::Budget;
use super::models::{Silence, language_model};
use crate::insight::classify::{answer_tokens_max, prompt, read};
use crate::model::classification::Classification;
use crate::model::human::{count, plural};
use crate::model::time::Time;
use crate::pipeline::context::RunContext;
use crate::rules::classify::Classifier;
use crate::rules::tool_cache::ToolCache;
use crate::store::{Spent, Store};
use anyhow::Result;
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
pub struct ToolsQuestion {
    /// What is asked about, the most used first; empty where the budget doesn't allow a single one.
    pub names: Vec<String>,
    /// What is sent.
    pub prompt: String,
    /// Tokens that the answer may have.
    pub tokens_max: u64,
}

/// What was asked, and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolsReport {
    /// Names that were asked about.
    pub asked: u64,
    /// Of these, the ones that are known now.
    pub learned: u64,
    /// As the server counts it.
    pub spent: Spent,
    /// Why the model didn't answer.
    pub silence: Option<Silence>,
}

impl ToolsReport {
    /// Names that wait for the next run.
    pub fn waiting(&self) -> u64 {
        self.silence.as_ref().map_or(0, |_| self.asked)
    }

    /// For people; `None` where nothing was asked.
    pub fn line(&self) -> Option<String> {
        let (asked, tokens) = (
            plural(self.asked, "unknown tool"),
            count(self.spent.tokens.total()),
        );
        let learned = count(self.learned);
        (self.asked > 0 && self.spent.tokens.total() > 0)
            .then(|| format!("asked about {asked}: {learned} known now, {tokens} tokens"))
    }
}

/// Asks about unknown tools in one call and keeps the answer. A model that can't be reached is a
/// warning; the next run asks again.
///
/// # Errors
/// When the store or the cache fails, or nobody agreed to the model's endpoint.
pub fn ask_about_tools(store: &Store, cx: &mut RunContext<'_>) -> Result<ToolsReport> {
    let Some(settings) = &cx.loaded.config.llm else {
        return Ok(ToolsReport::default());
    };
    let Some(question) = planned(store, cx)? else {
        return Ok(ToolsReport::default());
    };
    if question.names.is_empty() {
        cx.notices.warn(
            "llm.max_tokens_per_run or llm.max_usd_per_run is too small for a question about a single \
             unknown tool",
        )?;
        return Ok(ToolsReport::default());
    }
    let permit = store.permit(&settings.endpoint)?;
    let model = language_model(settings, cx)?;
    let answer = match model.ask(&permit, &question.prompt, question.tokens_max) {
        Ok(answer) => answer,
        Err(error) => {
            let waiting = plural(question.names.len() as u64, "unknown tool");
            let waits = format!("{error}; {waiting} wait for the next run");
            cx.notices.note(&waits)?;
            return Ok(ToolsReport {
                asked: question.names.len() as u64,
                silence: Silence::of(&error),
                ..ToolsReport::default()
            });
        }
    };
    let learned = Learned::of(&question, &answer.text);
    let now = cx.now;
    cx.change_tool_cache(|cache| learned.remember(cache, now))?;
    if learned.missing() > 0 {
        let missing = plural(learned.missing(), "tool");
        cx.notices.note(&format!(
            "{missing} could not be classified; asked again in a day"
        ))?;
    }
    Ok(ToolsReport {
        asked: question.names.len() as u64,
        learned: learned.tools(),
        spent: Spent {
            tokens: answer.tokens,
            usd: answer.tokens.usd(settings.usd_per_million),
        },
        silence: None,
    })
}

/// What a run would ask now; `None` where no model is configured, nothing is unknown, or the answer
/// could not be kept.
///
/// # Errors
/// When the store or a table can't be read.
pub fn planned(store: &Store, cx: &mut RunContext<'_>) -> Result<Option<ToolsQuestion>> {
    let Some(settings) = &cx.loaded.config.llm else {
        return Ok(None);
    };
    let Some(classifier) = cx.learned_tools()? else {
        return Ok(None);
    };
    let budget = Budget {
        tokens: settings.tokens_max,
        usd: settings.usd_max,
        usd_per_million: settings.usd_per_million,
    };
    question(store, &classifier, cx.now, &budget)
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
) -> Result<Option<ToolsQuestion>> {
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
    if names.is_empty() {
        return Ok(None);
    }
    while !names.is_empty() {
        let prompt = prompt(&names);
        let tokens_max = answer_tokens_max(names.len());
        if budget.allows(prompt.len().div_ceil(4) as u64, tokens_max) {
            return Ok(Some(ToolsQuestion {
                names,
                prompt,
                tokens_max,
            }));
        }
        names.pop();
    }
    Ok(Some(ToolsQuestion {
        names,
        prompt: String::new(),
        tokens_max: 0,
    }))
}

/// What an answer taught.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned {
    rows: BTreeMap<String, Classification>,
    failed: Vec<String>,
}

impl Learned {
    /// Of the names that were asked; one without a sound row could not be learned.
    pub fn of(question: &ToolsQuestion, answer: &str) -> Learned {
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
