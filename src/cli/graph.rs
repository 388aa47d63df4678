//! `search --graph`: what a Graphiti server takes for true about something, with the sessions that
//! tell it. Knows the order of the gates and how a fact reads; refuses to know the server's protocol.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::session_filters;
use crate::config::{Loaded, Protocol, SinkSettings, SinkTo};
use crate::memory::graph_facts::{SourcedFact, sourced, strangers};
use crate::memory::reach::Reach;
use crate::model::delivery::DeliveryError;
use crate::model::error::Error;
use crate::model::human;
use crate::model::namespace::{OWN_NAMESPACE, global_group, group_of};
use crate::pipeline::graph_gate::allowed;
use crate::pipeline::progress::Silent;
use crate::pipeline::sink_setup::{failed, graph};
use crate::sinks::graphiti::rest::Rest;
use crate::store::{Found, Store};
use anyhow::Result;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Facts that are fetched for each that is wanted: some may not be shown.
const SPARE: u32 = 4;
/// Facts of one answer. More: the server looks for minutes.
const FACTS_MAX: u32 = 200;
/// Groups that are asked where each project has its own. More: somebody waits for as many answers; fewer: what was
/// done in projects long ago is not found without `--project`.
const GROUPS_MAX: usize = 20;

/// What `search --graph` is told.
pub struct GraphRequest<'a> {
    /// What to look for.
    pub words: String,
    /// A sink by name, where there are several.
    pub sink: Option<&'a str>,
    /// The present project needs no trust.
    pub allow_untrusted: bool,
    /// At most so many facts.
    pub limit: u32,
}

/// Asks and shows; no fact is exit 1. Nothing is asked where nothing could be shown.
pub fn run(asked: &GraphRequest<'_>, reach: &Reach, ctx: &mut Ctx) -> Result<Exit> {
    if asked.words.trim().is_empty() {
        let error = Error::usage("a graph search needs words");
        return Err(error.hinted("sessionmill search --graph redis").into());
    }
    let loaded = ctx.settings()?;
    let sink = chosen(asked.sink, &loaded)?;
    let mut cx = ctx.pipeline_context(&loaded, &Silent);
    allowed(vec![sink], true, asked.allow_untrusted, &mut cx)?;
    let store = ctx.reader()?;
    let (mut shown, mut dropped) = (Vec::new(), 0);
    if reach.refusal().is_none() {
        let server = graph(sink, &store, &ctx.pipeline_context(&loaded, &Silent))?;
        let written = match loaded.config.group_id.clone() {
            Some(group) => group,
            None => store
                .last_group()?
                .unwrap_or_else(|| global_group(&ctx.host)),
        };
        let mut answers = Vec::new();
        for group in groups(&written, reach, &store)? {
            let (facts, unseen) = facts(asked, reach, &server, &store, &group)
                .map_err(|fault| of_sink(sink, fault))?;
            answers.push(facts.into_iter());
            dropped += unseen;
        }
        shown = in_turn(answers);
    }
    // only now: some of what the server gave may not be seen here
    shown.truncate(asked.limit as usize);
    if ctx.out.json {
        let list = session_filters::documents(&shown, document, ctx)?;
        let body = json!({"sink": sink.name, "facts": list, "dropped": dropped,
            "reason": reach.refusal()});
        ctx.out.document("search --graph", body)?;
    } else {
        for fact in &shown {
            print(fact, ctx)?;
        }
        match reach.refusal() {
            Some(reason) => ctx.out.warn(reason)?,
            None if shown.is_empty() => ctx.out.note("nothing found")?,
            None => {}
        }
    }
    Ok(match shown.is_empty() {
        true => Exit::Failed,
        false => Exit::Done,
    })
}

/// The groups of the projects that may be asked, the latest first. Where each project has its own and all may be
/// asked, those of the projects that were worked on last.
fn groups(written: &str, reach: &Reach, store: &Store) -> Result<Vec<String>, Error> {
    if !written.contains(OWN_NAMESPACE) {
        return Ok(vec![written.to_owned()]);
    }
    let mut namespaces = store.latest_namespaces()?;
    namespaces.retain(|namespace| reach.scope.allows(namespace));
    namespaces.truncate(GROUPS_MAX);
    let groups = namespaces.iter().map(|one| group_of(written, one));
    Ok(groups.map(Cow::into_owned).collect())
}

/// The best of each, then the next ones: a server says of no fact how well it fits.
fn in_turn<T>(mut lists: Vec<impl Iterator<Item = T>>) -> Vec<T> {
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(lists.iter_mut().filter_map(Iterator::next));
        if all.len() == before {
            return all;
        }
    }
}

