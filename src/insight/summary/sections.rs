//! A stored summary read back: its outcome, the points of its sections. Knows how `super` writes them.

use super::test_results::{LAST_WITH_NUMBERS, PASSED};

/// A summary's text as parts.
#[derive(Clone, Copy, Debug)]
pub struct SummarySections<'t>(&'t str);

/// How the tests of a session went, as its summary says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestsTold {
    /// Of the last run.
    pub passed: u64,
    /// Of the last run, the failed ones.
    pub failed: u64,
    /// Runs, at least.
    pub runs: u64,
    /// Of these, runs with a failure.
    pub failed_runs: u64,
}

impl<'t> SummarySections<'t> {
    /// Of a summary's Markdown.
    pub fn of(text: &'t str) -> SummarySections<'t> {
        SummarySections(text)
    }

    /// How the session ended, as one word.
    pub fn outcome(self) -> Option<&'t str> {
        let lines = self.0.lines().take_while(|line| !line.starts_with("## "));
        let mut told = lines.filter_map(|line| line.strip_prefix("**Outcome**: "));
        told.next()
    }

    /// The lines of a section, without the empty ones.
    pub fn lines(self, title: &str) -> impl Iterator<Item = &'t str> + use<'t> {
        let is_it = |line: &&str| line.strip_prefix("## ") == Some(title);
        let at = self.0.lines().position(|line| is_it(&line));
        let lines = self.0.lines().skip(at.map_or(usize::MAX, |at| at + 1));
        let lines = lines.take_while(|line| !line.starts_with("## "));
        lines.filter(|line| !line.is_empty())
    }

    /// The points of a section, without what is indented below them.
    pub fn points(self, title: &str) -> impl Iterator<Item = &'t str> + use<'t> {
        self.lines(title).filter_map(|line| line.strip_prefix("- "))
    }

    /// What it says of tests; `None`: nothing.
    pub fn tests(self) -> Option<TestsTold> {
        let mut told = None;
        for point in self.points("Test Results") {
            if let Some(results) = point.strip_prefix("**Results**: ") {
                told = counts(results);
            } else if let Some(results) = point.strip_prefix(LAST_WITH_NUMBERS) {
                told = told.or(counts(results));
            } else if let (Some(runs), Some(told)) = (point.strip_prefix("**Runs**: "), &mut told) {
                let mut numbers = numbers(runs);
                told.runs = numbers.next().unwrap_or(told.runs);
                told.failed_runs = numbers.next().unwrap_or(0);
            }
        }
        told
    }
}

/// `12/13 passed`, `12 of 13 packages ok`, `1 of at least 3 packages failed`, `13 packages ok`.
fn counts(results: &str) -> Option<TestsTold> {
    let results = match results.split_once(PASSED) {
        Some((command, numbers)) if command.starts_with('`') => numbers,
        _ => results,
    };
    let mut numbers = numbers(results);
    let (first, second) = (numbers.next()?, numbers.next());
    let told = |passed, failed| TestsTold {
        passed,
        failed,
        runs: 1,
        failed_runs: u64::from(failed > 0),
    };
    let second = second.unwrap_or(first);
    Some(match results.contains("failed") {
        true => told(second.saturating_sub(first), first),
        false => told(first, second.saturating_sub(first)),
    })
    .filter(|_| !results.starts_with("passed, says") && !results.starts_with("not shown"))
}

fn numbers(text: &str) -> impl Iterator<Item = u64> + '_ {
    let parts = text.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::summary::markdown;
    use crate::model::finding::TestCounts;
    use crate::model::summary::{Decision, SessionOutcome, Summary, TestRuns, sourced};

    #[test]
    fn what_is_written_is_read_back() {
        let last = TestCounts {
            passed: 12,
            failed: 1,
            ..TestCounts::default()
        };
        let runs = TestRuns {
            runs: 3,
            failed: 2,
            last,
            ..TestRuns::default()
        };
        let decision = Decision {
            decision: "Use SQLite".into(),
            ..Decision::default()
        };
        let summary = Summary {
            outcome: Some(SessionOutcome::Blocked),
            decisions: vec![sourced(1, decision)],
            next_steps: vec![sourced(1, "Push it".into()), sourced(2, "Tag it".into())],
            tests: Some(sourced(1, runs)),
            ..Summary::default()
        };
        let text = markdown(&summary, "mixed activity");
        let told = SummarySections::of(&text);
        assert_eq!(told.outcome(), Some("blocked"));
        let points = |title| told.points(title).collect::<Vec<_>>();
        assert_eq!(points("Key Decisions"), ["**Use SQLite**"]);
        assert_eq!(points("Next Steps"), ["Push it", "Tag it"]);
        assert!(points("Pull Requests").is_empty());
        let tests = TestsTold {
            passed: 12,
            failed: 1,
            runs: 3,
            failed_runs: 2,
        };
        assert_eq!(told.tests(), Some(tests));
    }

    #[test]
    fn results_are_counted_however_they_are_told() {
        let of = |text| counts(text).map(|told| (told.passed, told.failed));
        assert_eq!(of("at least 5/5 passed"), Some((5, 0)));
        assert_eq!(of("13 packages ok"), Some((13, 0)));
        assert_eq!(of("12 of 13 packages ok"), Some((12, 1)));
        assert_eq!(of("`just t1` passed: at least 2 packages ok"), Some((2, 0)));
        assert_eq!(of("1 of at least 3 packages failed"), Some((2, 1)));
        assert_eq!(of("passed, says the agent: “all 5 pass”"), None);
        assert_eq!(
            of("not shown. The last run, `just t1`, ended with exit code 0"),
            None
        );
    }
}
