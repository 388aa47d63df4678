//! How far the history of a repository is known.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How far a work tree's history is in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryCursor {
    /// What `stat` said of the files that change with every operation.
    pub stamp: String,
    /// Bytes of HEAD's log that were read.
    pub log_to: u64,
    /// The commit that the last line of them came to.
    pub log_last: String,
    /// Bytes of the stash's log that were read.
    pub stash_to: u64,
    /// The commit that the last line of them came to.
    pub stash_last: String,
    /// The stashes that there were, the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stashes: Vec<String>,
    /// Where HEAD was.
    pub head: String,
    /// The branch that HEAD was on.
    pub branch: Option<String>,
    /// Branches with their commits.
    pub branches: BTreeMap<String, String>,
    /// Bytes of the branches' own logs that were read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub branch_logs: BTreeMap<String, u64>,
    /// Something changed, and no verdict was reached since: the run broke off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub awaits_verdict: bool,
    /// What references pointed to when verdicts were reached last; empty: too many, or none was.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub judged_tips: BTreeSet<String>,
    /// Folders of references, below `refs`.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub folders: BTreeSet<String>,
    /// Files whose content on the disk keeps work that no commit has: from the repository's root, or by their
    /// whole paths.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub watched: BTreeSet<String>,
    /// Why the repository couldn't be read; absent where it could.
    pub problem: Option<String>,
}

impl HistoryCursor {
    /// The watched files of the repository with this root.
    pub fn watched_in(&self, root: &str) -> impl Iterator<Item = PathBuf> {
        self.watched.iter().map(|path| Path::new(root).join(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watched_files_lie_in_the_repository_or_where_they_say() {
        let root = std::env::temp_dir().join("shop");
        let other = std::env::temp_dir().join("other.rs");
        let cursor = HistoryCursor {
            watched: BTreeSet::from(["src/a.rs".to_owned(), other.display().to_string()]),
            ..HistoryCursor::default()
        };
        let found: BTreeSet<PathBuf> = cursor.watched_in(&root.to_string_lossy()).collect();
        assert_eq!(found, BTreeSet::from([root.join("src/a.rs"), other]));
    }
}
