//! What came of several sessions: by project what was worked on, decided, fixed and left open. Pure;
//! made of summaries alone.

use super::summary::{commit, pull_request, short as cut, undone};
use crate::model::finding::TestCounts;
use crate::model::summary::{
    Decision, PullRequest, Resolution, SessionCommit, SessionOutcome, Sourced, Summary,
};
use crate::model::time::Time;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A session of a recap.
#[derive(Clone, Debug)]
pub struct RecapSession {
    /// Its id.
    pub id: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// Its namespace.
    pub namespace: String,
    /// What its project is called.
    pub project: String,
    /// Its last record's time.
    pub ended: Option<Time>,
    /// Its facts.
    pub summary: Summary,
}

/// What came of several sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recap {
    /// How many.
    pub sessions: u64,
    /// How they ended; those that don't say are in none.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// The one with most sessions first.
    pub projects: Vec<RecapProject>,
}

/// What came of a project's sessions; everything with the latest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecapProject {
    /// 16 hex digits.
    pub namespace: String,
    /// What it is called.
    pub project: String,
    /// One for each session in which something was asked for or changed.
    pub worked_on: Vec<SessionWork>,
    /// What people chose, approved or said.
    pub decided: Vec<SessionFact<Decision>>,
    /// Errors that were resolved.
    pub fixed: Vec<SessionFact<Resolution>>,
    /// Open tasks and proposals of sessions.
    pub left_open: Vec<SessionFact<String>>,
    /// Commits.
    pub commits: Vec<SessionFact<SessionCommit>>,
    /// Pull requests.
    pub pull_requests: Vec<SessionFact<PullRequest>>,
}

/// A session in a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionWork {
    /// Its id.
    pub session: String,
    /// What was asked for; where nobody said, its title.
    pub objective: String,
    /// How it ended.
    pub outcome: Option<SessionOutcome>,
    /// When.
    pub ended: Option<Time>,
    /// Files that it changed.
    pub files: u64,
    /// Lines.
    pub added: u64,
    /// Lines.
    pub removed: u64,
    /// The last test run.
    pub tests: Option<TestCounts>,
}

/// A fact with the session that it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionFact<T> {
    /// The session's id.
    pub session: String,
    /// What, and where it stands.
    #[serde(flatten)]
    pub fact: Sourced<T>,
}

/// Of these sessions, in the order in which they are given: the latest first.
pub fn recap(sessions: Vec<RecapSession>) -> Recap {
    let mut recap = Recap {
        sessions: sessions.len() as u64,
        ..Recap::default()
    };
    for session in sessions {
        if let Some(outcome) = session.summary.outcome {
            *recap.outcomes.entry(outcome.as_str()).or_default() += 1;
        }
        let known = recap.projects.iter_mut();
        let known = known
            .into_iter()
            .position(|p| p.namespace == session.namespace);
        let at = known.unwrap_or_else(|| {
            recap.projects.push(RecapProject {
                namespace: session.namespace.clone(),
                project: session.project.clone(),
                ..RecapProject::default()
            });
            recap.projects.len() - 1
        });
        recap.projects[at].add(session);
    }
    recap
        .projects
        .sort_by_key(|p| std::cmp::Reverse(p.worked_on.len()));
    recap
}

impl RecapProject {
    fn add(&mut self, session: RecapSession) {
        let (id, summary) = (session.id.clone(), session.summary.clone());
        self.worked_on.extend(work(session));
        extend(&mut self.decided, &id, summary.decisions);
        extend(&mut self.fixed, &id, summary.errors_resolved);
        let is_new =
            |step: &Sourced<String>| self.left_open.iter().all(|s| s.fact.what != step.what);
        let open = summary.next_steps.into_iter().filter(is_new);
        let mut open: Vec<Sourced<String>> = open.take(LEFT_OPEN_MAX).collect();
        open.reverse();
        extend(&mut self.left_open, &id, open);
        extend(&mut self.commits, &id, summary.commits);
        extend(&mut self.pull_requests, &id, summary.pull_requests);
    }
}

fn extend<T>(all: &mut Vec<SessionFact<T>>, session: &str, more: Vec<Sourced<T>>) {
    all.extend(more.into_iter().rev().map(|fact| SessionFact {
        session: session.to_owned(),
        fact,
    }));
}

/// `None` where nobody asked for anything and nothing was changed.
fn work(session: RecapSession) -> Option<SessionWork> {
    let summary = session.summary;
    let asked = summary.objective.map(|objective| objective.what);
    let files = &summary.files_modified;
    if asked.is_none() && files.is_empty() {
        return None;
    }
    Some(SessionWork {
        session: session.id,
        objective: asked.or(session.title).unwrap_or_default(),
        outcome: summary.outcome,
        ended: session.ended,
        files: files.len() as u64,
        added: files.iter().map(|file| file.what.added).sum(),
        removed: files.iter().map(|file| file.what.removed).sum(),
        tests: summary.tests.map(|runs| runs.what.last),
    })
}

/// A command is recognised by its beginning.
const CALL_CHARS_MAX: usize = 80;
/// An error too.
const ERROR_CHARS_MAX: usize = 120;

/// What one session leaves open, at most: the rest stands in its own summary.
const LEFT_OPEN_MAX: usize = 3;

/// Lines of a section; the rest is counted.
const LINES_MAX: usize = 15;

