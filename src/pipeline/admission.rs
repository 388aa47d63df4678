//! Which logs are left out on purpose, and why: excluded by a person, switched off by the project,
//! not trusted (D08, D63); and of which a project wants less kept. Fails closed: where trust or a project's own settings can't be read,
//! nothing of the project is. Looks at nothing before it is asked, so that a run without news pays
//! nothing.

use super::last_run::LastRun;
use super::spec::Window;
use crate::config::trust::{Trust, Trusts};
use crate::config::{Config, Env, Loaded};
use crate::memory::places::root_of;
use crate::model::policy::Narrowed;
use crate::model::time::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// As [`Admit`](crate::pipeline::ingest_options::Admit) gives it.
type Verdict = Result<Option<Arc<Narrowed>>, String>;

/// Asked for every log with news; remembers its answers per project.
pub struct Admission<'a> {
    loaded: &'a Loaded,
    env: &'a Env,
    trusts: OnceLock<Result<Trusts, String>>,
    window: Window,
    last_run: LastRun,
    now: Time,
    allow_untrusted: bool,
    projects: Mutex<BTreeMap<String, Verdict>>,
    /// Whether the roots of folders are excluded.
    folders: Mutex<BTreeMap<String, bool>>,
    unclear: Mutex<BTreeSet<String>>,
}

impl<'a> Admission<'a> {
    /// From the settings, and from what the agents were told, which lies where `env` says. `window`
    /// and `now` are the run's.
    pub fn new(loaded: &'a Loaded, env: &'a Env, window: Window, now: Time) -> Admission<'a> {
        Admission {
            loaded,
            env,
            trusts: OnceLock::new(),
            window,
            last_run: LastRun::default(),
            now,
            allow_untrusted: false,
            projects: Mutex::default(),
            folders: Mutex::default(),
            unclear: Mutex::default(),
        }
    }

    /// Reads projects too that an agent was told not to trust, or of which nobody can say (D63).
    #[must_use]
    pub fn allowing_untrusted(mut self, allow: bool) -> Admission<'a> {
        self.allow_untrusted = allow;
        self
    }

    /// A project that keeps less than the user looks back to the last complete run too.
    #[must_use]
    pub fn since(mut self, last_run: &LastRun) -> Admission<'a> {
        self.last_run = last_run.clone();
        self
    }

    /// Why the log at `path` is not read, or what its project leaves of the settings (`None`: all).
    /// `project` is its root, `cwd` the directory that its first record names, where they are known.
    pub fn admit(
        &self,
        project: Option<&str>,
        cwd: Option<&str>,
        path: &str,
    ) -> Result<Option<Arc<Narrowed>>, String> {
        let excluded = &self.loaded.config.excluded;
        let places = [project, cwd, Some(path)];
        let is_excluded = |place: &str| excluded.covers(place);
        let is_named = places.into_iter().flatten().any(is_excluded);
        if is_named
            || project
                .or(cwd)
                .is_some_and(|folder| self.is_root_excluded(folder))
        {
            return Err("excluded".into());
        }
        let Some(project) = project else {
            return Ok(None);
        };
        let mut projects = locked(&self.projects);
        let judge = || self.judge(project);
        projects
            .entry(project.to_owned())
            .or_insert_with(judge)
            .clone()
    }

    /// Whether the root of the project that a folder is in is excluded. Asks the disk once for each folder, and
    /// never where nothing is excluded.
    fn is_root_excluded(&self, folder: &str) -> bool {
        let excluded = &self.loaded.config.excluded;
        if excluded.patterns().is_empty() {
            return false;
        }
        let mut folders = locked(&self.folders);
        if let Some(known) = folders.get(folder) {
            return *known;
        }
        let root = root_of(Some(Path::new(folder)), Path::new("/"));
        *folders
            .entry(folder.to_owned())
            .or_insert(excluded.covers(&root))
    }

    /// What nobody could understand of what was looked at so far, each once: `file: why`. Logs were
    /// left out for it.
    pub fn unclear(&self) -> Vec<String> {
        locked(&self.unclear).iter().cloned().collect()
    }

    /// Reads at most one small file per project, and once what the agents were told.
    fn judge(&self, project: &str) -> Verdict {
        if !self.allow_untrusted {
            self.trusted(project)?;
        }
        match self.loaded.for_project(Path::new(project)) {
            // a repository that somebody cloned is no problem of the run's: it is left out
            Err(error) => Err(format!("settings unclear: {}", error.message)),
            Ok((config, _)) if !config.enabled => Err("switched off by the project".into()),
            Ok((config, _)) if config.excluded.covers(project) => {
                Err("excluded by the project".into())
            }
            Ok((config, _)) => Ok(self.narrowed(&config)),
        }
    }

    /// Folders that an agent was told not to trust. Where nobody can say, every project is refused.
    pub fn mistrusted(&self) -> Vec<PathBuf> {
        match self.trusts() {
            Ok(trusts) if !self.allow_untrusted => trusts.mistrusted(),
            _ => Vec::new(),
        }
    }

    fn trusts(&self) -> &Result<Trusts, String> {
        let load = || Trusts::load(self.env).map_err(|error| error.message);
        self.trusts.get_or_init(load)
    }

    fn trusted(&self, project: &str) -> Result<(), String> {
        match self.trusts() {
            Err(what) => Err(self.note("trust unknown", what)),
            Ok(trusts) if is_untrusted(trusts, project) => Err("untrusted".into()),
            Ok(_) => Ok(()),
        }
    }

    fn note(&self, reason: &str, what: &str) -> String {
        locked(&self.unclear).insert(what.to_owned());
        format!("{reason}: {what}")
    }

    fn narrowed(&self, own: &Config) -> Option<Arc<Narrowed>> {
        let of = |config: &Config| Narrowed {
            policy: config.policy.clone(),
            subagents: config.subagents,
            store_in_graph: config.store_in_graph,
            hides_paths: !config.include_project_path,
            promotes: config.memory.auto_promotes,
            in_graphs: config.memory.enabled && config.memory.consent,
            since: {
                let days = config.keep_length_days;
                self.last_run.first(self.window, days, self.now)
            },
        };
        let (own, user) = (of(own), of(&self.loaded.config));
        (own != user).then(|| Arc::new(own))
    }
}

