//! Changes to a JSON text that keep every other byte. The parser's ranges say where things stand; what
//! is new is laid out as its neighbours are. Each result is read back: it must mean what was wanted,
//! and nothing else.
//!
//! A map or list that is made on the way to a new value begins with white space after its bracket; one
//! that was there and empty gets the value right after its bracket. So [`remove`] knows which of them
//! are to go.

use crate::config::document::{Document, Format};
use crate::config::position::{PathStep, Spot, put, steps, take};
use serde::Serialize;
use serde_json::Value;

/// With a value at a place that has none: the last member of a map or the last item of a list. Maps
/// and lists that are missing around it are made. `None`: not without touching the rest.
pub fn insert(document: &Document, at: &[PathStep], value: &Value) -> Option<Document> {
    let (depth, new) = missing(document, at, value)?;
    let text = appended(document, &at[..depth], &at[depth], &new)?;
    let mut wants = document.value.clone();
    put(&mut wants, at, value.clone());
    document.rewritten(&text, &wants)
}

/// As [`insert`], but as a map's first member: where people look. Also into YAML's `{}`.
pub fn insert_first(document: &Document, at: &[PathStep], value: &Value) -> Option<String> {
    let (depth, new) = missing(document, at, value)?;
    let (around, PathStep::Key(name)) = (&at[..depth], &at[depth]) else {
        return None;
    };
    let (text, style) = (&document.text, Style::of(document));
    let map = document.spot(around)?.value;
    if !text[map..].starts_with('{') {
        return None;
    }
    let open = map + 1;
    let Some(first) = steps(document.get(around)?).next() else {
        let new = style.spread(&new, "");
        return Some(splice(text, open, open, &format!("\"{name}\": {new}")));
    };
    let first = document.spot(&[around, &[first]].concat())?.key;
    let gap = Some(&text[open..first]).filter(|gap| gap.trim().is_empty());
    let gap = gap.unwrap_or(" ");
    let new = match gap.rsplit_once('\n') {
        Some((_, indent)) => style.spread(&new, indent),
        None => new.to_string(),
    };
    Some(splice(
        text,
        open,
        open,
        &format!("{gap}\"{name}\": {new},"),
    ))
}

/// With another value at a place that has one.
pub fn replace(document: &Document, at: &[PathStep], value: &Value) -> Option<Document> {
    let spot = document.spot(at)?;
    let new = Style::of(document).spread(value, indent_of(&document.text, spot.key));
    let text = splice(&document.text, spot.value, spot.end?, &new);
    let mut wants = document.value.clone();
    put(&mut wants, at, value.clone());
    document.rewritten(&text, &wants)
}

/// Without the value at a place, and without the maps and lists around it that were made for it.
pub fn remove(document: &Document, at: &[PathStep]) -> Option<Document> {
    let around = &at[..at.len().checked_sub(1)?];
    let is_alone = steps(document.get(around)?).nth(1).is_none();
    let stands_right_after_bracket = document.spot(at)?.key == document.spot(around)?.value + 1;
    if is_alone && !around.is_empty() && !stands_right_after_bracket {
        return remove(document, around);
    }
    let mut wants = document.value.clone();
    take(&mut wants, at)?;
    document.rewritten(&cut(document, at)?, &wants)
}

/// The text without the value at a place, its key, and a comma beside it.
pub fn cut(document: &Document, at: &[PathStep]) -> Option<String> {
    let text = &document.text;
    let (step, around) = at.split_last()?;
    let here = document.spot(at)?;
    let all: Vec<PathStep> = steps(document.get(around)?).collect();
    let nth = all.iter().position(|sibling| sibling == step)?;
    let sibling = |nth: usize| -> Option<Spot> {
        document.spot(&[around, std::slice::from_ref(all.get(nth)?)].concat())
    };
    if let Some(before) = nth.checked_sub(1) {
        return Some(splice(text, sibling(before)?.end?, here.end?, ""));
    }
    if let Some(after) = sibling(1) {
        return Some(splice(text, here.key, after.key, ""));
    }
    let container = document.spot(around)?;
    let (open, close) = (container.value + 1, container.end? - 1);
    let end = if here.key == open { here.end? } else { close };
    Some(splice(text, open, end, ""))
}

