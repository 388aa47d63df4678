//! Which project a session belongs to: the hash that names it (D10), and the group it goes to.

use sha2::{Digest, Sha256};
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// Hex digits of a namespace that are stored; 8 are shown.
pub const NAMESPACE_DIGITS: usize = 16;

/// The project root that a working directory stands for, by its spelling alone: NFC, `/`
/// separators, no trailing slash, drive letter in lower case, agent worktrees
/// (`<repo>/.claude/worktrees/<name>`) folded into their repository.
///
/// Worktrees that lie elsewhere can only be told from the disk; `host::git` does that first.
pub fn project_root(cwd: &str) -> String {
    let mut path: String = cwd.trim().nfc().collect();
    if is_of_windows(&path) {
        path = path.replace('\\', "/");
        let drive = path[..1].to_ascii_lowercase();
        path.replace_range(..1, &drive);
    }
    if let Some(at) = path.find("/.claude/worktrees/") {
        path.truncate(at);
    }
    while path.len() > 1 && path.ends_with('/') {
        path.pop();
    }
    path
}

/// `d:/shop`, `D:\shop`: whole, whatever machine this is.
pub fn is_of_windows(path: &str) -> bool {
    let b = path.as_bytes();
    b.len() >= 2 && b[0].is_ascii_alphabetic() && b[1] == b':'
}

/// First 16 hex digits of SHA-256 of a project root (as [`project_root`] gives it).
pub fn namespace(root: &str) -> String {
    let hash = Sha256::digest(root.as_bytes());
    hash.iter()
        .take(NAMESPACE_DIGITS / 2)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The machine-wide group (000-024, 000-072).
pub fn global_group(hostname: &str) -> String {
    format!("{hostname}__global")
}

/// Stands in a group's name as it is written for the namespace of an episode's project: each project has a group
/// of its own.
pub const OWN_NAMESPACE: &str = "{namespace}";

/// The group of a project's episodes, of a name as it is written.
pub fn group_of<'w>(written: &'w str, namespace: &str) -> Cow<'w, str> {
    match written.contains(OWN_NAMESPACE) {
        true => Cow::Owned(written.replace(OWN_NAMESPACE, namespace)),
        false => Cow::Borrowed(written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_project_give_one_root() {
        for (cwd, root) in [
            ("/home/u/app/", "/home/u/app"),
            ("/home/u/app/.claude/worktrees/x", "/home/u/app"),
            ("/home/u/app/.claude/worktrees/x/src", "/home/u/app"),
            ("C:\\Users\\u\\app", "c:/Users/u/app"),
            ("c:/Users/u/app/", "c:/Users/u/app"),
            ("/home/u/cafe\u{301}", "/home/u/caf\u{e9}"),
            ("/", "/"),
        ] {
            assert_eq!(project_root(cwd), root, "{cwd}");
        }
    }

    #[test]
    fn the_hash_is_sha256_of_the_path() {
        // printf %s /home/user/my-awesome-project | sha256sum
        assert_eq!(
            namespace("/home/user/my-awesome-project").len(),
            NAMESPACE_DIGITS
        );
        assert_eq!(namespace(""), "e3b0c44298fc1c14");
        assert_eq!(global_group("MYHOST"), "MYHOST__global");
    }

    #[test]
    fn a_project_may_have_a_group_of_its_own() {
        let namespace = namespace("/home/u/app");
        assert_eq!(group_of("mine", &namespace), "mine");
        assert_eq!(
            group_of("a_{namespace}", &namespace),
            format!("a_{namespace}")
        );
    }
}
