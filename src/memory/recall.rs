//! Asking the store: the question as typed, then more loosely.
//! Knows when to loosen; refuses to rank.

use super::scope::Scope;
use crate::store::{Hit, Keeps, Query, Result, Store};

/// What was found, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The best first.
    pub hits: Vec<Hit>,
    /// No episode has all terms; these have some.
    pub loosened: bool,
    /// Why nothing was looked for.
    pub reason: Option<&'static str>,
}

/// Searches within `scope`, among what `keeps` lets through: for episodes with all terms, and when
/// there is none, with any.
pub fn recall(
    store: &Store,
    query: &Query,
    scope: &Scope,
    keeps: Option<&Keeps<'_>>,
) -> Result<Answer> {
    if let Scope::Nothing(reason) = scope {
        return Ok(Answer {
            reason: Some(reason),
            ..Answer::default()
        });
    }
    let mut query = Query {
        namespaces: scope.namespaces(),
        ..query.clone()
    };
    let hits = store.search_kept(&query, keeps)?;
    if !hits.is_empty() || query.any || query.terms.len() < 2 {
        return Ok(Answer {
            hits,
            ..Answer::default()
        });
    }
    query.any = true;
    let hits = store.search_kept(&query, keeps)?;
    Ok(Answer {
        loosened: !hits.is_empty(),
        hits,
        reason: None,
    })
}
