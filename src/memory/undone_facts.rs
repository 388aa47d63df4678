//! Decisions whose work was given up, as facts for agents: whoever recalls the decision is told what became of
//! it, and whoever is told of a rollback learns of the decision.

use super::block::{FactSource, RecalledFact, below_home};
use super::rollback_facts::{Audience, seen_reason};
use super::undone_decisions::{UndoneDecision, quoted, sessions_behind, undone_of};
use crate::model::error::Error;
use crate::model::scope::MemoryScope;
use crate::rules::words::{is_same, tokens};
use crate::store::{GitRow, KEPT, Store};
use std::collections::BTreeSet;

/// The decisions that led to what a rollback gave up, as facts; not those of the session that asks.
///
/// # Errors
/// When the store can't be read.
pub fn decided_before(
    store: &Store,
    rollback: &GitRow,
    audience: Audience<'_>,
) -> Result<Vec<RecalledFact>, Error> {
    let mut facts = Vec::new();
    for session in sessions_behind(store, rollback)? {
        if audience.session == Some(&session) {
            continue;
        }
        for undone in undone_of(store, &session)? {
            let Some(source) = source(store, &undone, audience)? else {
                continue;
            };
            if undone.by.id == rollback.id {
                facts.push(RecalledFact {
                    text: sentence(store, &undone, audience)?,
                    scope: MemoryScope::Workspace,
                    source: Some(source),
                });
            }
        }
    }
    Ok(facts)
}

/// What to say before a fact of a session: that a decision of it was undone which the fact tells, or which
/// has at least half of the question's words. Of several the one with most of them.
///
/// # Errors
/// When the store can't be read.
pub fn undone_in(
    store: &Store,
    session: &str,
    fact: &str,
    words: &[String],
    audience: Audience<'_>,
) -> Result<Option<String>, Error> {
    let fact = on_one_line(fact);
    let matched = |undone: &UndoneDecision| {
        let decision = &undone.decision.what;
        let parts = [Some(&decision.decision), decision.about.as_ref()];
        let told: BTreeSet<String> = parts
            .into_iter()
            .flatten()
            .flat_map(|t| tokens(t))
            .collect();
        let is_told = |word: &&String| told.iter().any(|told| is_same(told, word));
        words.iter().filter(is_told).count()
    };
    let answers = |undone: &UndoneDecision| {
        let count = matched(undone);
        count > 0 && count * 2 >= words.len()
            || fact.contains(&on_one_line(&undone.decision.what.decision))
    };
    let mut undone = undone_of(store, session)?;
    undone.retain(answers);
    let best = undone.iter().max_by_key(|undone| matched(undone));
    best.map(|undone| sentence(store, undone, audience))
        .transpose()
}

/// `Decided: "…": undone 2026-06-01 …`.
fn sentence(
    store: &Store,
    undone: &UndoneDecision,
    audience: Audience<'_>,
) -> Result<String, Error> {
    let seen = seen_reason(store, &undone.by.git, audience.scope)?;
    let seen = seen.as_ref().map(|(reason, _)| *reason);
    let note = undone.note(seen);
    Ok(format!(
        "Decided {}: {note}.",
        quoted(&undone.decision.what.decision)
    ))
}

/// Where the decision stands; `None`: that may not be seen.
fn source(
    store: &Store,
    undone: &UndoneDecision,
    audience: Audience<'_>,
) -> Result<Option<FactSource>, Error> {
    let decision = &undone.decision;
    let found = store.episode(&decision.episode.to_string())?;
    let Some(found) = found.filter(|found| audience.scope.allows(&found.namespace)) else {
        return Ok(None);
    };
    let home = audience.shows_paths;
    Ok(Some(FactSource {
        shown: store.session_shown(&found.session, KEPT)?,
        session: Some((found.agent, found.session)),
        episode: decision.episode,
        at: found.episode.valid_at,
        path: home.map(|home| below_home(&found.path, home)),
        lines: (decision.line, decision.line),
    }))
}

fn on_one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
