//! What earlier sessions and people say about a prompt, as facts. Knows scopes and when to be silent;
//! refuses to rank (`recall`) and to know what a block looks like (`block`).

use super::block::{Fact, Source, below_home};
use super::groups::workspace_key_now;
use super::query::question;
use super::rank::{CONFIDENT, Near, rank};
use super::recall::{Question, recall};
use super::rollback_facts::{Audience, fact};
use super::scope::Scope;
use super::trusted::trusted;
use super::workspace::Workspace;
use crate::config::trust::{Trust, Trusts};
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::scope::MemoryScope;
use crate::store::{Candidates, GitRow, Hit, KEPT, MemoryState, Query, Store, TYPED};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// What is asked, and where.
#[derive(Clone, Debug)]
pub struct Asked {
    /// In a person's words.
    pub question: String,
    /// The session that asks.
    pub session: Option<String>,
    /// It asks by itself: what it said since it was last compacted is still before it.
    pub by_hook: bool,
    /// Where it works.
    pub workspace: Workspace,
    /// `trusted_namespaces`.
    pub trusted: Option<Vec<String>>,
    /// Whom the agents trust.
    pub trusts: Trusts,
    /// The group of the user's own memories; `None`: nobody said who the user is.
    pub user: Option<String>,
    /// Which memories are asked.
    pub scopes: BTreeSet<MemoryScope>,
    /// Facts that are wanted.
    pub limit: usize,
    /// Paths of logs are told, those in this folder as `~`.
    pub shows_paths: Option<String>,
}

/// Facts about it: what people promoted, then what sessions say, the best first; none where nothing is
/// certain enough. A few ms over ten thousand episodes.
///
/// # Errors
/// When the store can't be read.
pub fn remember(store: &Store, asked: &Asked) -> Result<Vec<Fact>, Error> {
    let mut facts = promoted(store, asked)?;
    if asked.scopes.contains(&MemoryScope::Session) {
        facts.extend(own(store, asked)?);
    }
    if asked.scopes.contains(&MemoryScope::Workspace) {
        facts.extend(project(store, asked)?);
    }
    // one of a session: a page and its chunks say much the same
    let mut seen = BTreeSet::new();
    facts.retain(|fact| {
        let source = fact.source.as_ref();
        let of = source.map(|source| match &source.session {
            Some((_, session)) => session.clone(),
            None => source.episode.to_string(),
        });
        seen.insert(of)
    });
    // a warning comes first
    facts.splice(0..0, given_up(store, asked)?);
    facts.truncate(asked.limit);
    Ok(facts)
}

/// Summaries of operations that are looked at for a rollback.
const SUMMARIES_MAX: u32 = 40;

/// Rollbacks that are told of one question.
const ROLLBACKS_MAX: usize = 1;

/// What was given up of the work that the prompt is about, where a session says why.
fn given_up(store: &Store, asked: &Asked) -> Result<Vec<Fact>, Error> {
    let is_asked = asked.scopes.contains(&MemoryScope::Workspace);
    if !is_asked || !store.has_operations(&asked.workspace.namespace())? {
        return Ok(Vec::new());
    }
    let query = Query {
        project: asked.workspace.project(),
        sources: vec![EpisodeSource::GitMetadata],
        telling: true,
        ..query(asked)
    };
    let root = Some(asked.workspace.root.as_str());
    let scope = trusted(whose(asked), root, store, &asked.trusts)?;
    let query = Query {
        namespaces: scope.namespaces(),
        limit: SUMMARIES_MAX,
        ..query
    };
    let audience = Audience {
        session: asked.session.as_deref(),
        workspace: &asked.workspace,
        scope: &scope,
        shows_paths: asked.shows_paths.as_deref(),
    };
    let mut told = BTreeMap::new();
    let mut found = rollbacks(store, &query, &mut told)?;
    if found.all.is_empty() {
        let any = Query { any: true, ..query };
        found = rollbacks(store, &any, &mut told)?;
    }
    let near = Near::default();
    let hits = rank(&found, &near, u32::MAX, true).hits.into_iter();
    let sure = hits.filter(|hit| hit.confidence >= CONFIDENT);
    let mut facts = Vec::new();
    for row in sure.filter_map(|hit| told.get(&hit.episode)) {
        let fact = fact(store, row, audience)?;
        facts.extend(fact.filter(|fact| fact.source.is_some()));
    }
    facts.truncate(ROLLBACKS_MAX);
    Ok(facts)
}

