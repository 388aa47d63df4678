//! Patterns over one English sentence, for tables in which a cue of a few letters decides whether a pattern
//! is tried at all. A run of one line compiles a few of them for one search each; a first run searches
//! thousands of sentences, of which few match. So a pattern is compiled once, to what says whether it matches
//! and makes its states only as a text asks for them; groups are looked for where it does. Most patterns need one of a
//! few words, which the build worked out: a text without one is passed over, and often the pattern is never compiled.

#[cfg(test)]
mod needed_words;
mod written;

use self::written::{print, text_of_bytes};
use super::lazy_pattern::{self, LazyPattern};
use super::literals::LiteralFinder;
use regex_automata::util::captures::Captures;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;
use serde::Deserialize;
use std::iter;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A sentence as patterns read it: with plain apostrophes, and in small letters besides.
pub struct CueText {
    /// With plain apostrophes.
    pub text: String,
    small: String,
}

impl CueText {
    /// Copies the text twice.
    pub fn of(text: &str) -> CueText {
        let text = text.replace('’', "'");
        let small = text.to_ascii_lowercase();
        CueText { text, small }
    }
}

/// Patterns in small letters, with plain apostrophes, of which one has to match. `\w`, `\d`, `\s`, `\b` and
/// `[^…]` mean bytes of ASCII; `^` and `$` are ends of lines.
#[derive(Deserialize)]
#[serde(from = "String")]
pub struct CuePattern {
    texts: Vec<String>,
    /// Words of which every match holds one; `None` where none are known.
    needed: OnceLock<Option<LiteralFinder>>,
    compiled: OnceLock<Vec<Compiled>>,
}

/// Those whose matches begin in the same way.
struct Compiled {
    begins: Begins,
    pattern: LazyPattern,
}

/// Where a match may begin.
enum Begins {
    /// Where a line does.
    Lines,
    /// Elsewhere too.
    Inside(Beginnings),
}

/// The words that all matches of some patterns begin with. To work them out costs as much as to compile the patterns,
/// so it is done once much was searched without them.
struct Beginnings {
    texts: Vec<String>,
    searched: AtomicUsize,
    /// `None` where they are too many.
    words: OnceLock<Option<Prefilter>>,
}

impl From<String> for CuePattern {
    fn from(text: String) -> CuePattern {
        CuePattern::of(vec![text])
    }
}

impl CuePattern {
    /// `None` of none.
    pub fn any(patterns: &[String]) -> Option<CuePattern> {
        (!patterns.is_empty()).then(|| CuePattern::of(patterns.to_vec()))
    }

    fn of(texts: Vec<String>) -> CuePattern {
        let pattern = CuePattern {
            needed: OnceLock::new(),
            texts: texts.iter().map(|text| text_of_bytes(text)).collect(),
            compiled: OnceLock::new(),
        };
        // a row that no sample reaches is compiled in tests all the same
        if cfg!(test) {
            pattern.compiled();
        }
        pattern
    }

    /// Whether one matches anywhere.
    ///
    /// # Panics
    /// When one isn't a pattern; in tests each is compiled as soon as its table is read.
    pub fn is_match(&self, sentence: &CueText) -> bool {
        if !self.may_match(sentence) {
            return false;
        }
        let mut compiled = self.compiled().iter();
        compiled.any(|one| one.is_match(&Input::new(&sentence.small)))
    }

    /// The first match from this byte on, with its groups.
    ///
    /// # Panics
    /// As [`CuePattern::is_match`].
    pub fn captures<'s>(&self, sentence: &'s CueText, from: usize) -> Option<CueMatch<'s>> {
        if !self.may_match(sentence) {
            return None;
        }
        let all = self.compiled().iter();
        let found = all.filter_map(|one| {
            let groups = one.captures(&Input::new(&sentence.small).range(from..))?;
            Some(CueMatch {
                text: &sentence.text,
                groups,
            })
        });
        found.min_by_key(CueMatch::start)
    }

    /// False where a word is missing that each match holds.
    fn may_match(&self, sentence: &CueText) -> bool {
        let needed = self.needed.get_or_init(|| needed(&self.texts));
        let needed = needed.as_ref();
        let may_match = needed.is_none_or(|needed| needed.is_match(&sentence.small));
        if cfg!(test) && !may_match {
            let whole = Input::new(&sentence.small);
            let matches = self.compiled().iter().any(|one| one.is_match(&whole));
            assert!(!matches, "{}: {}", self.texts.join("|"), sentence.small);
        }
        may_match
    }

    fn compiled(&self) -> &[Compiled] {
        self.compiled.get_or_init(|| {
            let parsed = self.texts.iter().map(|text| (text, parsed(text)));
            let (lines, inside): (Vec<_>, Vec<_>) = parsed.partition(|(_, parsed)| {
                let first = parsed.properties().look_set_prefix();
                first.contains_anchor_line()
            });
            let beginnings = Beginnings {
                texts: inside.iter().map(|(text, _)| (*text).clone()).collect(),
                searched: AtomicUsize::new(0),
                words: OnceLock::new(),
            };
            [(Begins::Lines, lines), (Begins::Inside(beginnings), inside)]
                .into_iter()
                .filter(|(_, patterns)| !patterns.is_empty())
                .map(|(begins, patterns)| {
                    let (_, parsed): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
                    let pattern = LazyPattern::of(&parsed)
                        .unwrap_or_else(|error| panic!("{}: {error}", self.texts.join("|")));
                    Compiled { begins, pattern }
                })
                .collect()
        })
    }
}

