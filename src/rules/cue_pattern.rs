//! Patterns over one English sentence, for tables in which a cue of a few letters decides whether a pattern
//! is tried at all. A run of one line compiles a few of them for one search each; a first run searches
//! thousands of sentences. So a pattern begins as what is compiled in a twentieth of the time, and is
//! compiled for speed once it was searched often.

use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson;
use regex_automata::nfa::thompson::backtrack::{BoundedBacktracker, Cache};
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use regex_automata::{Input, MatchError};
use serde::Deserialize;
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

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

/// A pattern in small letters, with plain apostrophes. `\w`, `\d`, `\s`, `\b` and `[^…]` mean bytes of ASCII;
/// `^` and `$` are ends of lines.
#[derive(Deserialize)]
#[serde(from = "String")]
pub struct CuePattern {
    text: String,
    quick: OnceLock<BoundedBacktracker>,
    fast: OnceLock<Regex>,
    searches: AtomicU32,
}

impl From<String> for CuePattern {
    fn from(text: String) -> CuePattern {
        let pattern = CuePattern {
            text: text_of_bytes(&text),
            quick: OnceLock::new(),
            fast: OnceLock::new(),
            searches: AtomicU32::new(0),
        };
        // a row that no sample reaches is compiled in tests all the same
        if cfg!(test) {
            pattern.quick();
            pattern.fast();
        }
        pattern
    }
}

/// With brackets that hold more than ASCII, as `[-•]`, told as `(?:[-]|•)`: an engine of bytes has no others.
fn text_of_bytes(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((inside, behind)) = after.split_once(']') else {
            break;
        };
        out.push_str(before);
        let (ascii, wide): (String, String) = inside.chars().partition(char::is_ascii);
        let wide: Vec<String> = wide.chars().map(String::from).collect();
        let all: Vec<String> = [format!("[{ascii}]")]
            .into_iter()
            .filter(|it| it != "[]")
            .chain(wide)
            .collect();
        match all.as_slice() {
            [class] => out.push_str(class),
            several => out.push_str(&format!("(?:{})", several.join("|"))),
        }
        rest = behind;
    }
    out + rest
}

/// Where what is compiled for speed has paid for itself.
const SEARCHES_MANY: u32 = 64;

impl CuePattern {
    /// Whether it matches anywhere.
    ///
    /// # Panics
    /// When it isn't a pattern; in tests each is compiled as soon as its table is read.
    pub fn is_match(&self, sentence: &CueText) -> bool {
        let input = Input::new(&sentence.small).earliest(true);
        let quick =
            |re: &BoundedBacktracker, cache: &mut Cache| re.try_is_match(cache, input.clone());
        self.quickly(quick)
            .unwrap_or_else(|| self.fast().is_match(input.clone()))
    }

    /// The first match from this byte on, with its groups.
    ///
    /// # Panics
    /// As [`CuePattern::is_match`].
    pub fn captures<'s>(&self, sentence: &'s CueText, from: usize) -> Option<CueMatch<'s>> {
        let input = Input::new(&sentence.small).range(from..);
        let quick = |re: &BoundedBacktracker, cache: &mut Cache| {
            let mut groups = re.create_captures();
            re.try_captures(cache, input.clone(), &mut groups)?;
            Ok(groups)
        };
        let groups = self.quickly(quick).unwrap_or_else(|| {
            let mut groups = self.fast().create_captures();
            self.fast().search_captures(&input, &mut groups);
            groups
        });
        groups.is_match().then_some(CueMatch {
            text: &sentence.text,
            groups,
        })
    }

    /// `None` where the pattern was searched often, or the text is too long for it.
    fn quickly<T>(
        &self,
        search: impl FnOnce(&BoundedBacktracker, &mut Cache) -> Result<T, MatchError>,
    ) -> Option<T> {
        thread_local! {
            static CACHE: RefCell<Option<Cache>> = const { RefCell::new(None) };
        }
        if self.searches.fetch_add(1, Ordering::Relaxed) >= SEARCHES_MANY {
            return None;
        }
        let pattern = self.quick();
        CACHE.with_borrow_mut(|cache| {
            let cache = cache.get_or_insert_with(|| pattern.create_cache());
            cache.reset(pattern);
            search(pattern, cache).ok()
        })
    }

    fn quick(&self) -> &BoundedBacktracker {
        self.quick.get_or_init(|| {
            let builder = BoundedBacktracker::builder()
                .syntax(syntax())
                .thompson(thompson::Config::new().utf8(false))
                .build(&self.text);
            builder.unwrap_or_else(|error| panic!("{}: {error}", self.text))
        })
    }

    fn fast(&self) -> &Regex {
        self.fast.get_or_init(|| {
            let builder = Regex::builder()
                .syntax(syntax())
                .configure(meta::Config::new().utf8_empty(false))
                .build(&self.text);
            builder.unwrap_or_else(|error| panic!("{}: {error}", self.text))
        })
    }
}

fn syntax() -> syntax::Config {
    let ascii = syntax::Config::new().unicode(false).utf8(false);
    ascii.multi_line(true).crlf(true)
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

    #[test]
    fn a_pattern_finds_the_same_however_often_it_was_searched() {
        let pattern = CuePattern::from(r"\b(?:keep|i'll take) (?P<what>[^.,]+)".to_owned());
        for _ in 0..=SEARCHES_MANY {
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
    fn a_long_text_is_searched_too() {
        let pattern = CuePattern::from("keep (?:[a-z]{3,9} ){2,40}it".to_owned());
        let long = format!("{} keep one two it", "word, ".repeat(20_000));
        assert!(pattern.is_match(&CueText::of(&long)));
    }
}
