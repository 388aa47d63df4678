//! What an agent's last words say about how far it is, as a table (`outcome.yaml`).

use super::cue_pattern::{CuePattern, CueText};
use super::literals::LiteralFinder;
use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use super::words::{content_words, sentences};
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What last words say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Nothing speaks against it.
    Done,
    /// It announces what it does next.
    GoesOn,
    /// It waits for something that it started, or for somebody.
    Waits,
    /// Something outside stopped it.
    Blocked,
}

/// Reads the last sentence of an agent's words, and the first one for what stopped it. A few microseconds.
pub fn ending(words: &str) -> Ending {
    let sentence = last_sentence(words).to_lowercase().replace('’', "'");
    let table = &*TABLE;
    match () {
        () if table.blocked.fits(&sentence) => Ending::Blocked,
        () if STOPPED.says(first_sentence(words)) => Ending::Blocked,
        () if table.waits.fits(&sentence) && !rests(words, &sentence) => Ending::Waits,
        () if table.unless.are_held(&sentence) => Ending::Done,
        () if table.goes_on.fits(&sentence) => Ending::GoesOn,
        () => Ending::Done,
    }
}

/// Who says that all is done, and waits for orders, waits for nothing of this.
fn rests(words: &str, last: &str) -> bool {
    let says_all = |said: &str| TABLE.all_done.pattern.is_match(&CueText::of(said.trim()));
    is_unemployed(last) && words.lines().flat_map(sentences).any(says_all)
}

/// Whether a sentence says what comes next, not what is.
pub fn announces(sentence: &str) -> bool {
    let mut sentence = sentence.to_lowercase();
    if sentence.contains('’') {
        sentence = sentence.replace('’', "'");
    }
    let table = &*TABLE;
    let announces = &table.announces;
    let is_said = announces.begins.begin(&sentence)
        || table.goes_on.begins.begin(&sentence)
        || announces.holds.are_held(&sentence);
    is_said && !table.unless.are_held(&sentence)
}

/// An announcement that doesn't say of what: `Let me do the final steps.`
pub fn says_nothing(sentence: &str) -> bool {
    let vague = &TABLE.vague;
    content_words(sentence)
        .iter()
        .all(|word| vague.contains(word))
}

/// A sentence of what is done only if something else happens: nobody is at it.
pub fn is_conditional(sentence: &str) -> bool {
    TABLE.conditional.begin(&sentence.to_lowercase())
}

/// Who announces this looks around before what was asked is begun.
pub fn prepares(sentence: &str) -> bool {
    TABLE.prepares.pattern.is_match(&CueText::of(sentence))
}

/// Who says so waits for a task, or for somebody's orders, and has nothing to do.
pub fn is_unemployed(sentence: &str) -> bool {
    TABLE.unemployed.is_match(&CueText::of(sentence))
}

/// After the last end of a sentence that something follows.
fn last_sentence(words: &str) -> &str {
    let line = words.trim().lines().next_back().unwrap_or("").trim();
    let ends = [". ", "! ", "? ", "… "];
    let start = ends
        .iter()
        .filter_map(|end| line.rfind(end).map(|at| at + end.len()))
        .max();
    line[start.unwrap_or(0)..].trim()
}

/// What stands first is the news.
fn first_sentence(words: &str) -> &str {
    let line = words.trim().lines().next().unwrap_or("");
    sentences(line).next().unwrap_or("").trim()
}

/// Phrases that are looked for at once.
#[derive(Deserialize)]
#[serde(from = "Vec<String>")]
struct Phrases(LiteralFinder);

impl From<Vec<String>> for Phrases {
    fn from(phrases: Vec<String>) -> Phrases {
        Phrases(LiteralFinder::of(phrases))
    }
}

impl Default for Phrases {
    fn default() -> Phrases {
        Vec::new().into()
    }
}

impl Phrases {
    /// One of them stands in a sentence, at a word's start.
    fn are_held(&self, sentence: &str) -> bool {
        self.0.any(sentence, |found| {
            let before = sentence[..found.start].chars().next_back();
            before.is_none_or(|c| !c.is_alphanumeric())
        })
    }

    /// A sentence begins with one of them, and with no longer word.
    fn begin(&self, sentence: &str) -> bool {
        let mut all = self.0.at_start(sentence);
        all.any(|found| !sentence[found.end..].starts_with(char::is_alphanumeric))
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Row {
    holds: Phrases,
    begins: Phrases,
    ends: Vec<String>,
}

impl Row {
    fn fits(&self, sentence: &str) -> bool {
        self.begins.begin(sentence)
            || self.ends.iter().any(|end| sentence.ends_with(end.as_str()))
            || self.holds.are_held(sentence)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    blocked: Row,
    waits: Row,
    goes_on: Row,
    announces: Announcements,
    unless: Phrases,
    conditional: Phrases,
    prepares: Sampled,
    all_done: Sampled,
    unemployed: CuePattern,
    vague: Vec<String>,
    stopped: WrittenCues,
    #[cfg(test)]
    samples: BTreeMap<String, Ending>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Announcements {
    holds: Phrases,
    begins: Phrases,
    #[cfg(test)]
    samples: BTreeMap<String, bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sampled {
    pattern: CuePattern,
    #[cfg(test)]
    samples: BTreeMap<String, bool>,
}

static TABLE: LazyLock<Written> = LazyLock::new(|| table::rows(table::embedded!("outcome")));

static STOPPED: LazyLock<SentenceCues> = LazyLock::new(|| TABLE.stopped.clone().into());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (words, wants) in &TABLE.samples {
            assert_eq!(ending(words), *wants, "{words}");
        }
        for (sentence, wants) in &TABLE.announces.samples {
            assert_eq!(announces(sentence), *wants, "{sentence}");
        }
        for (sentence, wants) in &TABLE.prepares.samples {
            assert_eq!(prepares(sentence), *wants, "{sentence}");
        }
        for (sentence, wants) in &TABLE.all_done.samples {
            let said = CueText::of(sentence);
            assert_eq!(TABLE.all_done.pattern.is_match(&said), *wants, "{sentence}");
        }
        TABLE.stopped.samples.hold(|words| STOPPED.says(words));
    }
}
