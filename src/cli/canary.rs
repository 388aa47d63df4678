//! `doctor --canary`: everything that is configured, run over planted secrets in a throw-away home.

use super::ctx::Ctx;
use super::exit::Exit;
use super::human;
use super::runlog;
use super::setup::{self, Orders};
use super::tables;
use crate::agents::claude::CLAUDE;
use crate::config::Loaded;
use crate::memory::screen;
use crate::model::source::Root;
use crate::pipeline::deliver;
use crate::pipeline::doctor::canary::{Canary, Sighted};
use crate::pipeline::enrich::{Budget, question};
use crate::pipeline::progress::Silent;
use crate::pipeline::run;
use crate::pipeline::spec::Window;
use crate::sinks::jsonl::Jsonl;
use crate::sinks::markdown::Markdown;
use crate::stages::upload::Sink;
use crate::store::{Access, Store};
use anyhow::Result;
use std::path::Path;

/// Plants, runs, looks and tells. Exit 3 where something was found.
pub fn run(loaded: &Loaded, ctx: &mut Ctx) -> Result<Exit> {
    let home = tempfile::tempdir()?;
    let mut canary = Canary::new()?;
    let projects = home.path().join("projects");
    canary.plant(&projects)?;
    let state = home.path().join("state");
    let dump = store(loaded, &projects, &state, ctx)?;
    canary.look(dump.as_bytes());
    canary.look_below(&state)?;
    let sighted = canary.sighted();
    tell(&sighted, ctx)?;
    Ok(match sighted.found.is_empty() {
        true => Exit::Done,
        false => Exit::Partial,
    })
}

/// A run with the user's settings and rules, in folders of its own; everything that it stored, and
/// what a language model would be asked, as text. What else a run does with episodes, it does here too.
fn store(loaded: &Loaded, projects: &Path, state: &Path, ctx: &Ctx) -> Result<String> {
    let mut orders = Orders::new(&ctx.pipeline("nightly")?, ctx);
    orders.window = Window::All;
    let screen = screen::reproducible(&loaded.config, &ctx.home)?;
    let classifier = tables::counter(&ctx.home)?;
    let mut setup = setup::setup(&loaded.config, &orders, screen, classifier, &|_, _, _| {
        Ok(None)
    });
    setup.roots = vec![Root {
        path: projects.to_owned(),
        agent: CLAUDE,
        include: Vec::new(),
        exclude: Vec::new(),
        named: false,
    }];
    let mut store = Store::open(&state.join("sessionmill.db"), Access::ReadWrite)?;
    let report = run::run(&mut store, &setup, &Silent)?;
    deliver_all(&mut store, state, ctx)?;
    let log = format!("canary: {}", serde_json::to_string(&report)?);
    runlog::append(&state.join("logs"), ctx.now, ctx.zone, &log)?;
    let asked = question(
        &store,
        &tables::counter(&ctx.home)?,
        ctx.now,
        &Budget::default(),
    )?;
    let asked = asked.map(|question| question.prompt);
    Ok(store.dump()? + &asked.unwrap_or_default())
}

/// Sinks get everything, on disk, where it is searched too.
fn deliver_all(store: &mut Store, state: &Path, ctx: &Ctx) -> Result<()> {
    let orders = deliver::Orders::everything(ctx.now);
    let mut sinks: [(&str, Box<dyn Sink>); 2] = [
        ("notes", Box::new(Markdown::new(state.join("notes")))),
        ("lines", Box::new(Jsonl::new(state.join("lines")))),
    ];
    for (name, sink) in &mut sinks {
        deliver::deliver(store, name, sink.as_mut(), &orders)?;
    }
    Ok(())
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
