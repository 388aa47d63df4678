//! `doctor --canary`: everything that is configured, run over planted secrets in a throw-away home.

use super::ctx::Ctx;
use super::exit::Exit;
use crate::config::Loaded;
use crate::model::human;
use crate::pipeline::doctor::canary::Sighted;
use crate::pipeline::doctor::canary_run::sighted;
use crate::pipeline::progress::Silent;
use anyhow::Result;

/// Plants, runs, looks and tells. Exit 3 where something was found.
pub fn run(loaded: &Loaded, ctx: &mut Ctx) -> Result<Exit> {
    let pipeline = ctx.pipeline("nightly")?;
    let sighted = sighted(&pipeline, &ctx.pipeline_context(loaded, &Silent))?;
    tell(&sighted, ctx)?;
    Ok(match sighted.found.is_empty() {
        true => Exit::Done,
        false => Exit::Partial,
    })
}

fn tell(sighted: &Sighted, ctx: &mut Ctx) -> Result<()> {
    if ctx.out.json {
        let body = serde_json::json!({"canary": sighted});
        return ctx.out.document("doctor --canary", body);
    }
    let rows = [
        ("rules", human::count(sighted.rules)),
        ("places", human::count(sighted.places)),
        ("secrets planted", human::count(sighted.planted)),
        ("bytes searched", human::bytes(sighted.bytes)),
        ("found", human::count(sighted.found.len() as u64)),
    ];
    let rows: Vec<Vec<String>> = rows
        .map(|(what, number)| vec![what.to_owned(), number])
        .into();
    ctx.out.text(human::table(&rows, &[1]))?;
    for (rule, place) in &sighted.found {
        ctx.out.line(format!("found: {rule} in {place}"))?;
    }
    Ok(())
}
