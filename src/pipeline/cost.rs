//! What deliveries would come to: episodes, bytes, and what sinks' servers have a language model do.

use super::context::RunContext;
use super::graph_gate::KeptHere;
use super::sink_setup::extraction;
use super::steps::upload::due;
use crate::config::{SinkSettings, SinkTo};
use crate::model::episode::EpisodeSource;
use crate::model::extraction::{Estimate, Extraction, SECONDS_PER_CALL};
use crate::model::human::{bytes, duration_ms, plural, roughly};
use crate::model::time::Time;
use crate::pipeline::steps::ingest::report::IngestReport;
use crate::store::{Due, Store};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;

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
    /// Of what was stored before the sink was known: `--history` sends it too.
    pub history: Estimate,
    /// How its server goes about it; `None`: it asks no language model.
    pub model: Option<Extraction>,
    /// Episodes a minute that are allowed; `None`: as fast as it takes them.
    pub rate: Option<u32>,
}

/// What a run would store and deliver itself.
#[derive(Clone, Copy, Default)]
pub struct New {
    episodes: u64,
    text_bytes: u64,
    summaries: u64,
}

impl New {
    /// By what it would read, with so many summaries.
    pub fn of(report: &IngestReport, summaries: u64) -> New {
        New {
            episodes: report.episodes_sealed + report.episodes_open,
            text_bytes: report.text_bytes,
            summaries,
        }
    }
}

/// What would be delivered to each of these sinks, unless it is off. To one that no run has met yet goes
/// nothing of what is stored but by `--history`.
///
/// # Errors
/// When the store fails, or nobody can say whom the agents trust.
pub fn costs(
    sinks: &[&SinkSettings],
    store: &Store,
    new: New,
    cx: &RunContext<'_>,
) -> Result<Vec<Cost>> {
    let config = &cx.loaded.config;
    let kept = KeptHere::new(store, false, cx)?;
    let is_off =
        |sink: &&&SinkSettings| sink.is_tables() || sink.is_graph() && !config.memory.enabled;
    let sinks = sinks.iter().filter(|sink| !is_off(sink));
    let all = sinks.filter(|_| config.store_in_graph);
    all.map(|settings| cost(settings, kept.of(settings), store, new, cx))
        .collect()
}

fn cost(
    settings: &SinkSettings,
    kept_here: &[String],
    store: &Store,
    new: New,
    cx: &RunContext<'_>,
) -> Result<Cost> {
    let known = store.known_sink(&settings.name, &settings.to.address())?;
    // nothing was ever noted of a sink without a number
    let n = known.as_ref().map_or(0, |row| row.n);
    let (mut waiting, mut to_enrich) = (Vec::new(), Vec::new());
    let due = due(settings, kept_here, cx);
    if known.is_some() {
        waiting = store.due(n, &due)?;
        waiting.extend(store.unconfirmed(n)?);
        if matches!(&settings.to, SinkTo::Graphiti(to) if to.database.is_some()) {
            // with those whose next attempt is far off: they are paid for in the end
            to_enrich = store.to_enrich(n, kept_here, Time(i64::MAX))?;
        }
    }
    let mut before = store.due(
        n,
        &Due {
            history: true,
            ..due
        },
    )?;
    let waits: BTreeSet<i64> = waiting.iter().copied().collect();
    before.retain(|row| !waits.contains(row));
    let model = extraction(settings, cx.home);
    let weigh = |estimate: &mut Estimate, rows: &[i64]| -> Result<()> {
        for rows in rows.chunks(BATCH) {
            for (found, _) in store.outgoing(n, rows)? {
                let size = found.episode.text.len() as u64 + HEADER_BYTES;
                estimate.add(model.as_ref(), size);
            }
        }
        Ok(())
    };
    let (mut all, mut history) = (Estimate::default(), Estimate::default());
    weigh(&mut all, &[to_enrich.as_slice(), &waiting].concat())?;
    weigh(&mut history, &before)?;
    let without = settings.without();
    let chunks = match without {
        Some(EpisodeSource::Session) => 0,
        _ => new.episodes,
    };
    let summaries = match without {
        Some(EpisodeSource::SessionSummary) => 0,
        _ => new.summaries,
    };
    for _ in 0..chunks {
        all.add(model.as_ref(), new.text_bytes / new.episodes + HEADER_BYTES);
    }
    for _ in 0..summaries {
        all.add(model.as_ref(), SUMMARY_BYTES + HEADER_BYTES);
    }
    Ok(Cost {
        sink: settings.name.clone(),
        waiting: waiting.len() as u64,
        to_enrich: to_enrich.len() as u64,
        all,
        history,
        model,
        rate: cx.loaded.config.delivery.rate_per_minute,
    })
}

