//! What is found by words, by time and by decision.

use super::answer::{ListWindow, counted};
use super::folding::{ListEntry, fold};
use super::git_days::{self, GitEntry};
use super::here::{Here, minute};
use super::session::{judge, titled};
use crate::agents::registry;
use crate::memory::excerpt::excerpt;
use crate::memory::named_days::named_days;
use crate::memory::query_parser::{self, Meant};
use crate::memory::rank::Near;
use crate::memory::recall::{RecallAnswer, RecallQuestion, recall};
use crate::memory::scopes::Scope;
use crate::memory::session_outcome::outcome_of;
use crate::memory::session_summary::title_of;
use crate::model::activity::ActivityTally;
use crate::model::episode::{EpisodeSource, Operation};
use crate::model::error::Error;
use crate::model::human;
use crate::model::source::Agent;
use crate::rules::orders;
use crate::store::{FileVersion, Hit, Keeps, Query, SessionFilter, SessionRow, Store, TYPED};
use crate::tracking::rollbacks::sure_reason;
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::slice;

/// Arguments of `search_memory_nodes`, named as the documents name them (000-077, 004-039).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// Words; "a phrase", -without, begin*, this OR that, file:auth.rs, since:14d
    query: String,
    /// [10]
    max_nodes: Option<usize>,
    #[serde(default, rename = "project")]
    _project: Option<String>,
    /// Only these: paths, names or 6+ hex digits
    #[serde(default)]
    project_namespaces: Vec<String>,
    #[serde(default)]
    group_ids: Vec<String>,
    /// session, session_summary, git_metadata, …
    #[serde(default)]
    include_sources: Vec<String>,
    #[serde(default)]
    exclude_sources: Vec<String>,
    /// move, rename, …
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
    /// claude, codex, gemini, …
    agent: Option<String>,
    #[serde(default, rename = "project")]
    _project: Option<String>,
    #[serde(default)]
    project_namespaces: Vec<String>,
    /// [10]
    max_sessions: Option<usize>,
    max_bytes: Option<usize>,
    cursor: Option<String>,
}

/// Arguments of `recent` (004-020).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recent {
    #[serde(default, rename = "project")]
    _project: Option<String>,
    /// Not these kinds [git_bulk_update]
    exclude_sources: Option<Vec<String>>,
    /// Not these [move, rename]
    exclude_operations: Option<Vec<String>>,
    /// [20]
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
    let scope = here.open_scope_of(asked.project.as_deref(), &args.project_namespaces)?;
    let items = wanted(args.max_nodes, NODES);
    let question = format!("{asked:?}{scope:?}");
    let window = ListWindow::new(&question, items, args.max_bytes, args.cursor.as_deref())?;
    let store = here.store()?;
    let mut answer = look(here, &store, asked.clone(), &scope, window.reach())?;
    let hits: Vec<&Hit> = answer.hits.iter().collect();
    let mut entries = fold(&store, &hits)?;
    // where one entry stands for many, others have room
    if entries.len() < hits.len() && hits.len() >= window.reach() {
        let passages = (window.reach() * PASSAGES_PER_SESSION).min(PASSAGES_MAX);
        answer = look(here, &store, asked, &scope, passages)?;
        let hits: Vec<&Hit> = answer.hits.iter().collect();
        entries = fold(&store, &hits)?;
    }
    entries.truncate(window.reach());
    let told = entries
        .iter()
        .map(|entry| found(entry, here, &store, &scope, &answer));
    let told: Vec<String> = told.collect::<Result<_, _>>()?;
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
    let scope = here.open_scope_of(asked.project.as_deref(), &args.project_namespaces)?;
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
            let quote = quote(hit, &store, &answer)?;
            told.push(session(&row, Some(&quote), &store, here)?);
        }
    }
    Ok(window.fill(&head(&answer), &told))
}

