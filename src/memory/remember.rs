//! What earlier sessions and people say about a prompt, as facts.

use super::block::{FactSource, RecalledFact, below_home};
use super::everyday_facts::everyday_facts;
use super::excerpt::excerpt;
use super::facts_request::FactsRequest;
use super::memory_groups::workspace_key_now;
use super::named_days::named_days;
use super::places::Places;
use super::query_terms::question;
use super::rank::{CONFIDENT, Near, rank};
use super::recall::{RecallAnswer, RecallQuestion, recall};
use super::rollback_facts::{Audience, fact};
use super::scopes::Scope;
use super::trusted::trusted;
use super::undone_facts::{decided_before, note_undone};
use crate::config::trust::Trust;
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::scope::MemoryScope;
use crate::rules::pointing::points_at_something;
use crate::rules::undoing_hints::may_undo;
use crate::rules::words::{content_words, is_same, tokens};
use crate::store::{Candidates, GitRow, Hit, KEPT, MemoryState, Query, Store, TYPED};
use crate::tracking::rollbacks::sure_reason;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Facts about it: what people promoted, then what sessions say, the best first; none where nothing is
/// certain enough. A few ms over ten thousand episodes.
///
/// # Errors
/// When the store can't be read.
pub fn remember(store: &Store, request: &FactsRequest) -> Result<Vec<RecalledFact>, Error> {
    let whose = request
        .workspace
        .scope(&Places::of(store)?, request.trusted.as_deref());
    let whose = trusted(whose, store, &request.trusts)?;
    let mut facts = promoted(store, request, &whose)?;
    if request.scopes.contains(&MemoryScope::Session) {
        facts.extend(own(store, request, &whose)?);
    }
    let mut everyday = Vec::new();
    if request.scopes.contains(&MemoryScope::Workspace) {
        everyday = everyday_facts(store, request, &whose)?;
        if everyday.is_empty() {
            facts.extend(project(store, request, &whose)?);
        }
    }
    // one of a session: a summary and its chunks say much the same
    let mut seen = BTreeSet::new();
    facts.retain(|fact| {
        let source = fact.source.as_ref();
        let of = source.map(|source| match &source.session {
            Some((_, session)) => session.clone(),
            None => source.episode.to_string(),
        });
        seen.insert(of)
    });
    fold(&mut facts);
    facts.extend(everyday);
    facts.truncate(request.limit);
    note_decisions(store, request, &whose, &mut facts)?;
    // a warning comes first
    let told: BTreeSet<String> = facts.iter().map(|fact| fact.text.clone()).collect();
    facts.splice(0..0, given_up(store, request, &whose, &told)?);
    facts.truncate(request.limit);
    Ok(facts)
}

/// Leaves out what another session says in nearly the same words, which fills the block and tells nothing.
fn fold(facts: &mut Vec<RecalledFact>) {
    let mut told: Vec<String> = Vec::new();
    facts.retain(|fact| {
        let is_promoted = fact
            .source
            .as_ref()
            .is_some_and(|source| source.session.is_none());
        let is_new = is_promoted || told.iter().all(|other| !says_the_same(&fact.text, other));
        told.push(fact.text.clone());
        is_new
    });
}

/// Nearly the same words, and none that only one of them has may take something back: `never` makes it the opposite.
fn says_the_same(text: &str, other: &str) -> bool {
    let all = |text| tokens(text).collect::<BTreeSet<String>>();
    let (own, theirs) = (all(text), all(other));
    let mut differs = own.symmetric_difference(&theirs);
    is_near_equal(&content_words(text), &content_words(other))
        && !differs.any(|word| may_undo(word))
}

/// Four fifths of the words of either are the other's too.
fn is_near_equal(words: &[String], others: &[String]) -> bool {
    let shared = words.iter().filter(|word| others.contains(word)).count();
    shared > 0 && shared * 5 >= words.len().max(others.len()) * 4
}

/// Summaries of operations that are looked at for a rollback.
const SUMMARIES_MAX: u32 = 40;

/// Rollbacks that are told of one question.
const ROLLBACKS_MAX: usize = 1;

/// Decisions that are told of one rollback.
const DECISIONS_MAX: usize = 1;

