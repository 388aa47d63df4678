//! Decisions that were made so far: each is told once, and how it stands at the end.

use super::super::line::LocatedItem;
use super::super::words;
use super::topics::{is_same_topic, topic};
use crate::model::summary::{Decision, Sourced};
use crate::rules::decisions::is_against;
use crate::rules::words::{content_words, is_same};

/// Somebody was asked, and answered.
pub(super) const ANSWERED: u8 = 0;
/// Somebody agreed with an offer, or chose with more words than a name.
pub(super) const AGREED: u8 = 1;
/// It stands below a heading that calls it a decision.
pub(super) const HEADED: u8 = 0;

/// A decision, and what it was chosen from.
#[derive(Default)]
pub(super) struct Choice {
    /// How sure it is one: the lower, the surer.
    pub rank: u8,
    pub decision: Decision,
    /// The short name under which a form asked for it.
    pub header: String,
    /// What else stood there to be chosen.
    pub others: Vec<String>,
}

impl Choice {
    pub fn of(rank: u8, decision: Decision) -> Choice {
        Choice {
            rank,
            decision,
            ..Choice::default()
        }
    }
}

/// A decision with where it was made.
struct Ranked {
    rank: u8,
    header: String,
    topic: Vec<String>,
    decision: Sourced<Decision>,
}

/// All of one side, in order.
#[derive(Default)]
pub(super) struct Made {
    /// What the other side decided about.
    known: Vec<Vec<String>>,
    all: Vec<Ranked>,
    /// So many of them are done, and replaced by nothing.
    done: usize,
}

impl Made {
    /// None yet; what others decided isn't told again.
    pub fn beside(others: &[Sourced<Decision>]) -> Made {
        Made {
            known: others.iter().map(|told| topic(&told.what)).collect(),
            ..Made::default()
        }
    }

    /// What was decided so far is in a commit.
    pub fn done(&mut self) {
        self.done = self.all.len();
    }

    /// Adds what nobody has decided yet, in place of what it replaces.
    pub fn add(&mut self, line: &LocatedItem<'_>, choice: Choice) {
        let words = topic(&choice.decision);
        let mut nth = 0;
        self.all.retain(|known| {
            nth += 1;
            let is_open = nth > self.done && known.decision.line < line.line;
            !(is_open && is_replaced_by(known, &choice, &words))
        });
        if self.known.iter().any(|known| is_same_topic(known, &words)) {
            return;
        }
        let mut known = self.all.iter_mut();
        if let Some(before) = known.find(|known| is_same_topic(&known.topic, &words)) {
            if before.decision.line < line.line {
                take_back(&mut before.decision.what, &choice.decision);
            }
            return;
        }
        self.all.push(Ranked {
            rank: choice.rank,
            header: choice.header,
            topic: words,
            decision: line.source(choice.decision),
        });
    }

    /// All of them.
    pub fn all(&self) -> Vec<Sourced<Decision>> {
        let all = self.all.iter();
        all.map(|ranked| ranked.decision.clone()).collect()
    }

    /// The surest ones, in the order in which they were made.
    pub fn surest(mut self, most: usize) -> Vec<Sourced<Decision>> {
        let all = &mut self.all;
        while all.len() > most {
            let last = (0..all.len()).max_by_key(|nth| (all[*nth].rank, *nth));
            last.map(|nth| all.remove(nth));
        }
        let all = self.all.into_iter();
        all.map(|ranked| ranked.decision).collect()
    }
}

/// A form asked the same once more, or what was chosen stood there again and something else was taken.
fn is_replaced_by(known: &Ranked, choice: &Choice, words: &[String]) -> bool {
    const SHARED_MIN: usize = 2;
    let in_words = |word: &&String| words.iter().any(|own| is_same(own, word));
    let shared = || known.topic.iter().filter(in_words).count();
    let is_again =
        !choice.header.is_empty() && choice.header == known.header && shared() >= SHARED_MIN;
    let is_other = |other: &String| is_same_topic(&content_words(other), &known.topic);
    is_again || choice.others.iter().any(is_other)
}

/// Tells a decision with the later one that is against it: ` (later: don't use Redis for carts)`.
fn take_back(told: &mut Decision, later: &Decision) {
    let is_taken_back = told.decision.contains(LATER);
    let is_other = is_against(&told.decision) != is_against(&later.decision);
    if !is_taken_back && (is_other || is_replaced(told, later)) {
        let later = words::shortened(&later.decision, LATER_CHARS_MAX);
        told.decision.push_str(&format!("{LATER}{later})"));
    }
}

/// The later one chooses something instead of what was chosen before.
fn is_replaced(told: &Decision, later: &Decision) -> bool {
    let chosen = content_words(&told.decision);
    let left = content_words(told.instead_of.as_deref().unwrap_or_default());
    let has = |words: &[String], word: &String| words.iter().any(|own| is_same(own, word));
    let instead = content_words(later.instead_of.as_deref().unwrap_or_default());
    let mut instead = instead.iter();
    instead.any(|word| has(&chosen, word) && !has(&left, word))
}

/// Stands between a decision and the later one.
pub(super) const LATER: &str = " (later: ";

/// So much says what became of it.
const LATER_CHARS_MAX: usize = 120;
