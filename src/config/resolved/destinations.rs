//! Destinations as they are meant: names checked, folders absolute, endpoints in their one spelling.
//! Passwords stay where they are: settings only name their variables.

use crate::config::env::Env;
use crate::config::layers::Layers;
use crate::config::values::{interval, seconds};
use crate::config::wire::{
    NotificationMethod, Notifications, SinkContent, SinkKind, WireConfig, WireSink,
};
use crate::model::consent::Endpoint;
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::scope::MemoryScope;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A destination.
#[derive(Clone, Debug, PartialEq)]
pub struct SinkSettings {
    /// Lower-case letters, digits, `-` and `_`; with `/` and the scope for one of a scope.
    pub name: String,
    /// What it is and where.
    pub to: SinkTo,
    /// Whose groups get what it is given (`graphiti.ingest_scopes`); `None`: episodes' own.
    pub scope: Option<MemoryScope>,
    /// Which episodes of sessions it gets.
    pub content: SinkContent,
}

impl SinkSettings {
    /// Episodes of sessions that it doesn't get; `None`: it gets all.
    pub fn without(&self) -> Option<EpisodeSource> {
        match self.content {
            SinkContent::All => None,
            SinkContent::Chunks => Some(EpisodeSource::SessionSummary),
            SinkContent::Summaries => Some(EpisodeSource::Session),
        }
    }

    /// As the settings call it.
    pub fn written(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// A folder of tables, which every run brings up to the store as a whole: no episode waits for it.
    pub fn is_tables(&self) -> bool {
        matches!(self.to, SinkTo::Parquet(_))
    }

    /// A graph, or what fills one: needs `graphiti.enabled`.
    pub fn is_graph(&self) -> bool {
        !self.to.endpoints().is_empty()
    }
}

/// For each graph, one more for each of these scopes.
pub(super) fn with_scopes(
    sinks: Vec<SinkSettings>,
    scopes: &BTreeSet<MemoryScope>,
) -> Vec<SinkSettings> {
    let scoped = |sink: &SinkSettings, scope: &MemoryScope| SinkSettings {
        name: format!("{}/{}", sink.name, scope.as_str()),
        to: sink.to.clone(),
        scope: Some(*scope),
        content: sink.content,
    };
    let mut all = Vec::with_capacity(sinks.len());
    for sink in sinks {
        let graph = sink.is_graph().then_some(scopes).into_iter().flatten();
        let copies: Vec<SinkSettings> = graph.map(|scope| scoped(&sink, scope)).collect();
        all.push(sink);
        all.extend(copies);
    }
    all
}

/// What a destination is and where.
#[derive(Clone, Debug, PartialEq)]
pub enum SinkTo {
    /// A graph database: FalkorDB or Neo4j, as its endpoint's scheme says.
    Database(DatabaseSettings),
    /// Graphiti's server.
    Graphiti(Graphiti),
    /// A folder of notes.
    Markdown(PathBuf),
    /// A folder of lines.
    Jsonl(PathBuf),
    /// A folder of tables: made of the store as a whole, not of the episodes that are due.
    Parquet(PathBuf),
}

/// Which of Graphiti's servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// REST.
    Rest,
    /// MCP over streamable HTTP.
    Mcp,
}

/// Graphiti's server, and what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Graphiti {
    /// How it is spoken to.
    pub protocol: Protocol,
    /// Needs consent.
    pub endpoint: Endpoint,
    /// The variable that holds a bearer token.
    pub token_env: Option<String>,
    /// The database that it works on.
    pub database: Option<DatabaseSettings>,
    /// Episodes that it is given at once.
    pub window: u32,
    /// Without anything that comes, its worker is taken for dead.
    pub stall_s: u64,
    /// How long a run goes on handing out work.
    pub time_per_run_s: u64,
    /// What its language model costs for a million tokens that it reads, and that it writes.
    pub usd_per_million: (f64, f64),
}

/// A graph database: FalkorDB behind `redis`, `rediss`; Neo4j behind `bolt`, `bolt+s`, `neo4j`,
/// `neo4j+s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSettings {
    /// Needs consent.
    pub endpoint: Endpoint,
    /// Who logs in.
    pub user: Option<String>,
    /// The variable that holds the password.
    pub password_env: Option<String>,
    /// Sessions become sagas.
    pub sagas: bool,
}

impl SinkTo {
    /// Where it delivers, as one text: another one is another place, or another way of delivering.
    pub fn address(&self) -> String {
        match self {
            SinkTo::Markdown(path) => format!("markdown {}", path.display()),
            SinkTo::Jsonl(path) => format!("jsonl {}", path.display()),
            SinkTo::Parquet(path) => format!("parquet {}", path.display()),
            _ => {
                let endpoints = self.endpoints().into_iter();
                let endpoints: Vec<&str> = endpoints.map(Endpoint::as_str).collect();
                endpoints.join(" with ")
            }
        }
    }

