//! What an agent's report has besides what came of the work, as a table (`reports.yaml`).

use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::sync::LazyLock;

/// A line that says no more than where the work lies, or how much there was: `Branch: fix/totals`, `Batches: 1`.
pub fn is_label(line: &str) -> bool {
    const WORDS_MAX: usize = 4;
    const CODE_WORDS_MAX: usize = 8;
    let line = line.trim_start_matches(['-', '*', '•', ' ']);
    let Some((label, rest)) = line.split_once(':') else {
        return false;
    };
    let label = label.trim_matches(['*', ' ', '`']).to_lowercase();
    let rest = rest.trim_matches(['*', ' ']);
    // none of them says more: `Commits: 0 (a false alarm)`
    let is_number = || rest.starts_with(|c: char| matches!(c, '1'..='9'));
    let most = match rest.chars().next() {
        // an address with more behind it says more
        _ if rest.starts_with("http") => 1,
        Some('`') => CODE_WORDS_MAX,
        _ => WORDS_MAX,
    };
    match TABLE.labels.contains(&label) {
        _ if TABLE.passing.contains(&label) => true,
        true => rest.split_whitespace().nth(most).is_none(),
        false => TABLE.counts.contains(&label) && is_number(),
    }
}

/// A heading of what was checked.
pub fn is_proof(heading: &str) -> bool {
    let heading = heading
        .trim_matches(['*', ':', ' ', '-', '#'])
        .to_lowercase();
    let heading = heading.split('(').next().unwrap_or_default().trim();
    TABLE.proofs.contains(heading)
}

/// A heading of what was asked, or how things stood before.
pub fn restates(heading: &str) -> bool {
    let heading = heading
        .trim_matches(['*', ':', ' ', '-', '#'])
        .to_lowercase();
    TABLE.restated.contains(heading.as_str())
}

/// A heading of what it comes to.
pub fn is_conclusion(heading: &str) -> bool {
    is_one_of(heading, &TABLE.conclusions)
}

/// A heading of why something failed.
pub fn is_cause(heading: &str) -> bool {
    is_one_of(heading, &TABLE.causes)
}

/// A heading of what was wrong, or of why.
pub fn is_fault(heading: &str) -> bool {
    is_one_of(heading, &TABLE.bugs) || is_cause(heading)
}

/// A heading of what was done about that.
pub fn is_remedy(heading: &str) -> bool {
    is_one_of(heading, &TABLE.remedies)
}

fn is_one_of(heading: &str, headings: &FxHashSet<String>) -> bool {
    const BEFORE: [&str; 6] = ["my ", "our ", "the ", "final ", "overall ", "actual "];
    let heading = heading
        .trim_matches(['*', ':', ' ', '-', '#'])
        .to_lowercase();
    let mut heading = heading.split(" (").next().unwrap_or_default();
    while let Some(rest) = BEFORE.iter().find_map(|word| heading.strip_prefix(word)) {
        heading = rest;
    }
    headings.contains(heading)
}

/// The sentence says only that the work was committed or pushed, or not yet.
pub fn is_moved(sentence: &str) -> bool {
    TABLE.moved.says(sentence)
}

/// The sentence says that nothing was changed.
pub fn is_unchanged(sentence: &str) -> bool {
    TABLE.unchanged.says(sentence)
}

/// The sentence says only that the agent is ready for the work, or knows what it is about.
pub fn is_readiness(sentence: &str) -> bool {
    TABLE.ready.says(sentence)
}

/// The sentence of the middle of work says what goes on, which is over once it is done.
pub fn is_interim(sentence: &str) -> bool {
    TABLE.interim.says(sentence)
}

/// The sentence says that what the one before it tells is mended.
pub fn is_cure(sentence: &str) -> bool {
    TABLE.cures.says(sentence)
}

/// The sentence only counts what stands behind it: `Two things to know.`
pub fn only_counts(sentence: &str) -> bool {
    TABLE.counted.says(sentence)
}

/// The sentence says only that checks pass.
pub fn only_passes(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
    let mut says = false;
    let is_known = |word: &str| {
        let is_state = TABLE.passes.states.contains(word);
        says |= is_state;
        let is_number = word != "0" && word.bytes().all(|b| b.is_ascii_digit());
        is_state || TABLE.passes.words.contains(word) || is_number
    };
    // `12/14`
    !sentence.contains('/') && words.filter(|word| !word.is_empty()).all(is_known) && says
}

