//! Work of a project that was given up, as facts for agents. Only what the asking session may see is
//! quoted; which work that is and how it reads is tracking's.

use super::block::{FactSource, RecalledFact, below_home};
use super::rollback_rank::{Repeats, Undoing, undoings};
use super::scopes::Scope;
use super::workspace::Workspace;
use crate::model::error::Error;
use crate::model::git::{GitOperation, Reason};
use crate::model::scope::MemoryScope;
use crate::model::time::Time;
use crate::store::{Found, GitRow, KEPT, Store};
use crate::tracking::rollbacks::{describe, recent_operations, sure_reason, without_quote};
use crate::tracking::safe_names;

/// For whom facts are.
#[derive(Clone, Copy)]
pub struct Audience<'a> {
    /// The session that asks: its own words are no news to it.
    pub session: Option<&'a str>,
    /// Where it works.
    pub workspace: &'a Workspace,
    /// Whose sessions it may see.
    pub scope: &'a Scope,
    /// Paths of logs are shown, those in this folder as `~`.
    pub shows_paths: Option<&'a str>,
}

/// What was given up recently in the repository of the workspace, most important first, at most so many.
/// Operations that repeat one undoing are one fact, which says so.
///
/// # Errors
/// When the store can't be read.
pub fn recent_facts(
    store: &Store,
    audience: Audience<'_>,
    now: Time,
    limit: usize,
) -> Result<Vec<RecalledFact>, Error> {
    if !audience.workspace.is_repository {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    for namespace in audience.scope.namespaces().unwrap_or_default() {
        rows.extend(recent_operations(store, &namespace, now)?);
    }
    let mut facts = Vec::new();
    for undoing in undoings(&rows, audience.workspace.branch.as_deref(), now) {
        if facts.len() == limit {
            break;
        }
        let fact = fact(store, undoing.row, audience)?;
        facts.extend(fact.map(|mut fact| {
            fact.text.push_str(&repeated(&undoing));
            fact
        }));
    }
    Ok(facts)
}

/// That it was done more than once; empty where it wasn't.
pub fn repeated(undoing: &Undoing<'_>) -> String {
    if undoing.times < 2 {
        return String::new();
    }
    let (times, since) = (undoing.times, undoing.since.utc().format("%Y-%m-%d %H:%MZ"));
    let branch = undoing.row.git.operation.branch.as_deref();
    let branch = branch.and_then(safe_names::branch);
    match undoing.repeats {
        Repeats::SameWork => format!(" It was left {times} times since {since}."),
        Repeats::SameBranch => {
            let branch = branch.unwrap_or_else(|| "The branch".to_owned());
            format!(" {branch} was reset {times} times since {since}: this gave up most.")
        }
    }
}

/// A rollback as a fact; `None`: the session that asks said it. The sentence that says why comes from the
/// session that said it, where that may be seen.
///
/// # Errors
/// When the store can't be read.
pub fn fact(
    store: &Store,
    row: &GitRow,
    audience: Audience<'_>,
) -> Result<Option<RecalledFact>, Error> {
    let reason = sure_reason(&row.git);
    if reason.is_some_and(|reason| audience.session == Some(&reason.session)) {
        return Ok(None);
    }
    let seen = seen_reason(store, &row.git, audience.scope)?;
    let source = seen.as_ref().map(|(reason, found)| {
        let shown = store.session_shown(&found.session, KEPT)?;
        let home = audience.shows_paths;
        Ok::<_, Error>(FactSource {
            session: Some((found.agent, found.session.clone())),
            shown,
            episode: reason.episode,
            at: found.episode.valid_at,
            path: home.map(|home| below_home(&found.path, home)),
            lines: (reason.line, reason.line),
        })
    });
    Ok(Some(RecalledFact {
        text: told(&row.git, seen.as_ref().map(|(reason, _)| *reason)),
        scope: MemoryScope::Workspace,
        source: source.transpose()?,
    }))
}

/// How a rollback reads, with the reason where that may be quoted.
pub fn told(git: &GitOperation, reason: Option<&Reason>) -> String {
    let mut text = describe(git, reason);
    if let Some(none) = without_quote(git) {
        text += &format!(" {}{}.", none[..1].to_uppercase(), &none[1..]);
    }
    text
}

/// The sentence that says why, where agents may be told it: it is sure, and the session that said it may be
/// seen. With its episode.
///
/// # Errors
/// When the store can't be read.
pub fn seen_reason<'r>(
    store: &Store,
    git: &'r GitOperation,
    scope: &Scope,
) -> Result<Option<(&'r Reason, Found)>, Error> {
    let Some(reason) = sure_reason(git) else {
        return Ok(None);
    };
    let found = store.episode(&reason.episode.to_string())?;
    let found = found.filter(|found| scope.allows(&found.namespace));
    Ok(found.map(|found| (reason, found)))
}