/// What was given up of the work that the prompt is about, where a session says why, and the decision that
/// led to it, unless one of the texts that are told already says so.
fn given_up(
    store: &Store,
    request: &FactsRequest,
    scope: &Scope,
    told: &BTreeSet<String>,
) -> Result<Vec<RecalledFact>, Error> {
    let is_asked = request.scopes.contains(&MemoryScope::Workspace);
    if !is_asked || !has_operations(store, scope)? {
        return Ok(Vec::new());
    }
    let query = Query {
        sources: vec![EpisodeSource::GitMetadata],
        skips_common: true,
        namespaces: scope.namespaces(),
        limit: SUMMARIES_MAX,
        ..query(request)
    };
    let audience = Audience {
        session: request.session.as_deref(),
        workspace: &request.workspace,
        scope,
        shows_paths: request.shows_paths.as_deref(),
    };
    let mut rows = BTreeMap::new();
    let mut found = rollbacks(store, &query, &mut rows)?;
    if found.all.is_empty() {
        // a prompt has more words than a summary: rarely does one have them all
        let any = Query { any: true, ..query };
        found = rollbacks(store, &any, &mut rows)?;
    }
    let near = Near::default();
    let hits = rank(&found, &near, u32::MAX, true).hits.into_iter();
    let sure = hits.filter(|hit| hit.confidence >= CONFIDENT);
    let mut facts = Vec::new();
    let mut decisions = Vec::new();
    for row in sure.filter_map(|hit| rows.get(&hit.episode)) {
        let fact = fact(store, row, audience)?;
        let Some(fact) = fact.filter(|fact| fact.source.is_some()) else {
            continue;
        };
        facts.push(fact);
        decisions.extend(decided_before(store, row, audience)?);
        if facts.len() == ROLLBACKS_MAX {
            break;
        }
    }
    decisions.retain(|decision| told.iter().all(|told| !told.contains(&decision.text)));
    decisions.truncate(DECISIONS_MAX);
    facts.extend(decisions);
    Ok(facts)
}

