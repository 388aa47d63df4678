//! A question as facts are asked for it.

use super::block::FactRoom;
use super::workspace::Workspace;
use crate::config::trust::Trusts;
use crate::model::scope::MemoryScope;
use crate::model::time::Time;
use std::collections::BTreeSet;

/// What is asked, and where.
#[derive(Clone, Debug)]
pub struct FactsRequest {
    /// In a person's words.
    pub question: String,
    /// The session that asks.
    pub session: Option<String>,
    /// It asks by itself: what it said since it was last compacted is still before it.
    pub by_hook: bool,
    /// Where it works.
    pub workspace: Workspace,
    /// `trusted_namespaces`.
    pub trusted: Option<Vec<String>>,
    /// Whom the agents trust.
    pub trusts: Trusts,
    /// The group of the user's own memories; `None`: nobody said who the user is.
    pub user: Option<String>,
    /// Which memories are asked.
    pub scopes: BTreeSet<MemoryScope>,
    /// When it is asked.
    pub now: Time,
    /// Facts that are wanted.
    pub limit: usize,
    /// Room of each.
    pub room: FactRoom,
    /// Paths of logs are told, those in this folder as `~`.
    pub shows_paths: Option<String>,
}
