//! Which sentences of a session answer a question: those that say what it asks for, near to what it asks about.
//! Pure. The constants were chosen on one half of `fixtures/truth/recall.jsonl`; around them the figure hardly
//! changes.

use super::spans::{Span, Voice};
use crate::rules::narration::is_narration;

/// A sentence of several episodes: which episode, and which of its sentences.
pub(super) type Place = (usize, usize);

/// What a term of the question counts that stands not in a sentence but beside it, in the heading over it, in the
/// same words, or in the prompt that they answer.
const BESIDE: f64 = 0.5;
const HEADING: f64 = 0.5;
const SAME_WORDS: f64 = 0.25;
const PROMPT: f64 = 0.4;

/// What a sentence is worth that has all that, by whose it is and what it does.
const PERSON: f64 = 0.9;
const PROGRAM: f64 = 0.4;
const CODE: f64 = 0.7;
const QUESTION: f64 = 0.6;
const NARRATION: f64 = 0.45;
const LAST_WORD: f64 = 1.25;
const HEADLINE: f64 = 0.6;
const SHORT: f64 = 0.7;
/// Shorter ones hardly say anything.
const SHORT_CHARS: usize = 25;

/// What a term is worth in a further sentence where one that was chosen has it.
const AGAIN: f64 = 0.5;

/// What a further sentence gains directly behind or before one that was chosen, and in the same exchange.
const BEHIND: f64 = 1.3;
const BEFORE: f64 = 1.1;
const IN_EXCHANGE: f64 = 1.15;

/// A further sentence that is so many times as long as [`USUAL_CHARS`] is worth so much less, as a power.
const LONG: f64 = 0.3;
const USUAL_CHARS: f64 = 120.0;

/// Below this share of the best one's worth, a further sentence is left out.
const FURTHER_MIN: f64 = 0.12;

/// Sentences of an excerpt. More: crumbs.
const SENTENCES_MAX: usize = 14;

/// The best sentences that fit into so many characters, in their order; each takes what `cost` says.
pub(super) fn choose(
    episodes: &[Vec<Span<'_>>],
    weights: &[f64],
    room: usize,
    cost: impl Fn(&Span<'_>) -> usize,
) -> Vec<Place> {
    let mut open: Vec<(Place, Judged, usize)> = Vec::new();
    for (e, spans) in episodes.iter().enumerate() {
        let judged = judge(spans, weights).into_iter().enumerate();
        open.extend(judged.map(|(n, judged)| ((e, n), judged, cost(&spans[n]))));
    }
    let mut chosen: Vec<Place> = Vec::new();
    let mut has = vec![false; weights.len()];
    let (mut left, mut best) = (room, 0.0);
    while chosen.len() < SENTENCES_MAX {
        let worth = |(place, judged, chars): &(Place, Judged, usize)| {
            let worth = judged.worth(weights, &has);
            if chosen.is_empty() {
                return worth;
            }
            let long = (*chars as f64 / USUAL_CHARS).max(0.4).powf(LONG);
            worth * nearness(episodes, &chosen, *place) / long
        };
        let fits = open.iter().filter(|(_, _, chars)| *chars <= left);
        let next = fits.map(|one| (worth(one), one.0, one.2));
        // the first of equals
        let next = next.reduce(|a, b| if b.0 > a.0 { b } else { a });
        let Some((worth, place, chars)) = next.filter(|(worth, ..)| *worth > FURTHER_MIN * best)
        else {
            break;
        };
        best = f64::max(best, worth);
        left -= chars;
        let terms = &episodes[place.0][place.1].terms;
        terms.iter().for_each(|term| has[*term] = true);
        open.retain(|(other, ..)| *other != place);
        chosen.push(place);
    }
    chosen.sort_unstable();
    chosen
}

/// What a sentence has of each term, and what it is worth besides.
struct Judged {
    terms: Vec<f64>,
    factor: f64,
}

impl Judged {
    fn worth(&self, weights: &[f64], has: &[bool]) -> f64 {
        let each = self.terms.iter().zip(weights).zip(has);
        let worth = each.map(|((share, weight), has)| {
            let again = if *has { AGAIN } else { 1.0 };
            share * weight * again
        });
        worth.sum::<f64>() * self.factor
    }
}

fn judge(spans: &[Span<'_>], weights: &[f64]) -> Vec<Judged> {
    let count = weights.len();
    let rows = |at: fn(&Span<'_>) -> usize| spans.last().map_or(0, |last| at(last) + 1);
    let mut of_item = vec![vec![false; count]; rows(|span| span.item)];
    let mut of_prompt = vec![vec![false; count]; rows(|span| span.exchange)];
    for span in spans {
        for term in &span.terms {
            of_item[span.item][*term] = true;
            of_prompt[span.exchange][*term] |= span.voice == Voice::Person;
        }
    }
    let mut heading: Option<&Span<'_>> = None;
    let each = spans.iter().enumerate().map(|(n, span)| {
        let mut terms = vec![0.0_f64; count];
        let mut add = |has: &[usize], share: f64| {
            let each = has.iter();
            each.for_each(|term| terms[*term] = terms[*term].max(share));
        };
        add(&span.terms, 1.0);
        let is_together = |other: &&Span<'_>| other.item == span.item;
        let beside = [n.checked_sub(1), Some(n + 1)].into_iter().flatten();
        for other in beside.filter_map(|n| spans.get(n).filter(is_together)) {
            add(&other.terms, BESIDE);
        }
        heading = heading.filter(|over| is_together(over));
        if let Some(over) = heading {
            add(&over.terms, HEADING);
        }
        for (term, share) in terms.iter_mut().enumerate() {
            if of_item[span.item][term] {
                *share = share.max(SAME_WORDS);
            }
            if of_prompt[span.exchange][term] {
                *share = share.max(PROMPT);
            }
        }
        if span.is_heading {
            heading = Some(span);
        }
        let factor = factor(span);
        Judged { terms, factor }
    });
    each.collect()
}

fn factor(span: &Span<'_>) -> f64 {
    let rows = [
        (span.voice == Voice::Person, PERSON),
        (span.voice == Voice::Program, PROGRAM),
        (span.is_code, CODE),
        (span.text.ends_with('?'), QUESTION),
        (
            span.voice == Voice::Agent && is_narration(span.text),
            NARRATION,
        ),
        (span.is_last_word, LAST_WORD),
        (span.is_heading, HEADLINE),
        (span.text.chars().count() < SHORT_CHARS, SHORT),
    ];
    let factors = rows.iter().filter(|(is, _)| *is).map(|(_, factor)| factor);
    factors.product()
}

/// What a sentence's place is worth beside those that were chosen.
fn nearness(episodes: &[Vec<Span<'_>>], chosen: &[Place], (e, n): Place) -> f64 {
    let span = &episodes[e][n];
    let in_episode = chosen.iter().filter(|(other, _)| *other == e);
    let worth = in_episode.map(|(_, nth)| {
        let other = &episodes[e][*nth];
        let is_together = other.item == span.item;
        match () {
            () if is_together && nth + 1 == n => BEHIND,
            () if is_together && n + 1 == *nth => BEFORE,
            () if other.exchange == span.exchange => IN_EXCHANGE,
            () => 1.0,
        }
    });
    worth.fold(1.0, f64::max)
}
