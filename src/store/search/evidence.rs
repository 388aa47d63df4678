//! Where a text has a query's terms, and what tells whether two texts are the same one.
//! Knows words and places; refuses to know SQL and what a place is worth.

use crate::store::search::pattern::{Choice, Pattern};
use crate::store::search::words::{Word, scan};
use rustc_hash::FxHashMap;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// Where a text has a term of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermPosition {
    /// The term, by its index in the query.
    pub term: usize,
    /// Its first word, counted from the text's beginning.
    pub word: usize,
}

/// What an episode's text says about a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// In the order of the text.
    pub positions: Vec<TermPosition>,
    /// All words of the text.
    pub words: usize,
    /// Terms that the title has.
    pub title: Vec<usize>,
    /// Stands for the whole text; empty for the shortest.
    pub sketch: Sketch,
}

/// The smallest hashes of a text's stretches, in order: texts that are nearly the same share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch(Vec<u64>);

/// Hashes of a sketch. Fewer: texts that differ in a fifth look the same.
const SKETCH_HASHES: usize = 32;

/// Words of a stretch.
const STRETCH_WORDS: usize = 4;

impl Sketch {
    /// How much of both texts is the same, from 0 to 1, give or take a tenth.
    pub fn likeness(&self, other: &Sketch) -> f64 {
        let mut all: Vec<u64> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable();
        let shared: Vec<u64> = all
            .windows(2)
            .filter(|w| w[0] == w[1])
            .map(|w| w[0])
            .collect();
        all.dedup();
        all.truncate(SKETCH_HASHES);
        if all.is_empty() {
            return 0.0;
        }
        let both = all.iter().filter(|hash| shared.contains(hash)).count();
        both as f64 / all.len() as f64
    }

    fn take(&mut self, hash: u64) {
        let full = self.0.len() == SKETCH_HASHES;
        if full && self.0.last().is_some_and(|last| hash >= *last) {
            return;
        }
        if let Err(at) = self.0.binary_search(&hash) {
            self.0.insert(at, hash);
            self.0.truncate(SKETCH_HASHES);
        }
    }
}

/// A match with its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) pattern: usize,
    word: usize,
}

/// A text that was read.
pub(crate) struct Reading {
    /// By their start.
    pub(crate) matches: Vec<Match>,
    words: usize,
    sketch: Sketch,
}

impl Reading {
    /// The same without what begins in one of these bytes.
    pub(crate) fn without(mut self, echoes: &[Range<usize>]) -> Reading {
        let is_echo = |found: &Match| echoes.iter().any(|echo| echo.contains(&found.start));
        self.matches.retain(|found| !is_echo(found));
        self
    }

    /// Without bytes.
    pub(crate) fn evidence(self, title: Vec<usize>) -> Evidence {
        let positions = self.matches.into_iter().map(|found| TermPosition {
            term: found.pattern,
            word: found.word,
        });
        Evidence {
            positions: positions.collect(),
            words: self.words,
            title,
            sketch: self.sketch,
        }
    }
}

/// Finds patterns in texts.
pub(crate) struct Finder<'p> {
    /// By the first word: what the words from there on have to be.
    by_word: FxHashMap<&'p str, Vec<(usize, Option<&'p Choice>)>>,
    /// One word that may go on.
    beginnings: Vec<(usize, &'p str)>,
    /// Names in one piece.
    glued: FxHashMap<&'p str, Vec<usize>>,
}

