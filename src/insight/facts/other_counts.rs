//! What an agent's words count of tests otherwise than any run of the session.

use super::line::LocatedItem;
use crate::model::finding::{Finding, TestCounts};
use crate::rules::table;
use crate::rules::words::sentences;
use regex::Regex;
use std::sync::LazyLock;

/// The tests that ran; none where the numbers of one run may be too low.
pub(super) fn counted<'t>(lines: &[LocatedItem<'t>]) -> Vec<&'t TestCounts> {
    let findings = lines.iter().flat_map(|line| line.item.findings);
    let runs = findings.filter_map(|finding| match finding {
        Finding::Tests(run) => Some(run),
        _ => None,
    });
    let runs: Vec<&TestCounts> = runs.collect();
    match runs.iter().any(|run| run.packages || run.partial) {
        true => Vec::new(),
        false => runs,
    }
}

/// Drops sentences of a text that say that all of a number of tests pass which none of these runs had: their numbers are
/// told beside it. All of the text stays where nothing else would.
pub(super) fn drop_other_counts(text: &mut String, runs: &[&TestCounts]) {
    static ALL: LazyLock<Regex> = LazyLock::new(|| {
        table::regex(r"(?i)\ball (\d[\d,]*)(?: \w+)? tests? (?:pass|are (?:passing|green))")
    });
    if runs.is_empty() || !text.contains("tests") {
        return;
    }
    let is_other = |sentence: &str| {
        let count = ALL
            .captures(sentence)
            .map(|found| found[1].replace(',', ""));
        let count = count.and_then(|count| count.parse::<u64>().ok());
        let has =
            |run: &&TestCounts, count| [run.passed, run.passed + run.skipped].contains(&count);
        count.is_some_and(|count| !runs.iter().any(|run| has(run, count)))
    };
    if !sentences(text).any(is_other) {
        return;
    }
    let kept = text.lines().filter_map(|line| {
        let all: Vec<&str> = sentences(line).collect();
        let kept: Vec<&str> = all.iter().copied().filter(|one| !is_other(one)).collect();
        match kept.len() {
            count if count == all.len() => Some(line.to_owned()),
            0 => None,
            _ => Some(kept.join(" ")),
        }
    });
    let kept = kept.collect::<Vec<String>>().join("\n");
    if !kept.is_empty() {
        *text = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_numbers_than_the_last_runs_are_not_told() {
        let last = TestCounts {
            runner: "cargo test".into(),
            passed: 154,
            failed: 0,
            skipped: 1,
            failures: Vec::new(),
            cause: None,
            partial: false,
            packages: false,
        };
        let told = |text: &str| {
            let mut text = text.to_owned();
            drop_other_counts(&mut text, &[&last]);
            text
        };
        assert_eq!(
            told("All 104 tests pass. The cart adds up.\n- one"),
            "The cart adds up.\n- one"
        );
        assert_eq!(told("All 154 tests pass."), "All 154 tests pass.");
        assert_eq!(told("All 155 tests pass."), "All 155 tests pass.");
        assert_eq!(told("All 104 tests pass."), "All 104 tests pass.");
        assert_eq!(
            told("All 12 new tests of carts add up."),
            "All 12 new tests of carts add up."
        );
    }
}
