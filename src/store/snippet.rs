//! What is looked for, as words in a row, and the stretch of a text that shows it best.
//! Knows words and ranges; refuses to know SQL and how a match is highlighted.

use super::words::{Word, scan};
use serde::Serialize;

/// Bytes of a snippet, about three lines of a terminal.
const SNIPPET_BYTES: usize = 240;

/// Bytes of a snippet before its first match.
const LEAD_BYTES: usize = 60;

/// A stretch of a text on one line, control characters as spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The stretch.
    pub text: String,
    /// Byte ranges of the matches in it, in order, not overlapping.
    pub marks: Vec<(usize, usize)>,
    /// The text begins before it.
    pub cut_before: bool,
    /// The text goes on after it.
    pub cut_after: bool,
}

/// One term of a query as words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// In a row; never empty.
    words: Vec<String>,
    /// The last one may go on.
    prefix: bool,
    /// The term in one piece, where it is a compound name.
    glued: Option<String>,
}

impl Pattern {
    /// `None` when there is no word in `text`.
    pub(super) fn new(text: &str, prefix: bool) -> Option<Pattern> {
        let mut words = Vec::new();
        let mut glued = Vec::new();
        let mut lone = false;
        scan(text, |word| {
            if word.glued {
                glued.push(word.text());
            } else {
                lone = word.lone;
                words.push(word.text());
            }
        });
        // In a text the run may go on after the query's last character.
        let paired = lone && words.len() > 1 && ends_with_pair(&words);
        if paired {
            words.pop();
        }
        let whole = !prefix && !text.trim().contains(char::is_whitespace);
        (!words.is_empty()).then_some(Pattern {
            prefix: !paired && (prefix || lone),
            glued: glued.pop().filter(|_| whole && glued.is_empty()),
            words,
        })
    }

    /// As FTS5 takes it. Words hold letters and digits only, so quotes are safe.
    pub(super) fn expression(&self) -> String {
        let star = if self.prefix { "*" } else { "" };
        let phrase = format!("\"{}\"{star}", self.words.join(" "));
        match &self.glued {
            Some(glued) => format!("({phrase} OR \"{glued}\")"),
            None => phrase,
        }
    }

    /// `words` begin with this pattern.
    fn matches(&self, words: &[&str]) -> bool {
        let Some((last, rest)) = self.words.split_last() else {
            return false;
        };
        let last_fits = |word: &str| word == last || self.prefix && word.starts_with(last.as_str());
        words.len() > rest.len()
            && words.iter().zip(rest).all(|(a, b)| a == b)
            && last_fits(words[rest.len()])
    }

    fn matches_glued(&self, word: &str) -> bool {
        self.glued.as_deref() == Some(word) || self.words.len() == 1 && self.matches(&[word])
    }
}

/// The last word repeats the end of the one before: `日本 本`.
fn ends_with_pair(words: &[String]) -> bool {
    match words {
        [.., pair, last] => pair.chars().count() == 2 && pair.ends_with(last.as_str()),
        _ => false,
    }
}

/// The stretch of `text` with most of the patterns, the earliest among equals; its beginning
/// when there is none.
pub(super) fn snippet(text: &str, patterns: &[Pattern]) -> Snippet {
    let found = matches(text, patterns);
    let from = window(&found, patterns.len());
    let from = boundary_before(text, from.saturating_sub(LEAD_BYTES));
    let to = boundary_after(text, (from + SNIPPET_BYTES).min(text.len()));
    let inside = found.iter().filter(|m| m.start >= from && m.end <= to);
    let mut marks: Vec<(usize, usize)> = Vec::new();
    for m in inside {
        match marks.last_mut() {
            Some(last) if m.start - from < last.1 => last.1 = last.1.max(m.end - from),
            _ => marks.push((m.start - from, m.end - from)),
        }
    }
    Snippet {
        text: one_line(&text[from..to]),
        marks,
        cut_before: from > 0,
        cut_after: to < text.len(),
    }
}

struct Match {
    start: usize,
    end: usize,
    pattern: usize,
}

/// All matches, by their start.
fn matches(text: &str, patterns: &[Pattern]) -> Vec<Match> {
    let mut buffer = Vec::new();
    let mut places = Vec::new();
    let mut glued = Vec::new();
    scan(text, |word: Word<'_>| {
        if word.glued {
            glued.push((word.text(), word.start, word.end));
        } else {
            let from = buffer.len();
            word.write(&mut buffer);
            places.push((from, buffer.len(), word.start, word.end));
        }
    });
    let words: Vec<&str> = places
        .iter()
        .map(|(from, to, _, _)| std::str::from_utf8(&buffer[*from..*to]).unwrap_or_default())
        .collect();
    let mut found = Vec::new();
    for (pattern, wanted) in patterns.iter().enumerate() {
        for i in 0..words.len() {
            if wanted.matches(&words[i..]) {
                let (start, end) = (places[i].2, places[i + wanted.words.len() - 1].3);
                found.push(Match {
                    start,
                    end,
                    pattern,
                });
            }
        }
        for (word, start, end) in &glued {
            if wanted.matches_glued(word) {
                let (start, end) = (*start, *end);
                found.push(Match {
                    start,
                    end,
                    pattern,
                });
            }
        }
    }
    found.sort_by_key(|m| (m.start, m.end, m.pattern));
    found
}

/// Where the best window begins: most different patterns, then most matches, then the earliest.
fn window(found: &[Match], patterns: usize) -> usize {
    let reach = SNIPPET_BYTES - LEAD_BYTES;
    let mut best = (0, 0, 0);
    for (i, first) in found.iter().enumerate() {
        let inside = found[i..]
            .iter()
            .take_while(|m| m.end <= first.start + reach);
        let mut seen = vec![false; patterns];
        let mut count = 0;
        for m in inside {
            seen[m.pattern] = true;
            count += 1;
        }
        let different = seen.iter().filter(|seen| **seen).count();
        if (different, count) > (best.0, best.1) {
            best = (different, count, first.start);
        }
    }
    best.2
}

/// `at`, moved left to where a word begins if one does within a few bytes.
fn boundary_before(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let gap = text[..at]
        .char_indices()
        .rev()
        .take(16)
        .find(|(_, c)| c.is_whitespace());
    match gap {
        Some((i, c)) => i + c.len_utf8(),
        None if at <= 16 => 0,
        None => at,
    }
}

/// `at`, moved right to where a word ends if one does within a few bytes.
fn boundary_after(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    let gap = text[at..]
        .char_indices()
        .take(16)
        .find(|(_, c)| c.is_whitespace());
    match gap {
        Some((i, _)) => at + i,
        None if text.len() - at <= 16 => text.len(),
        None => at,
    }
}

/// The same bytes with control characters as spaces, so that offsets stay and a terminal is safe.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            line.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            line.push(c);
        }
    }
    line
}
