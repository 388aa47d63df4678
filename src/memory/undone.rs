//! What became of a commit, a branch or a file: which session made it, what undid it, and the words.
//! Knows which operations speak of it; refuses to know repositories, and who did what (`joined`).

use super::joined::{self, AtWork, By, Teller};
use crate::host::git;
use crate::model::error::Error;
use crate::model::git::{AFTER_MS, CommitLine, FileChange, GitOperation, OperationKind};
use crate::model::time::Time;
use crate::store::{GitRow, Store};
use std::path::Path;
use uuid::Uuid;

/// What somebody asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A commit, by the beginning of its hash.
    Commit(String),
    /// A branch.
    Branch(String),
    /// A file, by its path in the repository, or by its end.
    File(String),
}

impl Asked {
    /// What somebody typed; `None`: nothing of it.
    ///
    /// # Errors
    /// Of usage, where a commit is no hash, or more than one is asked about.
    pub fn of(
        commit: Option<&str>,
        branch: Option<&str>,
        file: Option<&str>,
    ) -> Result<Option<Asked>, Error> {
        Ok(Some(match (commit, branch, file) {
            (None, None, None) => return Ok(None),
            (Some(hash), None, None) if !is_hash(hash) => {
                let error = Error::usage(format!("{hash} is no commit: write 4 to 64 hex digits"));
                return Err(error.hinted("git log --oneline"));
            }
            (Some(hash), None, None) => Asked::Commit(hash.to_ascii_lowercase()),
            (None, Some(branch), None) => Asked::Branch(branch.to_owned()),
            (None, None, Some(file)) => Asked::File(file.trim_start_matches("./").to_owned()),
            _ => return Err(Error::usage("name a commit, a branch or a file")),
        }))
    }
}

fn is_hash(typed: &str) -> bool {
    (4..=64).contains(&typed.len()) && typed.bytes().all(|b| b.is_ascii_hexdigit())
}

/// What an operation did to what was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It made it.
    Made,
    /// It undid it, or left it behind.
    Undid,
    /// It did something else with it.
    Touched,
}

impl Role {
    /// The word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Made => "made",
            Role::Undid => "undid",
            Role::Touched => "touched",
        }
    }
}

/// An operation that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// `git_batch_id`.
    pub id: Uuid,
    /// What it did to it.
    pub role: Role,
    /// What was done.
    pub git: GitOperation,
    /// The repository's namespace.
    pub namespace: String,
    /// Its root.
    pub project_path: String,
    /// The session that did it; absent where none is known.
    pub session: Option<By>,
}

impl Answer {
    /// The commits that answer: those that it brought, or those that it left.
    pub fn commits(&self) -> &[CommitLine] {
        match self.role {
            Role::Made => &self.git.effect.made,
            Role::Undid | Role::Touched => &self.git.effect.left,
        }
    }
}

/// Episodes that are looked through for who did something.
const EPISODES_MAX: u32 = 16;

/// The operations that answer, the latest first, of these namespaces (`None`: all) and this project.
/// Sessions are looked for of at most `limit` of them.
///
/// # Errors
/// When the store can't be read.
pub fn undone(
    store: &Store,
    asked: &Asked,
    namespaces: Option<&[String]>,
    project: Option<&str>,
    limit: usize,
) -> Result<Vec<Answer>, Error> {
    let rows = match asked {
        Asked::Commit(hash) => store.operations_naming(hash, namespaces, project)?,
        _ => store.operations(namespaces, project)?,
    };
    let told = rows
        .into_iter()
        .filter_map(|row| Some((role(asked, &row.git)?, row)));
    let mut answers = Vec::new();
    for (role, row) in told.take(limit) {
        answers.push(answer(store, role, row)?);
    }
    Ok(answers)
}

/// Sessions whose pages tell the commit that is asked about; none where something else is.
///
/// # Errors
/// When the store can't be read.
pub fn tellers(
    store: &Store,
    asked: &Asked,
    namespaces: Option<&[String]>,
    project: Option<&str>,
) -> Result<Vec<Teller>, Error> {
    match asked {
        Asked::Commit(hash) => joined::tellers(store, hash, namespaces, project),
        _ => Ok(Vec::new()),
    }
}

/// Those that no operation's answer names already.
pub fn without<'t>(tellers: &'t [Teller], answers: &[Answer]) -> Vec<&'t Teller> {
    let is_named = |teller: &&Teller| {
        let mut sessions = answers.iter().filter_map(|answer| answer.session.as_ref());
        sessions.any(|by| by.session == teller.session)
    };
    let others = tellers.iter().filter(|teller| !is_named(teller));
    others.collect()
}

fn answer(store: &Store, role: Role, row: GitRow) -> Result<Answer, Error> {
    Ok(Answer {
        session: by(store, &row)?,
        id: row.id,
        role,
        namespace: row.project.namespace,
        project_path: row.project.path,
        git: row.git,
    })
}

fn role(asked: &Asked, git: &GitOperation) -> Option<Role> {
    let (operation, effect) = (&git.operation, &git.effect);
    match asked {
        Asked::Commit(hash) => {
            let is_it = |commit: &String| commit.starts_with(hash.as_str());
            let names = |commits: &[CommitLine]| commits.iter().any(|line| is_it(&line.hash));
            match (names(&effect.made), names(&effect.left)) {
                _ if effect.undone.as_ref().is_some_and(is_it) => Some(Role::Undid),
                (_, true) if git.undoes() => Some(Role::Undid),
                (true, _) => Some(Role::Made),
                (_, true) => Some(Role::Touched),
                _ => None,
            }
        }
        Asked::Branch(name) => {
            let is_it = |branch: &Option<String>| branch.as_ref() == Some(name);
            let is_on_it = is_it(&operation.branch);
            (is_on_it || is_it(&operation.to)).then(|| match is_on_it {
                true => did(git),
                false => Role::Touched,
            })
        }
        Asked::File(path) => {
            let is_it = |told: &String| {
                let before = told.strip_suffix(path.as_str());
                before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
            };
            let names = |file: &FileChange| {
                is_it(&file.path) || file.previous_path.as_ref().is_some_and(is_it)
            };
            effect.files.iter().any(names).then(|| did(git))
        }
    }
}

fn did(git: &GitOperation) -> Role {
    match git.operation.kind {
        _ if git.undoes() => Role::Undid,
        OperationKind::Commit
        | OperationKind::CherryPick
        | OperationKind::Merge
        | OperationKind::Pull
        | OperationKind::Rebase => Role::Made,
        _ => Role::Touched,
    }
}

/// The session that did it.
fn by(store: &Store, row: &GitRow) -> Result<Option<By>, Error> {
    let at = row.git.operation.at;
    let (since, until) = (Time(at.0 - AFTER_MS), Time(at.0 + AFTER_MS));
    let project = Path::new(&row.project.path);
    let mut chunks = store.chunks_around(&row.project.path, until, since, EPISODES_MAX)?;
    chunks.retain(|found| git::is_of(project, Path::new(&found.project_path)));
    Ok(AtWork::of(chunks).author(&row.git))
}
