//! What became of a commit, a branch or a file: which session made it, what undid it, and the words.
//! Sessions and commits are joined when somebody asks, so that logs that come late count too. Knows
//! who may have made what; refuses to know repositories.

use super::summary::Stored;
use crate::model::error::Error;
use crate::model::git::{CommitLine, Deed, FileChange, OperationKind};
use crate::model::time::Time;
use crate::store::{Found, GitRow, Store};
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
    pub deed: Deed,
    /// The repository's namespace.
    pub namespace: String,
    /// Its root.
    pub project_path: String,
    /// The session that did it; absent where none is known.
    pub session: Option<By>,
}

/// The session that did something, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    /// Its id.
    pub session: String,
    /// The episode.
    pub episode: Uuid,
    /// Its log names the commit; otherwise it was at work there at that time.
    pub is_named: bool,
}

/// A session may go on so long after its last words.
const AFTER_MS: i64 = 120_000;
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
    let rows = store.deeds(namespaces, project)?.into_iter();
    let told = rows.filter_map(|row| Some((role(asked, &row.deed)?, row)));
    let mut answers = Vec::new();
    for (role, row) in told.take(limit) {
        answers.push(answer(store, role, row)?);
    }
    Ok(answers)
}

fn answer(store: &Store, role: Role, row: GitRow) -> Result<Answer, Error> {
    Ok(Answer {
        session: by(store, &row)?,
        id: row.id,
        role,
        namespace: row.project.namespace,
        project_path: row.project.path,
        deed: row.deed,
    })
}

fn role(asked: &Asked, deed: &Deed) -> Option<Role> {
    let (operation, effect) = (&deed.operation, &deed.effect);
    match asked {
        Asked::Commit(hash) => {
            let is_it = |commit: &String| commit.starts_with(hash.as_str());
            let names = |commits: &[CommitLine]| commits.iter().any(|line| is_it(&line.hash));
            match (names(&effect.made), names(&effect.left)) {
                _ if effect.undone.as_ref().is_some_and(is_it) => Some(Role::Undid),
                (_, true) if deed.undoes() => Some(Role::Undid),
                (true, _) => Some(Role::Made),
                (_, true) => Some(Role::Touched),
                _ => None,
            }
        }
        Asked::Branch(name) => {
            let is_it = |branch: &Option<String>| branch.as_ref() == Some(name);
            let is_on_it = is_it(&operation.branch);
            (is_on_it || is_it(&operation.to)).then(|| match is_on_it {
                true => did(deed),
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
            effect.files.iter().any(names).then(|| did(deed))
        }
    }
}

fn did(deed: &Deed) -> Role {
    match deed.operation.kind {
        _ if deed.undoes() => Role::Undid,
        OperationKind::Commit
        | OperationKind::CherryPick
        | OperationKind::Merge
        | OperationKind::Pull
        | OperationKind::Rebase => Role::Made,
        _ => Role::Touched,
    }
}

/// The session that did it: one whose log names the new commit, else the one that was at work in the
/// repository at that time, and of several the one that names most of the files.
fn by(store: &Store, row: &GitRow) -> Result<Option<By>, Error> {
    let at = row.deed.operation.at;
    let since = Time(at.0 - AFTER_MS);
    let chunks = store.chunks_around(
        &row.project.path,
        Time(at.0 + AFTER_MS),
        since,
        EPISODES_MAX,
    )?;
    let new = &row.deed.operation.new;
    if let Some(found) = chunks.iter().find(|found| names_commit(found, new)) {
        return Ok(Some(made_by(found, true)));
    }
    let files = row.deed.effect.files.iter();
    let files: Vec<&str> = files.map(|file| file.path.as_str()).collect();
    let shared = |found: &Found| -> usize {
        let told = |path: &&&str| found.episode.text.contains(**path);
        files.iter().filter(told).count()
    };
    let at_work = chunks
        .iter()
        .filter(|found| found.episode.valid_at <= Some(Time(at.0 + 999)));
    let best = at_work.max_by_key(|found| (shared(found), found.episode.valid_at));
    Ok(best.map(|found| made_by(found, false)))
}

fn made_by(found: &Found, is_named: bool) -> By {
    By {
        session: found.session.clone(),
        episode: found.episode.id,
        is_named,
    }
}

fn names_commit(found: &Found, hash: &str) -> bool {
    let episodes = std::slice::from_ref(found);
    let commits = Stored::of(episodes).summary().commits;
    let mut commits = commits.into_iter().map(|commit| commit.what.hash);
    !hash.is_empty() && commits.any(|told| !told.is_empty() && hash.starts_with(&told))
}
