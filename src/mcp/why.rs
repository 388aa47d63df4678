//! Why something is as it is: decisions that mention some words, or what became of a commit, a branch or
//! a file.

use super::answer::ListWindow;
use super::here::{Here, minute};
use crate::memory::decisions::{DecisionMatch, reasons};
use crate::memory::rollback_facts::seen_reason;
use crate::memory::scopes::Scope;
use crate::model::error::Error;
use crate::model::git::short_hash;
use crate::model::source::Agent;
use crate::rules::orders;
use crate::rules::words::content_words;
use crate::store::{Query, Store};
use crate::tracking::commit_links::CommitMention;
use crate::tracking::coverage::coverage;
use crate::tracking::decision_links::UndoneDecision;
use crate::tracking::fates::fate;
use crate::tracking::git_history::{HistoryRequest, OperationMatch, history};
use crate::tracking::history_words::{self as words, Shown};
use crate::tracking::rollbacks::{sure_reason, without_quote};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

/// Arguments of `why`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// What it is about: words, or a whole question
    question: Option<String>,
    /// Instead: a commit's hash
    commit: Option<String>,
    branch: Option<String>,
    /// Its path, or the end of it
    file: Option<String>,
    #[serde(default, rename = "project")]
    _project: Option<String>,
    #[serde(default)]
    project_namespaces: Vec<String>,
    max_bytes: Option<usize>,
    cursor: Option<String>,
}

/// Decisions, or git operations.
const REASONS: usize = 10;
/// Commits and files of one operation that are named.
const NAMED: usize = 5;

/// What is asked of repositories; `None`: words are.
fn history_request(args: &Why) -> Result<Option<HistoryRequest>, Error> {
    let typed = [&args.commit, &args.branch, &args.file].map(Option::as_deref);
    let request = HistoryRequest::of(typed[0], typed[1], typed[2])?;
    match request.is_some() && args.question.is_some() {
        true => Err(Error::usage(
            "name a question, a commit, a branch or a file",
        )),
        false => Ok(request),
    }
}

/// Decisions that speak of something.
pub fn why(here: &Here, args: &Why) -> Result<String, Error> {
    if let Some(request) = history_request(args)? {
        return history_answer(here, &request, args);
    }
    let words = content_words(args.question.as_deref().unwrap_or_default());
    if words.is_empty() {
        let error = Error::usage("the question has no specific words");
        return Err(error.hinted("question: why redis"));
    }
    let scope = here.open_scope(&args.project_namespaces)?;
    let question = format!("{words:?}{scope:?}");
    let window = ListWindow::new(&question, REASONS, args.max_bytes, args.cursor.as_deref())?;
    let store = here.store()?;
    let found = reasons(&store, &words, Query::default(), &scope)?;
    let mut told = Vec::new();
    for one in found.decided.iter().take(window.reach()) {
        let undone = one.undone.as_ref();
        let note = undone.map(|undone| seen_note(undone, &store, &scope));
        told.push(decision(one, note.transpose()?.as_deref(), here));
    }
    for (heading, list) in found.behind() {
        let behind = list.iter();
        told.extend(behind.map(|one| format!("{heading} {}", decision(one, None, here))));
    }
    told.truncate(window.reach());
    let told: Vec<String> = told.iter().map(|one| quoted(one)).collect();
    let head = match found.is_undecided() {
        true => "no decision mentions it\nhint: search_memory_nodes\n",
        false => "",
    };
    Ok(window.fill(head, &told))
}

/// The operations that answer, the latest first, then sessions that tell the commit.
fn history_answer(here: &Here, request: &HistoryRequest, args: &Why) -> Result<String, Error> {
    let scope = here.open_scope(&args.project_namespaces)?;
    let question = format!("{request:?}{scope:?}");
    let window = ListWindow::new(&question, REASONS, args.max_bytes, args.cursor.as_deref())?;
    let (store, namespaces) = (here.store()?, scope.namespaces());
    let found = history(&store, request, namespaces.as_deref(), window.reach())?;
    let operations = found.operations.iter().map(|one| operation(one, here));
    let mentions = found.other_mentions().map(|one| mention(one, here));
    let shown = Shown {
        place: &|namespace, path| here.origin(namespace, path),
        session: &str::to_owned,
        time: &minute,
    };
    let edits = found
        .edits
        .iter()
        .map(|one| words::edits(one, &shown).text());
    let unseen = found.unseen.iter();
    let unseen = unseen.map(|row| words::unseen(row, &shown).text());
    let items = operations.chain(mentions).chain(edits).chain(unseen);
    let items = items.take(window.reach()).map(|one| quoted(&one));
    let items: Vec<String> = items.collect();
    let head = match found.is_empty() {
        true => {
            let all = coverage(&store, namespaces.as_deref())?;
            words::nothing(request, &all, &shown).join("\n") + "\n"
        }
        false => String::new(),
    };
    Ok(window.fill(&head, &items))
}

