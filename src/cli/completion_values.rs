//! What completes a value: names and ids out of the settings and the store, by what the help calls the
//! value. Where anything is wrong, or something would have to be quoted, nothing is offered.

use super::world::World;
use crate::agents::registry;
use crate::config::trust::Trusts;
use crate::config::{self, Env, Home};
use crate::memory::places::Places;
use crate::memory::scopes::Scope;
use crate::memory::trusted::trusted;
use crate::model::error::Error;
use crate::model::inert::inert;
use crate::model::layout::markdown::plain;
use crate::model::shell;
use crate::pipeline::context::HiddenPaths;
use crate::pipeline::spec;
use crate::store::{Access, MemoryState, SessionFilter, SessionRow, Store, TYPED};
use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use std::ffi::OsStr;

/// The latest sessions that are offered; an older one by the beginning of its id.
const SESSIONS_MAX: u32 = 100;
/// Characters of a title beside an id.
const TITLE_CHARS: usize = 60;

/// Where values are looked for.
#[derive(Clone)]
pub struct Values {
    env: Env,
    home: Home,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Session,
    Project,
    Sink,
    Pipeline,
    Key,
    Agent,
    Memory,
    Scope,
}

/// A value, and what is said beside it.
type Offer = (String, String);

impl Values {
    /// Of the home that the world's variables name; of none where they name none.
    pub fn of(world: &World) -> Values {
        let home = world
            .vars
            .get("HOME")
            .map_or("/nonexistent", String::as_str);
        let env = Env {
            home: home.into(),
            cwd: world.cwd.clone(),
            vars: world.vars.clone(),
        };
        Values {
            home: Home::of(&env),
            env,
        }
    }

    fn offers(&self, kind: Kind, typed: &str) -> Result<Vec<Offer>, Error> {
        let bare = |word: String| (word, String::new());
        Ok(match kind {
            Kind::Session => self.sessions(typed)?,
            Kind::Project => self.projects()?,
            Kind::Memory => self.memories()?,
            Kind::Pipeline => spec::known(&self.home.pipelines())
                .into_iter()
                .map(bare)
                .collect(),
            Kind::Agent => registry::words()
                .map(|agent| (agent.as_str().into(), registry::title(agent).into()))
                .collect(),
            Kind::Scope => ["session", "workspace", "global"]
                .map(|word| bare(word.into()))
                .into(),
            Kind::Sink => self
                .loaded()?
                .config
                .sinks
                .iter()
                .map(|sink| bare(sink.name.clone()))
                .collect(),
            Kind::Key => config::setting_keys().into_iter().map(bare).collect(),
        })
    }

    fn loaded(&self) -> Result<config::Loaded, Error> {
        config::load(&self.env, registry::log_folders)
    }

    fn store(&self) -> Result<Option<Store>, Error> {
        let path = self.home.store();
        let open = || Store::open(&path, Access::ReadOnly);
        path.exists().then(open).transpose()
    }

    /// Ids with titles, of projects that may be told of.
    fn sessions(&self, typed: &str) -> Result<Vec<Offer>, Error> {
        let Some(store) = self.store()? else {
            return Ok(Vec::new());
        };
        let scope = trusted(Scope::All, &store, &Trusts::load(&self.env)?)?;
        let filter = SessionFilter {
            namespaces: scope.namespaces(),
            limit: Some(SESSIONS_MAX),
            ..SessionFilter::default()
        };
        let mut rows = store.sessions(&filter)?;
        rows.retain(|row| row.session.id.starts_with(typed));
        if rows.is_empty() && !typed.is_empty() {
            let one = store.session_among(typed, filter.namespaces.as_deref())?;
            rows.extend(one);
        }
        let offer = |row: &SessionRow| {
            let id = &row.session.id;
            let shown = store.session_shown(id, TYPED)?;
            let id = if shown.starts_with(typed) {
                shown
            } else {
                id.clone()
            };
            Ok((id, row.title.as_deref().map(plain).unwrap_or_default()))
        };
        rows.iter().map(offer).collect()
    }

    /// Names; where two are alike, with as much of the path as tells them apart.
    fn projects(&self) -> Result<Vec<Offer>, Error> {
        let Some(store) = self.store()? else {
            return Ok(Vec::new());
        };
        let (loaded, mut hidden) = (self.loaded()?, HiddenPaths::default());
        let scope = trusted(Scope::All, &store, &Trusts::load(&self.env)?)?;
        let names = Places::of(&store)?.names(|path| hidden.of(path, &loaded));
        let mut names: Vec<String> = names
            .into_iter()
            .filter(|(namespace, _)| scope.allows(namespace))
            .map(|(_, name)| name)
            .collect();
        names.sort();
        names.dedup();
        Ok(names
            .into_iter()
            .map(|name| (name, String::new()))
            .collect())
    }

    fn memories(&self) -> Result<Vec<Offer>, Error> {
        let Some(store) = self.store()? else {
            return Ok(Vec::new());
        };
        let scope = trusted(Scope::All, &store, &Trusts::load(&self.env)?)?;
        let rows = store.memories(&[MemoryState::Kept])?.into_iter();
        let kept = rows.filter_map(|row| Some((row.id, row.kept?)));
        kept.filter(|(_, kept)| scope.allows(&kept.namespace))
            .map(|(id, kept)| Ok((store.episode_shown(id, TYPED)?, kept.title)))
            .collect()
    }

    fn candidates(&self, kind: Kind, typed: &OsStr) -> Vec<CompletionCandidate> {
        let Some(typed) = typed.to_str() else {
            return Vec::new();
        };
        let offers = self.offers(kind, typed).unwrap_or_default().into_iter();
        // the shell puts it into the line as it is
        let safe = offers.filter(|(value, _)| {
            value.starts_with(typed) && !value.starts_with('-') && shell::word(value) == *value
        });
        let candidate = |(nth, (value, beside)): (usize, Offer)| {
            let words: Vec<&str> = beside.split_whitespace().collect();
            let words: String = words.join(" ").chars().take(TITLE_CHARS).collect();
            let words = inert(&words).into_owned();
            CompletionCandidate::new(value)
                .help((!words.is_empty()).then(|| words.into()))
                .display_order(Some(nth))
        };
        safe.enumerate().map(candidate).collect()
    }
}

/// The tree, in which values are completed.
pub fn with_values(command: Command, values: &Values) -> Command {
    let command = command.mut_args(|arg| match kind(&arg) {
        Some(kind) => {
            let values = values.clone();
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
                values.candidates(kind, typed)
            }))
        }
        None => arg,
    });
    command.mut_subcommands(|below| with_values(below, values))
}

/// What an argument's value is, by what the help calls it.
fn kind(arg: &Arg) -> Option<Kind> {
    match arg.get_id().as_str() {
        "agent" => return Some(Kind::Agent),
        "pipeline" => return Some(Kind::Pipeline),
        _ => {}
    }
    let name = arg.get_value_names()?.first()?;
    Some(match name.as_str() {
        "SESSION" | "SESSION|EPISODE" => Kind::Session,
        "PROJECT" | "OLD" | "HEX" => Kind::Project,
        "SINK" => Kind::Sink,
        "PIPELINE" => Kind::Pipeline,
        "KEY" => Kind::Key,
        "AGENT" => Kind::Agent,
        "MEMORY" => Kind::Memory,
        "SCOPE" => Kind::Scope,
        _ => return None,
    })
}
