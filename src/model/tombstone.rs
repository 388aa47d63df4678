//! What people wanted gone, and what keeps it out when a log is read again. Holds ids and times,
//! never words.

use super::time::Time;
use std::collections::BTreeSet;
use uuid::Uuid;

/// The ledger's reason for lines that a tombstone keeps out.
pub const FORGOTTEN: &str = "forgotten";

/// The ledger's reason for lines of a session that a marker in one of its prompts keeps out.
pub const MARKED: &str = "marked private";

/// All tombstones of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tombstones {
    /// Sessions that stay out for ever, whatever they still say.
    pub sessions: BTreeSet<String>,
    /// Beginnings of namespaces (empty: all), and the time before which their words stay out.
    pub before: Vec<(String, Time)>,
}

impl Tombstones {
    /// Nothing of this session is stored.
    pub fn holds(&self, session: &str) -> bool {
        self.sessions.contains(session)
    }

    /// Words of this namespace that are older than this stay out; `None`: none do.
    pub fn before(&self, namespace: &str) -> Option<Time> {
        let its = |(start, _): &&(String, Time)| namespace.starts_with(start.as_str());
        self.before.iter().filter(its).map(|(_, time)| *time).max()
    }
}

/// What to forget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Ids of sessions, all of each.
    pub sessions: Vec<String>,
    /// Beginnings of namespaces (empty: all), and a time: episodes that began before it.
    pub before: Vec<(String, Time)>,
    /// Ids of memories.
    pub memories: Vec<Uuid>,
    /// A group: what it was told of itself, such as who owns it.
    pub group: Option<String>,
}
