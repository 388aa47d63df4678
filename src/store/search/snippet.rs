//! The stretch of a text that shows best what was looked for.

use crate::store::search::evidence::Match;
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

/// The stretch of `text` with most of the `patterns` that were `found` in it, the earliest among equals; its
/// beginning when there is none. What stands in a title says nothing new below it: of a summary, only what it says
/// behind its objective counts, where something is found there.
pub(crate) fn snippet(text: &str, found: &[Match], patterns: usize) -> Snippet {
    let news = behind_objective(text);
    let told = &found[found.partition_point(|m| m.start < news)..];
    let (first, floor) = match told.is_empty() {
        true => (window(found, patterns), 0),
        false => (window(told, patterns), news),
    };
    let from = first.saturating_sub(LEAD_BYTES).max(floor);
    let from = boundary_before(text, from);
    // rather from the beginning of a line than in the middle of the one before
    let line = text[from..first].rfind('\n');
    let from = line.map_or(from, |at| from + at + 1);
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

/// What a summary begins with, below its title and a line about the session.
const OBJECTIVE: &str = "## Objective\n";
const HEAD_BYTES_MAX: usize = 600;

/// Where the section behind a summary's objective begins; 0: it is no summary, or has nothing else.
fn behind_objective(text: &str) -> usize {
    let next = |at: usize| text[at..].find("\n## ").map(|section| at + section + 1);
    let objective = text.find(OBJECTIVE).filter(|at| *at < HEAD_BYTES_MAX);
    let objective = objective.map(|at| at + OBJECTIVE.len());
    objective.and_then(next).unwrap_or(0)
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
