//! Which words tie a commit to what somebody said: those that say what it is about (`commit_words.yaml` has
//! the others), and names.

use super::table;
use super::words::{WordRow, is_stopword};
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

static COMMON: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    let rows: Vec<WordRow> = table::rows(table::embedded!("commit_words"));
    rows.into_iter().flat_map(|row| row.words).collect()
});

/// A word that says what a text is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TellingWord {
    /// In lower case.
    pub word: String,
    /// It is written like a name: with a capital inside a sentence, within the word, or with a digit.
    pub is_name: bool,
}

/// The words that say what a text is about, each once, in its order.
pub fn telling_words(text: &str) -> Vec<TellingWord> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut all: Vec<TellingWord> = Vec::new();
    for (nth, part) in parts.filter(|part| !part.is_empty()).enumerate() {
        let word = part.to_lowercase();
        if !tells(&word) {
            continue;
        }
        let is_name = is_name(part, nth == 0);
        match all.iter_mut().find(|known| known.word == word) {
            Some(known) => known.is_name |= is_name,
            None => all.push(TellingWord { word, is_name }),
        }
    }
    all
}

/// A word, in lower case, says what a text is about: a letter and a digit at least, or two letters, or one
/// that is a word by itself, and none that stands in decisions and commits whatever they are about.
pub fn tells(word: &str) -> bool {
    let is_number = word.chars().all(|c| c.is_ascii_digit());
    let is_letter = word.len() == 1;
    !is_number && !is_letter && !is_stopword(word) && !COMMON.contains(word)
}

fn is_name(part: &str, is_first: bool) -> bool {
    let mut letters = part.chars();
    let begins = letters.next().is_some_and(char::is_uppercase);
    let within = letters.any(|c| c.is_uppercase() || c.is_ascii_digit() || c == '_');
    within || begins && !is_first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::words::tokens;

    fn words(text: &str) -> Vec<(String, bool)> {
        let all = telling_words(text).into_iter();
        all.map(|telling| (telling.word, telling.is_name)).collect()
    }

    #[test]
    fn names_and_topics_tell_and_the_rest_does_not() {
        let owned = |all: &[(&str, bool)]| -> Vec<(String, bool)> {
            all.iter()
                .map(|(word, name)| ((*word).to_owned(), *name))
                .collect()
        };
        for (text, wants) in [
            (
                "Let's keep sessions in Redis",
                owned(&[("sessions", false), ("redis", true)]),
            ),
            ("Add the new tests", owned(&[])),
            (
                "Kafka for all events, useMemo nowhere",
                owned(&[
                    ("kafka", false),
                    ("events", false),
                    ("usememo", true),
                    ("nowhere", false),
                ]),
            ),
            ("option 2", owned(&[])),
            (
                "キャッシュ を使う",
                owned(&[("キャッシュ", false), ("を使う", false)]),
            ),
        ] {
            assert_eq!(words(text), wants, "{text}");
        }
    }

    #[test]
    fn each_row_says_nothing_and_no_more() {
        let rows: Vec<WordRow> = table::rows(table::embedded!("commit_words"));
        for row in &rows {
            let own = row
                .words
                .iter()
                .any(|word| tokens(&row.sample).any(|token| token == *word));
            assert!(own && telling_words(&row.sample).is_empty(), "{}", row.what);
            assert!(row.keeps.iter().all(|word| tells(word)), "{}", row.what);
            let stopwords: Vec<_> = row.words.iter().filter(|word| is_stopword(word)).collect();
            assert!(stopwords.is_empty(), "{stopwords:?}");
        }
        let words: usize = rows.iter().map(|row| row.words.len()).sum();
        assert_eq!(words, COMMON.len(), "a word stands twice");
    }
}
