//! Scopes of memory and the groups that they are delivered to (D30, D34): a group's name is a hash, so
//! that no path and no repository can be read from it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How far a memory reaches; ordered from the least persistent to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// One conversation.
    Session,
    /// One project: all clones of its repository.
    Workspace,
    /// The user, in all projects.
    Global,
}

impl MemoryScope {
    /// All of them, the least persistent first.
    pub const ALL: [MemoryScope; 3] = [
        MemoryScope::Session,
        MemoryScope::Workspace,
        MemoryScope::Global,
    ];

    /// The word used in tables, options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            MemoryScope::Session => "session",
            MemoryScope::Workspace => "workspace",
            MemoryScope::Global => "global",
        }
    }

    /// Reads a scope in any case; `user` is `global` (D30).
    pub fn parse(word: &str) -> Option<MemoryScope> {
        let word = word.trim().to_ascii_lowercase();
        match word.as_str() {
            "user" => Some(MemoryScope::Global),
            word => MemoryScope::ALL.into_iter().find(|s| s.as_str() == word),
        }
    }

    /// The group of what `key` names in this scope, as other clients derive it:
    /// `graphiti_<scope>_<32 hex digits of SHA-256>`, the global scope being called `user`, and what has
    /// no key `no-<scope>-key`.
    pub fn group(self, key: &str) -> String {
        let label = match self {
            MemoryScope::Global => "user",
            other => other.as_str(),
        };
        let key = match key.trim() {
            "" => format!("no-{label}-key"),
            key => key.to_owned(),
        };
        let hash = Sha256::digest(key.as_bytes());
        let digits = hash.iter().take(GROUP_BYTES).map(|b| format!("{b:02x}"));
        format!("graphiti_{label}_{}", digits.collect::<String>())
    }
}

/// Bytes of the hash in a group's name.
const GROUP_BYTES: usize = 16;

/// The key of a session's group: `claude_session:<id>`, `codex_session:<id>`.
pub fn session_key(agent: super::source::Agent, id: &str) -> String {
    format!("{}_session:{id}", agent.as_str())
}

/// The key of a repository's group, by the address of its remote: `github_repo:<host>/<org>/<repo>`,
/// whatever the host, in lower case and without what logs in. `None` for what is no repository of a
/// host: files, paths, addresses without an owner.
pub fn repository_key(remote: &str) -> Option<String> {
    let remote = remote.trim();
    let (authority, path) = match remote.split_once("://") {
        Some((scheme, rest)) if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => {
            rest.split_once('/')?
        }
        Some(_) => return None,
        None => remote.split_once(':')?,
    };
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?.to_ascii_lowercase();
    // one letter is a drive, a slash before the colon is a path
    if host.len() < 2 || host.contains(['/', '\\']) {
        return None;
    }
    let path = path.trim_start_matches('/').trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    // one service writes what kind of thing it is between project and repository
    let parts: Vec<&str> = path.split('/').take_while(|part| *part != "_git").collect();
    if parts.len() < 2 || parts.iter().any(|part| part.is_empty()) {
        return None;
    }
    Some(format!(
        "github_repo:{host}/{}",
        parts.join("/").to_lowercase()
    ))
}

/// How remotes are reached over a network.
const SCHEMES: [&str; 6] = ["https", "http", "ssh", "git", "git+ssh", "ssh+git"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subgroups_are_kept_and_what_logs_in_is_not() {
        for (remote, key) in [
            (
                "https://gitlab.com/A/b/C.git",
                Some("github_repo:gitlab.com/a/b/c"),
            ),
            (
                "ssh://git@host.example:2222/o/r/",
                Some("github_repo:host.example/o/r"),
            ),
            ("git@github.com:o/r", Some("github_repo:github.com/o/r")),
            ("git@github.com:/o/r", Some("github_repo:github.com/o/r")),
            ("C:/code/app", None),
            ("./a:b/c", None),
            ("https://github.com", None),
            ("", None),
        ] {
            assert_eq!(repository_key(remote).as_deref(), key, "{remote}");
        }
    }

    #[test]
    fn a_scope_is_read_with_its_alias() {
        assert_eq!(MemoryScope::parse(" User "), Some(MemoryScope::Global));
        assert_eq!(
            MemoryScope::parse("workspace"),
            Some(MemoryScope::Workspace)
        );
        assert_eq!(MemoryScope::parse("team"), None);
        assert!(MemoryScope::Session < MemoryScope::Workspace);
    }
}
