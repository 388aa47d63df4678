//! Episodes as they are handed over. Knows what each source is told as.

use super::options::DeliveryOptions;
use crate::insight::summary::HEADING;
use crate::model::delivery::OutboundEpisode;
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::file::FileFacts;
use crate::model::frontmatter::{
    Header, VERSION, heading, render, source_description, summary_name,
};
use crate::model::inert::make_inert;
use crate::model::memory::block;
use crate::model::scope::MemoryScope;
use crate::model::time::Time;
use crate::store::{Found, MemoryRow, Store};
use std::path::Path;
use uuid::Uuid;

/// An episode as every sink gets it: with nothing in it that acts where it is shown.
pub(super) fn outbound(
    found: Found,
    attempts: u32,
    store: &Store,
    orders: &DeliveryOptions<'_>,
) -> Result<OutboundEpisode, Error> {
    let mut outbound = as_stored(found, attempts, store, orders)?;
    let texts = [
        &mut outbound.content,
        &mut outbound.name,
        &mut outbound.source_description,
        &mut outbound.project,
    ];
    texts.into_iter().for_each(make_inert);
    Ok(outbound)
}

fn as_stored(
    found: Found,
    attempts: u32,
    store: &Store,
    orders: &DeliveryOptions<'_>,
) -> Result<OutboundEpisode, Error> {
    let id = found.episode.id.to_string();
    Ok(match found.episode.source {
        EpisodeSource::Text => match store.memory(&id)? {
            Some(memory) => of_a_memory(found, &memory, attempts, orders),
            None => of_a_log(found, attempts, orders),
        },
        EpisodeSource::Message => {
            let name = "Memory: who owns this group".to_owned();
            bare(found, name, "owner".to_owned(), attempts, orders)
        }
        EpisodeSource::GitMetadata | EpisodeSource::GitContext | EpisodeSource::GitBulkUpdate => {
            let batch = store.operation_of(found.episode.id)?;
            of_a_repository(found, batch, attempts, orders)
        }
        EpisodeSource::FilesystemWatch => match store.file_facts(found.episode.id)? {
            Some(facts) => of_a_file(found, &facts, attempts, orders),
            None => of_a_log(found, attempts, orders),
        },
        _ => of_a_log(found, attempts, orders),
    })
}

/// A file's change: its text under what is known of it (004-030..037).
fn of_a_file(
    mut found: Found,
    facts: &FileFacts,
    attempts: u32,
    orders: &DeliveryOptions<'_>,
) -> OutboundEpisode {
    let what = facts.source_description.clone();
    let what = what.unwrap_or_else(|| "Auto-tracked from filesystem".to_owned());
    found.episode.text = format!("{}\n{}", facts_header(facts), found.episode.text);
    let name = found.episode.title.clone();
    bare(found, name, what, attempts, orders)
}

/// As YAML, each value as JSON, which YAML reads.
fn facts_header(facts: &FileFacts) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let time = |at: Option<Time>| at.map(|at| at.rfc3339());
    let id = |id: Option<Uuid>| id.map(|id| id.to_string());
    let lines = [
        ("origin_path", Some(text(&facts.origin_path))),
        ("operation", facts.operation.map(|o| o.as_str().to_owned())),
        ("file_size", facts.file_size.map(|size| size.to_string())),
        ("modified_time", time(facts.modified_time)),
        ("content_hash", facts.content_hash.clone()),
        ("previous_path", facts.previous_path.as_deref().map(text)),
        ("deleted_at", time(facts.deleted_at)),
        ("previous_episode_uuid", id(facts.previous_episode_uuid)),
        ("invalid_at", time(facts.invalid_at)),
    ];
    let lines = lines.into_iter();
    let fields: String = lines
        .filter_map(|(key, value)| Some(format!("{key}: {}\n", value?)))
        .collect();
    format!("---\n{fields}---\n")
}

/// What was done to a repository: named as the documents name it (004-012, 004-015, 004-018).
fn of_a_repository(
    found: Found,
    batch: Option<Uuid>,
    attempts: u32,
    orders: &DeliveryOptions<'_>,
) -> OutboundEpisode {
    let source = found.episode.source;
    let batch = batch.unwrap_or(found.episode.id);
    let name = match source {
        EpisodeSource::GitMetadata => format!("git-metadata-{batch}"),
        EpisodeSource::GitContext => format!("git-context-{batch}"),
        _ => found.episode.title.clone(),
    };
    let what = format!("{}, git_batch_id {batch}", source.as_str());
    bare(found, name, what, attempts, orders)
}

