//! A table of a TOML text, as bytes: put at the end, and taken out. An editor of TOML would write every
//! line anew with its own line ends and a last newline; here nothing but the table changes.

use super::json::{line_start, newline, splice};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// With a table at the end, after an empty line where the last line is whole.
pub fn append(text: &str, table: &str) -> String {
    let line_end = newline(text);
    format!("{text}{line_end}{}", table.replace('\n', line_end))
}

/// The lines of the table `[around.name]`, with those of the tables below it; `None`: it has no such
/// header.
pub fn table(text: &str, around: &str, name: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let DeValue::Table(tables) = document.get_ref().get(around)?.get_ref() else {
        return None;
    };
    let table = tables.get(name)?;
    let end = last(table);
    let end = text[end..].find('\n').map_or(text.len(), |n| end + n + 1);
    let start = table.span().start;
    let has_header = text[start..].starts_with('[');
    has_header.then_some(line_start(text, start)..end)
}

/// Where what a value says ends.
fn last(value: &Spanned<DeValue>) -> usize {
    let end = value.span().end;
    match value.get_ref() {
        DeValue::Table(table) => table.values().map(last).fold(end, usize::max),
        _ => end,
    }
}

/// Without these lines, and without the line end that [`append`] put before them.
pub fn cut(text: &str, lines: Range<usize>) -> String {
    let before = &text[..lines.start];
    let before = before.strip_suffix('\n').unwrap_or(before);
    let before = before.strip_suffix('\r').unwrap_or(before);
    splice(text, before.len(), lines.end, "")
}