/// Whether the sentence names tests, and whether other checks.
pub fn checks_named(sentence: &str) -> [bool; 2] {
    let lower = sentence.to_lowercase();
    let names = |words: &[String]| words.iter().any(|word| lower.contains(word.as_str()));
    [names(&TABLE.passes.tests), names(&TABLE.passes.others)]
}

/// The text speaks of something that failed.
pub fn tells_of_failure(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut faults = TABLE.passes.faults.iter();
    faults.any(|word| lower.contains(word.as_str()))
}

/// The prompt asks for an account of the session.
pub fn sums_up(sentence: &str) -> bool {
    TABLE.sums.says(sentence)
}

/// An agent's line leads to an account of the session.
pub fn leads_to_account(line: &str) -> bool {
    TABLE.accounts.says(line)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    labels: FxHashSet<String>,
    counts: FxHashSet<String>,
    passing: FxHashSet<String>,
    proofs: FxHashSet<String>,
    conclusions: FxHashSet<String>,
    causes: FxHashSet<String>,
    bugs: FxHashSet<String>,
    remedies: FxHashSet<String>,
    restated: FxHashSet<String>,
    moved: WrittenCues,
    unchanged: WrittenCues,
    ready: WrittenCues,
    interim: WrittenCues,
    cures: WrittenCues,
    counted: WrittenCues,
    passes: Passes,
    sums: WrittenCues,
    accounts: WrittenCues,
    #[cfg(test)]
    samples: Samples,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Passes {
    words: FxHashSet<String>,
    states: FxHashSet<String>,
    tests: Vec<String>,
    others: Vec<String>,
    faults: Vec<String>,
}

#[cfg(test)]
#[derive(Deserialize)]
struct Samples {
    passes: std::collections::BTreeMap<String, bool>,
    labels: std::collections::BTreeMap<String, bool>,
}

struct Table {
    labels: FxHashSet<String>,
    counts: FxHashSet<String>,
    passing: FxHashSet<String>,
    proofs: FxHashSet<String>,
    conclusions: FxHashSet<String>,
    causes: FxHashSet<String>,
    bugs: FxHashSet<String>,
    remedies: FxHashSet<String>,
    restated: FxHashSet<String>,
    moved: SentenceCues,
    unchanged: SentenceCues,
    ready: SentenceCues,
    interim: SentenceCues,
    cures: SentenceCues,
    counted: SentenceCues,
    passes: Passes,
    sums: SentenceCues,
    accounts: SentenceCues,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    Table {
        labels: written.labels,
        counts: written.counts,
        passing: written.passing,
        proofs: written.proofs,
        conclusions: written.conclusions,
        causes: written.causes,
        bugs: written.bugs,
        remedies: written.remedies,
        restated: written.restated,
        moved: written.moved.into(),
        unchanged: written.unchanged.into(),
        ready: written.ready.into(),
        interim: written.interim.into(),
        cures: written.cures.into(),
        counted: written.counted.into(),
        passes: written.passes,
        sums: written.sums.into(),
        accounts: written.accounts.into(),
    }
});

fn written() -> Written {
    table::rows(table::embedded!("reports"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        written.moved.samples.hold(is_moved);
        written.unchanged.samples.hold(is_unchanged);
        written.ready.samples.hold(is_readiness);
        written.interim.samples.hold(is_interim);
        written.cures.samples.hold(is_cure);
        written.counted.samples.hold(only_counts);
        written.sums.samples.hold(sums_up);
        written.accounts.samples.hold(leads_to_account);
        for (line, wants) in written.samples.passes {
            assert_eq!(only_passes(&line), wants, "{line}");
        }
        for (line, wants) in written.samples.labels {
            assert_eq!(is_label(&line), wants, "{line}");
        }
        assert!(is_proof("**Verification (all run by me)**") && !is_proof("What changed:"));
        assert!(is_conclusion("**Bottom line:**") && restates("Current State"));
        assert!(is_cause("**The root cause**") && !is_cause("Causes of delays"));
        assert!(is_conclusion("## My final recommendation (short)") && !is_conclusion("My carts"));
    }
}
