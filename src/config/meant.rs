//! Settings as they are meant: defaults applied, paths absolute, names resolved, ranges checked.
//! Nothing after this file sees an `Option` that has a default. Pure: refuses to look at the disk.

use super::env::{Env, Home};
use super::exclude::{Excluded, glob};
use super::layers::{Layers, Origin};
use super::memory::{Memory, memory};
use super::sinks::{DeliveryLimits, Sink, delivery, sinks, sinks_off, with_scopes};
use super::summarizing::{Summarizing, summarizing};
use super::wire::{Kept, LlmShape, OnLlmUnavailable, Personal, SourceName, TypeDetection, Wire};
use super::wire_tracking::Mapping;
use crate::model::activity::ActivityVector;
use crate::model::consent::Endpoint;
use crate::model::error::Error;
use crate::model::namespace::{namespace, project_root};
use crate::model::policy::{ChunkOptions, FilterPolicy, Keep, WhenAway};
use crate::model::source::{Agent, Root};
use std::path::{Path, PathBuf};

/// What a run and a search do.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `session_tracking.enabled`; ask [`super::gate`] instead.
    pub enabled: bool,
    /// Who decided `enabled`.
    pub enabled_by: Origin,
    /// Where logs lie, in this order.
    pub roots: Vec<Root>,
    /// What is never read, by a session's working directory and by its log's path.
    pub excluded: Excluded,
    /// Sub-agents' logs are read too.
    pub subagents: bool,
    /// `None`: every log, however old.
    pub keep_length_days: Option<u32>,
    /// Silence after which a session is settled; the same as `chunk.gap_ms`.
    pub inactivity_timeout_s: u32,
    /// `watch`'s period.
    pub check_interval_s: u32,
    /// What is kept of a conversation.
    pub policy: FilterPolicy,
    /// E-mail addresses, user names and IP addresses are masked too.
    pub masks_personal: bool,
    /// Where episodes are cut.
    pub chunk: ChunkOptions,
    /// The group that episodes are delivered to (000-024); `None`: the machine's own.
    pub group_id: Option<String>,
    /// Search finds all projects.
    pub cross_project_search: bool,
    /// Prefixes (6 to 64 lower-case hex digits) of the namespaces that search finds; `None`: all.
    pub trusted_namespaces: Option<Vec<String>>,
    /// Write the project's path into episodes.
    pub include_project_path: bool,
    /// false: the local store only.
    pub store_in_graph: bool,
    /// Summarise settled sessions with a language model.
    pub auto_summarize: bool,
    /// What the model is asked then.
    pub summarizing: Summarizing,
    /// What becomes of a session that no model tells.
    pub when_away: WhenAway,
    /// Where episodes are delivered, by name, each graph followed by itself in `ingest_scopes`; those
    /// that are switched off are not among them.
    pub sinks: Vec<Sink>,
    /// Names of those that are switched off.
    pub sinks_off: Vec<String>,
    /// How much is delivered, and when it is tried again.
    pub delivery: DeliveryLimits,
    /// Gating, scopes, recall and promotion (`graphiti`).
    pub memory: Memory,
    /// What kind of work it was.
    pub scoring: Scoring,
    /// The language model that is asked about unknown tools; `None`: none.
    pub llm: Option<Llm>,
    /// The model that texts and searches are compared by; `None`: words alone.
    pub embeddings: Option<Embeddings>,
    /// Time between runs of the timer.
    pub schedule_interval_s: u64,
    /// Projects that a person or the documents' program named (`project_mappings`).
    pub projects: Vec<KnownProject>,
}

impl Config {
    /// Whether search may show a namespace, as far as `trusted_namespaces` says.
    pub fn trusts(&self, namespace: &str) -> bool {
        self.trusted_namespaces.as_ref().is_none_or(|list| {
            // Prefixes may be longer than what we store.
            list.iter()
                .any(|t| namespace.starts_with(t.as_str()) || t.starts_with(namespace))
        })
    }
}

