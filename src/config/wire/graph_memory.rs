//! The keys of `graphiti` as they are written: whether memory is delivered, in which scopes, what
//! agents are given back, and which words of people become memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `graphiti` (002).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WireGraphiti {
    /// Use graph databases and Graphiti servers at all: sinks of files don't need it.
    pub enabled: bool,
    /// Conversations may be sent to them. Each endpoint needs your consent beside it
    /// (`consent give`).
    pub consent: bool,
    /// Groups beside the machine's own that logs are delivered to. `global` gets promoted memories
    /// only.
    pub ingest_scopes: Vec<ScopeName>,
    /// Projects whose trust nobody recorded: deny keeps them from graphs and from automatic recall.
    pub unknown_projects: UnknownProjects,
    /// Tell each group once who owns it.
    pub include_system_messages: bool,
    /// Tell graphs the branch that sessions were on, and of promoted memories the commit and
    /// whether the work tree was dirty. Never a path.
    pub include_git_metadata: bool,
    /// Names you, for your global group. Never discovered. Without it there is no global scope.
    #[schemars(extend("x-expected" = "a name of your own in quotes (\"github_login:octocat\")"))]
    pub user_scope_key: Option<String>,
    /// Memory that agents are given.
    pub recall: WireRecall,
    /// `preference: …` and its like at the start of a line become memories.
    pub auto_promote: AutoPromote,
    /// The scope that is you, in all projects.
    pub global: GlobalScope,
}

/// A scope of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScopeName {
    /// One conversation.
    Session,
    /// One project.
    Workspace,
    /// You.
    Global,
    /// The same as `global` (D30).
    User,
}

/// What unknown projects may do (D63).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownProjects {
    /// Deliver and recall.
    #[default]
    Allow,
    /// Neither.
    Deny,
}

/// `graphiti.recall`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WireRecall {
    /// Answer prompts with memory.
    pub enabled: bool,
    /// Scopes that are asked.
    pub scopes: Vec<ScopeName>,
    /// auto: the global scope too, when the prompt is about you.
    pub scopes_mode: ScopesMode,
    /// Milliseconds from start to answer; after that, no memory.
    #[schemars(range(min = 1, max = 60_000), extend("x-error" = "timeout_ms must be between 1 and 60000"))]
    pub timeout_ms: u32,
    /// Facts of one answer.
    #[schemars(range(min = 1, max = 50), extend("x-error" = "max_results must be between 1 and 50"))]
    pub max_results: u32,
    /// Characters of one fact.
    #[schemars(range(min = 40, max = 10_000), extend("x-error" = "max_fact_chars must be between 40 and 10000"))]
    pub max_fact_chars: u32,
    /// Characters of the whole block, its tags included.
    #[schemars(range(min = 200, max = 100_000), extend("x-error" = "max_total_chars must be between 200 and 100000"))]
    pub max_total_chars: u32,
}

impl Default for WireRecall {
    fn default() -> Self {
        WireRecall {
            enabled: true,
            scopes: vec![ScopeName::Session, ScopeName::Workspace],
            scopes_mode: ScopesMode::Fixed,
            timeout_ms: 750,
            max_results: 5,
            max_fact_chars: 1_500,
            max_total_chars: 2_500,
        }
    }
}

/// Which scopes a recall asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScopesMode {
    /// `scopes`.
    Fixed,
    /// The same, in other clients' word.
    Static,
    /// `scopes`, and global when the prompt is about you.
    Auto,
}

/// `graphiti.auto_promote`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AutoPromote {
    /// Do it.
    pub enabled: bool,
    /// Words that begin many other lines too, and count only when they are named here.
    pub more_words: Vec<MoreWord>,
}

/// Words of directives that count only when they are named (D38).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MoreWord {
    /// `note: …`, a lesson.
    Note,
    /// `todo: …`, a task.
    Todo,
    /// `steps: …`, a procedure.
    Steps,
    /// `remember: …`, a preference.
    Remember,
}

/// `graphiti.global`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GlobalScope {
    /// There is one, once `graphiti.user_scope_key` names you.
    pub enabled: bool,
}

impl Default for GlobalScope {
    fn default() -> Self {
        GlobalScope { enabled: true }
    }
}
