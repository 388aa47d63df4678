//! A recap as Markdown.

use super::fold::ended;
use super::work::{SessionFact, SessionWork};
use super::{Recap, RecapProject};
use crate::insight::summary::{commit, pull_request, short as cut, undone};
use crate::model::human::plural;
use crate::model::summary::{Decision, Resolution, SessionOutcome};
use std::fmt::Write;

/// A command is recognised by its beginning.
const CALL_CHARS_MAX: usize = 80;
/// An error too.
const ERROR_CHARS_MAX: usize = 120;
/// Lines of a section; the rest is counted.
const LINES_MAX: usize = 15;
/// Sessions that a line names; the rest is counted.
const SESSIONS_NAMED: usize = 3;

/// As Markdown. `short` is what people type for a session.
pub fn markdown(recap: &Recap, title: &str, short: impl Fn(&str) -> String) -> String {
    let mut out = format!("# Recap: {title}\n\n{}\n", head(recap));
    for one in &recap.projects {
        let _ = writeln!(out, "\n## {}", one.project);
        project(&mut out, one, &short);
    }
    out
}

fn project(out: &mut String, project: &RecapProject, short: &impl Fn(&str) -> String) {
    facts(out, "Left open", &project.left_open, short, String::clone);
    let works = project.worked_on.iter();
    let lines = works.map(|work| format!("{} [{}]", line(work), sessions(work, short)));
    section(out, "Worked on", lines);
    facts(out, "Decided", &project.decided, short, decision);
    let chosen = &project.agent_decided;
    facts(out, "Chosen by agents", chosen, short, decision);
    facts(out, "Fixed", &project.fixed, short, fixed);
    facts(out, "Commits", &project.commits, short, commit);
    let pulls = &project.pull_requests;
    facts(out, "Pull requests", pulls, short, pull_request);
}

fn decision(decision: &Decision) -> String {
    let chosen = decision.decision.trim_end_matches("(Recommended)");
    let chosen = chosen.trim_end();
    let about = decision.about.as_ref().map(|about| format!(": {about}"));
    let about = about.unwrap_or_default();
    format!("**{chosen}**{about}{}", undone(decision))
}

/// `cargo build: mismatched types; The id is a number now; worked after src/a.rs was changed`.
fn fixed(error: &Resolution) -> String {
    let call = error.call.split_once('(');
    let call = call.and_then(|(_, rest)| rest.strip_suffix(')'));
    let call = call.unwrap_or(&error.call);
    let said = match error.error.strip_prefix("exit ") {
        Some(rest) => rest.split_once(": ").map_or("", |(_, said)| said),
        None => &error.error,
    };
    let said = if said.is_empty() { "failed" } else { said };
    let words = [Some(said), error.cause.as_deref(), error.cure.as_deref()];
    let words = words.into_iter().flatten();
    let mut parts: Vec<String> = words.map(|part| cut(part, ERROR_CHARS_MAX)).collect();
    let changed: Vec<String> = error.changed.iter().map(|p| format!("`{p}`")).collect();
    let were = if changed.len() == 1 { "was" } else { "were" };
    if !changed.is_empty() {
        parts.push(format!(
            "worked after {} {were} changed",
            changed.join(", ")
        ));
    }
    format!("`{}`: {}", cut(call, CALL_CHARS_MAX), parts.join("; "))
}

/// `12 sessions: 8 completed, 1 blocked.`
fn head(recap: &Recap) -> String {
    let many = |outcome: SessionOutcome| recap.outcomes.get(outcome.as_str()).copied();
    let known: u64 = recap.outcomes.values().sum();
    let mut ended = ended(many, recap.cut_off);
    match recap.sessions.saturating_sub(known) {
        0 => {}
        _ if ended.is_empty() => {}
        without => ended += &format!(", {without} without a known outcome"),
    }
    if !ended.is_empty() {
        ended.insert_str(0, ": ");
    }
    format!("{}{ended}.", plural(recap.sessions, "session"))
}

/// `Fix the cart → The discount counts once now. (completed, 2 files, tests 7/7)`.
fn line(work: &SessionWork) -> String {
    let many = work.also.len() as u64 + 1;
    let many = (many > 1).then(|| plural(many, "session"));
    let files = changed(work);
    let tests = work.tests.as_ref();
    let tests = tests.filter(|run| run.passed + run.failed > 0);
    let tests = tests.map(|run| {
        let least = if run.partial { "at least " } else { "" };
        let of = if run.packages { "packages" } else { "tests" };
        format!("{of} {least}{}/{}", run.passed, run.passed + run.failed)
    });
    let facts = [many, work.ended_how(), files, tests];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let facts = match facts.is_empty() {
        true => String::new(),
        false => format!(" ({})", facts.join(", ")),
    };
    let result = work.result.as_ref();
    let result = result.map(|result| format!(" → {result}"));
    format!("{}{}{facts}", work.objective, result.unwrap_or_default())
}

/// `2 files`; of what git counted `1 commit of 2 files +4 −1`, `3 commits +40 −12`.
fn changed(work: &SessionWork) -> Option<String> {
    if let Some(made) = &work.committed {
        let commits = plural(made.commits, "commit");
        let of = made
            .files
            .map(|files| format!(" of {}", plural(files, "file")));
        let of = of.unwrap_or_default();
        return Some(format!("{commits}{of} +{} −{}", made.added, made.removed));
    }
    (work.files > 0).then(|| plural(work.files, "file"))
}

/// The latest ones.
fn sessions(work: &SessionWork, short: impl Fn(&str) -> String) -> String {
    let all = [&work.session].into_iter().chain(&work.also);
    let named: Vec<String> = all.take(SESSIONS_NAMED).map(|id| short(id)).collect();
    let more = match (work.also.len() + 1).saturating_sub(SESSIONS_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

fn facts<T>(
    out: &mut String,
    title: &str,
    all: &[SessionFact<T>],
    short: impl Fn(&str) -> String,
    text: impl Fn(&T) -> String,
) {
    let lines = all.iter().map(|one| {
        let place = format!("{}:{}", short(&one.session), one.fact.line);
        format!("{} [{place}]", text(&one.fact.what))
    });
    section(out, title, lines);
}

fn section(out: &mut String, title: &str, lines: impl ExactSizeIterator<Item = String>) {
    let many = lines.len();
    if many == 0 {
        return;
    }
    let _ = writeln!(out, "\n### {title}");
    for line in lines.take(LINES_MAX) {
        let _ = writeln!(out, "- {line}");
    }
    if many > LINES_MAX {
        let _ = writeln!(out, "- … and {} more", many - LINES_MAX);
    }
}
