//! Our entry among an agent's MCP servers: a map from names to what is started, in JSON or in TOML.

use super::entries::{Removed, untouched};
use super::is_our_program;
use crate::config::document::Document;
use crate::config::edit::{json, toml as toml_text};
use crate::config::position::{key, take};
use crate::model::error::Error;
use crate::model::source::Agent;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What we are called there.
const NAME: &str = "sessionmill";

/// How a settings file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFormat {
    /// JSON.
    Json,
    /// TOML.
    Toml,
}

/// How an entry says what is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerShape {
    /// `command`, `args` and `env`.
    Parts,
    /// `command` is a list with the arguments, and variables are in `environment`.
    OneList,
}

/// How we are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCommand {
    /// The program's file.
    pub program: String,
    /// Our folder, where it isn't the usual one.
    pub home: Option<String>,
}

/// Where an agent's MCP servers stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Whose.
    pub agent: Agent,
    /// The user's own file.
    pub file: PathBuf,
    /// How it is written.
    pub format: ServerFormat,
    /// How an entry says what is started.
    pub shape: ServerShape,
    /// The key of the map.
    pub table: &'static str,
    /// The value of an entry's `type`, where the agent writes one.
    pub transport: Option<&'static str>,
}

impl ServerSettings {
    /// The program that our entry starts; `None`: there is no entry of ours.
    ///
    /// # Errors
    /// When the file isn't what it should be.
    pub fn program(&self, text: &str) -> Result<Option<String>, Error> {
        let servers = self.servers(text)?;
        let entry = servers.get(NAME).filter(|entry| is_ours(entry));
        Ok(entry.map(|entry| started(entry).program))
    }

    /// The text with our entry. Without a text: a file of ours alone. A text that has it comes back as it
    /// is; an entry of ours that starts something else is changed.
    ///
    /// # Errors
    /// When the file isn't what it should be, has another server of our name, or an entry of ours that
    /// somebody changed by hand and that starts something else.
    pub fn with(&self, text: Option<&str>, start: &ServerCommand) -> Result<String, Error> {
        let Some(before) = text else {
            return Ok(self.fresh(start));
        };
        let clean = match self.servers(before)?.get(NAME) {
            Some(entry) if !is_ours(entry) => {
                return Err(untouched(
                    self.error(&format!("another server is called {NAME}")),
                ));
            }
            Some(entry) if started(entry) == *start => return Ok(before.to_owned()),
            Some(_) => {
                // taken out first, which refuses what was changed by hand
                let removed = self.without(before, false)?;
                if !removed.left.is_empty() {
                    let agent = self.agent.as_str();
                    let hint = format!("sessionmill mcp remove --agent {agent} --force");
                    let error = self.error(&format!("{NAME} was changed by hand"));
                    return Err(error.hinted(hint));
                }
                match removed.text {
                    Some(text) => text,
                    None => return Ok(self.fresh(start)),
                }
            }
            None => before.to_owned(),
        };
        if clean.trim().is_empty() {
            return Ok(format!("{clean}\n{}", self.fresh(start)));
        }
        let with = match self.format {
            ServerFormat::Json => {
                let document = self.document(&clean)?;
                let at = [key(self.table), key(NAME)];
                json::insert(&document, &at, &self.entry(start)).map(|document| document.text)
            }
            ServerFormat::Toml => {
                self.checked(&clean, toml_text::append(&clean, &self.lines(start)))
            }
        };
        with.ok_or_else(|| self.refused())
    }

    /// The text without our entry. One that somebody changed by hand stays, unless `force`.
    ///
    /// # Errors
    /// As [`ServerSettings::with`].
    pub fn without(&self, text: &str, force: bool) -> Result<Removed, Error> {
        let servers = self.servers(text)?;
        let stays = |left: Vec<String>| Removed {
            text: Some(text.to_owned()),
            left,
        };
        let Some(entry) = servers.get(NAME).filter(|entry| is_ours(entry)) else {
            return Ok(stays(Vec::new()));
        };
        let start = started(entry);
        // a file that has nothing but ours was made by us: it goes as a whole
        let blank = text.strip_suffix(&self.fresh(&start)).and_then(|before| {
            let is_ours = before.is_empty() || before.ends_with('\n');
            Some(before).filter(|before| is_ours && before.trim().is_empty())
        });
        if let Some(before) = blank {
            return Ok(Removed {
                text: before.strip_suffix('\n').map(str::to_owned),
                left: Vec::new(),
            });
        }
        let lines = match self.format {
            ServerFormat::Json => None,
            ServerFormat::Toml => toml_text::table(text, self.table, NAME),
        };
        let is_as_written = match self.format {
            ServerFormat::Json => *entry == self.entry(&start),
            ServerFormat::Toml => lines
                .clone()
                .is_some_and(|lines| text[lines].replace("\r\n", "\n") == self.lines(&start)),
        };
        if !is_as_written && !force {
            return Ok(stays(vec![NAME.to_owned()]));
        }
        let without = match self.format {
            ServerFormat::Json => {
                let document = self.document(text)?;
                json::remove(&document, &[key(self.table), key(NAME)]).map(|new| new.text)
            }
            ServerFormat::Toml => {
                lines.and_then(|lines| self.checked(text, toml_text::cut(text, lines)))
            }
        };
        Ok(Removed {
            text: Some(without.ok_or_else(|| self.refused())?),
            left: Vec::new(),
        })
    }

