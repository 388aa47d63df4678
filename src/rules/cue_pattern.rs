//! Patterns over one English sentence, for tables in which a cue of a few letters decides whether a pattern
//! is tried at all. A run of one line compiles a few of them for one search each; a first run searches
//! thousands of sentences, of which few match. So a pattern is compiled once, to what says whether it matches
//! and makes its states only as a text asks for them; groups are looked for where it does.

use regex_automata::Input;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson;
use regex_automata::nfa::thompson::backtrack::{BoundedBacktracker, Cache};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use serde::Deserialize;
use std::cell::RefCell;
use std::fmt::Display;
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

/// A pattern in small letters, with plain apostrophes. `\w`, `\d`, `\s`, `\b` and `[^…]` mean bytes of ASCII;
/// `^` and `$` are ends of lines.
#[derive(Deserialize)]
#[serde(from = "String")]
pub struct CuePattern {
    text: String,
    compiled: OnceLock<Compiled>,
}

/// One automaton, searched in two ways.
struct Compiled {
    /// Whether it matches: makes its states as it meets them.
    tells: DFA,
    states: Pool<LazyCache>,
    /// What its groups match; slow.
    groups: BoundedBacktracker,
}

type LazyCache = regex_automata::hybrid::dfa::Cache;
type Pool<T> = regex_automata::util::pool::Pool<T, Box<dyn Fn() -> T + Send + Sync>>;

impl From<String> for CuePattern {
    fn from(text: String) -> CuePattern {
        let pattern = CuePattern {
            text: text_of_bytes(&text),
            compiled: OnceLock::new(),
        };
        // a row that no sample reaches is compiled in tests all the same
        if cfg!(test) {
            pattern.compiled();
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

impl CuePattern {
    /// What matches where one of these does, in one search; `None` of none.
    pub fn any(patterns: &[String]) -> Option<CuePattern> {
        let all: Vec<String> = patterns.iter().map(|one| format!("(?:{one})")).collect();
        (!all.is_empty()).then(|| all.join("|").into())
    }

    /// Whether it matches anywhere.
    ///
    /// # Panics
    /// When it isn't a pattern; in tests each is compiled as soon as its table is read.
    pub fn is_match(&self, sentence: &CueText) -> bool {
        self.tells(&Input::new(&sentence.small))
    }

    /// The first match from this byte on, with its groups.
    ///
    /// # Panics
    /// As [`CuePattern::is_match`].
    pub fn captures<'s>(&self, sentence: &'s CueText, from: usize) -> Option<CueMatch<'s>> {
        thread_local! {
            static CACHE: RefCell<Option<Cache>> = const { RefCell::new(None) };
        }
        let input = Input::new(&sentence.small).range(from..);
        if !self.tells(&input) {
            return None;
        }
        let pattern = &self.compiled().groups;
        let mut groups = pattern.create_captures();
        let found = CACHE.with_borrow_mut(|cache| {
            let cache = cache.get_or_insert_with(|| pattern.create_cache());
            cache.reset(pattern);
            pattern.try_captures(cache, input.clone(), &mut groups)
        });
        if found.is_err() {
            // too long for it
            let pattern = PikeVM::new_from_nfa(pattern.get_nfa().clone()).expect("an automaton");
            pattern.captures(&mut pattern.create_cache(), input, &mut groups);
        }
        groups.is_match().then_some(CueMatch {
            text: &sentence.text,
            groups,
        })
    }

    fn tells(&self, input: &Input<'_>) -> bool {
        let compiled = self.compiled();
        let mut states = compiled.states.get();
        let input = input.clone().earliest(true);
        let found = compiled.tells.try_search_fwd(&mut states, &input);
        // it neither gives up nor meets a byte that it can't read
        found.expect("an automaton of bytes").is_some()
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let compiler = thompson::Config::new().utf8(false);
            let nfa = thompson::Compiler::new()
                .syntax(syntax())
                .configure(compiler)
                .build(&self.text)
                .unwrap_or_else(|error| panic!("{}: {error}", self.text));
            let wrong = |what: &dyn Display| -> ! { panic!("{}: {what}", self.text) };
            let tells = DFA::builder().build_from_nfa(nfa.clone());
            let tells = tells.unwrap_or_else(|error| wrong(&error));
            let states = tells.clone();
            let groups = BoundedBacktracker::new_from_nfa(nfa);
            Compiled {
                tells,
                states: Pool::new(Box::new(move || states.create_cache())),
                groups: groups.unwrap_or_else(|error| wrong(&error)),
            }
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
    fn a_long_text_is_searched_too() {
        let pattern = CuePattern::from("keep (?:[a-z]{3,9} ){2,40}it".to_owned());
        let long = format!("{} keep one two it", "word, ".repeat(20_000));
        assert!(pattern.is_match(&CueText::of(&long)));
    }
}
