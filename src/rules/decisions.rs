//! Decisions in people's own words, as a table of patterns (`decisions.yaml`).

use super::table::{self, TextPattern};
use super::words;
use aho_corasick::AhoCorasick;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
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
    sentences(words).filter_map(stated).collect()
}

fn stated(sentence: &str) -> Option<Stated<'_>> {
    let hinted: BTreeSet<usize> = TABLE
        .hints
        .find_overlapping_iter(sentence)
        .map(|hint| TABLE.hint_of[hint.pattern()])
        .collect();
    let mut patterns = hinted.iter().map(|pattern| &TABLE.patterns[*pattern]);
    let found = patterns.find_map(|pattern| pattern.regex().captures(sentence))?;
    let mut unless = TABLE.unless.iter();
    if unless.any(|pattern| pattern.regex().is_match(sentence)) {
        return None;
    }
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

/// Sentences and lines in the beginning of a person's words, without the questions, and without what is
/// code.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let text = &text[..text.floor_char_boundary(WORDS_BYTES_MAX)];
    let mut inside_code = false;
    let prose = text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside_code ^= fence;
        !inside_code && !fence
    });
    let pieces = prose.flat_map(words::sentences);
    pieces.filter(|piece| !piece.ends_with('?') && piece.len() <= SENTENCE_BYTES_MAX)
}

struct Table {
    hints: AhoCorasick,
    /// For each of `hints`, which of `patterns` it is a hint of.
    hint_of: Vec<usize>,
    unless: Vec<TextPattern>,
    patterns: Vec<TextPattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    unless: Vec<String>,
    patterns: Vec<Row>,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    hints: Vec<String>,
    pattern: String,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written: Written = table::rows(table::embedded!("decisions"));
    let hints = written.patterns.iter().enumerate();
    let hints = hints.flat_map(|(of, row)| row.hints.iter().map(move |hint| (of, hint)));
    let (hint_of, hints): (Vec<usize>, Vec<&String>) = hints.unzip();
    let hints = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(hints);
    Table {
        hints: hints.expect("words"),
        hint_of,
        unless: written.unless.iter().map(any_case).collect(),
        patterns: written
            .patterns
            .iter()
            .map(|row| any_case(&row.pattern))
            .collect(),
    }
});

fn any_case(pattern: &String) -> TextPattern {
    format!("(?i){pattern}").into()
}

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
