//! What one request may see: the settings as they are now, the store, whose projects, whose paths.
//! Isolation fails closed (D14).

use super::server_context::ServerContext;
use crate::agents::registry;
use crate::config::trust::Trusts;
use crate::config::{self, Config, Env, Home, Loaded, gate};
use crate::memory::places::Places;
use crate::memory::provenance::{of_project, shown_path};
use crate::memory::query_parser::{self, Meant};
use crate::memory::reach::{ReachRequest, reach};
use crate::memory::scopes::Scope;
use crate::memory::when::When;
use crate::model::embedding::Meaning;
use crate::model::error::{Error, ErrorKind};
use crate::model::time::Time;
use crate::pipeline::meaning::{MeaningRequest, excuse, meaning};
use crate::store::{Access, Store};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A request's surroundings.
pub struct Here<'w> {
    context: &'w ServerContext,
    /// The settings, with those of the client's project.
    pub loaded: Loaded,
    /// Where everything of ours lies.
    pub home: Home,
    /// When it was asked.
    pub now: Time,
    /// The stored projects.
    pub places: Places,
    /// The root of the client's project; `None`: nobody knows.
    pub project: Option<String>,
    /// The machine's name.
    pub host: String,
    /// The environment, as if we had been started where the client works.
    pub env: Env,
    /// Where the client works.
    at: Option<PathBuf>,
    hidden: RefCell<BTreeMap<String, bool>>,
}

