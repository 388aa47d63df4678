//! What a person proposed and the agent took up: a better way in a question, `couldn't we keep both?`.

use crate::model::summary::Decision;
use crate::rules::prose::sentences_of;
use crate::rules::replies::{accepts, insists, proposes};

/// Shorter ones don't say what: `could we?`
const BYTES_MIN: usize = 24;

/// The first proposal in these words that the agent agreed with at once, in its `answer`; of those that ask why it is
/// otherwise, also one after which it changed files.
pub(super) fn proposed(
    words: &str,
    answer: Option<&str>,
    is_carried_out: impl Fn() -> bool,
) -> Option<Decision> {
    let is_one = |sentence: &String| sentence.len() >= BYTES_MIN && proposes(sentence);
    let one = sentences_of(words, |_| true).find(is_one)?;
    let is_taken_up = answer.is_some_and(accepts) || insists(&one) && is_carried_out();
    is_taken_up.then(|| Decision {
        decision: one,
        ..Decision::default()
    })
}