/// How the kind of work is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Scoring {
    /// Weaker signals have no primary dimension.
    pub min_strength: f64,
    /// Every session's, where `type_detection` is manual (D46).
    pub manual: Option<ActivityVector>,
    /// The cache of classified tools.
    pub tool_cache: PathBuf,
}

/// A language model. Whether something may be sent there is for consents to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Llm {
    /// Where it is.
    pub endpoint: Endpoint,
    /// How it is spoken to.
    pub shape: LlmShape,
    /// Its name there.
    pub model: String,
    /// The environment variable with the key; `None`: no key.
    pub key_env: Option<String>,
    /// For a whole answer.
    pub timeout_s: u32,
    /// Tokens of one question with its answer.
    pub context_tokens: u32,
    /// Tokens that one run may use.
    pub tokens_max: Option<u64>,
    /// US dollars that one run may cost.
    pub usd_max: Option<f64>,
    /// Tokens that one day may use.
    pub tokens_max_a_day: Option<u64>,
    /// US dollars that one day may cost.
    pub usd_max_a_day: Option<f64>,
    /// US dollars for a million tokens that it reads, and that it writes.
    pub usd_per_million: (f64, f64),
}

/// A model that turns texts into vectors. Whether something may be sent there is for consents to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Its name there.
    pub model: String,
    /// The environment variable with the key; `None`: no key.
    pub key_env: Option<String>,
    /// For a whole answer.
    pub timeout_s: u32,
    /// Texts of one request; at least 1.
    pub batch: usize,
    /// Texts that one run sends.
    pub texts_max: usize,
}

/// A project that a settings file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownProject {
    /// As [`project_root`] spells it.
    pub root: String,
    /// Its [`namespace`].
    pub namespace: String,
}

/// The folders in which an agent keeps its logs.
pub type UsualLogs = fn(Agent, &Env) -> Vec<PathBuf>;

/// Gives the layers their meaning. Errors name file, line and key.
pub(super) fn meant(
    layers: &Layers,
    mappings: &[Mapping],
    env: &Env,
    usual: UsualLogs,
) -> Result<Config, Error> {
    let wire = layers.wire()?;
    refused(layers, &wire)?;
    let memory = memory(layers, &wire)?;
    let tracking = &wire.session_tracking;
    let gap_ms = i64::from(tracking.inactivity_timeout) * 1_000;
    Ok(Config {
        enabled: tracking.enabled,
        enabled_by: layers.origin("session_tracking.enabled"),
        roots: roots(layers, &wire, mappings, (env, usual))?,
        excluded: excluded(layers, &wire, mappings, env)?,
        subagents: tracking.subagents,
        keep_length_days: tracking.keep_length_days,
        inactivity_timeout_s: tracking.inactivity_timeout,
        check_interval_s: tracking.check_interval,
        policy: policy(layers, &wire)?,
        masks_personal: wire.redact.personal == Personal::Mask,
        chunk: ChunkOptions {
            max_exchanges: wire.chunk.max_exchanges,
            max_tokens: u64::from(wire.chunk.max_tokens),
            gap_ms,
        },
        group_id: group_id(layers, &wire)?,
        cross_project_search: tracking.cross_project_search,
        trusted_namespaces: trusted(layers, &wire, env)?,
        include_project_path: tracking.include_project_path,
        store_in_graph: tracking.store_in_graph,
        auto_summarize: tracking.auto_summarize,
        when_away: match tracking.resilience.on_llm_unavailable {
            OnLlmUnavailable::StoreRawAndRetry => WhenAway::StoreRawAndRetry,
            OnLlmUnavailable::StoreRaw => WhenAway::StoreRaw,
            OnLlmUnavailable::Fail => WhenAway::Fail,
        },
        summarizing: summarizing(layers, &tracking.summarization, env)?,
        sinks: with_scopes(sinks(layers, &wire, env)?, &memory.ingest_scopes),
        sinks_off: sinks_off(&wire),
        delivery: delivery(layers, &wire)?,
        memory,
        scoring: scoring(layers, &wire, env)?,
        llm: llm(layers, &wire)?,
        embeddings: embeddings(layers, &wire)?,
        schedule_interval_s: scheduled(layers, &wire.schedule.interval)?,
        projects: projects(mappings, env),
    })
}

