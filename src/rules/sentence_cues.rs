//! What a sentence says, by cues of a table: hints that are looked for first, patterns of which one must fit, and
//! what speaks against it. Knows no word.

use super::cue_pattern::{CuePattern, CueText};
use super::literals::LiteralFinder;
use super::words::sentences;
use serde::Deserialize;

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
    hints: LiteralFinder,
    patterns: Option<CuePattern>,
    unless: Option<CuePattern>,
    bad: Option<CuePattern>,
}

impl From<WrittenCues> for SentenceCues {
    fn from(written: WrittenCues) -> SentenceCues {
        SentenceCues {
            hints: LiteralFinder::of_any_case(written.hints),
            patterns: CuePattern::any(&written.patterns),
            unless: CuePattern::any(&written.unless),
            bad: written.bad.map(CuePattern::from),
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
        let lines = prose(words).filter(|line| self.hints.is_match(line));
        let all = lines.flat_map(sentences);
        all.filter(|sentence| sentence.len() <= BYTES_MAX && self.says(sentence))
    }

    /// Whether this one sentence says it.
    pub fn says(&self, sentence: &str) -> bool {
        if !self.hints.is_match(sentence) {
            return false;
        }
        let sentence = sentence.trim();
        let sentence = match sentence.contains("**") {
            true => CueText::of(&sentence.replace("**", "")),
            false => CueText::of(sentence),
        };
        let fits = |pattern: &Option<CuePattern>, text: &CueText| {
            let mut pattern = pattern.iter();
            pattern.any(|pattern| pattern.is_match(text))
        };
        if !fits(&self.patterns, &sentence) {
            return false;
        }
        let plain = CueText::of(&without_code(&sentence.text));
        !fits(&self.unless, &plain) && !self.bad.as_ref().is_some_and(|bad| is_bad(bad, &plain))
    }
}

/// A word of trouble without what denies it.
fn is_bad(bad: &CuePattern, sentence: &CueText) -> bool {
    let mut from = 0;
    while let Some(found) = bad.captures(sentence, from) {
        if found.name("none").is_none() {
            return true;
        }
        from = found.end();
    }
    false
}

fn without_code(sentence: &str) -> String {
    let parts = sentence.split('`').collect::<Vec<_>>();
    // the last mark of an odd number opens nothing
    let pairs = (parts.len() - 1) / 2 * 2;
    let outside = parts.iter().enumerate();
    let outside = outside.filter(|(nth, _)| nth % 2 == 0 || *nth > pairs);
    outside.map(|(_, part)| *part).collect()
}

/// Longer ones are no sentences.
const BYTES_MAX: usize = 600;

/// The lines of a text that aren't code.
fn prose(words: &str) -> impl Iterator<Item = &str> {
    let mut inside_code = false;
    words.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside_code ^= fence;
        !inside_code && !fence
    })
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