/// The latest of this project: what was given up, then each session once, by its summary where it has one,
/// each day of a repository and each file once.
pub fn recent(here: &Here, args: &Recent) -> Result<String, Error> {
    let excluded = args.exclude_sources.as_deref().map(kinds).transpose()?;
    let operations = args.exclude_operations.as_deref().map(operations);
    let query = Query {
        not_sources: excluded.unwrap_or_else(|| vec![MAINTENANCE]),
        not_operations: operations.transpose()?.unwrap_or_else(|| MOVES.to_vec()),
        only_valid: true,
        ..Query::default()
    };
    let scope = here.own_scope(&[])?;
    let items = wanted(args.max_nodes, RECENT);
    let question = format!("{query:?}{scope:?}");
    let window = ListWindow::new(&question, items, args.max_bytes, args.cursor.as_deref())?;
    let passages = (window.reach() * PASSAGES_PER_SESSION).min(PASSAGES_MAX);
    let store = here.store()?;
    let git = git_days::entries(here, &store, &query, &scope)?;
    let mut asked = Meant {
        query,
        ..Meant::default()
    };
    asked.query.not_sources.extend(GIT);
    let answer = look(here, &store, asked, &scope, passages)?;
    let hits = once(&answer.hits);
    let others = fold(&store, &hits)?;
    let told = in_order(git, others).into_iter().take(window.reach());
    let told = told.map(|item| match item {
        News::Git(GitEntry::Undoing(text)) => Ok(orders::without(&text).into_owned()),
        News::Git(GitEntry::Day(_, done)) => {
            let day = git_days::day(here, &store, &done, &scope)?;
            Ok(orders::without(&day).into_owned())
        }
        News::Other(entry) => latest(&entry, here, &store),
    });
    let told: Vec<String> = told.collect::<Result<_, Error>>()?;
    Ok(window.fill(nothing(told.is_empty()), &told))
}

/// What operations are told by; [`git_days`] tells of them.
const GIT: [EpisodeSource; 2] = [EpisodeSource::GitMetadata, EpisodeSource::GitContext];

/// Each session once, by its summary where it has one.
fn once(hits: &[Hit]) -> Vec<&Hit> {
    let summaries = hits.iter().filter(|hit| is_summary(hit));
    let summarized: BTreeSet<&str> = summaries.map(|hit| hit.session.as_str()).collect();
    let mut seen = BTreeSet::new();
    let once = hits.iter().filter(|hit| match hit.source {
        EpisodeSource::Session => {
            !summarized.contains(hit.session.as_str()) && seen.insert(hit.session.as_str())
        }
        _ => true,
    });
    once.collect()
}

/// An entry of what went on lately.
enum News<'h> {
    Git(GitEntry),
    Other(ListEntry<'h>),
}

/// What was given up, then everything else, the latest first.
fn in_order(git: Vec<GitEntry>, others: Vec<ListEntry<'_>>) -> Vec<News<'_>> {
    let (mut first, mut days) = (Vec::new(), Vec::new());
    for entry in git {
        match entry {
            GitEntry::Undoing(_) => first.push(News::Git(entry)),
            GitEntry::Day(at, _) => days.push((at, entry)),
        }
    }
    let mut days = days.into_iter().peekable();
    for other in others {
        let at = other.hit().valid_at;
        while let Some((_, day)) = days.next_if(|(day_at, _)| Some(*day_at) > at) {
            first.push(News::Git(day));
        }
        first.push(News::Other(other));
    }
    first.extend(days.map(|(_, day)| News::Git(day)));
    first
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
                days: named_days(&asked.words, here.now),
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
        let unknown = |known| Error::usage(format!("{word} is not a source")).hinted(known);
        query_parser::source(word).map_err(unknown)
    };
    typed.iter().map(kind).collect()
}

fn operations(typed: &[String]) -> Result<Vec<Operation>, Error> {
    let operation = |word: &String| {
        let unknown = |known| Error::usage(format!("{word} is not an operation")).hinted(known);
        query_parser::operation(word).map_err(unknown)
    };
    typed.iter().map(operation).collect()
}

fn agent(word: &str) -> Result<Agent, Error> {
    let unknown = |known| Error::usage(format!("{word} is not an agent")).hinted(known);
    registry::doer_named(word).map_err(unknown)
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
        source if source.has_doer() => {
            let by = hit.agent.as_str();
            return format!("{origin} {when}, {} by {by}", source.as_str());
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

fn title(hit: &Hit) -> String {
    let title = match &hit.session_title {
        Some(title) if hit.title.is_empty() => title,
        _ => &hit.title,
    };
    human::whole_title(&quoted(hit, title)).into_owned()
}

/// Words of a hit without orders, but for what somebody promoted.
fn quoted<'t>(hit: &Hit, text: &'t str) -> Cow<'t, str> {
    match hit.source {
        EpisodeSource::Text | EpisodeSource::Message => Cow::Borrowed(text),
        _ => orders::without(text),
    }
}

/// Characters that are quoted of a passage. More: fewer passages have room.
const QUOTE_CHARS: usize = 480;

