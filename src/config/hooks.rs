//! Our entries in the agents' own hook settings: put in, and taken out so that nothing else changes
//! by a byte. Knows the shape that Claude Code and Codex share; refuses to know what a hook does.
//!
//! What we put around our entries (a list, the key `hooks`) begins with white space after its
//! bracket; what was there and empty doesn't. So removing knows which of them are to go.

use super::document::Document;
use super::edit::{get, splice};
use super::env::Env;
use super::position::{Step, dotted};
use crate::model::error::Error;
use crate::model::source::Agent;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
        Agent::Codex => env.codex_dir().join("hooks.json"),
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

/// The text without our entries; `None`: it was a file of ours alone.
///
/// # Errors
/// As [`ours`].
pub fn without(file: &Path, text: &str, agent: Agent) -> Result<Option<String>, Error> {
    let mut document = read(file, text)?;
    while let Some(place) = places(&document.value, agent).pop() {
        if document.text == fresh(&place.hook.command) {
            return Ok(None);
        }
        let text = removed(&document, &place.at);
        document = checked(&document, text, agent)?;
    }
    Ok(Some(document.text))
}

fn read(file: &Path, text: &str) -> Result<Document, Error> {
    Document::parse(file, text.as_bytes()).map_err(untouched)
}

fn untouched(error: Error) -> Error {
    error.hinted("mend the file, then try again: it was not touched")
}

/// Why Codex starts no hooks at all: the line of its `config.toml` that switches them off; `None`
/// where nothing does, or the file can't be understood.
pub fn codex_switched_off(env: &Env) -> Option<String> {
    #[derive(Deserialize)]
    struct Config {
        features: BTreeMap<String, toml::Value>,
    }
    let file = env.codex_dir().join("config.toml");
    let config: Config = toml::from_str(&std::fs::read_to_string(&file).ok()?).ok()?;
    // Their name until Codex 0.129.
    let off = [HOOKS, "codex_hooks"]
        .into_iter()
        .find(|name| config.features.get(*name) == Some(&toml::Value::Boolean(false)))?;
    Some(format!("`features.{off} = false` in {}", file.display()))
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
}

