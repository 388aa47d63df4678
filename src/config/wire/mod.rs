//! The documents' keys as they are written in `graphiti.config.json`, with defaults. This is the
//! only list of keys: JSON Schema, checking, `config show` and the test of the docs all read it. What a
//! value means beyond its type is for `resolved`.
//!
//! Schema extensions: `x-effect` says that a key is accepted without effect, and why; `x-error` is
//! the text for a number out of range; `x-expected` is how errors name what belongs there.

mod destinations;
mod effect;
mod file_tracking;
mod graph_memory;
mod models;
mod session_tracking;

pub use destinations::{SinkContent, SinkKind, WireSink};
pub use file_tracking::{
    FileDefaults, FileProject, Mapping, UpdateStrategy, WirePattern, WireTracking,
};
pub use graph_memory::{MoreWord, ScopeName, ScopesMode, UnknownProjects, WireGraphiti};
pub use models::{LlmShape, WireEmbeddings, WireLlm};
pub use session_tracking::{
    KeepSetting, NotificationMethod, Notifications, OnLlmUnavailable, SessionTracking, SourceName,
    Summarization, TypeDetection,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of sessionmill: session tracking, memory, and what it costs. One file for the user;
/// a file of the same shape in a project can only narrow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "graphiti.config")]
pub struct WireConfig {
    /// For editors: the location of this schema.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// Shape of this file: "2.0.0". Absent or 1.x is the old shape; its missing keys take defaults.
    #[schemars(extend("x-expected" = "a version in quotes (\"2.0.0\")"))]
    pub version: Option<String>,
    /// What is read, kept and found.
    pub session_tracking: SessionTracking,
    /// Where episodes are cut.
    pub chunk: Chunk,
    /// How often the timer runs.
    pub schedule: WireSchedule,
    /// Gating, recall, scopes and promotion of memory.
    pub graphiti: WireGraphiti,
    /// What delivery may cost.
    pub upload: Upload,
    /// Which language model is asked about unknown tools, and what it may cost.
    pub llm: WireLlm,
    /// Which model turns texts into vectors, so that search finds by meaning too.
    pub embeddings: WireEmbeddings,
    /// How sessions are scored.
    pub score: Score,
    /// What is masked besides secrets, which always are.
    pub redact: Redact,
    /// Where episodes are delivered, by names of your own. Network sinks need your consent to their
    /// endpoint (`consent give`).
    pub sinks: BTreeMap<String, WireSink>,
}

/// `chunk` (D24).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Chunk {
    /// An episode ends after this many exchanges, or earlier.
    #[schemars(range(min = 1), extend("x-error" = "max_exchanges must be > 0"))]
    pub max_exchanges: u32,
    /// An episode ends at this many tokens (4 bytes each), or earlier.
    #[schemars(range(min = 100), extend("x-error" = "max_tokens must be at least 100"))]
    pub max_tokens: u32,
}

impl Default for Chunk {
    fn default() -> Self {
        Chunk {
            max_exchanges: 5,
            max_tokens: 3_000,
        }
    }
}

/// `schedule`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WireSchedule {
    /// Time between runs, for `schedule install`: a number and `min`, `h` or `d`, a divisor of the hour or of the day.
    pub interval: String,
}

impl Default for WireSchedule {
    fn default() -> Self {
        WireSchedule {
            interval: "15min".into(),
        }
    }
}

/// `upload`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Upload {
    /// Keep episodes' text after every sink has it. Without it, search finds them by title only.
    pub keep_local: bool,
    /// Quiet time before a sink that can't replace gets a session's last chunk.
    pub settle_after: String,
    /// How long a sink may be out of reach before `run` ends with exit 3 and says so.
    pub alarm_after: String,
    /// Episodes delivered per run. null: all.
    pub max_episodes_per_run: Option<u32>,
    /// What one run's deliveries to one sink may cost, in US dollars, as estimated. null: no bound.
    pub max_usd_per_run: Option<f64>,
    /// Episodes per minute. null: as fast as the sink takes them.
    pub rate_per_minute: Option<u32>,
}

impl Default for Upload {
    fn default() -> Self {
        Upload {
            keep_local: true,
            settle_after: "24h".into(),
            alarm_after: "24h".into(),
            max_episodes_per_run: None,
            max_usd_per_run: None,
            rate_per_minute: None,
        }
    }
}

/// `score` (D01).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Score {
    /// Sessions whose strongest signal is weaker have mixed activity.
    #[schemars(range(min = 0.0, max = 10.0), extend("x-error" = "min_strength must be between 0 and 10"))]
    pub min_strength: f64,
}

impl Default for Score {
    fn default() -> Self {
        Score { min_strength: 0.3 }
    }
}

/// `redact`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Redact {
    /// E-mail addresses, user names in paths of home directories, IP addresses.
    pub personal: Personal,
}

/// What happens to personal data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Personal {
    /// Stays.
    #[default]
    Off,
    /// Masked.
    Mask,
}
