//! Where an agent works, which stored sessions are of its project, and whether it may be given any.

use super::places::{Places, root_of};
use super::scopes::Scope;
use crate::config::trust::{Trust, Trusts};
use crate::config::{Env, Loaded};
use crate::host::git;
use crate::model::error::Error;
use crate::model::namespace::{namespace, project_root};
use crate::store::SessionFilter;
use std::path::Path;

/// A working directory, as the memory of its project is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The project's root: the repository's, else the directory, without links.
    pub root: String,
    /// The directory: a worktree lies elsewhere.
    cwd: String,
    /// It lies in a repository.
    pub is_repository: bool,
    /// The branch that is checked out.
    pub branch: Option<String>,
}

impl Workspace {
    /// Around an absolute directory; a few `stat`s.
    pub fn of(cwd: &Path) -> Workspace {
        Workspace {
            root: root_of(None, cwd),
            cwd: project_root(&cwd.to_string_lossy()),
            is_repository: git::repository(cwd).is_some(),
            branch: git::branch(cwd),
        }
    }

    /// A project's root, wherever the machine has it.
    pub fn at_root(root: &str) -> Workspace {
        Workspace {
            root: root.to_owned(),
            cwd: root.to_owned(),
            is_repository: false,
            branch: None,
        }
    }

    /// Whether memory may be given to an agent here: `graphiti.recall.enabled`, then trust (002-010,
    /// D63), then `trusted_namespaces` (D14). What can't be read is a no.
    ///
    /// Gives whom the agents trust.
    ///
    /// # Errors
    /// Of usage, naming what stands in the way.
    pub fn gate(&self, loaded: &Loaded, env: &Env) -> Result<Trusts, Error> {
        if let Some(why) = &loaded.closed {
            return Err(Error::usage(why.clone()));
        }
        let here = &loaded.here;
        if !here.memory.recall.enabled {
            return Err(
                Error::usage("recall is off: graphiti.recall.enabled is false")
                    .hinted("sessionmill config set graphiti.recall.enabled true"),
            );
        }
        let trusts = Trusts::load(env)?;
        let trust = [&self.root, &self.cwd].map(|dir| trusts.of(dir));
        if trust.contains(&Trust::Untrusted) {
            return Err(Error::usage("the project is not trusted"));
        }
        if here.memory.denies_unknown && !trust.contains(&Trust::Trusted) {
            return Err(Error::usage(
                "no agent has recorded trust in this project, and graphiti.unknown_projects is deny",
            ));
        }
        if !self.is_listed(here.trusted_namespaces.as_deref()) {
            return Err(Error::usage(
                "session_tracking.trusted_namespaces doesn't name the project",
            ));
        }
        Ok(trusts)
    }

    fn is_listed(&self, trusted: Option<&[String]>) -> bool {
        let Some(trusted) = trusted else { return true };
        let trusted = Places::default().listed(trusted);
        let own = [&self.root, &self.cwd].map(|dir| namespace(dir));
        let is_own = |one: &String| own.iter().any(|space| space.starts_with(one));
        trusted.iter().any(is_own)
    }

    /// The namespace of the project's root.
    pub fn namespace(&self) -> String {
        namespace(&self.root)
    }

    /// Whose sessions are its own, of those that are trusted (`None`: all). A folder without a repository is
    /// none of those below it: a home directory doesn't remember everybody's work.
    pub fn scope(&self, places: &Places, trusted: Option<&[String]>) -> Scope {
        let trusted = trusted.map(|trusted| places.listed(trusted));
        let is_trusted = |space: &String| {
            let trusted = trusted.as_ref();
            trusted.is_none_or(|all| all.iter().any(|one| space.starts_with(one)))
        };
        let root = places.root(Path::new(&self.root), Path::new("/"));
        let own = places.namespaces(&root).into_iter();
        Scope::Only(own.filter(is_trusted).collect())
    }

    /// This project's sessions within a scope, the latest first.
    pub fn sessions(&self, scope: &Scope, limit: u32) -> SessionFilter {
        SessionFilter {
            namespaces: scope.namespaces(),
            limit: Some(limit),
            ..SessionFilter::default()
        }
    }
}
