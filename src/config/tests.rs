//! Settings, whole files at a time: every fixture, precedence, narrowing, edits, the docs.

mod documents;
mod edits;
mod layering;

use super::{Env, Loaded, load};
use crate::agents::registry;
use std::fs;
use std::path::{Path, PathBuf};

/// A home and a project of its own.
struct World {
    dir: tempfile::TempDir,
    env: Env,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("home/.graphiti")).unwrap();
        fs::create_dir_all(at("code/app/.git")).unwrap();
        fs::create_dir_all(at("code/app/src")).unwrap();
        let vars = [("LOGS".to_owned(), "/var/logs".to_owned())];
        let env = Env {
            home: at("home"),
            cwd: at("code/app/src"),
            vars: vars.into(),
        };
        World { dir, env }
    }

    fn config(&self, name: &str) -> PathBuf {
        self.env.home.join(".graphiti").join(name)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> &World {
        fs::write(self.config(name), text).unwrap();
        self
    }

    fn put_project(&self, text: &str) -> &World {
        fs::write(self.project().join("graphiti.config.json"), text).unwrap();
        self
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("code/app")
    }

    fn load(&self) -> Loaded {
        load(&self.env, registry::log_folders).unwrap_or_else(|e| panic!("{e} ({:?})", e.hint))
    }

    fn error(&self) -> String {
        let error = load(&self.env, registry::log_folders).expect_err("should not load");
        let hint = error.hint.map(|h| format!("hint: {h}\n"));
        self.plain(&format!("{}\n{}", error.message, hint.unwrap_or_default()))
    }

    /// Without the places of this machine.
    fn plain(&self, text: &str) -> String {
        let home = self.env.home.to_string_lossy();
        let all = self.dir.path().to_string_lossy();
        text.replace(&*home, "~").replace(&*all, "")
    }
}

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/config")
        .join(kind);
    let mut all: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|p| matches!(ext(p), "json" | "yaml" | "yml"))
        .collect();
    all.sort();
    all
}

fn ext(path: &Path) -> &str {
    path.extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
}

/// The name under which a fixture is read.
fn role(fixture: &Path) -> String {
    let name = fixture.file_name().unwrap_or_default().to_string_lossy();
    let stem = if name.starts_with("tracking-config") {
        "tracking-config"
    } else {
        "graphiti.config"
    };
    format!("{stem}.{}", ext(fixture))
}

/// What a fixture's sibling says, or what it should say.
fn compare(fixture: &Path, kind: &str, is: &str, wrong: &mut Vec<String>) {
    let sibling = PathBuf::from(format!("{}.{kind}", fixture.display()));
    let wants = fs::read_to_string(&sibling).unwrap_or_default();
    if is != wants {
        let name = fixture.file_name().unwrap_or_default().to_string_lossy();
        wrong.push(format!("== {name}.{kind}\n{is}"));
    }
}