/// How much of the way to a place is there, and what has to be put there at the next step.
fn missing(document: &Document, at: &[PathStep], value: &Value) -> Option<(usize, Value)> {
    let is_there = |depth: &usize| document.get(&at[..*depth]).is_some();
    let depth = (0..at.len()).rev().find(is_there)?;
    let mut new = Value::Null;
    put(&mut new, &at[depth + 1..], value.clone());
    Some((depth, new))
}

/// With one more member or item at the end of the map or list `around`, laid out as the last one is.
fn appended(
    document: &Document,
    around: &[PathStep],
    step: &PathStep,
    new: &Value,
) -> Option<String> {
    let text = &document.text;
    let style = Style::of(document);
    let name = match (document.get(around)?, step) {
        (Value::Object(_), PathStep::Key(name)) => Some(name.as_str()),
        (Value::Array(_), PathStep::Index(_)) => None,
        _ => return None,
    };
    let Some(last) = steps(document.get(around)?).last() else {
        let open = document.spot(around)?.value + 1;
        return Some(splice(text, open, open, &style.entry(name, new, "\n")));
    };
    let last = document.spot(&[around, &[last]].concat())?;
    let gap = &text[text[..last.key].trim_end().len()..last.key];
    let new = format!(",{gap}{}", style.entry(name, new, gap));
    Some(splice(text, last.end?, last.end?, &new))
}

/// How a text is laid out.
struct Style<'t> {
    /// Of one level; `None`: everything stands on one line.
    indent: Option<&'t str>,
    newline: &'static str,
}

impl<'t> Style<'t> {
    fn of(document: &'t Document) -> Style<'t> {
        let text = &document.text;
        let first = steps(&document.value).next();
        let first = first.and_then(|first| document.spot(&[first]));
        let before = match first {
            Some(spot) if document.format == Format::Json => {
                &text[text[..spot.key].trim_end().len()..spot.key]
            }
            _ => "\n  ",
        };
        Style {
            indent: before.rsplit_once('\n').map(|(_, indent)| indent),
            newline: newline(text),
        }
    }

    /// A member or an item that stands after this white space.
    fn entry(&self, name: Option<&str>, value: &Value, gap: &str) -> String {
        let value = match (self.indent, gap.rsplit_once('\n')) {
            (Some(_), Some((_, indent))) => self.spread(value, indent),
            _ => compact(value),
        };
        let colon = if self.indent.is_some() { ": " } else { ":" };
        name.map_or(String::new(), |name| format!("\"{name}\"{colon}")) + &value
    }

    /// Over several lines, of which those after the first begin with `indent`.
    fn spread(&self, value: &Value, indent: &str) -> String {
        pretty(value, self.indent.unwrap_or("  "), indent).replace('\n', self.newline)
    }
}

/// Over several lines, each level one `unit` deeper; those after the first begin with `indent`.
pub fn pretty(value: &Value, unit: &str, indent: &str) -> String {
    let mut out = Vec::new();
    let format = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut to = serde_json::Serializer::with_formatter(&mut out, format);
    let spelled = value.serialize(&mut to).map(|()| out);
    let text = spelled.ok().and_then(|out| String::from_utf8(out).ok());
    text.unwrap_or_default()
        .replace('\n', &format!("\n{indent}"))
}

/// On one line, with the white space that says that we made it.
fn compact(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(compact).collect();
            format!("[ {}]", items.join(","))
        }
        Value::Object(map) => {
            let member = |(name, value)| format!("\"{name}\":{}", compact(value));
            let members: Vec<String> = map.iter().map(member).collect();
            format!("{{ {}}}", members.join(","))
        }
        plain => plain.to_string(),
    }
}

/// The text with `new` in place of these bytes.
pub fn splice(text: &str, from: usize, to: usize, new: &str) -> String {
    [&text[..from], new, &text[to..]].concat()
}

/// Where the line begins in which a byte stands.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |n| n + 1)
}

/// How lines end in a text.
pub fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The white space at the beginning of that line.
pub fn indent_of(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
