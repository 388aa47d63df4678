//! What the summary of a compaction says of a session whose own log is not there: what was asked, where the work
//! stood, what was left. Knows the sections that Claude Code asks for.

use super::fitted::fitted;
use super::line::LocatedItem;
use super::points::{is_point, without_mark};
use super::stated::stated;
use super::words::{folded, shortened};
use crate::model::exchange::ItemKind;
use crate::model::summary::{Resolution, SessionOutcome, Summary};
use crate::rules::headings::is_about_next;
use crate::rules::table;
use crate::rules::words::sentences;
use regex::Regex;
use std::sync::LazyLock;

/// Objectives are read at a glance.
const OBJECTIVE_CHARS_MAX: usize = 200;
const ASKED_CHARS_MAX: usize = 700;
const RESULT_CHARS_MAX: usize = 900;
const STEP_CHARS_MAX: usize = 200;
const STEPS_MAX: usize = 6;

/// Puts what the last such summary says in the place of what a sub-agent was told and came to; `false` where there
/// is none.
pub fn tell_compacted(lines: &[LocatedItem<'_>], summary: &mut Summary) -> bool {
    let mut said = lines.iter().rev();
    let said = said.find(|line| line.item.kind == ItemKind::Agent && line.words().contains(ASKED));
    let Some(line) = said else { return false };
    let words = line.words();
    let words = words
        .rsplit_once("<summary>")
        .map_or(words, |(_, words)| words);
    let words = words.split("</summary>").next().unwrap_or(words);
    let asked = section(words, ASKED).join("\n");
    let plain = folded(&asked);
    if plain.is_empty() {
        return false;
    }
    let mut objective = String::new();
    for sentence in sentences(&plain) {
        let room = OBJECTIVE_CHARS_MAX.saturating_sub(objective.chars().count() + 1);
        if sentence.chars().count() > room && !objective.is_empty() {
            break;
        }
        objective.push_str(if objective.is_empty() { "" } else { " " });
        objective.push_str(&shortened(sentence, room));
    }
    let whole = fitted(&stated(&asked), ASKED_CHARS_MAX);
    summary.asked = (whole.chars().count() > objective.chars().count()).then_some(whole);
    summary.objective = Some(line.source(objective));
    let shown = summary
        .objective
        .as_ref()
        .map_or("", |said| said.what.as_str());
    let status: Vec<String> = sentences(&plain)
        .filter(|said| is_status(said) && !shown.contains(said))
        .map(str::to_owned)
        .collect();
    let mut work = section(words, AT_WORK);
    let todo = work.iter().position(|line| leads_to_rest(line));
    let todo = todo.map_or(Vec::new(), |at| work.split_off(at));
    // what stands before the last sentence is not what is left
    let lead = todo.first().map_or("", |lead| {
        &lead[..lead.len() - sentences(lead).last().map_or(0, str::len)]
    });
    let mut solved = stated(&section(words, SOLVED).join("\n"));
    if solved.first().is_some_and(|line| is_point(line)) {
        solved.insert(0, format!("{SOLVED}:"));
    }
    let made = made(words, line.words());
    let came = [status, made, stated(&work.join("\n")), stated(lead), solved];
    let came = fitted(&came.concat(), RESULT_CHARS_MAX);
    summary.result = (!came.is_empty()).then(|| line.source(came));
    summary.steps.clear();
    summary.requests.clear();
    summary.outcome = Some(SessionOutcome::InProgress);
    add_mended(words, line, summary);
    let left = [section(words, LEFT), section(words, NEXT), todo].concat();
    let steps = left.iter().filter(|line| is_point(line) || left.len() == 1);
    let steps = steps.map(|step| shortened(&folded(without_mark(step)), STEP_CHARS_MAX));
    let steps = steps.filter(|step| step.contains(' ')).take(STEPS_MAX);
    summary.next_steps = steps.map(|step| line.source(step)).collect();
    true
}

/// Errors of the summary, where the log shows none.
fn add_mended(words: &str, line: &LocatedItem<'_>, summary: &mut Summary) {
    if !summary.errors_resolved.is_empty() {
        return;
    }
    let mended = mended(&section(words, ERRORS)).into_iter();
    let mended = mended.take(ERRORS_MAX).map(|(error, cure)| {
        line.source(Resolution {
            error,
            cure: Some(format!("{cure}{BY_AGENT}")),
            worked_at: line.line,
            ..Resolution::default()
        })
    });
    summary.errors_resolved = mended.collect();
}

/// Behind what no call of the log shows.
const BY_AGENT: &str = " (says the agent)";

/// More errors are a list.
const ERRORS_MAX: usize = 5;

/// Errors with their cures: `error: cure` in a point, or a point that leads to what was done.
fn mended(lines: &[&str]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for line in lines.iter().filter(|line| is_point(line)) {
        let text = folded(without_mark(line));
        if let Some(error) = text.strip_suffix(':') {
            all.push((error.to_owned(), String::new()));
        } else if let Some((_, cure)) = all.last_mut().filter(|(_, cure)| cure.is_empty()) {
            *cure = text;
        } else if let Some((error, cure)) = cured(&text) {
            all.push((error.to_owned(), cure.to_owned()));
        }
    }
    all.retain(|(_, cure)| !cure.is_empty());
    const ERROR_CHARS_MAX: usize = 100;
    let all = all.into_iter().map(|(error, cure)| {
        // it stands behind `Fix:`
        let cure = cure.strip_prefix("Fixed by ").unwrap_or(&cure);
        let cure = shortened(cure.trim_end_matches('.'), STEP_CHARS_MAX);
        (shortened(&error, ERROR_CHARS_MAX), cure)
    });
    all.collect()
}

/// What stands behind the last colon, where that is a sentence: `Compile error: no such function: Added it`.
fn cured(text: &str) -> Option<(&str, &str)> {
    let mut found = text.rmatch_indices(": ");
    let begins = |at: usize| text[at + 2..].starts_with(|c: char| c.is_ascii_uppercase());
    let (at, _) = found.find(|(at, _)| begins(*at) && text[at + 2..].contains(' '))?;
    Some((&text[..at], &text[at + 2..]))
}

/// Lines that say what was committed, by its hash, and how many tests passed: of the summary, else of all the words.
fn made(words: &str, all: &str) -> Vec<String> {
    static COMMITTED: LazyLock<Regex> = LazyLock::new(|| {
        table::regex(r"(?i)\bcommit(?:ted)?(?: as)?:? ?[(`]{0,2}[0-9a-f]{7,40}\b")
    });
    static PASSED: LazyLock<Regex> = LazyLock::new(|| {
        table::regex(r"(?i)\b\d+ tests?,? (?:are )?(?:all )?(?:pass|passed|passing|green)\b")
    });
    // of tests the last ones are told
    [(&COMMITTED, MADE_MAX), (&PASSED, 1)]
        .into_iter()
        .flat_map(|(names, most)| {
            let found = |text: &str| {
                let lines = text
                    .lines()
                    .map(str::trim)
                    .filter(|line| names.is_match(line));
                let lines = lines.map(|line| format!("- {}", folded(without_mark(line))));
                let lines = lines.map(|line| format!("{line}{BY_AGENT}"));
                let lines: Vec<String> = lines.collect();
                lines[lines.len().saturating_sub(most)..].to_vec()
            };
            let told = found(words);
            if told.is_empty() { found(all) } else { told }
        })
        .collect()
}

const MADE_MAX: usize = 4;

/// It says how far the work is: `Two tasks are completed; the third is in progress.`
fn is_status(sentence: &str) -> bool {
    const CUES: [&str; 6] = [
        " completed",
        " complete",
        " done",
        " finished",
        " in progress",
        " pushed",
    ];
    CUES.iter().any(|cue| sentence.contains(cue))
}

/// `Still need to:`, before what isn't done.
fn leads_to_rest(line: &str) -> bool {
    let lower = line.to_lowercase();
    let is_lead =
        line.ends_with(':') && (lower.contains("still need") || lower.contains("still to "));
    is_lead || is_about_next(line)
}

/// Titles of sections.
const ASKED: &str = "Primary Request and Intent";
const SOLVED: &str = "Problem Solving";
const ERRORS: &str = "Errors and fixes";
const LEFT: &str = "Pending Tasks";
const AT_WORK: &str = "Current Work";
const NEXT: &str = "Optional Next Step";

/// The lines of a section, without its number and title.
fn section<'w>(words: &'w str, title: &str) -> Vec<&'w str> {
    let is_title = |line: &str| {
        line.starts_with(|c: char| c.is_ascii_digit()) && line.trim_end().ends_with([':', '*'])
            || line.starts_with('#')
    };
    let mut lines = words.lines();
    let begins = |line: &&str| is_title(line) && line.contains(title);
    if lines.by_ref().find(begins).is_none() {
        return Vec::new();
    }
    let lines = lines.take_while(|line| !is_title(line));
    lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_compaction_calls_left_is_not_done() {
        let words = "Agent: <summary>\n1. Primary Request and Intent:\n   The user asked to work on the cart and \"go on until \
            each of its four tasks is closed\". The cart is \"One sum for each of the shop's pages, whichever day it was made on, and \
            for all of them together\". Three tasks are completed and pushed; the fourth is in progress.\n\n\
            7. Pending Tasks:\n   - Close the cart\n\n8. Current Work:\n   Rows of the fourth task have sums.\n   \
            The column of the shop is in the middle. Still need to:\n   - Print the sums of pages\n   - Run the tests again\n</summary>";
        let line = LocatedItem::sample(ItemKind::Agent, 7, words, &[]);
        let mut summary = Summary::default();
        assert!(tell_compacted(&[line], &mut summary));
        let result = summary.result.expect("a result").what;
        assert!(
            result.starts_with("Three tasks are completed and pushed; the fourth is in progress."),
            "{result}"
        );
        assert!(
            result.contains("The column of the shop") && !result.contains("Print the sums"),
            "{result}"
        );
        let steps: Vec<&str> = summary
            .next_steps
            .iter()
            .map(|step| step.what.as_str())
            .collect();
        assert_eq!(
            steps,
            [
                "Close the cart",
                "Print the sums of pages",
                "Run the tests again"
            ]
        );
    }

    #[test]
    fn a_compaction_tells_errors_commits_and_tests() {
        let words = "Agent: <analysis>\n- `cart.1`: CLOSED, committed (3bb8701)\n</analysis>\n\n<summary>\n\
            1. Primary Request and Intent:\n   The user asked to add up all of the carts of the shop.\n\n\
            3. Files and Code Sections:\n   - `cart.rs`\n     - Total: 49 tests, all passing\n\n\
            4. Errors and fixes:\n   - **Compile error: no function `sum/3`**: Added it to `cart.rs`.\n   \
            - Sums of empty carts:\n      - Fixed by counting them as zero\n\n8. Current Work:\n   Rows have sums.\n</summary>";
        let line = LocatedItem::sample(ItemKind::Agent, 7, words, &[]);
        let mut summary = Summary::default();
        assert!(tell_compacted(&[line], &mut summary));
        let errors = summary.errors_resolved.iter();
        let errors: Vec<(&str, Option<&str>)> = errors
            .map(|error| (error.what.error.as_str(), error.what.cure.as_deref()))
            .collect();
        let wants = [
            (
                "Compile error: no function `sum/3`",
                Some("Added it to `cart.rs` (says the agent)"),
            ),
            (
                "Sums of empty carts",
                Some("counting them as zero (says the agent)"),
            ),
        ];
        assert_eq!(errors, wants);
        let result = summary.result.expect("a result").what;
        assert!(
            result.contains("committed (3bb8701) (says the agent)"),
            "{result}"
        );
        assert!(
            result.contains("Total: 49 tests, all passing (says the agent)"),
            "{result}"
        );
    }

    #[test]
    fn a_compactions_summary_tells_the_session() {
        let words = "Agent: <analysis>\nPrimary Request and Intent: long\n</analysis>\n\n<summary>\n\
            1. Primary Request and Intent:\n   The user asked to work on the cart until all of its tasks are done. \
            Tasks 1 and 2 are done and pushed.\n\n2. Key Technical Concepts:\n   - Carts\n\n5. Problem Solving:\n   \
            The totals were rounded twice; they are rounded once now.\n\n7. Pending Tasks:\n   - **Task 3** (in \
            progress): the totals of rows\n   - Commit and push\n\n8. Current Work:\n   The rows have totals. The \
            test of rows doesn't compile yet.\n</summary>";
        let line = LocatedItem::sample(ItemKind::Agent, 7, words, &[]);
        let mut summary = Summary::default();
        assert!(tell_compacted(&[line], &mut summary));
        let objective = summary.objective.expect("an objective").what;
        assert_eq!(
            objective,
            "The user asked to work on the cart until all of its tasks are done. Tasks 1 and 2 are done and pushed."
        );
        let result = summary.result.expect("a result").what;
        assert!(
            result.contains("rounded once now") && result.contains("doesn't compile"),
            "{result}"
        );
        let steps: Vec<&str> = summary
            .next_steps
            .iter()
            .map(|step| step.what.as_str())
            .collect();
        assert_eq!(
            steps,
            [
                "Task 3 (in progress): the totals of rows",
                "Commit and push"
            ]
        );
        let other = LocatedItem::sample(ItemKind::Agent, 7, "Agent: Done.", &[]);
        assert!(!tell_compacted(&[other], &mut Summary::default()));
    }
}
