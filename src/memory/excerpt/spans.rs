//! An episode's text as sentences: who said each, in answer to what, and which of a question's words it has.
//! Knows items and Markdown; refuses to judge.

use crate::model::exchange::{ItemKind, words_of};
use crate::model::item::apart;
use crate::rules::words::sentence_end;
use crate::store::EpisodeText;
use std::ops::Range;

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// A person's.
    Person,
    /// An agent's.
    Agent,
    /// The program's: a call and its result, an error, a note.
    Program,
}

/// A sentence, or a line of what is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span<'t> {
    /// On one line, without marks of lists and headings.
    pub(super) text: &'t str,
    /// Where it begins in the episode's text.
    pub(super) start: usize,
    pub(super) voice: Voice,
    /// Counts items of the episode.
    pub(super) item: usize,
    /// Counts prompts of the episode: what was said between two of them.
    pub(super) exchange: usize,
    /// It is the last thing that the agent said before the next prompt.
    pub(super) is_last_word: bool,
    /// It stands over what follows.
    pub(super) is_heading: bool,
    /// It is code.
    pub(super) is_code: bool,
    /// The terms in it, each once.
    pub(super) terms: Vec<usize>,
    /// Characters before the first of them.
    pub(super) first: usize,
}

/// All spans of an episode, in its order.
pub(super) fn spans(episode: &EpisodeText) -> Vec<Span<'_>> {
    let mut all = Vec::new();
    let mut exchange = 0;
    let items = items(episode);
    for (nth, (kind, place)) in items.iter().enumerate() {
        let voice = match kind {
            ItemKind::Prompt | ItemKind::Aside => Voice::Person,
            ItemKind::Agent => Voice::Agent,
            ItemKind::Digest | ItemKind::Error | ItemKind::Note => Voice::Program,
        };
        exchange += usize::from(*kind == ItemKind::Prompt && nth > 0);
        let said = |(kind, _): &&(ItemKind, Range<usize>)| {
            matches!(kind, ItemKind::Agent | ItemKind::Prompt)
        };
        let next = items[nth + 1..].iter().find(said).map(|(kind, _)| *kind);
        let item = Item {
            voice,
            nth,
            exchange,
            is_last_word: voice == Voice::Agent && next != Some(ItemKind::Agent),
        };
        item.cut(&episode.text, place.clone(), &mut all);
    }
    for span in &mut all {
        let within = span.start..span.start + span.text.len();
        let from = episode
            .terms
            .partition_point(|(_, at)| at.start < within.start);
        let inside = episode.terms[from..].iter();
        let inside = inside.take_while(|(_, at)| at.start < within.end);
        let first = episode
            .terms
            .get(from)
            .filter(|(_, at)| at.start < within.end);
        let before = first.map_or(0, |(_, at)| at.start - span.start);
        span.first = span
            .text
            .get(..before)
            .map_or(0, |before| before.chars().count());
        span.terms = inside.map(|(term, _)| *term).collect();
        span.terms.sort_unstable();
        span.terms.dedup();
    }
    all
}

/// What each item is, and where its words are. A text without items is the agent's.
fn items(episode: &EpisodeText) -> Vec<(ItemKind, Range<usize>)> {
    let text = episode.text.as_str();
    let whole = || vec![(ItemKind::Agent, 0..text.len())];
    let Some(items) = apart(text, &episode.outline).filter(|items| !items.is_empty()) else {
        return whole();
    };
    let base = text.as_ptr() as usize;
    let places = items.iter().zip(&episode.outline).map(|(item, mark)| {
        let start = item.as_ptr() as usize - base;
        let words = match mark.kind {
            ItemKind::Prompt | ItemKind::Aside | ItemKind::Agent => words_of(item),
            _ => item,
        };
        let end = start + item.len();
        (mark.kind, end - words.len()..end)
    });
    places.collect()
}

struct Item {
    voice: Voice,
    nth: usize,
    exchange: usize,
    is_last_word: bool,
}

impl Item {
    /// Line by line.
    fn cut<'t>(&self, text: &'t str, place: Range<usize>, all: &mut Vec<Span<'t>>) {
        let mut is_code = false;
        let mut at = place.start;
        for line in text[place].split_inclusive('\n') {
            let start = at;
            at += line.len();
            let bare = line.trim();
            if bare.starts_with("```") || bare.starts_with("~~~") {
                is_code = !is_code;
                continue;
            }
            if !bare.contains(|c: char| c.is_alphanumeric()) || !is_code && is_directive(bare) {
                continue;
            }
            let is_heading = !is_code && is_heading(bare);
            let mut from = start + line.len() - line.trim_start().len();
            let end = start + line.trim_end().len();
            if !is_code {
                let marks = text[from..end].trim_start_matches(MARKS);
                from = end - marks.len();
            }
            while from < end {
                let long = match is_code || self.voice == Voice::Program {
                    true => end - from,
                    false => sentence_end(&text[from..end]),
                };
                let sentence = text[from..from + long].trim_end();
                all.push(Span {
                    text: sentence,
                    start: from,
                    voice: self.voice,
                    item: self.nth,
                    exchange: self.exchange,
                    is_last_word: self.is_last_word,
                    is_heading,
                    is_code,
                    terms: Vec::new(),
                    first: 0,
                });
                from += long;
                from = end - text[from..end].trim_start().len();
            }
        }
    }
}

/// What a line of a list, a quote, a table or a heading begins with.
const MARKS: [char; 7] = ['#', '-', '*', '>', '|', '•', ' '];

/// `::git-stage{cwd="…"}`: an agent tells its own program what to show.
fn is_directive(line: &str) -> bool {
    let name = line
        .strip_prefix("::")
        .and_then(|rest| rest.split_once('{'));
    name.is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
    })
}

/// `## Decisions`, `**Decisions**`, `Decisions:`.
fn is_heading(line: &str) -> bool {
    const BYTES_MAX: usize = 90;
    let is_bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    line.len() <= BYTES_MAX && (line.starts_with('#') || is_bold || line.ends_with(':'))
}
