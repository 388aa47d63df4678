//! Destinations as they are meant: names checked, folders absolute, endpoints in their one spelling.
//! Refuses to know what is sent and where passwords are.

use super::env::Env;
use super::layers::Layers;
use super::meant::interval;
use super::wire::Wire;
use super::wire_sinks::{self as written, SinkKind};
use crate::model::consent::Endpoint;
use crate::model::error::Error;
use std::path::PathBuf;

/// A destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sink {
    /// Lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// What it is and where.
    pub to: SinkTo,
}

/// What a destination is and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkTo {
    /// A FalkorDB server.
    FalkorDb {
        /// Needs consent.
        endpoint: Endpoint,
        /// Who logs in.
        user: Option<String>,
        /// The variable that holds the password.
        password_env: Option<String>,
    },
    /// A folder of notes.
    Markdown(PathBuf),
    /// A folder of lines.
    Jsonl(PathBuf),
}

impl SinkTo {
    /// What consent is needed for; `None`: it stays on this machine.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            SinkTo::FalkorDb { endpoint, .. } => Some(endpoint),
            SinkTo::Markdown(_) | SinkTo::Jsonl(_) => None,
        }
    }
}

/// `upload` and `session_tracking.resilience`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryLimits {
    /// `retry_queue.max_retries`.
    pub max_retries: u32,
    /// `retry_queue.retry_delays_seconds`.
    pub retry_delays_s: Vec<u32>,
    /// `retry_queue.max_queue_size`: episodes on their way at once.
    pub max_queue_size: u32,
    /// `upload.settle_after`.
    pub settle_after_s: u64,
    /// `upload.max_episodes_per_run`; `None`: all.
    pub max_episodes_per_run: Option<u32>,
    /// `upload.rate_per_minute`; `None`: as fast as the sink takes them.
    pub rate_per_minute: Option<u32>,
    /// `notifications.on_permanent_failure`.
    pub tells_dead: bool,
}

/// Destinations, by name.
pub(super) fn sinks(layers: &Layers, wire: &Wire, env: &Env) -> Result<Vec<Sink>, Error> {
    let mut all = Vec::new();
    for (name, written) in &wire.sinks {
        let failed = |what: String| layers.error("sinks", None, &format!("`{name}`: {what}"));
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return Err(failed("letters a-z, digits, `-` and `_` only".into()));
        }
        let to = sink_to(written, env).map_err(failed)?;
        let name = name.clone();
        all.extend(written.enabled.then_some(Sink { name, to }));
    }
    Ok(all)
}

fn sink_to(written: &written::Sink, env: &Env) -> Result<SinkTo, String> {
    let folder = || {
        let path = written.path.as_deref().ok_or("`path` is missing")?;
        let path = PathBuf::from(env.expand(path).map_err(|e| e.message)?);
        match path.is_absolute() {
            true => Ok(path),
            false => Err("`path` must be absolute".to_owned()),
        }
    };
    let only = |wanted: bool, key: &str| match wanted {
        true => Err(format!("`{key}` says nothing for this kind")),
        false => Ok(()),
    };
    match written.kind {
        SinkKind::Falkordb => {
            only(written.path.is_some(), "path")?;
            let url = written.url.as_deref().ok_or("`url` is missing")?;
            let endpoint: Endpoint = url.parse().map_err(|e: Error| e.message)?;
            if !matches!(endpoint.scheme(), "redis" | "rediss") {
                return Err("`url` begins with redis:// or rediss://".into());
            }
            Ok(SinkTo::FalkorDb {
                endpoint,
                user: written.user.clone(),
                password_env: written.password_env.clone(),
            })
        }
        SinkKind::Markdown | SinkKind::Jsonl => {
            only(written.url.is_some(), "url")?;
            only(written.user.is_some(), "user")?;
            only(written.password_env.is_some(), "password_env")?;
            Ok(match written.kind {
                SinkKind::Jsonl => SinkTo::Jsonl(folder()?),
                _ => SinkTo::Markdown(folder()?),
            })
        }
    }
}

/// `upload` and `resilience` as meant.
pub(super) fn delivery(layers: &Layers, wire: &Wire) -> Result<DeliveryLimits, Error> {
    let resilience = &wire.session_tracking.resilience;
    let queue = &resilience.retry_queue;
    let settle_after = &wire.upload.settle_after;
    Ok(DeliveryLimits {
        max_retries: queue.max_retries,
        retry_delays_s: queue.retry_delays_seconds.clone(),
        max_queue_size: queue.max_queue_size.max(1),
        settle_after_s: interval(layers, "upload.settle_after", settle_after)?,
        max_episodes_per_run: wire.upload.max_episodes_per_run,
        rate_per_minute: wire.upload.rate_per_minute.filter(|rate| *rate > 0),
        tells_dead: resilience.notifications.on_permanent_failure,
    })
}
