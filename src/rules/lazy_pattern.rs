//! A pattern over bytes that is compiled quickly and stays small: one automaton, whose states are made as texts ask for
//! them. What `regex` makes besides (the automaton backwards, tables for one pass) costs more than most patterns of
//! our tables are ever searched for.

use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson::backtrack::{BoundedBacktracker, Cache};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{Compiler, Config};
use regex_automata::util::captures::Captures;
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;
use regex_automata::{Input, hybrid};
use regex_syntax::hir::Hir;
use std::cell::RefCell;
use std::fmt;

/// An automaton, ready to be searched with.
pub(super) struct LazyPattern {
    /// Where a match ends.
    ends: DFA,
    states: Pool<States, Box<dyn Fn() -> States + Send + Sync>>,
    /// What the groups of a match hold; slow.
    groups: BoundedBacktracker,
}

type States = hybrid::dfa::Cache;

impl fmt::Debug for LazyPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyPattern").finish_non_exhaustive()
    }
}

/// Bytes of an automaton. Patterns that count far need more than is allowed elsewhere.
const BYTES_MAX: usize = 32 << 20;

/// Bytes of the states that a thread keeps of a pattern: few texts need those of others.
const STATES_BYTES_MAX: usize = 128 << 10;

impl LazyPattern {
    /// Of a pattern in which `\w`, `\d`, `\s`, `\b` and `[^…]` mean bytes of ASCII.
    ///
    /// # Errors
    /// What is wrong with it, in the words of the library.
    pub fn new(pattern: &str) -> Result<LazyPattern, String> {
        let parsed = syntax::parse_with(pattern, &of_bytes()).map_err(|error| error.to_string())?;
        LazyPattern::of(&parsed)
    }

    /// Of one that was parsed as [`of_bytes`] says.
    ///
    /// # Errors
    /// As [`LazyPattern::new`].
    pub fn of(parsed: &Hir) -> Result<LazyPattern, String> {
        let limited = Config::new().utf8(false).nfa_size_limit(Some(BYTES_MAX));
        let automaton = Compiler::new().configure(limited).build_from_hir(parsed);
        let automaton = automaton.map_err(|error| error.to_string())?;
        let small = DFA::config()
            .skip_cache_capacity_check(true)
            .cache_capacity(STATES_BYTES_MAX);
        let ends = DFA::builder()
            .configure(small)
            .build_from_nfa(automaton.clone());
        let ends = ends.map_err(|error| error.to_string())?;
        let groups = BoundedBacktracker::new_from_nfa(automaton);
        let states = ends.clone();
        Ok(LazyPattern {
            ends,
            states: Pool::new(Box::new(move || states.create_cache())),
            groups: groups.map_err(|error| error.to_string())?,
        })
    }

    /// Whether it matches.
    pub fn is_match(&self, input: Input<'_>) -> bool {
        self.end(&input.earliest(true)).is_some()
    }

    /// The first match with its groups.
    pub fn captures(&self, input: Input<'_>) -> Option<Captures> {
        thread_local! {
            static CACHE: RefCell<Option<Cache>> = const { RefCell::new(None) };
        }
        let end = self.end(&input)?;
        // a look behind the end sees what stands there all the same
        let input = input.clone().range(input.start()..end);
        let mut groups = self.groups.create_captures();
        let found = CACHE.with_borrow_mut(|cache| {
            let cache = cache.get_or_insert_with(|| self.groups.create_cache());
            cache.reset(&self.groups);
            self.groups.try_captures(cache, input.clone(), &mut groups)
        });
        if found.is_err() {
            // too long for it
            let pattern = PikeVM::new_from_nfa(self.groups.get_nfa().clone());
            let pattern = pattern.expect("an automaton");
            pattern.captures(&mut pattern.create_cache(), input, &mut groups);
        }
        groups.is_match().then_some(groups)
    }

    fn end(&self, input: &Input<'_>) -> Option<usize> {
        let found = self.ends.try_search_fwd(&mut self.states.get(), input);
        // it neither gives up nor meets a byte that it can't read
        found
            .expect("an automaton of bytes")
            .map(|end| end.offset())
    }
}

/// How patterns over bytes are read.
pub(super) fn of_bytes() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_a_match_are_those_of_the_whole_text() {
        let pattern = LazyPattern::new(r"(?P<key>[a-z]+)=(\w{2,}\b)(?:;|$)").expect("a pattern");
        for (text, wants) in [
            ("a=bc", Some((2, 4))),
            ("a=bc;d=ef", Some((2, 4))),
            ("a=b;cd=e\u{e9}f;g=hij;", Some((14, 17))),
            ("a=bc-d", None),
        ] {
            let input = || Input::new(text);
            let found = pattern.captures(input());
            let group = found.and_then(|found| found.get_group(2));
            assert_eq!(group.map(|at| (at.start, at.end)), wants, "{text}");
            assert_eq!(pattern.is_match(input()), wants.is_some(), "{text}");
        }
    }

    #[test]
    fn a_pattern_may_count_far_and_a_text_be_long() {
        let pattern = LazyPattern::new(r#""([^"\n]{5,4000})""#).expect("a pattern");
        for length in [4, 5, 4000, 4001] {
            let text = format!("{}\"{}\"", "x ".repeat(50_000), "y".repeat(length));
            let found = pattern.captures(Input::new(&text));
            let found = found.and_then(|found| found.get_group(1));
            let wants = (5..=4000).contains(&length).then_some(length);
            assert_eq!(found.map(|at| at.len()), wants);
        }
        let error = LazyPattern::new("abc(").err().unwrap_or_default();
        assert!(
            error.contains("abc(") && error.contains("unclosed group"),
            "{error}"
        );
    }
}
