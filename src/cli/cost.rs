//! What deliveries would come to: episodes, bytes, and what sinks' servers have a language model do.

use super::ctx::Ctx;
use super::deliver::due;
use super::human::{bytes, count, plural};
use super::memory::KeptHere;
use super::sinks::extraction;
use crate::config::{Loaded, SinkSettings, SinkTo};
use crate::model::extraction::Estimate;
use crate::model::time::Time;
use crate::pipeline::report::Report;
use crate::store::Store;
use anyhow::Result;
use serde_json::{Value, json};

/// Bytes of an episode's header, about.
const HEADER_BYTES: u64 = 500;
/// Bytes of a session's page, about: the mean over real sessions.
const PAGE_BYTES: u64 = 1_100;
/// Episodes that are weighed at once.
const BATCH: usize = 250;

/// What goes to one sink.
pub struct Cost {
    sink: String,
    /// Episodes that are stored and that it has still to get.
    waiting: u64,
    /// Episodes that it has and has still to work through.
    to_enrich: u64,
    /// Of all these, and of what the run itself would store.
    all: Estimate,
    /// Its server asks a language model.
    has_model: bool,
    /// At the rate that is allowed; `None`: as fast as it takes them.
    hours: Option<f64>,
}

/// What a run would deliver, and what it would store and deliver itself, with so many pages. A sink that no run has met
/// yet waits for nothing that is stored.
pub fn costs(
    loaded: &Loaded,
    store: &Store,
    report: &Report,
    pages: u64,
    ctx: &Ctx,
) -> Result<Vec<Cost>> {
    let config = &loaded.config;
    let kept = KeptHere::new(loaded, store, false, ctx)?;
    let is_off = |sink: &&SinkSettings| sink.is_graph() && !config.memory.enabled;
    let mut all = Vec::new();
    let sinks = config.sinks.iter().filter(|sink| !is_off(sink));
    for settings in sinks.filter(|_| config.store_in_graph) {
        let kept_here = kept.of(settings);
        let known = store.known_sink(&settings.name, &settings.to.address())?;
        let (mut waiting, mut to_enrich) = (Vec::new(), Vec::new());
        if let Some(row) = &known {
            waiting = store.due(row.n, &due(config, settings, kept_here, ctx))?;
            if matches!(&settings.to, SinkTo::Graphiti(to) if to.database.is_some()) {
                to_enrich = store.to_enrich(row.n, kept_here, Time(i64::MAX))?;
            }
        }
        let model = extraction(&settings.to);
        let mut estimate = Estimate::default();
        let rows = [to_enrich.as_slice(), &waiting].concat();
        for rows in rows.chunks(BATCH) {
            let n = known.as_ref().map_or(0, |row| row.n);
            for (found, _) in store.outgoing(n, rows)? {
                let size = found.episode.text.len() as u64 + HEADER_BYTES;
                estimate.add(model.as_ref(), size);
            }
        }
        let new = report.episodes_sealed + report.episodes_open;
        for _ in 0..new {
            estimate.add(model.as_ref(), report.text_bytes / new + HEADER_BYTES);
        }
        for _ in 0..pages {
            estimate.add(model.as_ref(), PAGE_BYTES + HEADER_BYTES);
        }
        let rate = config.delivery.rate_per_minute;
        all.push(Cost {
            sink: settings.name.clone(),
            waiting: waiting.len() as u64,
            to_enrich: to_enrich.len() as u64,
            hours: rate.map(|rate| estimate.episodes as f64 / f64::from(rate) / 60.0),
            all: estimate,
            has_model: model.is_some(),
        });
    }
    Ok(all)
}

impl Cost {
    /// Its server asks a language model.
    pub fn has_model(&self) -> bool {
        self.has_model
    }

    /// For machines.
    pub fn json(&self) -> Value {
        let of_model = |value: Value| if self.has_model { value } else { Value::Null };
        json!({
            "sink": self.sink,
            "waiting": self.waiting,
            "to_enrich": self.to_enrich,
            "episodes": self.all.episodes,
            "bytes": self.all.bytes,
            "llm_calls": of_model(self.all.calls.into()),
            "llm_input_tokens": of_model(self.all.input_tokens.into()),
            "llm_output_tokens": of_model(self.all.output_tokens.into()),
            "usd": of_model(self.all.usd.into()),
            "hours": self.hours,
        })
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let waiting = plural(self.waiting, "episode");
        let mut lines = vec![format!(
            "and deliver to {}: {waiting} that wait, and what it stores itself; together ≈ {}",
            self.sink,
            bytes(self.all.bytes),
        )];
        if self.has_model {
            let (calls, input) = (count(self.all.calls), count(self.all.input_tokens));
            let output = count(self.all.output_tokens);
            let (episodes, usd) = (plural(self.all.episodes, "episode"), self.all.usd);
            lines.push(format!(
                "    its language model works through {episodes}: ≈ {calls} calls, {input} tokens \
                 read and {output} written, {usd:.2} USD"
            ));
        }
        if let Some(hours) = self.hours {
            lines.push(format!("    ≈ {hours:.1} hours at upload.rate_per_minute"));
        }
        lines
    }
}