/// Values that are spelled right and can't be honoured.
fn refused(layers: &Layers, wire: &Wire) -> Result<(), Error> {
    let summarization = &wire.session_tracking.summarization;
    let manual = summarization.type_detection == TypeDetection::Manual;
    if manual && summarization.activity_vector.is_none() {
        let key = "session_tracking.summarization.type_detection";
        let what = "manual requires explicit activity_vector in config";
        return Err(layers.error(key, None, what));
    }
    Ok(())
}

fn scoring(layers: &Layers, wire: &Wire, env: &Env) -> Result<Scoring, Error> {
    let summarization = &wire.session_tracking.summarization;
    let key = "session_tracking.summarization.tool_classification_cache";
    let moved = summarization.tool_classification_cache.as_deref();
    let moved = moved
        .map(|written| absolute(written, env).map_err(|what| layers.error(key, None, &what)))
        .transpose()?;
    let is_manual = summarization.type_detection == TypeDetection::Manual;
    let weights = summarization.activity_vector.as_ref();
    Ok(Scoring {
        min_strength: wire.score.min_strength,
        manual: weights
            .filter(|_| is_manual)
            .and_then(|weights| ActivityVector::from_values(|d| weights.get(d))),
        tool_cache: moved.unwrap_or_else(|| Home::of(env).tool_cache()),
    })
}

fn llm(layers: &Layers, wire: &Wire) -> Result<Option<Llm>, Error> {
    let written = &wire.llm;
    let Some(endpoint) = &written.endpoint else {
        return Ok(None);
    };
    let (endpoint, model) = model_at(layers, "llm", endpoint, written.model.as_deref())?;
    Ok(Some(Llm {
        endpoint,
        shape: written.shape,
        model,
        key_env: written.key_env.clone(),
        timeout_s: written.timeout_s,
        context_tokens: written.context_tokens,
        tokens_max: written.max_tokens_per_run,
        usd_max: written.max_usd_per_run,
        tokens_max_a_day: written.max_tokens_per_day,
        usd_max_a_day: written.max_usd_per_day,
        usd_per_million: (
            written.usd_per_million_input,
            written.usd_per_million_output,
        ),
    }))
}

fn embeddings(layers: &Layers, wire: &Wire) -> Result<Option<Embeddings>, Error> {
    let written = &wire.embeddings;
    let Some(endpoint) = &written.endpoint else {
        return Ok(None);
    };
    let (endpoint, model) = model_at(layers, "embeddings", endpoint, written.model.as_deref())?;
    Ok(Some(Embeddings {
        endpoint,
        model,
        key_env: written.key_env.clone(),
        timeout_s: written.timeout_s,
        batch: written.batch as usize,
        texts_max: written.max_texts_per_run as usize,
    }))
}

/// Where the model of a block is, and what it is called there.
fn model_at(
    layers: &Layers,
    block: &str,
    endpoint: &str,
    model: Option<&str>,
) -> Result<(Endpoint, String), Error> {
    let wrong = |what: &str| layers.error(&format!("{block}.endpoint"), None, what);
    let endpoint: Endpoint = endpoint.parse().map_err(|e: Error| wrong(&e.message))?;
    if !matches!(endpoint.scheme(), "http" | "https") {
        return Err(wrong("expected http:// or https://"));
    }
    let missing = || wrong(&format!("needs `{block}.model`, the model's name there"));
    Ok((endpoint, model.ok_or_else(missing)?.to_owned()))
}

