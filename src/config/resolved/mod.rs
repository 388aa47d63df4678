//! Settings as they are meant: defaults applied, paths absolute, names resolved, ranges checked.
//! Nothing after this folder sees an `Option` that has a default. Pure: the disk isn't looked at.

mod destinations;
mod file_patterns;
mod file_tracking;
mod graph_memory;
mod log_roots;
mod message_templates;
mod models;
mod summarizing;

pub use destinations::{
    DatabaseSettings, DeliveryLimits, Graphiti, Protocol, SinkSettings, SinkTo,
};
pub use file_patterns::FilePattern;
pub use file_tracking::{FileLimits, FileTracking, Tracked, TrackedProject};
pub(super) use file_tracking::{check_pattern, file_tracking};
pub use graph_memory::{Memory, RecallLimits};
pub use log_roots::UsualLogs;
pub use message_templates::MessageTemplates;
pub use models::{EmbeddingsSettings, LlmSettings};
pub use summarizing::Summarizing;

use super::env::{Env, Home};
use super::exclude::Excluded;
use super::layers::{Layers, SettingOrigin};
use super::values::{absolute, interval, trusted_namespace};
use super::wire::{KeepSetting, Mapping, OnLlmUnavailable, Personal, TypeDetection, WireConfig};
use crate::model::activity::ActivityVector;
use crate::model::error::Error;
use crate::model::namespace::{namespace, project_root};
use crate::model::policy::{ChunkOptions, FilterPolicy, Keep, WhenAway};
use crate::model::source::Root;
use std::path::PathBuf;

/// What a run and a search do.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `session_tracking.enabled`; ask [`super::gate`] instead.
    pub enabled: bool,
    /// Who decided `enabled`.
    pub enabled_by: SettingOrigin,
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
    /// How long messages are condensed.
    pub message_templates: MessageTemplates,
    /// What becomes of a session while no model answers.
    pub when_away: WhenAway,
    /// Where episodes are delivered, by name, each graph followed by itself in `ingest_scopes`; those
    /// that are switched off are not among them.
    pub sinks: Vec<SinkSettings>,
    /// Names of those that are switched off.
    pub sinks_off: Vec<String>,
    /// How much is delivered, and when it is tried again.
    pub delivery: DeliveryLimits,
    /// Gating, scopes, recall and promotion (`graphiti`).
    pub memory: Memory,
    /// What kind of work it was.
    pub scoring: Scoring,
    /// The language model that is asked about unknown tools; `None`: none.
    pub llm: Option<LlmSettings>,
    /// The model that texts and searches are compared by; `None`: words alone.
    pub embeddings: Option<EmbeddingsSettings>,
    /// Time between runs of the timer.
    pub schedule_interval_s: u64,
    /// Projects that a person or the documents' program named (`project_mappings`).
    pub projects: Vec<KnownProject>,
}

/// How the kind of work is found.
#[derive(Clone, Debug, PartialEq)]
pub struct Scoring {
    /// Weaker signals have no primary dimension.
    pub min_strength: f64,
    /// Every session's, where `type_detection` is manual (D46).
    pub manual: Option<ActivityVector>,
    /// The cache of classified tools.
    pub tool_cache: PathBuf,
    /// What was learned before counts; `false`: tools are judged, and asked about, as if nothing was.
    pub reads_tool_cache: bool,
}

/// A project that a settings file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownProject {
    /// As [`project_root`] spells it.
    pub root: String,
    /// Its [`namespace`].
    pub namespace: String,
}