impl<'w> Here<'w> {
    /// Looks around; `named` is the directory in which the client says that it works. Where it says
    /// nothing, our own directory's repository is the project, if the client started us there.
    ///
    /// # Errors
    /// When the settings can't be read.
    pub fn new(context: &'w ServerContext, named: Option<&Path>) -> Result<Here<'w>, Error> {
        let mut env = context.env.clone();
        let home = context.home();
        let stored = home.store().exists();
        let places = match stored.then(|| Store::open(&home.store(), Access::ReadOnly)) {
            Some(store) => Places::of(&store?)?,
            None => Places::default(),
        };
        let at = match named {
            Some(name) if !name.is_absolute() => {
                let name = name.to_string_lossy();
                Some(PathBuf::from(places.meant(&name, &env.home)?))
            }
            Some(dir) => Some(dir.to_owned()),
            None => context.is_beside.then(|| env.cwd.clone()),
        };
        let project = match named.and(at.as_deref()) {
            Some(dir) => Some(places.root(dir, dir)),
            None => at.as_deref().and_then(|dir| places.present(dir)),
        };
        // A project's own file counts where its project is the present one, and nowhere else.
        env.cwd = at.clone().unwrap_or_else(|| env.home.clone());
        let loaded = config::load(&env, registry::log_folders)?;
        if let Some(why) = &loaded.closed {
            return Err(Error::usage(why.clone()));
        }
        Ok(Here {
            context,
            loaded,
            home,
            now: (context.clock)(),
            places,
            project,
            host: context.host.clone(),
            env,
            at,
            hidden: RefCell::default(),
        })
    }

    /// The directory in which the client works.
    ///
    /// # Errors
    /// Of usage, where nobody knows.
    pub fn at(&self) -> Result<&Path, Error> {
        let unknown = || Error::usage("the current project is not known; name it with `project`");
        self.at.as_deref().ok_or_else(unknown)
    }

    /// The settings that hold here.
    pub fn settings(&self) -> &Config {
        &self.loaded.here
    }

    /// What a search line means.
    ///
    /// # Errors
    /// Of usage, with what to type.
    pub fn line(&self, line: &str) -> Result<Meant, Error> {
        let zone = self.context.zone;
        let dates = |field: &str, value: &str| When::of_field(field, value, self.now, zone);
        query_parser::read(line, 0, &dates, registry::doer_named)
    }

    /// What the words of a line mean; `None`: they alone have to do.
    pub fn meaning(&self, words: &str, store: &Store) -> Option<Meaning> {
        let asked = MeaningRequest {
            words,
            loaded: &self.loaded,
            env: &self.env,
            now: self.now,
        };
        meaning(&asked, store).unwrap_or_else(|error| {
            (self.context.warn)(&excuse(&error));
            None
        })
    }

    /// The store, where there is one.
    pub fn stored(&self) -> Result<Option<Store>, Error> {
        let exists = self.home.store().exists();
        exists.then(|| self.store()).transpose()
    }

    /// The store, to read. Works while a run writes.
    ///
    /// # Errors
    /// Where there is none: what the user can type depends on whether sessions may be read.
    pub fn store(&self) -> Result<Store, Error> {
        if self.home.store().exists() {
            return Store::open(&self.home.store(), Access::ReadOnly);
        }
        let gate = gate(&self.loaded.config);
        Err(match gate.enabled {
            true => Error::usage("nothing is remembered yet: no session was read")
                .hinted("sessionmill run"),
            false => Error::usage(format!("nothing is remembered: {}", gate.reason))
                .hinted("if the user agrees: sessionmill init"),
        })
    }

    /// Files of some project are tracked.
    pub fn tracks_files(&self) -> bool {
        !self.loaded.tracking.projects().is_empty()
    }

    /// What may be seen of a project that is named, or of these; without the projects that an agent was
    /// told not to trust.
    ///
    /// # Errors
    /// Nothing is stored of what is asked for, or several projects are called so.
    pub fn reach(&self, project: Option<&str>, asked: &[String]) -> Result<Scope, Error> {
        let trusts = Trusts::load(&self.env)?;
        let request = ReachRequest {
            project,
            asked,
            settings: self.settings(),
            trusts: Some(&trusts),
            present: self.project.clone(),
            cwd: &self.env.cwd,
        };
        let store = self.stored()?;
        Ok(match reach(request, &self.places, store.as_ref())?.scope {
            Scope::Nothing(_)
                if self.project.is_none() && !self.settings().cross_project_search =>
            {
                Scope::Nothing(UNKNOWN_PROJECT)
            }
            scope => scope,
        })
    }

    /// The same of these, as an error where nothing may be seen.
    pub fn open_scope(&self, asked: &[String]) -> Result<Scope, Error> {
        self.open_scope_of(None, asked)
    }

    /// The same of these in a project that is named.
    pub fn open_scope_of(&self, project: Option<&str>, asked: &[String]) -> Result<Scope, Error> {
        self.store()?;
        match self.reach(project, asked)? {
            Scope::Nothing(reason) => Err(Error::usage(reason)),
            scope => Ok(scope),
        }
    }

    /// What the client's project has.
    pub fn namespaces(&self) -> BTreeSet<String> {
        let root = self.project.as_deref();
        root.map_or_else(BTreeSet::new, |root| self.places.namespaces(root))
    }

    /// Of the client's project alone, as far as it may be seen.
    pub fn own_scope(&self, asked: &[String]) -> Result<Scope, Error> {
        let scope = self.open_scope(asked)?;
        let Some(root) = &self.project else {
            return Ok(scope);
        };
        let own = self.places.reached(root).into_iter();
        Ok(Scope::Only(
            own.filter(|space| scope.allows(space)).collect(),
        ))
    }

    /// The paths of this project are not to be shown.
    pub fn hides_paths_of(&self, project: &str) -> bool {
        let mut hidden = self.hidden.borrow_mut();
        if let Some(known) = hidden.get(project) {
            return *known;
        }
        let hides = self.loaded.hides_paths_of(Path::new(project));
        hidden.insert(project.to_owned(), hides);
        hides
    }

    /// `[namespace: a1b2c3d4, path: /home/me/app]` (000-061).
    pub fn origin(&self, namespace: &str, project: &str) -> String {
        let shown = shown_path(project, &self.loaded.here);
        of_project(namespace, &shown, !self.hides_paths_of(project))
    }

    /// A log's path as it may be shown: its name alone where paths are hidden.
    pub fn log<'p>(&self, path: &'p str, project: &str) -> Cow<'p, str> {
        match self.hides_paths_of(project) {
            true => path.rsplit('/').next().unwrap_or_default().into(),
            false => shown_path(path, &self.loaded.here),
        }
    }
}

const UNKNOWN_PROJECT: &str =
    "cross_project_search is off and the current project is not known; name it with `project`";

/// The first typed error in a chain, else what it says.
pub fn typed(error: anyhow::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error,
        Err(error) => Error::new(ErrorKind::Failed, format!("{error:#}")),
    }
}

/// `2026-05-31 21:14Z`; `undated` where no time is known.
pub fn minute(time: Option<Time>) -> String {
    match time {
        Some(time) => time.utc().format("%Y-%m-%d %H:%MZ").to_string(),
        None => "undated".to_owned(),
    }
}
