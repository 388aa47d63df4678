//! What is known of a commit, a branch or a file, in plain English: a line that says what, lines that say why
//! and what became of it, and a line that says when, where and by whom. How a place, a time and a session are
//! shown is the caller's.

use super::commit_links::CommitMention;
use super::coverage::Coverage;
use super::fates::fate;
use super::file_history::FileEdits;
use super::git_history::{HistoryRequest, OperationMatch};
use super::rollbacks::without_quote;
use crate::model::git::{Confidence, Effect, GitOperation, Reason, short_hash};
use crate::model::human::{count, plural};
use crate::model::shell::word;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::GitRow;
use std::fmt::Write;

/// How what is told apart by machines and settings is shown.
pub struct Shown<'s> {
    /// Of a namespace and a path.
    pub place: &'s dyn Fn(&str, &str) -> String,
    /// Of a session's id.
    pub session: &'s dyn Fn(&str) -> String,
    /// Of a time.
    pub time: &'s dyn Fn(Option<Time>) -> String,
}

/// Something that is known.
pub struct Told {
    /// What.
    pub head: String,
    /// What became of it, why, and what it held.
    pub lines: Vec<String>,
    /// When, where, and by whom.
    pub origin: String,
}

/// Commits of one operation that people see.
const COMMITS_SHOWN: usize = 10;

/// An operation.
pub fn operation(answer: &OperationMatch, shown: &Shown<'_>) -> Told {
    let git = &answer.git;
    let mut lines: Vec<String> = fate(git).into_iter().collect();
    lines.extend(reason(git, shown));
    let reverted = git.effect.reverts.iter().map(|revert| &revert.commit);
    let reverted = reverted.take(COMMITS_SHOWN);
    lines.extend(
        reverted.map(|commit| format!("took back: {} {}", short(&commit.hash), commit.subject)),
    );
    let commits = answer.commits().iter().take(COMMITS_SHOWN);
    lines.extend(commits.map(|commit| format!("{} {}", short(&commit.hash), commit.subject)));
    let (added, removed) = git.effect.lines;
    lines.push(format!("{}, +{added} −{removed} lines", files(&git.effect)));
    let when = (shown.time)(Some(git.operation.at));
    let place = (shown.place)(&answer.namespace, &answer.project_path);
    Told {
        head: head(answer),
        lines,
        origin: format!("{when}  {place} {}", doer(answer, shown)),
    }
}

/// A session whose summary names a commit.
pub fn mention(mention: &CommitMention, shown: &Shown<'_>) -> Told {
    let place = (shown.place)(&mention.namespace, &mention.project_path);
    let (when, session) = ((shown.time)(mention.at), (shown.session)(&mention.session));
    Told {
        head: format!("mentioned: {} {}", mention.hash, mention.subject),
        lines: Vec::new(),
        origin: format!("{when}  {place} session {session}"),
    }
}

/// A session that edited a file.
pub fn edits(edits: &FileEdits, shown: &Shown<'_>) -> Told {
    let path = &edits.path;
    let times = match edits.edits {
        0 => "from git".to_owned(),
        times => plural(times, "edit"),
    };
    let lines = match (edits.edits, edits.added, edits.removed) {
        (0, 0, 0) => String::new(),
        (_, added, removed) => format!(", +{added} −{removed} lines"),
    };
    let place = (shown.place)(&edits.namespace, &edits.project_path);
    let (when, session) = ((shown.time)(edits.at), (shown.session)(&edits.session));
    let (agent, line) = (edits.agent.as_str(), edits.line);
    Told {
        head: format!("edited: {path}  {times}{lines}"),
        lines: Vec::new(),
        origin: format!("{when}  {place} by {agent}, session {session} line {line}"),
    }
}

/// An operation that may have changed a file.
pub fn unseen(row: &GitRow, shown: &Shown<'_>) -> Told {
    let operation = &row.git.operation;
    let (name, on) = (row.git.name(), operation.branches());
    let place = (shown.place)(&row.project.namespace, &row.project.path);
    let when = (shown.time)(Some(operation.at));
    Told {
        head: format!(
            "perhaps: {name}{on}, which changed {}",
            files(&row.git.effect)
        ),
        lines: vec!["the file may be one of those that were not looked at".to_owned()],
        origin: format!("{when}  {place} commit {}", short(&operation.new)),
    }
}

/// Repositories that are named.
const REPOSITORIES_SHOWN: usize = 5;

