//! Requests for work that the agent answered with nothing but a question.

use super::super::line::LocatedItem;
use super::super::prompts::{Prompt, exchange, starts};
use super::super::words::folded;
use crate::model::exchange::ItemKind;
use crate::rules::replies::asks_which;
use crate::rules::words::sentences;

/// Nothing ran for what somebody asked for: the agent says what it will do, and ends with the question which way to go.
pub(super) fn asks_back(lines: &[LocatedItem<'_>], prompt: &Prompt<'_, '_>) -> bool {
    let done = exchange(lines, prompt.at);
    let is_call = |line: &LocatedItem<'_>| line.item.kind == ItemKind::Digest;
    if !starts(lines, prompt.at) || done.iter().any(is_call) {
        return false;
    }
    let mut said = done
        .iter()
        .filter(|line| line.main && line.item.kind == ItemKind::Agent);
    let last = said.next_back().map_or("", |line| line.words());
    let paragraph = last.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let paragraph = folded(paragraph);
    let asks = |sentence: &str| sentence.ends_with('?') && asks_which(sentence);
    // who proposes has answered
    let is_plan = ["I'll ", "I’ll ", "I will "]
        .iter()
        .any(|cue| last.contains(cue));
    is_plan && sentences(&paragraph).any(asks)
}
