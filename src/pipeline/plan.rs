//! What a run would do and cost: the same reading and cutting, and what each step would ask or send of
//! what is stored by now. Nothing is written.

use super::admission::Admission;
use super::context::RunContext;
use super::cost::{Cost, New, costs};
use super::options::{self, PENDING_MS, RunOptions};
use super::spec::{Pipeline, Step};
use super::steps::enrich::condense::{self, PlannedMessages};
use super::steps::enrich::embeddings;
use super::steps::enrich::llm_summary::{self, Predicted};
use super::steps::enrich::tools::{self, ToolsQuestion};
use super::steps::ingest;
use super::steps::ingest::report::IngestReport;
use crate::config::{Config, SinkSettings};
use crate::memory::{classifiers, redaction_setup};
use crate::model::human::{count, plural};
use crate::model::time::Time;
use crate::store::{Resting, Store};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What a run would do.
pub struct Plan {
    /// What it would read.
    pub report: IngestReport,
    /// What it would ask about unknown tools.
    pub tools: Option<ToolsQuestion>,
    /// What asking about sessions would cost; `None`: nobody is asked.
    pub llm_summaries: Option<Predicted>,
    /// What asking about long messages would cost; `None`: none are condensed.
    pub messages: Option<PlannedMessages>,
    /// Texts that would be sent for embedding; `None`: no model is configured.
    pub texts: Option<u64>,
    /// What it may ask about what is not read yet.
    pub may_ask: Option<MayAsk>,
    /// Sessions that would get their summary.
    pub summaries: u64,
    /// By sinks.
    pub costs: Vec<Cost>,
}

/// What asking about the logs that a run would read can come to, with what the store has: its bounds.
#[derive(Clone, Copy)]
pub struct MayAsk {
    /// Tokens and US dollars: `None` inside: no bound; outside: no language model.
    pub llm: Option<(Option<u64>, Option<f64>)>,
    /// Texts for embedding.
    pub texts: Option<usize>,
}

impl MayAsk {
    /// For machines.
    pub fn json(&self) -> Value {
        let (tokens, usd) = self.llm.unzip();
        json!({
            "tokens_max": tokens.flatten(),
            "usd_max": usd.flatten(),
            "texts_max": self.texts,
        })
    }

    /// For people.
    pub fn line(&self) -> String {
        let llm = self.llm.map(|(tokens, usd)| {
            let tokens = tokens.map(|most| format!("{} tokens", count(most)));
            let usd = usd.map(|most| format!("${most:.2}"));
            let bounds: Vec<String> = tokens.into_iter().chain(usd).collect();
            match bounds.is_empty() {
                true => "a language model, without a limit (llm.max_tokens_per_run)".to_owned(),
                false => format!("a language model, for at most {}", bounds.join(" and ")),
            }
        });
        let texts = self.texts.map(|most| {
            let texts = plural(most as u64, "text");
            format!("an embedding model, with at most {texts}")
        });
        let asked: Vec<String> = llm.into_iter().chain(texts).collect();
        format!(
            "would also ask about what it reads; how much that is, only the run knows: {}",
            asked.join("; ")
        )
    }

    /// `None`: nothing would be read, or nobody asked.
    fn of(config: &Config, report: &IngestReport) -> Option<MayAsk> {
        let may_ask = MayAsk {
            llm: config.llm.as_ref().map(|llm| (llm.tokens_max, llm.usd_max)),
            texts: config.embeddings.as_ref().map(|model| model.texts_max),
        };
        let asks = may_ask.llm.is_some() || may_ask.texts.is_some();
        (asks && report.files_read > 0).then_some(may_ask)
    }
}

/// Plans a run. `store`: `None` where there is none yet.
///
/// # Errors
/// When the store, a rule or a table can't be read.
pub fn plan(
    pipeline: &Pipeline,
    options: &RunOptions,
    store: Option<&Store>,
    cx: &mut RunContext<'_>,
) -> Result<Plan> {
    let report = would_read(options, store, cx)?;
    let mut plan = Plan {
        tools: None,
        llm_summaries: None,
        messages: None,
        texts: None,
        may_ask: None,
        summaries: 0,
        costs: Vec::new(),
        report,
    };
    if pipeline.steps.contains(&Step::Enrich) {
        plan.summaries = summaries(store, &plan.report, cx)?;
        plan.may_ask = MayAsk::of(&cx.loaded.config, &plan.report);
        if let Some(store) = store {
            plan.tools = tools::planned(store, cx)?.filter(|asked| !asked.names.is_empty());
            plan.messages = condense::planned(store, cx)?;
            plan.llm_summaries = llm_summary::predicted(options, store, cx)?;
            plan.texts = embeddings::planned(store, cx)?;
        }
    }
    if let (Some(store), true) = (store, pipeline.steps.contains(&Step::Upload)) {
        let sinks: Vec<&SinkSettings> = cx.loaded.config.sinks.iter().collect();
        plan.costs = costs(&sinks, store, New::of(&plan.report, plan.summaries), cx)?;
    }
    Ok(plan)
}

fn would_read(
    options: &RunOptions,
    store: Option<&Store>,
    cx: &RunContext<'_>,
) -> Result<IngestReport> {
    let config = &cx.loaded.config;
    let admission = Admission::new(cx.loaded, cx.env, options.window, options.now)
        .since(&options.last_run)
        .allowing_untrusted(options.allow_untrusted);
    let admit =
        |project: Option<&str>, cwd: Option<&str>, path: &str| admission.admit(project, cwd, path);
    let redaction = redaction_setup::reproducible(config, cx.home)?;
    let classifier = classifiers::counter(cx.home)?;
    let rules = options::rules(config, &options.host, redaction, classifier);
    let setup = options::ingest(config, options, rules, &admit);
    let planned = ingest::plan(store, &setup, cx.progress);
    cx.progress.finish();
    let mut report = planned?;
    report.unclear(admission.unclear());
    Ok(report)
}

/// The sessions that a run would write summaries of: those that rest, of what it would read and of what
/// is stored. A session that has nothing to tell counts too.
fn summaries(store: Option<&Store>, report: &IngestReport, cx: &RunContext<'_>) -> Result<u64> {
    let settled_ms = cx.loaded.config.chunk.gap_ms;
    let rested = Time(cx.now.0.saturating_sub(settled_ms));
    let resting = Resting {
        now: cx.now,
        settled_ms,
        pending_ms: PENDING_MS,
    };
    let stored = store.map_or(Ok(Vec::new()), |store| store.unsummarised(resting))?;
    let read = report.ended_before(rested);
    let sessions: BTreeSet<&str> = read.chain(stored.iter().map(String::as_str)).collect();
    Ok(sessions.len() as u64)
}
