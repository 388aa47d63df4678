//! The canary's run: everything that is configured, over planted secrets, in a throw-away home.

use super::canary::{Canary, Sighted};
use crate::agents::claude::CLAUDE;
use crate::memory::{classifiers, redaction_setup};
use crate::model::source::Root;
use crate::model::time::Time;
use crate::pipeline::context::RunContext;
use crate::pipeline::options::{self, RunOptions};
use crate::pipeline::progress::Silent;
use crate::pipeline::run_log;
use crate::pipeline::spec::{Pipeline, Window};
use crate::pipeline::steps::enrich::budget::Budget;
use crate::pipeline::steps::enrich::tools::question;
use crate::pipeline::steps::ingest::index;
use crate::pipeline::steps::upload::delivery::deliver;
use crate::pipeline::steps::upload::options::DeliveryOptions;
use crate::sinks::jsonl::Jsonl;
use crate::sinks::markdown::Markdown;
use crate::stages::upload::Sink;
use crate::store::{Access, Store};
use anyhow::Result;
use std::path::Path;

/// Plants, runs and looks.
///
/// # Errors
/// When the throw-away home or its store fails.
pub fn sighted(pipeline: &Pipeline, cx: &RunContext<'_>) -> Result<Sighted> {
    let home = tempfile::tempdir()?;
    let mut canary = Canary::new()?;
    let projects = home.path().join("projects");
    canary.plant(&projects)?;
    let state = home.path().join("state");
    let dump = store(pipeline, &projects, &state, cx)?;
    canary.look(dump.as_bytes());
    canary.look_below(&state)?;
    Ok(canary.sighted())
}

/// A run with the user's settings and rules, in folders of its own; everything that it stored, and
/// what a language model would be asked, as text. What else a run does with episodes, it does here too.
fn store(
    pipeline: &Pipeline,
    projects: &Path,
    state: &Path,
    cx: &RunContext<'_>,
) -> Result<String> {
    let run = RunOptions {
        window: Window::All,
        ..RunOptions::new(pipeline, cx)
    };
    let config = &cx.loaded.config;
    let redaction = redaction_setup::reproducible(config, cx.home)?;
    let classifier = classifiers::counter(cx.home)?;
    let rules = options::rules(config, &run.host, redaction, classifier.clone());
    let mut ingest = options::ingest(config, &run, rules, &|_, _, _| Ok(None));
    ingest.roots = vec![Root {
        path: projects.to_owned(),
        agent: CLAUDE,
        include: Vec::new(),
        exclude: Vec::new(),
        named: false,
    }];
    let mut store = Store::open(&state.join("sessionmill.db"), Access::ReadWrite)?;
    let report = index(&mut store, &ingest, &Silent)?;
    deliver_all(&mut store, state, cx.now)?;
    let log = format!("canary: {}", serde_json::to_string(&report)?);
    run_log::append(&state.join("logs"), cx.now, cx.zone, &log)?;
    let asked = question(&store, &classifier, cx.now, &Budget::default())?;
    let asked = asked.map(|question| question.prompt);
    Ok(store.dump()? + &asked.unwrap_or_default())
}

/// Sinks get everything, on disk, where it is searched too.
fn deliver_all(store: &mut Store, state: &Path, now: Time) -> Result<()> {
    let orders = DeliveryOptions::everything(now);
    let mut sinks: [(&str, Box<dyn Sink>); 2] = [
        ("notes", Box::new(Markdown::new(state.join("notes")))),
        ("lines", Box::new(Jsonl::new(state.join("lines")))),
    ];
    for (name, sink) in &mut sinks {
        deliver(store, name, sink.as_mut(), &orders)?;
    }
    Ok(())
}
