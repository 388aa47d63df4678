//! What a person proposed and the agent took up: a better way in a question, `couldn't we keep both?`.

use super::super::line::LocatedItem;
use super::super::prose::pasted_behind;
use super::{HEADINGS_MIN, PROMPT_BYTES_MAX, is_carried_out, is_said};
use crate::model::exchange::ItemKind;
use crate::model::summary::Decision;
use crate::rules::prose::sentences_of;
use crate::rules::replies::{accepts, insists, proposes};

/// Shorter ones don't say what: `could we?`
const BYTES_MIN: usize = 24;

/// The first proposal in these words that the agent agreed with at once; of those that ask why it is otherwise, also one
/// after which it changed files.
pub(super) fn proposed(words: &str, after: &[LocatedItem<'_>]) -> Option<Decision> {
    let words = pasted_behind(words).map_or(words, |(own, _)| own);
    let headings = words.lines().filter(|line| line.starts_with('#')).count();
    if words.len() > PROMPT_BYTES_MAX || headings >= HEADINGS_MIN {
        return None;
    }
    let is_one = |sentence: &String| sentence.len() >= BYTES_MIN && proposes(sentence);
    let one = sentences_of(words, |_| true).find(is_one)?;
    let is_taken_up = is_accepted(after) || insists(&one) && is_carried_out(after);
    is_taken_up.then(|| Decision {
        decision: one,
        ..Decision::default()
    })
}

/// The agent answered that it is a good one.
fn is_accepted(after: &[LocatedItem<'_>]) -> bool {
    let mut until = after.iter().filter(|line| line.main);
    let answer = until.find(|line| is_said(line) || line.item.kind == ItemKind::Agent);
    let answer = answer.filter(|line| line.item.kind == ItemKind::Agent);
    answer.is_some_and(|line| accepts(line.words()))
}
