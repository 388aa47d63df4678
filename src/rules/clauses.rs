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
    if let Some(found) = TABLE
        .reasons
        .captures(&read, 0)
        .filter(|found| found.start() > 0)
    {
        read.text.truncate(found.start());
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
        let is_whole = clause.matches('`').count().is_multiple_of(2)
            && clause.matches('"').count().is_multiple_of(2)
            && clause.matches('(').count() == clause.matches(')').count();
        if is_whole && !clause.is_empty() {
            all.push(clause.to_owned());
        }
        from = found.end();
    }
    all.reverse();
    all
}

fn without(pattern: &CuePattern, ask: &str) -> String {
    let read = CueText::of(ask);
    let mut out = String::new();
    let mut from = 0;
    while let Some(found) = pattern.captures(&read, from) {
        out.push_str(&read.text[from..found.start()]);
        if found.end() < read.text.len()
            && !read.text[found.end()..].starts_with([' ', ',', '.'])
            && !out.is_empty()
            && !out.ends_with(' ')
        {
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
        for (ask, wants) in &TABLE.samples.cut {
            assert_eq!(clauses(ask), *wants, "{ask}");
        }
        assert_eq!(without_asides("sort (all) carts (by name)"), "sort carts");
    }
}