/// The sink of this name, else the first that can be asked.
fn chosen<'a>(name: Option<&str>, loaded: &'a Loaded) -> Result<&'a SinkSettings, Error> {
    let can = |sink: &&SinkSettings| match &sink.to {
        SinkTo::Graphiti(to) => to.protocol == Protocol::Rest,
        _ => false,
    };
    let mut all = loaded.config.sinks.iter().filter(can);
    let found = match name {
        Some(name) => all.find(|sink| sink.name == name),
        None => all.next(),
    };
    found.ok_or_else(|| {
        let what = name.map_or("no sink".to_owned(), |name| format!("no sink {name}"));
        Error::usage(format!("{what} is a Graphiti server with REST"))
            .hinted("docs/delivery.md shows how to configure one")
    })
}

/// What went wrong on the way.
enum Wrong {
    Server(DeliveryError),
    Here(Error),
}

fn of_sink(sink: &SinkSettings, wrong: Wrong) -> Error {
    match wrong {
        Wrong::Here(error) => error,
        Wrong::Server(fault) => {
            let mut error = failed(fault);
            error.message = format!("sink {}: {}", sink.name, error.message);
            error.hinted(format!("sessionmill deliver check {}", sink.name))
        }
    }
}

/// The facts that may be shown, and how many may not.
fn facts(
    asked: &GraphRequest<'_>,
    reach: &Reach,
    server: &Rest,
    store: &Store,
    group: &str,
) -> Result<(Vec<SourcedFact>, usize), Wrong> {
    let wanted = asked.limit.saturating_mul(SPARE).min(FACTS_MAX);
    let mut facts = server
        .facts(&asked.words, group, wanted)
        .map_err(Wrong::Server)?;
    facts.truncate(wanted as usize);
    let names = match strangers(store, &facts).map_err(Wrong::Here)? {
        true => server.names(group).map_err(Wrong::Server)?,
        false => BTreeMap::new(),
    };
    let may_see = |found: &Found| reach.scope.allows(&found.namespace);
    sourced(store, facts, &names, reach.is_open, &may_see).map_err(Wrong::Here)
}

fn print(shown: &SourcedFact, ctx: &mut Ctx) -> Result<()> {
    let fact = &shown.fact;
    let words: Vec<&str> = fact.fact.split_whitespace().collect();
    let words = words.join(" ").replace(char::is_control, " ");
    let line = match fact.superseded(ctx.now) {
        Some(end) => format!("{words} (superseded since {})", day(end)),
        None => words,
    };
    let line = ctx.out.paint(Style::Bold, &line);
    ctx.out.line(line)?;
    if let Some(since) = &fact.valid_at {
        ctx.out.line(format!("  true since {}", day(since)))?;
    }
    for found in &shown.sources {
        let origin = session_filters::origin_of(&found.namespace, &found.project_path, ctx)?;
        let at = human::time(found.episode.valid_at, ctx.zone);
        let session = ctx.session_shown(&found.session)?;
        let line = format!("  {origin} {at} session {session}: {}", found.episode.title);
        let line = ctx.out.paint(Style::Dim, &line);
        ctx.out.line(line)?;
    }
    if shown.sources.is_empty() {
        ctx.out.line("  (from no session in this store)")?;
    }
    ctx.out.line("")
}

/// The day of a server's time; what is none is not repeated.
fn day(time: &str) -> String {
    crate::model::time::Time::parse(time).map_or("an unknown day".to_owned(), |time| {
        time.utc().format("%Y-%m-%d").to_string()
    })
}

fn document(shown: &SourcedFact, ctx: &mut Ctx) -> Result<Value> {
    let mut sources = Vec::new();
    for found in &shown.sources {
        let source = json!({
            "episode": found.episode.id.to_string(),
            "session": found.session,
            "title": found.episode.title,
            "valid_at": found.episode.valid_at.map(|t| t.rfc3339_millis()),
            "namespace": found.namespace,
            "project_path": found.project_path,
        });
        sources.push(session_filters::veiled(source, &found.project_path, ctx)?);
    }
    let fact = &shown.fact;
    Ok(json!({
        "fact": fact.fact,
        "name": fact.name,
        "valid_at": fact.valid_at,
        "invalid_at": fact.invalid_at,
        "expired_at": fact.expired_at,
        "superseded": fact.superseded(ctx.now).is_some(),
        "sources": sources,
    }))
}
