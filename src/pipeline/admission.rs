//! Which logs are left out on purpose, and why: excluded by a person, switched off by the project,
//! not trusted (D08, D63). Fails closed: where trust or a project's own settings can't be read,
//! nothing of the project is. Looks at nothing before it is asked, so that a run without news pays
//! nothing.

use crate::config::trust::{Trust, Trusts};
use crate::config::{Env, Loaded};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

/// Asked for every log with news; remembers its answers per project.
pub struct Admission<'a> {
    loaded: &'a Loaded,
    env: &'a Env,
    trusts: OnceLock<Result<Trusts, String>>,
    projects: Mutex<BTreeMap<String, Option<String>>>,
}

impl<'a> Admission<'a> {
    /// From the settings, and from what the agents were told, which lies where `env` says.
    pub fn new(loaded: &'a Loaded, env: &'a Env) -> Admission<'a> {
        Admission {
            loaded,
            env,
            trusts: OnceLock::new(),
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
        let project = project?;
        let mut projects = match self.projects.lock() {
            Ok(projects) => projects,
            // A worker that panicked left whole answers behind.
            Err(poisoned) => poisoned.into_inner(),
        };
        let judge = || self.judge(project);
        projects
            .entry(project.to_owned())
            .or_insert_with(judge)
            .clone()
    }

    /// Reads at most one small file per project, and once what the agents were told.
    fn judge(&self, project: &str) -> Option<String> {
        let load = || Trusts::load(self.env).map_err(|error| error.message);
        match self.trusts.get_or_init(load) {
            Err(what) => return Some(format!("trust unknown: {what}")),
            Ok(trusts) if trusts.of(project) == Trust::Untrusted => {
                return Some("untrusted".into());
            }
            Ok(_) => {}
        }
        match self.loaded.for_project(Path::new(project)) {
            Err(error) => Some(format!("settings unclear: {}", error.message)),
            Ok((config, _)) if !config.enabled => Some("switched off by the project".into()),
            Ok((config, _)) if config.excluded.covers(project) => {
                Some("excluded by the project".into())
            }
            Ok(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use std::fs;

    /// A home with a user's settings, and a project in it with its own.
    fn ask(settings: &str, own: &str, codex: &str) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let env = Env {
            home: dir.path().into(),
            cwd: dir.path().into(),
            ..Env::default()
        };
        let project = dir.path().join("shop");
        for (path, text) in [
            (dir.path().join(".graphiti/graphiti.config.json"), settings),
            (project.join("graphiti.config.json"), own),
            (dir.path().join(".codex/config.toml"), codex),
        ] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let project = project.to_string_lossy();
            fs::write(path, text.replace("PROJECT", &project)).unwrap();
        }
        let loaded = config::load(&env).unwrap();
        let admission = Admission::new(&loaded, &env);
        let project = project.to_string_lossy();
        let asked = || admission.left_out(Some(&project), Some(&project), "/logs/x.jsonl");
        let first = asked();
        assert_eq!(first, asked(), "an answer stays");
        first
    }

    const ON: &str = r#"{"session_tracking": {"enabled": true}}"#;

    #[test]
    fn a_project_is_read_unless_somebody_objects() {
        assert_eq!(ask(ON, ON, ""), None);
        let excluded = r#"{"session_tracking": {"enabled": true, "excluded_paths": ["PROJECT"]}}"#;
        assert_eq!(ask(excluded, ON, "").as_deref(), Some("excluded"));
        let off = r#"{"session_tracking": {"enabled": false}}"#;
        assert_eq!(
            ask(ON, off, "").as_deref(),
            Some("switched off by the project")
        );
        let untrusted = "[projects.\"PROJECT\"]\ntrust_level = \"untrusted\"\n";
        assert_eq!(ask(ON, ON, untrusted).as_deref(), Some("untrusted"));
    }

    #[test]
    fn what_cannot_be_read_is_a_no() {
        assert!(ask(ON, "{", "").unwrap().starts_with("settings unclear: "));
        assert!(ask(ON, ON, "[[[").unwrap().starts_with("trust unknown: "));
    }
}
