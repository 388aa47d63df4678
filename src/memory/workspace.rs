//! Where an agent works, which stored sessions are of its project, and whether it may be given any.

use super::scopes::Scope;
use crate::config::trust::{Trust, Trusts};
use crate::config::{Env, Loaded};
use crate::host::git;
use crate::model::error::Error;
use crate::model::namespace::{is_of_windows, namespace, project_root};
use crate::store::SessionFilter;
use std::path::{Component, Path, PathBuf};

/// A working directory, as the memory of its project is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The project's root: the repository's, else the directory.
    pub root: String,
    /// The directory: a worktree lies elsewhere.
    cwd: String,
    /// Folders of a repository are one project. Outside of one a folder is none of those below it: a
    /// home directory doesn't remember everybody's work.
    is_repository: bool,
    /// The branch that is checked out.
    pub branch: Option<String>,
}

impl Workspace {
    /// Around an absolute directory; a few `stat`s.
    pub fn of(cwd: &Path) -> Workspace {
        let repository = git::repository(cwd);
        let root = repository.as_deref().unwrap_or(cwd);
        Workspace {
            root: project_root(&root.to_string_lossy()),
            cwd: project_root(&cwd.to_string_lossy()),
            is_repository: repository.is_some(),
            branch: git::branch(cwd),
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
        let here = &loaded.here;
        if !here.memory.recall.enabled {
            return Err(Error::usage("graphiti.recall.enabled is false"));
        }
        let trusts = Trusts::load(env)?;
        let trust = [&self.root, &self.cwd].map(|dir| trusts.of(dir));
        if trust.contains(&Trust::Untrusted) {
            return Err(Error::usage("the project is not trusted"));
        }
        if here.memory.denies_unknown && !trust.contains(&Trust::Trusted) {
            return Err(Error::usage(
                "no agent was told to trust the project, and graphiti.unknown_projects is deny",
            ));
        }
        if !here.trusts(&self.namespace()) {
            return Err(Error::usage(
                "session_tracking.trusted_namespaces doesn't name the project",
            ));
        }
        Ok(trusts)
    }

    /// The namespace of the project's root.
    pub fn namespace(&self) -> String {
        namespace(&self.root)
    }

    /// Whose sessions are its own, of those that are trusted (`None`: all).
    pub fn scope(&self, trusted: Option<&[String]>) -> Scope {
        match (self.is_repository, trusted) {
            (false, _) => Scope::Only(vec![self.namespace()]),
            (true, None) => Scope::All,
            (true, Some(trusted)) => Scope::Only(trusted.to_vec()),
        }
    }

    /// The path that its sessions' projects have, or begin with; goes with [`Workspace::scope`].
    pub fn project(&self) -> Option<String> {
        self.is_repository.then(|| self.root.clone())
    }

    /// This project's sessions within a scope, the latest first.
    pub fn sessions(&self, scope: &Scope, limit: u32) -> SessionFilter {
        SessionFilter {
            project: self.project(),
            namespaces: scope.namespaces(),
            limit: Some(limit),
            ..SessionFilter::default()
        }
    }
}

/// The root of the project that a path means, from the directory `cwd`: `.`, and no path, is the
/// repository around it, anything else itself.
pub fn root_of(path: Option<&Path>, cwd: &Path) -> String {
    let path = path.unwrap_or(Path::new("."));
    let full = match path == Path::new(".") {
        true => git::repository(cwd).unwrap_or_else(|| cwd.to_owned()),
        // logs may come from another machine
        false if is_of_windows(&path.to_string_lossy()) => path.to_owned(),
        false => tidy(&cwd.join(path)),
    };
    project_root(&full.to_string_lossy())
}

/// Without `.` and `..`: a project has one name.
fn tidy(path: &Path) -> PathBuf {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    match climbs {
        true => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        false => path.components().collect(),
    }
}
