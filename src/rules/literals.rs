//! Literals of a table, looked for in a text. Most runs read a few lines, for which an automaton costs a hundred times
//! more than the search: so they are looked for by their first bytes, and an automaton is built once much was searched.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Input};
use std::iter;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Finds literals, one in another too.
pub struct LiteralFinder {
    quick: Beginnings,
    how: AhoCorasickBuilder,
    fast: OnceLock<AhoCorasick>,
    searched: AtomicUsize,
}

/// A literal in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiteralMatch {
    /// Its first byte.
    pub start: usize,
    /// Which one, in the order in which they were given.
    pub literal: usize,
    /// The byte behind it.
    pub end: usize,
}

impl LiteralFinder {
    /// Finds these.
    pub fn of(literals: Vec<String>) -> LiteralFinder {
        LiteralFinder {
            quick: Beginnings::of(literals, false),
            how: AhoCorasick::builder(),
            fast: OnceLock::new(),
            searched: AtomicUsize::new(0),
        }
    }

    /// Finds them in capital letters too.
    pub fn of_any_case(literals: Vec<String>) -> LiteralFinder {
        let mut how = AhoCorasick::builder();
        how.ascii_case_insensitive(true);
        LiteralFinder {
            how,
            quick: Beginnings::of(literals, true),
            fast: OnceLock::new(),
            searched: AtomicUsize::new(0),
        }
    }

    /// Whether one of them stands in a text.
    pub fn is_match(&self, text: &str) -> bool {
        match self.automaton(text) {
            Some(automaton) => automaton.is_match(text),
            None => self.quick.all(text.as_bytes()).next().is_some(),
        }
    }

    /// Whether one of them stands in a text that fits; each is asked for, in no order.
    pub fn any(&self, text: &str, mut fits: impl FnMut(LiteralMatch) -> bool) -> bool {
        match self.automaton(text) {
            Some(automaton) => {
                // where one stands is found in half the time: in most texts none does
                let first = automaton.find(text);
                let from =
                    first.map(|first| first.end().saturating_sub(automaton.max_pattern_len()));
                let rest = from.map(|from| Input::new(text).range(from..));
                let mut all = rest
                    .into_iter()
                    .flat_map(|rest| automaton.find_overlapping_iter(rest));
                all.any(|found| {
                    fits(LiteralMatch {
                        start: found.start(),
                        literal: found.pattern().as_usize(),
                        end: found.end(),
                    })
                })
            }
            None => self.quick.all(text.as_bytes()).any(fits),
        }
    }

    /// The first one of a text; of several that begin there the one that was given first.
    pub fn first(&self, text: &str) -> Option<LiteralMatch> {
        self.quick.all(text.as_bytes()).next()
    }

    /// Where one begins, from this byte on.
    pub fn places<'t>(&'t self, text: &'t str, from: usize) -> impl Iterator<Item = usize> + 't {
        let places = self.quick.places(text.as_bytes(), from);
        places.filter(move |start| self.is_at(text, *start))
    }

    /// Whether one begins at this byte.
    pub fn is_at(&self, text: &str, start: usize) -> bool {
        self.quick.at(text.as_bytes(), start).next().is_some()
    }

    /// Those that a text begins with.
    pub fn at_start<'t>(&'t self, text: &'t str) -> impl Iterator<Item = LiteralMatch> + 't {
        self.quick.at(text.as_bytes(), 0)
    }

    /// To search this text.
    fn automaton(&self, text: &str) -> Option<&AhoCorasick> {
        /// Where a full automaton has paid for itself.
        const BYTES_MANY: usize = 192 * 1024;
        if self.searched.fetch_add(text.len(), Ordering::Relaxed) < BYTES_MANY {
            return None;
        }
        Some(self.fast.get_or_init(|| {
            let mut full = self.how.clone();
            let full = full.kind(Some(AhoCorasickKind::DFA));
            full.build(&self.quick.literals).expect("literals")
        }))
    }
}

/// Literals by how they begin: made in a fraction of the time that an automaton takes.
struct Beginnings {
    literals: Vec<String>,
    any_case: bool,
    /// Which bits of three bytes are compared: those of the shortest literal, without what tells capital letters.
    compared: u32,
    /// Bits that small and capital letters don't share.
    case: u32,
    /// One for each [`place`] where a literal begins.
    begins: [u64; PLACES / 64],
    /// How each literal begins, in order of that.
    heads: Vec<(u32, usize)>,
}

/// Two kilobits: with a hundred literals, one in twenty texts that begin otherwise is looked at twice.
const PLACES: usize = 1 << 11;

/// Bytes of a beginning, at most.
const HEAD: usize = 3;

impl Beginnings {
    fn of(literals: Vec<String>, any_case: bool) -> Beginnings {
        let shortest = literals.iter().map(String::len).min().unwrap_or(HEAD);
        assert!(shortest > 0, "an empty literal is everywhere");
        let mut all = Beginnings {
            any_case,
            compared: u32::MAX >> (8 * (4 - shortest.min(HEAD))),
            case: if any_case { 0x20_2020 } else { 0 },
            begins: [0; PLACES / 64],
            heads: Vec::with_capacity(literals.len()),
            literals,
        };
        for nth in 0..all.literals.len() {
            let head = all.head(all.literals[nth].as_bytes());
            all.heads.push((head, nth));
            let place = place(head);
            all.begins[place / 64] |= 1 << (place % 64);
        }
        all.heads.sort_unstable();
        all
    }

