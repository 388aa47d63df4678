//! Why something was chosen: the decisions that speak of it, with where they were made.

use super::scopes::Scope;
use super::session_summary::items_of;
use crate::insight::facts::{decided, stated};
use crate::model::error::Error;
use crate::model::summary::{Decision, Sourced};
use crate::model::time::Time;
use crate::rules::words::{is_same, tokens};
use crate::store::{Found, Query, Store, Term};
use std::collections::BTreeSet;

/// A decision that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionMatch {
    /// The session's id.
    pub session: String,
    /// The session's namespace.
    pub namespace: String,
    /// The session's project.
    pub project_path: String,
    /// The log, where it was last seen.
    pub path: String,
    /// When the episode that tells it began.
    pub at: Option<Time>,
    /// What was decided, and where it stands.
    pub decision: Sourced<Decision>,
    /// Words of the question that it has.
    pub words: Vec<String>,
}

/// What answers a question; both with most of the words first, then the latest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionAnswer {
    /// Decisions that have some of the words.
    pub decided: Vec<DecisionMatch>,
    /// What people stated besides, with at least half of the words.
    pub said: Vec<DecisionMatch>,
}

/// Episodes that are looked through. More: a common word costs a second.
const EPISODES_MAX: u32 = 400;

/// Decisions that have some of these words, and what else people said of them. `query` has the filters;
/// sessions are looked through whose episodes have the words.
///
/// # Errors
/// When the store can't be read.
pub fn reasons(
    store: &Store,
    words: &[String],
    query: Query,
    scope: &Scope,
) -> Result<DecisionAnswer, Error> {
    let terms = words.iter().map(|word| Term {
        text: word.clone(),
        ..Term::default()
    });
    let query = Query {
        terms: terms.collect(),
        any: true,
        limit: EPISODES_MAX,
        namespaces: scope.namespaces(),
        ..query
    };
    let hits = store.search(&query)?;
    let sessions: BTreeSet<String> = hits.into_iter().map(|hit| hit.session).collect();
    let mut answer = DecisionAnswer::default();
    for session in sessions {
        let episodes = store.episodes(&session)?;
        let items = items_of(store, &episodes)?;
        let lines = items.lines();
        let speaks = |decision: Sourced<Decision>, least: usize| {
            let matched = matches(&decision.what, words);
            let found = episodes.iter().find(|f| f.episode.id == decision.episode);
            let found = found.filter(|_| matched.len() >= least)?;
            Some(reason(decision, matched, found))
        };
        let decided = decided(&lines);
        let mut said = stated(&lines);
        // a sentence that is a decision, too, is shown as one
        said.retain(|said| {
            decided
                .iter()
                .all(|d| d.what.decision != said.what.decision)
        });
        answer.decided.extend(
            decided
                .into_iter()
                .filter_map(|decision| speaks(decision, 1)),
        );
        // what was only said proves less: one shared word would be chance
        let half = words.len().div_ceil(2);
        answer.said.extend(
            said.into_iter()
                .filter_map(|decision| speaks(decision, half)),
        );
    }
    let order = |a: &DecisionMatch, b: &DecisionMatch| {
        b.words.len().cmp(&a.words.len()).then(b.at.cmp(&a.at))
    };
    answer.decided.sort_by(order);
    answer.said.sort_by(order);
    answer.said.truncate(SAID_MAX);
    Ok(answer)
}

/// More: a search finds them.
const SAID_MAX: usize = 5;

fn reason(decision: Sourced<Decision>, words: Vec<String>, found: &Found) -> DecisionMatch {
    DecisionMatch {
        session: found.session.clone(),
        namespace: found.namespace.clone(),
        project_path: found.project_path.clone(),
        path: found.path.clone(),
        at: found.episode.valid_at,
        decision,
        words,
    }
}

/// Which of the words stand in a decision, or something that begins like one of them.
fn matches(decision: &Decision, words: &[String]) -> Vec<String> {
    let parts = [
        Some(&decision.decision),
        decision.about.as_ref(),
        decision.instead_of.as_ref(),
    ];
    let present: BTreeSet<String> = parts
        .into_iter()
        .flatten()
        .flat_map(|t| tokens(t))
        .collect();
    let is_present = |word: &&String| present.iter().any(|present| is_same(present, word));
    words.iter().filter(is_present).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::words::content_words;

    #[test]
    fn a_word_is_found_with_its_ending_and_no_other_word_is() {
        let decision = Decision {
            decision: "Let's keep sessions in Redis".into(),
            instead_of: Some("signed cookies".into()),
            ..Decision::default()
        };
        let count = |question: &str| matches(&decision, &content_words(question)).len();
        assert_eq!(count("redis session cookie"), 3);
        assert_eq!(count("red keyboard"), 0);
    }
}
