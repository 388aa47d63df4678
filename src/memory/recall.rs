//! Asking the store: the question as typed, then more loosely, the best first.
//! Knows when to loosen and what may be seen; refuses to know what makes one answer better (`rank`).

use super::rank::{Near, rank};
use super::scope::Scope;
use crate::model::episode::EpisodeSource;
use crate::model::time::Time;
use crate::store::{Candidates, Hit, Keeps, Query, Result, Store};

/// What is asked, by whom, and where.
#[derive(Clone)]
pub struct Question<'a> {
    /// Terms, filters and limit ([`super::query`] makes them). With `any`, one term is enough at once.
    pub query: Query,
    /// Whose projects may answer.
    pub scope: &'a Scope,
    /// Which episodes may, by the work that they tell of.
    pub keeps: Option<&'a Keeps<'a>>,
    /// Where it is asked: what is from there comes first.
    pub near: Near,
    /// What was known then: episodes that had begun.
    pub as_of: Option<Time>,
}

impl<'a> Question<'a> {
    /// Asked nowhere in particular, of the present.
    pub fn new(query: Query, scope: &'a Scope) -> Question<'a> {
        Question {
            query,
            scope,
            keeps: None,
            near: Near::default(),
            as_of: None,
        }
    }
}

/// What was found, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The best first.
    pub hits: Vec<Hit>,
    /// No episode has all terms; these have some.
    pub loosened: bool,
    /// Why nothing was looked for.
    pub reason: Option<&'static str>,
    /// From 0 to 1: how sure it is that the best of them answers; 0 where no words were asked for.
    pub confidence: f64,
    /// Episodes that tell what hits tell, and are left out for it.
    pub folded: u32,
    /// Rows of the full-text index that were counted or ranked.
    pub rows: u64,
}

impl Answer {
    /// It is sure enough to be shown to somebody who didn't ask
    /// ([`CONFIDENT`](super::rank::CONFIDENT)).
    pub fn is_confident(&self) -> bool {
        self.confidence >= super::rank::CONFIDENT
    }
}

/// Candidates that are ranked for each hit that is wanted, and at least so many. More: slower, each
/// costs its text; fewer: what the index ranks low has no chance.
const CANDIDATES_PER_HIT: u32 = 2;
const CANDIDATES_MIN: u32 = 40;

/// Searches: for episodes with all terms, and when there is none, with any. Without terms: the
/// latest that the filters let through. Some ms over ten thousand episodes.
///
/// # Errors
/// When the store can't be read.
pub fn recall(store: &Store, question: &Question<'_>) -> Result<Answer> {
    if let Scope::Nothing(reason) = question.scope {
        return Ok(Answer {
            reason: Some(reason),
            ..Answer::default()
        });
    }
    let wanted = &question.query;
    let until = wanted.until.into_iter().chain(question.as_of).min();
    let mut query = Query {
        namespaces: question.scope.namespaces(),
        until,
        ..wanted.clone()
    };
    if query.terms.is_empty() {
        // what groups are told of themselves is nobody's work
        if !query.sources.contains(&EpisodeSource::Message) {
            query.not_sources.push(EpisodeSource::Message);
        }
        let hits = store.search_kept(&query, question.keeps)?;
        return Ok(Answer {
            hits,
            ..Answer::default()
        });
    }
    let most = wanted.limit.saturating_mul(CANDIDATES_PER_HIT);
    query.limit = match wanted.limit {
        0 => 0,
        _ => most.max(CANDIDATES_MIN),
    };
    let ask = |query: &Query| store.candidates(query, question.keeps, &question.near.files);
    let mut found = ask(&query)?;
    let loosens = found.all.is_empty() && !query.any && query.terms.len() > 1;
    let mut rows = found.rows;
    if loosens {
        query.any = true;
        found = ask(&query)?;
        rows += found.rows;
    }
    Ok(answer(&found, question, loosens, rows))
}

fn answer(found: &Candidates, question: &Question<'_>, loosened: bool, rows: u64) -> Answer {
    // who asks one session wants each of its chunks
    let folds = question.query.session.is_none();
    let ranked = rank(found, &question.near, question.query.limit, folds);
    Answer {
        loosened: loosened && !ranked.hits.is_empty(),
        confidence: ranked.hits.first().map_or(0.0, |hit| hit.confidence),
        folded: ranked.hits.iter().map(|hit| hit.folded).sum(),
        hits: ranked.hits,
        reason: None,
        rows,
    }
}