    /// How a text begins, as far as it is compared.
    #[inline(always)]
    fn head(&self, text: &[u8]) -> u32 {
        let bytes = match *text {
            [a, b, c, ..] => [a, b, c, 0],
            [a, b] => [a, b, 0, 0],
            [a] => [a, 0, 0, 0],
            [] => [0; 4],
        };
        (u32::from_le_bytes(bytes) | self.case) & self.compared
    }

    /// All of a text, in order of where they begin; those of one place in order of the literals.
    fn all<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = LiteralMatch> + 't {
        let places = self.places(text, 0);
        places.flat_map(move |start| self.at(text, start))
    }

    /// Where one may begin, from this byte on.
    fn places<'t>(&'t self, text: &'t [u8], from: usize) -> impl Iterator<Item = usize> + 't {
        let mut here = from;
        iter::from_fn(move || {
            here = self.next(text, here)? + 1;
            Some(here - 1)
        })
    }

    /// The first place where one may begin, from this byte on.
    fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let left = text.get(from..)?;
        let may_begin = |head: u32| {
            let place = place(head);
            self.begins[place / 64] & (1 << (place % 64)) != 0
        };
        // four bytes are read at once; the last of them isn't compared
        let whole = left.windows(HEAD + 1).position(|bytes| {
            let bytes = bytes
                .first_chunk()
                .map_or(0, |head| u32::from_le_bytes(*head));
            may_begin((bytes | self.case) & self.compared)
        });
        let found = whole.or_else(|| {
            let ends = left.len().saturating_sub(HEAD)..left.len();
            ends.into_iter()
                .find(|at| may_begin(self.head(&left[*at..])))
        });
        found.map(|at| from + at)
    }

    /// Those that begin at this byte.
    fn at<'t>(&'t self, text: &'t [u8], start: usize) -> impl Iterator<Item = LiteralMatch> + 't {
        let text = text.get(start..).unwrap_or_default();
        let head = self.head(text);
        let first = self.heads.partition_point(|(other, _)| *other < head);
        let begun = self.heads[first..].iter();
        let begun = begun.take_while(move |(other, _)| *other == head);
        begun.filter_map(move |(_, literal)| {
            let words = self.literals[*literal].as_bytes();
            let there = text.get(..words.len())?;
            let is_there = match self.any_case {
                true => there.eq_ignore_ascii_case(words),
                false => there == words,
            };
            is_there.then_some(LiteralMatch {
                start,
                literal: *literal,
                end: start + words.len(),
            })
        })
    }
}

#[inline(always)]
fn place(head: u32) -> usize {
    head.wrapping_mul(0x9e37_79b1) as usize >> 21
}

#[cfg(test)]
mod tests {
    use super::*;
    use aho_corasick::MatchKind;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_an_automaton_finds(
            literals in vec("[ab~ é]{1,5}", 1..9),
            text in "[abAB~É é]{0,40}",
            any_case: bool,
        ) {
            let mut how = AhoCorasick::builder();
            let how = how.ascii_case_insensitive(any_case);
            let finder = match any_case {
                true => LiteralFinder::of_any_case(literals.clone()),
                false => LiteralFinder::of(literals.clone()),
            };
            let all = |finder: &LiteralFinder| {
                let mut found = Vec::new();
                finder.any(&text, |one| {
                    found.push(one);
                    false
                });
                found.sort_unstable();
                found
            };
            let automaton = how.build(&literals).expect("literals");
            let mut wants: Vec<_> = automaton
                .find_overlapping_iter(&text)
                .map(|one| LiteralMatch {
                    start: one.start(),
                    literal: one.pattern().as_usize(),
                    end: one.end(),
                })
                .collect();
            wants.sort_unstable();
            prop_assert_eq!(&all(&finder), &wants);
            prop_assert_eq!(finder.is_match(&text), !wants.is_empty());
            let at_start: Vec<_> = finder.at_start(&text).collect();
            let wants_at_start = wants.iter().copied().take_while(|one| one.start == 0);
            prop_assert_eq!(at_start, wants_at_start.collect::<Vec<_>>());
            let leftmost = how.match_kind(MatchKind::LeftmostFirst).build(&literals);
            let leftmost = leftmost.expect("literals").find(&text);
            prop_assert_eq!(
                finder.first(&text).map(|one| (one.start, one.literal)),
                leftmost.map(|one| (one.start(), one.pattern().as_usize()))
            );
            finder.searched.store(1 << 20, Ordering::Relaxed);
            prop_assert_eq!(&all(&finder), &wants);
            prop_assert_eq!(finder.is_match(&text), !wants.is_empty());
        }
    }

    #[test]
    fn none_are_found_of_none() {
        let none = LiteralFinder::of(Vec::new());
        assert!(!none.is_match("a text") && none.first("").is_none());
    }
}
