//! Insights in words.

use super::{Failing, Insights, Recurring, Sequence, Variant, steps};
use crate::insight::summary::short;
use crate::model::human::plural;

/// A part of what is told: a heading, and its lines.
pub struct InsightSection {
    /// What they are.
    pub heading: &'static str,
    /// One after the other; what belongs to the line before it is indented.
    pub lines: Vec<String>,
}

/// A command is recognised by its beginning.
const COMMAND_CHARS_MAX: usize = 100;

impl Insights {
    /// All of it that says something. `shown` is what people type for a session.
    pub fn sections(&self, shown: impl Fn(&str) -> String) -> Vec<InsightSection> {
        let sequences = |all: &[Sequence]| all.iter().map(Sequence::line).collect::<Vec<_>>();
        let failing = self.failing.iter().flat_map(Failing::lines);
        let errors = self.errors.iter().flat_map(|error| error.lines(&shown));
        let all = [
            ("Commands that fail", failing.collect()),
            ("Recurring errors", errors.collect()),
            ("Steps that lead to success", sequences(&self.leading)),
            ("Steps that lead elsewhere", sequences(&self.misleading)),
        ];
        let all = all.into_iter().filter(|(_, lines)| !lines.is_empty());
        all.map(|(heading, lines)| InsightSection { heading, lines })
            .collect()
    }
}

impl Sequence {
    fn line(&self) -> String {
        let steps: Vec<String> = self.steps.iter().map(|step| steps::named(step)).collect();
        let completed = self.completed.shown();
        format!("{}: {completed} sessions completed", steps.join(" › "))
    }
}

impl Failing {
    /// `make deploy` and below it `failed 4 of 5, 80 % (38–96)`, `what worked instead: make deploy FORCE=1`, and what
    /// came of each of the four.
    fn lines(&self) -> Vec<String> {
        let mut then = Vec::new();
        if let Some(instead) = &self.instead {
            then.push(format!("what worked instead: {}", instead.command));
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
            then.push(format!("afterwards: {}", more.join(", ")));
        }
        let mut lines = vec![
            self.command.clone(),
            format!("  failed {}", self.failed.shown()),
        ];
        lines.extend(then.into_iter().map(|line| format!("  {line}")));
        lines
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
    fn lines(&self, shown: impl Fn(&str) -> String) -> Vec<String> {
        let (times, sessions) = (plural(self.times, "time"), plural(self.sessions, "session"));
        let mut lines = vec![format!("{} ({times} in {sessions})", self.error)];
        lines.extend(
            self.command
                .iter()
                .map(|command| format!("  from: {command}")),
        );
        let instead = self.instead.iter();
        lines.extend(instead.map(|instead| format!("  {}", instead.line())));
        for resolved in &self.resolved {
            let resolution = &resolved.resolution.what;
            let session = shown(&resolved.session);
            lines.push(format!(
                "  {} worked after {} changed [{session}:{}]",
                short(&resolution.call, COMMAND_CHARS_MAX),
                resolution.changed.join(", "),
                resolution.worked_at
            ));
        }
        lines
    }
}
