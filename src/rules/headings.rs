//! What an agent's headings say of what stands below them, as a table (`headings.yaml`).

use super::literals::LiteralFinder;
use super::table;
use rustc_hash::FxHashSet;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A heading about what comes next or isn't done, or such a line that ends with a colon.
pub fn is_about_next(line: &str) -> bool {
    let Some(plain) = heading(line) else {
        return false;
    };
    TABLE.next.any(&plain, |found| {
        let before = plain[..found.start].split(|c: char| !c.is_alphanumeric() && c != '\'');
        let mut before = before.filter(|word| !word.is_empty());
        // `Remaining work`, `Known limitations`; not `Pages of the todo list`
        let is_sure = found.literal < TABLE.sure;
        is_sure || before.all(|word| TABLE.before.contains(word))
    })
}

/// A line that leads to what could be done, or to what somebody is asked to agree to.
pub fn is_proposal(line: &str) -> bool {
    heading(line).is_some_and(|plain| TABLE.proposed.is_match(&plain))
}

/// The heading says itself what was done: `Removed the second rounding (12 lines)`.
pub fn states_done(heading: &str) -> bool {
    const WORDS_MIN: usize = 3;
    let is_long = heading.split_whitespace().count() >= WORDS_MIN;
    is_long && TABLE.done.contains(&first_word(heading))
}

/// What stands below the heading is one case of several: `If there is no shop`.
pub fn is_case(heading: &str) -> bool {
    TABLE.cases.contains(&first_word(heading))
}

/// What stands below the heading isn't what was done: why, how it was, what is left.
pub fn is_beside(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    TABLE
        .beside
        .iter()
        .any(|word| heading.contains(word.as_str()))
}

fn first_word(heading: &str) -> String {
    let heading = heading.trim_matches(['#', '*', ':', ' ']);
    let first = heading.split([' ', ':', '*']).next();
    first.unwrap_or_default().to_lowercase()
}

/// What stands behind `Step` or `Phase` in the heading of a plan's part; all of it where neither does.
pub fn without_step(heading: &str) -> &str {
    let steps = TABLE.steps.iter().filter_map(|step| {
        let start = heading.get(..step.len())?;
        start.eq_ignore_ascii_case(step).then_some(step.len())
    });
    heading[steps.max().unwrap_or(0)..].trim_start()
}

/// A word that may stand before the number of a plan's part, in lower case.
pub fn is_step(word: &str) -> bool {
    TABLE.steps.contains(word)
}

/// The heading of a plan's part says nothing of what is to be done, or that it isn't.
pub fn is_no_part(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    let name = heading
        .split(" (")
        .next()
        .unwrap_or_default()
        .trim_matches([':', ' ', '*']);
    TABLE.no_parts.contains(name) || TABLE.left.is_match(&heading)
}

/// Behind the heading, or the label, stands what a document is for.
pub fn is_aim(heading: &str) -> bool {
    TABLE.aims.contains(heading.to_lowercase().as_str())
}

/// Its words, in lower case; `None` where it is none.
fn heading(line: &str) -> Option<String> {
    const BYTES_MAX: usize = 90;
    let is_one = line.starts_with('#') || line.ends_with([':', '*']);
    (is_one && line.len() <= BYTES_MAX).then(|| without_asides(line).to_lowercase())
}

/// Without what stands in parentheses or quotation marks: a page may be called "What's next".
fn without_asides(line: &str) -> String {
    const MARKS: [(char, char); 4] = [('(', ')'), ('"', '"'), ('“', '”'), ('`', '`')];
    let mut inside = None;
    let mut plain = String::with_capacity(line.len());
    for c in line.chars() {
        match inside {
            Some(end) => inside = Some(end).filter(|end| *end != c),
            None => {
                let mark = MARKS.iter().find(|(start, _)| *start == c);
                inside = mark.map(|(_, end)| *end);
                plain.extend(inside.is_none().then_some(c));
            }
        }
    }
    plain
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    next: Vec<String>,
    alone: Vec<String>,
    before: FxHashSet<String>,
    proposed: Vec<String>,
    no_parts: FxHashSet<String>,
    left: Vec<String>,
    steps: FxHashSet<String>,
    done: FxHashSet<String>,
    cases: FxHashSet<String>,
    beside: Vec<String>,
    aims: FxHashSet<String>,
    #[cfg(test)]
    samples: BTreeMap<String, String>,
}

struct Table {
    /// The words that say so wherever they stand, then those that do alone.
    next: LiteralFinder,
    /// How many of them are of the first kind.
    sure: usize,
    before: FxHashSet<String>,
    proposed: LiteralFinder,
    no_parts: FxHashSet<String>,
    left: LiteralFinder,
    steps: FxHashSet<String>,
    done: FxHashSet<String>,
    cases: FxHashSet<String>,
    beside: Vec<String>,
    aims: FxHashSet<String>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written: Written = table::rows(table::embedded!("headings"));
    Table {
        next: LiteralFinder::of([&written.next[..], &written.alone[..]].concat()),
        sure: written.next.len(),
        before: written.before,
        proposed: LiteralFinder::of(written.proposed),
        no_parts: written.no_parts,
        left: LiteralFinder::of(written.left),
        steps: written.steps,
        done: written.done,
        cases: written.cases,
        beside: written.beside,
        aims: written.aims,
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_hold() {
        let written: Written = table::rows(table::embedded!("headings"));
        for (line, wants) in &written.samples {
            let says = match () {
                () if is_about_next(line) => "next",
                () if is_proposal(line) => "proposed",
                () if states_done(line) => "done",
                () if is_case(line) => "case",
                () if is_aim(line) => "aim",
                () => "nothing",
            };
            assert_eq!(says, wants, "{line}");
        }
    }
}
