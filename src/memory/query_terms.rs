//! Words as terms: exactly as they are typed, as people mean them, and those of a whole question.

use crate::rules::kin::kin;
use crate::rules::products::other_names;
use crate::rules::words::{forms, is_stopword};
use crate::store::{Query, Term};

/// Terms of a question. More: a long prompt asks the index for every word of it.
const QUESTION_TERMS_MAX: usize = 24;

/// A question, or a prompt, in a person's words as a query with `limit`: any of the words that say
/// what it is about, the first ones of a long text; other names of a product will do. Nothing in it is
/// an operator. Without such words the query has no terms.
pub fn question(text: &str, limit: u32) -> Query {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut terms: Vec<Term> = Vec::new();
    for (n, word) in words.iter().enumerate() {
        let is_new = || {
            let mut known = terms.iter().map(|term| &term.text);
            known.all(|known| !known.eq_ignore_ascii_case(word))
        };
        if !is_stopword(word) && is_new() && terms.len() < QUESTION_TERMS_MAX {
            let others = other_names(word).into_iter().flatten();
            let mut term = loose(word, false);
            term.or = others.map(|name| exact(name, false)).collect();
            let before = n.checked_sub(1).map(|before| (words[before], *word));
            let after = words.get(n + 1).map(|after| (*word, *after));
            term.kin
                .extend(before.into_iter().chain(after).filter_map(in_one));
            terms.push(term);
        }
    }
    Query {
        terms,
        any: true,
        limit,
        ..Query::default()
    }
}

/// Two neighbours as they may be written in one piece: `filename`, `setup`.
fn in_one((one, other): (&str, &str)) -> Option<String> {
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
    (is_word(one) && is_word(other)).then(|| format!("{one}{other}"))
}

/// A word as people mean it: its other forms will do.
pub(super) fn loose(word: &str, prefix: bool) -> Term {
    let lower = word.to_lowercase();
    let is_plain = !prefix && (word.chars().skip(1).eq(lower.chars().skip(1)));
    Term {
        text: word.to_owned(),
        prefix,
        forms: if is_plain { forms(&lower) } else { Vec::new() },
        kin: if is_plain { kin(&lower) } else { Vec::new() },
        or: Vec::new(),
    }
}

/// Takes the words away that say nothing, where others are left.
pub(super) fn without_stopwords(terms: &mut Vec<Term>) {
    let says = |term: &Term| !is_stopword(&term.text) || !term.or.is_empty();
    let is_worded = |term: &Term| term.text.contains(char::is_alphanumeric);
    if terms.iter().any(|term| says(term) && is_worded(term)) {
        terms.retain(says);
    }
}

/// Puts the terms of a search line into a query with `limit`, each as it is typed.
///
/// Words are separated by spaces; `"two words"` stand together; `-word` and `-"two words"` must
/// be absent; `word*` may go on. A quote that is not closed closes at the end. Never fails: what
/// has no meaning is looked for as it stands.
pub fn parse(line: &str, limit: u32) -> Query {
    let mut query = Query {
        limit,
        ..Query::default()
    };
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (negative, unsigned) = match rest.strip_prefix('-') {
            Some(after) if !after.is_empty() && !after.starts_with(char::is_whitespace) => {
                (true, after)
            }
            _ => (false, rest),
        };
        let (term, after) = term(unsigned);
        if !term.text.trim().is_empty() {
            let list = if negative {
                &mut query.without
            } else {
                &mut query.terms
            };
            list.push(term);
        }
        rest = after.trim_start();
    }
    query
}

/// The first term, and what follows it.
fn term(text: &str) -> (Term, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        let (phrase, after) = quoted.split_once('"').unwrap_or((quoted, ""));
        return (exact(phrase, false), after);
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    let begin = word.trim_end_matches('*');
    (exact(begin, begin.len() < word.len()), after)
}

/// As it stands.
pub(super) fn exact(text: &str, prefix: bool) -> Term {
    Term {
        text: text.to_owned(),
        prefix,
        ..Term::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_terms() {
        for (line, terms, without) in [
            ("jwt token", "jwt|token", ""),
            ("\"jwt token\" refresh", "jwt token|refresh", ""),
            ("auth -redis -\"old token\"", "auth", "redis|old token"),
            ("conf* x", "conf*|x", ""),
            ("\"not closed", "not closed", ""),
            ("- a", "-|a", ""),
            ("  ", "", ""),
            ("**", "", ""),
            ("parse_config src/a.rs", "parse_config|src/a.rs", ""),
        ] {
            let query = parse(line, 10);
            assert_eq!(told(&query.terms), terms, "{line}");
            assert_eq!(told(&query.without), without, "{line}");
            assert_eq!(query.limit, 10);
        }
    }

    #[test]
    fn a_question_is_its_words_without_those_that_say_nothing() {
        for (text, terms) in [
            ("Why did we drop the retries?", "drop|retries"),
            (
                "what does parse_config in src/a.rs do",
                "parse_config|src|rs",
            ),
            (
                "keep it: Redis, redis or since:yesterday -redis OR",
                "Redis|yesterday",
            ),
            ("yes please do it", ""),
            ("", ""),
        ] {
            let query = question(text, 5);
            assert_eq!(told(&query.terms), terms, "{text}");
            assert!(query.any && query.without.is_empty());
        }
        let long: String = (0..100).map(|n| format!("word{n} ")).collect();
        assert_eq!(question(&long, 5).terms.len(), QUESTION_TERMS_MAX);
        let named = question("the postgres dump", 5);
        let others = named.terms[0].or.iter().map(|term| term.text.as_str());
        assert_eq!(others.collect::<Vec<_>>(), ["postgresql", "psql"]);
        let pieces = question("the file name in 2 parts", 5);
        for (term, glued) in [("file", "filename"), ("name", "filename"), ("parts", "")] {
            let of_term = pieces.terms.iter().find(|known| known.text == term);
            let kin = &of_term.unwrap().kin;
            let has = kin.iter().any(|one| one == glued);
            assert_eq!(has, !glued.is_empty(), "{term}");
        }
        let set_up = question("how did we set up the mirror", 5);
        assert!(set_up.terms[0].kin.contains(&"setup".to_owned()));
        let retries = question("Retries", 5);
        assert!(retries.terms[0].forms.iter().any(|form| form == "retry"));
    }

    fn told(terms: &[Term]) -> String {
        let star = |term: &Term| if term.prefix { "*" } else { "" };
        let told: Vec<String> = terms
            .iter()
            .map(|t| format!("{}{}", t.text, star(t)))
            .collect();
        told.join("|")
    }
}
