//! What calls ran, as their digests tell it: a command line, what it printed and whether it failed. Knows hooks of git and
//! filters of output.

use super::line::{LocatedItem, call_and_result};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::causes::ends_badly;
use crate::rules::{commands, table};
use regex::Regex;
use std::sync::LazyLock;

/// A command line that was run.
pub struct RanCommand<'t> {
    pub command: &'t str,
    pub output: &'t str,
    pub failed: bool,
}

/// Ends a call whose command goes on.
pub const RUNNING: &str = "→ running in the background";

impl<'t> RanCommand<'t> {
    /// One that ended.
    pub fn of(line: &LocatedItem<'t>) -> Option<RanCommand<'t>> {
        let ran =
            |finding: &Finding| matches!(finding, Finding::Worked { .. } | Finding::Failed { .. });
        let has_ended = line.item.findings.iter().any(ran);
        has_ended.then(|| RanCommand::read(line))?
    }

    /// One that went on when its call came back.
    pub fn begun(line: &LocatedItem<'t>) -> Option<RanCommand<'t>> {
        let goes_on = line.item.text.ends_with(RUNNING);
        goes_on.then(|| RanCommand::read(line))?
    }

    fn read(line: &LocatedItem<'t>) -> Option<RanCommand<'t>> {
        if line.item.kind != ItemKind::Digest {
            return None;
        }
        let (call, output) = line.words().split_once(") → ")?;
        let command = call.split_once('(')?.1;
        // a place is one word
        let placed = command
            .rsplit_once(' ')
            .and_then(|(before, _)| before.strip_suffix(", in"));
        let command = placed.unwrap_or(command);
        let failed = |finding: &Finding| matches!(finding, Finding::Failed { .. });
        Some(RanCommand {
            command,
            output,
            failed: line.item.findings.iter().any(failed) || output.starts_with("exit "),
        })
    }

    /// It ended well as far as anybody knows: neither what it printed last says otherwise, nor was it left running.
    pub fn proves(&self) -> bool {
        let last = self.output.rsplit(" · ").next().unwrap_or_default();
        !self.failed && !ends_badly(last) && !commands::leaves_running(self.command)
    }

    /// It printed nothing.
    pub fn is_silent(&self) -> bool {
        self.output.starts_with("ok, no output")
    }
}

/// The call of a digest without its answer.
pub fn call<'t>(line: &LocatedItem<'t>) -> Option<&'t str> {
    let is_call = line.item.kind == ItemKind::Digest;
    let words = is_call.then(|| line.words())?;
    Some(call_and_result(words).map_or(words, |(call, _)| call))
}

/// Nothing but a commit or a push ran: what failed is a hook's finding.
pub fn is_hook(call: &str) -> bool {
    let acts = call.find("git commit").or_else(|| call.find("git push"));
    let Some((before, after)) = acts.map(|at| call.split_at(at)) else {
        return false;
    };
    let class = commands::counted_as(
        before
            .split_once('(')
            .map_or(before, |(_, command)| command),
    );
    let tests = |text: &str| text.contains("test") || text.contains("check");
    !tests(before) && !tests(&class) && !after.contains("&& ")
}

/// A filter that leaves out what passed, or shows only what failed.
pub fn hides_passed(call: &str) -> bool {
    static FILTER: LazyLock<Regex> =
        LazyLock::new(|| table::regex(r"\|\s*(?:[ef]?grep|rg|ag) ([^|;&]*(?:\|[^ |][^|;&]*)*)"));
    FILTER.captures_iter(call).any(|filter| {
        let filter = filter[1].to_lowercase();
        let leaves_out = filter.split(' ').any(|word| {
            word.starts_with('-') && !word.starts_with("--") && word.contains('v')
                || word == "--invert-match"
        });
        let names_passed = [
            "ok", "pass", "✓", "tests", "result", "total", "summary", "ran",
        ];
        leaves_out == names_passed.iter().any(|name| filter.contains(name))
    })
}
