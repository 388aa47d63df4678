//! A model's answer beside the facts (D41, D48). Facts are believed wherever they speak; of the rest, what
//! the log can bear out.

use super::answer::{
    ConfigChange, DecisionRecord, EnhancedSessionSummary, ErrorResolution, TestSummary,
};
use crate::insight::facts::LocatedItem;
use crate::model::finding::TestCounts;
use crate::model::summary::{
    DecisionReasons, Explanation, LlmAdditions, LlmDecision, LlmResolution, SettingChange, Sourced,
    Summary,
};
use std::collections::BTreeSet;

/// The facts with what `by` (a model's name) says besides; `lines` are those that it was asked about.
///
/// Outcome, files, tests, tools, commits and values of settings stay as the facts have them. Files and
/// settings that only the model tells must be named in the log; tasks and steps that the facts have
/// are not told twice.
pub fn merged(
    facts: Summary,
    answer: &EnhancedSessionSummary,
    by: &str,
    lines: &[LocatedItem<'_>],
) -> Summary {
    let log = Log(lines);
    let mut summary = facts;
    let mut llm = LlmAdditions {
        by: by.to_owned(),
        objective: answer.objective.clone(),
        outcome: summary.outcome.is_none().then_some(answer.outcome),
        completed: besides(&answer.completed_tasks, &summary.completed),
        root_cause: answer.root_cause_analysis.clone(),
        discoveries: answer.discoveries.clone(),
        next_steps: besides(&answer.next_steps, &summary.next_steps),
        ..LlmAdditions::default()
    };
    // what the facts have was seen: a model can only add where they have nothing
    if summary.files_modified.is_empty() {
        let files = answer.files_modified.iter().filter(|path| log.names(path));
        llm.files_modified = files.cloned().collect();
    }
    if let Some(tests) = answer
        .test_results
        .as_ref()
        .filter(|_| summary.tests.is_none())
    {
        llm.tests = log.bears_out(tests);
        let coverage = tests
            .coverage_pct
            .filter(|per_cent| log.has_number(*per_cent));
        // a coverage without the run that it belongs to says nothing
        llm.coverage = coverage.filter(|_| llm.tests.is_some());
    }
    for decision in &answer.key_decisions {
        decided(&mut summary, &mut llm, decision);
    }
    for error in &answer.errors_resolved {
        resolved(&mut summary, &mut llm, error);
    }
    for change in &answer.config_changes {
        set(&mut summary, &mut llm, change, &log);
    }
    summary.llm = Some(llm);
    summary
}

/// What of a model's items the facts don't have.
fn besides(items: &[String], facts: &[Sourced<String>]) -> Vec<String> {
    let mut seen: BTreeSet<String> = facts.iter().map(|fact| letters(&fact.what)).collect();
    let new = items.iter().filter(|item| seen.insert(letters(item)));
    new.cloned().collect()
}

/// Letters and digits, small.
fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// The item that an answer calls `D1`.
fn called<'i, T>(
    items: &'i mut [Sourced<T>],
    letter: char,
    name: Option<&String>,
) -> Option<&'i mut T> {
    let nth: usize = name?.trim().strip_prefix(letter)?.parse().ok()?;
    let item = items.get_mut(nth.checked_sub(1)?)?;
    Some(&mut item.what)
}

fn decided(summary: &mut Summary, llm: &mut LlmAdditions, record: &DecisionRecord) {
    let why = DecisionReasons {
        rationale: record.rationale.clone(),
        alternatives: record.alternatives.clone().unwrap_or_default(),
    };
    match called(&mut summary.decisions, 'D', record.known.as_ref()) {
        Some(known) => known.why = Some(why),
        None if record.decision.is_empty() => {}
        None => llm.decisions.push(LlmDecision {
            decision: record.decision.clone(),
            why,
        }),
    }
}

fn resolved(summary: &mut Summary, llm: &mut LlmAdditions, record: &ErrorResolution) {
    let explained = Explanation {
        root_cause: record.root_cause.clone(),
        fix: record.fix.clone(),
        verification: record.verification.clone(),
    };
    match called(&mut summary.errors_resolved, 'E', record.known.as_ref()) {
        Some(known) => known.explained = Some(explained),
        None if record.error.is_empty() => {}
        None => llm.errors_resolved.push(LlmResolution {
            error: record.error.clone(),
            explained,
        }),
    }
}

