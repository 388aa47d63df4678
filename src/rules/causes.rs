//! How agents say what was behind a failure and what cured it, as a table (`causes.yaml`).

use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use aho_corasick::AhoCorasick;
use serde::Deserialize;
use std::sync::LazyLock;

/// The last sentence that says what was behind a failure; guesses are none.
pub fn cause(words: &str) -> Option<&str> {
    TABLE.cause.found(words).last().map(str::trim)
}

/// The last sentence that says what cures it.
pub fn cure(words: &str) -> Option<&str> {
    TABLE.cure.found(words).last().map(str::trim)
}

/// Whether what a command printed says that where it ran hindered it.
pub fn is_environment(message: &str) -> bool {
    TABLE.environment.is_match(message)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    environment: Vec<String>,
    cause: WrittenCues,
    cure: WrittenCues,
}

struct Table {
    environment: AhoCorasick,
    cause: SentenceCues,
    cure: SentenceCues,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    let mut words = AhoCorasick::builder();
    let words = words.ascii_case_insensitive(true);
    Table {
        environment: words.build(&written.environment).expect("words"),
        cause: written.cause.into(),
        cure: written.cure.into(),
    }
});

fn written() -> Written {
    table::rows(table::embedded!("causes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        written.cause.samples.hold(|words| cause(words).is_some());
        written.cure.samples.hold(|words| cure(words).is_some());
        assert!(is_environment("exit 1: open /c/a: Operation not permitted"));
        assert!(!is_environment(
            "exit 1: the total is not permitted to be 0"
        ));
    }
}
