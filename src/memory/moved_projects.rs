//! Projects that moved: which of those that a run meets look like one that is stored and whose folder is
//! gone, by its first commit or its remote. Joining them is for a person to say.

use super::memory_groups::workspace_key;
use crate::host::git;
use crate::host::reflog::work_trees;
use crate::host::repository::Repository;
use crate::model::error::{Error, ErrorKind};
use crate::model::shell::word;
use crate::store::{KnownWorkspace, Store};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// A project that is probably at another place now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MovedProject {
    /// Where its sessions were.
    pub from: String,
    /// Where it is.
    pub to: String,
    /// What tells: `first commit` or `remote`.
    pub by: &'static str,
}

impl MovedProject {
    /// For people: what it looks like, and the command.
    pub fn lines(&self) -> [String; 2] {
        let (from, to) = (word(&self.from), word(&self.to));
        [
            format!(
                "{} looks like {}, which is gone: the same {}",
                self.to, self.from, self.by
            ),
            format!("to join it to its earlier sessions: sessionmill project move {from} {to}"),
        ]
    }
}

/// The move of what is called so, by the path that it had or by its last folders: from where to where.
///
/// # Errors
/// Nothing that is called so was moved.
pub fn moved_from(
    typed: &str,
    cwd: &Path,
    moves: &[(String, String)],
) -> Result<(String, String), Error> {
    let spelled = git::tidy(&cwd.join(typed));
    let is_it = |path: &str| Path::new(path) == spelled || Path::new(path).ends_with(typed);
    let found = moves.iter().find(|(from, _)| is_it(from));
    found.cloned().ok_or_else(|| {
        let known: Vec<&str> = moves.iter().map(|(from, _)| from.as_str()).collect();
        let hint = match known.is_empty() {
            true => "no project has been moved".to_owned(),
            false => format!("moved projects: {}", known.join(", ")),
        };
        Error::new(ErrorKind::Failed, format!("{typed} was not moved")).hinted(hint)
    })
}

/// Commits that are walked to the first one. More: a run waits for long histories, which have remotes.
const COMMITS_MAX: usize = 5_000;

/// Notes what names the groups of all projects that the store has and no run has met, and what they are known
/// by again. Reads one small file for each of them, and its history once. Gives those that look like one
/// that is gone.
///
/// # Errors
/// When the store fails.
pub fn meet_projects(store: &mut Store) -> Result<Vec<MovedProject>, Error> {
    let new = store.projects_without_workspace()?;
    for (namespace, root) in &new {
        workspace_key(store, namespace, root)?;
    }
    for (namespace, root) in store.projects_without_first_commit()? {
        let commit = first_commit(Path::new(&root)).unwrap_or_default();
        store.set_first_commit(&namespace, &commit)?;
    }
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let all = store.known_workspaces()?;
    let joined: BTreeSet<String> = store.moves()?.into_iter().map(|(path, _)| path).collect();
    let is_new =
        |one: &&KnownWorkspace| new.iter().any(|(namespace, _)| *namespace == one.namespace);
    let gone = all
        .iter()
        .filter(|one| !Path::new(&one.path).exists() && !joined.contains(&one.path));
    let gone: Vec<&KnownWorkspace> = gone.collect();
    let mut found = Vec::new();
    for one in all.iter().filter(is_new).filter(|one| is_root(&one.path)) {
        found.extend(gone.iter().filter_map(|other| {
            Some(MovedProject {
                from: other.path.clone(),
                to: one.path.clone(),
                by: same(one, other)?,
            })
        }));
    }
    Ok(found)
}

/// A subfolder of a repository is no project that moved.
fn is_root(path: &str) -> bool {
    git::repository(Path::new(path)).is_some_and(|root| root == Path::new(path))
}

fn same(one: &KnownWorkspace, other: &KnownWorkspace) -> Option<&'static str> {
    let is_remote = one.key != one.path && one.key == other.key;
    match !one.first_commit.is_empty() && one.first_commit == other.first_commit {
        true => Some("first commit"),
        false => is_remote.then_some("remote"),
    }
}

/// The first commit of the main line of the repository at `root`; `None`: it is none, it has none, or that
/// is too far back.
fn first_commit(root: &Path) -> Option<String> {
    let trees = work_trees(root);
    let repository = Repository::open(trees.first()?).ok()?;
    let mut commit = repository.head().ok()??;
    for _ in 0..COMMITS_MAX {
        match repository.parent(&commit) {
            Some(parent) => commit = parent,
            None => return Some(commit),
        }
    }
    None
}