/// The usual folders of the agents that are read, those that the settings name, and those of mappings
/// that lie elsewhere.
fn roots(
    layers: &Layers,
    wire: &Wire,
    mappings: &[Mapping],
    (env, usual): (&Env, UsualLogs),
) -> Result<Vec<Root>, Error> {
    let tracking = &wire.session_tracking;
    let root = |path: PathBuf, agent: Agent, named| Root {
        path,
        agent,
        include: Vec::new(),
        exclude: Vec::new(),
        named,
    };
    let mut out = Vec::new();
    let watched = SourceName::ClaudeCodeJsonl;
    for source in SourceName::ALL
        .into_iter()
        .filter(|s| tracking.sources.contains(s))
    {
        let given = tracking.watch_path.as_deref().filter(|_| source == watched);
        let given = given.map(|path| absolute(path, env)).transpose();
        let given =
            given.map_err(|what| layers.error("session_tracking.watch_path", None, &what))?;
        let named = given.is_some();
        let folders = given.map_or_else(|| usual(source.agent(), env), |path| vec![path]);
        out.extend(
            folders
                .into_iter()
                .map(|path| root(path, source.agent(), named)),
        );
    }
    for (i, extra) in tracking.extra_roots.iter().enumerate() {
        let failed = |what: String| layers.error("session_tracking.extra_roots", Some(i), &what);
        for pattern in extra.include.iter().chain(&extra.exclude) {
            glob(pattern).map_err(|e| failed(format!("`{pattern}` is no glob: {e}")))?;
        }
        out.push(Root {
            include: extra.include.clone(),
            exclude: extra.exclude.clone(),
            ..root(
                absolute(&extra.path, env).map_err(failed)?,
                extra.agent.agent(),
                true,
            )
        });
    }
    // A mapping's folder matters only where the usual roots don't reach; `{hash}` is theirs.
    let elsewhere = mappings
        .iter()
        .filter(|m| m.enabled)
        .filter_map(|m| absolute(m.jsonl_sessions.as_deref()?, env).ok())
        .filter(|p| !p.to_string_lossy().contains('{'));
    for path in elsewhere {
        if !out.iter().any(|r| path.starts_with(&r.path)) {
            out.push(root(path, watched.agent(), true));
        }
    }
    Ok(out)
}

/// `~` and variables expanded, and absolute; else what is wrong with it (D11).
pub(super) fn absolute(written: &str, env: &Env) -> Result<PathBuf, String> {
    let path = PathBuf::from(env.expand(written).map_err(|e| e.message)?);
    match path.is_absolute() {
        true => Ok(path.components().collect()),
        false => Err(format!(
            "must be absolute, `{written}` would be {}",
            env.cwd.join(&path).display()
        )),
    }
}

fn excluded(
    layers: &Layers,
    wire: &Wire,
    mappings: &[Mapping],
    env: &Env,
) -> Result<Excluded, Error> {
    let key = "session_tracking.excluded_paths";
    let failed = |(i, what): (usize, String)| layers.error(key, Some(i), &what);
    let mut patterns = Vec::new();
    for (i, written) in wire.session_tracking.excluded_paths.iter().enumerate() {
        let path = env.expand(written).map_err(|e| failed((i, e.message)))?;
        if !Path::new(&path).is_absolute() && !path.starts_with("**") {
            let what = format!("`{written}` must be absolute or start with `**`");
            return Err(failed((i, what)));
        }
        patterns.push(project_root(&path));
    }
    let off = mappings.iter().filter(|m| !m.enabled);
    let off = off.filter_map(|m| env.expand(&m.project_root).ok());
    patterns.extend(off.map(|root| globset::escape(&project_root(&root))));
    Excluded::new(patterns).map_err(failed)
}

fn policy(layers: &Layers, wire: &Wire) -> Result<FilterPolicy, Error> {
    let keep = |name: &str, kept: &Kept| match kept {
        Kept::All(true) => Ok(Keep::Full),
        Kept::All(false) => Ok(Keep::Out),
        Kept::Template(file) if file.ends_with(".md") => Ok(Keep::Template(file.clone())),
        Kept::Template(other) => {
            let key = format!("session_tracking.filter.{name}");
            let what =
                format!("expected true, false or a template's name (\"….md\"), found {other:?}");
            Err(layers.error(&key, None, &what))
        }
    };
    let filter = &wire.session_tracking.filter;
    Ok(FilterPolicy {
        tool_calls: keep("tool_calls", &filter.tool_calls)?,
        tool_content: keep("tool_content", &filter.tool_content)?,
        user_messages: keep("user_messages", &filter.user_messages)?,
        agent_messages: keep("agent_messages", &filter.agent_messages)?,
    })
}

