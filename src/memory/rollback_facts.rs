//! Work of a project that was given up, as facts for agents. Only what the asking session may see is
//! quoted; which work that is and how it reads is tracking's.

use super::block::{FactSource, RecalledFact, below_home};
use super::rollback_rank::{Repeats, Undoing, undoings};
use super::scopes::Scope;
use super::workspace::Workspace;
use crate::model::error::Error;
use crate::model::git::Reason;
use crate::model::scope::MemoryScope;
use crate::model::time::Time;
use crate::store::{GitRow, KEPT, Store};
use crate::tracking::rollbacks::{describe, recent};
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
    let namespace = audience.workspace.namespace();
    if audience.workspace.project().is_none() || !audience.scope.allows(&namespace) {
        return Ok(Vec::new());
    }
    let rows = recent(store, &namespace, now)?;
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
fn repeated(undoing: &Undoing<'_>) -> String {
    if undoing.times < 2 {
        return String::new();
    }
    let (times, since) = (
        undoing.times,
        undoing.since.utc().format("%Y-%m-%d %H:%MZ"),
    );
    let branch = undoing.row.git.operation.branch.as_deref();
    let branch = branch.and_then(safe_names::branch);
    match undoing.repeats {
        Repeats::SameWork => format!(" {times} operations since {since} gave this work up."),
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
    let mut reason = row.git.reason.as_ref();
    if reason.is_some_and(|reason| audience.session == Some(&reason.session)) {
        return Ok(None);
    }
    let source = match reason {
        Some(reason) => source(store, reason, audience)?,
        None => None,
    };
    if source.is_none() {
        reason = None;
    }
    Ok(Some(RecalledFact {
        text: describe(&row.git, reason),
        scope: MemoryScope::Workspace,
        source,
    }))
}

fn source(
    store: &Store,
    reason: &Reason,
    audience: Audience<'_>,
) -> Result<Option<FactSource>, Error> {
    let found = store.episode(&reason.episode.to_string())?;
    let found = found.filter(|found| audience.scope.allows(&found.namespace));
    let Some(found) = found else {
        return Ok(None);
    };
    Ok(Some(FactSource {
        shown: store.session_shown(&found.session, KEPT)?,
        session: Some((found.agent, found.session)),
        episode: reason.episode,
        at: found.episode.valid_at,
        path: audience
            .shows_paths
            .map(|home| below_home(&found.path, home)),
        lines: (reason.line, reason.line),
    }))
}
