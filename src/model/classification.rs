//! What a call was for: intent, domain, and what it says about the work (003 § 3.1).
//!
//! Knows the documents' words, but not tools and commands (`rules`).

use super::activity::Signals;
use serde::{Deserialize, Serialize};

/// What a call is trying to accomplish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Making new things.
    Create,
    /// Changing existing things.
    Modify,
    /// Removing things.
    Delete,
    /// Inspecting or retrieving information.
    Read,
    /// Finding things.
    Search,
    /// Running processes, builds.
    Execute,
    /// Setting up environment, configuration.
    Configure,
    /// External services, notifications, people.
    Communicate,
    /// Checking correctness: linting, testing.
    Validate,
    /// Converting formats, processing data.
    Transform,
}

impl Intent {
    /// The word used in tables and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Intent::Create => "create",
            Intent::Modify => "modify",
            Intent::Delete => "delete",
            Intent::Read => "read",
            Intent::Search => "search",
            Intent::Execute => "execute",
            Intent::Configure => "configure",
            Intent::Communicate => "communicate",
            Intent::Validate => "validate",
            Intent::Transform => "transform",
        }
    }
}

/// What a call operates on.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// Files and folders.
    Filesystem,
    /// Source code and what is built of it.
    Code,
    /// Databases.
    Database,
    /// The web, services, browsers.
    Network,
    /// Running programs, agents, containers.
    Process,
    /// Repositories and what hosts them.
    VersionControl,
    /// Packages, tool chains.
    Package,
    /// Texts for people.
    Documentation,
    /// Tests.
    Testing,
    /// What is remembered over sessions.
    Memory,
    /// Not known.
    #[default]
    Unknown,
}

impl Domain {
    /// The word used in tables and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Domain::Filesystem => "filesystem",
            Domain::Code => "code",
            Domain::Database => "database",
            Domain::Network => "network",
            Domain::Process => "process",
            Domain::VersionControl => "version_control",
            Domain::Package => "package",
            Domain::Documentation => "documentation",
            Domain::Testing => "testing",
            Domain::Memory => "memory",
            Domain::Unknown => "unknown",
        }
    }
}

/// What a call was for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Classification {
    /// What it tries to accomplish.
    pub intent: Intent,
    /// What it operates on.
    pub domain: Domain,
    /// 0.0 to 1.0.
    pub confidence: f64,
    /// Why, in a few words; never content of a log.
    pub reasoning: String,
    /// What it says about the work.
    #[serde(rename = "activity_signals")]
    pub signals: Signals,
}

/// The confidence in a call of which nothing is known (D43).
pub const UNKNOWN_CONFIDENCE: f64 = 0.3;

impl Classification {
    /// Of a call of which nothing is known: something ran, and it says nothing about the work.
    pub fn unknown() -> Classification {
        Classification {
            intent: Intent::Execute,
            domain: Domain::Unknown,
            confidence: UNKNOWN_CONFIDENCE,
            reasoning: "unknown".to_owned(),
            signals: Signals::default(),
        }
    }

    /// Nothing is known of it.
    pub fn is_unknown(&self) -> bool {
        self.confidence <= UNKNOWN_CONFIDENCE
    }
}
