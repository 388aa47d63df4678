//! The environment as a value, and the places that follow from it. Knows names of folders and
//! variables; the process's own environment is `cli`'s to hand in.

use crate::model::error::Error;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the process was started with, as far as settings depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env {
    /// The user's home directory.
    pub home: PathBuf,
    /// The working directory.
    pub cwd: PathBuf,
    /// Environment variables.
    pub vars: BTreeMap<String, String>,
}

impl Env {
    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars
            .get(name)
            .map(String::as_str)
            .filter(|v| !v.is_empty())
    }

    /// Where Claude Code keeps its files: `CLAUDE_CONFIG_DIR`, else `~/.claude`. Of several the first one:
    /// what is written goes there.
    pub fn claude_dir(&self) -> PathBuf {
        self.claude_dirs().swap_remove(0)
    }

    /// All of them: `CLAUDE_CONFIG_DIR` may name several, with commas between them. At least one.
    pub fn claude_dirs(&self) -> Vec<PathBuf> {
        let whole = self.folder("CLAUDE_CONFIG_DIR", ".claude");
        let Some(value) = self.var("CLAUDE_CONFIG_DIR").filter(|_| !whole.is_dir()) else {
            return vec![whole];
        };
        let parts = value
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let mut dirs: Vec<PathBuf> = Vec::new();
        for dir in parts.filter_map(|part| Some(self.cwd.join(self.expand(part).ok()?))) {
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        match dirs.is_empty() {
            true => vec![whole],
            false => dirs,
        }
    }

    /// Where Codex keeps its files: `CODEX_HOME`, else `~/.codex`.
    pub fn codex_dir(&self) -> PathBuf {
        self.folder("CODEX_HOME", ".codex")
    }

    /// Claude Code's own state, where its trust and its servers stand: beside `~/.claude`, or inside the
    /// folder that `CLAUDE_CONFIG_DIR` names.
    pub fn claude_state(&self) -> PathBuf {
        self.claude_states().swap_remove(0)
    }

    /// The same in each of several folders.
    pub fn claude_states(&self) -> Vec<PathBuf> {
        let dirs = match self.var("CLAUDE_CONFIG_DIR") {
            Some(_) => self.claude_dirs(),
            None => vec![self.home.clone()],
        };
        let states = dirs.into_iter().map(|dir| dir.join(".claude.json"));
        states.collect()
    }

    /// The folder that a variable names, else the one of this name in the home.
    pub fn folder(&self, var: &str, name: &str) -> PathBuf {
        match self.var(var).map(|v| self.expand(v)) {
            Some(Ok(path)) => self.cwd.join(path),
            Some(Err(_)) | None => self.home.join(name),
        }
    }

    /// `~`, `~/…`, `$NAME` and `${NAME}` replaced (D11); everything else stays as it is.
    ///
    /// # Errors
    /// A variable that isn't set, or `~someone`, which would need the user database.
    pub fn expand(&self, written: &str) -> Result<String, Error> {
        let (mut out, rest) = match written.strip_prefix('~') {
            None => (String::new(), written),
            Some(rest) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
                (self.home.to_string_lossy().into_owned(), rest)
            }
            Some(_) => return Err(Error::usage("`~` works for your own home only")),
        };
        let mut rest = rest;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let (name, next) = variable(after);
            if name.is_empty() {
                out.push('$');
            } else if let Some(value) = self.var(name) {
                out.push_str(value);
            } else {
                return Err(Error::usage(format!("variable `{name}` is not set")));
            }
            rest = next;
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// The variable's name after a `$`, and what follows it.
fn variable(after: &str) -> (&str, &str) {
    if let Some((name, rest)) = after.strip_prefix('{').and_then(|a| a.split_once('}')) {
        return (name, rest);
    }
    let end = after
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(after.len());
    after.split_at(end)
}

/// Everything of ours on this machine: `~/.graphiti`, or what `SESSIONMILL_HOME` says (D20).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The folder.
    pub dir: PathBuf,
}

impl Home {
    /// From the environment. A relative `SESSIONMILL_HOME` counts from the working directory.
    pub fn of(env: &Env) -> Home {
        Home {
            dir: env.folder("SESSIONMILL_HOME", ".graphiti"),
        }
    }

    /// The user's settings: the file that exists, else where `enable` creates it.
    pub fn config(&self) -> PathBuf {
        present(&self.dir, "graphiti.config").unwrap_or(self.dir.join("graphiti.config.json"))
    }

    /// Files that look like settings and that nobody reads, each with the one that is read.
    pub fn unread(&self) -> Vec<(PathBuf, PathBuf)> {
        let stems = ["graphiti.config", "tracking-config"].into_iter();
        let unread = stems.flat_map(|stem| {
            let read = present(&self.dir, stem);
            let all = spelled(&self.dir, stem).filter(|file| file.exists());
            all.skip(1)
                .filter_map(move |file| Some((file, read.clone()?)))
        });
        unread.collect()
    }

    /// The documents' file for file tracking; also read for session tracking (D20).
    pub fn tracking_config(&self) -> PathBuf {
        present(&self.dir, "tracking-config").unwrap_or(self.dir.join("tracking-config.json"))
    }

