//! Names of products, languages and file formats, as a table (`products.yaml`): what nobody says in other
//! words.

use super::table;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers"))]
    what: String,
    /// Each with its other names, by `|`.
    names: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check it"))]
    sample: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check them"))]
    keeps: Vec<String>,
}

/// A name → all names of what it names.
static NAMES: LazyLock<FxHashMap<String, Vec<String>>> = LazyLock::new(|| {
    let rows: Vec<Row> = table::rows(table::embedded!("products"));
    let mut all = FxHashMap::default();
    for things in rows.iter().flat_map(|row| &row.names) {
        let names: Vec<String> = things.split('|').map(str::to_owned).collect();
        for name in names.iter().filter(|name| name.len() >= NAME_BYTES_MIN) {
            all.insert(name.clone(), names.clone());
        }
    }
    all
});

/// Shorter ones are known as another name only (`rs`): alone they are anything.
const NAME_BYTES_MIN: usize = 3;

/// The other names of the product, language or file format that this word names, however it is written; `None`: it
/// names none.
pub fn other_names(word: &str) -> Option<impl Iterator<Item = &'static str>> {
    let word = word.to_lowercase();
    let all = NAMES.get(&word)?;
    Some(
        all.iter()
            .map(String::as_str)
            .filter(move |name| *name != word),
    )
}

/// The word names a product, a language or a file format.
pub fn is_product(word: &str) -> bool {
    NAMES.contains_key(&word.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::words::{is_stopword, tokens};

    #[test]
    fn each_row_has_its_names_and_no_usual_words() {
        let rows: Vec<Row> = table::rows(table::embedded!("products"));
        let mut seen = Vec::new();
        for row in &rows {
            let names: Vec<&str> = row.names.iter().flat_map(|name| name.split('|')).collect();
            let named = tokens(&row.sample)
                .filter(|word| is_product(word))
                .collect::<Vec<_>>();
            assert!(
                matches!(named.as_slice(), [one] if names.contains(&one.as_str())),
                "{}",
                row.what
            );
            for word in &row.keeps {
                assert!(!is_product(word), "{}: {word}", row.what);
            }
            for name in names {
                assert!(!seen.contains(&name) && !is_stopword(name), "{name}");
                seen.push(name);
            }
        }
    }

    #[test]
    fn a_thing_is_known_by_each_of_its_names() {
        let others = |word: &str| other_names(word).map(|all| all.collect::<Vec<_>>().join(" "));
        assert_eq!(others("Postgres").as_deref(), Some("postgresql psql"));
        assert_eq!(others("k8s").as_deref(), Some("kubernetes"));
        assert_eq!(others("redis").as_deref(), Some(""));
        assert_eq!(others("go"), None);
        assert_eq!(others("retries"), None);
    }
}
