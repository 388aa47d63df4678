//! What deliveries would come to: episodes, bytes, and what sinks' servers have a language model do.

use super::context::RunContext;
use super::graph_gate::KeptHere;
use super::sink_setup::extraction;
use super::steps::upload::due;
use crate::config::{SinkSettings, SinkTo};
use crate::model::extraction::Estimate;
use crate::model::time::Time;
use crate::pipeline::steps::ingest::report::IngestReport;
use crate::store::Store;
use anyhow::Result;

/// Bytes of an episode's header, about.
const HEADER_BYTES: u64 = 500;
/// Bytes of a session's summary, about: the mean over real sessions.
const SUMMARY_BYTES: u64 = 1_100;
/// Episodes that are weighed at once.
const BATCH: usize = 250;

/// What goes to one sink.
pub struct Cost {
    /// Its name.
    pub sink: String,
    /// Episodes that are stored and that it has still to get.
    pub waiting: u64,
    /// Episodes that it has and has still to work through.
    pub to_enrich: u64,
    /// Of all these, and of what the run itself would store.
    pub all: Estimate,
    /// Its server asks a language model.
    pub has_model: bool,
    /// At the rate that is allowed; `None`: as fast as it takes them.
    pub hours: Option<f64>,
}

/// What a run would deliver, and what it would store and deliver itself, with so many summaries. A sink that no run has met
/// yet waits for nothing that is stored.
///
/// # Errors
/// When the store fails, or nobody can say whom the agents trust.
pub fn costs(
    store: &Store,
    report: &IngestReport,
    summaries: u64,
    cx: &RunContext<'_>,
) -> Result<Vec<Cost>> {
    let config = &cx.loaded.config;
    let kept = KeptHere::new(store, false, cx)?;
    let is_off = |sink: &&SinkSettings| sink.is_graph() && !config.memory.enabled;
    let mut all = Vec::new();
    let sinks = config.sinks.iter().filter(|sink| !is_off(sink));
    for settings in sinks.filter(|_| config.store_in_graph) {
        let kept_here = kept.of(settings);
        let known = store.known_sink(&settings.name, &settings.to.address())?;
        let (mut waiting, mut to_enrich) = (Vec::new(), Vec::new());
        if let Some(row) = &known {
            waiting = store.due(row.n, &due(settings, kept_here, cx))?;
            if matches!(&settings.to, SinkTo::Graphiti(to) if to.database.is_some()) {
                // with those whose next attempt is far off: they are paid for in the end
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
        for _ in 0..summaries {
            estimate.add(model.as_ref(), SUMMARY_BYTES + HEADER_BYTES);
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
