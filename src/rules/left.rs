//! How agents say what is left when they stop, as a table (`left.yaml`).

use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use serde::Deserialize;
use std::sync::LazyLock;

/// The sentence says that something wasn't done, fails, or stays as it was.
pub fn is_undone(sentence: &str) -> bool {
    TABLE.undone.says(sentence)
}

/// The sentence says what the person has to do.
pub fn is_yours(sentence: &str) -> bool {
    TABLE.yours.says(sentence)
}

/// The sentence says what was left on purpose, or how something works: nobody has to do anything.
pub fn is_settled(sentence: &str) -> bool {
    TABLE.settled.says(sentence)
}

/// The sentence says of a file that the agent wrote or changed it.
pub fn claims_change(sentence: &str) -> bool {
    TABLE.claims.says(sentence)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    undone: WrittenCues,
    yours: WrittenCues,
    settled: WrittenCues,
    claims: WrittenCues,
}

struct Table {
    undone: SentenceCues,
    yours: SentenceCues,
    settled: SentenceCues,
    claims: SentenceCues,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    Table {
        undone: written.undone.into(),
        yours: written.yours.into(),
        settled: written.settled.into(),
        claims: written.claims.into(),
    }
});

fn written() -> Written {
    table::rows(table::embedded!("left"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        written.undone.samples.hold(is_undone);
        written.yours.samples.hold(is_yours);
        written.settled.samples.hold(is_settled);
        written.claims.samples.hold(claims_change);
    }
}
