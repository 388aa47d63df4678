//! Short words of everyday work and what they stand for, as a table (`abbreviations.yaml`).

use super::table;
use super::words::WordRow;
use rustc_hash::FxHashMap;
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
pub(super) fn spelled_otherwise(word: &str) -> &'static [String] {
    OTHERS.get(word).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::words::{kin, tokens};

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
}
