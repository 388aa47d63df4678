//! The little language of a search line: words, "phrases", -without, begin*.
//! Knows how people type; refuses to know what a word is (`store::words` does).

use crate::store::{Query, Term};

/// Puts the terms of a search line into a query with `limit`.
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
        let text = phrase.to_string();
        return (
            Term {
                text,
                prefix: false,
            },
            after,
        );
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    let begin = word.trim_end_matches('*');
    let term = Term {
        text: begin.to_string(),
        prefix: begin.len() < word.len(),
    };
    (term, after)
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

    fn told(terms: &[Term]) -> String {
        let star = |term: &Term| if term.prefix { "*" } else { "" };
        let told: Vec<String> = terms
            .iter()
            .map(|t| format!("{}{}", t.text, star(t)))
            .collect();
        told.join("|")
    }
}
