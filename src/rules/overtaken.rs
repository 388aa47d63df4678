//! What later turns of a session overtake in an agent's words, as a table (`overtaken.yaml`).

use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use serde::Deserialize;
use std::sync::LazyLock;

/// The sentence says that something stays as it is, or isn't fit to be merged.
pub fn is_left(sentence: &str) -> bool {
    TABLE.left.says(sentence)
}

/// The sentence says that work isn't committed or pushed.
pub fn is_local(sentence: &str) -> bool {
    TABLE.local.says(sentence)
}

/// The sentence says that a pull request is a draft, or waits for something before it can be merged.
pub fn is_unmerged(sentence: &str) -> bool {
    TABLE.unmerged.says(sentence)
}

/// The sentence says what goes on, or what will soon be so.
pub fn is_forecast(sentence: &str) -> bool {
    TABLE.forecast.says(sentence)
}

/// The sentence says what the work does now.
pub fn claims(sentence: &str) -> bool {
    TABLE.claims.says(sentence)
}

/// The sentence, or the line that leads to a list, says what is gone.
pub fn removes(sentence: &str) -> bool {
    TABLE.removes.says(sentence)
}

/// The agent takes back there what it said before.
pub fn withdraws(words: &str) -> bool {
    TABLE.withdraws.found(words).next().is_some()
}

/// The agent begins by agreeing with an objection.
pub fn concedes(words: &str) -> bool {
    let first = words.trim_start().lines().next().unwrap_or_default();
    TABLE.concedes.says(first)
}

/// A person says there that what the agent did doesn't work, or isn't what was wanted.
pub fn fails(sentence: &str) -> bool {
    TABLE.fails.says(sentence)
}

/// Where a person says there that what should be gone, or there, still isn't.
pub fn persists(words: &str) -> impl Iterator<Item = &str> {
    TABLE.persists.found(words)
}

/// A prompt asks for nothing but that what was done before it is undone.
pub fn asks_to_undo(prompt: &str) -> bool {
    TABLE.undoes.says(prompt)
}

/// A person takes there what they asked for back but for a part of it.
pub fn narrows(sentence: &str) -> bool {
    TABLE.narrows.says(sentence)
}

/// A person says there that they undid what the agent had done.
pub fn has_reverted(sentence: &str) -> bool {
    TABLE.reverted.says(sentence)
}

/// The rows of the table, in what form they are needed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows<C> {
    left: C,
    local: C,
    unmerged: C,
    forecast: C,
    claims: C,
    removes: C,
    withdraws: C,
    concedes: C,
    fails: C,
    persists: C,
    undoes: C,
    narrows: C,
    reverted: C,
}

static TABLE: LazyLock<Rows<SentenceCues>> = LazyLock::new(|| {
    let written = written();
    Rows {
        left: written.left.into(),
        local: written.local.into(),
        unmerged: written.unmerged.into(),
        forecast: written.forecast.into(),
        claims: written.claims.into(),
        removes: written.removes.into(),
        withdraws: written.withdraws.into(),
        concedes: written.concedes.into(),
        fails: written.fails.into(),
        persists: written.persists.into(),
        undoes: written.undoes.into(),
        narrows: written.narrows.into(),
        reverted: written.reverted.into(),
    }
});

fn written() -> Rows<WrittenCues> {
    table::rows(table::embedded!("overtaken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        written.left.samples.hold(is_left);
        written.local.samples.hold(is_local);
        written.unmerged.samples.hold(is_unmerged);
        written.forecast.samples.hold(is_forecast);
        written.claims.samples.hold(claims);
        written.removes.samples.hold(removes);
        written.withdraws.samples.hold(withdraws);
        written.concedes.samples.hold(concedes);
        written.fails.samples.hold(fails);
        let says = |words: &str| persists(words).next().is_some();
        written.persists.samples.hold(says);
        written.undoes.samples.hold(asks_to_undo);
        written.narrows.samples.hold(narrows);
        written.reverted.samples.hold(has_reverted);
    }
}