impl<'p> Finder<'p> {
    pub(crate) fn new(patterns: &'p [Pattern]) -> Finder<'p> {
        let mut finder = Finder {
            by_word: FxHashMap::default(),
            beginnings: Vec::new(),
            glued: FxHashMap::default(),
        };
        for (n, pattern) in patterns.iter().enumerate() {
            pattern
                .choices
                .iter()
                .for_each(|choice| finder.add(n, choice));
            for form in pattern.forms.iter().chain(&pattern.kin) {
                finder.by_word.entry(form).or_default().push((n, None));
            }
        }
        finder
    }

    fn add(&mut self, n: usize, choice: &'p Choice) {
        match choice.words.as_slice() {
            [word] if choice.prefix => self.beginnings.push((n, word)),
            [word] => {
                self.by_word.entry(word).or_default().push((n, None));
                self.glued.entry(word).or_default().push(n);
            }
            [first, ..] => {
                let rest = (n, Some(choice));
                self.by_word.entry(first).or_default().push(rest);
            }
            [] => {}
        }
        match &choice.glued {
            Some(glued) if choice.prefix => self.beginnings.push((n, glued)),
            Some(glued) => self.glued.entry(glued).or_default().push(n),
            None => {}
        }
    }

    /// Everything that `text` has. Some 50 MB/s.
    pub(crate) fn read(&self, text: &str) -> Reading {
        let words = Words::of(text);
        let mut matches = Vec::new();
        for i in 0..words.places.len() {
            let word = words.at(i);
            let mut found = |pattern: usize, words_long: usize| {
                matches.push(Match {
                    start: words.places[i].start,
                    end: words.places[i + words_long - 1].end,
                    pattern,
                    word: i,
                });
            };
            for (pattern, choice) in self.by_word.get(word).into_iter().flatten() {
                match choice {
                    None => found(*pattern, 1),
                    Some(choice) if choice.matches(words.from(i)) => {
                        found(*pattern, choice.words.len());
                    }
                    Some(_) => {}
                }
            }
            let goes_on = |(_, begin): &&(usize, &str)| word.starts_with(begin);
            self.beginnings
                .iter()
                .filter(goes_on)
                .for_each(|(pattern, _)| found(*pattern, 1));
        }
        self.read_glued(&words, &mut matches);
        matches.sort_by_key(|m| (m.start, m.end, m.pattern));
        matches.dedup_by_key(|m| (m.start, m.end, m.pattern));
        Reading {
            matches,
            words: words.places.len(),
            sketch: words.sketch(),
        }
    }

    fn read_glued(&self, words: &Words, matches: &mut Vec<Match>) {
        for (glued, place, word) in &words.glued {
            let whole = self
                .glued
                .get(glued.as_str())
                .into_iter()
                .flatten()
                .copied();
            let begun = self.beginnings.iter().filter(|(_, b)| glued.starts_with(b));
            for pattern in whole.chain(begun.map(|(pattern, _)| *pattern)) {
                matches.push(Match {
                    start: place.start,
                    end: place.end,
                    pattern,
                    word: *word,
                });
            }
        }
    }
}

/// A text's words in a row.
struct Words {
    /// One after the other.
    text: String,
    places: Vec<Span>,
    /// Names in one piece, where they are, and the number of their first word.
    glued: Vec<(String, Span, usize)>,
}

/// Bytes of a word: among the words, and in the text.
#[derive(Clone, Copy)]
struct Span {
    from: usize,
    to: usize,
    start: usize,
    end: usize,
}

impl Words {
    fn of(text: &str) -> Words {
        let mut buffer = Vec::with_capacity(text.len());
        let mut places = Vec::new();
        let mut glued = Vec::new();
        scan(text, |word: Word<'_>| {
            let from = buffer.len();
            let mut span = Span {
                from,
                to: from,
                start: word.start,
                end: word.end,
            };
            if word.glued {
                let first = places.partition_point(|place: &Span| place.start < span.start);
                glued.push((word.text(), span, first));
            } else {
                word.write(&mut buffer);
                span.to = buffer.len();
                places.push(span);
            }
        });
        Words {
            text: String::from_utf8(buffer).unwrap_or_default(),
            places,
            glued,
        }
    }

    fn at(&self, i: usize) -> &str {
        let Span { from, to, .. } = self.places[i];
        self.text.get(from..to).unwrap_or_default()
    }

    fn from(&self, i: usize) -> impl Iterator<Item = &str> {
        (i..self.places.len()).map(|i| self.at(i))
    }

    fn sketch(&self) -> Sketch {
        let mut sketch = Sketch::default();
        for stretch in self.places.windows(STRETCH_WORDS) {
            let bytes = self.text.as_bytes();
            let (from, to) = (stretch[0].from, stretch[STRETCH_WORDS - 1].to);
            sketch.take(xxh3_64(bytes.get(from..to).unwrap_or_default()));
        }
        sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Term;

    fn sketch(text: &str) -> Sketch {
        Words::of(text).sketch()
    }

    #[test]
    fn a_name_in_one_piece_stands_where_its_first_word_does() {
        let term = |text: &str| Term {
            text: text.into(),
            ..Term::default()
        };
        let all = ["serve", "McGee's", "gee", "bar"].map(term);
        let patterns: Vec<Pattern> = all.iter().filter_map(Pattern::new).collect();
        let text = "do they serve stout at McGee's bar or in mcgee-bar?";
        let positions = Finder::new(&patterns).read(text).evidence(vec![]).positions;
        assert!(
            positions.is_sorted_by_key(|place| place.word),
            "{positions:?}"
        );
        assert!(positions.contains(&TermPosition { term: 1, word: 5 }));
    }

    #[test]
    fn texts_that_are_nearly_the_same_look_so_and_others_do_not() {
        let lines: Vec<String> = (0..60)
            .map(|n| format!("line {n} says {}", n * 7))
            .collect();
        let text = lines.join("\n");
        assert_eq!(sketch(&text).likeness(&sketch(&text)), 1.0);
        let longer = format!("{text}\none more line at its end");
        assert!(sketch(&text).likeness(&sketch(&longer)) > 0.8);
        let other = text.replace("says", "tells");
        assert!(sketch(&text).likeness(&sketch(&other)) < 0.2);
        assert_eq!(sketch("too short").likeness(&sketch("too short")), 0.0);
    }
}
