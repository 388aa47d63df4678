//! Whether two decisions are about the same.

use crate::model::summary::Decision;
use crate::rules::words::{content_words, is_same};

/// The words that say what it is about.
pub(super) fn topic(decision: &Decision) -> Vec<String> {
    let about = decision.about.as_deref().unwrap_or_default();
    content_words(&format!("{} {about}", decision.decision))
}

/// Words that two decisions have to share.
const SHARED_WORDS_MIN: usize = 3;

/// Most words of one stand in the other; of few words all.
pub(super) fn is_same_topic(one: &[String], other: &[String]) -> bool {
    let (few, many) = match one.len() <= other.len() {
        true => (one, other),
        false => (other, one),
    };
    let in_many = |word: &&String| many.iter().any(|own| is_same(own, word));
    let shared = few.iter().filter(in_many).count();
    one == other || shared >= SHARED_WORDS_MIN && shared * 3 >= few.len() * 2
}
