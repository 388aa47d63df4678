//! `session_tracking` as it is written: which logs are read, what is kept of them, how sessions are
//! summarised and what happens when somebody can't be reached.

use super::effect::NEVER;
use crate::model::source::Agent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `session_tracking`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionTracking {
    /// Read the agents' logs at all. `true`, written by you, is your consent to local tracking.
    pub enabled: bool,
    /// Which agents' logs are read.
    pub sources: Vec<SourceName>,
    /// Folder with Claude Code's logs, absolute; `~` and variables are expanded. null:
    /// `$CLAUDE_CONFIG_DIR/projects`, else `~/.claude/projects`.
    pub watch_path: Option<String>,
    /// More folders with logs.
    pub extra_roots: Vec<ExtraRoot>,
    /// Projects and logs that are never read: folders (with all below) or globs, absolute or
    /// starting with `**`. In a project's file they count from the project.
    pub excluded_paths: Vec<String>,
    /// Read sub-agents' logs too.
    pub subagents: bool,
    /// Seconds of silence after which a session counts as settled; a gap this long directly before
    /// a prompt ends a chunk.
    #[schemars(range(min = 1), extend("x-error" = "inactivity_timeout must be > 0"))]
    pub inactivity_timeout: u32,
    /// Seconds between looks of `watch`.
    #[schemars(range(min = 1), extend("x-error" = "check_interval must be > 0"))]
    pub check_interval: u32,
    /// Let the language model at `llm` say what settled sessions came to, beside the facts. Sessions
    /// older than `keep_length_days` aren't asked about.
    pub auto_summarize: bool,
    /// Deliver to sinks. false: the local store only, nothing is queued.
    pub store_in_graph: bool,
    /// Read only sessions whose log changed in the last N days, or since the last complete run, if that is longer ago. null: all.
    #[schemars(range(min = 1), extend("x-error" = "keep_length_days must be > 0 or null"))]
    pub keep_length_days: Option<u32>,
    /// Group that episodes are delivered to. null: `{hostname}__global`, and once there are episodes
    /// the group of the last one, so that a machine with another name goes on with its group.
    /// `{namespace}` in it: a group for each project.
    pub group_id: Option<String>,
    /// Search finds all projects. false: only the current one.
    pub cross_project_search: bool,
    /// Search finds only these projects: namespaces (6 to 64 hex digits, compared by prefix) or
    /// absolute project paths. null: all.
    pub trusted_namespaces: Option<Vec<String>>,
    /// Write the project's path into episodes.
    pub include_project_path: bool,
    /// What is kept of a conversation.
    pub filter: Filter,
    /// What happens when a language model or a sink can't be reached.
    pub resilience: Resilience,
    /// How sessions are summarised.
    pub summarization: Summarization,
}

impl Default for SessionTracking {
    fn default() -> Self {
        SessionTracking {
            enabled: false,
            sources: SourceName::ALL.to_vec(),
            watch_path: None,
            extra_roots: Vec::new(),
            excluded_paths: Vec::new(),
            subagents: true,
            inactivity_timeout: 900,
            check_interval: 60,
            auto_summarize: false,
            store_in_graph: true,
            keep_length_days: Some(7),
            group_id: None,
            cross_project_search: true,
            trusted_namespaces: None,
            include_project_path: true,
            filter: Filter::default(),
            resilience: Resilience::default(),
            summarization: Summarization::default(),
        }
    }
}

/// Whose logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceName {
    /// Claude Code.
    ClaudeCodeJsonl,
    /// Codex CLI.
    CodexJsonl,
    /// Gemini CLI.
    GeminiJsonl,
    /// Qwen Code.
    QwenJsonl,
    /// OpenCode.
    OpencodeSqlite,
}

impl SourceName {
    /// In the order in which their logs are looked for.
    pub const ALL: [SourceName; 5] = [
        SourceName::ClaudeCodeJsonl,
        SourceName::CodexJsonl,
        SourceName::GeminiJsonl,
        SourceName::QwenJsonl,
        SourceName::OpencodeSqlite,
    ];

    /// Whose logs these are.
    pub fn agent(self) -> Agent {
        match self {
            SourceName::ClaudeCodeJsonl => AgentName::Claude.agent(),
            SourceName::CodexJsonl => AgentName::Codex.agent(),
            SourceName::GeminiJsonl => AgentName::Gemini.agent(),
            SourceName::QwenJsonl => AgentName::Qwen.agent(),
            SourceName::OpencodeSqlite => AgentName::Opencode.agent(),
        }
    }
}

/// A folder with logs beside the usual ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtraRoot {
    /// The folder, absolute; `~` and variables are expanded.
    pub path: String,
    /// Whose logs lie there.
    pub agent: AgentName,
    /// Globs below the folder; only matching files are read. Empty: all.
    #[serde(default)]
    pub include: Vec<String>,
    /// Globs below the folder; matching files are not read.
    #[serde(default)]
    pub exclude: Vec<String>,
}

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentName {
    /// Claude Code, and the plain dialect of the documents.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// OpenCode.
    Opencode,
}

impl AgentName {
    /// The agent of this word.
    pub fn agent(self) -> Agent {
        Agent::new(match self {
            AgentName::Claude => "claude",
            AgentName::Codex => "codex",
            AgentName::Gemini => "gemini",
            AgentName::Qwen => "qwen",
            AgentName::Opencode => "opencode",
        })
    }
}

