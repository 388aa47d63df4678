//! What a call was for, level by level: a user's own tables, known tools, what was learned before,
//! the words of a name, else nothing is known (003 § 3.4, D02, D43, D44).
//!
//! Guesses are never remembered. What stays [`Classification::unknown`] is what an LLM can be asked
//! once per run; its answers go into the [`ToolCache`].

use super::commands;
use super::keywords;
use super::names;
use super::paths;
use super::tool_cache::ToolCache;
use super::user::UserTables;
use crate::model::activity::{Dimension, Signals};
use crate::model::classification::Classification;
use crate::model::time::Time;
use serde_json::Value;
use std::sync::Arc;

/// What stands before a command's class among the names of tools that were counted.
pub const COMMAND: &str = "$ ";

/// What stands between the category of a changed file and the tool that changed it.
pub const CHANGES: &str = " with ";

/// Judges calls, words and paths. Cheap to clone; the tables are shared.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    cache: Arc<ToolCache>,
    user: Arc<UserTables>,
}

impl Classifier {
    /// With what was learned before, and a user's own tables.
    pub fn new(cache: ToolCache, user: UserTables) -> Classifier {
        Classifier {
            cache: Arc::new(cache),
            user: Arc::new(user),
        }
    }

    /// Whether asking about a tool failed after `since` ([`ToolCache::failed`]).
    pub fn failed(&self, name: &str, since: Time) -> bool {
        self.cache.failed(name, since)
    }

    /// One call of a tool. Commands of shells are [`commands::classify`]'s.
    pub fn tool(&self, name: &str, params: &Value) -> Classification {
        let said = self.user.tool(name).cloned();
        said.or_else(|| names::known(name))
            .or_else(|| self.cache.get(name, params))
            .or_else(|| names::guessed(name))
            .unwrap_or_else(Classification::unknown)
    }

    /// The part of a counted name that says what these calls are: calls with the same part are of one
    /// kind. Of what the table knows in a command line and what is known of an unknown program in it
    /// ([`commands::counted_as`]), the higher rank counts.
    pub fn kind<'n>(&self, name: &'n str) -> &'n str {
        let Some(at) = name.find('?').filter(|_| name.starts_with(COMMAND)) else {
            return name;
        };
        let (known, unknown) = (&name[COMMAND.len()..at], &name[at + 1..]);
        let known = commands::class(known).map(|class| class.rank);
        let said = self.said_of(unknown).map(|(rank, _)| rank);
        match known.is_none() || said > known {
            true => &name[at..],
            false => &name[..at],
        }
    }

    /// What a person or the cache says of a program that the table doesn't know, and its rank.
    fn said_of(&self, program: &str) -> Option<(u8, Classification)> {
        if let Some(class) = self.user.command(program) {
            return Some((class.rank, commands::by_class(class)));
        }
        let known = self.cache.get(&cached_as(program), &Value::Null)?;
        Some((commands::rank_of(known.intent, known.domain), known))
    }

    /// What is said by a [kind](Self::kind) of calls: a tool's name, [`COMMAND`] and a class of
    /// commands, `?` and an unknown program, or a category of files, [`CHANGES`] and a tool; then the
    /// category is what it says.
    pub fn counted(&self, kind: &str) -> Signals {
        if let Some(program) = kind.strip_prefix('?') {
            let said = self.said_of(program).map(|(_, said)| said);
            return said.unwrap_or_else(|| commands::of_count(kind)).signals;
        }
        if let Some(class) = kind.strip_prefix(COMMAND) {
            return commands::of_count(class).signals;
        }
        let changed = kind.split_once(CHANGES).map(|(category, _)| category);
        match changed.and_then(Dimension::parse) {
            Some(category) => {
                let mut signals = Signals::default();
                signals.add(category, 1.0);
                signals
            }
            None => self.tool(kind, &Value::Null).signals,
        }
    }

    /// The tool, or the program with its subcommands, of which nothing is known though it was
    /// counted under `name`; as [`ToolCache`] has it.
    pub fn unknown(&self, name: &str) -> Option<String> {
        match name.strip_prefix(COMMAND) {
            Some(command) => {
                let (_, program) = command.split_once('?')?;
                let known = self.said_of(program).is_some()
                    || !commands::of_count(&format!("?{program}")).is_unknown();
                (!known).then(|| cached_as(program))
            }
            None if name.contains(CHANGES) => None,
            None => self
                .tool(name, &Value::Null)
                .is_unknown()
                .then(|| name.to_owned()),
        }
    }

    /// The keywords in a person's words.
    pub fn keywords(&self, text: &str) -> impl Iterator<Item = &str> {
        let own = match self.user.keywords.is_empty() {
            true => Default::default(),
            false => self.user.keywords.found(text),
        };
        let mut found = keywords::embedded().found(text);
        found.extend(own);
        found.into_iter()
    }

    /// The dimension that a keyword speaks for.
    pub fn dimension(&self, keyword: &str) -> Option<Dimension> {
        let own = self.user.keywords.dimension(keyword);
        own.or_else(|| keywords::embedded().dimension(keyword))
    }

    /// The categories of a path, each once; a user's first.
    pub fn categories(&self, path: &str) -> Vec<Dimension> {
        let mut categories = self.user.paths.categories(path);
        for category in paths::embedded().categories(path) {
            if !categories.contains(&category) {
                categories.push(category);
            }
        }
        categories
    }

    /// What a user's tables change in what is counted, as written; empty where nothing is.
    pub fn counting(&self) -> &str {
        self.user.counting()
    }
}

/// A program's name in the cache, which knows tools only: `Bash(acme ship)`.
fn cached_as(program: &str) -> String {
    format!("Bash({program})")
}

#[cfg(test)]
mod tests {
    use super::super::user::Kind;
    use super::*;
    use std::path::Path;

    #[test]
    fn an_unknown_program_stands_for_its_lines_once_it_is_known() {
        let mut user = UserTables::default();
        let text = "test: [acme try]\nwait: [acme wait]";
        user.add(Kind::Commands, Path::new("x"), text)
            .expect("a table");
        let (plain, taught) = (
            Classifier::default(),
            Classifier::new(ToolCache::default(), user),
        );
        let line = commands::counted_as("cat f; acme try x");
        assert_eq!(line, "read?acme try x");
        let counted = format!("{COMMAND}{line}");
        assert_eq!(plain.kind(&counted), "$ read");
        assert_eq!(taught.kind(&counted), "?acme try x");
        let testing = taught.counted("?acme try x").get(Dimension::Testing);
        assert_eq!(testing, 0.8);
        assert_eq!(
            taught.kind("$ filter?acme wait"),
            "$ filter",
            "a lower rank"
        );
        assert_eq!(plain.kind("$ ?acme"), "?acme");
        assert_eq!(plain.unknown(&counted).as_deref(), Some("Bash(acme try x)"));
        assert_eq!(taught.unknown(&counted), None);
    }
}
