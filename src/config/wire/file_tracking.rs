//! `tracking-config.json` as it is written: the documents' file for file tracking (004), and their
//! older shape for session tracking (001).

use super::effect::NEVER;
use super::session_tracking::SessionTracking;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of file tracking, and session tracking in its older shape. Where both files speak of
/// session tracking, `graphiti.config.json` wins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "tracking-config")]
pub struct WireTracking {
    /// For editors: the location of this schema.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// Shape of this file: "1.0".
    #[schemars(extend("x-expected" = "a version in quotes (\"1.0\")"))]
    pub version: Option<String>,
    /// Session tracking for all projects.
    pub global: TrackingGlobal,
    /// Known projects by `<hostname>__<hash>`.
    pub project_mappings: BTreeMap<String, Mapping>,
    /// File tracking of all projects.
    pub defaults: FileDefaults,
    /// File tracking by project, `<hostname>__<hash>`.
    pub projects: BTreeMap<String, FileProject>,
}

/// `global`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrackingGlobal {
    /// The same keys as in `graphiti.config.json`.
    pub session_tracking: SessionTracking,
}

/// One of `project_mappings`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// The project, absolute.
    pub project_root: String,
    /// Its logs, when they don't lie where the agent usually writes them.
    #[serde(default)]
    pub jsonl_sessions: Option<String>,
    /// Whether a program found it or a person wrote it.
    #[serde(default)]
    #[schemars(extend("x-effect" = NEVER))]
    pub auto_detected: bool,
    /// false: this project is not read.
    #[serde(default = "yes")]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

/// `defaults` of file tracking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileDefaults {
    /// Track the git operations of all projects that sessions name. Off unless written.
    pub enabled: bool,
    /// Quiet time after a change before `watch` runs.
    #[schemars(range(min = 0.1, max = 3600.0), extend("x-error" = "debounce_seconds must be between 0.1 and 3600"))]
    pub debounce_seconds: f64,
    /// Where it is never quiet, `watch` runs so long after the first change.
    #[schemars(range(min = 0.1, max = 3600.0), extend("x-error" = "debounce_max_seconds must be between 0.1 and 3600"))]
    pub debounce_max_seconds: f64,
    /// Larger files are named, not read, where their pattern says nothing else. More than 256 counts as 256.
    #[schemars(range(min = 0), extend("x-error" = "must not be negative"))]
    pub max_file_size_mb: f64,
    /// Files that are stored at once, in one transaction.
    pub batch_size: u32,
    /// Operations are told from files by content, not by time.
    #[schemars(extend("x-effect" = NEVER))]
    pub git_operation_window_seconds: f64,
    /// Seconds between looks of `watch` where there are no file events.
    #[schemars(range(min = 0.1, max = 3600.0), extend("x-error" = "polling_interval_seconds must be between 0.1 and 3600"))]
    pub polling_interval_seconds: f64,
    /// Follow symbolic links that stay in the project.
    pub follow_symlinks: bool,
    /// What waits.
    pub resilience: FileResilience,
}

impl Default for FileDefaults {
    fn default() -> Self {
        FileDefaults {
            enabled: false,
            debounce_seconds: 2.0,
            debounce_max_seconds: 10.0,
            max_file_size_mb: 5.0,
            batch_size: 10,
            git_operation_window_seconds: 5.0,
            polling_interval_seconds: 2.0,
            follow_symlinks: false,
            resilience: FileResilience::default(),
        }
    }
}

/// `defaults.resilience`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileResilience {
    /// What waits lies in the store.
    #[schemars(extend("x-effect" = NEVER))]
    pub queue_cache_path: String,
    /// Episodes of files that may wait for a sink. Further changes stay where they are, until there is
    /// room.
    pub max_queue_size: u32,
    /// Seconds before a file that could not be read is tried again.
    pub retry_failed_after_seconds: u32,
}

impl Default for FileResilience {
    fn default() -> Self {
        FileResilience {
            queue_cache_path: "~/.graphiti/cache/pending-updates.json".into(),
            max_queue_size: 1_000,
            retry_failed_after_seconds: 300,
        }
    }
}

/// One of `projects`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileProject {
    /// The project, absolute.
    pub project_root: String,
    /// Track its files and its git operations; false: neither, whatever `defaults` say.
    #[serde(default)]
    pub enabled: bool,
    /// Group of its episodes. null: the machine's own.
    #[serde(default)]
    pub group_id: Option<String>,
    /// Which of its files. The first pattern that names a file counts.
    #[serde(default)]
    pub patterns: Vec<WirePattern>,
    /// Globs of what is left out of all patterns.
    #[serde(default)]
    pub ignore_patterns: Vec<String>,
}

/// One of `patterns`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WirePattern {
    /// A glob, from the project's root.
    pub include: String,
    /// Globs that are left out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// What a change does to the episode before it.
    #[serde(default)]
    pub update_strategy: UpdateStrategy,
    /// Larger files are named, not read, at most 256. null: as in `defaults`.
    #[serde(default)]
    pub max_file_size_mb: Option<f64>,
    /// What the episodes say they are. null: Auto-tracked from filesystem.
    #[serde(default)]
    pub source_description: Option<String>,
}

/// What a change does to the episode before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UpdateStrategy {
    /// The same name overwrites.
    #[default]
    Replace,
    /// A new episode per change.
    Version,
    /// The old one is marked invalid.
    Archive,
}
