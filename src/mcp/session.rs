//! One session: its summary, then its conversation piece by piece; and the list of sessions as resources.
//! What the scope doesn't allow isn't there.

use super::answer::{BYTES_MAX, bytes, piece};
use super::here::{Here, minute};
use crate::insight::summary::body;
use crate::memory::classifiers;
use crate::memory::session_activity::Judge;
use crate::memory::session_summary::{shown_summary, title_in, title_of};
use crate::model::error::{Error, ErrorKind};
use crate::model::human;
use crate::model::session::SessionLength;
use crate::rules::orders;
use crate::store::{Found, SessionFilter, SessionRow, Store};
use schemars::JsonSchema;
use serde::Deserialize;

/// What a session's resource begins with.
pub const SCHEME: &str = "session://";

/// Resources in one list.
const RESOURCES: usize = 50;
/// For the line with the cursor.
const FOOT_BYTES: usize = 128;
/// A piece of a conversation that is smaller isn't begun.
const PIECE_BYTES_MIN: usize = 64;
/// The summary's name in a cursor; episodes are named by their ids.
const SUMMARY: &str = "summary";

/// Arguments of `get_session`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// Its id, or the beginning of it
    session: String,
    #[serde(default, rename = "project")]
    _project: Option<String>,
    max_bytes: Option<usize>,
    /// Where to read on
    cursor: Option<String>,
}

/// The summary, or from a cursor on what follows it.
pub fn get(here: &Here, args: &Get) -> Result<String, Error> {
    let store = here.store()?;
    let row = find(here, &store, &args.session)?;
    let episodes = store.episodes(&row.session.id)?;
    let bytes_max = bytes(args.max_bytes) - FOOT_BYTES;
    let cursor = args.cursor.as_deref().filter(|cursor| !cursor.is_empty());
    let (name, from) = match cursor {
        None => (SUMMARY, 0),
        Some(cursor) => place(cursor)?,
    };
    if name == SUMMARY {
        let summary = summary(here, &store, &row, &episodes)?;
        let (text, next) = piece(&summary, from, bytes_max);
        let more = match (next, episodes.first()) {
            (Some(next), _) => format!("\nmore: cursor={SUMMARY}.{next}\n"),
            (None, Some(first)) => format!(
                "\nmore: cursor={}.0 (the conversation, {} bytes)\n",
                first.episode.id.simple(),
                row.body_bytes
            ),
            (None, None) => String::new(),
        };
        return Ok(format!("{text}{more}"));
    }
    let at = episodes
        .iter()
        .position(|found| found.episode.id.simple().to_string() == name);
    let at = at.ok_or_else(stray)?;
    Ok(conversation(&episodes[at..], from, bytes_max, here))
}

/// A session as a resource.
pub struct Listed {
    /// Its address.
    pub uri: String,
    /// Its title.
    pub title: String,
    /// Where it is from, and when it ended.
    pub origin: String,
}

/// The latest sessions, and the cursor of what follows them.
pub fn list(here: &Here, cursor: Option<&str>) -> Result<(Vec<Listed>, Option<String>), Error> {
    let from: usize = match cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| stray())?,
    };
    let scope = here.open_scope(&[])?;
    let until = from.saturating_add(RESOURCES);
    let rows = here.store()?.sessions(&SessionFilter {
        namespaces: scope.namespaces(),
        limit: u32::try_from(until.saturating_add(1)).ok(),
        ..SessionFilter::default()
    })?;
    let store = here.store()?;
    let listed = rows.iter().skip(from).take(RESOURCES).map(|row| {
        let session = &row.session;
        Ok(Listed {
            uri: format!("{SCHEME}{}", session.id),
            title: titled(title_of(row, &store)?),
            origin: format!(
                "{} {}",
                here.origin(&session.namespace, &session.project_path),
                minute(session.facts.ended.or(session.facts.started))
            ),
        })
    });
    let listed = listed.collect::<Result<_, Error>>()?;
    let next = (rows.len() > until).then(|| until.to_string());
    Ok((listed, next))
}

/// The summary of the session at this address.
pub fn read(here: &Here, uri: &str) -> Result<String, Error> {
    let id = uri.strip_prefix(SCHEME).unwrap_or_default();
    let store = here.store()?;
    let row = find(here, &store, id)?;
    let episodes = store.episodes(&row.session.id)?;
    let summary = summary(here, &store, &row, &episodes)?;
    Ok(piece(&summary, 0, BYTES_MAX).0.to_owned())
}