/// Summaries of rollbacks of which somebody said why; those are noted in `told`. Commits that they name
/// are beside them in the index, and no other answer.
fn rollbacks(
    store: &Store,
    query: &Query,
    told: &mut BTreeMap<Uuid, GitRow>,
) -> Result<Candidates, Error> {
    let mut found = store.candidates(query, None, &[])?;
    for candidate in &found.all {
        let row = store.operation(candidate.hit.episode)?;
        let row = row.filter(|row| row.git.gives_up() && row.git.reason.is_some());
        told.extend(row.map(|row| (row.id, row)));
    }
    found
        .all
        .retain(|candidate| told.contains_key(&candidate.hit.episode));
    Ok(found)
}

/// More than is wanted: some are left out.
const SPARE: u32 = 16;

/// The question, of which nothing says yet where it is asked.
fn query(asked: &Asked) -> Query {
    let limit = u32::try_from(asked.limit).unwrap_or(u32::MAX);
    question(&asked.question, limit.saturating_add(SPARE))
}

/// What is certain enough to be told to somebody who didn't ask for it.
fn certain(store: &Store, query: Query, whose: &Scope, asked: &Asked) -> Result<Vec<Hit>, Error> {
    if query.terms.is_empty() {
        return Ok(Vec::new());
    }
    let near = Near {
        project: Some(asked.workspace.root.clone()),
        ..Near::default()
    };
    let query = Query {
        telling: true,
        ..query
    };
    let question = Question {
        near,
        ..Question::new(query, whose)
    };
    let mut hits = recall(store, &question)?.hits;
    hits.retain(|hit| hit.confidence >= CONFIDENT);
    Ok(hits)
}

/// What the session that asks said and has no longer before it.
fn own(store: &Store, asked: &Asked) -> Result<Vec<Fact>, Error> {
    let Some(id) = &asked.session else {
        return Ok(Vec::new());
    };
    if asked.by_hook && !is_compacted(store, id)? {
        return Ok(Vec::new());
    }
    let mut query = Query {
        session: Some(id.clone()),
        ..query(asked)
    };
    // an agent's hook names its own session, wherever that is by now; anybody else could name any
    let mut whose = Scope::All;
    if !asked.by_hook {
        query.project = asked.workspace.project();
        whose = self::whose(asked);
    }
    let whose = trusted(whose, None, store, &asked.trusts)?;
    let hits = certain(store, query, &whose, asked)?.into_iter();
    let own = hits.filter(|hit| hit.session == *id);
    own.map(|hit| told(hit, MemoryScope::Session, store, asked))
        .collect()
}

/// Whether a session lost sight of its beginning.
fn is_compacted(store: &Store, session: &str) -> Result<bool, Error> {
    let row = store.session(session)?;
    Ok(row.is_some_and(|row| row.session.facts.compactions > 0))
}

/// The project's own sessions.
fn whose(asked: &Asked) -> Scope {
    asked.workspace.scope(asked.trusted.as_deref())
}

