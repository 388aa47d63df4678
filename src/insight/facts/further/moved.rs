//! Requests that only move finished work on: `commit and push`.

use crate::insight::facts::line::LocatedItem;
use crate::insight::facts::ran::RanCommand;
use crate::model::finding::Finding;
use crate::rules::requests::{Request, is_idle, is_move};
use crate::rules::words::{content_words, is_same};

/// What ends a request that only moves finished work on says no more: the commit and the pull request are listed.
pub(super) const MOVED_BYTES_MAX: usize = 120;

/// It only moves finished work on, and the agent says no more than that it did, in `answer_bytes`.
pub(super) fn is_moved(text: &str, answer_bytes: usize) -> bool {
    let is_short = answer_bytes <= MOVED_BYTES_MAX;
    let about = content_words(text);
    let says = |word: &&String| !is_move(word) && !is_idle(word);
    let is_move = about.iter().any(|word| is_move(word));
    is_short && is_move && !about.iter().any(|word| says(&word))
}

/// The same of all requests of a prompt, and of what `text` says that it agrees to.
pub(super) fn are_moved(requests: &[Request<'_>], text: &str, answer_bytes: usize) -> bool {
    let asked = text.split_once("” to: ").map(|(_, asked)| asked);
    let mut requests = requests.iter();
    requests.all(|one| is_moved(one.text, answer_bytes))
        && asked.is_none_or(|asked| is_moved(asked, answer_bytes))
}

/// `git commit`, `git push`: finished work was to be moved on so, that command failed, and the log doesn't show that it was.
pub(super) fn missed(asked: &str, exchange: &[LocatedItem<'_>]) -> Option<&'static str> {
    const BYTES_MAX: usize = 120;
    if asked.len() > BYTES_MAX || asked.contains('\n') {
        return None;
    }
    let findings = || exchange.iter().flat_map(|line| line.item.findings);
    // that a check failed says nothing of a commit that a tool of the agent's own may have made
    let is_failed = |command: &str| {
        let mut ran = exchange.iter().filter_map(RanCommand::of);
        ran.any(|ran| ran.failed && ran.command.contains(command))
    };
    let is_made = |made: fn(&Finding) -> bool| findings().any(made);
    let words = content_words(asked);
    let is_asked = |cue: &str| words.iter().any(|word| is_same(word, cue));
    match () {
        () if is_asked("commit") && !is_made(|one| matches!(one, Finding::Commit { .. })) => {
            is_failed("git commit").then_some("git commit")
        }
        () if is_asked("push") && !is_made(|one| matches!(one, Finding::Pushed)) => {
            is_failed("git push").then_some("git push")
        }
        () => None,
    }
}

/// `please push`: nothing but that finished work is to be moved on.
pub fn is_bare_errand(words: &str) -> bool {
    let about = content_words(words);
    let is_short = words.len() <= MOVED_BYTES_MAX && !words.contains('\n');
    is_short
        && !about.is_empty()
        && about.iter().all(|word| is_move(word) || is_idle(word))
        && about.iter().any(|word| is_move(word))
}
