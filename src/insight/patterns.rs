//! What many sessions have in common: steps that lead to success, commands that fail, errors that
//! come again. Pure; counts and rates with their intervals, and nothing that was seen once.

use super::facts::LocatedItem;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{Resolution, SessionOutcome, Sourced};
use crate::rules::commands;
use crate::rules::tools::{AnswerKind, tool};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Steps of a sequence.
const STEPS: [usize; 2] = [2, 3];
/// Sessions of which fewer say nothing about a sequence.
const SESSIONS_FEW: u64 = 5;
/// Failures of which fewer say nothing about a command.
const FAILURES_FEW: u64 = 2;
/// Lines of each list.
const LINES_MAX: usize = 15;
/// Bytes of an error that it is recognised by.
const ERROR_BYTES_MAX: usize = 100;

/// How often something was, of how often it could have been, and between what its rate lies with
/// 95 % confidence (Wilson's interval).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rate {
    /// Times that it was.
    pub hits: u64,
    /// Times that it could have been.
    pub of: u64,
    /// Share; 0 where it never could have been.
    pub rate: f64,
    /// Least likely value.
    pub low: f64,
    /// Most likely value.
    pub high: f64,
}

impl Rate {
    /// `hits` of `of`.
    pub fn new(hits: u64, of: u64) -> Rate {
        const Z: f64 = 1.96;
        if of == 0 {
            return Rate::default();
        }
        let (n, rate) = (of as f64, hits as f64 / of as f64);
        let spread = Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
        let (middle, scale) = (rate + Z * Z / (2.0 * n), 1.0 + Z * Z / n);
        Rate {
            hits,
            of,
            rate,
            low: ((middle - spread) / scale).max(0.0),
            high: ((middle + spread) / scale).min(1.0),
        }
    }
}

/// Steps that were taken one after the other, and how often sessions that have them were completed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sequence {
    /// Tools, and classes of commands (`$ test`).
    pub steps: Vec<String>,
    /// Completed ones, of the sessions that have it.
    pub completed: Rate,
}

/// A command that often fails, and what came then.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failing {
    /// As it was given the last time.
    pub command: String,
    /// Failures, of its runs.
    pub failed: Rate,
    /// Failures after which it worked, something having been changed between.
    pub mended: u64,
    /// Failures after which it worked without a change.
    pub passed: u64,
    /// Failures after which it failed again.
    pub again: u64,
    /// Failures after which the session didn't try it again.
    pub left: u64,
}

/// An error that was met in several sessions, or that was resolved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recurring {
    /// Its words, numbers and paths left out.
    pub error: String,
    /// Times that it was met.
    pub times: u64,
    /// Sessions that met it.
    pub sessions: u64,
    /// How it was resolved the last times, the latest first.
    pub resolved: Vec<Resolved>,
}

/// How an error was resolved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// The session's id.
    pub session: String,
    /// The command that worked then, and what was changed.
    #[serde(flatten)]
    pub resolution: Sourced<Resolution>,
}

/// What sessions have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Insights {
    /// Completed ones, of the sessions that say how they ended.
    pub completed: Rate,
    /// Sequences of which sessions are completed surely more often than others.
    pub leading: Vec<Sequence>,
    /// Sequences of which sessions are completed surely less often.
    pub misleading: Vec<Sequence>,
    /// Commands that failed, the most often first.
    pub failing: Vec<Failing>,
    /// Errors, those of most sessions first.
    pub errors: Vec<Recurring>,
}

impl Insights {
    /// Nothing was seen often enough.
    pub fn is_quiet(&self) -> bool {
        let steps = self.leading.is_empty() && self.misleading.is_empty();
        steps && self.failing.is_empty() && self.errors.is_empty()
    }
}

/// Counts session after session, the earliest first.
#[derive(Debug, Default)]
pub struct Patterns {
    sessions: Tried,
    sequences: BTreeMap<Vec<String>, Tried>,
    commands: BTreeMap<u32, Command>,
    errors: BTreeMap<String, Met>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tried {
    completed: u64,
    all: u64,
}

impl Tried {
    fn add(&mut self, completed: bool) {
        self.completed += u64::from(completed);
        self.all += 1;
    }

