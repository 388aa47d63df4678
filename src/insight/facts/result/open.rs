//! Which answers leave it open what is done: those that ask back, propose, or let somebody choose.

use crate::insight::facts::points::without_mark;
use crate::insight::facts::words::{folded, points_back};
use crate::rules::replies::{asks_which, lists_options};
use crate::rules::requests::{RequestKind, is_move, request};
use crate::rules::words::{content_words, sentences};

/// They are a list of questions.
pub(super) fn asks_back(words: &str) -> bool {
    const QUESTIONS_MIN: usize = 3;
    let lines = words.lines().map(str::trim_end);
    lines.filter(|line| line.ends_with('?')).count() >= QUESTIONS_MIN
}

/// A plan of what could be done: `Add a flag`.
pub(super) fn proposes(said: &[String]) -> bool {
    let first = said.first().map(|line| without_mark(line));
    let request = first.and_then(|line| request(sentences(line).next()?));
    request.is_some_and(|request| request.kind == RequestKind::Ask)
}

/// They end with the question whether to do what they speak of, not whether to move it on: `Shall I fix it that way?`
pub(super) fn proposes_work(words: &str) -> bool {
    let line = words.trim_end().lines().next_back().unwrap_or_default();
    let line = folded(line);
    let Some(last) = sentences(&line).last().filter(|last| last.ends_with('?')) else {
        return false;
    };
    points_back(last) && !content_words(last).iter().any(|word| is_move(word))
}

/// Which of several shall be done is answered behind it.
pub(super) fn asks_to_choose(words: &str) -> bool {
    let line = words.trim_end().lines().next_back().unwrap_or_default();
    let line = folded(line);
    lists_options(words) || line.ends_with('?') && sentences(&line).last().is_some_and(asks_which)
}
