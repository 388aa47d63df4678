//! Whether git wrote a file, told by content (004-042..049, D50): it did where an operation since the last
//! look left the file exactly so. Knows operations and repositories; refuses to know time windows.

use super::named;
use crate::host::git;
use crate::host::reflog;
use crate::host::repository::Repository;
use crate::model::git::{FileOperation, OperationKind};
use crate::model::namespace::project_root;
use crate::rules::secrets::Redactor;
use crate::store::{GitRow, Store};
use crate::track::files::Writer;
use anyhow::Result;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The operations since the last look at a project, in the repositories around and below it.
pub(super) struct Doings<'r> {
    root: PathBuf,
    /// The latest first.
    deeds: Vec<GitRow>,
    /// By their tops; `None`: it can't be read.
    repositories: RefCell<BTreeMap<PathBuf, Option<Repo>>>,
    /// The top of each folder's work tree.
    tops: RefCell<BTreeMap<PathBuf, Option<PathBuf>>>,
    /// Masks names as operations have them.
    redactor: &'r Redactor,
}

struct Repo {
    git: Repository,
    /// As operations name it.
    project: String,
}

impl<'r> Doings<'r> {
    /// Those with a higher number; `None`: none.
    pub(super) fn since(
        store: &Store,
        n: Option<i64>,
        root: &str,
        redactor: &'r Redactor,
    ) -> Result<Doings<'r>> {
        let deeds = n.map(|n| store.deeds_after(n)).transpose()?;
        Ok(Doings {
            root: PathBuf::from(root),
            deeds: deeds.unwrap_or_default(),
            repositories: RefCell::default(),
            tops: RefCell::default(),
            redactor,
        })
    }

    /// Who left the file at this path of the project so; `None`: it is gone.
    pub(super) fn doer<'a>(&'a self, path: &[u8], left: Option<&Left<'_>>) -> Doer<'a> {
        if self.deeds.is_empty() {
            return Doer::Someone;
        }
        let path = self.root.join(OsStr::from_bytes(path));
        let Some(top) = self.top(&path) else {
            return Doer::Someone;
        };
        let Some(below) = path.strip_prefix(&top).ok().and_then(Path::to_str) else {
            return Doer::Someone;
        };
        let mut repositories = self.repositories.borrow_mut();
        let repo = repositories
            .entry(top.clone())
            .or_insert_with(|| Repo::open(&top));
        let Some(repo) = repo else {
            return Doer::Someone;
        };
        match self.deed(repo, below, left) {
            Some(row) => Doer::Git(row, named(self.redactor, below)),
            None => Doer::Someone,
        }
    }

    /// The last operation that touched the file decides. One that threw away what was not committed is
    /// not seen in its commits: it did it where the file is as the commit has it, unless somebody
    /// committed it so.
    fn deed(&self, repo: &Repo, path: &str, left: Option<&Left<'_>>) -> Option<&GitRow> {
        let mut threw_away = None;
        for row in self
            .deeds
            .iter()
            .filter(|row| row.project.path == repo.project)
        {
            let operation = &row.deed.operation;
            let is_stash = operation.kind == OperationKind::Stash;
            let new = if is_stash {
                &operation.old
            } else {
                &operation.new
            };
            let is_here = || repo.is_left(new, path, left);
            if !is_stash && repo.git.differs(&operation.old, new, path) {
                let wrote = operation.kind.writes_files() && is_here();
                return wrote.then_some(threw_away.unwrap_or(row));
            }
            let throws = is_stash || operation.kind == OperationKind::Reset;
            // what was never committed, a reset leaves where it is
            if throws && left.is_some() && threw_away.is_none() && is_here() {
                threw_away = Some(row);
            }
        }
        threw_away
    }

    fn top(&self, path: &Path) -> Option<PathBuf> {
        let folder = path.parent()?;
        if let Some(known) = self.tops.borrow().get(folder) {
            return known.clone();
        }
        let top = folder.ancestors().find(|dir| dir.join(".git").exists());
        let top = top.map(Path::to_path_buf);
        self.tops
            .borrow_mut()
            .insert(folder.to_path_buf(), top.clone());
        top
    }
}

impl Repo {
    fn open(top: &Path) -> Option<Repo> {
        let main = git::repository(top)?;
        let tree = reflog::work_trees(&main).into_iter().next()?;
        Some(Repo {
            git: Repository::open(&tree).ok()?,
            project: project_root(&main.to_string_lossy()),
        })
    }

    /// A commit has the file exactly so.
    fn is_left(&self, commit: &str, path: &str, left: Option<&Left<'_>>) -> bool {
        match (self.git.entry(commit, path), left) {
            (None, None) => true,
            (Some(entry), Some(left)) => match left.blob {
                Some(blob) if entry.len() == blob.len() => entry == blob,
                // a repository with other hashes, or a file that was not read
                _ => Some(left.size) == self.git.size(&entry),
            },
            _ => false,
        }
    }
}

/// How a file was left.
pub(super) struct Left<'a> {
    /// The id that git gives its content, SHA-1; `None`: it was not read.
    pub(super) blob: Option<&'a str>,
    /// Its bytes.
    pub(super) size: u64,
}

/// Who did it.
pub(super) enum Doer<'a> {
    /// Somebody, or a program.
    Someone,
    /// An operation; the path from the repository's root, as the operation has it.
    Git(&'a GitRow, String),
}

impl<'a> Doer<'a> {
    /// As episodes take it.
    pub(super) fn writer(&'a self) -> Writer<'a> {
        match self {
            Doer::Someone => Writer::Someone,
            Doer::Git(row, path) => Writer::Git(row.id, &row.deed, path),
        }
    }

    pub(super) fn is_git(&self) -> bool {
        matches!(self, Doer::Git(..))
    }

    /// What it did, in a few words.
    pub(super) fn what(&self, operation: FileOperation) -> String {
        match self {
            Doer::Git(row, _) => {
                format!("{}, git_batch_id {}", row.deed.operation.name(), row.id)
            }
            Doer::Someone => match operation {
                FileOperation::Delete => "deleted".to_owned(),
                FileOperation::Move => "moved".to_owned(),
                FileOperation::Rename => "renamed".to_owned(),
                _ => "there is a newer one".to_owned(),
            },
        }
    }
}
