//! What people type to keep words out of the store: phrases that keep a session out, and passages.
//! Knows the table and the user's own.

use super::table;
use crate::model::error::Error;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

/// Stands where a passage was.
pub const LEFT_OUT: &str = "[private]";

/// All markers. Those that come with the program are compiled when a text is looked at: most runs look at none.
#[derive(Clone, Debug, Default)]
pub struct Markers {
    patterns: OnceLock<Patterns>,
}

#[derive(Clone, Debug)]
struct Patterns {
    session: Regex,
    passages: Vec<Regex>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    session: Vec<Phrase>,
    passage: Vec<Passage>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrase {
    phrase: String,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check them"))]
    samples: Samples,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Samples {
    marked: Vec<String>,
    unmarked: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Passage {
    open: String,
    close: String,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check them"))]
    samples: Vec<(String, String)>,
}

fn embedded() -> Table {
    table::rows(table::embedded!("markers"))
}

impl Markers {
    /// The embedded ones and those that a person wrote. Errors name file and line.
    pub fn parse(file: &Path, text: &str) -> Result<Markers, Error> {
        let at = |line: usize, what: &str| {
            Error::usage(format!("{}:{line}: {what}", file.display()))
                .hinted("docs/privacy.md says how markers are written")
        };
        if text.trim().is_empty() {
            return Ok(Markers::default());
        }
        let own: Table = serde_yaml::from_str(text).map_err(|e| {
            let line = e.location().map_or(1, |l| l.line());
            at(line, &e.to_string())
        })?;
        let words = |text: &str| text.split_whitespace().next().is_some();
        let tags = own.passage.iter().flat_map(|p| [&p.open, &p.close]);
        if !own
            .session
            .iter()
            .map(|s| &s.phrase)
            .chain(tags)
            .all(|t| words(t))
        {
            return Err(at(1, "a marker is not empty"));
        }
        let mut all = embedded();
        all.session.extend(own.session);
        all.passage.extend(own.passage);
        let patterns = Patterns::of(&all).map_err(|e| at(1, &e.to_string()))?;
        Ok(Markers {
            patterns: OnceLock::from(patterns),
        })
    }

    fn patterns(&self) -> &Patterns {
        let embedded = || Patterns::of(&embedded()).expect("the embedded table of markers");
        self.patterns.get_or_init(embedded)
    }

    /// Some of a marker's letters stand in a person's words, so that its patterns may be compiled for them.
    fn may_stand_in(&self, words: &str) -> bool {
        static LETTERS: LazyLock<Vec<String>> = LazyLock::new(|| {
            let Table { session, passage } = embedded();
            let phrases = session.iter().map(|one| &one.phrase);
            let all = phrases.chain(passage.iter().map(|one| &one.open));
            let longest =
                all.filter_map(|one| one.split_whitespace().max_by_key(|word| word.len()));
            longest.map(str::to_lowercase).collect()
        });
        // letters that are an `s` and a `k` in another case
        const OTHERS: [char; 2] = ['ſ', '\u{212a}'];
        self.patterns.get().is_some()
            || LETTERS.iter().any(|letters| has(words, letters))
            || words.contains(OTHERS)
    }

    /// A person's words keep their session out.
    pub fn keeps_out(&self, words: &str) -> bool {
        self.may_stand_in(words) && self.patterns().session.is_match(words)
    }

    /// A person's words without the passages that stay out; borrowed where there are none.
    pub fn without_passages<'t>(&self, words: &'t str) -> Cow<'t, str> {
        let mut left = Cow::Borrowed(words);
        if !self.may_stand_in(words) {
            return left;
        }
        for passage in &self.patterns().passages {
            if let Cow::Owned(cut) = passage.replace_all(&left, LEFT_OUT) {
                left = Cow::Owned(cut);
            }
        }
        left
    }
}

/// Letters of ASCII, in any case.
fn has(text: &str, letters: &str) -> bool {
    let (text, letters) = (text.as_bytes(), letters.as_bytes());
    let first = letters.first().copied().unwrap_or_default();
    let mut begins = memchr::memchr2_iter(first, first.to_ascii_uppercase(), text);
    begins.any(|at| {
        let there = text.get(at..at + letters.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(letters))
    })
}

impl Patterns {
    fn of(table: &Table) -> Result<Patterns, regex::Error> {
        let phrases: Vec<String> = table.session.iter().map(|s| pattern(&s.phrase)).collect();
        let passage = |p: &Passage| {
            let (open, close) = (pattern(&p.open), pattern(&p.close));
            compiled(&format!(r"(?s){open}.*?(?:{close}|\z)"))
        };
        Ok(Patterns {
            session: compiled(&phrases.join("|"))?,
            passages: table
                .passage
                .iter()
                .map(passage)
                .collect::<Result<_, _>>()?,
        })
    }
}

/// The words of a marker, whole, with any blanks between them.
fn pattern(words: &str) -> String {
    let words: Vec<String> = words.split_whitespace().map(regex::escape).collect();
    let words = words.join(r"\s+");
    let edge = |c: Option<char>| match c.is_some_and(char::is_alphanumeric) {
        true => r"\b",
        false => "",
    };
    let (first, last) = (words.chars().next(), words.chars().next_back());
    format!("{}{words}{}", edge(first), edge(last))
}

fn compiled(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).case_insensitive(true).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_hold() {
        let markers = Markers::default();
        for phrase in embedded().session {
            let Samples { marked, unmarked } = phrase.samples;
            assert!(
                !marked.is_empty() && !unmarked.is_empty(),
                "{}",
                phrase.phrase
            );
            assert!(
                marked.iter().all(|text| markers.keeps_out(text)),
                "{marked:?}"
            );
            assert!(
                !unmarked.iter().any(|text| markers.keeps_out(text)),
                "{unmarked:?}"
            );
        }
        for passage in embedded().passage {
            assert!(!passage.samples.is_empty());
            for (text, wants) in passage.samples {
                let left = markers.without_passages(&text);
                assert_eq!(left, wants);
                assert_eq!(markers.without_passages(&left), wants, "once is enough");
            }
        }
    }

    #[test]
    fn ones_own_markers_join_the_others_and_wrong_ones_are_named() {
        let file = Path::new("markers.yaml");
        let own = "session:\n  - phrase: OFF the record\npassage:\n  - {open: '((', close: '))'}\n";
        let markers = Markers::parse(file, own).unwrap();
        assert!(markers.keeps_out("this is off  the record!"));
        assert!(markers.keeps_out("do not index this chat"));
        assert_eq!(
            markers.without_passages("a ((b)) <private>c"),
            "a [private] [private]"
        );
        for (text, line) in [
            ("\n\nsession: 3\n", 3),
            ("passage:\n - {open: ' ', close: x}", 1),
        ] {
            let error = Markers::parse(file, text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("markers.yaml:{line}: ")),
                "{error}"
            );
        }
    }
}
