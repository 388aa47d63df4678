//! Which sessions a command looks at, as people say it: the shared filters, the present project,
//! and how an origin is written. Isolation fails closed (D14).

use super::ctx::Ctx;
use crate::agents::registry;
use crate::config::trust::Trusts;
use crate::host::git;
use crate::memory::provenance::of_project;
use crate::memory::scopes::{self, Scope, ScopeRequest};
use crate::memory::trusted::trusted;
use crate::memory::when::When;
use crate::memory::workspace::root_of;
use crate::model::namespace::{namespace, project_root};
use crate::model::session::Session;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::SessionFilter;
use anyhow::Result;
use serde_json::Value;
use std::path::PathBuf;

/// Filters that `search`, `sessions` and `stats` share.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Filters {
    /// Only this project: a path; `.` is the present repository
    #[arg(long, value_name = "PATH")]
    pub project: Option<PathBuf>,
    /// Only namespaces that begin so (6 to 64 hex digits, or a project's absolute path)
    #[arg(long, value_name = "HEX")]
    pub namespace: Vec<String>,
    /// Only this agent's sessions, and what it did to repositories and files; of these also: person, unknown
    #[arg(long, value_name = "NAME", value_parser = agent)]
    pub agent: Option<Agent>,
    /// Only what went on since: 14d, 2h, 2026-04-01, 2026-04-01T10:00
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Only what began before; a day is included whole
    #[arg(long, value_name = "WHEN")]
    pub until: Option<When>,
    /// Even of projects that an agent was told not to trust
    #[arg(long)]
    pub allow_untrusted: bool,
}

impl Filters {
    /// `--since` as a time.
    pub fn since(&self, ctx: &Ctx) -> Option<Time> {
        self.since.map(|when| when.start(ctx.now, ctx.zone))
    }

    /// `--until` as the first time that is out.
    pub fn until(&self, ctx: &Ctx) -> Option<Time> {
        self.until.map(|when| when.end(ctx.now, ctx.zone))
    }
}

fn agent(word: &str) -> Result<Agent, String> {
    registry::doer_by_word(word).ok_or_else(|| "write claude, codex, person or unknown".into())
}

/// The first `length` characters of a hash.
pub fn short(id: &str, length: usize) -> &str {
    id.get(..length).unwrap_or(id)
}

/// What the filters and the settings let through.
pub struct Reach {
    /// Whose namespaces.
    pub scope: Scope,
    /// Neither the settings nor the filters choose projects; trust may.
    pub is_open: bool,
    /// This project's path, or one below it.
    pub project: Option<String>,
    /// The project that the command is about: the one that is asked for, or the present one.
    pub present: Option<String>,
}

impl Reach {
    /// The filter for the store. Where nothing may be seen, the reason is printed and nothing
    /// passes.
    pub fn namespaces(&self, ctx: &mut Ctx) -> Result<Option<Vec<String>>> {
        if let Some(reason) = self.refusal() {
            ctx.out.warn(reason)?;
        }
        Ok(self.scope.namespaces())
    }

    /// Why nothing may be seen; `None` where something may.
    pub fn refusal(&self) -> Option<&'static str> {
        match self.scope {
            Scope::Nothing(reason) => Some(reason),
            _ => None,
        }
    }

    /// The stored sessions that pass, with the filters that made this reach.
    pub fn sessions(&self, filters: &Filters, ctx: &mut Ctx) -> Result<SessionFilter> {
        Ok(SessionFilter {
            namespaces: self.namespaces(ctx)?,
            project: self.project.clone(),
            agent: filters.agent,
            since: filters.since(ctx),
            until: filters.until(ctx),
            limit: None,
        })
    }
}

/// Where a session comes from, as the settings let it be shown.
pub fn origin(session: &Session, ctx: &mut Ctx) -> Result<String> {
    origin_of(&session.namespace, &session.project_path, ctx)
}

/// The same for a project.
pub fn origin_of(namespace: &str, path: &str, ctx: &mut Ctx) -> Result<String> {
    let shows_path = !ctx.hides_paths_of(path)?;
    Ok(of_project(namespace, path, shows_path))
}

/// A document about a project as the settings let it be shown: without paths, or as it is.
pub fn veiled(mut document: Value, project: &str, ctx: &mut Ctx) -> Result<Value> {
    if ctx.hides_paths_of(project)? {
        for key in ["project_path", "cwd", "path"] {
            if let Some(path) = document.get_mut(key) {
                *path = Value::Null;
            }
        }
    }
    Ok(document)
}

/// A document of each, in order.
pub fn documents<T>(
    all: impl IntoIterator<Item = T>,
    document: impl Fn(T, &mut Ctx) -> Result<Value>,
    ctx: &mut Ctx,
) -> Result<Vec<Value>> {
    all.into_iter().map(|one| document(one, ctx)).collect()
}

/// Joins the filters with what the settings allow here.
pub fn scope(filters: &Filters, ctx: &mut Ctx) -> Result<Reach> {
    let loaded = ctx.settings()?;
    let project = filters
        .project
        .as_deref()
        .map(|path| root_of(Some(path), &ctx.env.cwd));
    let present = project
        .clone()
        .or_else(|| git::repository(&ctx.env.cwd).map(|dir| project_root(&dir.to_string_lossy())));
    let current = present.as_deref().map(namespace);
    let scope = scopes::scope(ScopeRequest {
        asked: &filters.namespace,
        cross_project: loaded.here.cross_project_search,
        trusted: loaded.here.trusted_namespaces.as_deref(),
        current: current.as_deref(),
    })?;
    let is_open = scope == Scope::All && project.is_none();
    let scope = match filters.allow_untrusted {
        true => scope,
        false => trusted_of(scope, project.as_deref(), ctx)?,
    };
    Ok(Reach {
        scope,
        is_open,
        project,
        present,
    })
}

/// A scope without the projects that an agent was told not to trust (D63).
pub fn trusted_of(scope: Scope, project: Option<&str>, ctx: &Ctx) -> Result<Scope> {
    let trusts = Trusts::load(&ctx.env)?;
    match trusts.mistrusts_any(project) && ctx.home.store().exists() {
        true => Ok(trusted(scope, project, &ctx.reader()?, &trusts)?),
        false => Ok(scope),
    }
}