fn places(value: &Value, agent: Agent) -> Vec<Place> {
    let mut found = Vec::new();
    for (event, _) in EVENTS {
        let groups = value[HOOKS][event].as_array().into_iter().flatten();
        for (nth, group) in groups.enumerate() {
            let hooks = group[HOOKS].as_array().map_or(&[][..], Vec::as_slice);
            for (inner, hook) in hooks.iter().enumerate() {
                let command = hook["command"].as_str().unwrap_or_default();
                if !is_ours(command, agent) {
                    continue;
                }
                let group = [key(HOOKS), key(event), Step::Index(nth)];
                let entry = [&group[..], &[key(HOOKS), Step::Index(inner)]].concat();
                found.push(Place {
                    hook: Hook {
                        event: event.into(),
                        command: command.into(),
                    },
                    command: [&entry[..], &[key("command")]].concat(),
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

fn key(name: &str) -> Step {
    Step::Key(name.into())
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

/// With one more member or item at the end of the map or list at `at`, spelled as its neighbours are.
fn append(document: &Document, at: &[Step], name: Option<&str>, new: &Value) -> Option<String> {
    let text = &document.text;
    let style = Style::of(document);
    let container = get(&document.value, at)?;
    let last = match container {
        Value::Object(map) if name.is_some() => map.keys().next_back().map(|last| key(last)),
        Value::Array(list) if name.is_none() => list.len().checked_sub(1).map(Step::Index),
        _ => return None,
    };
    let Some(last) = last else {
        let open = document.spot(at)?.value + 1;
        return Some(splice(text, open, open, &style.spell(name, new, "\n")));
    };
    let last = document.spot(&[at, &[last]].concat())?;
    let gap = &text[text[..last.key].trim_end().len()..last.key];
    let new = format!(",{gap}{}", style.spell(name, new, gap));
    Some(splice(text, last.end?, last.end?, &new))
}

/// How a text is laid out.
struct Style<'t> {
    /// Of one level; `None`: everything stands on one line.
    indent: Option<&'t str>,
    newline: &'t str,
}

impl<'t> Style<'t> {
    fn of(document: &'t Document) -> Style<'t> {
        let text = &document.text;
        let first = document.value.as_object().and_then(|map| map.keys().next());
        let first = first.and_then(|first| document.spot(&[key(first)]));
        let before = first.map_or("\n  ", |spot| {
            let open = text[..spot.key].trim_end().len();
            &text[open..spot.key]
        });
        Style {
            indent: before.rsplit_once('\n').map(|(_, indent)| indent),
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        }
    }

    /// A member or an item after this white space. Maps and lists that it makes begin with white
    /// space.
    fn spell(&self, name: Option<&str>, value: &Value, gap: &str) -> String {
        let spelled = match (self.indent, gap.rsplit_once('\n')) {
            (Some(unit), Some((_, indent))) => pretty(value, unit, indent),
            _ => compact(value),
        };
        let spelled = spelled.replace('\n', self.newline);
        match (name, self.indent) {
            (Some(name), Some(_)) => format!("\"{name}\": {spelled}"),
            (Some(name), None) => format!("\"{name}\":{spelled}"),
            (None, _) => spelled,
        }
    }
}

fn pretty(value: &Value, unit: &str, indent: &str) -> String {
    let mut out = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut to = serde_json::Serializer::with_formatter(&mut out, format);
    let spelled = value.serialize(&mut to).map(|()| out);
    let text = spelled.ok().and_then(|out| String::from_utf8(out).ok());
    text.unwrap_or_default()
        .replace('\n', &format!("\n{indent}"))
}

fn compact(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(compact).collect();
            format!("[ {}]", items.join(","))
        }
        Value::Object(map) => {
            let member =
                |(name, value): (&String, &Value)| format!("\"{name}\":{}", compact(value));
            let members: Vec<String> = map.iter().map(member).collect();
            format!("{{ {}}}", members.join(","))
        }
        plain => plain.to_string(),
    }
}

/// Without what stands at `at`, and without the map or list around it where we made that.
fn removed(document: &Document, at: &[Step]) -> Option<String> {
    let text = &document.text;
    let (step, around) = at.split_last()?;
    let here = document.spot(at)?;
    let sibling = |step: Step| document.spot(&[around, &[step]].concat());
    let (before, after) = neighbours(get(&document.value, around)?, step)?;
    if let Some(before) = before {
        return Some(splice(text, sibling(before)?.end?, here.end?, ""));
    }
    if let Some(after) = after {
        return Some(splice(text, here.key, sibling(after)?.key, ""));
    }
    let container = document.spot(around)?;
    let (open, close) = (container.value + 1, container.end? - 1);
    match (here.key == open, around.is_empty()) {
        (true, _) => Some(splice(text, open, here.end?, "")),
        (false, true) => Some(splice(text, open, close, "")),
        (false, false) => removed(document, around),
    }
}

fn neighbours(container: &Value, step: &Step) -> Option<(Option<Step>, Option<Step>)> {
    match (container, step) {
        (Value::Array(list), Step::Index(nth)) => {
            let after = (nth + 1 < list.len()).then_some(Step::Index(nth + 1));
            Some((nth.checked_sub(1).map(Step::Index), after))
        }
        (Value::Object(map), Step::Key(name)) => {
            let keys: Vec<&String> = map.keys().collect();
            let nth = keys.iter().position(|key| *key == name)?;
            let at = |nth: usize| keys.get(nth).map(|name| key(name));
            Some((nth.checked_sub(1).and_then(at), at(nth + 1)))
        }
        _ => None,
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
