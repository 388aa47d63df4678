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
    returns: Vec<String>,
    #[cfg(test)]
    samples: std::collections::BTreeMap<String, bool>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("undoing_hints")));

/// Shorter words are whole ones: `no`, not `now`.
const WHOLE_BYTES_MAX: usize = 3;

/// A word of it is one that such sentences have.
pub fn may_undo(sentence: &str) -> bool {
    has_any(sentence, &TABLE.begins) || TABLE.within.iter().any(|part| sentence.contains(part))
}

/// A word of it says that work goes back to what it was. What only removes something may be about other work.
pub fn may_go_back(sentence: &str) -> bool {
    let is_within = |part: &&String| {
        TABLE
            .within
            .iter()
            .any(|within| part.starts_with(within.as_str()))
    };
    let mut parts = TABLE.returns.iter().filter(is_within);
    has_any(sentence, &TABLE.returns) || parts.any(|part| sentence.contains(part))
}

fn has_any(sentence: &str, begins: &[String]) -> bool {
    let fits = |word: &str, begin: &String| match begin.len() {
        ..=WHOLE_BYTES_MAX => word == begin,
        _ => word.starts_with(begin.as_str()),
    };
    tokens(sentence).any(|word: String| begins.iter().any(|begin| fits(&word, begin)))
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