    fn rate(self) -> Rate {
        Rate::new(self.completed, self.all)
    }
}

#[derive(Debug, Default)]
struct Command {
    called: String,
    runs: u64,
    failed: u64,
    mended: u64,
    passed: u64,
    again: u64,
    left: u64,
}

#[derive(Debug, Default)]
struct Met {
    times: u64,
    sessions: BTreeSet<String>,
    resolved: Vec<Resolved>,
}

impl Patterns {
    /// Adds a session: its items in the order of time, how it ended, and what it resolved.
    pub fn add(
        &mut self,
        session: &str,
        lines: &[LocatedItem<'_>],
        outcome: Option<SessionOutcome>,
        resolved: &[Sourced<Resolution>],
    ) {
        if let Some(outcome) = outcome {
            let completed = outcome == SessionOutcome::Completed;
            self.sessions.add(completed);
            for sequence in sequences(lines) {
                self.sequences.entry(sequence).or_default().add(completed);
            }
        }
        self.add_commands(lines);
        for line in lines {
            let Some(error) = error_of(line) else {
                continue;
            };
            let met = self.errors.entry(error).or_default();
            met.times += 1;
            met.sessions.insert(session.to_owned());
        }
        for resolution in resolved.iter().filter(|r| !r.what.changed.is_empty()) {
            let met = self
                .errors
                .entry(normal(&resolution.what.error))
                .or_default();
            met.resolved.push(Resolved {
                session: session.to_owned(),
                resolution: resolution.clone(),
            });
        }
    }

    fn add_commands(&mut self, lines: &[LocatedItem<'_>]) {
        // of each command that failed: whether something was changed since
        let mut open: BTreeMap<u32, bool> = BTreeMap::new();
        for line in lines {
            for finding in line.item.findings {
                let (key, failed) = match finding {
                    Finding::Failed { key } => (*key, true),
                    Finding::Worked { key } => (*key, false),
                    Finding::Changed { .. } => {
                        open.values_mut().for_each(|changed| *changed = true);
                        continue;
                    }
                    _ => continue,
                };
                let command = self.commands.entry(key).or_default();
                command.runs += 1;
                command.failed += u64::from(failed);
                if failed {
                    command.called = called(line).to_owned();
                }
                match (open.remove(&key), failed) {
                    (Some(_), true) => command.again += 1,
                    (Some(true), false) => command.mended += 1,
                    (Some(false), false) => command.passed += 1,
                    (None, _) => {}
                }
                if failed {
                    open.insert(key, false);
                }
            }
        }
        for key in open.into_keys() {
            self.commands.entry(key).or_default().left += 1;
        }
    }

    /// What they have in common.
    pub fn insights(self) -> Insights {
        let usual = self.sessions.rate();
        let enough = |(_, tried): &(Vec<String>, Tried)| tried.all >= SESSIONS_FEW;
        let sequences = self.sequences.into_iter().filter(enough);
        let sequences = sequences.map(|(steps, tried)| Sequence {
            steps,
            completed: tried.rate(),
        });
        let (mut leading, mut misleading) = (Vec::new(), Vec::new());
        for sequence in sequences {
            match sequence.completed {
                Rate { low, .. } if low > usual.rate => leading.push(sequence),
                Rate { high, .. } if high < usual.rate => misleading.push(sequence),
                _ => {}
            }
        }
        leading.sort_by(|a, b| b.completed.low.total_cmp(&a.completed.low));
        misleading.sort_by(|a, b| a.completed.high.total_cmp(&b.completed.high));
        leading.truncate(LINES_MAX);
        misleading.truncate(LINES_MAX);
        Insights {
            completed: usual,
            leading,
            misleading,
            failing: failing(self.commands),
            errors: recurring(self.errors),
        }
    }
}

fn failing(commands: BTreeMap<u32, Command>) -> Vec<Failing> {
    let often = commands.into_values().filter(|c| c.failed >= FAILURES_FEW);
    let mut all: Vec<Failing> = often
        .map(|command| Failing {
            command: command.called,
            failed: Rate::new(command.failed, command.runs),
            mended: command.mended,
            passed: command.passed,
            again: command.again,
            left: command.left,
        })
        .collect();
    all.sort_by(|a, b| {
        let by_failures = b.failed.hits.cmp(&a.failed.hits);
        by_failures.then_with(|| a.command.cmp(&b.command))
    });
    all.truncate(LINES_MAX);
    all
}

fn recurring(errors: BTreeMap<String, Met>) -> Vec<Recurring> {
    /// Earlier ways out are in their sessions.
    const RESOLVED_MAX: usize = 3;
    let again = errors.into_iter().filter(|(_, met)| met.sessions.len() > 1);
    let mut all: Vec<Recurring> = again
        .map(|(error, met)| Recurring {
            error,
            times: met.times,
            sessions: met.sessions.len() as u64,
            resolved: met.resolved.into_iter().rev().take(RESOLVED_MAX).collect(),
        })
        .collect();
    all.sort_by(|a, b| (b.sessions, b.times, &a.error).cmp(&(a.sessions, a.times, &b.error)));
    all.truncate(LINES_MAX);
    all
}

/// Sequences of steps in the main log, each once; a step that is repeated is one.
fn sequences(lines: &[LocatedItem<'_>]) -> BTreeSet<Vec<String>> {
    let mut steps: Vec<String> = lines.iter().filter_map(step).collect();
    steps.dedup();
    let windows = STEPS.into_iter().flat_map(|length| steps.windows(length));
    windows.map(<[String]>::to_vec).collect()
}

/// `Read`, `Edit`, `$ test`; nothing for words.
fn step(line: &LocatedItem<'_>) -> Option<String> {
    if !line.main || line.item.kind != ItemKind::Digest {
        return None;
    }
    let (name, rest) = called(line).split_once('(')?;
    if !matches!(tool(name).answer, AnswerKind::Shell | AnswerKind::Poll) {
        return Some(name.to_owned());
    }
    let class = commands::counted_as(rest.strip_suffix(')').unwrap_or(rest));
    let class = class.split('?').next().filter(|class| !class.is_empty());
    Some(format!("$ {}", class.unwrap_or("other")))
}

/// The call, without what it came to.
fn called<'t>(line: &LocatedItem<'t>) -> &'t str {
    let words = line.words();
    words.split_once(" → ").map_or(words, |(call, _)| call)
}

/// What a failed command said, without what differs from time to time.
fn error_of(line: &LocatedItem<'_>) -> Option<String> {
    let failed = |finding: &Finding| matches!(finding, Finding::Failed { .. });
    if !line.item.findings.iter().any(failed) {
        return None;
    }
    let (_, said) = line.words().split_once(" → ")?;
    let error = normal(said.lines().next()?);
    // one word tells no error from another
    error.contains(' ').then_some(error)
}

/// Without `exit 1: `, numbers and paths.
fn normal(said: &str) -> String {
    let said = match said.strip_prefix("exit ") {
        Some(rest) => rest.split_once(": ").map_or("", |(_, error)| error),
        None => said,
    };
    let words = said.split_whitespace().map(|word| {
        let path = word.len() > 1 && word.contains('/') && !word.contains("://");
        let number = word.bytes().any(|b| b.is_ascii_digit()) && !word.contains('[');
        match (path, number) {
            (true, _) => "…".to_owned(),
            (_, true) => without_digits(word),
            _ => word.to_owned(),
        }
    });
    let mut error = words.collect::<Vec<_>>().join(" ");
    error.truncate(error.floor_char_boundary(ERROR_BYTES_MAX));
    error
}

/// Each number is one `#`.
fn without_digits(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for c in word.chars() {
        match c.is_ascii_digit() {
            true if text.ends_with('#') => {}
            true => text.push('#'),
            false => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::{SessionContext, facts};
    use crate::insight::outcome::SessionItem;
    use uuid::Uuid;

    type Item = (&'static str, Vec<Finding>);

    fn add(patterns: &mut Patterns, session: &str, outcome: SessionOutcome, items: &[Item]) {
        let lines = (1..).zip(items).map(|(n, (text, findings))| LocatedItem {
            item: SessionItem {
                kind: match text.starts_with("Agent: ") {
                    true => ItemKind::Agent,
                    false => ItemKind::Digest,
                },
                text,
                findings,
            },
            main: true,
            episode: Uuid::nil(),
            line: n,
        });
        let lines: Vec<LocatedItem<'_>> = lines.collect();
        let resolved = facts(&lines, &SessionContext::default()).errors_resolved;
        patterns.add(session, &lines, Some(outcome), &resolved);
    }

    const FAILED: &str = "Action: Bash(cargo test) → exit 101: error at src/a.rs line 12";

    fn failed() -> Item {
        (FAILED, vec![Finding::Failed { key: 7 }])
    }

    fn worked() -> Item {
        (
            "Action: Bash(cargo test) → passed 3/3",
            vec![Finding::Worked { key: 7 }],
        )
    }

    fn edit() -> Item {
        let changed = Finding::Changed {
            path: "a.rs".into(),
            added: 1,
            removed: 0,
        };
        ("Action: Edit(a.rs) → +1 −0", vec![changed])
    }

    #[test]
    fn a_rate_lies_in_its_interval() {
        let rate = Rate::new(8, 10);
        assert!((rate.low - 0.490).abs() < 0.001 && (rate.high - 0.943).abs() < 0.001);
        assert_eq!(Rate::new(0, 0), Rate::default());
        let (all, none) = (Rate::new(5, 5), Rate::new(0, 5));
        assert!(all.low < 1.0 && all.high == 1.0 && none.low == 0.0 && none.high > 0.0);
    }

    #[test]
    fn what_follows_a_failure_is_counted() {
        let mut patterns = Patterns::default();
        let session = [
            failed(),
            failed(),
            edit(),
            worked(),
            failed(),
            worked(),
            failed(),
        ];
        add(&mut patterns, "a", SessionOutcome::InProgress, &session);
        let found = patterns.insights().failing;
        assert_eq!(found.len(), 1);
        let cargo = &found[0];
        assert_eq!(cargo.command, "Bash(cargo test)");
        assert_eq!((cargo.failed.hits, cargo.failed.of), (4, 6));
        assert_eq!(
            (cargo.again, cargo.mended, cargo.passed, cargo.left),
            (1, 1, 1, 1)
        );
    }

    #[test]
    fn an_error_that_comes_again_is_known_by_its_words_and_says_what_helped() {
        let mut patterns = Patterns::default();
        add(
            &mut patterns,
            "a",
            SessionOutcome::Completed,
            &[
                failed(),
                (
                    "Agent: The problem is an index that is off by one.",
                    Vec::new(),
                ),
                edit(),
                worked(),
            ],
        );
        let other = (
            "Action: Bash(cargo test) → exit 1: error at src/b.rs line 7",
            vec![Finding::Failed { key: 7 }],
        );
        add(&mut patterns, "b", SessionOutcome::Blocked, &[other]);
        let found = patterns.insights().errors;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].error, "error at … line #");
        assert_eq!((found[0].times, found[0].sessions), (2, 2));
        assert_eq!(found[0].resolved[0].session, "a");
        assert_eq!(found[0].resolved[0].resolution.what.changed, ["a.rs"]);
    }

    #[test]
    fn steps_lead_to_success_where_it_is_sure() {
        let mut patterns = Patterns::default();
        for n in 0..20 {
            let id = n.to_string();
            add(
                &mut patterns,
                &id,
                SessionOutcome::Completed,
                &[edit(), worked()],
            );
            add(
                &mut patterns,
                &id,
                SessionOutcome::Blocked,
                &[worked(), failed(), edit()],
            );
        }
        add(
            &mut patterns,
            "x",
            SessionOutcome::Completed,
            &[worked(), edit(), edit()],
        );
        let found = patterns.insights();
        let steps = |list: &[Sequence]| -> Vec<String> {
            list.iter().map(|one| one.steps.join(" › ")).collect()
        };
        assert_eq!(steps(&found.leading), ["Edit › $ test"]);
        assert_eq!(steps(&found.misleading), ["$ test › Edit"]);
        assert_eq!((found.completed.hits, found.completed.of), (21, 41));
    }
}
