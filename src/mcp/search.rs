//! What is found by words, by time and by decision.

use super::answer::{ListWindow, counted};
use super::here::{Here, minute};
use super::session::judge;
use crate::agents::registry;
use crate::memory::query_parser::{self, Meant};
use crate::memory::rank::Near;
use crate::memory::recall::{RecallAnswer, RecallQuestion, recall};
use crate::memory::scopes::Scope;
use crate::memory::session_outcome::outcome_of;
use crate::model::activity::ActivityTally;
use crate::model::episode::{EpisodeSource, Operation};
use crate::model::error::Error;
use crate::model::source::Agent;
use crate::store::{Hit, Keeps, Query, SessionFilter, SessionRow, Store};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Arguments of `search_memory_nodes`, named as the documents name them (000-077, 004-039).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// Words; "a phrase", -without, begin*, this OR that, file:auth.rs, since:14d
    query: String,
    /// At most so many [10]
    max_nodes: Option<usize>,
    /// Only these: 6+ hex digits of a namespace, or a project's path
    #[serde(default)]
    project_namespaces: Vec<String>,
    /// Only these groups
    #[serde(default)]
    group_ids: Vec<String>,
    /// Only these kinds: session, session_summary, git_metadata, …
    #[serde(default)]
    include_sources: Vec<String>,
    #[serde(default)]
    exclude_sources: Vec<String>,
    /// Not these: move, rename, …
    #[serde(default)]
    exclude_operations: Vec<String>,
    max_bytes: Option<usize>,
    cursor: Option<String>,
}

/// Arguments of `search_sessions`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    query: Option<String>,
    /// claude or codex
    agent: Option<String>,
    #[serde(default)]
    project_namespaces: Vec<String>,
    /// At most so many [10]
    max_sessions: Option<usize>,
    max_bytes: Option<usize>,
    cursor: Option<String>,
}

/// Arguments of `recent` (004-020).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recent {
    /// Absolute path of the project, where it isn't the client's root
    #[serde(default, rename = "project")]
    _project: Option<String>,
    /// Not these kinds [git_bulk_update]
    exclude_sources: Option<Vec<String>>,
    /// Not these [move, rename]
    exclude_operations: Option<Vec<String>>,
    /// At most so many [20]
    max_nodes: Option<usize>,
    max_bytes: Option<usize>,
    cursor: Option<String>,
}

const NODES: usize = 10;
const SESSIONS: usize = 10;
const RECENT: usize = 20;
/// Items of one answer. More: nobody reads them.
const ITEMS_MAX: usize = 100;
/// Passages that are looked through for sessions, for each wanted one.
const PASSAGES_PER_SESSION: usize = 8;
/// Passages that are looked through at most.
const PASSAGES_MAX: usize = 800;
/// Bytes of a passage in a list of what went on.
const GIST_BYTES: usize = 160;
/// What maintenance leaves behind (004-022).
const MAINTENANCE: EpisodeSource = EpisodeSource::GitBulkUpdate;
const MOVES: [Operation; 2] = [Operation::Move, Operation::Rename];

/// The best passages.
pub fn nodes(here: &Here, args: &Nodes) -> Result<String, Error> {
    let mut asked = here.line(&args.query)?;
    if asked.is_empty() {
        let error = Error::usage("there is no word to look for");
        return Err(error.hinted("`recent` has the latest"));
    }
    let query = &mut asked.query;
    query.sources.extend(kinds(&args.include_sources)?);
    query.not_sources.extend(kinds(&args.exclude_sources)?);
    let operations = operations(&args.exclude_operations)?;
    query.not_operations.extend(operations);
    query.groups.clone_from(&args.group_ids);
    let scope = here.open_scope(&args.project_namespaces)?;
    let items = wanted(args.max_nodes, NODES);
    let question = format!("{asked:?}{scope:?}");
    let window = ListWindow::new(&question, items, args.max_bytes, args.cursor.as_deref())?;
    let answer = look(here, &here.store()?, asked, &scope, window.reach())?;
    let told: Vec<String> = answer.hits.iter().map(|hit| passage(hit, here)).collect();
    Ok(window.fill(&head(&answer), &told))
}

