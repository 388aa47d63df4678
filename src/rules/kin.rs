//! Other words of the same matter: derived ones, the other spelling of English, and what short words of everyday
//! work stand for (`abbreviations.yaml`).

use super::table;
use super::words::{STEM_BYTES_MIN, WordRow, is_english, roots, with_endings};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A word → the words that it stands for, or that stand for it.
static OTHERS: LazyLock<FxHashMap<String, Vec<String>>> = LazyLock::new(|| {
    let rows: Vec<WordRow> = table::rows(table::embedded!("abbreviations"));
    let mut all: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for (short, long) in rows.iter().flat_map(WordRow::pairs) {
        for (one, other) in [(short, long), (long, short)] {
            all.entry(one.to_owned())
                .or_default()
                .push(other.to_owned());
        }
    }
    all
});

/// `configuration` for `config` and `config` for `configuration`; the word is in lower case.
fn spelled_otherwise(word: &str) -> &'static [String] {
    OTHERS.get(word).map_or(&[], Vec::as_slice)
}

/// Endings that make another word of the same matter: `deployment`, `removal`, `generator`, `manually`.
const DERIVED: [&str; 6] = ["ment", "al", "or", "able", "ly", "ity"];

/// Of shorter stems than this many bytes they make words of other matters: `comment`, `signal`, `author`, `apply`.
const DERIVED_BYTES_MIN: usize = 5;

/// Endings that are spelled in two ways, in Britain and in America.
const SPELLED: [[&str; 2]; 3] = [["ise", "ize"], ["yse", "yze"], ["our", "or"]];

/// Other words of the same matter: `deployment` for `deploy`, `analyze` for `analysed`, `repositories` for `repo`.
/// As of [`super::words::forms`], some are no words.
pub fn kin(word: &str) -> Vec<String> {
    let mut all = BTreeSet::new();
    let roots = match is_english(word) {
        true => roots(word),
        false => Vec::new(),
    };
    for root in &roots {
        let stems = DERIVED
            .iter()
            .filter_map(|ending| root.strip_suffix(ending));
        let stems = stems.filter(|stem| stem.len() >= DERIVED_BYTES_MIN);
        for other in stems.map(str::to_owned).chain(respelled(root)) {
            with_endings(&other, &mut all);
        }
        let short = root.strip_suffix('e').unwrap_or(root);
        if short.len() >= DERIVED_BYTES_MIN {
            all.extend(DERIVED.map(|ending| format!("{short}{ending}")));
            all.extend((short != root).then(|| format!("{root}ment")));
        }
    }
    let singular = word.strip_suffix('s').unwrap_or(word);
    let named = [word, singular].into_iter();
    for other in named
        .chain(roots.iter().map(String::as_str))
        .flat_map(spelled_otherwise)
    {
        all.extend([other.clone(), format!("{other}s")]);
        all.extend(other.strip_suffix('y').map(|stem| format!("{stem}ies")));
    }
    all.remove(word);
    all.into_iter().collect()
}

/// The word as it is spelled elsewhere; with its `e`, where an ending took that.
fn respelled(root: &str) -> impl Iterator<Item = String> {
    let whole = [root.to_owned(), format!("{root}e")];
    whole.into_iter().flat_map(|word| {
        let other = |from: &str, to: &str| {
            let stem = word.strip_suffix(from)?;
            (stem.len() >= STEM_BYTES_MIN).then(|| format!("{stem}{to}"))
        };
        let both = SPELLED.map(|[one, two]| [other(one, two), other(two, one)]);
        both.into_iter().flatten().flatten().collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::words::tokens;

    #[test]
    fn each_row_finds_its_sample_and_what_looks_like_it_stands_for_nothing() {
        let rows: Vec<WordRow> = table::rows(table::embedded!("abbreviations"));
        for row in &rows {
            let of_row = |one: &String| {
                let mut pairs = row.pairs();
                pairs.any(|(short, long)| [short, long].contains(&one.as_str()))
            };
            let found = tokens(&row.sample).any(|word| kin(&word).iter().any(of_row));
            assert!(found, "{}", row.what);
            let kept = row
                .keeps
                .iter()
                .all(|word| spelled_otherwise(word).is_empty());
            assert!(kept, "{}", row.what);
        }
    }

    #[test]
    fn a_word_has_its_kin_and_no_words_of_other_matters() {
        for (word, wants) in [
            ("analysed", "analyze"),
            ("organization", "organisation"),
            ("colour", "colors"),
            ("removal", "removed"),
            ("deploy", "deployment"),
            ("manage", "management"),
            ("generators", "generated"),
            ("manually", "manual"),
            ("repos", "repositories"),
            ("directories", "folder"),
            ("db", "database"),
        ] {
            assert!(kin(word).iter().any(|one| one == wants), "{word} {wants}");
        }
        for (word, other) in [
            ("signal", "sign"),
            ("author", "auth"),
            ("comment", "come"),
            ("apply", "app"),
            ("noise", "noize"),
            ("authentication", "authorization"),
        ] {
            assert!(!kin(word).iter().any(|one| one == other), "{word} {other}");
        }
        assert!(kin("日本語").is_empty() && kin("").is_empty());
    }
}
