//! Our entries in the agents' own hook settings: put in, and taken out so that nothing else changes
//! by a byte. Knows the shape that Claude Code and Codex share; refuses to know what a hook does.

use super::document::Document;
use super::edit::splice;
use super::entries::{Removed, append, key, pretty, removed, untouched};
use super::env::Env;
use super::position::{Step, dotted};
use crate::model::error::Error;
use crate::model::source::Agent;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// When agents start us.
const EVENTS: [(&str, Option<&str>); 2] = [
    // A session that is resumed or compacted knows what it did.
    ("SessionStart", Some("startup|clear")),
    ("UserPromptSubmit", None),
];

/// Seconds after which an agent gives up on us. We give up long before (`graphiti.recall`); larger: a
/// machine that hangs keeps a person waiting.
const TIMEOUT_S: u64 = 5;

const HOOKS: &str = "hooks";

/// An entry of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hook {
    /// When it is started.
    pub event: String,
    /// What is started, for a shell.
    pub command: String,
}

/// The file in which the user's own hooks of an agent stand.
pub fn file(agent: Agent, env: &Env) -> PathBuf {
    match agent {
        Agent::Claude => env.claude_dir().join("settings.json"),
        _ => env.codex_dir().join("hooks.json"),
    }
}

/// What comes after the program's name.
pub fn arguments(agent: Agent) -> String {
    format!("recall --hook {}", agent.as_str())
}

/// Our entries in a text, in the order of the events.
///
/// # Errors
/// When it isn't JSON, with file and line.
pub fn ours(file: &Path, text: &str, agent: Agent) -> Result<Vec<Hook>, Error> {
    let document = read(file, text)?;
    let found = places(&document.value, agent).into_iter();
    Ok(found.map(|place| place.hook).collect())
}

/// The text with our entries, each starting `command`. Without a text: a file of ours alone. A text
/// that has them comes back as it is; entries that start another program of this name are changed.
///
/// # Errors
/// When it isn't JSON, or its hooks aren't as agents understand them; with file and line.
pub fn with(file: &Path, text: Option<&str>, agent: Agent, command: &str) -> Result<String, Error> {
    let Some(text) = text else {
        return Ok(fresh(command));
    };
    let mut document = read(file, text)?;
    for (event, matcher) in EVENTS {
        let here = places(&document.value, agent);
        let here = here.into_iter().find(|place| place.hook.event == event);
        let text = match here {
            Some(place) if place.hook.command == command => continue,
            Some(place) => renamed(&document, &place, command),
            None => added(&document, event, &group(matcher, command)),
        };
        document = checked(&document, text, agent)?;
    }
    Ok(document.text)
}

/// The text without our entries. One that somebody changed by hand stays, unless `force`.
///
/// # Errors
/// As [`ours`].
pub fn without(file: &Path, text: &str, agent: Agent, force: bool) -> Result<Removed, Error> {
    let mut document = read(file, text)?;
    let goes = |place: &Place| force || place.is_as_written;
    while let Some(place) = places(&document.value, agent).into_iter().rfind(goes) {
        if document.text == fresh(&place.hook.command) {
            return Ok(Removed::default());
        }
        let text = removed(&document, &place.at);
        document = checked(&document, text, agent)?;
    }
    let left = places(&document.value, agent).into_iter();
    Ok(Removed {
        left: left.map(|place| place.hook.event).collect(),
        text: Some(document.text),
    })
}

fn read(file: &Path, text: &str) -> Result<Document, Error> {
    Document::parse(file, text.as_bytes()).map_err(untouched)
}

/// Why Claude Code starts no hooks at all: the user's settings switch all of them off; `None` where they
/// don't, or can't be understood.
pub fn claude_switched_off(env: &Env) -> Option<String> {
    let file = file(Agent::Claude, env);
    let document = Document::parse(&file, &std::fs::read(&file).ok()?).ok()?;
    let is_off = document.value["disableAllHooks"] == true;
    is_off.then(|| format!("`disableAllHooks` is true in {}", file.display()))
}

/// A file that has nothing but our entries.
fn fresh(command: &str) -> String {
    let events =
        EVENTS.map(|(event, matcher)| (event.to_owned(), json!([group(matcher, command)])));
    let events: serde_json::Map<String, Value> = events.into_iter().collect();
    format!("{}\n", pretty(&json!({HOOKS: events}), "  ", ""))
}

fn group(matcher: Option<&str>, command: &str) -> Value {
    let hook = json!({"type": "command", "command": command, "timeout": TIMEOUT_S});
    match matcher {
        Some(matcher) => json!({"matcher": matcher, HOOKS: [hook]}),
        None => json!({HOOKS: [hook]}),
    }
}

