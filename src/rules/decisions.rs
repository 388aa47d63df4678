//! Decisions in people's own words, as a table of patterns (`decisions.yaml`). Knows phrases; refuses
//! to know who said them.

use super::table;
use aho_corasick::AhoCorasick;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a sentence decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated<'t> {
    /// The whole sentence.
    pub sentence: &'t str,
    /// What was chosen; absent where something was only excluded.
    pub chosen: Option<&'t str>,
    /// What it was chosen instead of.
    pub instead_of: Option<&'t str>,
}

/// What stands behind so much is pasted text.
const WORDS_BYTES_MAX: usize = 8 * 1024;

/// Longer sentences are pasted text.
const SENTENCE_BYTES_MAX: usize = 300;

/// Decisions that stand in the beginning of a person's words, in order. About a microsecond a
/// sentence.
pub fn decisions(words: &str) -> Vec<Stated<'_>> {
    let words = &words[..words.floor_char_boundary(WORDS_BYTES_MAX)];
    sentences(words).filter_map(stated).collect()
}

fn stated(sentence: &str) -> Option<Stated<'_>> {
    TABLE.hints.find(sentence)?;
    if TABLE.unless.iter().any(|regex| regex.is_match(sentence)) {
        return None;
    }
    let found = TABLE
        .regexes
        .iter()
        .find_map(|regex| regex.captures(sentence))?;
    let part = |name: &str| {
        let part = found.name(name)?.as_str().trim();
        (!part.is_empty()).then_some(part)
    };
    Some(Stated {
        sentence,
        chosen: part("what"),
        instead_of: part("not"),
    })
}

/// Sentences and lines without the questions, and without what is code.
fn sentences(words: &str) -> impl Iterator<Item = &str> {
    let mut inside_code = false;
    let prose = words.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside_code ^= fence;
        !inside_code && !fence
    });
    let pieces = prose.flat_map(|line| line.split_inclusive(['.', '!', '?']));
    let kept = pieces.filter(|piece| !piece.ends_with('?') && piece.len() <= SENTENCE_BYTES_MAX);
    kept.map(str::trim).filter(|piece| !piece.is_empty())
}

struct Table {
    hints: AhoCorasick,
    unless: Vec<Regex>,
    regexes: Vec<Regex>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    hints: Vec<String>,
    unless: Vec<String>,
    patterns: Vec<String>,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<String>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written: Written = table::rows(table::embedded!("decisions"));
    let built = |patterns: &[String]| -> Vec<Regex> {
        let built = patterns.iter().map(|pattern| {
            // Unicode word boundaries would keep the fast engines out.
            let pattern = pattern.replace(r"\b", r"(?-u:\b)");
            let pattern = pattern
                .replace(r"\w", "[0-9A-Za-z_]")
                .replace(r"\s", "[ \t]");
            let regex = RegexBuilder::new(&pattern).case_insensitive(true).build();
            regex.unwrap_or_else(|error| panic!("decisions.yaml: {error}"))
        });
        built.collect()
    };
    let hints = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(&written.hints);
    Table {
        hints: hints.expect("words"),
        unless: built(&written.unless),
        regexes: built(&written.patterns),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written: Written = table::rows(table::embedded!("decisions"));
        for (sentence, wants) in written.samples {
            let found = decisions(&sentence);
            let told = found.first().map(|stated| {
                let [chosen, not] = [stated.chosen, stated.instead_of];
                vec![
                    chosen.unwrap_or("").to_owned(),
                    not.unwrap_or("").to_owned(),
                ]
            });
            assert_eq!(told.unwrap_or_default(), wants, "{sentence}");
        }
    }

    #[test]
    fn code_decides_nothing() {
        let words = "Look:\n```\nuse a instead of b\n```\nand fix it";
        assert_eq!(decisions(words), []);
    }
}
