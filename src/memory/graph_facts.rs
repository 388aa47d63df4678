//! A graph's facts, with the sessions that tell them (D18). A graph's nodes know no project: only the
//! episodes that a fact came from do.

use crate::model::error::Error;
use crate::model::graph::GraphFact;
use crate::store::{Found, Store};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A fact with the episodes of this store that tell it.
#[derive(Clone, Debug, PartialEq)]
pub struct SourcedFact {
    /// As the graph has it.
    pub fact: GraphFact,
    /// Those that may be shown; empty where nothing is kept from sight and the store knows none.
    pub sources: Vec<Found>,
}

/// The facts that may be shown, and how many may not: those that no episode tells that `may_see`
/// allows. `sees_all`: nothing is kept from sight, so that a fact of unknown origin may be shown.
/// `names`: ids of ours by the ids that the graph gave them; others are ours.
///
/// # Errors
/// When the store can't be read.
pub fn sourced(
    store: &Store,
    facts: Vec<GraphFact>,
    names: &BTreeMap<String, Uuid>,
    sees_all: bool,
    may_see: &dyn Fn(&Found) -> bool,
) -> Result<(Vec<SourcedFact>, usize), Error> {
    let (mut shown, mut dropped) = (Vec::new(), 0);
    for fact in facts {
        let mut sources = Vec::new();
        let mut is_hidden = false;
        for uuid in &fact.episodes {
            let id = names.get(uuid).copied().or_else(|| uuid.parse().ok());
            let found = id.map(|id| store.episode(&id.to_string())).transpose()?;
            match found.flatten() {
                Some(found) if may_see(&found) => sources.push(found),
                Some(_) => is_hidden = true,
                // forgotten here; the graph may not know yet, or can't remove it
                None => is_hidden |= id.is_some_and(|id| store.is_removed(id).unwrap_or(true)),
            }
        }
        match !sources.is_empty() || sees_all && !is_hidden {
            true => shown.push(SourcedFact { fact, sources }),
            false => dropped += 1,
        }
    }
    Ok((shown, dropped))
}

/// Ids of episodes that this store doesn't have: the graph gave them.
///
/// # Errors
/// When the store can't be read.
pub fn strangers(store: &Store, facts: &[GraphFact]) -> Result<bool, Error> {
    for uuid in facts.iter().flat_map(|fact| &fact.episodes) {
        let known = match uuid.parse::<Uuid>() {
            Ok(id) => store.episode(&id.to_string())?.is_some(),
            Err(_) => false,
        };
        if !known {
            return Ok(true);
        }
    }
    Ok(false)
}
