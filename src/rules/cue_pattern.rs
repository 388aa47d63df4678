//! Patterns over one English sentence, for tables in which a cue of a few letters decides whether a pattern
//! is tried at all. A run of one line compiles a few of them for one search each; a first run searches
//! thousands of sentences, of which few match. So a pattern is compiled once, to what says whether it matches
//! and makes its states only as a text asks for them; groups are looked for where it does. Most patterns need one of a
//! few words, which the build worked out: none is tried on a text without, and many are never compiled. It worked out
//! with which words matches begin, too.

#[cfg(test)]
mod needed_words;
mod written;

use self::written::{print, text_of_bytes};
use super::lazy_pattern::{self, LazyPattern};
use super::literals::LiteralFinder;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use serde::Deserialize;
use smallvec::SmallVec;
use std::iter;
use std::sync::OnceLock;

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
    patterns: Vec<Pattern>,
    needed: OnceLock<Needed>,
}

/// One of them.
struct Pattern {
    text: String,
    begins: OnceLock<Begins>,
    compiled: OnceLock<LazyPattern>,
}

/// Where a match may begin.
struct Begins {
    /// Where a line does.
    is_line: bool,
    /// Where one of these words stands.
    words: Option<LiteralFinder>,
}

/// Words of which every match of a pattern holds one.
struct Needed {
    words: LiteralFinder,
    /// For each word, which pattern it is one of.
    of: Vec<usize>,
    /// Which patterns have such words.
    has_words: Row,
}

/// Something about each pattern.
type Row = SmallVec<[bool; 64]>;

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
        let patterns = texts.iter().map(|text| Pattern {
            text: text_of_bytes(text),
            begins: OnceLock::new(),
            compiled: OnceLock::new(),
        });
        let all = CuePattern {
            patterns: patterns.collect(),
            needed: OnceLock::new(),
        };
        // a row that no sample reaches is compiled in tests all the same
        if cfg!(test) {
            all.patterns.iter().for_each(|one| _ = one.compiled());
        }
        all
    }

    /// Whether one matches anywhere.
    ///
    /// # Panics
    /// When one isn't a pattern; in tests each is compiled as soon as its table is read.
    pub fn is_match(&self, sentence: &CueText) -> bool {
        let mut tried = self.tried(sentence);
        tried.any(|one| one.is_match(&sentence.small))
    }

    /// The first match from this byte on, with its groups.
    ///
    /// # Panics
    /// As [`CuePattern::is_match`].
    pub fn captures<'s>(&self, sentence: &'s CueText, from: usize) -> Option<CueMatch<'s>> {
        let found = self.tried(sentence).filter_map(|one| {
            let groups = one.captures(&sentence.small, from)?;
            let text = &sentence.text;
            Some((CueMatch { text, groups }, one.begins().is_line))
        });
        // of several that begin there, what begins a line counts first
        let first = found.min_by_key(|(found, is_line)| (found.start(), !is_line));
        first.map(|(found, _)| found)
    }

    /// Those that have the words that they need.
    fn tried(&self, sentence: &CueText) -> impl Iterator<Item = &Pattern> {
        let needed = self.needed.get_or_init(|| Needed::by(&self.patterns));
        let may_match = needed.may_match(&sentence.small);
        if cfg!(test) {
            for (one, may_match) in self.patterns.iter().zip(&may_match) {
                let is_found = *may_match && one.is_match(&sentence.small);
                let wants = one.compiled().is_match(Input::new(&sentence.small));
                assert_eq!(is_found, wants, "{}: {}", one.text, sentence.small);
            }
        }
        let all = self.patterns.iter().zip(may_match);
        let tried = all.filter(|(_, may_match)| *may_match);
        tried.map(|(one, _)| one)
    }
}

impl Needed {
    fn by(patterns: &[Pattern]) -> Needed {
        let (mut words, mut of) = (Vec::new(), Vec::new());
        let has_words = patterns.iter().enumerate().map(|(nth, pattern)| {
            let (_, [held, _]) = needed(&pattern.text);
            words.extend(held.lines().map(str::to_owned));
            let before = of.len();
            of.resize(words.len(), nth);
            of.len() > before
        });
        let has_words = has_words.collect();
        let words = LiteralFinder::of(words);
        Needed {
            words,
            of,
            has_words,
        }
    }

    fn may_match(&self, text: &str) -> Row {
        let mut may_match: Row = self.has_words.iter().map(|has_words| !has_words).collect();
        let mut open = may_match.iter().filter(|may_match| !**may_match).count();
        // nothing is left to look for once each may match
        _ = open > 0
            && self.words.any(text, |word| {
                let known = &mut may_match[self.of[word.literal]];
                open -= usize::from(!*known);
                *known = true;
                open == 0
            });
        may_match
    }
}

impl Pattern {
    fn is_match(&self, text: &str) -> bool {
        let mut places = self.places(text, 0);
        places.any(|place| self.compiled().is_match(place))
    }

    fn captures(&self, text: &str, from: usize) -> Option<Captures> {
        let mut places = self.places(text, from);
        places.find_map(|place| self.compiled().captures(place))
    }