/// The sentences of a hit that answer, of a summary those of its session; what is near its words where it isn't
/// what was said.
fn quote(hit: &Hit, store: &Store, answer: &RecallAnswer) -> Result<String, Error> {
    let of = match hit.source {
        EpisodeSource::Session => slice::from_ref(hit),
        EpisodeSource::SessionSummary => &answer.hits,
        _ => return Ok(snippet(hit)),
    };
    let sought = &answer.sought;
    let chosen = match sought.terms.is_empty() {
        true => None,
        false => excerpt(store, &hit.session, of, sought, QUOTE_CHARS)?,
    };
    Ok(match chosen {
        Some(chosen) => quoted(hit, &chosen).into_owned(),
        None => snippet(hit),
    })
}

fn passage(hit: &Hit, here: &Here, store: &Store, answer: &RecallAnswer) -> Result<String, Error> {
    let (place, quote) = (place(hit, here), quote(hit, store, answer)?);
    Ok(format!("{}\n{place}\n{quote}\n", title(hit)))
}

/// An entry of what was looked for.
fn found(
    entry: &ListEntry<'_>,
    here: &Here,
    store: &Store,
    scope: &Scope,
    answer: &RecallAnswer,
) -> Result<String, Error> {
    let hit = entry.hit();
    Ok(match entry {
        ListEntry::Day(_, done) if done.len() > 1 => {
            let day = git_days::day(here, store, done, scope)?;
            format!("{}{}\n", orders::without(&day), snippet(hit))
        }
        // its text has a reason that isn't sure
        ListEntry::Rollback(_, row)
            if row.git.reason.is_some() && sure_reason(&row.git).is_none() =>
        {
            orders::without(&git_days::rollback(here, store, row, scope)?).into_owned()
        }
        ListEntry::Hit(_) | ListEntry::Day(..) | ListEntry::Rollback(..) => {
            passage(hit, here, store, answer)?
        }
        ListEntry::File(_, version, others) => {
            let place = place(hit, here);
            let which = which_version(hit, version, others, store)?;
            format!("{}\n{place}, {which}\n{}\n", title(hit), snippet(hit))
        }
    })
}

/// An entry of what went on lately.
fn latest(entry: &ListEntry<'_>, here: &Here, store: &Store) -> Result<String, Error> {
    let hit = entry.hit();
    let (mut place, snippet) = (place(hit, here), snippet(hit));
    if let ListEntry::File(_, version, others) = entry {
        let which = which_version(hit, version, others, store)?;
        place = format!("{place}, {which}");
    }
    let gist = super::answer::cut(&snippet, GIST_BYTES);
    Ok(format!("{}\n{place}\n{gist}\n", title(hit)))
}

/// Versions of a file that are named.
const VERSIONS_MAX: usize = 8;

/// `the live version; older: 3f2a91c0, 91b07ac2`.
fn which_version(
    hit: &Hit,
    version: &FileVersion,
    others: &[&Hit],
    store: &Store,
) -> Result<String, Error> {
    let shown = |episode| store.episode_shown(episode, TYPED);
    let mut text = match version.live {
        Some(live) if live == hit.episode => "the live version".to_owned(),
        Some(live) => format!(
            "an older version; live since {}: {}",
            minute(version.live_at),
            shown(live)?
        ),
        None => "an older version; the file is not there any more".to_owned(),
    };
    let named: Vec<String> = others
        .iter()
        .take(VERSIONS_MAX)
        .map(|other| shown(other.episode))
        .collect::<Result<_, _>>()?;
    if !named.is_empty() {
        let older = match version.live == Some(hit.episode) {
            true => "older",
            false => "others",
        };
        let _ = write!(text, "; {older}: {}", named.join(", "));
    }
    let more = others.len() - named.len();
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    Ok(text)
}

fn snippet(hit: &Hit) -> String {
    let snippet = &hit.snippet;
    let before = if snippet.cut_before { "… " } else { "" };
    let after = if snippet.cut_after { " …" } else { "" };
    format!("{before}{}{after}", quoted(hit, snippet.text.trim()))
}

fn session(
    row: &SessionRow,
    quote: Option<&str>,
    store: &Store,
    here: &Here,
) -> Result<String, Error> {
    let session = &row.session;
    let facts = &session.facts;
    let mut text = format!(
        "{}\n{} {} {} session {}, {}",
        titled(title_of(row, store)?),
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
    if let Some(quote) = quote {
        let _ = writeln!(text, "{quote}");
    }
    Ok(text)
}
