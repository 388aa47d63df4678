//! What texts are worth to a question by its words: BM25 of all that a session says, and of the stretches of
//! a text that say most of it. Pure.

use crate::store::TermPosition;

/// Words in a row in which a question's words stand close together. Wider: whole summaries count as one
/// sentence; narrower: a digest between a question and its answer parts them.
const PASSAGE_WORDS: usize = 30;

/// Words of a sentence.
const SENTENCE_WORDS: usize = 12;

/// Stretches of a text that are looked for, in words: a sentence, a passage, a few turns of a talk.
const STRETCHES_WORDS: [usize; 3] = [SENTENCE_WORDS, PASSAGE_WORDS, 100];

/// What each of the best stretches counts beside the whole session.
const STRETCH: f64 = 0.6;

/// How soon saying a word again adds nothing (BM25's k1): in a stretch, and in a session, where more is said.
const STRETCH_SATURATION: f64 = 1.2;
const SESSION_SATURATION: f64 = 2.0;

/// How much the length of a session counts against it (BM25's b).
const LENGTH: f64 = 0.75;

/// A smaller store is judged as one of so many episodes. Fewer: in a store of one or two, no word that is
/// there says anything, and every word that isn't says all; more: it is sure of any two words.
pub(super) const FEW_EPISODES: u64 = 10;

/// In a store of so many episodes it is known how common a word is.
const MANY_EPISODES: u64 = 100;

/// How far a store has grown from one of which every word is rare to one that says how common words are:
/// from 0 to 1.
pub(super) fn grown(episodes: u64) -> f64 {
    let times = |episodes: u64| (episodes as f64 / FEW_EPISODES as f64).ln();
    (times(episodes.max(1)) / times(MANY_EPISODES)).clamp(0.0, 1.0)
}

/// How much each term of a question says.
pub(super) struct TermWeights {
    /// The logarithm of how few episodes have it, 0 for what half of them have.
    pub(super) rarity: Vec<f64>,
    /// The same to order by: what half of them have says something too.
    pub(super) weights: Vec<f64>,
}

impl TermWeights {
    /// By how many of all episodes have each.
    pub(super) fn new(documents: &[u64], episodes: u64) -> TermWeights {
        let odds = || documents.iter().map(|with| odds_against(*with, episodes));
        TermWeights {
            rarity: odds().map(|odds| odds.ln().max(1e-6)).collect(),
            weights: odds().map(f64::ln_1p).collect(),
        }
    }
}

fn odds_against(documents: u64, episodes: u64) -> f64 {
    let all = episodes.max(documents).max(FEW_EPISODES) as f64;
    let with = documents as f64;
    (all - with + 0.5) / (with + 0.5)
}

/// The stretch of a text that has most of what was asked for.
#[derive(Debug, Default)]
pub(super) struct Passage {
    pub(super) weight: f64,
    pub(super) terms: Vec<usize>,
}

/// The best passage by the terms that it has, however often.
pub(super) fn passage(positions: &[TermPosition], weights: &[f64]) -> Passage {
    best_within(PASSAGE_WORDS, positions, weights)
}

/// The same of as many words as a sentence has.
pub(super) fn sentence(positions: &[TermPosition], weights: &[f64]) -> Passage {
    best_within(SENTENCE_WORDS, positions, weights)
}

fn best_within(words: usize, positions: &[TermPosition], weights: &[f64]) -> Passage {
    stretch(positions, weights, words, |count| f64::from(count.min(1)))
}

/// What the best stretches of a text are worth together.
pub(super) fn stretches(positions: &[TermPosition], weights: &[f64]) -> f64 {
    let worth = |count| saturated(count, STRETCH_SATURATION, 1.0);
    let best = |words| stretch(positions, weights, words, worth).weight;
    STRETCH * STRETCHES_WORDS.map(best).iter().sum::<f64>()
}

/// The best stretch of at most so many words, where a term that stands there so often is `worth` so much of
/// its weight.
fn stretch(
    positions: &[TermPosition],
    weights: &[f64],
    words: usize,
    worth: impl Fn(u32) -> f64,
) -> Passage {
    let mut counts = vec![0_u32; weights.len()];
    let (mut weight, mut first) = (0.0, 0);
    let mut best = Passage::default();
    for place in positions {
        let count = &mut counts[place.term];
        weight += weights[place.term] * (worth(*count + 1) - worth(*count));
        *count += 1;
        while place.word - positions[first].word > words {
            let left = positions[first].term;
            weight -= weights[left] * (worth(counts[left]) - worth(counts[left] - 1));
            counts[left] -= 1;
            first += 1;
        }
        if weight > best.weight {
            best.weight = weight;
            best.terms = (0..counts.len()).filter(|term| counts[*term] > 0).collect();
        }
    }
    best
}

/// What is said together, as it is counted for BM25.
#[derive(Clone, Debug, Default)]
pub(super) struct WordCounts {
    /// How often it has each term.
    counts: Vec<u32>,
    /// All its words.
    pub(super) words: usize,
}

impl WordCounts {
    /// Adds a text of so many words.
    pub(super) fn add(&mut self, positions: &[TermPosition], words: usize) {
        self.words += words;
        for TermPosition { term, .. } in positions {
            if self.counts.len() <= *term {
                self.counts.resize(term + 1, 0);
            }
            self.counts[*term] += 1;
        }
    }

    /// BM25 among others that have so many words on average.
    pub(super) fn bm25(&self, weights: &[f64], words_average: f64) -> f64 {
        let length = 1.0 - LENGTH + LENGTH * self.words as f64 / words_average.max(1.0);
        let each = weights.iter().zip(&self.counts);
        each.map(|(weight, count)| weight * saturated(*count, SESSION_SATURATION, length))
            .sum()
    }
}

fn saturated(count: u32, saturation: f64, length: f64) -> f64 {
    let count = f64::from(count);
    count * (saturation + 1.0) / (count + saturation * length)
}
