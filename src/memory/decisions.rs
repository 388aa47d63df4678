//! Why something was chosen: the decisions that speak of it, with where they were made.

use super::scopes::Scope;
use super::session_summary::items_of;
use crate::insight::facts::{decided, stated, stated_by_agent};
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::git::GitOperation;
use crate::model::summary::{Decision, Sourced};
use crate::model::time::Time;
use crate::rules::commit_words::tells;
use crate::rules::words::{is_same, tokens};
use crate::store::{Found, GitRow, Query, Store, Term};
use crate::tracking::decision_links::{UndoneDecision, sessions_behind, undone_of};
use crate::tracking::git_history::{OperationMatch, undoing};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

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
    /// Words of the question that it has, or the work that it led to and that was given up.
    pub words: Vec<String>,
    /// What became of the work that it led to, where that was given up.
    pub undone: Option<UndoneDecision>,
}

/// What answers a question; each list with most of the words first, then the latest. All of it has at least
/// half of the words that say what the question is about: one word of several would be chance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionAnswer {
    /// What people decided.
    pub decided: Vec<DecisionMatch>,
    /// What agents say that they chose themselves. The second rank: nobody asked them to.
    pub by_agents: Vec<DecisionMatch>,
    /// What people stated besides.
    pub said: Vec<DecisionMatch>,
    /// Operations that gave up work which has the words, or of which somebody said with them why; without
    /// those that a decision tells.
    pub given_up: Vec<OperationMatch>,
}

impl DecisionAnswer {
    /// Nobody chose anything, neither people nor agents, and nothing was given up.
    pub fn is_undecided(&self) -> bool {
        self.decided.is_empty() && self.by_agents.is_empty() && self.given_up.is_empty()
    }

    /// At most so many in all, people's decisions before what stands behind them.
    pub fn truncate(&mut self, limit: usize) {
        let mut left = limit;
        for list in [&mut self.decided, &mut self.by_agents, &mut self.said] {
            list.truncate(left);
            left -= list.len();
        }
        self.given_up.truncate(left);
    }

    /// What stands behind people's decisions, each list under its heading; none that is empty.
    pub fn behind(&self) -> impl Iterator<Item = (&'static str, &[DecisionMatch])> {
        let lists = [
            ("chosen by the agent:", self.by_agents.as_slice()),
            ("said, not decided:", self.said.as_slice()),
        ];
        lists.into_iter().filter(|(_, list)| !list.is_empty())
    }
}

/// Episodes that are looked through. More: a common word costs a second.
const EPISODES_MAX: u32 = 400;

/// Decisions that have these words, and what else people said of them. `query` has the filters;
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
    let mut answer = said_about(store, words, &query)?;
    let mut undone = UndoneBySession::default();
    for found in answer.decided.iter_mut().take(UNDONE_LOOKED_FOR) {
        let all = undone.of(store, &found.session)?;
        let same = |one: &&UndoneDecision| one.decision == found.decision;
        found.undone = all.iter().find(same).cloned();
    }
    let rows = given_up_about(store, words, &query)?;
    let more = given_up(store, &rows, &query, &answer.decided, &mut undone)?;
    answer.decided.extend(more);
    answer.decided.sort_by(order);
    let told = answer.decided.iter().filter_map(|one| one.undone.as_ref());
    let told: BTreeSet<Uuid> = told.map(|undone| undone.by.id).collect();
    let rows = rows.iter().filter(|(row, _)| !told.contains(&row.id));
    for (row, _) in rows.take(GIVEN_UP_MAX) {
        answer.given_up.push(undoing(store, row)?);
    }
    Ok(answer)
}

/// Decisions of which it is asked what became of their work.
const UNDONE_LOOKED_FOR: usize = 40;

/// Undone decisions of sessions that were asked for.
#[derive(Default)]
struct UndoneBySession(BTreeMap<String, Vec<UndoneDecision>>);

impl UndoneBySession {
    fn of(&mut self, store: &Store, session: &str) -> Result<&[UndoneDecision], Error> {
        if !self.0.contains_key(session) {
            let all = undone_of(store, session)?;
            self.0.insert(session.to_owned(), all);
        }
        Ok(self.0.get(session).map(Vec::as_slice).unwrap_or_default())
    }
}

/// Most words first, then the latest.
fn order(a: &DecisionMatch, b: &DecisionMatch) -> Ordering {
    b.words.len().cmp(&a.words.len()).then(b.at.cmp(&a.at))
}

/// What sessions say whose episodes have the words.
fn said_about(store: &Store, words: &[String], query: &Query) -> Result<DecisionAnswer, Error> {
    let hits = store.search(query)?;
    let sessions: BTreeSet<String> = hits.into_iter().map(|hit| hit.session).collect();
    let mut answer = DecisionAnswer::default();
    for session in sessions {
        let episodes = store.episodes(&session)?;
        let items = items_of(store, &episodes)?;
        let lines = items.lines();
        let speaks = |decision: Sourced<Decision>| {
            let matched = matches(&decision.what, words);
            let found = episodes.iter().find(|f| f.episode.id == decision.episode);
            let found = found.filter(|_| is_answer(&matched, words))?;
            Some(reason(decision, matched, found))
        };
        let decided = decided(&lines);
        let by_agent = stated_by_agent(&lines, &decided);
        let mut said = stated(&lines);
        // a sentence that is a decision, too, is shown as one
        said.retain(|said| {
            decided
                .iter()
                .all(|d| d.what.decision != said.what.decision)
        });
        answer
            .decided
            .extend(decided.into_iter().filter_map(speaks));
        answer
            .by_agents
            .extend(by_agent.into_iter().filter_map(speaks));
        answer.said.extend(said.into_iter().filter_map(speaks));
    }
    answer.decided.sort_by(order);
    for list in [&mut answer.by_agents, &mut answer.said] {
        list.sort_by(order);
        list.truncate(SAID_MAX);
    }
    Ok(answer)
}

