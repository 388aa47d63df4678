//! What the store says to questions of every day: what was done last time, how something is usually done here,
//! where something was set. Nothing where sessions don't tell it.

use super::block::{FactSource, RecalledFact, below_home};
use super::facts_request::FactsRequest;
use super::query_terms::question;
use super::scopes::Scope;
use super::session_start::{SessionStart, last_session_facts};
use super::session_summary::items_of;
use crate::insight::patterns::{UsualCommand, UsualWay};
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::finding::Finding;
use crate::model::scope::MemoryScope;
use crate::model::time::Time;
use crate::rules::everyday::{EverydayQuestion, everyday, subject};
use crate::rules::words::{is_same, tokens};
use crate::store::{Found, KEPT, Query, Store};
use std::collections::BTreeSet;

/// Episodes that are looked through for commands. More: a hook takes longer.
const EPISODES_MAX: u32 = 120;

/// Sessions that are looked through for what they set, the last ones that say it.
const SESSIONS_MAX: usize = 6;

/// Ways, or settings, that are told.
const TOLD_MAX: usize = 3;

/// Facts that answer; nothing where the question is another one, or nothing tells it. Some ms.
///
/// # Errors
/// When the store can't be read.
pub fn everyday_facts(
    store: &Store,
    request: &FactsRequest,
    scope: &Scope,
) -> Result<Vec<RecalledFact>, Error> {
    match everyday(&request.question) {
        None => Ok(Vec::new()),
        Some(EverydayQuestion::LastTime) => last_time(store, request, scope),
        Some(EverydayQuestion::UsualWay(what)) => usual_way(store, request, scope, &what),
        Some(EverydayQuestion::WhereSet(what)) => where_set(store, request, scope, &what),
    }
}

fn last_time(
    store: &Store,
    request: &FactsRequest,
    scope: &Scope,
) -> Result<Vec<RecalledFact>, Error> {
    let start = SessionStart {
        session: request.session.clone(),
        now: request.now,
        workspace: request.workspace.clone(),
        trusted: request.trusted.clone(),
        trusts: request.trusts.clone(),
        shows_paths: request.shows_paths.clone(),
    };
    last_session_facts(store, &start, scope)
}

fn usual_way(
    store: &Store,
    request: &FactsRequest,
    scope: &Scope,
    what: &str,
) -> Result<Vec<RecalledFact>, Error> {
    let about = subject(what);
    let mut way = UsualWay::new(about.clone());
    let query = said(&about, EpisodeSource::Session, EPISODES_MAX, scope);
    if query.terms.is_empty() {
        return Ok(Vec::new());
    }
    for hit in store.search(&query)? {
        let found: Vec<Found> = store
            .episode(&hit.episode.to_string())?
            .into_iter()
            .collect();
        let items = items_of(store, &found)?;
        way.add(&hit.session, hit.valid_at, &items.lines());
    }
    let usual = way.usual(TOLD_MAX).into_iter();
    let fact = |command: UsualCommand| {
        let UsualCommand {
            worked,
            runs,
            sessions,
            ..
        } = command;
        let text = format!(
            "Usually: `{}` (worked {worked} of {runs} times, in {sessions} sessions)",
            command.command
        );
        let (session, at) = &command.last;
        let place = store.episode(&command.place.0.to_string())?;
        let fact =
            place.map(|found| fact(text, &found, session, *at, command.place.1, store, request));
        fact.transpose()
    };
    usual
        .filter_map(|command| fact(command).transpose())
        .collect()
}

fn where_set(
    store: &Store,
    request: &FactsRequest,
    scope: &Scope,
    what: &str,
) -> Result<Vec<RecalledFact>, Error> {
    let about = subject(what);
    let query = said(&about, EpisodeSource::SessionSummary, EPISODES_MAX, scope);
    if query.terms.is_empty() {
        return Ok(Vec::new());
    }
    let mut hits = store.search(&query)?;
    hits.sort_by(|a, b| (b.valid_at, &b.session).cmp(&(a.valid_at, &a.session)));
    let mut told: Vec<RecalledFact> = Vec::new();
    let mut known = BTreeSet::new();
    for hit in hits.iter().take(SESSIONS_MAX) {
        let episodes = store.episodes(&hit.session)?;
        let items = items_of(store, &episodes)?;
        for line in items.lines().iter().rev() {
            for finding in line.item.findings {
                let Some((name, text)) = set(finding, &about, request) else {
                    continue;
                };
                let found = episodes
                    .iter()
                    .find(|found| found.episode.id == line.episode);
                // what it was set to before is older news
                if let Some(found) = found.filter(|_| known.insert(name)) {
                    let at = found.episode.valid_at;
                    told.push(fact(
                        text,
                        found,
                        &hit.session,
                        at,
                        line.line,
                        store,
                        request,
                    )?);
                }
            }
        }
        if told.len() >= TOLD_MAX {
            break;
        }
    }
    told.truncate(TOLD_MAX);
    Ok(told)
}

/// A setting that has all the words, and what it was set to: `pool.size in config/app.yaml: 5 → 20`.
fn set(finding: &Finding, about: &[String], request: &FactsRequest) -> Option<(String, String)> {
    let Finding::Set {
        path,
        setting,
        old,
        new,
        ..
    } = finding
    else {
        return None;
    };
    let new = new.as_ref()?;
    let words: Vec<String> = tokens(setting)
        .flat_map(|word| {
            let parts: Vec<String> = word.split('_').map(str::to_owned).collect();
            parts.into_iter().chain([word])
        })
        .collect();
    let has = |one: &String| words.iter().any(|word| is_same(word, one));
    if !about.iter().all(has) {
        return None;
    }
    let place = match &request.shows_paths {
        Some(home) => format!(" in {}", below_home(path, home)),
        None => String::new(),
    };
    let old = old
        .as_ref()
        .map_or(String::new(), |old| format!("{old} → "));
    Some((
        format!("{path}\n{setting}"),
        format!("Set `{setting}`{place}: {old}{new}"),
    ))
}

/// Episodes of this kind with all of the words, the best first.
fn said(about: &[String], source: EpisodeSource, limit: u32, scope: &Scope) -> Query {
    Query {
        any: false,
        sources: vec![source],
        namespaces: scope.namespaces(),
        ..question(&about.join(" "), limit)
    }
}

fn fact(
    text: String,
    found: &Found,
    session: &str,
    at: Option<Time>,
    line: u64,
    store: &Store,
    request: &FactsRequest,
) -> Result<RecalledFact, Error> {
    let home = request.shows_paths.as_deref();
    Ok(RecalledFact {
        text,
        scope: MemoryScope::Workspace,
        source: Some(FactSource {
            shown: store.session_shown(session, KEPT)?,
            session: Some((found.agent, session.to_owned())),
            episode: found.episode.id,
            at,
            path: home.map(|home| below_home(&found.path, home)),
            lines: (line, line),
        }),
    })
}
