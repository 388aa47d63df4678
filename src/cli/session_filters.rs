//! Which sessions a command looks at, as people say it: the shared filters, the present project,
//! and how an origin is written. Isolation fails closed (D14).

use super::ctx::Ctx;
use crate::agents::registry;
use crate::config::trust::Trusts;
use crate::memory::places::Places;
use crate::memory::provenance::of_project;
use crate::memory::reach::{Reach, ReachRequest, reach};
use crate::memory::scopes::Scope;
use crate::memory::trusted::trusted;
use crate::memory::when::When;
use crate::model::error::Error;
use crate::model::human;
use crate::model::layout::style::{Style, paint};
use crate::model::session::Session;
use crate::model::source::Agent;
use crate::model::summary::SessionOutcome;
use crate::model::time::Time;
use crate::model::zone::Zone;
use crate::store::{SessionFilter, Store};
use anyhow::Result;
use serde_json::Value;
use std::path::Path;

/// What is said where no session matches: what there is, without the filters.
///
/// # Errors
/// When the store can't be read.
pub fn none_matches(scope: &Scope, store: &Store, zone: Zone) -> Result<String, Error> {
    let any = SessionFilter {
        namespaces: scope.namespaces(),
        limit: Some(1),
        ..SessionFilter::default()
    };
    let newest = store.sessions(&any)?.into_iter().next();
    let facts = newest.map(|row| row.session.facts);
    let ended = facts.and_then(|facts| facts.ended.or(facts.started));
    Ok(match ended {
        Some(ended) => {
            let day = human::time(Some(ended), zone);
            format!("no session matches; the newest one ended {day}")
        }
        None => "no session is stored here; to read new logs: sessionmill run".to_owned(),
    })
}

/// Filters that `search`, `sessions` and `stats` share.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Filters {
    /// Only this project: its name, or a path in it (`.` is the current one)
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Only namespaces with this prefix (6 to 64 hex digits, or a project's path or name)
    #[arg(long, value_name = "HEX")]
    pub namespace: Vec<String>,
    /// Only this agent: claude, codex, …; for changes to repositories and files also person and
    /// unknown
    #[arg(long, value_name = "NAME", value_parser = agent)]
    pub agent: Option<Agent>,
    /// Only what happened since WHEN: 14d, '3 months', yesterday, 'last week', 2026-04-01T10:00
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Only what began before WHEN; a named day or week is included
    #[arg(long, value_name = "WHEN")]
    pub until: Option<When>,
    /// Include untrusted projects
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
    registry::doer_named(word)
}

/// The namespaces of which something may be shown by its id; `None`: all.
pub fn seen(allow_untrusted: bool, store: &Store, ctx: &Ctx) -> Result<Option<Vec<String>>> {
    let scope = match allow_untrusted {
        true => Scope::All,
        false => trusted(Scope::All, store, &Trusts::load(&ctx.env)?)?,
    };
    Ok(scope.namespaces())
}

/// The filter for the store. Where nothing may be seen, the reason is printed and nothing passes.
pub fn namespaces(reach: &Reach, ctx: &mut Ctx) -> Result<Option<Vec<String>>> {
    if let Some(reason) = reach.refusal() {
        ctx.out.warn(reason)?;
    }
    Ok(reach.scope.namespaces())
}

/// The stored sessions that pass, with the filters that made this reach.
pub fn sessions(reach: &Reach, filters: &Filters, ctx: &mut Ctx) -> Result<SessionFilter> {
    Ok(SessionFilter {
        namespaces: namespaces(reach, ctx)?,
        agent: filters.agent,
        since: filters.since(ctx),
        until: filters.until(ctx),
        limit: None,
    })
}

/// Where a session comes from, as the settings let it be shown.
pub fn origin(session: &Session, ctx: &mut Ctx) -> Result<String> {
    origin_of(&session.namespace, &session.project_path, ctx)
}

/// The same for a project: its name, and with `--verbose` what it is told apart by.
pub fn origin_of(namespace: &str, path: &str, ctx: &mut Ctx) -> Result<String> {
    let name = paint(Style::Name, &ctx.project_name(namespace, path)?);
    Ok(match ctx.verbose {
        true => {
            let shows_path = !ctx.hides_paths_of(path)?;
            format!("{name} {}", of_project(namespace, path, shows_path))
        }
        false => name,
    })
}

/// How a session ended, painted by what that means; nothing where it isn't known. `is_quiet`: its log grows no
/// more.
pub fn outcome(outcome: Option<SessionOutcome>, is_quiet: bool) -> String {
    let Some(outcome) = outcome else {
        return String::new();
    };
    let style = match outcome {
        SessionOutcome::Completed => Style::Good,
        SessionOutcome::Blocked => Style::Alarm,
        _ => Style::Open,
    };
    paint(style, outcome.words(is_quiet))
}

/// How long ago it was; with `--verbose` when.
pub fn age(at: Option<Time>, ctx: &Ctx) -> String {
    match at.filter(|_| !ctx.verbose) {
        Some(at) => human::ago(at, ctx.now),
        None => human::time(at, ctx.zone),
    }
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

/// The root of the project that is named, which needs not be stored: a path, or a stored project's name.
/// Without one, the present project.
pub fn project(typed: Option<&Path>, ctx: &Ctx) -> Result<String> {
    Ok(places(ctx)?.any(typed.unwrap_or(Path::new(".")), &ctx.env.cwd)?)
}

/// The stored projects.
pub fn places(ctx: &Ctx) -> Result<Places> {
    let places = ctx.stored()?.as_ref().map(Places::of).transpose()?;
    Ok(places.unwrap_or_default())
}

/// Joins the filters with what the settings allow here.
pub fn scope(filters: &Filters, ctx: &mut Ctx) -> Result<Reach> {
    if let Some(since) = filters.since(ctx) {
        if since > ctx.now {
            return Err(Error::usage("--since is in the future").into());
        }
        if filters.until(ctx).is_some_and(|until| until <= since) {
            return Err(Error::usage("--until is before --since").into());
        }
    }
    let loaded = ctx.settings()?;
    let (store, places) = (ctx.stored()?, places(ctx)?);
    let trusts = match filters.allow_untrusted {
        true => None,
        false => Some(Trusts::load(&ctx.env)?),
    };
    let request = ReachRequest {
        project: filters.project.as_deref(),
        asked: &filters.namespace,
        settings: &loaded.here,
        trusts: trusts.as_ref(),
        present: places.present(&ctx.env.cwd),
        cwd: &ctx.env.cwd,
    };
    Ok(reach(request, &places, store.as_ref())?)
}