/// Sessions with the best passages; without words the latest.
pub fn sessions(here: &Here, args: &Sessions) -> Result<String, Error> {
    let agent = args.agent.as_deref().map(agent).transpose()?;
    let scope = here.open_scope(&args.project_namespaces)?;
    let words = args.query.as_deref().unwrap_or_default().trim();
    let items = wanted(args.max_sessions, SESSIONS);
    let question = format!("{words}{agent:?}{scope:?}");
    let window = ListWindow::new(&question, items, args.max_bytes, args.cursor.as_deref())?;
    let store = here.store()?;
    if words.is_empty() {
        let rows = store.sessions(&SessionFilter {
            namespaces: scope.namespaces(),
            agent,
            limit: Some(limit(window.reach())),
            ..SessionFilter::default()
        })?;
        let told = rows.iter().map(|row| session(row, None, &store, here));
        let told: Vec<String> = told.collect::<Result<_, _>>()?;
        return Ok(window.fill(nothing(told.is_empty()), &told));
    }
    let mut asked = here.line(words)?;
    asked.query.agent = agent.or(asked.query.agent);
    let passages = (window.reach() * PASSAGES_PER_SESSION).min(PASSAGES_MAX);
    let answer = look(here, &store, asked, &scope, passages)?;
    let mut seen = BTreeSet::new();
    let mut told = Vec::new();
    for hit in &answer.hits {
        if told.len() == window.reach() || !seen.insert(hit.session.as_str()) {
            continue;
        }
        if let Some(row) = store.session(&hit.session)? {
            told.push(session(&row, Some(hit), &store, here)?);
        }
    }
    Ok(window.fill(&head(&answer), &told))
}

/// The latest of this project: a session once, by its summary where it has one.
pub fn recent(here: &Here, args: &Recent) -> Result<String, Error> {
    let excluded = args.exclude_sources.as_deref().map(kinds).transpose()?;
    let operations = args.exclude_operations.as_deref().map(operations);
    let query = Query {
        not_sources: excluded.unwrap_or_else(|| vec![MAINTENANCE]),
        not_operations: operations.transpose()?.unwrap_or_else(|| MOVES.to_vec()),
        project: here.project.clone(),
        only_valid: true,
        ..Query::default()
    };
    let scope = here.open_scope(&[])?;
    let items = wanted(args.max_nodes, RECENT);
    let question = format!("{query:?}{scope:?}");
    let window = ListWindow::new(&question, items, args.max_bytes, args.cursor.as_deref())?;
    let passages = (window.reach() * PASSAGES_PER_SESSION).min(PASSAGES_MAX);
    let asked = Meant {
        query,
        ..Meant::default()
    };
    let answer = look(here, &here.store()?, asked, &scope, passages)?;
    let summaries = answer.hits.iter().filter(|hit| is_summary(hit));
    let summarized: BTreeSet<&str> = summaries.map(|hit| hit.session.as_str()).collect();
    let mut seen = BTreeSet::new();
    let once = answer.hits.iter().filter(|hit| match hit.source {
        EpisodeSource::Session => {
            !summarized.contains(hit.session.as_str()) && seen.insert(hit.session.as_str())
        }
        _ => true,
    });
    let told: Vec<String> = once.map(|hit| gist(hit, here)).collect();
    Ok(window.fill(nothing(told.is_empty()), &told))
}