/// `session_tracking.filter`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Tool calls, one line each. false: left out, with a marker.
    pub tool_calls: KeepSetting,
    /// Tool results. true: the digest with an excerpt of the output. The default: the digest alone. A
    /// template's name that you write: a long output condensed by a language model.
    pub tool_content: KeepSetting,
    /// People's words.
    pub user_messages: KeepSetting,
    /// The agent's words.
    pub agent_messages: KeepSetting,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            tool_calls: KeepSetting::All(true),
            tool_content: KeepSetting::Template("default-tool-content.md".into()),
            user_messages: KeepSetting::All(true),
            agent_messages: KeepSetting::All(true),
        }
    }
}

/// true: in full; false: left out; a template's name: long ones are condensed with it when a language model
/// is configured, without one digests for tools and full text for messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(extend("x-expected" = "true, false or a template's name (\"….md\")"))]
pub enum KeepSetting {
    /// In full, or not at all.
    All(bool),
    /// Condensed.
    Template(String),
}

/// `session_tracking.resilience`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Resilience {
    /// What to do with a session while no language model answers: its facts stand, and it asks again;
    /// its facts stand; or the run fails.
    pub on_llm_unavailable: OnLlmUnavailable,
    /// Trying again.
    pub retry_queue: RetryQueue,
    /// Telling you.
    pub notifications: Notifications,
}

/// `session_tracking.resilience.on_llm_unavailable` (000-036).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OnLlmUnavailable {
    /// Store as it is, summarise later.
    #[default]
    StoreRawAndRetry,
    /// Store as it is.
    StoreRaw,
    /// Exit with 1.
    Fail,
}

/// `session_tracking.resilience.retry_queue`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryQueue {
    /// Attempts before an episode becomes a dead letter.
    pub max_retries: u32,
    /// Seconds before each attempt.
    pub retry_delays_seconds: Vec<u32>,
    /// Episodes on their way at once; the rest waits in the store.
    pub max_queue_size: u32,
    /// The store is on disk anyway.
    #[schemars(extend("x-effect" = NEVER))]
    pub persist_to_disk: bool,
}

impl Default for RetryQueue {
    fn default() -> Self {
        RetryQueue {
            max_retries: 5,
            retry_delays_seconds: vec![300, 900, 2_700, 7_200, 21_600],
            max_queue_size: 1_000,
            persist_to_disk: true,
        }
    }
}

/// `session_tracking.resilience.notifications`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Notifications {
    /// Tell when an episode is given up.
    pub on_permanent_failure: bool,
    /// How.
    pub notification_method: NotificationMethod,
    /// Where to, for webhooks; an endpoint that needs consent.
    pub webhook_url: Option<String>,
}

impl Default for Notifications {
    fn default() -> Self {
        Notifications {
            on_permanent_failure: true,
            notification_method: NotificationMethod::Log,
            webhook_url: None,
        }
    }
}

/// How a failure is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NotificationMethod {
    /// A line in the run's log.
    Log,
    /// A request to `webhook_url` besides.
    Webhook,
}

/// `session_tracking.summarization`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Summarization {
    /// Belongs one level up: `session_tracking.auto_summarize`.
    #[schemars(extend("x-effect" = "accepted, without effect: session_tracking.auto_summarize decides"))]
    pub auto_summarize: Option<bool>,
    /// Template of the question about a session: a name below `prompts` in the settings' folder, or
    /// a path. null: `session-summary.md` there, else the built-in one.
    pub template: Option<String>,
    /// auto: from messages and tools; manual: `activity_vector` says it.
    pub type_detection: TypeDetection,
    /// Weights of the eight activities, for `type_detection: manual`.
    pub activity_vector: Option<ActivityWeights>,
    /// Priority below which a field isn't asked for.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-error" = "extraction_threshold must be between 0 and 1"))]
    pub extraction_threshold: f64,
    /// Ask for decisions.
    pub include_decisions: bool,
    /// Ask for errors and how they were resolved.
    pub include_errors_resolved: bool,
    /// Path of the cache of classified tools. null: `tool_classification_cache.json` in the
    /// settings' folder.
    pub tool_classification_cache: Option<String>,
}

impl Default for Summarization {
    fn default() -> Self {
        Summarization {
            auto_summarize: None,
            template: None,
            type_detection: TypeDetection::Auto,
            activity_vector: None,
            extraction_threshold: 0.3,
            include_decisions: true,
            include_errors_resolved: true,
            tool_classification_cache: None,
        }
    }
}

/// How much of each activity, 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ActivityWeights {
    /// Making something new.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub building: f64,
    /// Mending what is broken.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fixing: f64,
    /// Settings, environment, dependencies.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub configuring: f64,
    /// Reading to understand.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub exploring: f64,
    /// Changing shape, not function.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub refactoring: f64,
    /// Judging what others wrote.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub reviewing: f64,
    /// Writing and running tests.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub testing: f64,
    /// Writing for readers.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub documenting: f64,
}

/// Where a session's activity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TypeDetection {
    /// From messages and tools.
    Auto,
    /// From the configuration.
    Manual,
}
