//! What agents say of tests, as a table (`test_words.yaml`).

use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use super::words::sentences;
use serde::Deserialize;
use std::sync::LazyLock;

/// The last sentence of an agent's words that says that the whole suite passes, if one does.
pub fn passes(words: &str) -> Option<&str> {
    TABLE.passes.found(words).last()
}

/// The last sentence of an agent's words that says that this command, between backticks, passed.
pub fn passes_named<'w>(words: &'w str, command: &str) -> Option<&'w str> {
    let names = |sentence: &&str| {
        let mut codes = sentence.split('`').skip(1).step_by(2);
        codes.any(|code| code == command)
    };
    match words.contains(command) {
        true => TABLE.passes_named.found(words).filter(names).last(),
        false => None,
    }
}

/// The last sentence of an agent's words that says that tests fail now, if one does and none after it
/// says that they pass or that it isn't for the work's sake.
pub fn fails(words: &str) -> Option<&str> {
    let said = TABLE.fails.found(words).last()?;
    let from = said.as_ptr() as usize - words.as_ptr() as usize;
    let is_excused = passes(&words[from..]).is_some() || blames_others(words);
    (!is_excused).then_some(said)
}

/// Whether an agent's words announce a run that is meant to fail: what they say last counts.
pub fn fails_on_purpose(words: &str) -> bool {
    last(words).is_some_and(|said| TABLE.fails_on_purpose.says(said))
}

/// Whether an agent's words say that what failed is not of its work.
pub fn blames_others(words: &str) -> bool {
    TABLE.others.found(words).next().is_some()
}

/// Whether a task is only to see whether tests, a build or checks pass.
pub fn is_only_a_check(task: &str) -> bool {
    TABLE.only_checks.says(task)
}

/// The last two sentences: the last one is often only `Let me run it:`.
fn last(words: &str) -> Option<&str> {
    let line = words.trim().lines().next_back()?;
    let all: Vec<&str> = sentences(line).collect();
    let from = all.get(all.len().saturating_sub(2))?;
    let at = from.as_ptr() as usize - line.as_ptr() as usize;
    Some(&line[at..])
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    passes: WrittenCues,
    passes_named: WrittenCues,
    fails: WrittenCues,
    fails_on_purpose: WrittenCues,
    others: WrittenCues,
    only_checks: WrittenCues,
}

struct Table {
    passes: SentenceCues,
    passes_named: SentenceCues,
    fails: SentenceCues,
    fails_on_purpose: SentenceCues,
    others: SentenceCues,
    only_checks: SentenceCues,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    Table {
        passes: written.passes.into(),
        passes_named: written.passes_named.into(),
        fails: written.fails.into(),
        fails_on_purpose: written.fails_on_purpose.into(),
        others: written.others.into(),
        only_checks: written.only_checks.into(),
    }
});

fn written() -> Written {
    table::rows(table::embedded!("test_words"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        written.passes.samples.hold(|words| passes(words).is_some());
        let named = &written.passes_named.samples;
        named.hold(|words| passes_named(words, "just check").is_some());
        written.fails.samples.hold(|words| fails(words).is_some());
        written.fails_on_purpose.samples.hold(fails_on_purpose);
        written.others.samples.hold(blames_others);
        written.only_checks.samples.hold(is_only_a_check);
    }

    #[test]
    fn the_sentence_that_says_it_is_given_and_code_says_nothing() {
        let words = "I fixed it. All tests pass.\nNext comes the release.";
        assert_eq!(passes(words).map(str::trim), Some("All tests pass."));
        assert_eq!(passes("```\nAll tests pass.\n```\nDone."), None);
        assert!(fails_on_purpose(
            "The test is in. It should fail. Let me run it:"
        ));
        assert!(!fails_on_purpose(
            "It should fail.\nNow the fix is in. Let me run it:"
        ));
    }
}
