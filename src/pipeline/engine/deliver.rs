//! Brings the episodes of a merge to a sink. The engine keeps the receipts: it hands in those of before, and gets
//! all that are known afterwards. So an attempt that is made twice delivers nothing twice.

use super::line::{self, kind};
use crate::config::{Loaded, SinkTo};
use crate::model::consent::{Consent, Endpoint, endpoint_text};
use crate::model::delivery::{Delivery, Receipt, State};
use crate::model::error::Error;
use crate::pipeline::context::RunContext;
use crate::pipeline::graph_gate::allowed;
use crate::pipeline::sink_setup::chosen;
use crate::pipeline::steps::upload::report::SinkReport;
use crate::pipeline::steps::upload::{UploadOptions, deliver_to};
use crate::store::Store;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::str::FromStr;
use uuid::Uuid;

/// The proof that an episode is at a sink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptLine {
    /// The sink's name.
    pub sink: String,
    /// Which episode.
    pub episode: Uuid,
    /// Of which revision: 16 hex digits.
    pub revision: String,
    /// Where the sink has it.
    pub place: String,
    /// `seen` or `enriched`.
    pub state: String,
}

/// What is delivered, and who agreed.
#[derive(Clone, Debug)]
pub struct DeliverOptions {
    /// The sink's name in the settings.
    pub sink: String,
    /// What somebody agrees to, word for word ([`endpoint_text`]).
    pub confirmed: Vec<String>,
    /// Receipts of before.
    pub receipts: Vec<ReceiptLine>,
}

/// Reads receipts, a line each.
///
/// # Errors
/// When a line is none.
pub fn receipts(input: &mut dyn BufRead) -> Result<Vec<ReceiptLine>> {
    let mut all = Vec::new();
    for line in input.lines() {
        let line = line.context("reading receipts")?;
        if !line.is_empty() {
            all.push(serde_json::from_str(&line).context("a receipt")?);
        }
    }
    Ok(all)
}

/// Delivers what has no receipt, and prints all receipts.
///
/// # Errors
/// When there is no such sink, nobody agreed to it, or the store fails. What isn't taken is a fact of the report.
pub fn deliver(
    store: &mut Store,
    told: &DeliverOptions,
    loaded: &Loaded,
    cx: &mut RunContext<'_>,
    out: &mut dyn Write,
) -> Result<Vec<SinkReport>> {
    for text in &told.confirmed {
        store.record_consent(&Consent {
            scope: agreed_to(text)?.to_string(),
            given: true,
            text: text.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            at: cx.now,
        })?;
    }
    let sinks = allowed(chosen(loaded, Some(&told.sink))?, true, true, cx)?;
    if let Some(sink) = sinks
        .iter()
        .find(|sink| !matches!(sink.to, SinkTo::Database(_)))
    {
        let message = format!("sink {}: is not a graph database", sink.name);
        let hint = "only FalkorDB and Neo4j keep an episode once if it is sent twice; deliver to other sinks from a store";
        return Err(Error::usage(message).hinted(hint).into());
    }
    for sink in &sinks {
        let row = store.sink(&sink.name, &sink.to.address(), cx.now)?.n;
        let held = told.receipts.iter().filter(|held| held.sink == sink.name);
        let held: Vec<(Receipt, State)> = held.map(known).collect::<Result<_, Error>>()?;
        let receipts: Vec<Receipt> = held.iter().map(|(receipt, _)| receipt.clone()).collect();
        store.sending(row, &receipts, cx.now)?;
        let deliveries = held.iter().map(|(receipt, state)| Delivery {
            id: receipt.id,
            revision: receipt.revision,
            state: *state,
            attempts: 0,
            next_at: None,
            error: None,
            is_under_way: false,
        });
        store.delivered(row, &deliveries.collect::<Vec<_>>(), cx.now)?;
    }
    let options = UploadOptions {
        history: true,
        max: None,
        insist: true,
        unverified: false,
        allow_untrusted: true,
    };
    let done = deliver_to(&sinks, options, store, cx)?;
    for sink in &sinks {
        let row = store.sink(&sink.name, &sink.to.address(), cx.now)?.n;
        for state in [State::Seen, State::Enriched] {
            for receipt in store.receipts(row, &[state], None, usize::MAX >> 1)? {
                let line = ReceiptLine {
                    sink: sink.name.clone(),
                    episode: receipt.id,
                    revision: format!("{:016x}", receipt.revision),
                    place: receipt.place,
                    state: state.as_str().into(),
                };
                let mut bytes = Vec::new();
                line::write(&mut bytes, kind::RECEIPT, &line)?;
                out.write_all(&bytes)?;
            }
        }
    }
    out.flush()?;
    Ok(done)
}

/// The endpoint that a sentence agrees to.
fn agreed_to(text: &str) -> Result<Endpoint, Error> {
    let written = text.rsplit(' ').next().unwrap_or_default();
    let endpoint = Endpoint::from_str(written)?;
    let wanted = endpoint_text(&endpoint);
    match text == wanted {
        true => Ok(endpoint),
        false => Err(Error::usage(format!(
            "sending to {endpoint} needs your consent, word for word"
        ))
        .hinted(format!("--confirm \"{wanted}\""))),
    }
}

fn known(held: &ReceiptLine) -> Result<(Receipt, State), Error> {
    let wrong = || {
        Error::usage(format!(
            "the receipt of episode {} is not valid",
            held.episode
        ))
    };
    let receipt = Receipt {
        id: held.episode,
        revision: u64::from_str_radix(&held.revision, 16).map_err(|_| wrong())?,
        place: held.place.clone(),
    };
    Ok((receipt, State::parse(&held.state).ok_or_else(wrong)?))
}
