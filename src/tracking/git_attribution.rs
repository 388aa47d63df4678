//! Whether git wrote a file, judged by content (004-042..049, D50): it did where an operation since the last
//! scan left the file exactly so. Times say nothing here: an editor may save in the second of a checkout.

use super::track_options::stored_name;
use crate::host::git;
use crate::host::reflog;
use crate::host::repository::Repository;
use crate::model::file::path_of;
use crate::model::git::OperationKind;
use crate::model::namespace::project_root;
use crate::rules::secrets::Redactor;
use crate::store::{GitRow, Store};
use crate::tracking::file_episodes::Writer;
use anyhow::Result;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The operations since the last scan of a project, in the repositories around and below it.
pub(super) struct GitAttribution<'r> {
    root: PathBuf,
    /// The latest first.
    operations: Vec<GitRow>,
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

impl<'r> GitAttribution<'r> {
    /// Those with a higher number; `None`: none.
    pub(super) fn since(
        store: &Store,
        n: Option<i64>,
        root: &str,
        redactor: &'r Redactor,
    ) -> Result<GitAttribution<'r>> {
        let operations = n.map(|n| store.operations_after(n)).transpose()?;
        Ok(GitAttribution {
            root: PathBuf::from(root),
            operations: operations.unwrap_or_default(),
            repositories: RefCell::default(),
            tops: RefCell::default(),
            redactor,
        })
    }

    /// Who left the file at this path of the project so; `None`: it is gone.
    pub(super) fn writer(&self, path: &[u8], now: Option<&FileNow<'_>>) -> Writer<'_> {
        self.git(path, now).unwrap_or(Writer::Someone)
    }

    fn git(&self, path: &[u8], now: Option<&FileNow<'_>>) -> Option<Writer<'_>> {
        if self.operations.is_empty() {
            return None;
        }
        let path = self.root.join(path_of(path));
        let top = self.top(&path)?;
        let below = path.strip_prefix(&top).ok()?.to_str()?;
        let mut repositories = self.repositories.borrow_mut();
        let repo = repositories
            .entry(top.clone())
            .or_insert_with(|| Repo::open(&top));
        let row = self.operation(repo.as_ref()?, below, now)?;
        Some(Writer::Git {
            id: row.id,
            git: &row.git,
            path: stored_name(self.redactor, below),
        })
    }

    /// The last operation that touched the file decides. One that threw away what was not committed is
    /// not seen in its commits: it did it where the file is as the commit has it, unless somebody
    /// committed it so.
    fn operation(&self, repo: &Repo, path: &str, now: Option<&FileNow<'_>>) -> Option<&GitRow> {
        let mut threw_away = None;
        for row in self
            .operations
            .iter()
            .filter(|row| row.project.path == repo.project)
        {
            let operation = &row.git.operation;
            let is_stash = operation.kind == OperationKind::Stash;
            let new = if is_stash {
                &operation.old
            } else {
                &operation.new
            };
            let is_here = || repo.has_so(new, path, now);
            if !is_stash && repo.git.differs(&operation.old, new, path) {
                let wrote = operation.kind.writes_files() && is_here();
                return wrote.then_some(threw_away.unwrap_or(row));
            }
            let throws = is_stash || operation.kind == OperationKind::Reset;
            // what was never committed, a reset leaves where it is
            if throws && now.is_some() && threw_away.is_none() && is_here() {
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
    fn has_so(&self, commit: &str, path: &str, now: Option<&FileNow<'_>>) -> bool {
        match (self.git.entry(commit, path), now) {
            (None, None) => true,
            (Some(entry), Some(now)) => match now.blob {
                Some(blob) if entry.len() == blob.len() => entry == blob,
                // a repository with other hashes, or a file that was not read
                _ => Some(now.size) == self.git.size(&entry),
            },
            _ => false,
        }
    }
}

/// What a file is now.
pub(super) struct FileNow<'a> {
    /// The id that git gives its content, SHA-1; `None`: it was not read.
    pub(super) blob: Option<&'a str>,
    /// Its bytes.
    pub(super) size: u64,
}
