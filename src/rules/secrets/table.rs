//! Rows as written and as meant, the embedded ones and the user's. Knows YAML; refuses to match.

use super::validators::Validator;
use crate::model::error::Error;
use crate::rules::lazy_pattern::LazyPattern;
use crate::rules::table;
use regex::bytes::{Regex, RegexBuilder};
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input};
use serde::Deserialize;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The table that comes with the program.
pub(super) const EMBEDDED: &str = table::embedded!("secrets");

/// Bytes that a match may take where its row says nothing else.
const REACH: usize = 1024;

/// A rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub id: String,
    #[serde(rename = "name")]
    pub _name: String,
    pub keywords: Vec<String>,
    #[serde(default)]
    pub starts: Starts,
    #[serde(default)]
    pub inside: bool,
    pub pattern: String,
    #[serde(default = "reach")]
    pub reach: usize,
    pub entropy: Option<f32>,
    pub looks: Option<Validator>,
    #[serde(default)]
    pub personal: bool,
    #[serde(default)]
    pub samples: Samples,
    #[serde(skip)]
    compiled: OnceLock<Arc<LazyPattern>>,
}

/// Texts that say what a rule is for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Samples {
    pub masked: Vec<String>,
    /// Masked where nothing else stands on their lines.
    pub alone: Vec<String>,
    pub kept: Vec<String>,
}

/// Where a row's pattern begins, seen from the keyword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Starts {
    /// At the keyword.
    #[default]
    Keyword,
    /// At the beginning of the word around it.
    Word,
    /// At the first of the lines of base64 before it.
    Lines,
}

fn reach() -> usize {
    REACH
}

impl Row {
    /// Compiled at the first use.
    fn compiled(&self) -> &LazyPattern {
        self.compiled.get_or_init(|| {
            let pattern = compiled(&self.pattern);
            Arc::new(pattern.unwrap_or_else(|e| panic!("the table of secrets, {}: {e}", self.id)))
        })
    }

    /// What its pattern finds where a text begins.
    pub fn found(&self, text: &[u8]) -> Option<Captures> {
        let here = Input::new(text).anchored(Anchored::Yes);
        self.compiled().captures(here)
    }

    /// Whether this is more than a quoted `{value}` may hold: a passage, not a password.
    pub fn is_passage(&self, text: &[u8], (start, end): (usize, usize)) -> bool {
        let is_quoted = start > 0 && matches!(text[start - 1], b'\'' | b'"');
        end - start > QUOTED_MAX && is_quoted && self.pattern.contains("{value}")
    }

    /// The keywords with their classes written out.
    pub fn literals(&self) -> Vec<String> {
        self.keywords.iter().flat_map(|k| written_out(k)).collect()
    }
}

/// Bytes that a quoted `{value}` holds at most.
const QUOTED_MAX: usize = 200;

/// `{value}` in a pattern: quoted in either way, also inside of a quoted text, or bare. How long it may be isn't
/// counted by the pattern: one that counts to 200 three times is compiled thirty times as slowly.
const VALUE: &str =
    r#"(?:'([^'\n]{4,})'|\\?"([^"\\\n]{4,})\\?"|([^\s"'<>|;&`\\()-][^\s"'<>|;&`\\]{3,}))"#;

fn compiled(pattern: &str) -> Result<LazyPattern, String> {
    LazyPattern::new(&pattern.replace("{value}", VALUE))
}

/// `a[bc]d` is `abd`, `acd`.
fn written_out(keyword: &str) -> Vec<String> {
    let Some((before, class, after)) = class_in(keyword) else {
        return vec![keyword.to_owned()];
    };
    let rest = written_out(after);
    let members = members(class);
    let one = |member: char| {
        rest.iter()
            .map(move |rest| format!("{before}{member}{rest}"))
    };
    members.into_iter().flat_map(one).collect()
}

fn class_in(keyword: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = keyword.split_once('[')?;
    let (class, after) = rest.split_once(']')?;
    Some((before, class, after))
}

fn members(class: &str) -> Vec<char> {
    let written: Vec<char> = class.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < written.len() {
        match written[at..] {
            [from, '-', to, ..] => {
                all.extend(from..=to);
                at += 3;
            }
            _ => {
                all.push(written[at]);
                at += 1;
            }
        }
    }
    all
}

/// The embedded rows.
pub(super) fn rows() -> Vec<Row> {
    table::rows(EMBEDDED)
}

/// Rules and exceptions of one person.
#[derive(Debug, Default)]
pub struct UserRules {
    text: String,
    pub(super) rows: Vec<Row>,
    /// What is never masked.
    pub(super) allow: Vec<Regex>,
    /// Rules that are switched off.
    pub(super) off: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    rules: Vec<Row>,
    allow: Vec<String>,
    off: Vec<String>,
}

impl UserRules {
    /// Reads `rules`, `allow` (patterns that match a whole secret which is none) and `off` (ids of
    /// embedded rules). Errors name file and line.
    pub fn parse(file: &Path, text: &str) -> Result<UserRules, Error> {
        let at = |line: usize, what: &str| {
            Error::usage(format!("{}:{line}: {what}", file.display()))
                .hinted("docs/privacy.md says how rules are written")
        };
        let written: Written = match text.trim().is_empty() {
            true => Written::default(),
            false => serde_yaml::from_str(text).map_err(|e| {
                let line = e.location().map_or(1, |l| l.line());
                at(line, &e.to_string())
            })?,
        };
        let line = |word: &str| 1 + text.lines().position(|l| l.contains(word)).unwrap_or(0);
        for row in &written.rules {
            check(row).map_err(|what| at(line(&row.id), &what))?;
        }
        let allowed = |pattern: &String| {
            let whole = RegexBuilder::new(&format!("^(?:{pattern})$")).build();
            whole.map_err(|e| at(line(pattern), &format!("`{pattern}` is no pattern: {e}")))
        };
        let allow = written
            .allow
            .iter()
            .map(allowed)
            .collect::<Result<_, _>>()?;
        // the table is only read for who switches some of it off
        let known = match written.off.is_empty() {
            true => Vec::new(),
            false => rows(),
        };
        for id in &written.off {
            if !known.iter().any(|row| row.id == *id) {
                return Err(at(line(id), &format!("there is no rule `{id}`")));
            }
        }
        Ok(UserRules {
            text: text.to_owned(),
            rows: written.rules,
            allow,
            off: written.off,
        })
    }

    /// As written; empty where there is no file.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

fn check(row: &Row) -> Result<(), String> {
    let id_chars = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if row.id.is_empty() || !row.id.chars().all(id_chars) {
        return Err(format!(
            "`{}`: an id is lower-case letters, digits and dashes",
            row.id
        ));
    }
    if row.literals().iter().all(|k| k.is_empty()) || row.keywords.iter().any(String::is_empty) {
        return Err(format!(
            "`{}` needs keywords: literals that every match has",
            row.id
        ));
    }
    match compiled(&row.pattern) {
        Err(e) => Err(format!(
            "`{}`: `{}` is no pattern: {e}",
            row.id, row.pattern
        )),
        Ok(pattern) if pattern.is_match(Input::new(b"")) => {
            Err(format!("`{}` matches an empty text", row.id))
        }
        Ok(_) => Ok(()),
    }
}