    /// A file that has nothing but our entry.
    fn fresh(&self, start: &ServerCommand) -> String {
        match self.format {
            ServerFormat::Json => {
                let whole = json!({self.table: {NAME: self.entry(start)}});
                format!("{}\n", json::pretty(&whole, "  ", ""))
            }
            ServerFormat::Toml => self.lines(start),
        }
    }

    fn entry(&self, start: &ServerCommand) -> Value {
        if self.shape == ServerShape::OneList {
            let mut entry = json!({"type": self.transport, "command": [start.program, "mcp"]});
            if let Some(home) = &start.home {
                entry["environment"] = json!({"SESSIONMILL_HOME": home});
            }
            return entry;
        }
        let mut entry = json!({"command": start.program, "args": ["mcp"]});
        if let Some(transport) = self.transport {
            entry = json!({"type": transport, "command": start.program, "args": ["mcp"]});
        }
        if let Some(home) = &start.home {
            entry["env"] = json!({"SESSIONMILL_HOME": home});
        }
        entry
    }

    /// Our entry as a table of TOML.
    fn lines(&self, start: &ServerCommand) -> String {
        // JSON's strings are TOML's basic ones.
        let word = |text: &str| Value::from(text).to_string();
        let env = start.home.as_deref().map(word);
        let env = env.map(|home| format!("env = {{ SESSIONMILL_HOME = {home} }}\n"));
        format!(
            "[{}.{NAME}]\ncommand = {}\nargs = [\"mcp\"]\n{}",
            self.table,
            word(&start.program),
            env.unwrap_or_default()
        )
    }

    /// The agent's servers; an empty map where it has none.
    fn servers(&self, text: &str) -> Result<Value, Error> {
        let mut whole = self.parse(text)?;
        let servers = whole.get_mut(self.table).map(Value::take);
        match servers.unwrap_or_else(|| json!({})) {
            servers @ Value::Object(_) => Ok(servers),
            _ => Err(untouched(self.error("its servers are not a map"))),
        }
    }

    /// What a text says; of one that is empty, nothing.
    fn parse(&self, text: &str) -> Result<Value, Error> {
        if text.trim().is_empty() {
            return Ok(json!({}));
        }
        match self.format {
            ServerFormat::Json => self.document(text).map(|document| document.value),
            // The parser's own message quotes the file, which may hold keys.
            ServerFormat::Toml => toml::from_str(text).map_err(|error: toml::de::Error| {
                let at = error.span().map_or(0, |span| span.start);
                let line = 1 + text[..at.min(text.len())].matches('\n').count();
                untouched(self.error(&format!("line {line} is not TOML")))
            }),
        }
    }

    fn document(&self, text: &str) -> Result<Document, Error> {
        Document::parse(&self.file, text.as_bytes()).map_err(untouched)
    }

    /// The new text, if nothing but our entry differs, and but a table that it may leave empty.
    fn checked(&self, before: &str, new: String) -> Option<String> {
        let rest = |text: &str| {
            let mut whole = self.parse(text).ok()?;
            take(&mut whole, &[key(self.table), key(NAME)]);
            if whole[self.table] == json!({}) {
                take(&mut whole, &[key(self.table)]);
            }
            Some(whole)
        };
        let is_same = rest(&new)? == rest(before)?;
        is_same.then_some(new)
    }

    fn refused(&self) -> Error {
        untouched(self.error("can't be changed without touching the rest"))
    }

    fn error(&self, what: &str) -> Error {
        Error::usage(format!("{}: {what}", self.file.display()))
    }
}

/// What an entry of ours starts.
fn started(entry: &Value) -> ServerCommand {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let home = |holder: &str| text(&entry[holder]["SESSIONMILL_HOME"]);
    let program = text(&entry["command"]).or_else(|| text(&entry["command"][0]));
    ServerCommand {
        program: program.unwrap_or_default(),
        home: home("env").or_else(|| home("environment")),
    }
}

/// It starts a program of our name as a server, whatever its folder.
fn is_ours(entry: &Value) -> bool {
    let is_server = entry["args"][0] == "mcp" || entry["command"][1] == "mcp";
    is_our_program(&started(entry).program) && is_server
}

#[cfg(test)]
mod tests;