fn look(
    here: &Here,
    store: &Store,
    asked: Meant,
    scope: &Scope,
    reach: usize,
) -> Result<RecallAnswer, Error> {
    let judge = asked.activity.as_ref().map(|_| judge(here)).transpose()?;
    let wanted = asked.activity.as_ref().zip(judge.as_ref());
    let fits =
        wanted.map(|(wanted, judge)| |tally: &ActivityTally| wanted.fits(&judge.activity(tally)));
    let is_worded = !asked.query.terms.is_empty();
    let meaning = is_worded.then(|| here.meaning(&asked.words, store));
    let query = Query {
        limit: limit(reach),
        ..asked.query
    };
    recall(
        store,
        &RecallQuestion {
            keeps: fits.as_ref().map(|fits| fits as &Keeps<'_>),
            near: Near {
                project: here.project.clone(),
                files: Vec::new(),
            },
            meaning: meaning.flatten(),
            ..RecallQuestion::new(query, scope)
        },
    )
}

fn wanted(typed: Option<usize>, usual: usize) -> usize {
    typed.unwrap_or(usual).clamp(1, ITEMS_MAX)
}

fn limit(reach: usize) -> u32 {
    u32::try_from(reach).unwrap_or(u32::MAX)
}

fn kinds(typed: &[String]) -> Result<Vec<EpisodeSource>, Error> {
    let kind = |word: &String| {
        let unknown = |known| Error::usage(format!("{word} is no source")).hinted(known);
        query_parser::source(word).map_err(unknown)
    };
    typed.iter().map(kind).collect()
}

fn operations(typed: &[String]) -> Result<Vec<Operation>, Error> {
    let operation = |word: &String| {
        let unknown = |known| Error::usage(format!("{word} is no operation")).hinted(known);
        query_parser::operation(word).map_err(unknown)
    };
    typed.iter().map(operation).collect()
}

fn agent(word: &str) -> Result<Agent, Error> {
    let unknown =
        || Error::usage(format!("{word} is no agent")).hinted("claude, codex, person, unknown");
    registry::doer_by_word(word).ok_or_else(unknown)
}

fn head(answer: &RecallAnswer) -> String {
    match answer.loosened {
        true => "no passage has all words; these have some\n".to_owned(),
        false => nothing(answer.hits.is_empty()).to_owned(),
    }
}

fn nothing(is_empty: bool) -> &'static str {
    match is_empty {
        true => "nothing found\n",
        false => "",
    }
}

fn is_summary(hit: &Hit) -> bool {
    hit.source == EpisodeSource::SessionSummary
}

/// Where a hit comes from, in one line.
fn place(hit: &Hit, here: &Here) -> String {
    let origin = here.origin(&hit.namespace, &hit.project_path);
    let when = minute(hit.valid_at);
    let mut line = match hit.source {
        // what somebody promoted is named by its own id
        EpisodeSource::Text | EpisodeSource::Message => {
            return format!("{origin} {when} memory {}", hit.episode);
        }
        source if !hit.is_of_a_log() => return format!("{origin} {when}, {}", source.as_str()),
        _ => format!(
            "{origin} {when} {} session {}",
            hit.agent.as_str(),
            hit.session
        ),
    };
    let log = here.log(&hit.path, &hit.project_path);
    let _ = match hit.source {
        EpisodeSource::Session => {
            let (from, to) = hit.lines;
            write!(line, ", part {}, {log}:{from}-{to}", hit.part)
        }
        source => write!(line, ", {}", source.as_str()),
    };
    line
}

fn title(hit: &Hit) -> &str {
    match &hit.session_title {
        Some(title) if hit.title.is_empty() => title,
        _ => &hit.title,
    }
}

fn passage(hit: &Hit, here: &Here) -> String {
    let place = place(hit, here);
    format!("{}\n{place}\n{}\n", title(hit), snippet(hit))
}

fn gist(hit: &Hit, here: &Here) -> String {
    let (place, snippet) = (place(hit, here), snippet(hit));
    let gist = super::answer::cut(&snippet, GIST_BYTES);
    format!("{}\n{place}\n{gist}\n", title(hit))
}

fn snippet(hit: &Hit) -> String {
    let snippet = &hit.snippet;
    let before = if snippet.cut_before { "… " } else { "" };
    let after = if snippet.cut_after { " …" } else { "" };
    format!("{before}{}{after}", snippet.text.trim())
}

fn session(
    row: &SessionRow,
    best: Option<&Hit>,
    store: &Store,
    here: &Here,
) -> Result<String, Error> {
    let session = &row.session;
    let facts = &session.facts;
    let mut text = format!(
        "{}\n{} {} {} session {}, {}",
        row.title.as_deref().unwrap_or("(no title)"),
        here.origin(&session.namespace, &session.project_path),
        minute(facts.ended.or(facts.started)),
        session.agent.as_str(),
        session.id,
        counted(row.episodes, "episode")
    );
    if let Some(outcome) = outcome_of(store, &session.id)? {
        let _ = write!(text, ", {}", outcome.as_str());
    }
    text.push('\n');
    if let Some(hit) = best {
        let _ = writeln!(text, "{}", snippet(hit));
    }
    Ok(text)
}
