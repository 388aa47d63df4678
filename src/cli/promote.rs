//! `promote`: words that a person wants remembered become a memory.
//! Knows how people say it; refuses to judge what may be kept (`memory::promote`).

use super::ctx::Ctx;
use super::exit::Exit;
use super::session_filters;
use crate::host::worktree;
use crate::memory::promote::{PromoteRequest, curate, gate, recall_note};
use crate::memory::redaction_setup;
use crate::model::choice::expected;
use crate::model::error::{Error, ErrorKind};
use crate::model::memory::{MemoryKind, MemoryOrigin};
use crate::model::namespace::namespace;
use crate::model::scope::MemoryScope;
use crate::model::source::Agent;
use crate::store::{Access, Project, SessionFilter, Store};
use anyhow::Result;
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Save a memory (decision, lesson, preference, …)
///
/// Search and recall find it at once; the next run delivers it to the group of its scope. Text that
/// looks like a secret is refused. It belongs to the current project unless --scope says otherwise.
#[derive(clap::Args, Debug)]
#[command(group = clap::ArgGroup::new("words").required(true))]
pub struct Args {
    /// decision, lesson, preference, procedure, task or terminology
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: MemoryKind,
    /// Where it applies: session, workspace, or global (alias: user)
    #[arg(long, value_name = "SCOPE", default_value = "workspace", value_parser = scope)]
    scope: MemoryScope,
    /// Title, one line [default: the first line of the text]
    #[arg(long, value_name = "LINE")]
    title: Option<String>,
    /// The text to remember
    #[arg(long, value_name = "TEXT", group = "words")]
    text: Option<String>,
    /// Read the text from standard input
    #[arg(long, group = "words")]
    stdin: bool,
    /// The project it is about: its name, or a path in it [default: the current one]
    #[arg(long, value_name = "PROJECT")]
    project: Option<PathBuf>,
    /// With --scope session: the session's id [default: the project's latest]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

fn kind(word: &str) -> Result<MemoryKind, String> {
    let all = MemoryKind::ALL.map(MemoryKind::as_str);
    MemoryKind::parse(word).ok_or_else(|| expected(word, all))
}

/// A scope as people type it.
pub fn scope(word: &str) -> Result<MemoryScope, String> {
    let all = MemoryScope::ALL.map(MemoryScope::as_str);
    MemoryScope::parse(word).ok_or_else(|| expected(word, all))
}

/// Keeps it. Without the run's lock: a run that takes long must not keep people from it.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let root = session_filters::project(args.project.as_deref(), ctx)?;
    gate(&root, &ctx.env)?;
    let project = Project {
        namespace: namespace(&root),
        path: root,
        host: ctx.host.clone(),
    };
    let settings = &loaded.here.memory;
    let text = said(args.text.as_deref(), ctx)?;
    // only now: what is refused leaves no folder behind
    ctx.make_home()?;
    let redaction = redaction_setup::load(&loaded.config, &ctx.home)?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    let session = match args.scope {
        MemoryScope::Session => session(args.session.as_deref(), &project, &store)?,
        _ => None,
    };
    let includes_git = settings.includes_git;
    let state = || worktree::state(Path::new(&project.path), ctx.vars());
    let wish = PromoteRequest {
        id: None,
        kind: args.kind,
        scope: args.scope,
        origin: MemoryOrigin::Promoted,
        title: args.title.clone(),
        text,
        session,
        git: includes_git.then(state).flatten(),
        at: ctx.now,
    };
    let memory = curate(wish, &project, &mut store, settings, &redaction.redactor)?;
    let is_new = store.keep_memory(&memory, &project)?;
    if ctx.out.json {
        let body = json!({
            "memory": memory.id,
            "new": is_new,
            "kind": memory.kind.as_str(),
            "scope": memory.scope.as_str(),
            "title": memory.title,
            "group": memory.group,
        });
        ctx.out.document("promote", body)?;
        return Ok(Exit::Done);
    }
    let (id, scope) = (memory.id, memory.scope.as_str());
    ctx.out.did(match is_new {
        true => format!("memory {id} ({scope}): {}", memory.title),
        false => format!("memory {id} ({scope}) is saved already: {}", memory.title),
    })?;
    if let Some(note) = recall_note(&memory, &settings.recall) {
        ctx.out.warn(note)?;
    }
    ctx.out
        .note(format!("to remove it: sessionmill memories remove {id}"))?;
    Ok(Exit::Done)
}

/// The words, from the command line or standard input.
pub fn said(text: Option<&str>, ctx: &mut Ctx) -> Result<String> {
    let mut said = text.unwrap_or_default().to_owned();
    if text.is_none() {
        // one byte more than may be kept is enough to refuse it
        let limited = ctx.stdin.from.by_ref().take(STDIN_BYTES_MAX);
        std::io::BufReader::new(limited).read_to_string(&mut said)?;
    }
    match said.trim().is_empty() {
        true => Err(Error::usage("there is nothing to remember")
            .hinted("--text TEXT, or --stdin")
            .into()),
        false => Ok(said),
    }
}

const STDIN_BYTES_MAX: u64 = 64 << 10;

fn session(
    typed: Option<&str>,
    project: &Project,
    store: &Store,
) -> Result<Option<(Agent, String)>, Error> {
    let own = Some(vec![project.namespace.clone()]);
    let row = match typed {
        Some(typed) => store.session_among(typed, own.as_deref())?.ok_or_else(|| {
            let message = format!("there is no session {typed}");
            Error::new(ErrorKind::Failed, message).hinted("sessionmill sessions")
        })?,
        None => {
            let filter = SessionFilter {
                namespaces: own,
                limit: Some(1),
                ..SessionFilter::default()
            };
            match store.sessions(&filter)?.pop() {
                Some(row) => row,
                None => return Ok(None),
            }
        }
    };
    Ok(Some((row.session.agent, row.session.id)))
}
