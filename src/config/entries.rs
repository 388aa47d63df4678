//! Entries of ours in other programs' settings: put in, and taken out so that nothing else changes by a
//! byte. Knows how JSON is laid out; refuses to know what an entry means.
//!
//! What we put around our entries (a list, a map) begins with white space after its bracket; what was
//! there and empty doesn't. So removing knows which of them are to go.

use super::document::Document;
use super::edit::{get, splice};
use super::position::Step;
use crate::model::error::Error;
use serde::Serialize;
use serde_json::Value;

/// A text without entries of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// `None`: there was nothing but what we wrote, and no file before.
    pub text: Option<String>,
    /// Names of entries that somebody changed by hand: they stay, but where they are to go too.
    pub left: Vec<String>,
}

pub(super) fn untouched(error: Error) -> Error {
    error.hinted("mend the file, then try again: it was not touched")
}

pub(super) fn key(name: &str) -> Step {
    Step::Key(name.into())
}

/// With one more member or item at the end of the map or list at `at`, spelled as its neighbours are.
pub(super) fn append(
    document: &Document,
    at: &[Step],
    name: Option<&str>,
    new: &Value,
) -> Option<String> {
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

pub(super) fn pretty(value: &Value, unit: &str, indent: &str) -> String {
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
pub(super) fn removed(document: &Document, at: &[Step]) -> Option<String> {
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
