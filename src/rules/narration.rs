//! Sentences by which agents say what they are about to do (`narration.yaml`). They answer nothing.

use super::table;
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    begins: Vec<String>,
    #[cfg(test)]
    samples: std::collections::BTreeMap<String, bool>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("narration")));

/// It only says what whoever speaks is about to do.
pub fn is_narration(sentence: &str) -> bool {
    let head = &sentence[..sentence.floor_char_boundary(HEAD_BYTES)];
    let head = head.replace('’', "'").to_lowercase();
    let head = head.trim_start_matches(['*', '_', ' ']);
    TABLE.begins.iter().any(|begin| head.starts_with(begin))
}

/// Longer than every beginning.
const HEAD_BYTES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_judged_as_it_says() {
        for (sentence, narrates) in &TABLE.samples {
            assert_eq!(is_narration(sentence), *narrates, "{sentence}");
        }
        for begin in &TABLE.begins {
            assert_eq!(*begin, begin.to_lowercase());
            assert!(begin.len() < HEAD_BYTES, "{begin}");
        }
    }
}
