//! What the user wants kept and how it is cut: settings as the stages take them.

use super::time::Time;
use serde::{Deserialize, Serialize};

/// What happens to one kind of content (D61).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keep {
    /// In full, redacted.
    #[default]
    Full,
    /// Left out, with a marker where it stood.
    Out,
    /// A prompt template is named, and no model condenses with it: the digest for tools, the full text for
    /// messages.
    Template(String),
    /// The same where a model is configured: in full until it answers or is given up on.
    Condense(String),
}

/// `session_tracking.filter` (000-032..035).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterPolicy {
    /// Digests of tool calls at all.
    pub tool_calls: Keep,
    /// What the digest says of a result; [`Keep::Full`] adds the (excerpted) output itself.
    pub tool_content: Keep,
    /// People's words.
    pub user_messages: Keep,
    /// The agent's words.
    pub agent_messages: Keep,
}

impl Default for FilterPolicy {
    fn default() -> Self {
        FilterPolicy {
            tool_calls: Keep::Full,
            tool_content: Keep::Template("default-tool-content.md".into()),
            user_messages: Keep::Full,
            agent_messages: Keep::Full,
        }
    }
}

/// What a project's own file leaves of the user's settings (D08).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// What is kept.
    pub policy: FilterPolicy,
    /// Keep sub-agents' words.
    pub subagents: bool,
    /// Deliver to sinks.
    pub store_in_graph: bool,
    /// Paths and user names are taken out of what is stored.
    pub hides_paths: bool,
    /// Directives in prompts become memories.
    pub promotes: bool,
    /// What it says may go to graphs.
    pub in_graphs: bool,
    /// New logs that were not written to since are left out; `None`: none are.
    pub since: Option<Time>,
}

/// Where chunks end (D12, D24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkOptions {
    /// `chunk.max_exchanges`.
    pub max_exchanges: u32,
    /// `chunk.max_tokens`; a token is 4 bytes of UTF-8, rounded up.
    pub max_tokens: u64,
    /// `session_tracking.inactivity_timeout`: a gap this long directly before a prompt ends a chunk.
    pub gap_ms: i64,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        ChunkOptions {
            max_exchanges: 5,
            max_tokens: 3_000,
            gap_ms: 900_000,
        }
    }
}

/// What a language model is asked about a session (`session_tracking.summarization`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SummaryPolicy {
    /// Fields with a lower priority aren't asked for.
    pub threshold: f64,
    /// Ask for decisions.
    pub decisions: bool,
    /// Ask for errors and how they were resolved.
    pub errors_resolved: bool,
}

impl Default for SummaryPolicy {
    fn default() -> Self {
        SummaryPolicy {
            threshold: 0.3,
            decisions: true,
            errors_resolved: true,
        }
    }
}

/// What to do with a session while no language model answers
/// (`session_tracking.resilience.on_llm_unavailable`, 000-036).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenAway {
    /// Its facts stand; the model is asked again.
    #[default]
    StoreRawAndRetry,
    /// Its facts stand, for good.
    StoreRaw,
    /// The run fails.
    Fail,
}