/// Summaries of operations that are looked at.
const OPERATIONS_MAX: u32 = 40;
/// Operations that are told by themselves.
const GIVEN_UP_MAX: usize = 5;

/// Operations that gave up work, where that, or the words that say why, answers; with the words.
fn given_up_about(
    store: &Store,
    words: &[String],
    query: &Query,
) -> Result<Vec<(GitRow, Vec<String>)>, Error> {
    let operations = Query {
        sources: vec![EpisodeSource::GitMetadata],
        agent: None,
        limit: OPERATIONS_MAX,
        ..query.clone()
    };
    let mut found = Vec::new();
    for hit in store.search(&operations)? {
        let row = store.operation(hit.episode)?;
        let Some(row) = row.filter(|row| row.git.gives_up()) else {
            continue;
        };
        let matched = matches_work(&row.git, words);
        if is_answer(&matched, words) {
            found.push((row, matched));
        }
    }
    Ok(found)
}

/// Decisions that led to work that was given up with these operations; without those that are `known`.
fn given_up(
    store: &Store,
    rows: &[(GitRow, Vec<String>)],
    query: &Query,
    known: &[DecisionMatch],
    undone: &mut UndoneBySession,
) -> Result<Vec<DecisionMatch>, Error> {
    let mut found: Vec<DecisionMatch> = Vec::new();
    for (row, matched) in rows {
        for session in sessions_behind(store, row)? {
            let behind = undone.of(store, &session)?.iter();
            let behind: Vec<_> = behind.filter(|one| one.by.id == row.id).collect();
            for one in behind {
                let is_known = |told: &DecisionMatch| told.decision == one.decision;
                if known.iter().chain(&found).any(is_known) {
                    continue;
                }
                let episode = store.episode(&one.decision.episode.to_string())?;
                let Some(episode) = episode.filter(|_| is_let_through(store, query, &session))
                else {
                    continue;
                };
                let told = reason(one.decision.clone(), matched.clone(), &episode);
                found.push(DecisionMatch {
                    undone: Some(one.clone()),
                    ..told
                });
            }
        }
    }
    Ok(found)
}

/// A session passes the filters of a query.
fn is_let_through(store: &Store, query: &Query, session: &str) -> bool {
    let query = Query {
        terms: Vec::new(),
        session: Some(session.to_owned()),
        limit: 1,
        ..query.clone()
    };
    store.search(&query).is_ok_and(|hits| !hits.is_empty())
}

/// Half at least of the words that say what a question is about; where none does, of all.
fn is_answer(matched: &[String], words: &[String]) -> bool {
    let about = |words: &[String]| words.iter().filter(|word| tells(word)).count();
    let (has, of) = match about(words) {
        0 => (matched.len(), words.len()),
        of => (about(matched), of),
    };
    has > 0 && has >= of.div_ceil(2)
}

/// Which of the words stand in what was given up, or in the sentence that says why.
fn matches_work(git: &GitOperation, words: &[String]) -> Vec<String> {
    let subjects = git.effect.lost.iter().map(|commit| commit.subject.as_str());
    let files = git.effect.files.iter().map(|file| file.path.as_str());
    let reason = git.reason.iter().map(|reason| reason.sentence.as_str());
    let parts = subjects.chain(files).chain(reason);
    let told: BTreeSet<String> = parts.flat_map(tokens).collect();
    let is_told = |word: &&String| told.iter().any(|told| is_same(told, word));
    words.iter().filter(is_told).cloned().collect()
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
        undone: None,
    }
}

/// Which of the words stand in a decision, or something that begins like one of them.
fn matches(decision: &Decision, words: &[String]) -> Vec<String> {
    let parts = [
        Some(&decision.decision),
        decision.about.as_ref(),
        decision.instead_of.as_ref(),
    ];
    // what an address is made of says nothing about it
    let words_of = |part: &'_ str| -> Vec<String> {
        let plain = part.split_whitespace().filter(|word| !word.contains("://"));
        plain.flat_map(tokens).collect()
    };
    let present: BTreeSet<String> = parts
        .into_iter()
        .flatten()
        .flat_map(|part| words_of(part))
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
        let linked = Decision {
            decision: "Review https://trails.example/4/redis-is-faster please".into(),
            ..Decision::default()
        };
        assert_eq!(matches(&linked, &content_words("redis")).len(), 0);
        assert_eq!(count("redis session cookie"), 3);
        assert_eq!(count("red keyboard"), 0);
    }

    #[test]
    fn what_shares_one_word_of_several_is_no_answer() {
        let answers = |question: &str, matched: &[&str]| {
            let matched: Vec<String> = matched.iter().map(|word| (*word).to_owned()).collect();
            is_answer(&matched, &content_words(question))
        };
        for (question, matched, wants) in [
            ("why redis", vec!["redis"], true),
            (
                "why did we undo the FullSchema change",
                vec!["change"],
                false,
            ),
            (
                "why did we undo the FullSchema change",
                vec!["fullschema"],
                true,
            ),
            (
                "why was the CRDT commit reverted",
                vec!["commit", "reverted"],
                false,
            ),
            (
                "why was the workspace hard-coded in core",
                vec!["workspace"],
                false,
            ),
            (
                "why was the workspace hard-coded in core",
                vec!["workspace", "core"],
                true,
            ),
            ("why reverted", vec!["reverted"], true),
        ] {
            assert_eq!(
                answers(question, &matched),
                wants,
                "{question}: {matched:?}"
            );
        }
    }
}
