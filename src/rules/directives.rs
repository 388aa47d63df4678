//! Memory directives in people's words (D38), and whether a question is about the user (D37), by a
//! table (`directives.yaml`).

use super::table;
use crate::model::memory::MemoryKind;
use crate::model::scope::MemoryScope;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A line that asks for something to be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// What it is.
    pub kind: MemoryKind,
    /// How far it reaches; the error is a scope's word that nobody knows.
    pub scope: Result<MemoryScope, String>,
    /// It is named; otherwise it follows from the words.
    pub is_marked: bool,
    /// What is to be remembered; never empty.
    pub text: String,
}

/// What stands behind so much is pasted text.
const WORDS_BYTES_MAX: usize = 64 * 1024;

/// The directives of a prompt, in order: at the start of a line, outside of code, quotes and lists. Its
/// words are the rest of the line with the indented lines below it, or, where the rest is empty, the
/// lines up to an empty one. `more`: words that count besides those that always do.
pub fn directives(prompt: &str, more: &[&str]) -> Vec<Directive> {
    if !prompt.contains(':') {
        return Vec::new();
    }
    let prompt = &prompt[..prompt.floor_char_boundary(WORDS_BYTES_MAX)];
    let mut found = Vec::new();
    let mut inside_code = false;
    let mut lines = prompt.lines().peekable();
    while let Some(line) = lines.next() {
        if is_fence(line) {
            inside_code = !inside_code;
        }
        let begun = (!inside_code).then(|| begins(line, more)).flatten();
        let Some((kind, marked, rest)) = begun else {
            continue;
        };
        let mut text = vec![rest];
        let is_heading = rest.is_empty();
        while let Some(line) = lines.next_if(|line| goes_on(line, is_heading, more)) {
            text.push(line.trim());
        }
        let text = text.join("\n").trim().to_owned();
        if text.is_empty() {
            continue;
        }
        let scope = match marked {
            Some(word) => MemoryScope::parse(word).ok_or_else(|| word.to_owned()),
            None => Ok(meant(&text)),
        };
        found.push(Directive {
            kind,
            scope,
            is_marked: marked.is_some(),
            text,
        });
    }
    found
}

/// Whether a question asks for the user's own memory.
pub fn wants_global(question: &str) -> bool {
    let words = plain(question);
    has_any(&words, &TABLE.about_me)
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Belongs to the directive above it.
fn goes_on(line: &str, is_heading: bool, more: &[&str]) -> bool {
    let is_blank = line.trim().is_empty();
    !is_blank
        && !is_fence(line)
        && match is_heading {
            true => begins(line, more).is_none(),
            false => line.starts_with([' ', '\t']),
        }
}

/// Kind, the scope's word in brackets, and what follows the colon.
fn begins<'t>(line: &'t str, more: &[&str]) -> Option<(MemoryKind, Option<&'t str>, &'t str)> {
    let (head, rest) = line.split_once(':')?;
    // `task:build` is a name, `//` an address
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) || head.starts_with([' ', '\t']) {
        return None;
    }
    let (word, scope) = match head.split_once('(') {
        Some((word, scope)) => (word, Some(scope.trim_end().strip_suffix(')')?.trim())),
        None => (head, None),
    };
    // what quotes or lists begin with is no word
    let is_plain = |c: char| c.is_alphanumeric() || c == ' ';
    let word = word.chars().all(is_plain).then(|| plain(word))?;
    let is_it = |kind: &&Kind| {
        let named = kind
            .more
            .iter()
            .filter(|word| more.contains(&word.as_str()));
        kind.words
            .iter()
            .chain(named)
            .any(|known| *known == word.trim())
    };
    let kind = TABLE.kinds.iter().find(is_it)?;
    Some((MemoryKind::parse(&kind.kind)?, scope, rest.trim()))
}

/// How far a directive without a scope reaches: as far as its words say, where they say one thing.
fn meant(text: &str) -> MemoryScope {
    let words = plain(text);
    let said = TABLE
        .scopes
        .iter()
        .filter(|(_, phrases)| has_any(&words, phrases));
    let mut said = said.filter_map(|(scope, _)| MemoryScope::parse(scope));
    match (said.next(), said.next()) {
        (Some(scope), None) => scope,
        _ => MemoryScope::Workspace,
    }
}

/// Words in lower case between single blanks, with a blank at both ends.
fn plain(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '\'' || c == '_';
    let lower = text.to_lowercase();
    let words = lower.split(|c| !is_word(c)).filter(|word| !word.is_empty());
    words.fold(String::from(" "), |all, word| all + word + " ")
}

/// Whether one of the phrases stands in `words`, as [`plain`] gives them.
fn has_any(words: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| {
        let mut found = words.match_indices(phrase.as_str());
        found.any(|(at, _)| {
            words[..at].ends_with(' ') && words[at + phrase.len()..].starts_with(' ')
        })
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kinds: Vec<Kind>,
    scopes: BTreeMap<String, Vec<String>>,
    about_me: Vec<String>,
    #[cfg(test)]
    samples: Samples,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    kind: String,
    words: Vec<String>,
    #[serde(default)]
    more: Vec<String>,
}

#[cfg(test)]
#[derive(Deserialize)]
struct Samples {
    directives: BTreeMap<String, Vec<(String, String, String)>>,
    about_me: BTreeMap<String, bool>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("directives")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (prompt, wants) in &TABLE.samples.directives {
            let found = directives(prompt, &[]).into_iter().map(|found| {
                let scope = found.scope.map(MemoryScope::as_str).map(str::to_owned);
                let scope = scope.unwrap_or_else(|word| format!("?{word}"));
                (found.kind.as_str().to_owned(), scope, found.text)
            });
            assert_eq!(&found.collect::<Vec<_>>(), wants, "{prompt}");
        }
        for (question, wants) in &TABLE.samples.about_me {
            assert_eq!(wants_global(question), *wants, "{question}");
        }
    }

    #[test]
    fn words_that_begin_many_lines_count_only_when_they_are_named() {
        for (word, kind) in [
            ("note", "lesson"),
            ("todo", "task"),
            ("steps", "procedure"),
            ("remember", "preference"),
        ] {
            let prompt = format!("{word}: keep it short");
            assert_eq!(directives(&prompt, &[]), [], "{word}");
            let found = directives(&prompt, &[word]);
            assert_eq!(found[0].kind.as_str(), kind);
        }
    }

    #[test]
    fn every_kind_and_scope_of_the_table_exists() {
        let kinds: Vec<_> = TABLE
            .kinds
            .iter()
            .map(|k| MemoryKind::parse(&k.kind))
            .collect();
        assert_eq!(kinds, MemoryKind::ALL.map(Some));
        assert!(
            TABLE
                .scopes
                .keys()
                .all(|scope| MemoryScope::parse(scope).is_some())
        );
    }

    #[test]
    fn pasted_documents_are_no_directives() {
        let long = format!("procedure: {}", "x".repeat(9_000));
        assert_eq!(
            directives(&long, &[]).len(),
            1,
            "it is refused where all see it"
        );
        let far = format!("{}\npreference: tabs", "x ".repeat(WORDS_BYTES_MAX));
        assert_eq!(directives(&far, &[]), []);
    }
}
