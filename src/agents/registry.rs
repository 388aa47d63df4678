//! The one list of agents.

use super::{CodingAgent, claude, codex};
use crate::model::entry::Entry;
use crate::model::source::{Agent, Place};
use crate::stages::parse::{Dialect, LogName, ParseState};
use std::borrow::Cow;

const AGENTS: [&dyn CodingAgent; 2] = [&claude::Claude, &codex::Codex];

/// Every agent, in the order in which lists name them.
pub fn all() -> impl Iterator<Item = &'static dyn CodingAgent> {
    AGENTS.into_iter()
}

/// What is known of an agent; `None`: a later version's.
pub fn find(agent: Agent) -> Option<&'static dyn CodingAgent> {
    all().find(|known| known.agent() == agent)
}

/// How an agent spells its logs; of one that isn't known, no line is understood.
pub fn dialect(agent: Agent) -> &'static dyn Dialect {
    find(agent).map_or(&Unreadable, CodingAgent::dialect)
}

/// The dialect of an agent that this version doesn't know.
struct Unreadable;

impl Dialect for Unreadable {
    fn is_log(&self, _: &[u8]) -> bool {
        false
    }

    fn name(&self, _: &str) -> LogName {
        LogName::default()
    }

    fn value(
        &self,
        _: &mut ParseState,
        _: Place,
        _: &[u8],
        _: &mut Vec<Entry>,
    ) -> Result<usize, Cow<'static, str>> {
        Err("unknown agent".into())
    }
}
