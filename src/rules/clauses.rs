//! What can go of an ask where there is room for a clause only (`clauses.yaml`). Knows English.

use super::cue_pattern::{CuePattern, CueText};
use super::table;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Without the words that only make an ask polite or vague.
pub fn without_softeners(ask: &str) -> String {
    without(&TABLE.softeners, ask)
}

/// Without what stands in parentheses.
pub fn without_asides(ask: &str) -> String {
    without(&TABLE.asides, ask)
}

/// Without why it is asked; a text that begins with why stays.
pub fn without_reasons(ask: &str) -> String {
    let mut read = CueText::of(ask);
    let found = TABLE.reasons.captures(&read, 0);
    let starts = found.map(|found| found.start());
    if let Some(start) = starts.filter(|start| *start > 0 && is_whole(&read.text[..*start])) {
        read.text.truncate(start);
    }
    read.text
}

/// Shorter beginnings of an ask that are whole, the longest one first.
pub fn clauses(ask: &str) -> Vec<String> {
    let read = CueText::of(ask);
    let mut all = Vec::new();
    let mut from = 0;
    while let Some(found) = TABLE.ends.captures(&read, from) {
        let clause = &read.text[..found.start()];
        let is_condition = || TABLE.conditional.is_match(&CueText::of(clause));
        if is_whole(clause) && !clause.is_empty() && !is_condition() {
            all.push(clause.to_owned());
        }
        from = found.end();
    }
    all.reverse();
    all
}

/// Nothing in it is open: code, quotes, parentheses.
fn is_whole(text: &str) -> bool {
    let is_paired = |mark: char| text.matches(mark).count().is_multiple_of(2);
    let is_closed =
        |(open, end): (char, char)| text.matches(open).count() == text.matches(end).count();
    is_paired('`') && is_paired('"') && is_closed(('(', ')'))
}

/// What a question proposes to do; of one that asks whether to, all of it.
pub fn proposed(question: &str) -> Option<String> {
    let read = CueText::of(question);
    let found = TABLE.proposals.captures(&read, 0)?;
    let act = found.name("act").map(|act| act.trim_end_matches('?'));
    act.or(found.name("asks")).map(str::to_owned)
}

/// The sentence asks for nothing by itself: it greets, takes something back, or has lost track.
pub fn is_empty_ask(sentence: &str) -> bool {
    TABLE.empty.is_match(&CueText::of(sentence.trim()))
}

/// The ask says how, moves finished work on, or picks by a number.
pub fn is_hollow(ask: &str) -> bool {
    TABLE.hollow.is_match(&CueText::of(ask))
}

/// It only asks how far something is.
pub fn asks_progress(sentence: &str) -> bool {
    TABLE.progress.is_match(&CueText::of(sentence.trim()))
}

fn without(pattern: &CuePattern, ask: &str) -> String {
    let read = CueText::of(ask);
    let mut out = String::new();
    let mut from = 0;
    while let Some(found) = pattern.captures(&read, from) {
        out.push_str(read.text[from..found.start()].trim_end());
        let gone = &read.text[found.start()..found.end()];
        let behind = &read.text[found.end()..];
        if gone.starts_with(',') && !gone.ends_with(',') && !out.is_empty() {
            out.push(',');
        }
        let is_apart = behind.starts_with([' ', ',', '.', ';', ':', '?']);
        if !is_apart && !behind.is_empty() && !out.is_empty() {
            out.push(' ');
        }
        from = found.end();
    }
    out.push_str(&read.text[from..]);
    out.trim().to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    softeners: CuePattern,
    asides: CuePattern,
    reasons: CuePattern,
    proposals: CuePattern,
    empty: CuePattern,
    hollow: CuePattern,
    progress: CuePattern,
    conditional: CuePattern,
    ends: CuePattern,
    #[cfg(test)]
    samples: Samples,
}

#[cfg(test)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Samples {
    softened: BTreeMap<String, String>,
    reasoned: BTreeMap<String, String>,
    proposed: BTreeMap<String, String>,
    empty: BTreeMap<String, bool>,
    hollow: BTreeMap<String, bool>,
    progress: BTreeMap<String, bool>,
    cut: BTreeMap<String, Vec<String>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("clauses")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (ask, wants) in &TABLE.samples.softened {
            assert_eq!(without_softeners(ask), *wants);
        }
        for (ask, wants) in &TABLE.samples.reasoned {
            assert_eq!(without_reasons(ask), *wants);
        }
        for (ask, wants) in &TABLE.samples.proposed {
            assert_eq!(proposed(ask).unwrap_or_default(), *wants, "{ask}");
        }
        for (ask, wants) in &TABLE.samples.empty {
            assert_eq!(is_empty_ask(ask), *wants, "{ask}");
        }
        for (ask, wants) in &TABLE.samples.hollow {
            assert_eq!(is_hollow(ask), *wants, "{ask}");
        }
        for (ask, wants) in &TABLE.samples.progress {
            assert_eq!(asks_progress(ask), *wants, "{ask}");
        }
        for (ask, wants) in &TABLE.samples.cut {
            assert_eq!(clauses(ask), *wants, "{ask}");
        }
        assert_eq!(without_asides("sort (all) carts (by name)"), "sort carts");
    }
}