/// Where an entry of ours stands.
struct Place {
    hook: Hook,
    /// The entry, or the group that has nothing else.
    at: Vec<Step>,
    /// Its command.
    command: Vec<Step>,
    /// It is what we write, to the last member.
    is_as_written: bool,
}

fn places(value: &Value, agent: Agent) -> Vec<Place> {
    let mut found = Vec::new();
    for (event, matcher) in EVENTS {
        let groups = value[HOOKS][event].as_array().into_iter().flatten();
        for (nth, group) in groups.enumerate() {
            let hooks = group[HOOKS].as_array().map_or(&[][..], Vec::as_slice);
            for (inner, hook) in hooks.iter().enumerate() {
                let command = hook["command"].as_str().unwrap_or_default();
                if !is_ours(command, agent) {
                    continue;
                }
                let ours = self::group(matcher, command);
                let is_as_written = match hooks.len() {
                    1 => *group == ours,
                    _ => *hook == ours[HOOKS][0],
                };
                let group = [key(HOOKS), key(event), Step::Index(nth)];
                let entry = [&group[..], &[key(HOOKS), Step::Index(inner)]].concat();
                found.push(Place {
                    hook: Hook {
                        event: event.into(),
                        command: command.into(),
                    },
                    command: [&entry[..], &[key("command")]].concat(),
                    is_as_written,
                    at: match hooks.len() {
                        1 => group.to_vec(),
                        _ => entry,
                    },
                });
            }
        }
    }
    found
}

/// It starts a program of our name with our arguments, whatever its folder and its variables.
fn is_ours(command: &str, agent: Agent) -> bool {
    let program = command.trim().strip_suffix(&arguments(agent));
    program.is_some_and(|program| {
        let program = program.trim_end().trim_end_matches(['\'', '"']);
        program.ends_with("sessionmill")
    })
}

/// With another command at this place.
fn renamed(document: &Document, place: &Place, command: &str) -> Option<String> {
    let spot = document.spot(&place.command)?;
    let new = Value::from(command).to_string();
    Some(splice(&document.text, spot.value, spot.end?, &new))
}

/// With a group at the end of an event's list, and what has to be around it.
fn added(document: &Document, event: &str, group: &Value) -> Option<String> {
    let hooks = document.value.get(HOOKS);
    match hooks.map(|hooks| hooks.get(event)) {
        None => append(document, &[], Some(HOOKS), &json!({event: [group]})),
        Some(None) => append(document, &[key(HOOKS)], Some(event), &json!([group])),
        Some(Some(_)) => append(document, &[key(HOOKS), key(event)], None, group),
    }
}

/// The text read back: nothing but our entries may differ.
fn checked(before: &Document, text: Option<String>, agent: Agent) -> Result<Document, Error> {
    let refused = || {
        let steps = [key(HOOKS)];
        let what = "can't be changed without touching the rest";
        let error = match before.spot(&steps) {
            Some(_) => before.error(&steps, what),
            None => before.error(&[], what),
        };
        error.hinted(format!(
            "{} is to be a map from {} to lists: mend it, then try again",
            dotted(&steps),
            EVENTS.map(|(event, _)| event).join(" and ")
        ))
    };
    let text = text.ok_or_else(refused)?;
    let after = Document::parse(&before.file, text.as_bytes()).map_err(|_| refused())?;
    let same = others(&after.value, agent) == others(&before.value, agent);
    same.then_some(after).ok_or_else(refused)
}

/// A value without our entries and the empty lists and maps that they may leave.
fn others(value: &Value, agent: Agent) -> Value {
    let mut value = value.clone();
    let Some(hooks) = value.get_mut(HOOKS).and_then(Value::as_object_mut) else {
        return value;
    };
    for (event, _) in EVENTS {
        let Some(groups) = hooks.get_mut(event).and_then(Value::as_array_mut) else {
            continue;
        };
        for group in groups.iter_mut() {
            if let Some(hooks) = group.get_mut(HOOKS).and_then(Value::as_array_mut) {
                hooks.retain(|hook| !is_ours(hook["command"].as_str().unwrap_or_default(), agent));
            }
        }
        groups.retain(|group| group[HOOKS] != json!([]));
    }
    hooks.retain(|_, groups| *groups != json!([]));
    if let (true, Some(map)) = (hooks.is_empty(), value.as_object_mut()) {
        map.shift_remove(HOOKS);
    }
    value
}

#[cfg(test)]
mod tests;
