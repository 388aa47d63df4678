//! What a call was for, level by level: known tools, what was learned before, the words of a name,
//! else nothing is known (003 § 3.4, D02, D43, D44).
//!
//! Guesses are never remembered. What stays [`Classification::unknown`] is what an LLM can be asked
//! once per run; its answers go into the [`ToolCache`].

use super::commands;
use super::names;
use super::tool_cache::ToolCache;
use crate::model::classification::Classification;
use serde_json::Value;

/// What stands before a command's class among the names of tools that were counted.
pub const COMMAND: &str = "$ ";

/// Judges calls. Cheap to make; the tables are shared.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    cache: ToolCache,
}

impl Classifier {
    /// With what was learned before.
    pub fn new(cache: ToolCache) -> Classifier {
        Classifier { cache }
    }

    /// One call of a tool. Commands of shells are [`commands::classify`]'s.
    pub fn tool(&self, name: &str, params: &Value) -> Classification {
        names::known(name)
            .or_else(|| self.cache.get(name, params))
            .or_else(|| names::guessed(name))
            .unwrap_or_else(Classification::unknown)
    }

    /// What was counted under a name: a tool's, or [`COMMAND`] and a class of commands.
    pub fn counted(&self, name: &str) -> Classification {
        match name.strip_prefix(COMMAND) {
            Some(class) => commands::of_count(class),
            None => self.tool(name, &Value::Null),
        }
    }
}
