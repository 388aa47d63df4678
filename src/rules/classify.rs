//! What a call was for, level by level: known tools, what was learned before, the words of a name,
//! else nothing is known (003 § 3.4, D02, D43, D44).
//!
//! Guesses are never remembered. What stays [`Classification::unknown`] is what an LLM can be asked
//! once per run; its answers go into the [`ToolCache`].

use super::commands;
use super::names;
use super::tool_cache::ToolCache;
use crate::model::activity::{Dimension, Signals};
use crate::model::classification::Classification;
use serde_json::Value;

/// What stands before a command's class among the names of tools that were counted.
pub const COMMAND: &str = "$ ";

/// What stands between the category of a changed file and the tool that changed it.
pub const CHANGES: &str = " with ";

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

    /// What is said by a name under which was counted: a tool's, [`COMMAND`] and a class of
    /// commands, or a category of files, [`CHANGES`] and a tool; then the category is what it says.
    pub fn counted(&self, name: &str) -> Signals {
        if let Some(class) = name.strip_prefix(COMMAND) {
            return commands::of_count(class).signals;
        }
        let changed = name.split_once(CHANGES).map(|(category, _)| category);
        match changed.and_then(Dimension::parse) {
            Some(category) => {
                let mut signals = Signals::default();
                signals.add(category, 1.0);
                signals
            }
            None => self.tool(name, &Value::Null).signals,
        }
    }
}
