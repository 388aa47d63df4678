//! Answers that a later one tells anew.

use super::answer::{Answer, Came};
use rustc_hash::FxHashSet;

/// Without answers that a later one tells anew: the test that was written again, the plan that was changed.
pub(super) fn standing<'l, 't>(answers: Vec<Answer<'l, 't>>) -> Vec<Answer<'l, 't>> {
    let words: Vec<FxHashSet<u64>> = answers.iter().map(Answer::topic).collect();
    let is_told_anew = |nth: usize| {
        let own = &words[nth];
        let later = answers.iter().zip(&words).skip(nth + 1).take(NEAR_ANSWERS);
        let changed = &answers[nth].changed;
        // what was done to other files is other work
        let is_same = |answer: &Answer<'_, '_>| {
            changed.is_empty() || answer.changed.is_empty() || !changed.is_disjoint(&answer.changed)
        };
        let mut later = later.filter(|(answer, _)| answer.came != Came::Said && is_same(answer));
        own.len() >= TOPIC_WORDS_MIN
            && later.any(|(_, words)| own.intersection(words).count() * 5 >= own.len() * 3)
    };
    let stands: Vec<bool> = (0..answers.len()).map(|nth| !is_told_anew(nth)).collect();
    let each = answers.into_iter().zip(stands);
    each.filter_map(|(answer, stands)| stands.then_some(answer))
        .collect()
}

/// Further behind, the same words are about something else.
const NEAR_ANSWERS: usize = 3;

/// With fewer words two answers are alike by chance.
const TOPIC_WORDS_MIN: usize = 6;
