//! Where secrets stand in a text: one scan for all keywords, then each row's pattern right there.
//!

use super::decoders::{self, View};
use super::looks;
use super::prefilter::Prefilter;
use super::table::{Row, Starts, UserRules};
use super::validators;
use regex_automata::util::captures::Captures;

/// Rows, ready to be tried.
pub(super) struct Engine {
    rows: Vec<Row>,
    allow: Vec<regex::bytes::Regex>,
    prefilter: Prefilter,
    /// By the finder's literals.
    rows_of: Vec<Vec<u16>>,
}

/// A secret, in bytes of the text; `row` says which rule found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
    pub row: usize,
}

/// Bytes of a word before its keyword. Longer names are no names.
const WORD_BYTES_MAX: usize = 96;

impl Engine {
    /// The user's rows are tried before ours.
    pub fn new(embedded: Vec<Row>, user: &UserRules, personal: bool) -> Engine {
        let ours = embedded
            .into_iter()
            .filter(|row| !user.off.contains(&row.id));
        let rows = user.rows.iter().cloned().chain(ours);
        let rows: Vec<Row> = rows.filter(|row| personal || !row.personal).collect();
        let mut literals: Vec<String> = Vec::new();
        let mut rows_of: Vec<Vec<u16>> = Vec::new();
        let mut known = rustc_hash::FxHashMap::default();
        for (i, row) in rows.iter().enumerate() {
            for literal in row.literals() {
                let literal = literal.to_ascii_lowercase();
                let n = *known.entry(literal.clone()).or_insert_with(|| {
                    literals.push(literal);
                    rows_of.push(Vec::new());
                    rows_of.len() - 1
                });
                if rows_of[n].last() != Some(&(i as u16)) {
                    rows_of[n].push(i as u16);
                }
            }
        }
        Engine {
            rows,
            allow: user.allow.clone(),
            prefilter: Prefilter::new(literals),
            rows_of,
        }
    }

    /// The id that stands in the placeholder.
    pub fn id(&self, span: &Span) -> &str {
        &self.rows[span.row].id
    }

    /// A row may begin in it.
    pub fn has_keyword(&self, text: &str) -> bool {
        let mut found = false;
        self.prefilter.find(text.as_bytes(), |_| found = true);
        found
    }

    /// Secrets in order, none touching another.
    pub fn spans(&self, text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        self.scan(text.as_bytes(), &mut spans);
        if let Some(view) = View::decoded(text) {
            let mut found = Vec::new();
            self.scan(view.text.as_bytes(), &mut found);
            spans.extend(found.iter().map(|span| Span {
                start: view.place(span.start),
                end: view.place(span.end),
                ..*span
            }));
        }
        for span in &mut spans {
            span.start = text.floor_char_boundary(span.start);
            span.end = text.ceil_char_boundary(span.end);
        }
        merged(spans)
    }

    fn scan(&self, text: &[u8], spans: &mut Vec<Span>) {
        let mut tried = Vec::new();
        self.prefilter.find(text, |hit| {
            for row in &self.rows_of[hit.literal] {
                let rule = &self.rows[usize::from(*row)];
                let Some(start) = start(text, hit.start, rule) else {
                    continue;
                };
                // several keywords in one word
                if tried.last() == Some(&(*row, start)) || tried.contains(&(*row, start)) {
                    continue;
                }
                if tried.len() >= TRIED_MAX {
                    tried.remove(0);
                }
                tried.push((*row, start));
                spans.extend(self.try_row(usize::from(*row), text, start));
            }
        });
    }

    fn try_row(&self, row: usize, text: &[u8], start: usize) -> Option<Span> {
        let rule = &self.rows[row];
        let end = text.len().min(start + rule.reach);
        let slice = &text[start..end];
        let found = match rule.found(slice) {
            Some(found) => Some(self.secret(rule, text, start, &found)?),
            None => None,
        };
        let (from, to) = match (found, rule.starts) {
            (Some((from, to)), Starts::Keyword) if decoders::may_go_on(text, to) => self
                .joined(rule, slice, start)
                .map_or((from, to), |(_, end)| (from, end.max(to))),
            (Some(found), _) => found,
            (None, Starts::Keyword) if decoders::is_broken(slice) => {
                self.joined(rule, slice, start)?
            }
            (None, _) => return None,
        };
        (from < to).then_some(Span {
            start: from,
            end: to,
            row,
        })
    }

