//! Steps of sessions, and sequences of them. What every session does is no step: looking, editing, running
//! tests, committing; nor is what keeps its books (lists of tasks, sub-agents, waiting).

use super::calls::{IDLE, called};
use crate::insight::facts::LocatedItem;
use crate::model::classification::{Domain, Intent};
use crate::model::exchange::ItemKind;
use crate::model::human::words;
use crate::rules::commands;
use crate::rules::tools::{AnswerKind, tool};
use std::collections::BTreeSet;

/// Steps of a sequence.
const STEPS: [usize; 2] = [2, 3];

/// Sequences of steps in the main log, each once; a step that is repeated is one. In each is a step that not
/// everybody takes.
pub(super) fn sequences(lines: &[LocatedItem<'_>]) -> BTreeSet<Vec<String>> {
    let mut steps: Vec<Step> = lines.iter().filter_map(step).collect();
    steps.dedup();
    let windows = STEPS.into_iter().flat_map(|length| steps.windows(length));
    let telling = windows.filter(|steps| steps.iter().any(|step| !step.is_usual));
    let names = |steps: &[Step]| steps.iter().map(|step| step.name.clone()).collect();
    telling.map(names).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    /// `Edit`, `$ test`.
    name: String,
    /// Everybody takes it.
    is_usual: bool,
}

/// Nothing for words, and for calls that do nothing of the work.
fn step(line: &LocatedItem<'_>) -> Option<Step> {
    if !line.main || line.item.kind != ItemKind::Digest {
        return None;
    }
    let (name, rest) = called(line).split_once('(')?;
    match tool(name).answer {
        AnswerKind::Shell => command_step(rest.strip_suffix(')').unwrap_or(rest)),
        AnswerKind::Edit | AnswerKind::Write | AnswerKind::Patch => Some(Step {
            name: "edit".to_owned(),
            is_usual: true,
        }),
        AnswerKind::Fetch | AnswerKind::Said | AnswerKind::Other => Some(Step {
            name: name.to_owned(),
            is_usual: false,
        }),
        _ => None,
    }
}

fn command_step(line: &str) -> Option<Step> {
    let class = commands::counted_as(line);
    let class = class.split('?').next().filter(|class| !class.is_empty())?;
    let kind = commands::of_count(class);
    let looks = matches!(kind.intent, Intent::Read | Intent::Search);
    if looks || IDLE.contains(&class) {
        return None;
    }
    let is_usual = matches!(
        kind.domain,
        Domain::Filesystem | Domain::VersionControl | Domain::Code | Domain::Testing
    ) || USUAL.contains(&class);
    Some(Step {
        name: format!("$ {class}"),
        is_usual,
    })
}

/// Classes, beside those about files, code and its history, that stand in every session.
const USUAL: [&str; 3] = ["run", "install", "set"];

/// A step as people call it: `$ deploy` is a command of a kind.
pub(super) fn named(step: &str) -> String {
    match step.strip_prefix("$ ") {
        None => step.to_owned(),
        Some(class) => format!("$ {}", words(&class.replace("vcs", "git"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(calls: &[&str]) -> Vec<String> {
        let texts: Vec<String> = calls
            .iter()
            .map(|call| format!("Action: {call} → ok"))
            .collect();
        let lines = texts.iter().zip(1..);
        let lines = lines.map(|(text, n)| LocatedItem::sample(ItemKind::Digest, n, text, &[]));
        let all = sequences(&lines.collect::<Vec<_>>()).into_iter();
        all.map(|steps| steps.join(" › ")).collect()
    }

    #[test]
    fn what_every_session_does_is_no_sequence() {
        let usual = [
            "Read(a.rs)",
            "Edit(a.rs)",
            "Bash(cargo test)",
            "Bash(git commit -m x)",
            "Bash(git push)",
            "Task(\"look\")",
            "TodoWrite(3 tasks)",
            "Bash()",
            "Bash(cd src)",
            "Bash(sleep 5)",
        ];
        assert_eq!(found(&usual), [""; 0]);
    }

    #[test]
    fn a_step_that_not_everybody_takes_makes_one() {
        let calls = [
            "Edit(a.tf)",
            "Bash(ls)",
            "Bash(make deploy)",
            "mcp__web__open(\"/\")",
        ];
        let wants = [
            "$ deploy › mcp__web__open",
            "edit › $ deploy",
            "edit › $ deploy › mcp__web__open",
        ];
        assert_eq!(found(&calls), wants);
    }
}