impl Compiled {
    fn is_match(&self, input: &Input<'_>) -> bool {
        let mut places = self.places(input);
        places.any(|place| self.pattern.is_match(place))
    }

    fn captures(&self, input: &Input<'_>) -> Option<Captures> {
        let mut places = self.places(input);
        places.find_map(|place| self.pattern.captures(place))
    }

    /// Where it is tried, in order: states that may begin anywhere in a sentence are nearly as many as there are
    /// sentences.
    fn places<'s>(&'s self, input: &Input<'s>) -> Box<dyn Iterator<Item = Input<'s>> + 's> {
        let whole = input.clone();
        let here = move |from: usize| whole.clone().range(from..).anchored(Anchored::Yes);
        let text = input.haystack();
        match &self.begins {
            Begins::Lines => {
                let ends = memchr::memchr2_iter(b'\n', b'\r', &text[input.start()..]);
                let lines = iter::once(0).chain(ends.map(|end| end + 1));
                let from = input.start();
                Box::new(lines.map(move |line| here(from + line)))
            }
            Begins::Inside(beginnings) => match beginnings.words(text.len()) {
                None => Box::new(iter::once(input.clone())),
                Some(words) => {
                    let mut left = input.get_span();
                    Box::new(iter::from_fn(move || {
                        let word = words.find(text, left)?;
                        left.start = word.start + 1;
                        Some(here(word.start))
                    }))
                }
            },
        }
    }
}

impl Beginnings {
    /// To search so many bytes.
    fn words(&self, bytes: usize) -> Option<&Prefilter> {
        const BYTES_MANY: usize = 4 * 1024;
        if self.searched.fetch_add(bytes, Ordering::Relaxed) < BYTES_MANY {
            return None;
        }
        let words = self.words.get_or_init(|| {
            let parsed: Vec<_> = self.texts.iter().map(|text| parsed(text)).collect();
            Prefilter::from_hirs_prefix(MatchKind::LeftmostFirst, &parsed)
        });
        words.as_ref()
    }
}

fn parsed(text: &str) -> Hir {
    let lines = lazy_pattern::of_bytes().multi_line(true).crlf(true);
    syntax::parse_with(text, &lines).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Patterns of the tables by their [`print`], in order of it, and which lines of the words are each one's.
static NEEDED: ([u64; COUNT], [(u32, u32); COUNT], &str) =
    include!(concat!(env!("OUT_DIR"), "/needed_words.rs"));

const COUNT: usize = include!(concat!(env!("OUT_DIR"), "/needed_words_count.rs"));

/// Words of which every match of one of these holds one.
fn needed(texts: &[String]) -> Option<LiteralFinder> {
    let (prints, places, words) = &NEEDED;
    let mut all = Vec::new();
    for text in texts {
        let (from, to) = places[prints.binary_search(&print(text)).ok()?];
        let words = &words[from as usize..to as usize];
        all.extend(words.split('\n').map(str::to_owned));
    }
    Some(LiteralFinder::of(all))
}

/// A match with its groups.
pub struct CueMatch<'s> {
    text: &'s str,
    groups: Captures,
}

