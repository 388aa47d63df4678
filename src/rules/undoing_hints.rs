//! Whether a sentence could take work back (`undoing_hints.yaml`), before `rollbacks` reads it closely.

use super::table;
use super::words::tokens;
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    begins: Vec<String>,
    within: Vec<String>,
    #[cfg(test)]
    samples: std::collections::BTreeMap<String, bool>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("undoing_hints")));

/// Shorter words are whole ones: `no`, not `now`.
const WHOLE_BYTES_MAX: usize = 3;

/// A word of it is one that such sentences have.
pub fn may_undo(sentence: &str) -> bool {
    let fits = |word: &str, begin: &String| match begin.len() {
        ..=WHOLE_BYTES_MAX => word == begin,
        _ => word.starts_with(begin.as_str()),
    };
    let begins = |word: String| TABLE.begins.iter().any(|begin| fits(&word, begin));
    tokens(sentence).any(begins) || TABLE.within.iter().any(|part| sentence.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_judged_as_it_says() {
        for (sentence, may) in &TABLE.samples {
            assert_eq!(may_undo(sentence), *may, "{sentence}");
        }
    }
}
