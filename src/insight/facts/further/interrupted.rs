//! Prompts that somebody interrupted the agent behind, to write them anew or to add something.

use super::super::line::LocatedItem;
use super::super::prompts::{Prompt, exchange, opens};
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::rules::requests::is_idle;
use crate::rules::words::{content_words, is_same};

/// What the next prompt is to one that was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It says the same, with more or otherwise.
    Anew,
    /// It only adds something: a picture, `go on`. What answers it answers both.
    GoesOn,
}

/// What the prompt behind the `nth` one is to it, where the agent was interrupted between them.
pub fn next_of(lines: &[LocatedItem<'_>], prompts: &[Prompt<'_, '_>], nth: usize) -> Option<Next> {
    let (prompt, next) = (prompts.get(nth)?, prompts.get(nth + 1)?);
    if !opens(prompt.line) || !opens(next.line) || !is_interrupted(exchange(lines, prompt.at)) {
        return None;
    }
    let (own, new) = (said(prompt), said(next));
    match () {
        () if own.len() >= ASKED_WORDS_MIN && is_anew(&own, &new) => Some(Next::Anew),
        () if new.len() <= ADDED_WORDS_MAX
            && new.len() < own.len()
            && was_only_begun(lines, prompt) =>
        {
            Some(Next::GoesOn)
        }
        () => None,
    }
}

/// With fewer words two prompts are alike by chance.
const ASKED_WORDS_MIN: usize = 4;

/// With more words that say something a prompt asks for something of its own.
const ADDED_WORDS_MAX: usize = 2;

/// Words of a prompt that say something.
fn said(prompt: &Prompt<'_, '_>) -> Vec<String> {
    let mut words = content_words(prompt.line.words());
    words.retain(|word| !is_idle(word));
    words
}

/// Most of the words stand in the other prompt, too.
fn is_anew(own: &[String], new: &[String]) -> bool {
    let is_told = |word: &&String| new.iter().any(|other| is_same(other, word));
    own.iter().filter(is_told).count() * 4 >= own.len() * 3
}

fn is_interrupted(exchange: &[LocatedItem<'_>]) -> bool {
    let last = exchange.iter().rfind(|line| line.main);
    last.is_some_and(|last| last.item.kind == ItemKind::Note && last.words() == INTERRUPTED)
}

/// The agent had said nothing yet.
fn was_only_begun(lines: &[LocatedItem<'_>], prompt: &Prompt<'_, '_>) -> bool {
    let mut main = exchange(lines, prompt.at).iter().filter(|line| line.main);
    main.all(|line| line.item.kind == ItemKind::Note)
}
