//! What is remembered for a question, and what an agent asks to be remembered. Gated as the command line
//! is: what is switched off or not trusted gets nothing. `memory::remember` judges what is certain,
//! `memory::promote` what may be kept.

use super::here::{Here, typed};
use crate::host::worktree;
use crate::memory::block::{FactRoom, block};
use crate::memory::facts_request::FactsRequest;
use crate::memory::promote::{PromoteRequest, curate, gate, recall_note};
use crate::memory::redaction_setup;
use crate::memory::remember::remember;
use crate::memory::workspace::Workspace;
use crate::model::error::Error;
use crate::model::memory::{MemoryKind, MemoryOrigin};
use crate::model::scope::MemoryScope;
use crate::rules::directives::wants_global;
use crate::store::{Access, Project, Store};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// Arguments of `recall`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recall {
    question: String,
    /// The asking session's id
    session: Option<String>,
    #[serde(default, rename = "project")]
    _project: Option<String>,
}

/// Arguments of `promote` (D38).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Promote {
    /// decision, lesson, preference, procedure, task, terminology
    kind: String,
    text: String,
    /// One line
    title: Option<String>,
    /// workspace or global [workspace]
    scope: Option<String>,
    #[serde(default, rename = "project")]
    _project: Option<String>,
}

/// Arguments of `add_memory`; it never had a path (004-059).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddMemory {
    /// One line
    name: String,
    episode_body: String,
    #[serde(default, rename = "project")]
    _project: Option<String>,
}

/// One block of facts, or that no confident match.
pub fn recall(here: &Here, args: &Recall) -> Result<String, Error> {
    let workspace = Workspace::of(here.at()?);
    let trusts = workspace.gate(&here.loaded, &here.env)?;
    let memory = &here.settings().memory;
    let mut scopes = memory.recall.scopes.clone();
    if memory.recall.adds_global && wants_global(&args.question) {
        scopes.insert(MemoryScope::Global);
    }
    let user = memory.user_key().ok();
    let shown = !here.hides_paths_of(&workspace.root);
    let asked = FactsRequest {
        question: args.question.clone(),
        session: args.session.clone(),
        by_hook: false,
        workspace,
        trusted: here.settings().trusted_namespaces.clone(),
        trusts,
        user: user.map(|key| MemoryScope::Global.group(key)),
        scopes,
        now: here.now,
        limit: memory.recall.max_results as usize,
        room: FactRoom::new(&memory.recall),
        shows_paths: shown.then(|| here.env.home.to_string_lossy().into_owned()),
    };
    let facts = remember(&here.store()?, &asked)?;
    Ok(match block(facts, &memory.recall) {
        Some(block) => block.text,
        None => "no confident match; search_memory_nodes finds what is less certain\n".to_owned(),
    })
}

/// Keeps what an agent was told to keep.
pub fn promote(here: &Here, args: &Promote) -> Result<String, Error> {
    let kinds = || MemoryKind::ALL.map(MemoryKind::as_str).join(", ");
    let unknown = || Error::usage(format!("{} is not a kind", args.kind)).hinted(kinds());
    let kind = MemoryKind::parse(&args.kind).ok_or_else(unknown)?;
    let scope = match args.scope.as_deref().map(MemoryScope::parse) {
        None => MemoryScope::Workspace,
        Some(Some(scope @ (MemoryScope::Workspace | MemoryScope::Global))) => scope,
        Some(_) => return Err(Error::usage("the scope is to be workspace or global")),
    };
    keep(here, kind, scope, args.title.clone(), &args.text)
}

/// The same under the documents' name: a lesson of the project.
pub fn add(here: &Here, args: &AddMemory) -> Result<String, Error> {
    let title = Some(args.name.clone());
    keep(
        here,
        MemoryKind::Lesson,
        MemoryScope::Workspace,
        title,
        &args.episode_body,
    )
}

fn keep(
    here: &Here,
    kind: MemoryKind,
    scope: MemoryScope,
    title: Option<String>,
    text: &str,
) -> Result<String, Error> {
    let workspace = Workspace::of(here.at()?);
    gate(&workspace.root, &here.env)?;
    let project = Project {
        namespace: workspace.namespace(),
        path: workspace.root,
        host: here.host.clone(),
    };
    let settings = &here.settings().memory;
    let redaction = redaction_setup::load(&here.loaded.config, &here.home).map_err(typed)?;
    let mut store = Store::open(&here.home.store(), Access::ReadWrite)?;
    let state = || worktree::state(Path::new(&project.path), &here.env.vars);
    let wish = PromoteRequest {
        id: None,
        kind,
        scope,
        origin: MemoryOrigin::Promoted,
        title,
        text: text.to_owned(),
        session: None,
        git: settings.includes_git.then(state).flatten(),
        at: here.now,
    };
    let memory = curate(wish, &project, &mut store, settings, &redaction.redactor)?;
    let is_new = store.keep_memory(&memory, &project)?;
    let (id, scope) = (memory.id, memory.scope.as_str());
    let mut told = match is_new {
        true => format!("saved: memory {id} ({scope}): {}\n", memory.title),
        false => format!("memory {id} ({scope}) is saved already\n"),
    };
    if let Some(note) = recall_note(&memory, &settings.recall) {
        told.push_str(&format!("note: {note}\n"));
    }
    Ok(told)
}