    /// Checkpoints, episodes and outbox.
    pub fn store(&self) -> PathBuf {
        self.dir.join("sessionmill.db")
    }

    /// Held by the one run; its mtime is the time of the last one.
    pub fn lock(&self) -> PathBuf {
        self.dir.join("sessionmill.lock")
    }

    /// Held by the one who delivers: runs that read go on meanwhile.
    pub fn deliver_lock(&self) -> PathBuf {
        self.dir.join("sessionmill.deliver.lock")
    }

    /// Where another machine's store lies while it is taken in.
    pub fn import(&self) -> PathBuf {
        self.dir.join("import")
    }

    /// Held by the one who writes tables.
    pub fn export_lock(&self) -> PathBuf {
        self.dir.join("sessionmill.export.lock")
    }

    /// Held by the one `watch`.
    pub fn watch_lock(&self) -> PathBuf {
        self.dir.join("sessionmill.watch.lock")
    }

    /// What each pipeline's last complete run left, a small file each.
    pub fn runs(&self) -> PathBuf {
        self.dir.join("runs")
    }

    /// What goes on failing, a small file each.
    pub fn alarms(&self) -> PathBuf {
        self.dir.join("alarms")
    }

    /// Logs of runs, without content.
    pub fn logs(&self) -> PathBuf {
        self.dir.join("logs")
    }

    /// What was counted in sinks' graphs, a small file each.
    pub fn graphs(&self) -> PathBuf {
        self.dir.join("graphs")
    }

    /// The user's own pipelines.
    pub fn pipelines(&self) -> PathBuf {
        self.dir.join("pipelines")
    }

    /// The user's own templates of what a language model is asked.
    pub fn prompts(&self) -> PathBuf {
        self.dir.join("prompts")
    }

    /// The user's own rules for secrets.
    pub fn secret_rules(&self) -> PathBuf {
        self.dir.join("rules/secrets.yaml")
    }

    /// The folder of the user's own tables.
    pub fn tables(&self) -> PathBuf {
        self.dir.join("rules")
    }

    /// Keys of services, as `NAME=value` lines.
    pub fn secrets(&self) -> PathBuf {
        self.dir.join("env")
    }

    /// The user's own markers.
    pub fn marker_rules(&self) -> PathBuf {
        self.dir.join("rules/markers.yaml")
    }

    /// The key of the hashes in placeholders; it never leaves the machine.
    pub fn redact_key(&self) -> PathBuf {
        self.dir.join("redact.key")
    }

    /// The cache of classified tools, unless `summarization.tool_classification_cache` moves it.
    pub fn tool_cache(&self) -> PathBuf {
        self.dir.join("tool_classification_cache.json")
    }
}

/// The spellings of one settings file, strongest first.
pub(super) const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// The first spelling of `stem` that exists in `dir`.
pub(super) fn present(dir: &Path, stem: &str) -> Option<PathBuf> {
    spelled(dir, stem).find(|file| file.exists())
}

/// The same; a link that leads nowhere counts too.
pub(super) fn lying(dir: &Path, stem: &str) -> Option<PathBuf> {
    spelled(dir, stem).find(|file| file.symlink_metadata().is_ok())
}

/// A settings file's possible names, the first one that exists is read.
fn spelled(dir: &Path, stem: &str) -> impl Iterator<Item = PathBuf> {
    EXTENSIONS
        .iter()
        .map(move |e| dir.join(format!("{stem}.{e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env {
            home: "/home/u".into(),
            cwd: "/code/dir".into(),
            vars: vars
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn home_and_variables_are_expanded() {
        let env = env(&[("LOGS", "/var/logs")]);
        for (written, wants) in [
            ("~", "/home/u"),
            ("~/x", "/home/u/x"),
            ("$LOGS/a", "/var/logs/a"),
            ("${LOGS}a", "/var/logsa"),
            ("/plain/~/$", "/plain/~/$"),
            ("/price$/5", "/price$/5"),
        ] {
            assert_eq!(env.expand(written).unwrap(), wants, "{written}");
        }
        let missing = env.expand("/x/$NOPE").unwrap_err();
        assert_eq!(missing.message, "variable `NOPE` is not set");
        assert!(env.expand("~root/x").is_err());
    }

    #[test]
    fn sessionmill_home_moves_everything() {
        assert_eq!(Home::of(&env(&[])).dir, Path::new("/home/u/.graphiti"));
        let home = Home::of(&env(&[("SESSIONMILL_HOME", "~/mill")]));
        assert_eq!(home.store(), Path::new("/home/u/mill/sessionmill.db"));
        assert_eq!(
            home.config(),
            Path::new("/home/u/mill/graphiti.config.json")
        );
        let relative = Home::of(&env(&[("SESSIONMILL_HOME", "mill")]));
        assert_eq!(relative.dir, Path::new("/code/dir/mill"));
        let empty = Home::of(&env(&[("SESSIONMILL_HOME", "")]));
        assert_eq!(empty.dir, Path::new("/home/u/.graphiti"));
    }
}
