//! What went wrong, in one line, as a table (`errors.yaml`): a failed tool's output in, its message
//! out, without stack trace. Also what a person said when refusing a call.
//!
//! Knows how compilers, shells, runtimes and agents word their errors; refuses to decide *whether*
//! something failed (D28: that is structure, not text).

use super::table::{self, TextPattern};
use super::terminal::plain;
use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// The message in a failed tool's output: the first row of the table that matches, else a line that
/// says something (the first of few, the last of many). Empty when the output says nothing. Not cut and not folded: may hold
/// several spaces, never a newline.
///
/// `parts` are the output's start and end (001-026). Only failed results should come here: one
/// scan for literals, then a regex per candidate.
pub fn message(parts: [&str; 2]) -> String {
    let parts = parts.map(plain);
    let parts = [parts[0].as_ref(), parts[1].as_ref()];
    let mut candidates = 0u64;
    for part in parts {
        for hit in TABLE.finder.find_iter(part) {
            candidates |= TABLE.rows_of[hit.pattern()];
        }
    }
    let rows = TABLE.messages.iter().enumerate();
    let known = rows
        .filter(|(i, _)| candidates & (1 << i) != 0)
        .find_map(|(_, row)| parts.iter().find_map(|part| row.read(part)));
    known.unwrap_or_else(|| saying_line(parts).to_owned())
}

/// What the person said in the text of a refused call; `None` when they only said no.
pub fn refusal_words(text: &str) -> Option<&str> {
    let start = TABLE.refusal.words_follow.iter().find_map(|marker| {
        let at = text.find(marker.as_str())?;
        Some(at + marker.len())
    })?;
    let words = &text[start..];
    let end = TABLE.refusal.words_end.iter();
    let end = end.filter_map(|marker| words.find(marker.as_str())).min();
    let words = words[..end.unwrap_or(words.len())].trim();
    (!words.is_empty()).then_some(words)
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::new(table::rows(table::embedded!("errors"))));

#[derive(Deserialize)]
struct Written {
    messages: Vec<Row>,
    silent: Vec<String>,
    refusal: Refusal,
}

struct Table {
    messages: Vec<Row>,
    silent: Regex,
    refusal: Refusal,
    finder: AhoCorasick,
    /// By literal, a bit for each row that it makes a candidate.
    rows_of: Vec<u64>,
}

#[derive(Deserialize)]
struct Row {
    #[cfg(test)]
    what: String,
    /// Any of these makes the row a candidate.
    find: Vec<String>,
    matches: TextPattern,
    /// With `$1`; the whole match where absent.
    says: Option<String>,
    /// The last match, not the first.
    #[serde(default)]
    last: bool,
    #[cfg(test)]
    samples: Vec<tests::Sample>,
}

#[derive(Deserialize)]
struct Refusal {
    words_follow: Vec<String>,
    words_end: Vec<String>,
}

impl Table {
    fn new(written: Written) -> Table {
        let mut rows_of: Vec<(String, u64)> = Vec::new();
        for (i, row) in written.messages.iter().enumerate() {
            for literal in &row.find {
                match rows_of.iter_mut().find(|(known, _)| known == literal) {
                    Some((_, rows)) => *rows |= 1 << i,
                    None => rows_of.push((literal.clone(), 1 << i)),
                }
            }
        }
        let (literals, rows_of): (Vec<String>, Vec<u64>) = rows_of.into_iter().unzip();
        Table {
            finder: table::finder(MatchKind::Standard, &literals),
            silent: table::regex(&written.silent.join("|")),
            messages: written.messages,
            refusal: written.refusal,
            rows_of,
        }
    }
}

impl Row {
    fn read(&self, text: &str) -> Option<String> {
        let regex = self.matches.regex();
        let found = match self.last {
            true => regex.captures_iter(text).last(),
            false => regex.captures(text),
        }?;
        let mut message = String::new();
        match &self.says {
            Some(template) => found.expand(template, &mut message),
            None => message.push_str(&found[0]),
        }
        (!message.trim().is_empty()).then_some(message)
    }
}

/// The first line that says something where there are few, else the last: a long output is mostly
/// what went well before it. Blank lines, decoration, stack frames and what tools print before they
/// come to the point say nothing.
fn saying_line(parts: [&str; 2]) -> &str {
    const FEW: usize = 5;
    const LOOKED_AT: usize = 40;
    let says = |line: &&str| line.chars().any(char::is_alphabetic) && !TABLE.silent.is_match(line);
    let mut lines = parts[0].lines().map(str::trim);
    if parts[1].is_empty() && lines.clone().filter(|l| !l.is_empty()).nth(FEW).is_none() {
        return lines.find(says).unwrap_or("");
    }
    let ends = parts.iter().rev().flat_map(|part| part.lines().rev());
    let mut ends = ends.map(str::trim).take(LOOKED_AT);
    ends.find(says).or_else(|| lines.find(says)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Sample {
        pub given: String,
        pub wants: String,
    }

    #[test]
    fn each_row_reads_its_own_samples() {
        assert!(TABLE.messages.len() <= 64, "candidates are bits of a u64");
        for row in &TABLE.messages {
            assert!(!row.samples.is_empty(), "{} has no sample", row.what);
            for sample in &row.samples {
                let got = message([&sample.given, ""]);
                assert_eq!(got, sample.wants, "{}:\n{}", row.what, sample.given);
                assert!(row.read(&sample.given).is_some(), "{}", row.what);
            }
        }
    }

    #[test]
    fn no_literal_hides_another() {
        let literals = || TABLE.messages.iter().flat_map(|row| &row.find);
        for a in literals() {
            for b in literals() {
                assert!(a == b || !a.contains(b.as_str()), "{b:?} hides {a:?}");
            }
        }
    }

    #[test]
    fn without_a_row_a_line_that_says_something_counts() {
        let text = "\n> app@1.0.0 build\n> next build\n\n-----\nSome thing broke\nmore\n";
        assert_eq!(message([text, ""]), "Some thing broke");
        assert_eq!(message(["", ""]), "");
        assert_eq!(message(["\n---\n", ""]), "");
        let long = format!(
            "{}it stopped here\n    at f (a.js:1:2)\n===\n",
            "fine\n".repeat(9)
        );
        assert_eq!(message([&long, ""]), "it stopped here");
        assert_eq!(
            message(["fine\n", "fine\nit stopped here\n"]),
            "it stopped here"
        );
    }

    #[test]
    fn a_refusal_keeps_the_persons_words_and_nothing_else() {
        let text = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nuse the other\nfile\n\nNote: The user's next message may contain a correction or preference.";
        assert_eq!(refusal_words(text), Some("use the other\nfile"));
        assert_eq!(refusal_words("The user doesn't want to proceed."), None);
    }
}
