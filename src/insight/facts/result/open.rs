//! Which answers leave it open what is done: those that ask back, propose what is then refused, or let somebody choose.

use crate::insight::facts::line::LocatedItem;
use crate::insight::facts::points::without_mark;
use crate::insight::facts::prompts::{Prompt, exchange};
use crate::insight::facts::words::{folded, points_back};
use crate::model::finding::Finding;
use crate::rules::replies::{Reply, asks_which, lists_options, reply};
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

/// A person agreed with what was proposed for the prompt there, and then refused the call for it.
pub(super) fn is_refused(lines: &[LocatedItem<'_>], prompts: &[Prompt<'_, '_>], at: usize) -> bool {
    let mut later = prompts.iter().filter(|prompt| prompt.at > at);
    later.next().is_some_and(|next| {
        let done = exchange(lines, next.at).iter();
        let mut found = done.flat_map(|line| line.item.findings);
        let refused = |finding: &Finding| matches!(finding, Finding::Refused { .. });
        let works =
            |finding: &Finding| matches!(finding, Finding::Worked { .. } | Finding::Changed { .. });
        reply(next.line.words()) == Some(Reply::Agrees)
            && found.clone().any(refused)
            && !found.any(works)
    })
}
