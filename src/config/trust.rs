//! Which projects agents are not to trust (D63), as Codex and Claude Code record it. Nothing is written
//! there.

use super::env::Env;
use crate::model::error::Error;
use crate::model::namespace::project_root;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is recorded about a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// An agent recorded that it is trusted.
    Trusted,
    /// An agent recorded that it isn't: nothing of it is ingested or recalled.
    Untrusted,
    /// Nobody said anything. Allowed locally.
    Unknown,
}

/// The recorded trust of all projects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trusts {
    codex: BTreeMap<String, bool>,
    claude: BTreeMap<String, bool>,
}

impl Trusts {
    /// Reads `config.toml` of Codex and `.claude.json` of Claude; absent and empty files say nothing.
    ///
    /// # Errors
    /// A file is there and can't be read or understood: trust fails closed.
    pub fn load(env: &Env) -> Result<Trusts, Error> {
        let mut trusts = Trusts::default();
        let codex = env.codex_dir().join("config.toml");
        if let Some(text) = read(&codex)? {
            trusts.codex = codex_projects(&text).map_err(|what| unreadable(&codex, &what))?;
        }
        for claude in env.claude_states() {
            let Some(text) = read(&claude)? else { continue };
            let known = claude_projects(&text).map_err(|what| unreadable(&claude, &what))?;
            for (dir, trusted) in known {
                // of two that disagree a no wins
                let known = trusts.claude.entry(dir).or_insert(trusted);
                *known &= trusted;
            }
        }
        Ok(trusts)
    }

    /// Some project is recorded as untrusted.
    pub fn mistrusts_any(&self) -> bool {
        let mut recorded = self.codex.values().chain(self.claude.values());
        recorded.any(|trusted| !trusted)
    }

    /// The folders of which it is recorded that they are not to be trusted.
    pub fn mistrusted(&self) -> Vec<PathBuf> {
        let recorded = self.codex.keys().chain(self.claude.keys());
        let untrusted = recorded.filter(|dir| self.of(dir) == Trust::Untrusted);
        untrusted.map(PathBuf::from).collect()
    }

    /// What is recorded about a project's root, or about the folders around it: untrusted when
    /// either agent says so.
    ///
    /// Codex: the nearest record counts. Claude: trust of a folder covers what is below it, and
    /// only the project's own record can deny it, because Claude writes `false` before it asks.
    pub fn of(&self, root: &str) -> Trust {
        let root = project_root(root);
        let around = || Path::new(&root).ancestors().filter_map(Path::to_str);
        let codex = around().find_map(|dir| self.codex.get(dir).copied());
        let claude = if around().any(|dir| self.claude.get(dir) == Some(&true)) {
            Some(true)
        } else {
            self.claude.get(&root).copied()
        };
        match (codex, claude) {
            (Some(false), _) | (_, Some(false)) => Trust::Untrusted,
            (Some(true), _) | (_, Some(true)) => Trust::Trusted,
            (None, None) => Trust::Unknown,
        }
    }
}

fn read(file: &Path) -> Result<Option<String>, Error> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(unreadable(file, &e.to_string())),
    }
}

fn unreadable(file: &Path, what: &str) -> Error {
    let message = format!("{}: {what}", file.display());
    Error::usage(message).hinted("fix the file: it says which projects are not trusted")
}

#[derive(Deserialize)]
struct CodexConfig {
    #[serde(default)]
    projects: BTreeMap<String, CodexProject>,
}

#[derive(Deserialize)]
struct CodexProject {
    trust_level: Option<String>,
}

fn codex_projects(text: &str) -> Result<BTreeMap<String, bool>, String> {
    let config: CodexConfig = toml::from_str(text).map_err(|e| e.message().to_owned())?;
    let known = config.projects.into_iter().filter_map(|(dir, project)| {
        let trusted = match project.trust_level?.as_str() {
            "trusted" => true,
            "untrusted" => false,
            _ => return None,
        };
        Some((project_root(&dir), trusted))
    });
    Ok(known.collect())
}

#[derive(Deserialize)]
struct ClaudeState {
    #[serde(default)]
    projects: BTreeMap<String, ClaudeProject>,
}

#[derive(Deserialize)]
struct ClaudeProject {
    #[serde(rename = "hasTrustDialogAccepted")]
    accepted: Option<bool>,
}

fn claude_projects(text: &str) -> Result<BTreeMap<String, bool>, String> {
    let state: ClaudeState = serde_json::from_str(text).map_err(|e| {
        // The message alone could quote the file.
        format!("not understood at line {}", e.line())
    })?;
    let known = state.projects.into_iter();
    Ok(known
        .filter_map(|(dir, p)| Some((project_root(&dir), p.accepted?)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODEX: &str = "model = \"x\"\n[projects.\"/w/bad\"]\ntrust_level = \"untrusted\"\n\
                         [projects.\"/w\"]\ntrust_level = \"trusted\"\n[projects.\"/w/odd\"]\n";
    const CLAUDE: &str = r#"{"numStartups": 3, "projects": {
        "/c/yes": {"hasTrustDialogAccepted": true, "allowedTools": []},
        "/c/no": {"hasTrustDialogAccepted": false},
        "/c": {"hasTrustDialogAccepted": false},
        "/c/yes/sub": {"hasTrustDialogAccepted": false},
        "/w/mixed": {"hasTrustDialogAccepted": false},
        "/c/silent": {}}}"#;

    fn world(codex: &str, claude: &str) -> (tempfile::TempDir, Env) {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".codex")).unwrap();
        std::fs::write(home.path().join(".codex/config.toml"), codex).unwrap();
        std::fs::write(home.path().join(".claude.json"), claude).unwrap();
        let env = Env {
            home: home.path().into(),
            ..Env::default()
        };
        (home, env)
    }

    #[test]
    fn a_recorded_no_of_either_agent_wins() {
        let (_home, env) = world(CODEX, CLAUDE);
        let trusts = Trusts::load(&env).unwrap();
        for (root, wants) in [
            ("/w/bad", Trust::Untrusted),
            ("/w/bad/inner", Trust::Untrusted),
            ("/w/good", Trust::Trusted),
            ("/w/odd", Trust::Trusted),
            ("/w/badly", Trust::Trusted),
            ("/w/mixed", Trust::Untrusted),
            ("/c/yes", Trust::Trusted),
            ("/c/yes/sub", Trust::Trusted),
            ("/c/no", Trust::Untrusted),
            ("/c/no/sub", Trust::Unknown),
            ("/c/silent", Trust::Unknown),
            ("/elsewhere/", Trust::Unknown),
        ] {
            assert_eq!(trusts.of(root), wants, "{root}");
        }
    }

    #[test]
    fn whether_anybody_is_mistrusted_is_known_without_asking_for_each() {
        let (_home, env) = world(CODEX, CLAUDE);
        assert!(Trusts::load(&env).unwrap().mistrusts_any());
        let (_home, env) = world("", " \n");
        assert!(!Trusts::load(&env).unwrap().mistrusts_any());
    }

    #[test]
    fn without_files_everything_is_unknown() {
        let env = Env {
            home: "/nonexistent/home".into(),
            ..Env::default()
        };
        assert_eq!(Trusts::load(&env).unwrap().of("/x"), Trust::Unknown);
    }

    #[test]
    fn files_that_say_something_unreadable_fail_closed() {
        for (codex, claude) in [("projects = 3", "{}"), ("", "{\"projects\":"), ("[", "{}")] {
            let (_home, env) = world(codex, claude);
            assert!(Trusts::load(&env).is_err(), "{codex} {claude}");
        }
    }
}
