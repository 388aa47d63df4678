//! How a work tree stands, by asking git once.

use super::process;
use std::collections::BTreeMap;
use std::path::Path;

/// `main@1a2b3c4`, with `, dirty` where tracked files differ from the commit. `None` outside of a
/// repository, before its first commit, and where there is no git. Takes as long as `git status`.
pub fn state(dir: &Path, vars: &BTreeMap<String, String>) -> Option<String> {
    let dir = dir.to_str()?;
    let args = [
        "-C",
        dir,
        "status",
        "--porcelain=v2",
        "--branch",
        "--untracked-files=no",
    ];
    let told = process::run("git", &args, "", vars).ok()?;
    told.succeeded().then(|| read(&told.stdout))?
}

/// Hex digits of a commit that are told.
const COMMIT_DIGITS: usize = 7;

fn read(status: &str) -> Option<String> {
    let says = |key: &str| {
        let mut lines = status.lines();
        lines.find_map(|line| line.strip_prefix("# branch.")?.strip_prefix(key))
    };
    let commit = says("oid ")?.get(..COMMIT_DIGITS)?;
    let is_commit = commit.bytes().all(|b| b.is_ascii_hexdigit());
    let branch = says("head ").filter(|branch| *branch != "(detached)");
    let is_dirty = status.lines().any(|line| !line.starts_with('#'));
    let dirty = if is_dirty { ", dirty" } else { "" };
    is_commit.then(|| format!("{}@{commit}{dirty}", branch.unwrap_or("detached")))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn no_path_is_told() {
        let clean =
            "# branch.oid 1a2b3c4d5e6f\n# branch.head main\n# branch.upstream origin/main\n";
        assert_eq!(read(clean).as_deref(), Some("main@1a2b3c4"));
        let dirty = format!("{clean}1 .M N... 100644 100644 100644 a b secret/plan.md\n");
        assert_eq!(read(&dirty).as_deref(), Some("main@1a2b3c4, dirty"));
        let detached = "# branch.oid 1a2b3c4d5e6f\n# branch.head (detached)\n";
        assert_eq!(read(detached).as_deref(), Some("detached@1a2b3c4"));
        assert_eq!(read("# branch.oid (initial)\n# branch.head main\n"), None);
        assert_eq!(read(""), None);
    }
}
