//! Words of people that say what they want done, as a table (`keywords.yaml`).

use super::table;
use crate::model::activity::Dimension;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Longer texts are pasted: what follows says little of what its sender wants.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// The embedded keywords.
pub fn embedded() -> &'static Keywords {
    static TABLE: LazyLock<Keywords> = LazyLock::new(|| Keywords::of(written().words));
    &TABLE
}

/// Keywords, and what they speak for.
#[derive(Debug, Default)]
pub struct Keywords {
    /// By first word, the longest first.
    by_first: FxHashMap<String, Vec<Row>>,
    starts: Starts,
    dimensions: FxHashMap<String, Dimension>,
}

/// How first words begin: most words of a text begin otherwise and need no look-up.
#[derive(Debug)]
struct Starts([u32; 256]);

impl Default for Starts {
    fn default() -> Starts {
        Starts([0; 256])
    }
}

impl Starts {
    /// By the first byte, a bit for what the second one may be.
    fn place(word: &str) -> (usize, u32) {
        let mut bytes = word.bytes();
        let (first, second) = (bytes.next().unwrap_or(0), bytes.next().unwrap_or(0));
        (usize::from(first), 1 << (second % 32))
    }

    fn add(&mut self, word: &str) {
        let (at, bit) = Starts::place(word);
        // what follows a single letter is its inflection
        self.0[at] |= if word.len() > 1 { bit } else { u32::MAX };
    }

    /// False: no first word, and no inflection of one, begins so.
    fn may_be(&self, word: &str) -> bool {
        let (at, bit) = Starts::place(word);
        self.0[at] & bit != 0
    }
}

#[derive(Debug)]
struct Row {
    keyword: String,
    rest: Vec<String>,
}

/// Keywords as a table has them.
pub type KeywordLists = BTreeMap<Dimension, Vec<String>>;

impl Keywords {
    /// The keywords that stand in a text, code fences and quoted lines left out. About 20 ns a word.
    pub fn found(&self, text: &str) -> BTreeSet<&str> {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        let mut found = BTreeSet::new();
        let mut fenced = false;
        for line in text.lines() {
            let line = line.trim_start();
            if line.starts_with("```") || line.starts_with("~~~") {
                fenced = !fenced;
            } else if !fenced && !line.starts_with('>') {
                self.in_line(line, &mut found);
            }
        }
        found
    }

    /// The dimension that a keyword speaks for.
    pub fn dimension(&self, keyword: &str) -> Option<Dimension> {
        self.dimensions.get(keyword).copied()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.dimensions.is_empty()
    }

    /// From lists of words.
    pub fn of(words: KeywordLists) -> Keywords {
        let mut table = Keywords::default();
        for (dimension, keywords) in words {
            for keyword in keywords {
                table.add(keyword.to_lowercase(), dimension);
            }
        }
        for rows in table.by_first.values_mut() {
            rows.sort_by_key(|row| std::cmp::Reverse(row.rest.len()));
        }
        table
    }

    fn add(&mut self, keyword: String, dimension: Dimension) {
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
            self.starts.add(&start);
            self.by_first.entry(start).or_default().push(row);
        }
        self.dimensions.insert(keyword, dimension);
    }

    fn in_line<'t>(&'t self, line: &str, found: &mut BTreeSet<&'t str>) {
        let lower = match line.is_ascii() {
            true => line.to_ascii_lowercase(),
            false => line.to_lowercase(),
        };
        let mut words = Split(&lower);
        while let Some(word) = words.next() {
            if let Some((keyword, rest)) = self.longest(word, &words) {
                found.insert(keyword);
                words = rest;
            }
        }
    }

    /// The longest keyword that begins with this word, and the words behind it.
    fn longest<'w>(&self, word: &str, behind: &Split<'w>) -> Option<(&str, Split<'w>)> {
        if !self.starts.may_be(word) {
            return None;
        }
        let rows = stems(word).find_map(|stem| self.by_first.get(stem))?;
        rows.iter().find_map(|row| {
            let mut rest = behind.clone();
            let fits = row.rest.iter().all(|wanted| rest.next() == Some(wanted));
            fits.then_some((&*row.keyword, rest))
        })
    }
}

/// The words of a line, without the full stop at their end.
#[derive(Clone)]
struct Split<'l>(&'l str);

impl<'l> Iterator for Split<'l> {
    type Item = &'l str;

    fn next(&mut self) -> Option<&'l str> {
        loop {
            let start = self.0.find(is_part)?;
            let rest = &self.0[start..];
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            self.0 = &rest[end..];
            let word = rest[..end].trim_end_matches('.');
            if !word.is_empty() {
                return Some(word);
            }
        }
    }
}

/// [`is_part`] of ASCII.
const PARTS: [bool; 128] = {
    let mut parts = [false; 128];
    let mut at = 0u8;
    while at < 128 {
        parts[at as usize] = at.is_ascii_alphanumeric() || matches!(at, b'.' | b'\'' | b'_');
        at += 1;
    }
    parts
};

/// What words are made of.
fn is_part(c: char) -> bool {
    match c.is_ascii() {
        true => PARTS[c as usize],
        false => c.is_alphanumeric(),
    }
}

/// The word itself, then without its endings, with an `e` that one may have taken.
fn stems(word: &str) -> impl Iterator<Item = &str> {
    let endings = ["", "s", "es", "d", "ed", "ing"];
    endings
        .into_iter()
        .filter_map(move |ending| word.strip_suffix(ending))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    words: KeywordLists,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<String>>,
}

fn written() -> Written {
    table::rows(table::embedded!("keywords"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (text, wants) in written().samples {
            let found: Vec<&str> = embedded().found(&text).into_iter().collect();
            assert_eq!(found, wants, "{text}");
        }
    }

    #[test]
    fn code_and_quotes_are_not_wishes() {
        let text = "```\nfix the bug\n```\n> error\nok";
        assert!(embedded().found(text).is_empty());
    }
}
