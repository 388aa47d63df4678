//! Asking the store: the question as typed, then more loosely, the best first.

use super::excerpt::Sought;
use super::rank::Near;
use super::rank_fusion::fuse;
use super::rank_weights::TermWeights;
use super::scopes::Scope;
use crate::model::embedding::Meaning;
use crate::model::episode::EpisodeSource;
use crate::model::time::Time;
use crate::store::{Candidates, Hit, Keeps, Nearest, Query, Result, Store};

/// What is asked, by whom, and where.
#[derive(Clone)]
pub struct RecallQuestion<'a> {
    /// Terms, filters and limit ([`super::query_terms`] makes them). With `any`, one term is enough at once.
    pub query: Query,
    /// Whose projects may answer.
    pub scope: &'a Scope,
    /// Which episodes may, by the work that they tell of.
    pub keeps: Option<&'a Keeps<'a>>,
    /// Where it is asked: what is from there comes first.
    pub near: Near,
    /// What was known then: episodes that had begun.
    pub as_of: Option<Time>,
    /// What it means: episodes that mean it too are found without any of its words. `None`: words
    /// alone count.
    pub meaning: Option<Meaning>,
}

impl<'a> RecallQuestion<'a> {
    /// Asked nowhere in particular, of the present.
    pub fn new(query: Query, scope: &'a Scope) -> RecallQuestion<'a> {
        RecallQuestion {
            query,
            scope,
            keeps: None,
            near: Near::default(),
            as_of: None,
            meaning: None,
        }
    }
}

/// What is left of being sure of another project's session where the question is asked in one and all may answer:
/// few questions are about another project, and words of everyday work are in each.
const ELSEWHERE: f64 = 0.7;

impl RecallQuestion<'_> {
    fn is_elsewhere(&self, hit: &Hit) -> bool {
        let asks_all = *self.scope == Scope::All && self.query.session.is_none();
        asks_all && self.near.project.is_some() && !self.near.is_here(&hit.project_path)
    }
}

/// What was found, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecallAnswer {
    /// The best first.
    pub hits: Vec<Hit>,
    /// No episode has all terms; these have some.
    pub loosened: bool,
    /// Why nothing was looked for.
    pub reason: Option<&'static str>,
    /// From 0 to 1: how sure it is that the best of them answers; 0 where no words were asked for, or
    /// none of them is there.
    pub confidence: f64,
    /// Episodes that tell what hits tell, and are left out for it.
    pub folded: u32,
    /// Rows of the full-text index that were counted or ranked.
    pub rows: u64,
    /// Vectors that were compared.
    pub compared: u64,
    /// What an excerpt of a hit is chosen by.
    pub sought: Sought,
}

impl RecallAnswer {
    /// It is sure enough to be shown to somebody who didn't ask
    /// ([`CONFIDENT`](super::rank::CONFIDENT)).
    pub fn is_confident(&self) -> bool {
        self.confidence >= super::rank::CONFIDENT
    }
}

/// Candidates that are ranked for each hit that is wanted, and at least so many. More: slower, each
/// costs its text; fewer: what the index ranks low has no chance.
const CANDIDATES_PER_HIT: u32 = 3;
const CANDIDATES_MIN: u32 = 40;
/// Of these, by meaning. More: each is compared with each for copies.
const NEAREST_MAX: u32 = 100;

/// Searches: for episodes with all terms, and when there is none, with any. Without terms: the
/// latest that the filters let through. Some ms over ten thousand episodes.
///
/// # Errors
/// When the store can't be read.
pub fn recall(store: &Store, question: &RecallQuestion<'_>) -> Result<RecallAnswer> {
    if let Scope::Nothing(reason) = question.scope {
        return Ok(RecallAnswer {
            reason: Some(reason),
            ..RecallAnswer::default()
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
        return Ok(RecallAnswer {
            hits,
            ..RecallAnswer::default()
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
    let nearest = match &question.meaning {
        Some(meaning) => {
            query.limit = query.limit.min(NEAREST_MAX);
            store.nearest(&query, meaning, question.keeps, &found.all)?
        }
        None => Nearest::default(),
    };
    let compared = nearest.compared;
    Ok(RecallAnswer {
        rows,
        compared,
        ..answer(found, nearest, question, loosens)
    })
}

fn answer(
    found: Candidates,
    nearest: Nearest,
    question: &RecallQuestion<'_>,
    loosened: bool,
) -> RecallAnswer {
    // who asks one session wants each of its chunks
    let folds = question.query.session.is_none();
    let loosened = loosened && !found.all.is_empty();
    let sought = Sought {
        weights: TermWeights::new(&found.documents, found.episodes).weights,
        terms: found.terms.clone(),
    };
    let mut hits = fuse(found, nearest, &question.near, question.query.limit, folds);
    for hit in hits.iter_mut().filter(|hit| question.is_elsewhere(hit)) {
        hit.confidence *= ELSEWHERE;
    }
    RecallAnswer {
        loosened: loosened && !hits.is_empty(),
        confidence: hits.first().map_or(0.0, |hit| hit.confidence),
        folded: hits.iter().map(|hit| hit.folded).sum(),
        hits,
        sought,
        ..RecallAnswer::default()
    }
}
