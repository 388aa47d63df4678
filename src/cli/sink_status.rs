//! How each sink stands, printed.

use super::ctx::Ctx;
use super::exit::Exit;
use crate::config::{Loaded, SinkSettings};
use crate::model::error::Error;
use crate::model::human::table;
use crate::pipeline::graph_gate::KeptHere;
use crate::pipeline::progress::Silent;
use crate::pipeline::sink_status::{SinkStatus, TITLES, sink_status};
use anyhow::Result;
use serde_json::{Value, json};

/// Prints how these stand.
pub fn status(
    sinks: &[&SinkSettings],
    refused: &dyn Fn(&SinkSettings) -> Option<Error>,
    loaded: &Loaded,
    ctx: &mut Ctx,
) -> Result<Exit> {
    let store = ctx.reader()?;
    let cx = ctx.pipeline_context(loaded, &Silent);
    let kept = KeptHere::new(&store, false, &cx)?;
    let mut all = Vec::new();
    for settings in sinks {
        let off = refused(settings).map(|error| error.message);
        all.push(sink_status(settings, off, kept.of(settings), &store, &cx)?);
    }
    if ctx.out.json {
        let documents: Vec<Value> = all.iter().map(SinkStatus::json).collect();
        ctx.out
            .document("deliver status", json!({"sinks": documents}))?;
        return Ok(Exit::Done);
    }
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(all.iter().map(|standing| standing.row(ctx.now, ctx.zone)));
    ctx.out.text(table(&rows, &[2, 3, 4, 5, 6]))?;
    Ok(Exit::Done)
}