/// What is told of logs and repositories: somebody's words, which order nobody about.
fn quoted(text: &str) -> String {
    orders::without(text).into_owned()
}

fn operation(answer: &OperationMatch, here: &Here) -> String {
    let (operation, effect) = (&answer.git.operation, &answer.git.effect);
    let mut text = format!("{}: {}", answer.role.as_str(), answer.git.name());
    for (word, name) in [("on", &operation.branch), ("to", &operation.to)] {
        if let Some(name) = name {
            let _ = write!(text, " {word} {name}");
        }
    }
    let (old, new) = (short_hash(&operation.old), short_hash(&operation.new));
    let origin = here.origin(&answer.namespace, &answer.project_path);
    let when = minute(Some(operation.at));
    let _ = writeln!(text, " ({old}..{new})\n{origin} {when} {}", doer(answer));
    text.extend(fate(&answer.git).map(|fate| format!("{fate}\n")));
    match sure_reason(&answer.git) {
        Some(reason) => {
            let _ = writeln!(
                text,
                "why: {} (the {}, session {} line {})",
                reason.sentence,
                reason.who(),
                reason.session,
                reason.line
            );
        }
        None => text.extend(without_quote(&answer.git).map(|none| format!("{none}\n"))),
    }
    for commit in answer.commits().iter().take(NAMED) {
        let _ = writeln!(text, "{} {}", short_hash(&commit.hash), commit.subject);
    }
    let files = effect.files.iter().map(|file| &*file.path);
    let files: Vec<&str> = files.take(NAMED).collect();
    if !files.is_empty() {
        let _ = writeln!(text, "{}: {}", words::files(effect), files.join(", "));
    }
    text
}

/// `by claude, session 6f1c5b80-…, by hash`; a session that may have done it is told as what it is.
fn doer(answer: &OperationMatch) -> String {
    let who = match answer.agent {
        Agent::PERSON => "by a person",
        Agent::UNKNOWN => "nobody knows by whom",
        agent => &format!("by {}", agent.as_str()),
    };
    let Some(by) = &answer.session else {
        return who.to_owned();
    };
    let (session, link) = (&by.session, by.link.as_str());
    match (by.link.is_weak(), answer.agent) {
        (false, _) => format!("{who}, session {session}, by {link}"),
        (true, Agent::UNKNOWN) => format!(
            "perhaps by {}, session {session}, which was at work then (by {link})",
            by.agent.as_str()
        ),
        (true, _) => format!("{who}, while session {session} was at work (by {link})"),
    }
}

fn mention(mention: &CommitMention, here: &Here) -> String {
    format!(
        "mentioned: {} {}\n{} {} session {}\n",
        mention.hash,
        mention.subject,
        here.origin(&mention.namespace, &mention.project_path),
        minute(mention.at),
        mention.session
    )
}

/// What became of a decision, with the reason where it may be quoted.
fn seen_note(undone: &UndoneDecision, store: &Store, scope: &Scope) -> Result<String, Error> {
    let seen = seen_reason(store, &undone.by.git, scope)?;
    Ok(undone.note(seen.as_ref().map(|(reason, _)| *reason)))
}

fn decision(reason: &DecisionMatch, undone: Option<&str>, here: &Here) -> String {
    let what = &reason.decision.what;
    let mut text = format!("{}\n", what.decision);
    if let Some(undone) = undone {
        let _ = writeln!(text, "{undone}");
    }
    if let Some(about) = &what.about {
        let _ = writeln!(text, "asked: {about}");
    }
    if let Some(other) = &what.instead_of {
        let _ = writeln!(text, "instead of: {other}");
    }
    let origin = here.origin(&reason.namespace, &reason.project_path);
    let _ = writeln!(
        text,
        "{origin} {} session {} line {}",
        minute(reason.at),
        reason.session,
        reason.decision.line
    );
    text
}
