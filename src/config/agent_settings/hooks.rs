//! Our entries among an agent's hooks. Knows the shape that agents share: JSON with a map `hooks` from
//! events to lists of groups of hooks.

mod module;

use super::entries::{Removed, untouched};
use super::is_our_program;
use crate::config::document::Document;
use crate::config::edit::json;
use crate::config::position::{PathStep, dotted, key};
use crate::model::error::Error;
use crate::model::source::Agent;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;

const HOOKS: &str = "hooks";

/// An entry of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hook {
    /// When it is started.
    pub event: String,
    /// What is started, for a shell.
    pub command: String,
}

/// How an agent takes hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookShape {
    /// Entries of its settings.
    Entries,
    /// A module of its own, of this text: `@COMMAND@` stands for the command as a string, `@TIMEOUT@` for how long
    /// it waits.
    Module(&'static str),
}

/// Where an agent's hooks stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSettings {
    /// Whose.
    pub agent: Agent,
    /// The user's own file.
    pub file: PathBuf,
    /// What it is.
    pub shape: HookShape,
    /// When the agent is to start us, each with the matcher that narrows the event.
    pub events: &'static [(&'static str, Option<&'static str>)],
    /// Five seconds, as the agent counts them, after which it gives up on us. We give up long before
    /// (`graphiti.recall`); larger: a machine that hangs keeps a person waiting.
    pub timeout: u64,
}

impl HookSettings {
    /// What comes after the program's name.
    pub fn arguments(&self) -> String {
        format!("recall --hook {}", self.agent.as_str())
    }

    /// Our entries in a text, in the order of the events.
    ///
    /// # Errors
    /// When it isn't JSON, with file and line.
    pub fn installed(&self, text: &str) -> Result<Vec<Hook>, Error> {
        if let HookShape::Module(module) = self.shape {
            return Ok(self.module_hooks(module, text));
        }
        let document = self.read(text)?;
        let entries = self.entries(&document.value).into_iter();
        Ok(entries.map(|entry| entry.hook).collect())
    }

    /// The text with our entries, each starting `command`. Without a text: a file of ours alone. A text
    /// that has them comes back as it is; entries that start another program of this name are changed.
    ///
    /// # Errors
    /// When it isn't JSON, or its hooks aren't as agents understand them; with file and line.
    pub fn with(&self, text: Option<&str>, command: &str) -> Result<String, Error> {
        if let HookShape::Module(module) = self.shape {
            return self.with_module(module, text, command);
        }
        let Some(text) = text else {
            return Ok(self.fresh(command));
        };
        let mut document = self.read(text)?;
        for (event, matcher) in self.events {
            let mut entries = self.entries(&document.value).into_iter();
            let edited = match entries.find(|entry| entry.hook.event == *event) {
                Some(entry) if entry.hook.command == command => continue,
                Some(entry) => json::replace(&document, &entry.command, &command.into()),
                None => {
                    let groups = document.value[HOOKS][event].as_array();
                    let next = PathStep::Index(groups.map_or(0, Vec::len));
                    let at = [key(HOOKS), key(event), next];
                    json::insert(&document, &at, &self.group(*matcher, command))
                }
            };
            document = edited.ok_or_else(|| self.refused(&document))?;
        }
        Ok(document.text)
    }

    /// The text without our entries. One that somebody changed by hand stays, unless `force`.
    ///
    /// # Errors
    /// As [`HookSettings::with`].
    pub fn without(&self, text: &str, force: bool) -> Result<Removed, Error> {
        if let HookShape::Module(module) = self.shape {
            return Ok(self.without_module(module, text, force));
        }
        let mut document = self.read(text)?;
        let goes = |entry: &Entry| force || entry.is_as_written;
        while let Some(entry) = self.entries(&document.value).into_iter().rfind(goes) {
            if document.text == self.fresh(&entry.hook.command) {
                return Ok(Removed::default());
            }
            let removed = json::remove(&document, &entry.at);
            document = removed.ok_or_else(|| self.refused(&document))?;
        }
        let left = self.entries(&document.value).into_iter();
        Ok(Removed {
            left: left.map(|entry| entry.hook.event).collect(),
            text: Some(document.text),
        })
    }

    fn read(&self, text: &str) -> Result<Document, Error> {
        Document::parse(&self.file, text.as_bytes()).map_err(untouched)
    }

    /// A file that has nothing but our entries.
    fn fresh(&self, command: &str) -> String {
        let mut whole = json!({});
        for (event, matcher) in self.events {
            whole[HOOKS][event] = json!([self.group(*matcher, command)]);
        }
        format!("{}\n", json::pretty(&whole, "  ", ""))
    }

    fn entries(&self, value: &Value) -> Vec<Entry> {
        let mut found = Vec::new();
        for (event, matcher) in self.events {
            let groups = value[HOOKS][event].as_array().into_iter().flatten();
            for (nth, group) in groups.enumerate() {
                let at = [key(HOOKS), key(event), PathStep::Index(nth)];
                let hooks = group[HOOKS].as_array().map_or(&[][..], Vec::as_slice);
                for (inner, hook) in hooks.iter().enumerate() {
                    let command = hook["command"].as_str().unwrap_or_default();
                    if !self.starts_us(command) {
                        continue;
                    }
                    let ours = self.group(*matcher, command);
                    let is_alone = hooks.len() == 1;
                    let hook_at = [&at[..], &[key(HOOKS), PathStep::Index(inner)]].concat();
                    found.push(Entry {
                        hook: Hook {
                            event: (*event).to_owned(),
                            command: command.to_owned(),
                        },
                        command: [&hook_at[..], &[key("command")]].concat(),
                        is_as_written: if is_alone {
                            *group == ours
                        } else {
                            *hook == ours[HOOKS][0]
                        },
                        at: if is_alone { at.to_vec() } else { hook_at },
                    });
                }
            }
        }
        found
    }

    /// It starts a program of our name with our arguments, whatever its folder and its variables.
    fn starts_us(&self, command: &str) -> bool {
        let program = command.trim().strip_suffix(&self.arguments());
        program.is_some_and(|program| {
            let program = program.trim_end().trim_end_matches(['\'', '"']);
            is_our_program(program)
        })
    }

    fn group(&self, matcher: Option<&str>, command: &str) -> Value {
        let hook = json!({"type": "command", "command": command, "timeout": self.timeout});
        match matcher {
            Some(matcher) => json!({"matcher": matcher, HOOKS: [hook]}),
            None => json!({HOOKS: [hook]}),
        }
    }

    fn refused(&self, document: &Document) -> Error {
        let steps = [key(HOOKS)];
        let what = "can't be changed without touching the rest";
        let at = document.get(&steps).map_or(&[][..], |_| &steps);
        let events: Vec<&str> = self.events.iter().map(|(event, _)| *event).collect();
        document.error(at, what).hinted(format!(
            "{} is to be a map from {} to lists: fix it, then try again",
            dotted(&steps),
            events.join(" and ")
        ))
    }
}

/// Where an entry of ours stands.
struct Entry {
    hook: Hook,
    /// The entry, or the group that has nothing else.
    at: Vec<PathStep>,
    /// Its command.
    command: Vec<PathStep>,
    /// It is what we write, to the last member.
    is_as_written: bool,
}

#[cfg(test)]
mod tests;