    /// What consent is needed for, the place that is shown first; none: it stays on this machine.
    pub fn endpoints(&self) -> Vec<&Endpoint> {
        match self {
            SinkTo::Database(database) => vec![&database.endpoint],
            SinkTo::Graphiti(server) => {
                let database = server.database.as_ref().map(|d| &d.endpoint);
                [Some(&server.endpoint), database]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            SinkTo::Markdown(_) | SinkTo::Jsonl(_) | SinkTo::Parquet(_) => Vec::new(),
        }
    }
}

/// `upload` and `session_tracking.resilience`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeliveryLimits {
    /// `retry_queue.max_retries`.
    pub max_retries: u32,
    /// `retry_queue.retry_delays_seconds`.
    pub retry_delays_s: Vec<u32>,
    /// `retry_queue.max_queue_size`: episodes on their way at once.
    pub max_queue_size: u32,
    /// `upload.settle_after`.
    pub settle_after_s: u64,
    /// `upload.alarm_after`.
    pub alarm_after_s: u64,
    /// `upload.max_episodes_per_run`; `None`: all.
    pub max_episodes_per_run: Option<u32>,
    /// `upload.max_usd_per_run`; `None`: no bound.
    pub max_usd_per_run: Option<f64>,
    /// `upload.rate_per_minute`; `None`: as fast as the sink takes them.
    pub rate_per_minute: Option<u32>,
    /// `upload.keep_local`: texts stay here when every sink has them.
    pub keeps_local: bool,
    /// `notifications.on_permanent_failure`.
    pub notifies_dead_letters: bool,
    /// `notifications.webhook_url`, where `notification_method` says so.
    pub webhook: Option<Endpoint>,
}

/// Destinations, by name.
pub(super) fn sinks(
    layers: &Layers,
    wire: &WireConfig,
    env: &Env,
) -> Result<Vec<SinkSettings>, Error> {
    let mut all = Vec::new();
    for (name, written) in &wire.sinks {
        let failed = |what: String| layers.error("sinks", None, &format!("`{name}`: {what}"));
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return Err(failed("letters a-z, digits, `-` and `_` only".into()));
        }
        let to = sink_to(written, env).map_err(failed)?;
        let name = name.clone();
        let sink = SinkSettings {
            name,
            to,
            scope: None,
            content: written.content,
        };
        all.extend(written.enabled.then_some(sink));
    }
    Ok(all)
}

/// Those that say `enabled: false`.
pub(super) fn sinks_off(wire: &WireConfig) -> Vec<String> {
    let off = wire.sinks.iter().filter(|(_, written)| !written.enabled);
    off.map(|(name, _)| name.clone()).collect()
}

fn sink_to(written: &WireSink, env: &Env) -> Result<SinkTo, String> {
    use SinkKind::{Falkordb, Graphiti, GraphitiMcp, Jsonl, Markdown, Neo4j, Parquet};
    let kind = written.kind;
    let is_database = matches!(kind, Falkordb | Neo4j);
    let is_graphiti = matches!(kind, Graphiti | GraphitiMcp);
    let is_server = is_database || is_graphiti;
    let says: [(&str, bool, bool); 12] = [
        ("path", written.path.is_some(), !is_server),
        ("url", written.url.is_some(), is_server),
        ("user", written.user.is_some(), is_server),
        ("password_env", written.password_env.is_some(), is_server),
        ("sagas", written.sagas.is_some(), is_server),
        ("database", written.database.is_some(), is_graphiti),
        ("token_env", written.token_env.is_some(), is_graphiti),
        ("window", written.window.is_some(), is_graphiti),
        ("stall", written.stall.is_some(), is_graphiti),
        ("time_per_run", written.time_per_run.is_some(), is_graphiti),
        (
            "usd_per_million_input",
            written.usd_per_million_input.is_some(),
            is_graphiti,
        ),
        (
            "usd_per_million_output",
            written.usd_per_million_output.is_some(),
            is_graphiti,
        ),
    ];
    // refused, not passed over: whoever wrote it counts on it
    if let Some((key, ..)) = says
        .iter()
        .find(|(_, is_written, fits)| *is_written && !fits)
    {
        return Err(format!("`{key}` does not apply to this kind"));
    }
    match kind {
        Falkordb => Ok(SinkTo::Database(database(written, "url", &FALKORDB)?)),
        Neo4j => Ok(SinkTo::Database(database(written, "url", &NEO4J)?)),
        Graphiti => Ok(SinkTo::Graphiti(graphiti(written, Protocol::Rest)?)),
        GraphitiMcp => Ok(SinkTo::Graphiti(graphiti(written, Protocol::Mcp)?)),
        Markdown => Ok(SinkTo::Markdown(folder(written, env)?)),
        Jsonl => Ok(SinkTo::Jsonl(folder(written, env)?)),
        Parquet => Ok(SinkTo::Parquet(folder(written, env)?)),
    }
}

