//! What a sentence says, by cues of a table: hints that are looked for first, patterns of which one must fit, and
//! what speaks against it. Knows no word.

use super::table::{self, TextPattern};
use super::words::sentences;
use aho_corasick::AhoCorasick;
use regex::Regex;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Cues as a table writes them.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenCues {
    hints: Vec<String>,
    patterns: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    bad: Option<String>,
    /// Sentences that say it, and that don't.
    #[cfg(test)]
    pub samples: tests::Samples,
}

/// Cues, ready to be looked for, without regard to case.
pub struct SentenceCues {
    hints: AhoCorasick,
    patterns: Vec<TextPattern>,
    unless: Vec<TextPattern>,
    bad: Option<TextPattern>,
}

impl From<WrittenCues> for SentenceCues {
    fn from(written: WrittenCues) -> SentenceCues {
        let any_case = |pattern: String| TextPattern::from(format!("(?i){pattern}"));
        let all = |patterns: Vec<String>| patterns.into_iter().map(any_case).collect();
        let hints = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&written.hints);
        SentenceCues {
            hints: hints.expect("words"),
            patterns: all(written.patterns),
            unless: all(written.unless),
            bad: written.bad.map(any_case),
        }
    }
}

impl SentenceCues {
    /// The sentences of a text that say it, outside of code. Below a microsecond where nothing hints at it.
    pub fn found<'w>(&self, words: &'w str) -> impl Iterator<Item = &'w str> {
        let words = if self.hints.is_match(words) {
            words
        } else {
            ""
        };
        prose(words).filter(|sentence| self.says(sentence))
    }

    /// Whether this one sentence says it.
    pub fn says(&self, sentence: &str) -> bool {
        if !self.hints.is_match(sentence) {
            return false;
        }
        let sentence = sentence.trim().replace('’', "'").replace("**", "");
        let fits = |patterns: &[TextPattern], text: &str| {
            patterns
                .iter()
                .any(|pattern| pattern.regex().is_match(text))
        };
        if !fits(&self.patterns, &sentence) {
            return false;
        }
        static CODE: LazyLock<Regex> = LazyLock::new(|| table::regex("`[^`]*`"));
        let plain: Cow<'_, str> = CODE.replace_all(&sentence, "");
        let is_bad = self.bad.as_ref().is_some_and(|bad| {
            let mut found = bad.regex().captures_iter(&plain);
            found.any(|found| found.name("none").is_none())
        });
        !is_bad && !fits(&self.unless, &plain)
    }
}

/// Longer ones are no sentences.
const BYTES_MAX: usize = 600;

fn prose(words: &str) -> impl Iterator<Item = &str> {
    let mut inside_code = false;
    let lines = words.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside_code ^= fence;
        !inside_code && !fence
    });
    let all = lines.flat_map(sentences);
    all.filter(|sentence| sentence.len() <= BYTES_MAX)
}

/// What tables of cues are tested by.
#[cfg(test)]
pub mod tests {
    use super::*;

    /// Of one kind of cues.
    #[derive(Clone, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Samples {
        yes: Vec<String>,
        no: Vec<String>,
    }

    impl Samples {
        /// Fails at the first that is judged otherwise.
        pub fn hold(&self, says: impl Fn(&str) -> bool) {
            for (samples, wants) in [(&self.yes, true), (&self.no, false)] {
                for words in samples {
                    assert_eq!(says(words), wants, "{words}");
                }
            }
        }
    }
}
