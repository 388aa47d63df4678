//! Sentences that say why something is taken back, as a table of cues (`rollbacks.yaml`).

use super::table;
use aho_corasick::AhoCorasick;
use regex::Regex;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A sentence with how much it says; never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighed<'t> {
    /// Without the blanks around it.
    pub sentence: &'t str,
    /// More: rather a reason.
    pub weight: u32,
}

/// What stands behind so much is pasted text.
const WORDS_BYTES_MAX: usize = 8 * 1024;
/// Longer sentences are pasted text.
const SENTENCE_BYTES_MAX: usize = 400;

/// The sentences of somebody's words that may say why, in order. About a microsecond a sentence.
pub fn reasons(words: &str) -> Vec<Weighed<'_>> {
    let words = &words[..words.floor_char_boundary(WORDS_BYTES_MAX)];
    let weighed = sentences(words).map(|sentence| Weighed {
        sentence,
        weight: weight(sentence),
    });
    weighed.filter(|weighed| weighed.weight > 0).collect()
}

fn weight(sentence: &str) -> u32 {
    let hinted: BTreeSet<usize> = TABLE
        .hints
        .find_overlapping_iter(sentence)
        .map(|hint| TABLE.hint_of[hint.pattern()])
        .collect();
    let cues = hinted.iter().map(|cue| &TABLE.cues[*cue]);
    let sum: u32 = cues
        .filter(|(_, regex)| regex.is_match(sentence))
        .map(|(weight, _)| weight)
        .sum();
    match sentence.ends_with('?') {
        true => sum / 2,
        false => sum,
    }
}

/// Sentences and lines, without what is code. A point inside a word ends nothing.
fn sentences(words: &str) -> impl Iterator<Item = &str> {
    let mut inside_code = false;
    let prose = words.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside_code ^= fence;
        !inside_code && !fence
    });
    prose
        .flat_map(split)
        .map(str::trim)
        .filter(|piece| !piece.is_empty() && piece.len() <= SENTENCE_BYTES_MAX)
}

fn split(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let ends = |(at, c): (usize, char)| {
            let after = rest[at + c.len_utf8()..].chars().next();
            let is_end = matches!(c, '.' | '!' | '?' | '。' | '！' | '？');
            let ends_here = after.is_none_or(char::is_whitespace) || !c.is_ascii();
            (is_end && ends_here).then_some(at + c.len_utf8())
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

struct Table {
    hints: AhoCorasick,
    /// For each of `hints`, which of `cues` it is a hint of.
    hint_of: Vec<usize>,
    cues: Vec<(u32, Regex)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    cues: Vec<Cue>,
    #[cfg(test)]
    samples: BTreeMap<String, u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cue {
    weight: u32,
    hints: Vec<String>,
    pattern: String,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written: Written = table::rows(table::embedded!("rollbacks"));
    let hints = written.cues.iter().enumerate();
    let hints = hints.flat_map(|(of, row)| row.hints.iter().map(move |hint| (of, hint)));
    let (hint_of, hints): (Vec<usize>, Vec<&String>) = hints.unzip();
    let hints = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(hints);
    let cue = |cue: &Cue| (cue.weight, table::regex(&format!("(?i){}", cue.pattern)));
    Table {
        hints: hints.expect("words"),
        hint_of,
        cues: written.cues.iter().map(cue).collect(),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_weigh_what_the_table_says() {
        let written: Written = table::rows(table::embedded!("rollbacks"));
        for (sentence, wants) in written.samples {
            assert_eq!(weight(&sentence), wants, "{sentence}");
        }
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        let told: Vec<&str> =
            sentences("Use v1.2 of it. It broke!\n```\nbroken\n```\nBad idea").collect();
        assert_eq!(told, ["Use v1.2 of it.", "It broke!", "Bad idea"]);
    }
}
