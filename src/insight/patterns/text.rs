//! Insights in words.

use super::{Failing, Insights, Recurring, Sequence, Variant, steps};
use crate::insight::summary::short;
use crate::model::human::plural;

/// A part of what is told: a heading, and what stands below it.
pub struct InsightSection {
    /// What they are.
    pub heading: &'static str,
    /// One after the other.
    pub entries: Vec<InsightEntry>,
}

/// One of what was seen often.
pub struct InsightEntry {
    /// What it is.
    pub line: String,
    /// What is known of it, a line each.
    pub details: Vec<String>,
}

/// A command is recognised by its beginning.
const COMMAND_CHARS_MAX: usize = 100;

impl Insights {
    /// All of it that says something. `shown` is what people type for a session.
    pub fn sections(&self, shown: impl Fn(&str) -> String) -> Vec<InsightSection> {
        let sequences = |all: &[Sequence]| all.iter().map(Sequence::entry).collect::<Vec<_>>();
        let failing = self.failing.iter().map(Failing::entry);
        let errors = self.errors.iter().map(|error| error.entry(&shown));
        let all = [
            ("Commands that fail", failing.collect()),
            ("Recurring errors", errors.collect()),
            ("Steps that lead to success", sequences(&self.leading)),
            ("Steps that lead elsewhere", sequences(&self.misleading)),
        ];
        let all = all.into_iter().filter(|(_, entries)| !entries.is_empty());
        all.map(|(heading, entries)| InsightSection { heading, entries })
            .collect()
    }
}

impl Sequence {
    fn entry(&self) -> InsightEntry {
        let steps: Vec<String> = self.steps.iter().map(|step| steps::named(step)).collect();
        InsightEntry {
            line: steps.join(" › "),
            details: vec![format!("sessions completed: {}", self.completed.shown())],
        }
    }
}

impl Failing {
    /// `make deploy` and below it `failed 4 of 5, 80% (38–96)`, `what worked instead: make deploy FORCE=1`, and what
    /// came of each of the four.
    fn entry(&self) -> InsightEntry {
        let mut details = vec![format!("failed {}", self.failed.shown())];
        if let Some(instead) = &self.instead {
            details.push(format!("what worked instead: {}", instead.command));
        }
        let more = [
            (self.by_instead, "done that way"),
            (self.otherwise - self.by_instead, "done another way"),
            (self.mended, "fixed by a change"),
            (self.passed, "passed when repeated"),
            (self.again, "failed again"),
            (self.left, "not retried"),
        ];
        let more = more.into_iter().filter(|(times, _)| *times > 0);
        let more: Vec<String> = more
            .map(|(times, what)| format!("{times} {what}"))
            .collect();
        if !more.is_empty() {
            details.push(format!("afterwards: {}", more.join(", ")));
        }
        InsightEntry {
            line: self.command.clone(),
            details,
        }
    }
}

impl Variant {
    fn line(&self) -> String {
        let (times, sessions) = (
            plural(self.worked, "time"),
            plural(self.sessions, "session"),
        );
        let command = &self.command;
        format!("what worked instead: {command} ({times} in {sessions})")
    }
}

impl Recurring {
    fn entry(&self, shown: impl Fn(&str) -> String) -> InsightEntry {
        let (times, sessions) = (plural(self.times, "time"), plural(self.sessions, "session"));
        let from = self.command.iter();
        let mut details: Vec<String> = from.map(|command| format!("from: {command}")).collect();
        details.extend(self.instead.iter().map(Variant::line));
        for resolved in &self.resolved {
            let resolution = &resolved.resolution.what;
            let session = shown(&resolved.session);
            details.push(format!(
                "{} worked after {} changed [{session}:{}]",
                short(&resolution.call, COMMAND_CHARS_MAX),
                resolution.changed.join(", "),
                resolution.worked_at
            ));
        }
        InsightEntry {
            line: format!("{} ({times} in {sessions})", self.error),
            details,
        }
    }
}
