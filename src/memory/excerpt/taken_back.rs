//! Whether a person took back what an excerpt says, in what they said next. Knows one session's sentences; what
//! undoing sounds like is `rules::rollbacks`' to know.

use super::choose::Place;
use super::spans::{Span, Voice};
use crate::rules::rollbacks::{self, Language, is_same_topic};
use crate::rules::undoing_hints::{may_go_back, may_undo};
use std::collections::BTreeSet;

/// Objects by itself.
const PLAIN: u32 = 2;

/// Longer sentences are pasted text.
const SENTENCE_BYTES_MAX: usize = 240;

/// So are sentences of longer prompts: reviews, logs, what another agent said.
const PROMPT_BYTES_MAX: usize = 600;

/// The first sentence of a person, behind all that was chosen, that takes it back: right in the next prompt, or
/// later where it speaks of the same.
pub(super) fn taken_back<'a, 't>(
    episodes: &'a [Vec<Span<'t>>],
    chosen: &[Place],
) -> Option<&'a Span<'t>> {
    let (e, n) = *chosen.last()?;
    let after = episodes[e][n + 1..].iter().map(|span| (e, span));
    // only what follows directly: `episodes` are in order, and some may be missing between them
    let next = episodes.get(e + 1).into_iter().flatten();
    let after = after.chain(next.map(|span| (e + 1, span)));
    let mut said = after.filter(|(of, span)| {
        let is_short =
            || span.text.len() <= SENTENCE_BYTES_MAX && !is_long(&episodes[*of], span.item);
        span.voice == Voice::Person && !span.is_code && is_short()
    });
    let first = said.next()?;
    let is_next = |span: &Span<'_>, of: usize| (of, span.item) == (first.0, first.1.item);
    let mut topics: Option<BTreeSet<String>> = None;
    let all = std::iter::once(first).chain(said);
    let mut all = all.filter(|(_, span)| may_undo(span.text));
    all.find_map(|(of, span)| {
        let language = rollbacks::language(span.text)?;
        let is_next = is_next(span, of);
        // before it is read closely: what reads a sentence is compiled for it, which takes longer than all else
        if !is_next {
            let topics = topics.get_or_insert_with(|| topics_of(language, episodes, chosen));
            let own = language.topics(span.text);
            let is_shared = |one: &String| topics.iter().any(|other| is_same_topic(one, other));
            if !own.iter().any(is_shared) {
                return None;
            }
        }
        let read = language.sentence(span.text);
        let objects = read.rejects || read.weight >= PLAIN && read.begins_with_it;
        let goes_back = read.weight > 0 && read.points || may_go_back(span.text) && !read.requests;
        let takes_back = read.undoes && goes_back || is_next && objects;
        (takes_back && !read.is_question).then_some(span)
    })
}

/// All that was said in this prompt is more than a person types.
fn is_long(spans: &[Span<'_>], item: usize) -> bool {
    let of_it = spans.iter().filter(|span| span.item == item);
    of_it.map(|span| span.text.len()).sum::<usize>() > PROMPT_BYTES_MAX
}

fn topics_of(
    language: &Language,
    episodes: &[Vec<Span<'_>>],
    chosen: &[Place],
) -> BTreeSet<String> {
    let texts = chosen.iter().map(|(e, n)| episodes[*e][*n].text);
    texts.flat_map(|text| language.topics(text)).collect()
}
