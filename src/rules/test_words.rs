//! What agents say of tests, as a table (`test_words.yaml`).

use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use super::words::sentences;
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// The last sentence of an agent's words that says that the whole suite passes, if one does.
pub fn passes(words: &str) -> Option<&str> {
    TABLE.passes.found(words).last()
}

/// The last sentence of an agent's words that says that this command, between backticks, passed, or the line of a list
/// of what passed that names it.
pub fn passes_named(words: &str, command: &str) -> Option<String> {
    if !words.contains(command) {
        return None;
    }
    let names = |sentence: &&str| {
        let mut codes = sentence.split('`').skip(1).step_by(2);
        codes.any(|code| code == command)
    };
    let said = TABLE.passes_named.found(words).filter(names).last();
    said.map(|said| said.trim().to_owned())
        .or_else(|| listed_as_passed(words, command))
}

/// `Verification passed: just check`, of a list below `Verification passed:` that has the command alone in a line.
fn listed_as_passed(words: &str, command: &str) -> Option<String> {
    let mut heading = None;
    let mut found = None;
    for line in words.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let point = line.strip_prefix(['-', '*', '•']).map(str::trim);
        let plain = line.trim_matches(['*', '#', ' ']);
        match (point, heading) {
            (Some(point), Some(heading)) => {
                let code = point
                    .strip_prefix('`')
                    .and_then(|point| point.split_once('`'));
                let is_it = code.is_some_and(|(code, rest)| code == command && rest.is_empty());
                found = is_it.then(|| format!("{heading} `{command}`")).or(found);
            }
            (Some(_), None) => {}
            (None, _) => heading = TABLE.passes_list.says(plain).then_some(plain),
        }
    }
    found
}

/// The last sentence of an agent's words that says that checks passed which it doesn't name by a command.
pub fn checks_pass(words: &str) -> Option<&str> {
    TABLE.checks_pass.found(words).last().map(str::trim)
}

/// The last sentence of an agent's words that says that checks elsewhere passed, all of them.
pub fn ci_passes(words: &str) -> Option<&str> {
    TABLE.ci_passes.found(words).last().map(str::trim)
}

/// Somebody may say how checks elsewhere ended, well or not.
pub fn says_ci_ended(words: &str) -> bool {
    TABLE.ci_ended.found(words).next().is_some()
}

/// The words say that checks elsewhere go on.
pub fn says_ci_runs(words: &str) -> bool {
    TABLE.ci_runs.found(words).next().is_some()
}

/// The sentence of an agent's words that says of what fails or complains that it isn't of this work.
pub fn excuse(words: &str) -> Option<&str> {
    let mut said = TABLE.others.found(words);
    said.find(|said| TABLE.excuses.says(said)).map(str::trim)
}

/// The sentence of an agent's words next to a check that failed that says of its faults that they aren't of this work.
pub fn faults_excuse(words: &str) -> Option<&str> {
    let mut said = TABLE.others.found(words);
    said.find(|said| TABLE.of_faults.says(said)).map(str::trim)
}

/// The last sentence of an agent's words that says of tests, this many of which failed, that it isn't for this work's sake.
pub fn tests_excuse(words: &str, failed: u64) -> Option<&str> {
    static COUNT: LazyLock<Regex> = LazyLock::new(|| {
        table::regex(r"(?i)\b(\d+) (?:[\w-]+ ){0,2}(?:tests?|failures?|failing|specs?)\b")
    });
    let is_other = |said: &str| {
        let count = COUNT.captures(said).and_then(|found| found[1].parse().ok());
        count.is_some_and(|count: u64| count != failed)
    };
    let said = TABLE
        .others
        .found(words)
        .filter(|said| TABLE.excuses.says(said) && TABLE.of_tests.says(said) && !is_other(said));
    said.last().map(str::trim)
}

/// The last sentence of an agent's words that says that tests fail now, if one does and none after it
/// says that they pass or that it isn't for the work's sake.
pub fn fails(words: &str) -> Option<&str> {
    let said = TABLE.fails.found(words).last()?;
    let from = said.as_ptr() as usize - words.as_ptr() as usize;
    let is_excused = passes(&words[from..]).is_some() || blames_others(words);
    (!is_excused).then_some(said)
}

/// Whether an agent's words announce a run that is meant to fail: what they say last counts.
pub fn fails_on_purpose(words: &str) -> bool {
    last(words).is_some_and(|said| TABLE.fails_on_purpose.says(said))
}

/// Whether an agent's words say that what failed is not of its work.
pub fn blames_others(words: &str) -> bool {
    TABLE.others.found(words).next().is_some()
}