    /// Where it is tried, in order: states that may begin anywhere in a sentence are nearly as many as there are
    /// sentences.
    fn places<'s>(
        &'s self,
        text: &'s str,
        from: usize,
    ) -> Box<dyn Iterator<Item = Input<'s>> + 's> {
        let here = move |from: usize| Input::new(text).range(from..).anchored(Anchored::Yes);
        let begins = self.begins();
        match &begins.words {
            words if begins.is_line => {
                let ends = memchr::memchr2_iter(b'\n', b'\r', &text.as_bytes()[from..]);
                let lines = iter::once(from).chain(ends.map(move |end| from + end + 1));
                let may_begin =
                    move |line: &usize| words.iter().all(|words| words.is_at(text, *line));
                let begun = lines.filter(may_begin);
                Box::new(begun.map(here))
            }
            Some(words) => Box::new(words.places(text, from).map(here)),
            None => Box::new(iter::once(Input::new(text).range(from..))),
        }
    }

    fn begins(&self) -> &Begins {
        self.begins.get_or_init(|| {
            let (is_line, [_, words]) = needed(&self.text);
            let all = words.lines().map(str::to_owned);
            Begins {
                is_line,
                words: (!words.is_empty()).then(|| LiteralFinder::of(all.collect())),
            }
        })
    }

    fn compiled(&self) -> &LazyPattern {
        self.compiled.get_or_init(|| {
            let lines = lazy_pattern::of_bytes().multi_line(true).crlf(true);
            let parsed = syntax::parse_with(&self.text, &lines);
            let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", self.text));
            LazyPattern::of(&parsed).unwrap_or_else(|error| panic!("{}: {error}", self.text))
        })
    }
}

/// Patterns of the tables by their [`print`], in order of it; what is known of each; all words.
static NEEDED: ([u64; COUNT], [Known; COUNT], &str) =
    include!(concat!(env!("OUT_DIR"), "/needed_words.rs"));

/// Whether each match of a pattern begins a line; which of the words it holds and begins with.
type Known = (bool, [(u32, u32); 2]);

const COUNT: usize = include!(concat!(env!("OUT_DIR"), "/needed_words_count.rs"));

/// Whether every match of this pattern begins where a line does. And words by lines: each match holds one of the first
/// ones, and begins with one of the others; none where none are known.
fn needed(text: &str) -> (bool, [&'static str; 2]) {
    let (prints, rows, words) = &NEEDED;
    let nth = prints.binary_search(&print(text));
    let (begins_lines, places) = nth.map_or_else(|_| Known::default(), |nth| rows[nth]);
    (
        begins_lines,
        places.map(|(from, to)| &words[from as usize..to as usize]),
    )
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
    use super::needed_words::NeededWords;
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
            let words = NeededWords::of(&pattern);
            let (held, first) = (words.held, words.first);
            let (pattern, read) = (CuePattern::from(pattern), CueText::of(&text));
            let found = pattern.captures(&read, 0);
            if let Some(found) = found {
                let at = found.start();
                let found = &text[found.start()..found.end()];
                let is_held = held.is_empty() || held.iter().any(|word| found.contains(word));
                prop_assert!(is_held, "{held:?}: {found}");
                let begins = first.is_empty() || first.iter().any(|word| found.starts_with(word));
                prop_assert!(begins, "{first:?}: {found}");
                let before = &text[..at];
                prop_assert!(!words.begins_lines || before.is_empty() || before.ends_with('\n'));
            }
        }
    }

    #[test]
    fn words_that_a_pattern_needs_are_those_that_are_known_best() {
        for (pattern, held, first) in [
            (
                r"^(?:keep|i'll take) (?P<what>[^.,]+)",
                vec!["i'll take", "keep"],
                vec!["keep ", "i'll take "],
            ),
            (
                r"(?:let's|please )?(?:use|take) \w+ instead",
                vec![" instead"],
                vec![
                    "let'suse ",
                    "let'stake ",
                    "please use ",
                    "please take ",
                    "use ",
                    "take ",
                ],
            ),
            (r"(?:a|b+|\d)+ ?(?:no)?", vec![], vec![]),
        ] {
            let words = NeededWords::of(pattern);
            assert_eq!(words.held, held, "{pattern}");
            assert_eq!(words.first, first, "{pattern}");
        }
    }

    #[test]
    fn what_the_build_worked_out_is_what_patterns_need() {
        assert!(COUNT > 100 && NEEDED.0.is_sorted());
        let known = crate::rules::table::embedded!("replies");
        let tables: serde_yaml::Value = serde_yaml::from_str(known).expect("a table");
        let begins = text_of_bytes(tables["begins"].as_str().expect("a pattern"));
        let words = NeededWords::of(&begins);
        assert!(!words.held.is_empty() && !words.first.is_empty() && words.begins_lines);
        let (begins_lines, [held, first]) = needed(&begins);
        assert!(begins_lines);
        // matches may end inside of a letter
        let pattern = CuePattern::from(begins);
        assert!(pattern.captures(&CueText::of("é"), 1).is_none());
        assert_eq!(
            [held, first],
            [words.held.join("\n"), words.first.join("\n")]
        );
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