fn folder(written: &WireSink, env: &Env) -> Result<PathBuf, String> {
    let path = written.path.as_deref().ok_or("`path` is missing")?;
    let path = PathBuf::from(env.expand(path).map_err(|e| e.message)?);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err("`path` must be absolute".to_owned())
    }
}

/// What `key` says, as an endpoint with one of these schemes.
fn endpoint(key: &str, url: Option<&String>, schemes: &[&str]) -> Result<Endpoint, String> {
    let url = url.ok_or_else(|| format!("`{key}` is missing"))?;
    let endpoint: Endpoint = url.parse().map_err(|e: Error| e.message)?;
    if schemes.contains(&endpoint.scheme()) {
        Ok(endpoint)
    } else {
        Err(format!("`{key}` begins with {}://", schemes.join("://, ")))
    }
}

const FALKORDB: [&str; 2] = ["redis", "rediss"];
const NEO4J: [&str; 4] = ["bolt", "bolt+s", "neo4j", "neo4j+s"];

/// The database that `url` or `database` names.
fn database(written: &WireSink, key: &str, schemes: &[&str]) -> Result<DatabaseSettings, String> {
    let url = match key {
        "database" => &written.database,
        _ => &written.url,
    };
    Ok(DatabaseSettings {
        endpoint: endpoint(key, url.as_ref(), schemes)?,
        user: written.user.clone(),
        password_env: written.password_env.clone(),
        sagas: written.sagas.unwrap_or_default(),
    })
}

fn graphiti(written: &WireSink, protocol: Protocol) -> Result<Graphiti, String> {
    let schemes = [&FALKORDB[..], &NEO4J].concat();
    let is_beside = written.database.is_some();
    let database = is_beside.then(|| database(written, "database", &schemes));
    let has_sagas = written.sagas == Some(true);
    let is_its = written.user.is_some() || written.password_env.is_some() || has_sagas;
    if database.is_none() && is_its {
        let keys = "`user`, `password_env` and `sagas`";
        return Err(format!(
            "{keys} are the database's, and `database` is missing"
        ));
    }
    let span = |key: &str, written: &Option<String>, usual: u64| match written.as_deref() {
        None => Ok(usual),
        Some(text) => seconds(text)
            .filter(|s| *s > 0)
            .ok_or_else(|| format!("`{key}` is a span of time, as in \"90s\" or \"5m\"")),
    };
    let usd = |key: &str, written: Option<f64>, usual: f64| match written {
        Some(usd) if usd < 0.0 => Err(format!("`{key}` is below zero")),
        usd => Ok(usd.unwrap_or(usual)),
    };
    Ok(Graphiti {
        protocol,
        endpoint: endpoint("url", written.url.as_ref(), &["http", "https"])?,
        token_env: written.token_env.clone(),
        database: database.transpose()?,
        window: written.window.unwrap_or(25).clamp(1, 100),
        stall_s: span("stall", &written.stall, 300)?,
        time_per_run_s: span("time_per_run", &written.time_per_run, 1_800)?,
        usd_per_million: (
            usd("usd_per_million_input", written.usd_per_million_input, 0.4)?,
            usd(
                "usd_per_million_output",
                written.usd_per_million_output,
                1.6,
            )?,
        ),
    })
}

/// `upload` and `resilience` as meant.
pub(super) fn delivery(layers: &Layers, wire: &WireConfig) -> Result<DeliveryLimits, Error> {
    let resilience = &wire.session_tracking.resilience;
    let queue = &resilience.retry_queue;
    let settle_after = &wire.upload.settle_after;
    Ok(DeliveryLimits {
        max_retries: queue.max_retries,
        retry_delays_s: queue.retry_delays_seconds.clone(),
        max_queue_size: queue.max_queue_size.max(1),
        settle_after_s: interval(settle_after)
            .map_err(|what| layers.error("upload.settle_after", None, &what))?,
        alarm_after_s: interval(&wire.upload.alarm_after)
            .map_err(|what| layers.error("upload.alarm_after", None, &what))?,
        max_episodes_per_run: wire.upload.max_episodes_per_run,
        max_usd_per_run: wire.upload.max_usd_per_run,
        rate_per_minute: wire.upload.rate_per_minute.filter(|rate| *rate > 0),
        keeps_local: wire.upload.keep_local,
        notifies_dead_letters: resilience.notifications.on_permanent_failure,
        webhook: webhook(layers, &resilience.notifications)?,
    })
}

fn webhook(layers: &Layers, written: &Notifications) -> Result<Option<Endpoint>, Error> {
    const KEY: &str = "session_tracking.resilience.notifications.webhook_url";
    if written.notification_method == NotificationMethod::Log {
        return Ok(None);
    }
    endpoint(
        "webhook_url",
        written.webhook_url.as_ref(),
        &["http", "https"],
    )
    .map(Some)
    .map_err(|what| layers.error(KEY, None, &what))
}
