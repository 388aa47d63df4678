//! Runs of all tests whose numbers nobody saw: a task runner's, or one whose output was cut or filtered.

use super::line::LocatedItem;
use super::ran::{RanCommand, hides_passed};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{TestRuns, UnseenEnd, UnseenRun};
use crate::rules::commands::{
    CheckEnd, CommandCheck, bare, is_absent, names_tests, whole_test_runs,
};
use crate::rules::test_words::passes_named;
use crate::rules::words::sentences;

/// A run with where it stands.
pub struct Unseen {
    /// Its line's index.
    pub at: usize,
    pub run: UnseenRun,
    /// The agent's sentence that it passed.
    pub said: Option<String>,
}

/// The last one of a call that printed no numbers.
pub fn unseen(lines: &[LocatedItem<'_>], at: usize) -> Option<Unseen> {
    let line = lines.get(at)?;
    let begun = RanCommand::begun(line);
    let goes_on = begun.is_some();
    let call = begun.or_else(|| RanCommand::of(line))?;
    let check = whole_test_runs(call.command).pop()?;
    let end = match goes_on {
        true => UnseenEnd::Unknown,
        false => end(&call, &check, line.words())?,
    };
    let command = bare(&check.words).join(" ");
    let is_one = names_tests(&check.words) || is_said_to_test(lines, &command);
    is_one.then(|| Unseen {
        at,
        said: says_passed(&lines[at..], &command),
        run: UnseenRun {
            command,
            end,
            is_later: false,
        },
    })
}

/// The one that says more than the last run with numbers: a later one where that failed or was of some tests, an earlier
/// one where that was of some. Where no run has numbers, all are later, and one counts that is known to have passed. Both
/// are asked from the last one on, and no further than it takes.
pub fn says_more(
    mut later: impl Iterator<Item = Unseen>,
    mut earlier: impl Iterator<Item = Unseen>,
    numbers: Option<&TestRuns>,
) -> Option<Unseen> {
    let passed = |unseen: &Unseen| matches!(unseen.run.end, UnseenEnd::Worked | UnseenEnd::Silent);
    let mut last = later.next();
    if let Some(last) = &mut last {
        last.run.is_later = true;
    }
    match (numbers, last) {
        (None, last) => last.filter(|last| passed(last) || last.said.is_some()),
        (Some(seen), Some(last)) => {
            let is_open = seen.last.failed > 0 || seen.part;
            Some(last).filter(|last| is_open || last.run.end == UnseenEnd::Failed)
        }
        (Some(seen), None) if seen.part && (seen.full.is_none() || seen.full_is_part) => {
            let said = |unseen: Unseen| Unseen {
                said: None,
                ..unseen
            };
            earlier.find(passed).map(said)
        }
        _ => None,
    }
}

fn end(call: &RanCommand<'_>, check: &CommandCheck, words: &str) -> Option<UnseenEnd> {
    // where it ran says more than what it ran
    const BLOCKED: [&str; 6] = [
        "not permitted",
        "ermission denied",
        "timed out",
        "read-only",
        "sandbox",
        "exec format error",
    ];
    let is_blocked = BLOCKED.iter().any(|word| call.output.contains(word));
    match check.end {
        _ if call.command.contains("<<") || call.output.starts_with("no tests ran") => None,
        _ if call.failed && (is_absent(call.output) || is_blocked) => None,
        _ if call.command.ends_with('…') => Some(UnseenEnd::Unknown),
        CheckEnd::Own if call.failed => Some(UnseenEnd::Failed),
        CheckEnd::First if call.failed => None,
        CheckEnd::Own | CheckEnd::First => Some(UnseenEnd::Worked),
        CheckEnd::Output | CheckEnd::Printed if call.is_silent() && hides_passed(words) => {
            Some(UnseenEnd::Silent)
        }
        CheckEnd::Output | CheckEnd::Printed => Some(UnseenEnd::Unknown),
    }
}

/// Another call showed that a task runs tests, or the agent says so of it.
fn is_said_to_test(lines: &[LocatedItem<'_>], command: &str) -> bool {
    lines.iter().any(|line| {
        let words = line.words();
        let is_named = words.contains(command);
        is_named
            && match line.item.kind {
                ItemKind::Digest => {
                    let mut findings = line.item.findings.iter();
                    findings.any(|finding| matches!(finding, Finding::Tests(_)))
                }
                ItemKind::Agent => sentences(words)
                    .any(|sentence| sentence.contains(command) && sentence.contains("test")),
                _ => false,
            }
    })
}

/// The last sentence of the agent's words that says of a command that it passed.
pub fn says_passed(after: &[LocatedItem<'_>], command: &str) -> Option<String> {
    let words = after.iter().rev();
    let mut words = words.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    words.find_map(|line| passes_named(line.words(), command))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::test_runs::test_runs;
    use crate::model::finding::TestCounts;

    fn counts(passed: u64, failed: u64) -> Vec<Finding> {
        vec![
            Finding::Worked { key: 1 },
            Finding::Tests(TestCounts {
                runner: "jest".into(),
                passed,
                failed,
                ..TestCounts::default()
            }),
        ]
    }

    /// `Action: …` and `Agent: …` lines.
    fn runs(items: &[(&str, Vec<Finding>)]) -> Option<TestRuns> {
        let lines = items.iter().zip(1..).map(|((text, findings), n)| {
            let kind = match text.starts_with("Agent: ") {
                true => ItemKind::Agent,
                false => ItemKind::Digest,
            };
            LocatedItem::sample(kind, n, text, findings)
        });
        test_runs(&lines.collect::<Vec<_>>()).map(|runs| runs.what)
    }

    fn worked(text: &str) -> (&str, Vec<Finding>) {
        (text, vec![Finding::Worked { key: 2 }])
    }

    fn failed(text: &str) -> (&str, Vec<Finding>) {
        (text, vec![Finding::Failed { key: 2 }])
    }

    fn told(items: &[(&str, Vec<Finding>)]) -> Option<(String, UnseenEnd, bool)> {
        let unseen = runs(items)?.unseen?;
        Some((unseen.command, unseen.end, unseen.is_later))
    }

    const SOME: &str = "Action: Bash(npm test -- cart.test.ts) → passed 3/3";
    const ALL: &str = "Action: Bash(npm test) → failed 2/9";

    #[test]
    fn an_older_run_never_stands_for_a_later_one_of_all_tests() {
        let some = || (SOME, counts(3, 0));
        let task = || worked("Action: Bash(just test) → 40 lines, 3 KB");
        let all = |end| Some(("just test".to_owned(), end, true));
        assert_eq!(told(&[some(), task()]), all(UnseenEnd::Worked));
        let piped = worked("Action: Bash(just test 2>&1 | tail -5) → 5 lines, 90 bytes");
        assert_eq!(told(&[some(), piped]), all(UnseenEnd::Unknown));
        let red = failed("Action: Bash(just test) → exit 1: the cart is empty");
        assert_eq!(told(&[some(), red]), all(UnseenEnd::Failed));
        let blocked = failed("Action: Bash(just test) → exit 1: Operation not permitted");
        assert_eq!(told(&[some(), blocked]), None);
        let words = "Agent: First I confirm that the new test fails without the fix:";
        let red = failed("Action: Bash(just test) → exit 1: the cart is empty");
        assert_eq!(told(&[some(), (words, vec![]), red]), None);
        assert_eq!(
            told(&[(ALL, counts(9, 0)), task()]),
            None,
            "it says no more"
        );
    }

    #[test]
    fn a_failed_run_is_not_the_end_where_a_later_one_worked() {
        let task = worked("Action: Bash(just test) → 40 lines, 3 KB");
        let found = runs(&[(ALL, counts(7, 2)), task]).expect("runs");
        assert_eq!((found.last.passed, found.last.failed), (0, 0));
        let hidden = worked("Action: Bash(just test | tail -1) → 1 line, 3 bytes");
        let found = runs(&[(ALL, counts(7, 2)), hidden]).expect("runs");
        assert_eq!((found.last.failed, found.said), (2, None));
    }

    #[test]
    fn a_check_counts_as_a_run_of_tests_where_somebody_says_so() {
        let check = || worked("Action: Bash(just check | tail -5) → 5 lines, 90 bytes");
        assert_eq!(told(&[(SOME, counts(3, 0)), check()]), None);
        let words = "Agent: `just check` (format, tests, build) is fully green.";
        let found = runs(&[(SOME, counts(3, 0)), check(), (words, vec![])]).expect("runs");
        let said = found.said.as_deref();
        assert_eq!(
            said,
            Some("`just check` (format, tests, build) is fully green.")
        );
        let seen = ("Action: Bash(just check) → passed 9/9", counts(9, 0));
        let items = [seen, (SOME, counts(3, 0)), check()];
        assert!(told(&items).is_some_and(|(_, _, is_later)| is_later));
    }

    #[test]
    fn an_earlier_run_of_all_that_showed_no_failure_stands_beside_one_of_some() {
        let filtered = "Action: Bash(go test ./... | grep -v ^ok) → ok, no output";
        let items = [worked(filtered), (SOME, counts(3, 0))];
        let wants = ("go test ./...".to_owned(), UnseenEnd::Silent, false);
        assert_eq!(told(&items), Some(wants));
    }

    #[test]
    fn a_run_without_tests_is_none() {
        let empty = "Action: Bash(cargo test) → no tests ran";
        assert_eq!(runs(&[worked(empty)]), None);
    }

    #[test]
    fn where_no_run_has_numbers_one_that_passed_is_told() {
        let task = worked("Action: Bash(just test) → 40 lines, 3 KB");
        assert!(told(&[task]).is_some());
        let red = failed("Action: Bash(just test) → exit 1: no recipe");
        assert_eq!(runs(&[red]), None);
        let part = worked("Action: Bash(npm test -- cart.test.ts) → 40 lines, 3 KB");
        assert_eq!(runs(&[part]), None);
    }
}