impl<'s> CueMatch<'s> {
    /// What a named group matched; `None` where it took no part.
    pub fn name(&self, name: &str) -> Option<&'s str> {
        let span = self.groups.get_group_by_name(name)?;
        self.text.get(span.range())
    }

    /// Where the match begins.
    pub fn start(&self) -> usize {
        self.groups.get_match().map_or(0, |found| found.start())
    }

    /// Where the match ends.
    pub fn end(&self) -> usize {
        self.groups
            .get_match()
            .map_or(self.text.len(), |found| found.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Patterns with all that tables have.
    fn patterns() -> impl Strategy<Value = String> {
        let one = prop_oneof![
            "[ab ]{1,4}",
            Just(r"\b".to_owned()),
            Just("[ab]".to_owned()),
            Just(r"[^b\n]+".to_owned()),
            Just("^".to_owned()),
            Just("é".to_owned()),
        ];
        one.prop_recursive(3, 12, 3, |inner| {
            let end = prop_oneof![Just(""), Just("?"), Just("*"), Just("+"), Just("{2}")];
            (prop::collection::vec(inner, 1..4), any::<bool>(), end).prop_map(|(parts, or, end)| {
                let between = if or { "|" } else { "" };
                format!("(?:{}){end}", parts.join(between))
            })
        })
    }

    proptest! {
        #[test]
        fn a_match_holds_a_word_that_it_needs(pattern in patterns(), text in "[ab é\n]{0,12}") {
            let words = needed_words::of(&pattern);
            let (pattern, read) = (CuePattern::from(pattern), CueText::of(&text));
            let found = pattern.captures(&read, 0);
            if let (Some(words), Some(found)) = (words, found) {
                let found = &text[found.start()..found.end()];
                prop_assert!(words.iter().any(|word| found.contains(word)), "{words:?}: {found}");
            }
        }
    }

    #[test]
    fn words_that_a_pattern_needs_are_those_that_are_known_best() {
        for (pattern, wants) in [
            (
                r"^(?:keep|i'll take) (?P<what>[^.,]+)",
                vec!["i'll take", "keep"],
            ),
            (
                r"(?:let's|please )?(?:use|take) \w+ instead",
                vec![" instead"],
            ),
            (r"(?:a|b+|\d)+ ?(?:no)?", vec![]),
        ] {
            assert_eq!(
                needed_words::of(pattern).unwrap_or_default(),
                wants,
                "{pattern}"
            );
        }
    }

    #[test]
    fn what_the_build_worked_out_is_what_patterns_need() {
        let (prints, places, words) = &NEEDED;
        assert!(COUNT > 100 && prints.is_sorted());
        let known = crate::rules::table::embedded!("replies");
        let tables: serde_yaml::Value = serde_yaml::from_str(known).expect("a table");
        let begins = tables["begins"].as_str().expect("a pattern");
        let at = prints
            .binary_search(&print(&text_of_bytes(begins)))
            .expect("it is known");
        let (from, to) = places[at];
        let wants = needed_words::of(&text_of_bytes(begins)).expect("words");
        assert_eq!(words[from as usize..to as usize], wants.join("\n"));
    }

    #[test]
    fn a_pattern_finds_the_same_however_often_it_was_searched() {
        let pattern = CuePattern::from(r"\b(?:keep|i'll take) (?P<what>[^.,]+)".to_owned());
        for _ in 0..=64 {
            for (said, wants) in [
                ("I’ll take the Ölpumpe, then.", Some("the Ölpumpe")),
                ("KEEP It. Keep both.", Some("It")),
                ("nothing", None),
            ] {
                let sentence = CueText::of(said);
                let found = pattern.captures(&sentence, 0);
                assert_eq!(found.and_then(|found| found.name("what")), wants);
                assert_eq!(pattern.is_match(&sentence), wants.is_some());
            }
        }
        let twice = CueText::of("keep a, keep b");
        let first = pattern.captures(&twice, 0).expect("a match");
        let second = pattern.captures(&twice, first.end()).expect("a match");
        assert_eq!(second.name("what"), Some("b"));
    }

    #[test]
    fn brackets_may_hold_any_letter() {
        for (pattern, wants) in [
            ("[-*•] a[bc]", "(?:[-*]|•) a[bc]"),
            ("[❌✗]x", "(?:❌|✗)x"),
            (r"[^,\n]+", r"[^,\n]+"),
        ] {
            assert_eq!(text_of_bytes(pattern), wants);
        }
        let pattern = CuePattern::from("^[❌✗] tests".to_owned());
        assert!(pattern.is_match(&CueText::of("✗ Tests fail")));
    }

    #[test]
    fn of_several_patterns_the_first_match_counts_wherever_it_may_begin() {
        let patterns = [
            r"^(?:ok )?(?P<what>\w+) it",
            r"\bdrop (?P<what>\w+)",
            r"\w+ing (?P<what>\w+)",
        ];
        for (said, wants) in [
            ("so ok take it", None),
            ("so\nok take it", Some("take")),
            ("well\rtake it", Some("take")),
            ("backdrop all, drop both", Some("both")),
            ("drop one\nok take it", Some("one")),
            ("keeping both, drop one", Some("both")),
        ] {
            for few in 1..=patterns.len() {
                let all = patterns[..few].iter().map(|one| (*one).to_owned());
                let pattern = CuePattern::any(&all.collect::<Vec<_>>()).expect("patterns");
                let sentence = CueText::of(said);
                let found = pattern.captures(&sentence, 0);
                assert_eq!(found.is_some(), pattern.is_match(&sentence), "{said}");
                if few == patterns.len() {
                    assert_eq!(found.and_then(|found| found.name("what")), wants, "{said}");
                }
            }
        }
        assert!(CuePattern::any(&[]).is_none());
    }

    #[test]
    fn a_long_text_is_searched_too() {
        let pattern = CuePattern::from("keep (?:[a-z]{3,9} ){2,40}it".to_owned());
        let long = format!("{} keep one two it", "word, ".repeat(20_000));
        assert!(pattern.is_match(&CueText::of(&long)));
    }
}