/// A change is known by its name, or by file and setting.
fn set(summary: &mut Summary, llm: &mut LlmAdditions, record: &ConfigChange, log: &Log<'_>) {
    let reason = Some(record.reason.clone()).filter(|reason| !reason.is_empty());
    let same = |change: &SettingChange| {
        change.setting == record.setting && name_of(&change.file) == name_of(&record.file)
    };
    let mut changes = summary.config_changes.iter_mut();
    if let Some(known) = changes.find(|change| same(&change.what)) {
        known.what.reason = reason;
    } else if let Some(known) = called(&mut summary.config_changes, 'C', record.known.as_ref()) {
        known.reason = reason;
    } else if log.names(&record.file) {
        llm.config_changes.push(SettingChange {
            file: record.file.clone(),
            setting: record.setting.clone(),
            old: record.old_value.clone(),
            new: record.new_value.clone(),
            renamed: None,
            reason,
        });
    }
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What was said in the session.
struct Log<'l>(&'l [LocatedItem<'l>]);

impl Log<'_> {
    fn has(&self, text: &str) -> bool {
        self.0.iter().any(|line| line.item.text.contains(text))
    }

    /// A path whose last part stands in it.
    fn names(&self, path: &str) -> bool {
        let name = name_of(path);
        !name.is_empty() && self.has(name)
    }

    /// As a number of its own: `7` doesn't stand in `1.75`.
    fn has_number(&self, number: f64) -> bool {
        let number = number.to_string();
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        self.0.iter().any(|line| {
            let text = line.item.text;
            text.match_indices(&number).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let after = text[at + number.len()..].chars().next();
                !before.is_some_and(is_part) && !after.is_some_and(|c| c.is_ascii_digit())
            })
        })
    }

    /// The counts, where each of them that isn't zero stands in the log.
    fn bears_out(&self, tests: &TestSummary) -> Option<TestCounts> {
        let counts = [tests.passed, tests.failed, tests.skipped];
        let mut said = counts.into_iter().filter(|count| *count > 0);
        said.all(|count| self.has_number(count as f64))
            .then(|| TestCounts {
                runner: tests.framework.clone(),
                passed: tests.passed,
                failed: tests.failed,
                skipped: tests.skipped,
                failures: tests.failed_tests.clone().unwrap_or_default(),
                ..TestCounts::default()
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::summarise::answer::read;
    use crate::insight::summarise::tests::said;
    use crate::model::summary::sourced;
    use crate::model::summary::{ChangedFile, Decision, Resolution, SessionOutcome, TestRuns};
    use crate::rules::secrets::Redactor;
    use serde_json::{Value, json};

    fn facts() -> Summary {
        let run = TestCounts {
            runner: "pytest".into(),
            passed: 3,
            ..TestCounts::default()
        };
        Summary {
            objective: Some(sourced(1, "fix it".into())),
            outcome: Some(SessionOutcome::InProgress),
            completed: vec![sourced(1, "Fix the test".into())],
            decisions: vec![sourced(
                1,
                Decision {
                    decision: "Use Redis".into(),
                    ..Decision::default()
                },
            )],
            errors_resolved: vec![sourced(
                1,
                Resolution {
                    error: "exit 2".into(),
                    ..Resolution::default()
                },
            )],
            config_changes: vec![sourced(
                1,
                SettingChange {
                    file: "/p/app.toml".into(),
                    setting: "pool.size".into(),
                    old: Some("1".into()),
                    new: Some("2".into()),
                    renamed: None,
                    reason: None,
                },
            )],
            tests: Some(sourced(
                1,
                TestRuns {
                    runs: 1,
                    last: run,
                    ..TestRuns::default()
                },
            )),
            files_modified: vec![sourced(
                1,
                ChangedFile {
                    path: "/p/a.rs".into(),
                    added: 1,
                    removed: 0,
                    edits: 1,
                    ..ChangedFile::default()
                },
            )],
            ..Summary::default()
        }
    }

    fn answered(facts: Summary, answer: &Value, log: &[&str]) -> (Summary, LlmAdditions) {
        let answer = read(&answer.to_string(), &Redactor::default()).expect("an answer");
        let lines: Vec<LocatedItem<'_>> = log.iter().map(|text| said(text)).collect();
        let mut summary = merged(facts, &answer, "m", &lines);
        let llm = summary.llm.take().expect("a model was asked");
        (summary, llm)
    }

    /// What an injection in a log would like to say.
    fn obeying() -> Value {
        json!({
            "objective": "All is well.", "outcome": "completed",
            "completed_tasks": ["fix the test!", "Ship it"],
            "files_modified": ["/etc/passwd"],
            "test_results": {"framework": "pytest", "total": 99, "passed": 99, "coverage_pct": 100.0},
            "config_changes": [{"file": "app.toml", "setting": "pool.size", "old_value": "8",
                "new_value": "9", "reason": "Too small"}],
        })
    }

    #[test]
    fn facts_win_wherever_they_speak() {
        let (summary, llm) = answered(facts(), &obeying(), &["User: 99 passed, 100 % of passwd"]);
        let mut wants = facts();
        wants.config_changes[0].what.reason = Some("Too small".into());
        assert_eq!(summary, wants);
        assert_eq!(llm.objective, "All is well.");
        assert_eq!(
            llm.completed,
            ["Ship it"],
            "what the log lists isn't told twice"
        );
        assert_eq!((llm.outcome, llm.tests, llm.coverage), (None, None, None));
        assert!(llm.files_modified.is_empty() && llm.config_changes.is_empty());
    }

    #[test]
    fn what_the_log_cannot_bear_out_is_dropped() {
        let (_, llm) = answered(Summary::default(), &obeying(), &["User: hi"]);
        assert_eq!(llm.outcome, Some(SessionOutcome::Completed));
        assert_eq!((llm.tests, llm.coverage), (None, None));
        assert!(llm.files_modified.is_empty() && llm.config_changes.is_empty());
        let log = [
            "Action: Bash(sed -i s/8/9/ app.toml /etc/passwd) → ok",
            "Agent: 99 pass, 100%",
        ];
        let (_, llm) = answered(Summary::default(), &obeying(), &log);
        assert_eq!(llm.tests.map(|tests| tests.passed), Some(99));
        assert_eq!(llm.coverage, Some(100.0));
        assert_eq!(llm.files_modified, ["/etc/passwd"]);
        assert_eq!(llm.config_changes.len(), 1);
        let (_, llm) = answered(Summary::default(), &obeying(), &["Agent: 1995 pass"]);
        assert_eq!(llm.tests, None, "99 stands in it only as a part");
    }

    #[test]
    fn reasons_go_to_the_facts_that_they_name() {
        let answer = json!({
            "objective": "x", "outcome": "completed",
            "key_decisions": [
                {"known": "D1", "rationale": "It expires keys", "alternatives": ["cookies"]},
                {"known": "D7", "decision": "Push on green", "rationale": "Safe"},
                {"known": "D0", "decision": "", "rationale": "Nothing"},
            ],
            "errors_resolved": [
                {"known": "E1", "error": "exit 2", "root_cause": "A typo", "fix": "b", "verification": "c"},
                {"error": "A race", "root_cause": "Two writers", "fix": "A lock", "verification": "Soak"},
            ],
        });
        let (summary, llm) = answered(facts(), &answer, &[]);
        let why = summary.decisions[0].what.why.clone().expect("a reason");
        assert_eq!(
            (why.rationale.as_str(), why.alternatives.len()),
            ("It expires keys", 1)
        );
        let explained = summary.errors_resolved[0]
            .what
            .explained
            .clone()
            .expect("an explanation");
        assert_eq!(explained.root_cause, "A typo");
        let decisions: Vec<&str> = llm.decisions.iter().map(|d| d.decision.as_str()).collect();
        assert_eq!(decisions, ["Push on green"]);
        let errors: Vec<&str> = llm
            .errors_resolved
            .iter()
            .map(|e| e.error.as_str())
            .collect();
        assert_eq!(errors, ["A race"]);
    }
}
