//! A user's own tables beside the embedded ones: keywords, commands, tools, paths.
//!
//! Knows their shapes and what is wrong with them. Keywords and paths decide what is counted, and
//! are part of what made an episode; commands and tools decide what the counts say, and hold for
//! what is stored at once.

use super::commands::{self, Class};
use super::keywords::{KeywordLists, Keywords};
use super::names;
use super::paths::Paths;
use crate::model::activity::Signals;
use crate::model::classification::{Classification, Domain, Intent};
use crate::model::error::Error;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;

/// One user's tables. Empty where there are none.
#[derive(Debug, Default)]
pub struct UserTables {
    /// Words of people.
    pub keywords: Keywords,
    /// Categories of files.
    pub paths: Paths,
    /// The embedded class of programs with their subcommands, as words.
    commands: FxHashMap<String, &'static Class>,
    tools: FxHashMap<String, Classification>,
    /// Keywords and paths as written.
    counting: String,
}

/// A row of `tools.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTool {
    names: Vec<String>,
    intent: Intent,
    #[serde(default)]
    domain: Domain,
    signals: Option<Signals>,
}

/// How sure a person is.
const CONFIDENCE: f64 = 1.0;

/// Which of the tables a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Dimension → words.
    Keywords,
    /// Class of commands → programs with subcommands.
    Commands,
    /// Rows of names, intent, domain, signals.
    Tools,
    /// Category → rows, as `paths.yaml` has them.
    Paths,
}

impl Kind {
    /// All of them, with the names of their files.
    pub const ALL: [(Kind, &'static str); 4] = [
        (Kind::Keywords, "keywords.yaml"),
        (Kind::Commands, "commands.yaml"),
        (Kind::Tools, "tools.yaml"),
        (Kind::Paths, "paths.yaml"),
    ];
}

impl UserTables {
    /// Adds a table.
    ///
    /// # Errors
    /// Name file and line of what is wrong.
    pub fn add(&mut self, kind: Kind, file: &Path, text: &str) -> Result<(), Error> {
        match kind {
            Kind::Keywords => {
                self.keywords = Keywords::of(read::<KeywordLists>(file, text)?);
                self.counting.push_str(text);
            }
            Kind::Paths => {
                self.paths = read(file, text)?;
                self.counting.push_str(text);
            }
            Kind::Commands => self.add_commands(file, text)?,
            Kind::Tools => {
                for row in read::<Vec<WrittenTool>>(file, text)? {
                    self.add_tool(row);
                }
            }
        }
        Ok(())
    }

    fn add_commands(&mut self, file: &Path, text: &str) -> Result<(), Error> {
        let written: BTreeMap<String, Vec<String>> = read(file, text)?;
        for (name, list) in written {
            let class = commands::class(&name).ok_or_else(|| {
                let line = 1 + text.lines().position(|l| l.contains(&name)).unwrap_or(0);
                wrong(file, line, &format!("there is no class `{name}`"))
            })?;
            let rows = list.into_iter().map(|command| (command, class));
            self.commands.extend(rows);
        }
        Ok(())
    }

    fn add_tool(&mut self, row: WrittenTool) {
        let classification = Classification {
            intent: row.intent,
            domain: row.domain,
            confidence: CONFIDENCE,
            reasoning: "the user's table".to_owned(),
            signals: row
                .signals
                .unwrap_or_else(|| names::signals(row.intent, row.domain)),
        };
        let rows = row.names.into_iter();
        self.tools
            .extend(rows.map(|name| (name, classification.clone())));
    }

    /// What a person says of a tool.
    pub fn tool(&self, name: &str) -> Option<&Classification> {
        self.tools.get(name)
    }

    /// What a person says of a program with its subcommands: of all these words, else of fewer.
    pub fn command(&self, words: &str) -> Option<&'static Class> {
        if self.commands.is_empty() {
            return None;
        }
        let ends = words.match_indices(' ').map(|(at, _)| at);
        let ends = ends.chain(std::iter::once(words.len()));
        let mut ends: Vec<usize> = ends.collect();
        ends.reverse();
        ends.into_iter()
            .find_map(|end| self.commands.get(&words[..end]).copied())
    }

    /// What decides what is counted, as written; empty where nothing does.
    pub fn counting(&self) -> &str {
        &self.counting
    }
}

/// An empty file is an empty table.
fn read<T: DeserializeOwned + Default>(file: &Path, text: &str) -> Result<T, Error> {
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if text.lines().all(is_blank) {
        return Ok(T::default());
    }
    serde_yaml::from_str(text).map_err(|error| {
        let line = error.location().map_or(1, |l| l.line());
        wrong(file, line, &error.to_string())
    })
}

fn wrong(file: &Path, line: usize, what: &str) -> Error {
    Error::usage(format!("{}:{line}: {what}", file.display()))
        .hinted("docs/activity.md says how tables are written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::activity::Dimension;

    fn tables(kind: Kind, text: &str) -> Result<UserTables, String> {
        let mut tables = UserTables::default();
        let added = tables.add(kind, Path::new("x.yaml"), text);
        added.map(|()| tables).map_err(|e| e.message)
    }

    #[test]
    fn each_table_says_what_it_says() {
        let words = tables(Kind::Keywords, "fixing: [hotfix]").unwrap();
        assert_eq!(words.keywords.dimension("hotfix"), Some(Dimension::Fixing));
        let paths = tables(Kind::Paths, "testing: {folder: [checks]}").unwrap();
        assert_eq!(paths.paths.categories("checks/a.rs"), [Dimension::Testing]);
        let commands = tables(
            Kind::Commands,
            "deploy: [acme, acme ship]\ntest: [acme try]",
        );
        let commands = commands.unwrap();
        let class = |words: &str| commands.command(words).map(|class| class.name.as_str());
        assert_eq!(class("acme try it"), Some("test"));
        assert_eq!(class("acme other"), Some("deploy"));
        assert_eq!(class("acmes"), None);
        let tools = "- {names: [x], intent: search, domain: code}";
        let tools = tables(Kind::Tools, tools).unwrap();
        assert_eq!(tools.tool("x").map(|c| c.domain), Some(Domain::Code));
        assert!(tables(Kind::Tools, "# nothing yet\n").is_ok());
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (kind, text, wants) in [
            (Kind::Keywords, "fixing: [a]\nfixng: [b]", "x.yaml:2: "),
            (
                Kind::Commands,
                "\n\ndeply: [acme]",
                "x.yaml:3: there is no class `deply`",
            ),
            (Kind::Tools, "- names: [x]\n  intent: serach", "x.yaml:2: "),
            (Kind::Paths, "testing: {foldr: [x]}", "x.yaml:1: "),
        ] {
            let error = tables(kind, text).unwrap_err();
            assert!(error.starts_with(wants), "{error}");
        }
    }
}