/// Whether a task is only to see whether tests, a build or checks pass.
pub fn is_only_a_check(task: &str) -> bool {
    TABLE.only_checks.says(task)
}

/// Whether a task is, among other things, to run tests or checks.
pub fn runs_checks(task: &str) -> bool {
    TABLE.runs_checks.says(task)
}

/// The last two sentences: the last one is often only `Let me run it:`.
fn last(words: &str) -> Option<&str> {
    let line = words.trim().lines().next_back()?;
    let all: Vec<&str> = sentences(line).collect();
    let from = all.get(all.len().saturating_sub(2))?;
    let at = from.as_ptr() as usize - line.as_ptr() as usize;
    Some(&line[at..])
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    passes: WrittenCues,
    passes_named: WrittenCues,
    checks_pass: WrittenCues,
    ci_passes: WrittenCues,
    ci_ended: WrittenCues,
    ci_runs: WrittenCues,
    passes_list: WrittenCues,
    excuses: WrittenCues,
    of_tests: WrittenCues,
    of_faults: WrittenCues,
    fails: WrittenCues,
    fails_on_purpose: WrittenCues,
    others: WrittenCues,
    only_checks: WrittenCues,
    runs_checks: WrittenCues,
}

struct Table {
    passes: SentenceCues,
    passes_named: SentenceCues,
    checks_pass: SentenceCues,
    ci_passes: SentenceCues,
    ci_ended: SentenceCues,
    ci_runs: SentenceCues,
    passes_list: SentenceCues,
    excuses: SentenceCues,
    of_tests: SentenceCues,
    of_faults: SentenceCues,
    fails: SentenceCues,
    fails_on_purpose: SentenceCues,
    others: SentenceCues,
    only_checks: SentenceCues,
    runs_checks: SentenceCues,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    Table {
        passes: written.passes.into(),
        passes_named: written.passes_named.into(),
        checks_pass: written.checks_pass.into(),
        ci_passes: written.ci_passes.into(),
        ci_ended: written.ci_ended.into(),
        ci_runs: written.ci_runs.into(),
        passes_list: written.passes_list.into(),
        excuses: written.excuses.into(),
        of_tests: written.of_tests.into(),
        of_faults: written.of_faults.into(),
        fails: written.fails.into(),
        fails_on_purpose: written.fails_on_purpose.into(),
        others: written.others.into(),
        only_checks: written.only_checks.into(),
        runs_checks: written.runs_checks.into(),
    }
});

fn written() -> Written {
    table::rows(table::embedded!("test_words"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        written.passes.samples.hold(|words| passes(words).is_some());
        let named = &written.passes_named.samples;
        named.hold(|words| passes_named(words, "just check").is_some());
        let checks = &written.checks_pass.samples;
        checks.hold(|words| checks_pass(words).is_some());
        let ci = &written.ci_passes.samples;
        ci.hold(|words| ci_passes(words).is_some());
        written.ci_ended.samples.hold(says_ci_ended);
        written.ci_runs.samples.hold(says_ci_runs);
        written
            .passes_list
            .samples
            .hold(|words| TABLE.passes_list.says(words));
        written
            .excuses
            .samples
            .hold(|words| excuse(words).is_some());
        let tests = &written.of_tests.samples;
        tests.hold(|words| tests_excuse(words, 4).is_some());
        let faults = &written.of_faults.samples;
        faults.hold(|words| faults_excuse(words).is_some());
        let list = "All of it is in.\n\nVerification passed:\n\n- `just test`\n- `just check`\n\nNot run:\n- `just docs`";
        let named = |command| passes_named(list, command);
        assert_eq!(
            named("just test").as_deref(),
            Some("Verification passed: `just test`")
        );
        assert_eq!(named("just docs"), None);
        written.fails.samples.hold(|words| fails(words).is_some());
        written.fails_on_purpose.samples.hold(fails_on_purpose);
        written.others.samples.hold(blames_others);
        written.only_checks.samples.hold(is_only_a_check);
        written.runs_checks.samples.hold(runs_checks);
    }

    #[test]
    fn the_sentence_that_says_it_is_given_and_code_says_nothing() {
        let words = "I fixed it. All tests pass.\nNext comes the release.";
        assert_eq!(passes(words).map(str::trim), Some("All tests pass."));
        assert_eq!(passes("```\nAll tests pass.\n```\nDone."), None);
        assert!(fails_on_purpose(
            "The test is in. It should fail. Let me run it:"
        ));
        assert!(!fails_on_purpose(
            "It should fail.\nNow the fix is in. Let me run it:"
        ));
    }
}
