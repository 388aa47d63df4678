//! Decisions whose work was given up, as facts for agents: whoever recalls the decision is told what became of
//! it, and whoever is told of a rollback learns of the decision.

use super::block::{FactSource, RecalledFact, below_home};
use super::rollback_facts::{Audience, seen_reason};
use crate::model::error::Error;
use crate::model::scope::MemoryScope;
use crate::rules::words::{is_same, tokens};
use crate::store::{GitRow, KEPT, Store};
use crate::tracking::decision_links::{UndoneDecision, quoted, sessions_behind, undone_of};
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

/// Says in a fact of a session which of its decisions were undone: before it where the decision has at least
/// half of the question's words, else behind the decision, where the fact has that.
///
/// # Errors
/// When the store can't be read.
pub fn note_undone(
    store: &Store,
    session: &str,
    fact: &mut String,
    words: &[String],
    audience: Audience<'_>,
) -> Result<(), Error> {
    let matched = |undone: &UndoneDecision| {
        let decision = &undone.decision.what;
        let parts = [Some(&decision.decision), decision.about.as_ref()];
        let parts = parts.into_iter().flatten();
        let told: BTreeSet<String> = parts.flat_map(|part| tokens(part)).collect();
        let is_told = |word: &&String| told.iter().any(|told| is_same(told, word));
        words.iter().filter(is_told).count()
    };
    let undone = undone_of(store, session)?;
    let best = undone.iter().max_by_key(|undone| matched(undone));
    let answers = best.filter(|best| {
        let count = matched(best);
        count > 0 && count * 2 >= words.len()
    });
    for one in &undone {
        let decision = on_one_line(&one.decision.what.decision);
        if answers.is_some_and(|answers| answers.decision == one.decision) {
            *fact = format!("{} {fact}", sentence(store, one, audience)?);
        } else if let Some(at) = on_one_line(fact).find(&decision) {
            *fact = on_one_line(fact);
            let note = format!(" ({})", note(store, one, audience)?);
            fact.insert_str(at + decision.len(), &note);
        }
    }
    Ok(())
}

/// `Decided "…": undone 2026-06-01 …`.
fn sentence(
    store: &Store,
    undone: &UndoneDecision,
    audience: Audience<'_>,
) -> Result<String, Error> {
    let note = note(store, undone, audience)?;
    let decision = quoted(&undone.decision.what.decision);
    Ok(format!("Decided {decision}: {note}."))
}

/// What became of it, with the reason where that may be seen.
fn note(store: &Store, undone: &UndoneDecision, audience: Audience<'_>) -> Result<String, Error> {
    let seen = seen_reason(store, &undone.by.git, audience.scope)?;
    Ok(undone.note(seen.as_ref().map(|(reason, _)| *reason)))
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
