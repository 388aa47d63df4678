//! Prompts that somebody interrupted the agent behind, to write them anew or to add something.

use super::super::line::LocatedItem;
use super::super::prompts::{Prompt, exchange, opens};
use super::became::changes;
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::rules::requests::{goes_on, is_idle};
use crate::rules::words::{content_words, is_same};
use rustc_hash::FxHashSet;

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
    let (asked, then) = (prompt.line.words(), next.line.words());
    let begun = exchange(lines, prompt.at);
    let is_done = || {
        begun
            .iter()
            .flat_map(|line| line.item.findings)
            .any(changes)
    };
    if goes_on(then) && was_only_begun(begun) {
        return Some(Next::GoesOn);
    }
    if then.len() < asked.len() / 2 || is_done() || !is_alike(asked, then) {
        return None;
    }
    let (own, new) = (said(prompt), said(next));
    (own.len() >= ASKED_WORDS_MIN && is_anew(&own, &new)).then_some(Next::Anew)
}

/// With fewer words two prompts are alike by chance.
const ASKED_WORDS_MIN: usize = 4;

/// Words of a prompt that say something.
fn said(prompt: &Prompt<'_, '_>) -> Vec<String> {
    let mut words = content_words(prompt.line.words());
    words.retain(|word| !is_idle(word));
    words
}

/// Of eight words at most one doesn't stand in the other prompt, too: what was said otherwise is something else.
fn is_anew(own: &[String], new: &[String]) -> bool {
    let known: FxHashSet<&String> = new.iter().collect();
    let is_other =
        |word: &&String| !known.contains(word) && !new.iter().any(|other| is_same(other, word));
    own.iter().filter(is_other).nth(own.len() / 8).is_none()
}

/// Both ask for work, or both ask a question, and neither says no to the other.
fn is_alike(one: &str, other: &str) -> bool {
    let is_question = |text: &str| text.trim_end().ends_with('?');
    let denies = |text: &str| {
        let words = text.to_lowercase();
        let mut words = words.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
        words.any(|word| {
            matches!(word, "not" | "never" | "no") || word.ends_with("n't") || word.ends_with("n’t")
        })
    };
    is_question(one) == is_question(other) && denies(one) == denies(other)
}

fn is_interrupted(exchange: &[LocatedItem<'_>]) -> bool {
    let last = exchange.iter().rfind(|line| line.main);
    last.is_some_and(|last| last.item.kind == ItemKind::Note && last.words() == INTERRUPTED)
}

/// The agent had said nothing yet.
fn was_only_begun(begun: &[LocatedItem<'_>]) -> bool {
    let mut main = begun.iter().filter(|line| line.main);
    main.all(|line| line.item.kind == ItemKind::Note)
}