impl Cost {
    /// For machines.
    pub fn json(&self) -> Value {
        let mut body = json!({
            "sink": self.sink,
            "waiting": self.waiting,
            "to_enrich": self.to_enrich,
            "hours": self.hours(&self.all),
            "history": self.figures(&self.history),
            "assumes": self.model.map(|model| json!({
                "entities": model.finds.entities,
                "facts": model.finds.facts,
                "counted_episodes": model.finds.counted,
                "seconds_per_episode": model.finds.seconds(),
                "usd_per_million_input": model.usd_per_million_input,
                "usd_per_million_output": model.usd_per_million_output,
            })),
        });
        if let (Value::Object(body), Value::Object(all)) = (&mut body, self.figures(&self.all)) {
            body.extend(all);
        }
        body
    }

    fn figures(&self, of: &Estimate) -> Value {
        let of_model = |number: f64| self.model.map(|_| number);
        let whole = |number: f64| of_model(number).map(|number| number.round() as u64);
        json!({
            "episodes": of.episodes,
            "bytes": of.bytes,
            "llm_calls": whole(of.calls),
            "llm_input_tokens": whole(of.input_tokens),
            "llm_output_tokens": whole(of.output_tokens),
            "usd": of_model(of.usd),
            "model_hours": of_model(of.seconds / 3_600.0),
        })
    }

    /// At the rate that is allowed.
    fn hours(&self, of: &Estimate) -> Option<f64> {
        let rate = f64::from(self.rate?);
        Some(of.episodes as f64 / rate / 60.0)
    }

    /// For people: of a run.
    pub fn lines(&self) -> Vec<String> {
        let waiting = plural(self.waiting, "episode");
        let mut lines = vec![format!(
            "would deliver to {}: {waiting} waiting and the new ones, together ≈ {}",
            self.sink,
            bytes(self.all.bytes),
        )];
        lines.extend(self.bill(&self.all));
        if self.history.episodes > 0 {
            let older = plural(self.history.episodes, "older episode");
            let size = bytes(self.history.bytes);
            lines.push(format!(
                "    not included: {older}, ≈ {size} (sent only by sessionmill deliver run {} --history)",
                self.sink
            ));
            lines.extend(self.bill(&self.history));
        }
        lines.extend(self.assumptions());
        lines
    }

    /// For people: of `deliver run`, with what was stored before or without.
    pub fn delivery_lines(&self, with_history: bool) -> Vec<String> {
        let mut all = self.all.clone();
        if with_history {
            all.join(&self.history);
        }
        let episodes = plural(all.episodes, "episode");
        let mut lines = vec![format!(
            "sink {}: would get {episodes}, ≈ {}",
            self.sink,
            bytes(all.bytes)
        )];
        lines.extend(self.bill(&all));
        lines.extend(self.assumptions());
        if !with_history && self.history.episodes > 0 {
            let older = plural(self.history.episodes, "older episode");
            lines.push(format!("    and {older} with --history"));
        }
        lines
    }

    fn bill(&self, of: &Estimate) -> Vec<String> {
        let mut lines = Vec::new();
        if self.model.is_some() && of.episodes > 0 {
            let [calls, input, output] =
                [of.calls, of.input_tokens, of.output_tokens].map(|n| roughly(n.round() as u64));
            let (episodes, usd) = (plural(of.episodes, "episode"), of.usd);
            let takes = duration_ms((of.seconds * 1_000.0) as u64);
            lines.push(format!(
                "    its language model processes {episodes}: ≈ {calls} calls, {input} input and {output} \
                 output tokens, {usd:.2} USD, {takes}"
            ));
        }
        if let Some(hours) = self.hours(of) {
            lines.push(format!("    ≈ {hours:.1} hours at upload.rate_per_minute"));
        }
        lines
    }

    /// What the bill goes by.
    fn assumptions(&self) -> Option<String> {
        let Extraction {
            finds,
            usd_per_million_input: input,
            usd_per_million_output: output,
            ..
        } = self.model?;
        let from = match finds.counted {
            0 => "nothing was counted in its graph yet".to_owned(),
            n => format!("counted in {} of its graph", plural(n, "episode")),
        };
        let seconds = match finds.seconds {
            Some(seconds) => format!("{seconds:.1} s an episode, as measured"),
            None => format!(
                "{:.0} s an episode at {SECONDS_PER_CALL:.0} s a call",
                finds.seconds()
            ),
        };
        Some(format!(
            "    assumed: {:.1} entities and {:.1} facts an episode ({from}); {seconds}; {input} USD \
             and {output} USD for a million tokens read and written (sinks.{}.usd_per_million_input)",
            finds.entities, finds.facts, self.sink
        ))
    }
}
