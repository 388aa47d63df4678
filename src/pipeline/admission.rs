//! Which logs are left out on purpose, and why: excluded by a person, switched off by the project,
//! not trusted (D08, D63). Fails closed: where a project's own settings can't be read, nothing of
//! the project is.

use crate::config::Loaded;
use crate::config::trust::{Trust, Trusts};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

/// Asked for every log with news; remembers its answers per project.
pub struct Admission<'a> {
    loaded: &'a Loaded,
    trusts: Trusts,
    projects: Mutex<BTreeMap<String, Option<&'static str>>>,
}

impl<'a> Admission<'a> {
    /// From the settings and what the agents were told.
    pub fn new(loaded: &'a Loaded, trusts: Trusts) -> Admission<'a> {
        Admission {
            loaded,
            trusts,
            projects: Mutex::default(),
        }
    }

    /// Why the log at `path` is not read; `None`: it is. `project` is its root, `cwd` the
    /// directory that its first record names, where they are known.
    pub fn left_out(&self, project: Option<&str>, cwd: Option<&str>, path: &str) -> Option<String> {
        let excluded = &self.loaded.config.excluded;
        let places = [project, cwd, Some(path)];
        if places
            .into_iter()
            .flatten()
            .any(|place| excluded.covers(place))
        {
            return Some("excluded".into());
        }
        self.of_project(project?, cwd).map(str::to_owned)
    }

    /// Reads at most one small file per project and run.
    fn of_project(&self, project: &str, cwd: Option<&str>) -> Option<&'static str> {
        let known = |projects: &mut BTreeMap<String, Option<&'static str>>| {
            *projects
                .entry(project.to_owned())
                .or_insert_with(|| self.judge(project, cwd))
        };
        match self.projects.lock() {
            Ok(mut projects) => known(&mut projects),
            Err(poisoned) => known(&mut poisoned.into_inner()),
        }
    }

    fn judge(&self, project: &str, cwd: Option<&str>) -> Option<&'static str> {
        if self.trusts.of(project) == Trust::Untrusted {
            return Some("untrusted");
        }
        match self.loaded.for_project(Path::new(project)) {
            Err(_) => Some("project settings unreadable"),
            Ok((config, _)) if !config.enabled => Some("switched off"),
            Ok((config, _)) if config.excluded.covers(cwd.unwrap_or(project)) => Some("excluded"),
            Ok(_) => None,
        }
    }
}