/// As Markdown. `short` is what people type for a session.
pub fn markdown(recap: &Recap, title: &str, short: impl Fn(&str) -> String) -> String {
    let mut out = format!("# Recap: {title}\n\n{}\n", head(recap));
    for project in recap.projects.iter().filter(|project| !project.is_empty()) {
        let _ = writeln!(out, "\n## {}", project.project);
        let works = project.worked_on.iter();
        section(
            &mut out,
            "Worked on",
            works.map(|work| format!("{} [{}]", line(work), short(&work.session))),
        );
        facts(&mut out, "Decided", &project.decided, &short, |decision| {
            let about = decision.about.as_ref().map(|about| format!(": {about}"));
            let about = about.unwrap_or_default();
            format!("**{}**{about}{}", decision.decision, undone(decision))
        });
        facts(&mut out, "Fixed", &project.fixed, &short, |error| {
            let changed: Vec<String> = error.changed.iter().map(|p| format!("`{p}`")).collect();
            format!(
                "{}: {}; changed {}",
                cut(&error.call, CALL_CHARS_MAX),
                cut(&error.error, ERROR_CHARS_MAX),
                changed.join(", ")
            )
        });
        facts(
            &mut out,
            "Left open",
            &project.left_open,
            &short,
            String::clone,
        );
        facts(&mut out, "Commits", &project.commits, &short, commit);
        let pulls = &project.pull_requests;
        facts(&mut out, "Pull requests", pulls, &short, pull_request);
    }
    out
}

impl RecapProject {
    fn is_empty(&self) -> bool {
        let lists = [self.decided.len(), self.fixed.len(), self.left_open.len()];
        let more = [
            self.commits.len(),
            self.pull_requests.len(),
            self.worked_on.len(),
        ];
        lists.into_iter().chain(more).all(|length| length == 0)
    }
}

/// `12 sessions: 8 completed, 1 blocked.`
fn head(recap: &Recap) -> String {
    let plural = if recap.sessions == 1 { "" } else { "s" };
    let outcomes = SessionOutcome::ALL.map(SessionOutcome::as_str).into_iter();
    let ended = outcomes.filter_map(|outcome| {
        let many = recap.outcomes.get(outcome)?;
        Some(format!("{many} {}", outcome.replace('_', " ")))
    });
    let ended: Vec<String> = ended.collect();
    let ended = match ended.is_empty() {
        true => String::new(),
        false => format!(": {}", ended.join(", ")),
    };
    format!("{} session{plural}{ended}.", recap.sessions)
}

fn line(work: &SessionWork) -> String {
    let outcome = work
        .outcome
        .map(|outcome| outcome.as_str().replace('_', " "));
    let files = (work.files > 0).then(|| {
        let plural = if work.files == 1 { "" } else { "s" };
        format!(
            "{} file{plural} +{} −{}",
            work.files, work.added, work.removed
        )
    });
    let tests = work.tests.as_ref().map(|run| {
        let least = if run.partial { "at least " } else { "" };
        format!("tests {least}{}/{}", run.passed, run.passed + run.failed)
    });
    let facts: Vec<String> = [outcome, files, tests].into_iter().flatten().collect();
    match facts.is_empty() {
        true => work.objective.clone(),
        false => format!("{} ({})", work.objective, facts.join(", ")),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::summary::ChangedFile;
    use crate::model::summary::sourced;

    fn session(id: &str, project: &str, objective: &str, outcome: SessionOutcome) -> RecapSession {
        RecapSession {
            id: id.into(),
            title: None,
            namespace: project.into(),
            project: project.into(),
            ended: None,
            summary: Summary {
                objective: Some(sourced(1, objective.into())),
                outcome: Some(outcome),
                next_steps: vec![sourced(9, format!("after {objective}"))],
                ..Summary::default()
            },
        }
    }

    #[test]
    fn projects_tell_what_their_sessions_came_to() {
        let mut fixed = session("aaaa", "shop", "Fix it.", SessionOutcome::Completed);
        fixed.summary.files_modified = vec![sourced(
            3,
            ChangedFile {
                path: "a.rs".into(),
                added: 4,
                removed: 1,
                edits: 2,
                by_git: false,
            },
        )];
        let silent = RecapSession {
            summary: Summary::default(),
            ..session("dddd", "shop", "", SessionOutcome::Completed)
        };
        let recap = recap(vec![
            session("cccc", "notes", "Write it.", SessionOutcome::InProgress),
            fixed,
            session("bbbb", "shop", "Ship it.", SessionOutcome::Completed),
            silent,
        ]);
        let text = markdown(&recap, "this week", |id| id[..2].to_owned());
        let wants = "# Recap: this week\n\n4 sessions: 2 completed, 1 in progress.\n\n\
            ## shop\n\n### Worked on\n\
            - Fix it. (completed, 1 file +4 −1) [aa]\n- Ship it. (completed) [bb]\n\n\
            ### Left open\n- after Fix it. [aa:9]\n- after Ship it. [bb:9]\n\n\
            ## notes\n\n### Worked on\n- Write it. (in progress) [cc]\n\n\
            ### Left open\n- after Write it. [cc:9]\n";
        assert_eq!(text, wants);
    }

    #[test]
    fn a_long_section_ends_with_a_count() {
        let sessions =
            (0..20).map(|n| session(&format!("{n:04}"), "p", "x", SessionOutcome::Blocked));
        let text = markdown(&recap(sessions.collect()), "", str::to_owned);
        assert_eq!(text.matches("- x (blocked)").count(), LINES_MAX);
        assert!(text.contains("- … and 5 more\n"), "{text}");
    }
}
