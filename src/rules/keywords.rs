//! Words of people that say what they want done, as a table (`keywords.yaml`).
//!
//! Knows words and their inflections; refuses to know whose words they are and what they weigh.

use super::table;
use crate::model::activity::Dimension;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Longer texts are pasted: what follows says little of what its sender wants.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// The keywords that stand in a text, code fences and quoted lines left out. About 20 ns a word.
pub fn found(text: &str) -> BTreeSet<&'static str> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    let mut found = BTreeSet::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with('>') {
            in_line(line, &mut found);
        }
    }
    found
}

/// The dimension that a keyword speaks for.
pub fn dimension(keyword: &str) -> Option<Dimension> {
    TABLE.dimensions.get(keyword).copied()
}

fn in_line(line: &str, found: &mut BTreeSet<&'static str>) {
    let lower = line.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '.' || c == '\'' || c == '_';
    let words = lower
        .split(|c| !is_part(c))
        .map(|word| word.trim_end_matches('.'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut at = 0;
    while at < words.len() {
        at += match longest(&words[at..]) {
            Some((keyword, length)) => {
                found.insert(keyword);
                length
            }
            None => 1,
        };
    }
}

/// The longest keyword at the start of these words, and how many words it has.
fn longest(words: &[&str]) -> Option<(&'static str, usize)> {
    let rows = stems(words[0]).find_map(|stem| TABLE.by_first.get(stem))?;
    let fits = |row: &&Row| {
        row.rest.len() < words.len() && row.rest.iter().zip(&words[1..]).all(|(a, b)| a == b)
    };
    let row = rows.iter().find(fits)?;
    Some((&row.keyword, row.rest.len() + 1))
}

/// The word itself, then without its endings, with an `e` that one may have taken.
fn stems(word: &str) -> impl Iterator<Item = &str> {
    let endings = ["", "s", "es", "d", "ed", "ing"];
    endings
        .into_iter()
        .filter_map(move |ending| word.strip_suffix(ending))
}

struct Row {
    keyword: String,
    rest: Vec<String>,
}

struct Table {
    /// By first word, the longest first.
    by_first: FxHashMap<String, Vec<Row>>,
    dimensions: FxHashMap<String, Dimension>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Written(BTreeMap<Dimension, Vec<String>>);

static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::of(table::rows(table::embedded!("keywords"))));

impl Table {
    fn of(written: Written) -> Table {
        let mut table = Table {
            by_first: FxHashMap::default(),
            dimensions: FxHashMap::default(),
        };
        let rows = written.0.into_iter();
        for (dimension, keyword) in
            rows.flat_map(|(d, words)| words.into_iter().map(move |word| (d, word)))
        {
            let mut words = keyword.split(' ').map(str::to_owned);
            let first = words.next().unwrap_or_default();
            let rest: Vec<String> = words.collect();
            // `create` is in `creating`: what is left of the inflection is a first word too.
            let bare = first
                .strip_suffix('e')
                .filter(|stem| stem.len() > 3)
                .map(str::to_owned);
            for start in [Some(first), bare].into_iter().flatten() {
                let row = Row {
                    keyword: keyword.clone(),
                    rest: rest.clone(),
                };
                let rows = table.by_first.entry(start).or_default();
                rows.push(row);
                rows.sort_by_key(|row| std::cmp::Reverse(row.rest.len()));
            }
            table.dimensions.insert(keyword, dimension);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wants: &[&str]) {
        assert_eq!(found(text).into_iter().collect::<Vec<_>>(), wants, "{text}");
    }

    #[test]
    fn whole_words_with_inflections() {
        check(
            "Fixes the prefix, creating latest TESTS",
            &["create", "fix", "test"],
        );
        check("How does it fail? it failed", &["fail", "how does"]);
        check(
            "a new feature; clean up .env.",
            &[".env", "clean up", "new feature"],
        );
    }

    #[test]
    fn code_and_quotes_are_not_wishes() {
        check("```\nfix the bug\n```\n> error\nok", &[]);
    }
}
