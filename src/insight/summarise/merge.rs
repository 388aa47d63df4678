//! A model's answer beside the facts (D41, D48). Knows who is believed: facts, wherever they speak;
//! of the rest what the log can bear out. Refuses to know how either came about.

use super::answer::{
    ConfigChange, DecisionRecord, EnhancedSessionSummary, ErrorResolution, TestSummary,
};
use crate::insight::facts::Line;
use crate::model::finding::TestCounts;
use crate::model::summary::{
    Explanation, SettingChange, Sourced, Summary, Told, ToldDecision, ToldError, Why,
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
    lines: &[Line<'_>],
) -> Summary {
    let log = Log(lines);
    let mut summary = facts;
    let mut told = Told {
        by: by.to_owned(),
        objective: answer.objective.clone(),
        outcome: summary.outcome.is_none().then_some(answer.outcome),
        completed: besides(&answer.completed_tasks, &summary.completed),
        root_cause: answer.root_cause_analysis.clone(),
        discoveries: answer.discoveries.clone(),
        next_steps: besides(&answer.next_steps, &summary.next_steps),
        ..Told::default()
    };
    if summary.files_modified.is_empty() {
        let files = answer.files_modified.iter().filter(|path| log.names(path));
        told.files_modified = files.cloned().collect();
    }
    if let Some(tests) = answer
        .test_results
        .as_ref()
        .filter(|_| summary.tests.is_none())
    {
        told.tests = log.bears_out(tests);
        let coverage = tests
            .coverage_pct
            .filter(|per_cent| log.has_number(*per_cent));
        told.coverage = coverage.filter(|_| told.tests.is_some());
    }
    for decision in &answer.key_decisions {
        decided(&mut summary, &mut told, decision);
    }
    for error in &answer.errors_resolved {
        resolved(&mut summary, &mut told, error);
    }
    for change in &answer.config_changes {
        set(&mut summary, &mut told, change, &log);
    }
    summary.told = Some(told);
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

fn decided(summary: &mut Summary, told: &mut Told, record: &DecisionRecord) {
    let why = Why {
        rationale: record.rationale.clone(),
        alternatives: record.alternatives.clone().unwrap_or_default(),
    };
    match called(&mut summary.decisions, 'D', record.known.as_ref()) {
        Some(known) => known.why = Some(why),
        None if record.decision.is_empty() => {}
        None => told.decisions.push(ToldDecision {
            decision: record.decision.clone(),
            why,
        }),
    }
}

fn resolved(summary: &mut Summary, told: &mut Told, record: &ErrorResolution) {
    let explained = Explanation {
        root_cause: record.root_cause.clone(),
        fix: record.fix.clone(),
        verification: record.verification.clone(),
    };
    match called(&mut summary.errors_resolved, 'E', record.known.as_ref()) {
        Some(known) => known.explained = Some(explained),
        None if record.error.is_empty() => {}
        None => told.errors_resolved.push(ToldError {
            error: record.error.clone(),
            explained,
        }),
    }
}

/// A change is known by its name, or by file and setting.
fn set(summary: &mut Summary, told: &mut Told, record: &ConfigChange, log: &Log<'_>) {
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
        told.config_changes.push(SettingChange {
            file: record.file.clone(),
            setting: record.setting.clone(),
            old: record.old_value.clone(),
            new: record.new_value.clone(),
            reason,
        });
    }
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What was said in the session.
struct Log<'l>(&'l [Line<'l>]);

impl Log<'_> {
    fn has(&self, text: &str) -> bool {
        self.0.iter().any(|line| line.told.text.contains(text))
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
            let text = line.told.text;
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
                partial: false,
            })
    }
}