/// What somebody curated: the documents' block, and nothing that holds a path.
fn of_a_memory(
    mut found: Found,
    memory: &MemoryRow,
    attempts: u32,
    orders: &DeliveryOptions<'_>,
) -> OutboundEpisode {
    let kind = memory.kind.as_str();
    let scope = MemoryScope::parse(&memory.scope).unwrap_or(MemoryScope::Workspace);
    let title = found.episode.title.clone();
    let at = memory.edited.unwrap_or(memory.at);
    found.episode.text = block(kind, scope, at, Some(&title), &found.episode.text);
    let git = memory.git.as_ref().filter(|_| orders.includes_git);
    let git = git.map(|git| format!(", git {git}")).unwrap_or_default();
    let what = format!("memory: {kind} ({}){git}", scope.as_str());
    bare(found, format!("Memory: {title}"), what, attempts, orders)
}

/// The text as it is.
fn bare(
    found: Found,
    name: String,
    what: String,
    attempts: u32,
    orders: &DeliveryOptions<'_>,
) -> OutboundEpisode {
    let shown = found.namespace.get(..NAMESPACE_SHOWN).unwrap_or_default();
    let source_description = format!("[{shown}] {what}, revision {:016x}", found.revision);
    OutboundEpisode {
        id: found.episode.id,
        revision: found.revision,
        content: format!("{}\n", found.episode.text),
        name,
        source_description,
        valid_at: found.episode.valid_at.unwrap_or(found.indexed_at),
        created_at: found.indexed_at,
        project: project(&found, orders),
        group: found.group,
        session: found.session,
        namespace: found.namespace,
        attempts,
    }
}

/// Hex digits of a namespace that are told (D10).
const NAMESPACE_SHOWN: usize = 8;

/// The project's last folder, where it may be told.
fn project(found: &Found, orders: &DeliveryOptions<'_>) -> String {
    match (orders.shown_path)(&found.project_path) {
        Some(path) => file_name(&path).unwrap_or_default(),
        None => "project".to_owned(),
    }
}

fn file_name(path: &str) -> Option<String> {
    let name = Path::new(path).file_name()?;
    Some(name.to_string_lossy().into())
}

/// A chunk or a summary: header, heading, text.
fn of_a_log(found: Found, attempts: u32, orders: &DeliveryOptions<'_>) -> OutboundEpisode {
    let episode = &found.episode;
    let header = Header {
        version: VERSION.to_owned(),
        project_namespace: Some(found.namespace.clone()),
        project_path: (orders.shown_path)(&found.project_path),
        hostname: Some(found.host.clone()),
        indexed_at: Some(found.indexed_at),
        session_file: file_name(&found.path),
        message_count: Some(episode.message_count),
        duration_minutes: Some(episode.duration_minutes),
        activity_profile: Some((orders.profile)(&episode.activity())),
    };
    let is_summary = episode.source == EpisodeSource::SessionSummary;
    let heading = match is_summary {
        true => HEADING.to_owned(),
        false => heading(&found.session, episode.part, &episode.title),
    };
    let described = source_description(
        &found.namespace,
        episode.message_count,
        episode.completed_tasks,
        episode.files_modified,
        (!is_summary).then_some(episode.part),
    );
    let project = project(&found, orders);
    let git = found.branch.as_ref().filter(|_| orders.includes_git);
    let git = git
        .map(|branch| format!(", git {branch}"))
        .unwrap_or_default();
    OutboundEpisode {
        id: episode.id,
        revision: found.revision,
        content: render(&header, &heading, &episode.text),
        name: match is_summary {
            true => summary_name(&found.session, &episode.title),
            false => heading.trim_start_matches("# ").to_owned(),
        },
        // the revision goes here, because Graphiti wipes properties that it doesn't know
        source_description: format!("{described}{git}, revision {:016x}", found.revision),
        valid_at: episode.valid_at.unwrap_or(found.indexed_at),
        created_at: found.indexed_at,
        group: found.group,
        session: found.session,
        namespace: found.namespace,
        project,
        attempts,
    }
}
