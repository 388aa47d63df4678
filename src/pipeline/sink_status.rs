//! How a sink stands: what is there, what waits, what failed permanently, and what to do about it.

use crate::config::{SinkSettings, SinkTo};
use crate::model::delivery::State;
use crate::model::human::{ago, count, time};
use crate::model::time::Time;
use crate::model::zone::Zone;
use crate::pipeline::context::RunContext;
use crate::pipeline::steps::upload::due;
use crate::pipeline::steps::upload::report::DEAD_LETTERS;
use crate::store::{DeliveryStatus, Store};
use anyhow::Result;
use serde_json::{Value, json};

/// Headings of a [`SinkStatus::row`].
pub const TITLES: [&str; 8] = [
    "sink",
    "address",
    "delivered",
    "waiting",
    "unconfirmed",
    "retried",
    "dead",
    "state",
];

/// One sink, as it stands.
pub struct SinkStatus<'a> {
    settings: &'a SinkSettings,
    states: DeliveryStatus,
    /// Due to it, or sent and not seen there yet.
    waiting: u64,
    /// The setting that stands in its way.
    off: Option<String>,
    /// Nobody agreed to this endpoint of it.
    no_consent: Option<String>,
    paused_until: Option<Time>,
    error: Option<String>,
    /// A run has met it at its address.
    is_met: bool,
    /// Where else episodes are that were delivered under its name.
    elsewhere: Vec<(String, u64)>,
}

/// How a sink stands. `off`: the setting that stands in its way.
///
/// # Errors
/// When the store can't be read.
pub fn sink_status<'a>(
    settings: &'a SinkSettings,
    off: Option<String>,
    kept_here: &[String],
    store: &Store,
    cx: &RunContext<'_>,
) -> Result<SinkStatus<'a>> {
    let address = settings.to.address();
    let row = store.known_sink(&settings.name, &address)?;
    let states = match &row {
        Some(row) => store.sink_status(row.n)?,
        None => DeliveryStatus::default(),
    };
    let due = due(settings, kept_here, cx);
    let waiting = match &row {
        Some(row) => {
            let due = store.due(row.n, &due)?.len();
            (due + store.unconfirmed(row.n)?.len()) as u64
        }
        None => 0,
    };
    let mut endpoints = settings.to.endpoints().into_iter();
    let no_consent = endpoints.find(|endpoint| store.permit(endpoint).is_err());
    let paused = row.as_ref().and_then(|row| row.paused_until);
    let is_met = row.is_some();
    Ok(SinkStatus {
        settings,
        off,
        states,
        waiting,
        is_met,
        elsewhere: store.addresses_before(&settings.name, &address)?,
        no_consent: no_consent.map(ToString::to_string),
        paused_until: paused.filter(|until| *until > cx.now),
        error: row.and_then(|row| row.error),
    })
}

impl SinkStatus<'_> {
    fn of(&self, state: State) -> u64 {
        let states = &self.states.states;
        states.get(state.as_str()).copied().unwrap_or(0)
    }

    fn to(&self) -> String {
        match &self.settings.to {
            SinkTo::Database(to) => to.endpoint.to_string(),
            SinkTo::Graphiti(to) => to.endpoint.to_string(),
            SinkTo::Markdown(path) | SinkTo::Jsonl(path) | SinkTo::Parquet(path) => {
                path.display().to_string()
            }
        }
    }

    /// As `--json` shows it.
    pub fn json(&self) -> Value {
        json!({
            "sink": self.settings.name,
            "to": self.to(),
            "off": self.off,
            "consent": self.no_consent.is_none(),
            "states": self.states.states,
            "waiting": self.waiting,
            "last_seen": self.states.last_seen.map(|t| t.rfc3339_millis()),
            "paused_until": self.paused_until.map(|t| t.rfc3339_millis()),
            "error": self.error,
            "elsewhere": self.elsewhere.iter().map(|(address, episodes)| {
                json!({"address": address, "episodes": episodes})
            }).collect::<Vec<_>>(),
        })
    }

    /// The cells of [`TITLES`].
    pub fn row(&self, now: Time, zone: Zone) -> Vec<String> {
        let cell = |state: State| count(self.of(state));
        vec![
            self.settings.name.clone(),
            self.to(),
            count(self.of(State::Seen) + self.of(State::Enriched)),
            count(self.waiting),
            cell(State::Sent),
            cell(State::Queued),
            cell(State::Dead),
            self.words(now, zone),
        ]
    }

    fn words(&self, now: Time, zone: Zone) -> String {
        let name = &self.settings.name;
        let mut words = match (&self.no_consent, self.paused_until, self.states.last_seen) {
            _ if self.off.is_some() => self.off.iter().cloned().collect(),
            (Some(missing), ..) => {
                vec![format!("no consent (sessionmill consent give {missing})")]
            }
            (_, Some(until), _) => {
                let error = self.error.clone().unwrap_or_default();
                let until = time(Some(until), zone);
                vec![format!("paused until {until}: {error}")]
            }
            (_, None, Some(last)) => vec![format!("delivered {}", ago(last, now))],
            (_, None, None) if self.settings.is_tables() => {
                vec!["brought up to date by each run".to_owned()]
            }
            (_, None, None) => vec!["nothing delivered yet".to_owned()],
        };
        let mut add = |many: u64, what: &str| {
            if many > 0 {
                words.push(format!("{} {what}", count(many)));
            }
        };
        add(self.of(State::Dead), DEAD_LETTERS);
        let enriches = matches!(&self.settings.to, SinkTo::Graphiti(to) if to.database.is_some());
        if enriches {
            add(self.of(State::Seen), "waiting to be processed by its model");
        }
        add(self.of(State::Unverified), "unverified");
        add(self.of(State::Kept), "that can't be removed there");
        let history = format!("older (sessionmill deliver run {name} --history)");
        add(self.of(State::Before), &history);
        for (address, many) in &self.elsewhere {
            add(*many, &format!("stay at {address}"));
        }
        if !self.is_met && !self.elsewhere.is_empty() {
            words.push(format!(
                "new here (to deliver what is stored: sessionmill deliver run {name} --history)"
            ));
        }
        words.join("; ")
    }
}
