//! What one request may see: the settings as they are now, the store, whose projects, whose paths.
//! Isolation fails closed (D14).

use super::server_context::ServerContext;
use crate::agents::registry;
use crate::config::trust::Trusts;
use crate::config::{self, Config, Env, Home, Loaded};
use crate::host::git;
use crate::memory::provenance::{of_project, told_path};
use crate::memory::query_parser::{self, Meant};
use crate::memory::scopes::{self, Scope, ScopeRequest};
use crate::memory::trusted::trusted;
use crate::memory::when::When;
use crate::model::embedding::Meaning;
use crate::model::error::{Error, ErrorKind};
use crate::model::namespace::{namespace, project_root};
use crate::model::time::Time;
use crate::pipeline::meaning::{MeaningRequest, excuse, meaning};
use crate::store::{Access, Store};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
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
    /// The client's project; `None`: nobody knows.
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
        let project = match named {
            Some(dir) => Some(git::repository(dir).unwrap_or_else(|| dir.to_owned())),
            None if context.is_beside => git::repository(&env.cwd),
            None => None,
        };
        let project = project.map(|dir| project_root(&dir.to_string_lossy()));
        let at = match named {
            Some(dir) => Some(dir.to_owned()),
            None => context.is_beside.then(|| env.cwd.clone()),
        };
        // A project's own file counts where its project is the present one, and nowhere else.
        env.cwd = at.clone().unwrap_or_else(|| env.home.clone());
        Ok(Here {
            context,
            loaded: config::load(&env, registry::log_folders)?,
            home: context.home(),
            now: (context.clock)(),
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
        query_parser::read(line, 0, &dates, registry::doer_by_word)
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

    /// The store, to read. Works while a run writes; an error with a hint where there is none.
    pub fn store(&self) -> Result<Store, Error> {
        Store::open(&self.home.store(), Access::ReadOnly)
    }

    /// Whose sessions may be seen, where these namespaces are asked for.
    ///
    /// # Errors
    /// Of kind `Usage` for what isn't a namespace.
    pub fn scope(&self, asked: &[String]) -> Result<Scope, Error> {
        let here = self.settings();
        let current = self.project.as_deref().map(namespace);
        let scope = scopes::scope(ScopeRequest {
            asked,
            cross_project: here.cross_project_search,
            trusted: here.trusted_namespaces.as_deref(),
            current: current.as_deref(),
        })?;
        Ok(match scope {
            Scope::Nothing(_) if !here.cross_project_search => Scope::Nothing(UNKNOWN_PROJECT),
            scope => scope,
        })
    }

    /// The same without the projects that an agent was told not to trust; an error where nothing may be
    /// seen.
    pub fn open_scope(&self, asked: &[String]) -> Result<Scope, Error> {
        let scope = self.scope(asked)?;
        match trusted(scope, None, &self.store()?, &Trusts::load(&self.env)?)? {
            Scope::Nothing(reason) => Err(Error::usage(reason)),
            scope => Ok(scope),
        }
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
        let told = told_path(project, &self.loaded.here);
        of_project(namespace, &told, !self.hides_paths_of(project))
    }

    /// A log's path as it may be shown: its name alone where paths are hidden.
    pub fn log<'p>(&self, path: &'p str, project: &str) -> Cow<'p, str> {
        match self.hides_paths_of(project) {
            true => path.rsplit('/').next().unwrap_or_default().into(),
            false => told_path(path, &self.loaded.here),
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
