//! What was found, a session at a time: a session's summary and its parts are one answer.

use super::recall::{RecallAnswer, RecallQuestion, recall};
use crate::model::episode::EpisodeSource;
use crate::store::{Hit, Result, Store};
use std::collections::BTreeMap;

/// What was found, one hit for each session.
#[derive(Clone, Debug, Default)]
pub struct SessionAnswer {
    /// With the best hit of each session.
    pub answer: RecallAnswer,
    /// How many hits of a session are left out for its best, in the order of the answer's.
    pub more: Vec<u32>,
}

/// Asks until there are as many sessions as the question's limit says, or no more hits.
///
/// # Errors
/// When the store can't be read.
pub fn recall_sessions(store: &Store, question: &RecallQuestion<'_>) -> Result<SessionAnswer> {
    let wanted = question.query.limit;
    let mut question = question.clone();
    question.query.limit = wanted.saturating_mul(2);
    loop {
        let answer = recall(store, &question)?;
        let asked = question.query.limit;
        let is_all = (answer.hits.len() as u64) < u64::from(asked) || asked == u32::MAX;
        let found = grouped(answer);
        if is_all || found.more.len() as u64 >= u64::from(wanted) {
            return Ok(cut(found, wanted as usize));
        }
        question.query.limit = asked.saturating_mul(4);
    }
}

/// Every hit for itself.
pub fn ungrouped(answer: RecallAnswer) -> SessionAnswer {
    let more = vec![0; answer.hits.len()];
    SessionAnswer { answer, more }
}

fn cut(mut found: SessionAnswer, limit: usize) -> SessionAnswer {
    found.answer.hits.truncate(limit);
    found.more.truncate(limit);
    found
}

fn grouped(mut answer: RecallAnswer) -> SessionAnswer {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut more: Vec<u32> = Vec::new();
    let mut hits: Vec<Hit> = Vec::with_capacity(answer.hits.len());
    for hit in std::mem::take(&mut answer.hits) {
        if !is_of_a_talk(&hit) {
            hits.push(hit);
            more.push(0);
            continue;
        }
        match seen.get(&hit.session) {
            Some(first) => more[*first] += 1,
            None => {
                seen.insert(hit.session.clone(), hits.len());
                hits.push(hit);
                more.push(0);
            }
        }
    }
    answer.hits = hits;
    SessionAnswer { answer, more }
}

/// A part of a session, or what sums it up.
pub fn is_of_a_talk(hit: &Hit) -> bool {
    let is_talk = [EpisodeSource::Session, EpisodeSource::SessionSummary].contains(&hit.source);
    is_talk && !hit.session.is_empty()
}
