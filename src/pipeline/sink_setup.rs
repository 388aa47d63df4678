//! Sinks as the settings name them, made ready: with the consent, the password and the time that they
//! need.

use super::context::RunContext;
use super::graph_counts;
use super::keys::{key, proxies};
use super::tables::unavailable;
use crate::config::{
    Config, DatabaseSettings, Graphiti, Home, Loaded, Protocol, SinkSettings as Settings, SinkTo,
    graphs,
};
use crate::model::consent::Endpoint;
use crate::model::consent::Permit;
use crate::model::delivery::DeliveryError;
use crate::model::error::{Error, ErrorKind};
use crate::model::extraction::{Extraction, Finds};
use crate::model::scope::{MemoryScope, session_key};
use crate::net::http::{Http, HttpOptions};
use crate::sinks::database::{Database as Beside, Login};
use crate::sinks::falkordb::FalkorDb;
use crate::sinks::graphiti::enriched::EnrichedSink;
use crate::sinks::graphiti::graphiti_server::GraphitiServerSink;
use crate::sinks::graphiti::mcp::GraphitiMcp;
use crate::sinks::graphiti::queue::PollPolicy;
use crate::sinks::graphiti::rest::Rest;
use crate::sinks::graphiti::server::{GraphitiServer, Permits};
use crate::sinks::jsonl::Jsonl;
use crate::sinks::markdown::Markdown;
use crate::sinks::neo4j::Neo4j;
use crate::sinks::scoped::{GroupOf, Scoped};
use crate::sinks::tables::TablesFolder;
use crate::stages::upload::Sink;
use crate::store::{Access, Store};
use anyhow::Result;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// Episodes that Graphiti reads before each that is posted to its REST server. One that it finds in its
/// database is of another kind than those, and is read alone; so is what its MCP server is given.
const CONTEXT: usize = 10;
/// For a whole answer. A listing of many episodes takes a while.
const ANSWER_MS_MAX: u64 = 300_000;
/// For what a person waits for.
const SEARCH_MS_MAX: u64 = 10_000;

/// The sinks that a run can't open, and why: they get nothing, and the run goes on without them.
pub fn refusals(store: &Store, cx: &RunContext<'_>) -> Vec<(String, anyhow::Error)> {
    let config = &cx.loaded.config;
    let refused = graphs(&config.memory, None).err();
    let try_it = |sink: &Settings| match &refused {
        Some(refused) if sink.is_graph() && config.memory.enabled => Err(refused.clone().into()),
        Some(_) if sink.is_graph() => Ok(()),
        _ => open(sink, false, store, cx).map(drop),
    };
    let sinks = config.sinks.iter();
    let refused = sinks.filter_map(|sink| Some((sink.name.clone(), try_it(sink).err()?)));
    refused.collect()
}

/// A sink, ready to be asked. Opens no connection yet. `is_unverified`: one that can't be read back is
/// posted to all the same.
///
/// # Errors
/// Where nobody agreed to an endpoint, or a password is missing.
pub fn open(
    settings: &Settings,
    is_unverified: bool,
    store: &Store,
    cx: &RunContext<'_>,
) -> Result<Box<dyn Sink>> {
    let secret = |what: &str, name: &Option<String>| {
        let setting = format!("sinks.{}.{what}", settings.written());
        let name = name.as_ref();
        name.map(|name| key(&setting, name, cx.env)).transpose()
    };
    let database = |to: &DatabaseSettings, marks: bool| -> Result<Box<dyn Beside>> {
        let permit = store.permit(&to.endpoint)?;
        let login = Login {
            user: to.user.clone(),
            password: secret("password_env", &to.password_env)?,
        };
        Ok(database(&permit, &login, to.sagas, marks).map_err(failed)?)
    };
    let sink: Box<dyn Sink> = match &settings.to {
        SinkTo::Markdown(folder) => Box::new(Markdown::new(folder.clone())),
        SinkTo::Jsonl(folder) => Box::new(Jsonl::new(folder.clone())),
        SinkTo::Parquet(_) if !cfg!(feature = "parquet") => return Err(unavailable().into()),
        SinkTo::Parquet(folder) => Box::new(TablesFolder::new(folder.clone())),
        SinkTo::Database(to) => database(to, false)?,
        SinkTo::Graphiti(to) => {
            // each request asks again; here it fails before the first one
            store.permit(&to.endpoint)?;
            let token = secret("token_env", &to.token_env)?;
            let server = server(to, permits(settings, store)?, token, cx)?;
            let poll = PollPolicy {
                stall: Duration::from_secs(to.stall_s),
                wait: Rc::clone(&cx.timer.wait),
                clock: Rc::clone(&cx.timer.monotonic),
            };
            let (window, now) = (to.window as usize, cx.now);
            match &to.database {
                Some(to) => {
                    let database = database(to, true)?;
                    Box::new(EnrichedSink::new(database, server, poll, window, now))
                }
                None => Box::new(GraphitiServerSink::new(
                    server,
                    poll,
                    window,
                    is_unverified,
                    now,
                )),
            }
        }
    };
    Ok(match settings.scope {
        None => sink,
        Some(scope) => Box::new(Scoped::new(sink, scope.as_str(), group_of(scope, store)?)),
    })
}

/// Which group of a scope an episode goes to.
fn group_of(scope: MemoryScope, store: &Store) -> Result<Box<GroupOf>> {
    let keys: BTreeMap<String, String> = match scope {
        MemoryScope::Session => {
            let sessions = store.session_keys()?.into_iter();
            sessions
                .map(|(id, agent, _)| (id.clone(), session_key(agent, &id)))
                .collect()
        }
        _ => store.workspaces()?.into_iter().collect(),
    };
    Ok(Box::new(move |outbound| {
        let name = match scope {
            MemoryScope::Session => &outbound.session,
            _ => &outbound.namespace,
        };
        scope.group(keys.get(name).unwrap_or(name))
    }))
}

