//! What an agent's last words say about how far it is, as a table (`outcome.yaml`).

use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use super::words::sentences;
use memchr::memmem;
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
        () if table.waits.fits(&sentence) => Ending::Waits,
        () if holds(&sentence, &table.unless) => Ending::Done,
        () if table.goes_on.fits(&sentence) => Ending::GoesOn,
        () => Ending::Done,
    }
}

/// Whether a sentence says what comes next, not what is.
pub fn announces(sentence: &str) -> bool {
    let sentence = sentence.to_lowercase().replace('’', "'");
    let table = &*TABLE;
    let mut starts = table.announces.begins.iter().chain(&table.goes_on.begins);
    let is_said = starts.any(|start| begins(&sentence, start));
    (is_said || holds(&sentence, &table.announces.holds)) && !holds(&sentence, &table.unless)
}

fn begins(sentence: &str, start: &str) -> bool {
    let rest = sentence.strip_prefix(start);
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
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

fn holds(sentence: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| {
        memmem::find_iter(sentence.as_bytes(), phrase).any(|at| {
            let before = sentence[..at].chars().next_back();
            before.is_none_or(|c| !c.is_alphanumeric())
        })
    })
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Row {
    holds: Vec<String>,
    begins: Vec<String>,
    ends: Vec<String>,
}

impl Row {
    fn fits(&self, sentence: &str) -> bool {
        self.begins.iter().any(|start| begins(sentence, start))
            || self.ends.iter().any(|end| sentence.ends_with(end.as_str()))
            || holds(sentence, &self.holds)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    blocked: Row,
    waits: Row,
    goes_on: Row,
    announces: Announcements,
    unless: Vec<String>,
    stopped: WrittenCues,
    #[cfg(test)]
    samples: BTreeMap<String, Ending>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Announcements {
    holds: Vec<String>,
    begins: Vec<String>,
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
        TABLE.stopped.samples.hold(|words| STOPPED.says(words));
    }
}