    /// The secret in a match, where it looks like one.
    fn secret(
        &self,
        rule: &Row,
        text: &[u8],
        start: usize,
        found: &Captures,
    ) -> Option<(usize, usize)> {
        let groups = found.group_len();
        let group = (1..groups).rev().find_map(|i| found.get_group(i));
        let secret = group.or(found.get_group(0))?;
        let mut range = (start + secret.start, start + secret.end);
        if rule.is_passage(text, range) {
            return None;
        }
        if let Some(looks) = rule.looks {
            let name = (groups > 2).then(|| found.get_group(1)).flatten();
            let name = name.map_or(&b""[..], |name| &text[start + name.start..start + name.end]);
            range = validators::check(looks, text, name, range)?;
        }
        let secret = &text[range.0..range.1];
        let guessable = rule
            .entropy
            .is_some_and(|least| looks::entropy(secret) < least);
        // lines of a key may hold anything
        let is_token = rule.looks.is_none() && rule.reach <= TOKEN_REACH_MAX;
        let filled = is_token && looks::is_filled(secret);
        let allowed = self.allow.iter().any(|allow| allow.is_match(secret));
        (!guessable && !filled && !allowed && !looks::is_published(text, range)).then_some(range)
    }

    /// A token that line breaks, quotes or diff marks interrupt.
    fn joined(&self, rule: &Row, slice: &[u8], start: usize) -> Option<(usize, usize)> {
        if rule.looks.is_some() {
            return None;
        }
        let view = View::joined(slice)?;
        let found = rule.found(view.text.as_bytes())?;
        let (from, to) = self.secret(rule, view.text.as_bytes(), 0, &found)?;
        Some((start + view.place(from), start + view.end(to)))
    }
}

/// Bytes that a rule for single tokens reaches at most.
const TOKEN_REACH_MAX: usize = 8_192;

/// Tries that are remembered. Fewer: the same word is tried for each keyword in it.
const TRIED_MAX: usize = 8;

/// Where a row's pattern has to match; `None` where it can't.
fn start(text: &[u8], keyword: usize, rule: &Row) -> Option<usize> {
    match rule.starts {
        Starts::Keyword if rule.inside || is_bounded(text, keyword) => Some(keyword),
        Starts::Keyword => None,
        Starts::Word => Some(word_start(text, keyword)),
        Starts::Lines => decoders::lines_start(text, keyword),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'~')
}

fn word_start(text: &[u8], keyword: usize) -> usize {
    let before = &text[keyword.saturating_sub(WORD_BYTES_MAX)..keyword];
    let word = before.iter().rev().take_while(|b| is_word(**b)).count();
    let start = keyword - word;
    // the n of an escaped line break is no part of the word
    let escaped = start > 0 && text[start - 1] == b'\\' && word > 0;
    match escaped && matches!(text[start], b'n' | b'r' | b't') {
        true => start + 1,
        false => start,
    }
}

/// No letter, digit or underscore stands before it; escapes are none.
fn is_bounded(text: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).map_or(b' ', |i| text[i]);
    let plain = !(before(1).is_ascii_alphanumeric() || before(1) == b'_');
    let escaped = before(2) == b'\\' && matches!(before(1), b'n' | b'r' | b't' | b'f' | b'b');
    let encoded =
        before(3) == b'%' && before(2).is_ascii_hexdigit() && before(1).is_ascii_hexdigit();
    plain || escaped || encoded
}

/// Overlapping spans become one; the first row of the table names it.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable_by_key(|span| (span.start, span.row, span.end));
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                last.row = last.row.min(span.row);
            }
            _ => out.push(span),
        }
    }
    out
}