/// Under the name that sessions have for it, or without links.
fn is_untrusted(trusts: &Trusts, project: &str) -> bool {
    let real = Path::new(project).canonicalize().ok();
    let real = real.as_deref().and_then(Path::to_str);
    let names = [Some(project), real].into_iter().flatten();
    names
        .into_iter()
        .any(|name| trusts.of(name) == Trust::Untrusted)
}

/// A worker that panicked left whole answers behind.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::registry;
    use crate::config;
    use crate::model::policy::Keep;
    use std::fs;

    /// A home with a user's settings, and a project in it with its own.
    fn ask(settings: &str, own: &str, codex: &str) -> Verdict {
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
        let loaded = config::load(&env, registry::log_folders).unwrap();
        let admission = Admission::new(&loaded, &env, Window::Configured, Time(0));
        let project = project.to_string_lossy();
        let asked = || admission.admit(Some(&project), Some(&project), "/logs/x.jsonl");
        let first = asked();
        assert_eq!(first, asked(), "an answer stays");
        first
    }

    const ON: &str = r#"{"session_tracking": {"enabled": true}}"#;

    #[test]
    fn a_project_is_read_unless_somebody_objects() {
        assert_eq!(ask(ON, ON, ""), Ok(None));
        let excluded = r#"{"session_tracking": {"enabled": true, "excluded_paths": ["PROJECT"]}}"#;
        assert_eq!(ask(excluded, ON, ""), Err("excluded".into()));
        let off = r#"{"session_tracking": {"enabled": false}}"#;
        assert_eq!(ask(ON, off, ""), Err("switched off by the project".into()));
        let untrusted = "[projects.\"PROJECT\"]\ntrust_level = \"untrusted\"\n";
        assert_eq!(ask(ON, ON, untrusted), Err("untrusted".into()));
    }

    #[test]
    fn mistrust_can_be_overridden_once() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env {
            home: dir.path().into(),
            cwd: dir.path().into(),
            ..Env::default()
        };
        let codex = "[projects.\"/w/bad\"]\ntrust_level = \"untrusted\"\n";
        fs::create_dir(dir.path().join(".codex")).unwrap();
        fs::write(dir.path().join(".codex/config.toml"), codex).unwrap();
        let loaded = config::load(&env, registry::log_folders).unwrap();
        let verdict = |allow| {
            let admission = Admission::new(&loaded, &env, Window::Configured, Time(0));
            let admission = admission.allowing_untrusted(allow);
            admission.admit(Some("/w/bad"), None, "/logs/x.jsonl")
        };
        assert_eq!(verdict(false), Err("untrusted".into()));
        assert_ne!(verdict(true), Err("untrusted".into()));
    }

    #[test]
    fn what_cannot_be_read_is_a_no() {
        let begins = |verdict: Verdict, what| verdict.unwrap_err().starts_with(what);
        assert!(begins(ask(ON, "{", ""), "settings unclear: "));
        assert!(begins(ask(ON, ON, "[[["), "trust unknown: "));
    }

    #[test]
    fn a_project_may_want_less_and_not_more() {
        let less = r#"{"session_tracking": {"subagents": false, "keep_length_days": 3,
            "filter": {"tool_calls": false}}}"#;
        let narrowed = ask(ON, less, "").unwrap().unwrap();
        assert!(!narrowed.subagents);
        assert_eq!(narrowed.policy.tool_calls, Keep::Out);
        assert_eq!(narrowed.since, Some(Time(-3 * 86_400_000)));
        let user = r#"{"session_tracking": {"enabled": true, "subagents": false,
            "filter": {"tool_calls": false}}}"#;
        let more = r#"{"session_tracking": {"subagents": true, "keep_length_days": null,
            "filter": {"tool_calls": true}}}"#;
        assert_eq!(ask(user, more, ""), Ok(None));
    }
}