fn group_id(layers: &Layers, wire: &Wire) -> Result<Option<String>, Error> {
    let Some(written) = &wire.session_tracking.group_id else {
        return Ok(None);
    };
    match written.trim() {
        "" => {
            let what = "must not be empty; null means {hostname}__global";
            Err(layers.error("session_tracking.group_id", None, what))
        }
        group => Ok(Some(group.to_owned())),
    }
}

fn trusted(layers: &Layers, wire: &Wire, env: &Env) -> Result<Option<Vec<String>>, Error> {
    let key = "session_tracking.trusted_namespaces";
    let Some(list) = &wire.session_tracking.trusted_namespaces else {
        return Ok(None);
    };
    let one = |(i, written): (usize, &String)| {
        trusted_namespace(written, env).map_err(|what| layers.error(key, Some(i), &what))
    };
    list.iter()
        .enumerate()
        .map(one)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// A trusted namespace as prefix of hex digits, from either of its forms (D07).
pub(super) fn trusted_namespace(written: &str, env: &Env) -> Result<String, String> {
    let hex = written.trim().to_ascii_lowercase();
    if (6..=64).contains(&hex.len()) && hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(hex);
    }
    let root = project_root(&env.expand(written.trim()).map_err(|e| e.message)?);
    let b = root.as_bytes();
    let drive = b.len() > 2 && b[0].is_ascii_alphabetic() && b[1] == b':' && b[2] == b'/';
    match root.starts_with('/') || drive {
        true => Ok(namespace(&root)),
        false => Err(format!(
            "Invalid namespace format: {written}. Expected hex hash (e.g., 'a1b2c3d4'). \
             6 to 64 digits, or a project's absolute path (e.g., '/home/me/app')"
        )),
    }
}

fn projects(mappings: &[Mapping], env: &Env) -> Vec<KnownProject> {
    let roots = mappings
        .iter()
        .filter_map(|m| env.expand(&m.project_root).ok());
    roots
        .map(|written| {
            let root = project_root(&written);
            KnownProject {
                namespace: namespace(&root),
                root,
            }
        })
        .collect()
}

pub(super) fn interval(layers: &Layers, key: &str, written: &str) -> Result<u64, Error> {
    let what =
        || format!("expected at least a minute, as in \"15min\" or \"2h\", found {written:?}");
    seconds(written)
        .filter(|s| *s >= 60)
        .ok_or_else(|| layers.error(key, None, &what()))
}

/// Time between runs, which a timer can keep: it divides the hour or the day.
fn scheduled(layers: &Layers, written: &str) -> Result<u64, Error> {
    const KEY: &str = "schedule.interval";
    let seconds = interval(layers, KEY, written)?;
    let divides =
        |whole: u64, unit: u64| seconds.is_multiple_of(unit) && whole.is_multiple_of(seconds);
    match divides(3_600, 60) || divides(86_400, 3_600) {
        true => Ok(seconds),
        false => {
            let what = format!(
                "expected a divisor of the hour or of the day, as in \"15min\", \"2h\" or \"1d\", found {written:?}"
            );
            Err(layers.error(KEY, None, &what))
        }
    }
}

/// A span of time: a number and `s`, `min` (or `m`), `h`, `d`. `None` for anything else.
pub fn seconds(written: &str) -> Option<u64> {
    let text = written.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "s" | "sec" | "seconds" => 1,
        "m" | "min" | "minutes" => 60,
        "h" | "hours" => 3_600,
        "d" | "days" => 86_400,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}