/// Nothing is known: what was looked through, and since when.
pub fn nothing(request: &HistoryRequest, all: &Coverage, shown: &Shown<'_>) -> Vec<String> {
    let asked = match request {
        HistoryRequest::Commit(hash) => format!("commit {hash}"),
        HistoryRequest::Branch(name) => format!("branch {name}"),
        HistoryRequest::File(file) => file.shown().to_owned(),
    };
    let mut lines = vec![format!("nothing was recorded about {asked}")];
    if all.repositories.is_empty() {
        lines.push("no git operations are recorded".to_owned());
    }
    for one in all.repositories.iter().take(REPOSITORIES_SHOWN) {
        let place = (shown.place)(&one.namespace, &one.project_path);
        let operations = plural(one.operations, "git operation");
        let since = (shown.time)(Some(one.since));
        lines.push(format!("searched: {operations} since {since} {place}"));
    }
    let more = all.repositories.len().saturating_sub(REPOSITORIES_SHOWN);
    if more > 0 {
        let more = plural(more as u64, "repository");
        lines.push(format!("searched: {more} more"));
    }
    if all.sessions > 0 {
        let sessions = plural(all.sessions, "session");
        let since = (shown.time)(all.sessions_since);
        lines.push(format!("searched: {sessions} since {since}"));
    }
    lines
}

/// How git operations of all projects are tracked from now on.
pub const SWITCH_ON: &str =
    "hint: sessionmill config set --tracking defaults.enabled true && sessionmill run";

/// What may help where nothing is known and git operations are tracked.
pub fn next_step(request: &HistoryRequest, all: &Coverage) -> String {
    let root = match request {
        HistoryRequest::File(file) => file.root(),
        _ => None,
    };
    let mut known = all.repositories.iter();
    let is_read = root.is_none_or(|root| known.any(|one| one.project_path == root));
    match request {
        _ if !is_read => "sessionmill run   (reads the repository)".to_owned(),
        HistoryRequest::File(file) => format!("git log --all --oneline -- {}", word(file.shown())),
        HistoryRequest::Commit(hash) => format!("git show --stat {hash}"),
        HistoryRequest::Branch(_) => "git branch --all".to_owned(),
    }
}

/// `undid: reset --hard on main  3f2a91c04d5e → 91b07ac2d3f4`.
fn head(answer: &OperationMatch) -> String {
    let operation = &answer.git.operation;
    let mut head = format!("{}: {}", answer.role.as_str(), answer.git.name());
    head.push_str(&operation.branches());
    let (old, new) = (short(&operation.old), short(&operation.new));
    format!("{head}  {old} → {new}")
}

fn short(hash: &str) -> &str {
    match hash {
        "" => "(none)",
        hash => short_hash(hash),
    }
}

/// `10,000 files (500 looked at)`.
pub fn files(effect: &Effect) -> String {
    let all = plural(effect.files_count, "file");
    let seen = effect.files.len() as u64;
    match seen < effect.files_count {
        true => format!("{all} ({} looked at)", count(seen)),
        false => all,
    }
}

/// The sentence that says why, as sure as it is; where work was given up and nobody said why, that.
fn reason(git: &GitOperation, shown: &Shown<'_>) -> Vec<String> {
    match &git.reason {
        Some(reason) => vec![why(reason), said(reason, shown)],
        None => without_quote(git)
            .map(|none| format!("why: {none}"))
            .into_iter()
            .collect(),
    }
}

fn why(reason: &Reason) -> String {
    let sentence = &reason.sentence;
    match reason.confidence {
        Confidence::High => format!("why: {sentence}"),
        Confidence::Medium => format!("why: perhaps, as the {} said: {sentence}", reason.who()),
    }
}

fn said(reason: &Reason, shown: &Shown<'_>) -> String {
    let (who, session) = (reason.who(), (shown.session)(&reason.session));
    format!("said by the {who}, session {session} line {}", reason.line)
}

/// `by claude, session 6f1c5b80`; a session that may have done it is told as what it is.
fn doer(answer: &OperationMatch, shown: &Shown<'_>) -> String {
    let who = match answer.agent {
        Agent::PERSON => "by a person".to_owned(),
        Agent::UNKNOWN => "nobody knows by whom".to_owned(),
        agent => format!("by {}", agent.as_str()),
    };
    let Some(by) = &answer.session else {
        return who;
    };
    let (session, agent) = ((shown.session)(&by.session), by.agent.as_str());
    match (by.link.is_weak(), answer.agent) {
        (false, _) => format!("{who}, session {session}"),
        (true, Agent::UNKNOWN) => {
            format!("perhaps by {agent}, session {session}, which was at work then")
        }
        (true, _) => format!("{who}, while session {session} was at work"),
    }
}

impl Told {
    /// All of it, line by line.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.head);
        for line in self.lines.iter().chain([&self.origin]) {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_as_sure_as_it_is() {
        let reason = |confidence| Reason {
            sentence: "It is too slow".into(),
            by_user: true,
            session: "s".into(),
            episode: uuid::Uuid::nil(),
            line: 3,
            confidence,
        };
        assert_eq!(why(&reason(Confidence::High)), "why: It is too slow");
        assert_eq!(
            why(&reason(Confidence::Medium)),
            "why: perhaps, as the user said: It is too slow"
        );
    }
}