/// Something was done to a repository of these.
fn has_operations(store: &Store, whose: &Scope) -> Result<bool, Error> {
    for namespace in whose.namespaces().unwrap_or_default() {
        if store.has_operations(&namespace)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Summaries of rollbacks of which somebody said why; those go into `rows`. Commits that they name
/// are beside them in the index, and no other answer.
fn rollbacks(
    store: &Store,
    query: &Query,
    rows: &mut BTreeMap<Uuid, GitRow>,
) -> Result<Candidates, Error> {
    let mut found = store.candidates(query, None, &[])?;
    for candidate in &found.all {
        let row = store.operation(candidate.hit.episode)?;
        let row = row.filter(|row| row.git.gives_up() && sure_reason(&row.git).is_some());
        rows.extend(row.map(|row| (row.id, row)));
    }
    found
        .all
        .retain(|candidate| rows.contains_key(&candidate.hit.episode));
    Ok(found)
}

/// More than is wanted: some are left out.
const SPARE: u32 = 16;

/// The question, of which nothing says yet where it is asked.
fn query(request: &FactsRequest) -> Query {
    let limit = u32::try_from(request.limit).unwrap_or(u32::MAX);
    question(&request.question, limit.saturating_add(SPARE))
}

/// What is certain enough to be told to somebody who didn't ask for it. Who asks by one word, and is no hook,
/// wants what has it: a word alone is no ground to be surer by.
fn certain(
    store: &Store,
    query: Query,
    whose: &Scope,
    request: &FactsRequest,
) -> Result<RecallAnswer, Error> {
    answered(store, query, whose, request, &|_, is_certain| is_certain)
}

/// The same where `is_told` says which, of a hit and whether it is certain enough.
fn answered(
    store: &Store,
    query: Query,
    whose: &Scope,
    request: &FactsRequest,
    is_told: &dyn Fn(&Hit, bool) -> bool,
) -> Result<RecallAnswer, Error> {
    if query.terms.is_empty() {
        return Ok(RecallAnswer::default());
    }
    let near = Near {
        project: Some(request.workspace.root.clone()),
        days: named_days(&request.question, request.now),
        ..Near::default()
    };
    let query = Query {
        skips_common: true,
        ..query
    };
    let names_a_word = !request.by_hook && query.terms.len() == 1;
    let question = RecallQuestion {
        near,
        ..RecallQuestion::new(query, whose)
    };
    let mut answer = recall(store, &question)?;
    let enough = enough(&request.question, request.by_hook);
    let is_certain = |hit: &Hit| names_a_word || hit.confidence >= enough;
    answer.hits.retain(|hit| is_told(hit, is_certain(hit)));
    Ok(answer)
}

/// The same of a prompt that points at what only its own session has before it.
const CONFIDENT_THOUGH_POINTED: f64 = 0.9;

/// The confidence of what is told.
fn enough(question: &str, by_hook: bool) -> f64 {
    match by_hook && points_at_something(question) {
        true => CONFIDENT_THOUGH_POINTED,
        false => CONFIDENT,
    }
}

/// What the session that asks said and has no longer before it.
fn own(store: &Store, request: &FactsRequest, whose: &Scope) -> Result<Vec<RecalledFact>, Error> {
    let Some(id) = &request.session else {
        return Ok(Vec::new());
    };
    if request.by_hook && !is_compacted(store, id)? {
        return Ok(Vec::new());
    }
    let query = Query {
        session: Some(id.clone()),
        ..query(request)
    };
    // an agent's hook names its own session, wherever that is by now; anybody else could name any
    let whose = match request.by_hook {
        true => trusted(Scope::All, store, &request.trusts)?,
        false => whose.clone(),
    };
    let mut answer = certain(store, query, &whose, request)?;
    answer.hits.retain(|hit| hit.session == *id);
    session_facts(&answer, MemoryScope::Session, store, request)
}

/// Whether a session lost sight of its beginning.
fn is_compacted(store: &Store, session: &str) -> Result<bool, Error> {
    let row = store.session(session)?;
    Ok(row.is_some_and(|row| row.session.facts.compactions > 0))
}

/// What other sessions of the project said.
fn project(
    store: &Store,
    request: &FactsRequest,
    whose: &Scope,
) -> Result<Vec<RecalledFact>, Error> {
    let query = Query {
        not_sources: NOT_SAID.to_vec(),
        ..query(request)
    };
    let mut answer = certain(store, query, whose, request)?;
    let is_own = |hit: &Hit| request.session.as_ref() == Some(&hit.session);
    answer.hits.retain(|hit| !is_own(hit));
    session_facts(&answer, MemoryScope::Workspace, store, request)
}

/// Says in facts of the project's sessions which decisions were undone.
fn note_decisions(
    store: &Store,
    request: &FactsRequest,
    scope: &Scope,
    facts: &mut [RecalledFact],
) -> Result<(), Error> {
    if !has_operations(store, scope)? {
        return Ok(());
    }
    let audience = Audience {
        session: request.session.as_deref(),
        workspace: &request.workspace,
        scope,
        shows_paths: request.shows_paths.as_deref(),
    };
    let words = content_words(&request.question);
    let of_project = |fact: &&mut RecalledFact| fact.scope == MemoryScope::Workspace;
    for fact in facts.iter_mut().filter(of_project) {
        let source = fact.source.as_ref();
        if let Some((_, session)) = source.and_then(|source| source.session.clone()) {
            note_undone(store, &session, &mut fact.text, &words, audience)?;
        }
    }
    Ok(())
}

/// What no session of the project said: memories are asked for by their groups, and what git tells
/// and files hold is the words of whoever wrote them; of git only [`given_up`] is told.
const NOT_SAID: [EpisodeSource; 6] = [
    EpisodeSource::FilesystemWatch,
    EpisodeSource::Text,
    EpisodeSource::Message,
    EpisodeSource::GitMetadata,
    EpisodeSource::GitContext,
    EpisodeSource::GitBulkUpdate,
];

/// Memories that are looked at. More: slower; fewer: those of other projects crowd ours out.
const MEMORIES_MAX: u32 = 200;

/// What was promoted for the user, for the project, or in the session that asks.
fn promoted(
    store: &Store,
    request: &FactsRequest,
    whose: &Scope,
) -> Result<Vec<RecalledFact>, Error> {
    let kept = groups(store, request, whose)?;
    if kept.is_empty() {
        return Ok(Vec::new());
    }
    let query = Query {
        sources: vec![EpisodeSource::Text],
        limit: MEMORIES_MAX,
        ..query(request)
    };
    let asked_about = content_words(&request.question);
    let is_told = |hit: &Hit, is_certain: bool| {
        is_certain || speaks_of(&asked_about, &content_words(&hit.snippet.text))
    };
    let hits = answered(store, query, &Scope::All, request, &is_told)?
        .hits
        .into_iter();
    let ours = hits.filter_map(|hit| Some((*kept.get(&hit.episode)?, hit)));
    let fact = |(scope, hit): (MemoryScope, Hit)| {
        Ok(RecalledFact {
            text: hit.snippet.text.clone(),
            scope,
            source: Some(FactSource {
                session: None,
                shown: store.episode_shown(hit.episode, TYPED)?,
                episode: hit.episode,
                at: hit.valid_at,
                path: None,
                lines: (0, 0),
            }),
        })
    };
    ours.map(fact).collect()
}

/// A memory that is about something else in a question of several words is rarely about half of them: somebody
/// chose its words, and they are few.
fn speaks_of(question: &[String], memory: &[String]) -> bool {
    const QUESTION_WORDS_MIN: usize = 2;
    let shared = memory
        .iter()
        .filter(|word| question.iter().any(|other| is_same(word, other)));
    question.len() >= QUESTION_WORDS_MIN && shared.count() * 2 >= memory.len().max(1)
}

/// The memories that may answer: those in a group of the scopes that are asked.
fn groups(
    store: &Store,
    request: &FactsRequest,
    whose: &Scope,
) -> Result<BTreeMap<Uuid, MemoryScope>, Error> {
    let rows = store.memories(&[MemoryState::Kept])?;
    if rows.is_empty() {
        return Ok(BTreeMap::new());
    }
    let key = workspace_key_now(
        store,
        &request.workspace.namespace(),
        &request.workspace.root,
    )?;
    let mut keys = vec![key];
    // those of a project that moved have the group that it had
    for namespace in whose.namespaces().unwrap_or_default() {
        keys.extend(store.workspace(&namespace)?);
    }
    let of_project: BTreeSet<String> = {
        let groups = keys.iter().map(|key| MemoryScope::Workspace.group(key));
        groups.collect()
    };
    let may = rows.into_iter().filter_map(|row| {
        let scope = MemoryScope::parse(&row.scope)?;
        let kept = row.kept;
        let kept = kept.filter(|kept| request.trusts.of(&kept.project_path) != Trust::Untrusted);
        let group = Some(kept?.group);
        let is_ours = match scope {
            MemoryScope::Session => row.session.is_some() && row.session == request.session,
            MemoryScope::Workspace => group
                .as_ref()
                .is_some_and(|group| of_project.contains(group)),
            MemoryScope::Global => request.user.is_some() && group == request.user,
        };
        (is_ours && request.scopes.contains(&scope)).then_some((row.id, scope))
    });
    Ok(may.collect())
}

/// What each session of an answer says to the question, the best first.
fn session_facts(
    answer: &RecallAnswer,
    scope: MemoryScope,
    store: &Store,
    request: &FactsRequest,
) -> Result<Vec<RecalledFact>, Error> {
    let mut best: Vec<&Hit> = Vec::new();
    for hit in &answer.hits {
        let is_new = best.iter().all(|other| other.session != hit.session);
        if best.len() < request.limit && is_new {
            best.push(hit);
        }
    }
    let mut facts: Vec<RecalledFact> = Vec::new();
    for (nth, hit) in best.iter().enumerate() {
        let chars = request.room.of(nth, best.len());
        facts.extend(session_fact(hit, answer, scope, store, request, chars)?);
    }
    Ok(facts)
}

/// What a session says; `None` where it has no words.
fn session_fact(
    hit: &Hit,
    answer: &RecallAnswer,
    scope: MemoryScope,
    store: &Store,
    request: &FactsRequest,
    chars: usize,
) -> Result<Option<RecalledFact>, Error> {
    let home = request.shows_paths.as_deref();
    let source = FactSource {
        shown: store.session_shown(&hit.session, KEPT)?,
        session: Some((hit.agent, hit.session.clone())),
        episode: hit.episode,
        at: hit.valid_at,
        path: home.map(|home| below_home(&hit.path, home)),
        lines: hit.lines,
    };
    let room = source.room(chars);
    let text = excerpt(store, &hit.session, &answer.hits, &answer.sought, room)?;
    let Some(text) = text else {
        return Ok(None);
    };
    Ok(Some(RecalledFact {
        text,
        scope,
        source: Some(source),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::source::Agent;

    fn fact(session: Option<&str>, text: &str) -> RecalledFact {
        RecalledFact {
            text: text.into(),
            scope: MemoryScope::Workspace,
            source: Some(FactSource {
                session: session.map(|id| (Agent::new("claude"), id.to_owned())),
                shown: String::new(),
                episode: Uuid::nil(),
                at: None,
                path: None,
                lines: (1, 1),
            }),
        }
    }

    #[test]
    fn what_points_at_its_own_session_is_answered_only_where_it_is_sure() {
        let now = "now use the plain style on this document";
        assert!(enough(now, true) > enough(now, false));
        let any = "which document has the plain style?";
        assert_eq!(enough(any, true), CONFIDENT);
    }

    #[test]
    fn what_two_sessions_say_in_nearly_the_same_words_is_told_once() {
        let first = "Redis drops idle clients after 300 seconds, so the pool pings every minute";
        let again =
            "Redis drops idle clients after 300 seconds; the pool pings every single minute";
        let other = "Redis drops idle clients when the pool is closed by the deploy script";
        let opposite =
            "Redis never drops idle clients after 300 seconds, so the pool pings every minute";
        let mut facts = vec![
            fact(Some("a"), first),
            fact(Some("b"), again),
            fact(Some("c"), other),
            fact(Some("d"), opposite),
            fact(None, first),
        ];
        fold(&mut facts);
        let told: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
        assert_eq!(
            told,
            [first, other, opposite, first],
            "what was promoted stays"
        );
    }
}