/// What other sessions of the project said.
fn project(store: &Store, asked: &Asked) -> Result<Vec<Fact>, Error> {
    let query = Query {
        project: asked.workspace.project(),
        not_sources: NOT_SAID.to_vec(),
        ..query(asked)
    };
    let whose = trusted(
        whose(asked),
        Some(&asked.workspace.root),
        store,
        &asked.trusts,
    )?;
    let hits = certain(store, query, &whose, asked)?.into_iter();
    let others = hits.filter(|hit| asked.session.as_ref() != Some(&hit.session));
    others
        .map(|hit| told(hit, MemoryScope::Workspace, store, asked))
        .collect()
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
fn promoted(store: &Store, asked: &Asked) -> Result<Vec<Fact>, Error> {
    let kept = groups(store, asked)?;
    if kept.is_empty() {
        return Ok(Vec::new());
    }
    let query = Query {
        sources: vec![EpisodeSource::Text],
        limit: MEMORIES_MAX,
        ..query(asked)
    };
    let hits = certain(store, query, &Scope::All, asked)?.into_iter();
    let ours = hits.filter_map(|hit| Some((*kept.get(&hit.episode)?, hit)));
    let fact = |(scope, hit): (MemoryScope, Hit)| {
        Ok(Fact {
            text: hit.snippet.text.clone(),
            scope,
            source: Some(Source {
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

/// The memories that may answer: those in a group of the scopes that are asked.
fn groups(store: &Store, asked: &Asked) -> Result<BTreeMap<Uuid, MemoryScope>, Error> {
    let rows = store.memories(&[MemoryState::Kept])?;
    if rows.is_empty() {
        return Ok(BTreeMap::new());
    }
    let key = workspace_key_now(store, &asked.workspace.namespace(), &asked.workspace.root)?;
    let workspace = MemoryScope::Workspace.group(&key);
    let may = rows.into_iter().filter_map(|row| {
        let scope = MemoryScope::parse(&row.scope)?;
        let kept = row.kept;
        let kept = kept.filter(|kept| asked.trusts.of(&kept.project_path) != Trust::Untrusted);
        let group = Some(kept?.group);
        let is_ours = match scope {
            MemoryScope::Session => row.session.is_some() && row.session == asked.session,
            MemoryScope::Workspace => group.as_ref() == Some(&workspace),
            MemoryScope::Global => asked.user.is_some() && group == asked.user,
        };
        (is_ours && asked.scopes.contains(&scope)).then_some((row.id, scope))
    });
    Ok(may.collect())
}

/// What an episode says.
fn told(hit: Hit, scope: MemoryScope, store: &Store, asked: &Asked) -> Result<Fact, Error> {
    let snippet = &hit.snippet;
    let (before, after) = (dots(snippet.cut_before), dots(snippet.cut_after));
    let told = match hit.source {
        EpisodeSource::SessionSummary => on_one_line(&snippet.text, before),
        _ => format!("{before}{}", snippet.text.trim_start()),
    };
    let told = format!("{}{after}", told.trim_end());
    let title = hit.session_title.as_deref().unwrap_or(&hit.title);
    let text = match told.contains(title) || title.is_empty() {
        true => told,
        false => format!("{title}: {told}"),
    };
    let home = asked.shows_paths.as_deref();
    Ok(Fact {
        text,
        scope,
        source: Some(Source {
            shown: store.session_shown(&hit.session, KEPT)?,
            session: Some((hit.agent, hit.session)),
            episode: hit.episode,
            at: hit.valid_at,
            path: home.map(|home| below_home(&hit.path, home)),
            lines: hit.lines,
        }),
    })
}

/// A page, or a part of it behind `before`: without its head and emphasis.
fn on_one_line(page: &str, before: &str) -> String {
    let told = page.replace("## Result ", "→ ").replace("**", "");
    let said = match told.split_once("## Objective ") {
        Some((_, said)) => said.to_owned(),
        None => format!("{before}{}", told.trim_start()),
    };
    said.replace("## ", "; ")
}

fn dots(cut: bool) -> &'static str {
    if cut { "…" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_on_one_line_begins_with_what_was_asked() {
        let page = "**Activity Profile**: fixing (1.0) **Outcome**: completed  ## Objective mend it  \
            ## Result it **works**  ## Commits - 1a2b3c4 mend";
        let told = "mend it  → it works  ; Commits - 1a2b3c4 mend";
        assert_eq!(on_one_line(page, ""), told);
        let part = " middle  ## Result it works";
        assert_eq!(on_one_line(part, "…"), "…middle  → it works");
    }
}