/// A Graphiti server that is asked what it takes for true, while a person waits. Opens no connection
/// yet.
///
/// # Errors
/// Where nobody agreed to its endpoint, or a password is missing.
pub fn graph(settings: &Settings, store: &Store, cx: &RunContext<'_>) -> Result<Rest> {
    let SinkTo::Graphiti(to) = &settings.to else {
        let message = format!("sink {} is not a Graphiti server", settings.name);
        return Err(Error::usage(message).into());
    };
    store.permit(&to.endpoint)?;
    let setting = format!("sinks.{}.token_env", settings.written());
    let name = to.token_env.as_ref();
    let token = name.map(|name| key(&setting, name, cx.env)).transpose()?;
    let http = Http::new(&HttpOptions {
        timeout_ms: SEARCH_MS_MAX,
        proxies: proxies(cx.env),
    })?;
    let permits = permits(settings, store)?;
    Ok(Rest::new(http, to.endpoint.clone(), permits, token))
}

/// Gives permits as long as everybody agrees to all that a sink needs.
fn permits(settings: &Settings, store: &Store) -> Result<Permits> {
    let consents = Store::open(store.path(), Access::ReadOnly)?;
    let all: Vec<Endpoint> = settings.to.endpoints().into_iter().cloned().collect();
    Ok(Box::new(move |endpoint: &Endpoint| {
        all.iter()
            .try_for_each(|also| consents.permit(also).map(|_| ()))?;
        consents.permit(endpoint)
    }))
}

/// The server, as it is spoken to.
fn server(
    to: &Graphiti,
    permits: Permits,
    token: Option<String>,
    cx: &RunContext<'_>,
) -> Result<Box<dyn GraphitiServer>> {
    let http = Http::new(&HttpOptions {
        timeout_ms: ANSWER_MS_MAX.min(to.stall_s.saturating_mul(1_000)),
        proxies: proxies(cx.env),
    })?;
    let endpoint = to.endpoint.clone();
    Ok(match to.protocol {
        Protocol::Rest => Box::new(Rest::new(http, endpoint, permits, token)),
        Protocol::Mcp => Box::new(GraphitiMcp::new(http, endpoint, permits, token.as_deref())),
    })
}

/// The database behind an endpoint. `marks`: a Graphiti server is to work through what is new.
fn database(
    permit: &Permit,
    login: &Login,
    sagas: bool,
    marks: bool,
) -> Result<Box<dyn Beside>, DeliveryError> {
    let is_falkordb = permit.endpoint().scheme().starts_with("redis");
    Ok(match is_falkordb {
        true => Box::new(
            FalkorDb::new(permit, login)?
                .marking(marks)
                .with_sagas(sagas),
        ),
        false => Box::new(Neo4j::new(permit, login)?.marking(marks).with_sagas(sagas)),
    })
}

/// What a sink's server has a language model do, and what that costs; `None`: nothing.
pub fn extraction(settings: &Settings, home: &Home) -> Option<Extraction> {
    let SinkTo::Graphiti(Graphiti {
        protocol,
        database,
        usd_per_million: (input, output),
        ..
    }) = &settings.to
    else {
        return None;
    };
    let is_alone = database.is_some() || *protocol == Protocol::Mcp;
    Some(Extraction {
        context: if is_alone { 0 } else { CONTEXT },
        usd_per_million_input: *input,
        usd_per_million_output: *output,
        finds: Finds::of(&graph_counts::of(&settings.name, home)),
    })
}

/// Whose fault it is, for people.
pub fn failed(fault: DeliveryError) -> Error {
    let kind = match fault {
        DeliveryError::Misconfigured(_) => ErrorKind::Usage,
        DeliveryError::Unavailable(..) | DeliveryError::BatchRejected(_) => ErrorKind::Failed,
    };
    Error::new(kind, fault.reason().to_owned())
}

/// The sinks that are meant: the one of this name with its scopes, or all.
pub fn chosen<'a>(loaded: &'a Loaded, name: Option<&str>) -> Result<Vec<&'a Settings>> {
    let all = &loaded.config.sinks;
    let sinks: Vec<&Settings> = all
        .iter()
        .filter(|sink| name.is_none_or(|name| sink.name == name || sink.written() == name))
        .collect();
    match sinks.is_empty() {
        false => Ok(sinks),
        true => Err(no_sink(name, &loaded.config).into()),
    }
}

/// There is none of this name, or none at all.
fn no_sink(name: Option<&str>, config: &Config) -> Error {
    let off = config.sinks_off.iter();
    let off = off.filter(|off| name.is_none_or(|name| name == off.as_str()));
    let off: Vec<&str> = off.map(String::as_str).collect();
    let known: Vec<&str> = config.sinks.iter().map(|sink| sink.name.as_str()).collect();
    let configure =
        "add one under `sinks` in the file that `sessionmill config path` names (docs/delivery.md)";
    match (name, off.as_slice()) {
        (_, [first, ..]) => {
            Error::usage(format!("switched off in the settings: {}", off.join(", ")))
                .hinted(format!("sinks.{first}.enabled: true"))
        }
        (None, []) => Error::usage("no sink is configured").hinted(configure),
        (Some(name), []) => {
            let error = Error::usage(format!("there is no sink {name}"));
            match known.is_empty() {
                true => error.hinted(configure),
                false => error.hinted(format!("there are: {}", known.join(", "))),
            }
        }
    }
}