/// A session that may be seen. What may not is as absent as what was never there.
fn find(here: &Here, store: &Store, id: &str) -> Result<SessionRow, Error> {
    let scope = here.open_scope(&[])?;
    let mut row = store.session_with_agents(id, scope.namespaces().as_deref())?;
    if let Some(found) = &row
        && store.is_forgotten(&found.session.id)?
    {
        row = None;
    }
    row.ok_or_else(|| {
        let message = format!("there is no session {id}");
        Error::new(ErrorKind::Failed, message).hinted("search_sessions")
    })
}

/// What a session is called, without orders; one that was cut when it was stored says so.
pub(super) fn titled(title: Option<String>) -> String {
    let title = title.unwrap_or_else(|| "(no title)".to_owned());
    orders::without(&human::whole_title(&title)).into_owned()
}

fn summary(
    here: &Here,
    store: &Store,
    row: &SessionRow,
    episodes: &[Found],
) -> Result<String, Error> {
    let session = &row.session;
    let hides = here.hides_paths_of(&session.project_path);
    let (summary, _) = shown_summary(store, row, episodes, hides)?;
    let facts = &session.facts;
    let length = store.length(&session.id)?.and_then(SessionLength::shown);
    let head = format!(
        "# {}\n{} {} session {} on {}, {} to {}{}\n",
        titled(title_in(row, &summary, episodes)),
        here.origin(&session.namespace, &session.project_path),
        session.agent.as_str(),
        session.id,
        session.host,
        minute(facts.started),
        minute(facts.ended),
        length.map_or_else(String::new, |length| format!(", {length}"))
    );
    let activity = judge(here)?.activity(&store.activity(&session.id)?);
    let summary = format!("{head}\n{}", body(&summary, &activity.profile()));
    Ok(orders::without(&summary).into_owned())
}

/// Judges as this home does; by what was learned where the cache is one.
pub fn judge(here: &Here) -> Result<Judge, Error> {
    let scoring = &here.settings().scoring;
    let classifier = match classifiers::learned(&scoring.tool_cache, &here.home)? {
        Some(classifier) => classifier,
        None => classifiers::counter(&here.home)?,
    };
    Ok(Judge {
        classifier,
        min_strength: scoring.min_strength,
        manual: scoring.manual,
    })
}

/// The texts of these episodes from a byte of the first one on.
fn conversation(episodes: &[Found], from: usize, bytes_max: usize, here: &Here) -> String {
    let mut text = String::new();
    let mut from = from;
    for found in episodes {
        let head = match from {
            0 => origin(found, here),
            _ => String::new(),
        };
        let room = bytes_max.saturating_sub(text.len() + head.len());
        let id = found.episode.id.simple();
        if room < PIECE_BYTES_MIN {
            text.push_str(&format!("\nmore: cursor={id}.{from}\n"));
            return text;
        }
        let (told, next) = piece(&found.episode.text, from, room);
        text.push_str(&head);
        text.push_str(&orders::without(told));
        if let Some(next) = next {
            text.push_str(&format!("\nmore: cursor={id}.{next}\n"));
            return text;
        }
        text.push('\n');
        from = 0;
    }
    text
}

/// `--- part 2, 2026-05-31 21:14Z, x.jsonl:12-80`.
fn origin(found: &Found, here: &Here) -> String {
    let episode = &found.episode;
    let stream = episode.stream.as_ref();
    let stream = stream.map(|name| format!("sub-agent {name}, "));
    format!(
        "--- {}part {}, {}, {}:{}-{}\n",
        stream.unwrap_or_default(),
        episode.part,
        minute(episode.valid_at),
        here.log(&found.path, &found.project_path),
        episode.lines.0,
        episode.lines.1
    )
}

fn place(cursor: &str) -> Result<(&str, usize), Error> {
    let parts = cursor.split_once('.');
    let parts = parts.and_then(|(name, from)| Some((name, from.parse().ok()?)));
    parts.ok_or_else(stray)
}

fn stray() -> Error {
    Error::usage("the cursor belongs to another session").hinted("ask without `cursor`")
}
