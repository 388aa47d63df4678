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

/// The sentence says that something was made a task of its own.
pub fn is_spun_off(sentence: &str) -> bool {
    TABLE.spun_off.says(sentence)
}

/// What a comment in a line of code says is to be done; three words at least.
pub fn to_do(line: &str) -> Option<&str> {
    const WORDS_MIN: usize = 3;
    let marks = TABLE.todos.marks.iter();
    let (before, after) = marks
        .filter_map(|mark| line.split_once(mark.as_str()))
        .next()?;
    let before = before.trim_end();
    let opens = TABLE
        .todos
        .comments
        .iter()
        .any(|open| before.ends_with(open.as_str()));
    // `TODO(ada): …`
    let after = match after.strip_prefix('(') {
        Some(named) => named.split_once(')')?.1,
        None => after,
    };
    let is_mark = after.starts_with([':', ' ', '-']);
    let mut text = after.trim_matches([':', ' ', '-', '\t']);
    for end in &TABLE.todos.ends {
        text = text.strip_suffix(end.as_str()).unwrap_or(text).trim_end();
    }
    let is_told = text.split_whitespace().count() >= WORDS_MIN;
    (opens && is_mark && is_told).then_some(text)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Todos {
    marks: Vec<String>,
    comments: Vec<String>,
    ends: Vec<String>,
    #[cfg(test)]
    samples: std::collections::BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    spun_off: WrittenCues,
    todos: Todos,
    undone: WrittenCues,
    yours: WrittenCues,
    settled: WrittenCues,
    claims: WrittenCues,
}

struct Table {
    spun_off: SentenceCues,
    todos: Todos,
    undone: SentenceCues,
    yours: SentenceCues,
    settled: SentenceCues,
    claims: SentenceCues,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    Table {
        spun_off: written.spun_off.into(),
        todos: written.todos,
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
        written.spun_off.samples.hold(is_spun_off);
        for (line, wants) in &written.todos.samples {
            assert_eq!(to_do(line), wants.as_deref(), "{line}");
        }
    }
}
