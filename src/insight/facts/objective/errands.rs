//! Small errands at the head of a session, which are not what it was for, and what most was done for where the first
//! request was answered without work.

use super::super::further::{Next, next_of};
use super::super::line::{LocatedItem, edits};
use super::super::prompts::{Prompt, exchange, opens};
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::rules::requests::{is_errand, request};
use crate::rules::words::content_words;

/// With fewer prompts that ask for something, the first one is what a session was for.
const ASKING_MIN: usize = 6;

/// An errand takes no more calls, and no more words.
const CALLS_MAX: usize = 12;
const BYTES_MAX: usize = 120;

/// All that follows takes so many times the calls of an errand.
const TIMES_MIN: usize = 8;

/// How many of the first prompts are errands: short ones that put things in their place, before much else was asked.
pub(super) fn errands(lines: &[LocatedItem<'_>], asking: &[&Prompt<'_, '_>]) -> usize {
    let of = |prompt: &Prompt<'_, '_>| {
        let exchange = exchange(lines, prompt.at);
        let is_call = |line: &&LocatedItem<'_>| line.main && line.item.kind == ItemKind::Digest;
        (exchange.iter().filter(is_call).count(), edits(exchange))
    };
    let mut errands = 0;
    let mut calls = 0;
    for prompt in asking {
        let is_one = asking.len() - errands >= ASKING_MIN && is_short_errand(prompt);
        let (own, edits) = if is_one { of(prompt) } else { break };
        if own > CALLS_MAX || edits > 0 {
            break;
        }
        (errands, calls) = (errands + 1, calls + own);
    }
    let after = asking
        .get(errands)
        .map_or(&[][..], |next| &lines[next.at..]);
    let rest = after
        .iter()
        .filter(|line| line.item.kind == ItemKind::Digest);
    match rest.count() >= calls.max(1) * TIMES_MIN {
        true => errands,
        false => 0,
    }
}

fn is_short_errand(prompt: &Prompt<'_, '_>) -> bool {
    let words = prompt.line.words().trim();
    let asked = prompt.prose.sentences.iter().find_map(|one| request(one));
    let first = asked.and_then(|asked| content_words(asked.text).into_iter().next());
    words.len() <= BYTES_MAX && !words.contains('\n') && first.is_some_and(|word| is_errand(&word))
}

/// How many of the first prompts were stopped before anything was said or done, where the next one says what for, or
/// were written anew then.
pub(super) fn given_up(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    asking: &[&Prompt<'_, '_>],
) -> usize {
    const WORDS_MIN: usize = 5;
    let is_stopped = |prompt: &&&Prompt<'_, '_>| {
        let exchange = exchange(lines, prompt.at);
        let is_note = |line: &LocatedItem<'_>| line.item.kind == ItemKind::Note;
        let mut notes = exchange.iter().map(LocatedItem::words);
        exchange.iter().all(is_note) && notes.any(|words| words == INTERRUPTED)
    };
    let is_anew = |nth: &usize| next_of(lines, prompts, *nth) == Some(Next::Anew);
    let anew = (0..).take_while(is_anew).count();
    let is_one_of =
        |prompt: &&&Prompt<'_, '_>| prompts[..anew].iter().any(|one| one.at == prompt.at);
    let anew = asking.iter().take_while(is_one_of).count();
    if anew > 0 {
        return anew;
    }
    let given_up = asking.iter().take_while(is_stopped).count();
    let next = asking.get(given_up).filter(|_| given_up > 0);
    let says = next.is_some_and(|next| content_words(next.line.words()).len() >= WORDS_MIN);
    if says { given_up } else { 0 }
}

/// With fewer, a request is no core.
const EDITS_MIN: usize = 2;

/// The later prompt that most was changed for, more than for all others, where the first one changed nothing.
pub(super) fn core<'a, 'l, 't>(
    lines: &[LocatedItem<'_>],
    first: &Prompt<'_, '_>,
    others: &[&'a Prompt<'l, 't>],
) -> Option<&'a Prompt<'l, 't>> {
    let of = |prompt: &Prompt<'_, '_>| edits(exchange(lines, prompt.at));
    if of(first) > 0 {
        return None;
    }
    let opening = others.iter().filter(|prompt| opens(prompt.line));
    let all = opening.map(|prompt| (of(prompt), *prompt));
    // of two with as many, the earlier one
    let most = all.rev().max_by_key(|(edits, _)| *edits)?;
    (most.0 >= EDITS_MIN && most.0 * 2 >= edits(lines)).then_some(most.1)
}