/// Gives the layers their meaning.
///
/// # Errors
/// A value that is spelled right and can't be honoured: a relative path, a variable that isn't set, a glob
/// that can't be compiled, a span of time without a unit, and the like; with file, line and key.
pub(super) fn resolve(
    layers: &Layers,
    mappings: &[Mapping],
    env: &Env,
    usual: UsualLogs,
) -> Result<Config, Error> {
    let wire = layers.wire()?;
    refused(layers, &wire)?;
    let memory = graph_memory::memory(layers, &wire)?;
    let tracking = &wire.session_tracking;
    let gap_ms = i64::from(tracking.inactivity_timeout) * 1_000;
    let policy = policy(layers, &wire)?;
    Ok(Config {
        enabled: tracking.enabled,
        enabled_by: layers.origin("session_tracking.enabled"),
        roots: log_roots::roots(layers, &wire, mappings, (env, usual))?,
        excluded: log_roots::excluded(layers, &wire, mappings, env)?,
        subagents: tracking.subagents,
        keep_length_days: tracking.keep_length_days,
        inactivity_timeout_s: tracking.inactivity_timeout,
        check_interval_s: tracking.check_interval,
        message_templates: MessageTemplates::of(&policy, layers, env)?,
        policy,
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
        summarizing: summarizing::summarizing(layers, &tracking.summarization, env)?,
        sinks: destinations::with_scopes(
            destinations::sinks(layers, &wire, env)?,
            &memory.ingest_scopes,
        ),
        sinks_off: destinations::sinks_off(&wire),
        delivery: destinations::delivery(layers, &wire)?,
        memory,
        scoring: scoring(layers, &wire, env)?,
        llm: models::llm(layers, &wire)?,
        embeddings: models::embeddings(layers, &wire)?,
        schedule_interval_s: scheduled(layers, &wire.schedule.interval)?,
        projects: projects(mappings, env),
    })
}

/// Values that are spelled right and can't be honoured.
fn refused(layers: &Layers, wire: &WireConfig) -> Result<(), Error> {
    let summarization = &wire.session_tracking.summarization;
    let manual = summarization.type_detection == TypeDetection::Manual;
    if manual && summarization.activity_vector.is_none() {
        let key = "session_tracking.summarization.type_detection";
        let what = "manual requires explicit activity_vector in config";
        return Err(layers.error(key, None, what));
    }
    Ok(())
}

fn scoring(layers: &Layers, wire: &WireConfig, env: &Env) -> Result<Scoring, Error> {
    let summarization = &wire.session_tracking.summarization;
    let key = "session_tracking.summarization.tool_classification_cache";
    let moved = summarization.tool_classification_cache.as_deref();
    let moved = moved
        .map(|written| absolute(written, env).map_err(|what| layers.error(key, None, &what)))
        .transpose()?;
    let is_manual = summarization.type_detection == TypeDetection::Manual;
    let weights = layers.get("session_tracking.summarization.activity_vector");
    let weight = |name: &str| weights[name].as_f64().unwrap_or_default();
    Ok(Scoring {
        min_strength: wire.score.min_strength,
        manual: is_manual
            .then(|| ActivityVector::from_values(|dimension| weight(dimension.as_str())))
            .flatten(),
        tool_cache: moved.unwrap_or_else(|| Home::of(env).tool_cache()),
        reads_tool_cache: true,
    })
}

fn policy(layers: &Layers, wire: &WireConfig) -> Result<FilterPolicy, Error> {
    let keep = |name: &str, kept: &KeepSetting| match kept {
        KeepSetting::All(true) => Ok(Keep::Full),
        KeepSetting::All(false) => Ok(Keep::Out),
        KeepSetting::Template(file) if file.ends_with(".md") => {
            let key = format!("session_tracking.filter.{name}");
            // nothing is sent for a default, or because a project's file says so
            let is_the_users = matches!(layers.origin(&key), SettingOrigin::File(..));
            Ok(
                match is_the_users && name != "tool_calls" && wire.llm.endpoint.is_some() {
                    true => Keep::Condense(file.clone()),
                    false => Keep::Template(file.clone()),
                },
            )
        }
        KeepSetting::Template(other) => {
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

fn group_id(layers: &Layers, wire: &WireConfig) -> Result<Option<String>, Error> {
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

fn trusted(layers: &Layers, wire: &WireConfig, env: &Env) -> Result<Option<Vec<String>>, Error> {
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

/// Time between runs, which a timer can keep: it divides the hour or the day.
fn scheduled(layers: &Layers, written: &str) -> Result<u64, Error> {
    const KEY: &str = "schedule.interval";
    let seconds = interval(written).map_err(|what| layers.error(KEY, None, &what))?;
    let divides =
        |whole: u64, unit: u64| seconds.is_multiple_of(unit) && whole.is_multiple_of(seconds);
    if divides(3_600, 60) || divides(86_400, 3_600) {
        Ok(seconds)
    } else {
        let what = format!(
            "must divide an hour or a day evenly, for example \"15min\", \"2h\" or \"1d\", found {written:?}"
        );
        Err(layers.error(KEY, None, &what))
    }
}
