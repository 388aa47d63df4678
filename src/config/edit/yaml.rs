//! Changes to a YAML text that keep every other byte, comments among them. No parser of YAML says where
//! a value ends, so each way of changing is a guess by lines; the caller reads the result back and takes
//! the first that means what was wanted.

use super::json::{indent_of, insert_first, line_start, newline, pretty, splice};
use crate::config::document::Document;
use crate::config::position::{PathStep, steps};
use serde_json::Value;

/// A way of setting the value at a place; `None`: it doesn't apply.
pub type Way = fn(&Document, &[PathStep], &Value) -> Option<String>;

/// The ways, the one that looks best first.
pub const WAYS: [Way; 6] = [
    word_replaced,
    item_added,
    item_removed,
    appended,
    insert_first,
    inserted,
];

/// Over a word that is there.
fn word_replaced(document: &Document, at: &[PathStep], value: &Value) -> Option<String> {
    let text = &document.text;
    let spot = document.spot(at)?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '~';
    let length = text[spot.value..].find(|c| !is_word(c))?;
    let new = pretty(value, "  ", indent_of(text, spot.key));
    Some(splice(text, spot.value, spot.value + length, &new))
}

/// A new first item of a list that is there.
fn item_added(document: &Document, at: &[PathStep], value: &Value) -> Option<String> {
    let text = &document.text;
    let new = value.as_array()?.first()?;
    let list = document.spot(at)?.value;
    if text[list..].starts_with('[') {
        let empty = document.get(at)?.as_array()?.is_empty();
        let comma = if empty { "" } else { ", " };
        return Some(splice(text, list + 1, list + 1, &format!("{new}{comma}")));
    }
    let first = document.spot(&[at, &[PathStep::Index(0)]].concat())?.value;
    let start = line_start(text, first);
    let dash = &text[start..first];
    let is_item = dash.trim() == "-";
    is_item.then(|| splice(text, start, start, &format!("{dash}{new}{}", newline(text))))
}

/// The line of a list's item taken out.
fn item_removed(document: &Document, at: &[PathStep], value: &Value) -> Option<String> {
    let text = &document.text;
    let (old, new) = (document.get(at)?.as_array()?, value.as_array()?);
    let gone = old.iter().position(|item| !new.contains(item))?;
    let item = document
        .spot(&[at, &[PathStep::Index(gone)]].concat())?
        .value;
    let start = line_start(text, item);
    let is_item = text[start..item].trim() == "-";
    let end = text[item..].find('\n').map_or(text.len(), |n| item + n + 1);
    is_item.then(|| splice(text, start, end, ""))
}

/// At the end of a text whose top level is a block.
fn appended(document: &Document, at: &[PathStep], value: &Value) -> Option<String> {
    let text = &document.text;
    if document.get(&at[..1]).is_some() {
        return None;
    }
    let indent = indent_of_block(document, &[])?;
    let line_end = newline(text);
    let gap = if text.ends_with('\n') { "" } else { line_end };
    let new = entry(at, value, indent, line_end)?;
    Some(format!("{text}{gap}{new}"))
}

/// Into a block that is there, before its first key.
fn inserted(document: &Document, at: &[PathStep], value: &Value) -> Option<String> {
    let text = &document.text;
    let is_map = |depth: &usize| document.get(&at[..*depth]).is_some_and(Value::is_object);
    let depth = (0..at.len()).rev().find(is_map)?;
    let indent = indent_of_block(document, &at[..depth])?;
    let start = line_start(text, first_key(document, &at[..depth])?);
    let new = entry(&at[depth..], value, indent, newline(text))?;
    Some(splice(text, start, start, &new))
}

/// The lines of a key of a block: its own and those that are indented deeper.
pub fn cut(document: &Document, at: &[PathStep]) -> Option<String> {
    let text = &document.text;
    let key = document.spot(at)?.key;
    let start = line_start(text, key);
    let indent = key - start;
    let deeper = |line: &&str| {
        let blank = line.trim().is_empty();
        blank || line.len() - line.trim_start().len() > indent
    };
    let mut lines = text[start..].split_inclusive('\n');
    let own = lines.next()?.len();
    let rest: usize = lines.take_while(deeper).map(str::len).sum();
    Some(splice(text, start, start + own + rest, ""))
}

fn first_key(document: &Document, map: &[PathStep]) -> Option<usize> {
    let first = steps(document.get(map)?).next()?;
    Some(document.spot(&[map, &[first]].concat())?.key)
}

/// What stands before the keys of a map; `None`: it isn't a block.
fn indent_of_block<'d>(document: &'d Document, map: &[PathStep]) -> Option<&'d str> {
    let key = first_key(document, map)?;
    let indent = &document.text[line_start(&document.text, key)..key];
    indent.trim().is_empty().then_some(indent)
}

/// A value at the end of keys, one below the other.
fn entry(at: &[PathStep], value: &Value, indent: &str, line_end: &str) -> Option<String> {
    match at {
        [PathStep::Key(key)] => Some(member(key, value, indent, line_end)),
        [PathStep::Key(key), inner @ ..] => {
            let inner = entry(inner, value, &format!("{indent}  "), line_end)?;
            Some(format!("{indent}{key}:{line_end}{inner}"))
        }
        _ => None,
    }
}

/// A key with its value: maps as blocks, all else on its line.
pub fn member(key: &str, value: &Value, indent: &str, line_end: &str) -> String {
    let Value::Object(map) = value else {
        return format!("{indent}{key}: {value}{line_end}");
    };
    let deeper = format!("{indent}  ");
    let inner = map
        .iter()
        .map(|(key, value)| member(key, value, &deeper, line_end));
    format!("{indent}{key}:{line_end}{}", inner.collect::<String>())
}
