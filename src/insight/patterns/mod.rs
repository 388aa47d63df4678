//! What many sessions have in common: commands that fail and what works instead, errors that come again,
//! steps that lead to success. Pure; counts and rates with their intervals, and nothing that was seen once or
//! that everybody knows.

mod calls;
mod commands;
mod errors;
mod rate;
mod steps;
mod text;
mod usual;

pub use commands::{Failing, Variant};
pub use errors::{Recurring, Resolved};
pub use rate::Rate;
pub use text::{InsightEntry, InsightSection};
pub use usual::{UsualCommand, UsualWay};

use super::facts::LocatedItem;
use crate::model::summary::{Resolution, SessionOutcome, Sourced};
use commands::Commands;
use errors::Errors;
use serde::Serialize;
use std::collections::BTreeMap;

/// Sessions of which fewer say nothing about a sequence.
const SESSIONS_FEW: u64 = 5;
/// Lines of each list.
const LINES_MAX: usize = 15;

/// Steps that were taken one after the other, and how often sessions that have them were completed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sequence {
    /// Tools, and classes of commands (`$ test`).
    pub steps: Vec<String>,
    /// Completed ones, of the sessions that have it.
    pub completed: Rate,
}

/// What sessions have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Insights {
    /// Sessions of which nobody knows how they ended.
    pub without_outcome: u64,
    /// Completed ones, of the sessions that say how they ended.
    pub completed: Rate,
    /// Sequences of which sessions are completed surely more often than others.
    pub leading: Vec<Sequence>,
    /// Sequences of which sessions are completed surely less often.
    pub misleading: Vec<Sequence>,
    /// Commands that failed: those of which it is known what works, then the most often.
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
    without_outcome: u64,
    sequences: BTreeMap<Vec<String>, Tried>,
    commands: Commands,
    errors: Errors,
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
            for sequence in steps::sequences(lines) {
                self.sequences.entry(sequence).or_default().add(completed);
            }
        } else {
            self.without_outcome += 1;
        }
        self.commands.add(session, lines);
        self.errors.add(session, lines, resolved);
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
            if sequence.completed.is_surely_above(usual.rate) {
                leading.push(sequence);
            } else if sequence.completed.is_surely_below(usual.rate) {
                misleading.push(sequence);
            }
        }
        leading.sort_by(|a, b| b.completed.low.total_cmp(&a.completed.low));
        misleading.sort_by(|a, b| a.completed.high.total_cmp(&b.completed.high));
        leading.truncate(LINES_MAX);
        misleading.truncate(LINES_MAX);
        Insights {
            without_outcome: self.without_outcome,
            completed: usual,
            leading,
            misleading,
            failing: self.commands.failing(LINES_MAX),
            errors: self.errors.recurring(&self.commands, LINES_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::{SessionContext, facts};
    use crate::insight::outcome::SessionItem;
    use crate::model::exchange::ItemKind;
    use crate::model::finding::Finding;
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
        assert_eq!(cargo.command, "cargo test");
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
        assert_eq!(found[0].command.as_deref(), Some("cargo test"));
        assert_eq!(found[0].resolved[0].session, "a");
        assert_eq!(found[0].resolved[0].resolution.what.changed, ["a.rs"]);
    }

    #[test]
    fn steps_lead_to_success_where_it_is_sure() {
        let deployed = || ("Action: Bash(make deploy) → ok", vec![]);
        let mut patterns = Patterns::default();
        for n in 0..20 {
            let id = n.to_string();
            let good = [edit(), worked(), deployed()];
            add(&mut patterns, &id, SessionOutcome::Completed, &good);
            let bad = [deployed(), edit()];
            add(&mut patterns, &id, SessionOutcome::Blocked, &bad);
        }
        let found = patterns.insights();
        let steps = |list: &[Sequence]| -> Vec<String> {
            list.iter().map(|one| one.steps.join(" › ")).collect()
        };
        let wants = ["$ test › $ deploy", "edit › $ test › $ deploy"];
        assert_eq!(steps(&found.leading), wants);
        assert_eq!(steps(&found.misleading), ["$ deploy › edit"]);
        assert_eq!((found.completed.hits, found.completed.of), (20, 40));
    }

    #[test]
    fn insights_read_as_sentences() {
        let mut patterns = Patterns::default();
        let failed = (
            "Action: Bash(make deploy) → exit 2: the lock is held by ada",
            vec![Finding::Failed { key: 1 }],
        );
        let forced = (
            "Action: Bash(make deploy FORCE=1) → ok",
            vec![Finding::Worked { key: 2 }],
        );
        for id in ["a", "b"] {
            let items = [failed.clone(), forced.clone()];
            add(&mut patterns, id, SessionOutcome::Completed, &items);
        }
        let sections = patterns.insights().sections(str::to_owned);
        let told: Vec<&str> = sections
            .iter()
            .flat_map(|one| {
                let entries = one.entries.iter();
                let lines = entries.flat_map(|entry| {
                    let details = entry.details.iter();
                    [entry.line.as_str()]
                        .into_iter()
                        .chain(details.map(String::as_str))
                });
                [one.heading].into_iter().chain(lines)
            })
            .collect();
        let wants = [
            "Commands that fail",
            "make deploy",
            "failed 2 of 2, 100% (34–100)",
            "what worked instead: make deploy FORCE=1",
            "afterwards: 2 done that way",
            "Recurring errors",
            "the lock is held by ada (2 times in 2 sessions)",
            "from: make deploy",
            "what worked instead: make deploy FORCE=1 (2 times in 2 sessions)",
        ];
        assert_eq!(told, wants);
    }
}
