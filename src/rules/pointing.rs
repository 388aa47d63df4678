//! Whether a prompt points at what its session has before it, by a table of words (`pointing.yaml`).

use super::table;
use super::words::{sentences, tokens};
use serde::Deserialize;
use std::sync::LazyLock;

/// Whether a prompt points at something that only its own session has before it: what earlier ones say in its words
/// is seldom about that.
pub fn points_at_something(prompt: &str) -> bool {
    let first = prompt.trim().lines().next().unwrap_or_default();
    let first = sentences(first).next().unwrap_or_default();
    let all: Vec<String> = tokens(first).collect();
    let follows = all.iter().skip(1).map(Some).chain([None]);
    let mut pairs = all.iter().zip(follows);
    pairs.any(|(word, next)| {
        TABLE.words.contains(word) && next.is_none_or(|next| !TABLE.except.contains(next))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    words: Vec<String>,
    except: Vec<String>,
    #[cfg(test)]
    samples: std::collections::BTreeMap<String, bool>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("pointing")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (prompt, wants) in &TABLE.samples {
            assert_eq!(points_at_something(prompt), *wants, "{prompt}");
        }
    }
}
