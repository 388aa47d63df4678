//! What a person proposed and the agent took up: a better way in a question, `couldn't we keep both?`.

use crate::model::summary::Decision;
use crate::rules::prose::sentences_of;
use crate::rules::replies::{accepts, leans, proposes};

/// Shorter ones don't say what: `could we?`
const BYTES_MIN: usize = 24;

/// The first proposal in these words that the agent agreed with at once, in its `answer`. Who asks why it is otherwise
/// proposes nothing.
pub(super) fn proposed(words: &str, answer: Option<&str>) -> Option<Decision> {
    let is_one = |sentence: &String| {
        let asks_why = sentence
            .get(..4)
            .is_some_and(|first| first.eq_ignore_ascii_case("why "));
        sentence.len() >= BYTES_MIN && !asks_why && proposes(sentence)
    };
    answer.filter(|answer| accepts(answer))?;
    let one = sentences_of(words, |_| true).find(is_one)?;
    Some(Decision {
        decision: one,
        ..Decision::default()
    })
}

/// What a person leans to who answers a form that they refused in their own words, where the agent agrees.
pub(super) fn leant(words: &str, question: &str, answer: Option<&str>) -> Option<Decision> {
    answer.filter(|answer| accepts(answer))?;
    let one = sentences_of(words, |_| true).find(|sentence| leans(sentence))?;
    Some(Decision {
        decision: one,
        about: Some(question.to_owned()),
        ..Decision::default()
    })
}
