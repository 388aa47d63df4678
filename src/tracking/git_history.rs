//! What became of a commit, a branch or a file: which session made it, what undid it, and the words.
//! Works on stored operations: no repository is opened. Who did what is in [`super::commit_links`].

use super::commit_links::{self, Author, CommitMention, SessionsAtWork};
use super::file_history::{self, FileEdits, FileRequest};
use crate::host::git;
use crate::model::error::Error;
use crate::model::git::{AFTER_MS, CommitLine, FileChange, GitOperation, OperationKind};
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::{GitRow, Store};
use std::collections::BTreeSet;
use std::path::Path;
use uuid::Uuid;

/// What somebody asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryRequest {
    /// A commit, by the beginning of its hash.
    Commit(String),
    /// A branch.
    Branch(String),
    /// A file.
    File(FileRequest),
}

impl HistoryRequest {
    /// What somebody typed; `None`: nothing of it.
    ///
    /// # Errors
    /// Of usage, where a commit is no hash, or more than one is asked about.
    pub fn of(
        commit: Option<&str>,
        branch: Option<&str>,
        file: Option<&str>,
    ) -> Result<Option<HistoryRequest>, Error> {
        Ok(Some(match (commit, branch, file) {
            (None, None, None) => return Ok(None),
            (Some(hash), None, None) if !is_hash(hash) => {
                let error = Error::usage(format!(
                    "{hash} is not a commit hash: write 4 to 64 hex digits"
                ));
                return Err(error.hinted("git log --oneline"));
            }
            (Some(hash), None, None) => HistoryRequest::Commit(hash.to_ascii_lowercase()),
            (None, Some(branch), None) => HistoryRequest::Branch(branch.to_owned()),
            (None, None, Some(file)) => HistoryRequest::File(FileRequest::new(file, None, None)),
            _ => return Err(Error::usage("name a commit, a branch or a file")),
        }))
    }
}

/// The command that tells of a commit, where a search for its hash found nothing and the commit is known.
///
/// # Errors
/// When the store can't be read.
pub fn commit_hint(
    store: &Store,
    typed: &str,
    namespaces: Option<&[String]>,
) -> Result<Option<String>, Error> {
    let has_digit = typed.bytes().any(|b| b.is_ascii_digit());
    if typed.len() < HASH_TYPED_MIN || !has_digit || !is_hash(typed) {
        return Ok(None);
    }
    let request = HistoryRequest::Commit(typed.to_ascii_lowercase());
    let known = history(store, &request, namespaces, 1)?;
    Ok((!known.is_empty()).then(|| format!("sessionmill why --commit {typed}")))
}

/// Shorter ones are words and numbers.
const HASH_TYPED_MIN: usize = 7;

fn is_hash(typed: &str) -> bool {
    (4..=64).contains(&typed.len()) && typed.bytes().all(|b| b.is_ascii_hexdigit())
}

/// What an operation did to what was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationRole {
    /// It made it.
    Made,
    /// It undid it, or left it behind.
    Undid,
    /// It did something else with it.
    Touched,
}

impl OperationRole {
    /// The word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            OperationRole::Made => "made",
            OperationRole::Undid => "undid",
            OperationRole::Touched => "touched",
        }
    }
}

/// An operation that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationMatch {
    /// `git_batch_id`.
    pub id: Uuid,
    /// What it did to it.
    pub role: OperationRole,
    /// What was done.
    pub git: GitOperation,
    /// The repository's namespace.
    pub namespace: String,
    /// Its root.
    pub project_path: String,
    /// Who did it: an agent, a person, or nobody knows who.
    pub agent: Agent,
    /// The session that did it, or may have: see how they are linked. Absent where none is known.
    pub session: Option<Author>,
}

impl OperationMatch {
    /// The commits that answer: those that it brought, or those that are lost with it, or that it left.
    pub fn commits(&self) -> &[CommitLine] {
        match self.role {
            OperationRole::Made => &self.git.effect.made,
            OperationRole::Undid if self.git.gives_up() => &self.git.effect.lost,
            OperationRole::Undid | OperationRole::Touched => &self.git.effect.left,
        }
    }
}

/// Episodes that are looked through for who did something.
const EPISODES_MAX: u32 = 16;

/// What is known of something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GitHistory {
    /// The operations that made, undid or touched it, the latest first.
    pub operations: Vec<OperationMatch>,
    /// Sessions whose summaries name the commit that is asked about, the latest first.
    pub mentions: Vec<CommitMention>,
    /// Sessions that edited the file that is asked about, the latest first.
    pub edits: Vec<FileEdits>,
    /// Operations with more files than are looked at, of which the file may be one.
    pub unseen: Vec<GitRow>,
}

impl GitHistory {
    /// Nothing is known of it.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.mentions.is_empty() && self.edits.is_empty()
    }

    /// Mentions by sessions that no operation is linked to.
    pub fn other_mentions(&self) -> impl Iterator<Item = &CommitMention> {
        let mut authors = BTreeSet::new();
        for operation in &self.operations {
            authors.extend(operation.session.as_ref().map(|by| by.session.as_str()));
        }
        let mentions = self.mentions.iter();
        mentions.filter(move |mention| !authors.contains(mention.session.as_str()))
    }
}

/// What became of something, in these namespaces (`None`: all). Sessions are looked for
/// of at most `limit` operations.
///
/// # Errors
/// When the store can't be read.
pub fn history(
    store: &Store,
    request: &HistoryRequest,
    namespaces: Option<&[String]>,
    limit: usize,
) -> Result<GitHistory, Error> {
    let reach = HistoryReach {
        namespaces,
        present: None,
        agent: None,
        limit,
    };
    history_in(store, request, &reach)
}

/// What is looked through.
#[derive(Clone, Copy, Debug)]
pub struct HistoryReach<'a> {
    /// Beginnings of namespaces; `None`: all.
    pub namespaces: Option<&'a [String]>,
    /// The repository that somebody stands in: what was done to it goes before the others.
    pub present: Option<&'a str>,
    /// Only what was done by this one.
    pub agent: Option<Agent>,
    /// Operations at most.
    pub limit: usize,
}

/// As [`history`], of what somebody did.
///
/// # Errors
/// When the store can't be read.
pub fn history_in(
    store: &Store,
    request: &HistoryRequest,
    reach: &HistoryReach<'_>,
) -> Result<GitHistory, Error> {
    let namespaces = reach.namespaces;
    let (mut rows, mentions) = match request {
        HistoryRequest::Commit(hash) => (
            store.operations_naming(hash, namespaces)?,
            commit_links::mentions(store, hash, namespaces)?,
        ),
        _ => (store.operations(namespaces)?, Vec::new()),
    };
    // stable: the latest stays first
    rows.sort_by_key(|row| reach.present != Some(row.project.path.as_str()));
    let (own, others) = match request {
        HistoryRequest::File(file) => file_history::edits(store, file, namespaces, reach.agent)?,
        _ => Default::default(),
    };
    let roles = |is_exact: bool| {
        let with_role = move |row| Some((role(request, row, is_exact)?, row));
        rows.iter().filter_map(with_role).peekable()
    };
    let mut matching = roles(true);
    // what is typed may be the end of a path, where there is nothing at that place
    let is_there = matching.peek().is_some() || !own.is_empty();
    if !is_there {
        matching = roles(false);
    }
    let mut found = GitHistory {
        mentions,
        edits: if is_there { own } else { others },
        ..GitHistory::default()
    };
    for (role, row) in matching {
        let agent = store.operation_agent(row.id)?;
        if reach.agent.is_some_and(|wanted| wanted != agent) {
            continue;
        }
        if found.operations.len() == reach.limit {
            break;
        }
        found.operations.push(matched(store, row, role, agent)?);
    }
    if let HistoryRequest::File(file) = request {
        found.unseen = unseen(&rows, file, &found.operations);
    }
    Ok(found)
}

/// An operation that gave up work, with who did it.
///
/// # Errors
/// When the store can't be read.
pub fn undoing(store: &Store, row: &GitRow) -> Result<OperationMatch, Error> {
    let agent = store.operation_agent(row.id)?;
    matched(store, row, OperationRole::Undid, agent)
}

fn matched(
    store: &Store,
    row: &GitRow,
    role: OperationRole,
    agent: Agent,
) -> Result<OperationMatch, Error> {
    Ok(OperationMatch {
        session: author(store, row)?,
        agent,
        id: row.id,
        role,
        namespace: row.project.namespace.clone(),
        project_path: row.project.path.clone(),
        git: row.git.clone(),
    })
}

/// Operations that may have changed the file: not all of their files were looked at, and it is none of those
/// that were.
fn unseen(rows: &[GitRow], file: &FileRequest, known: &[OperationMatch]) -> Vec<GitRow> {
    let is_near = |row: &&GitRow| file.root().is_none_or(|root| row.project.path == root);
    let is_new = |row: &&GitRow| known.iter().all(|known| known.id != row.id);
    let all = rows.iter().filter(|row| is_cut(&row.git));
    let all = all.filter(is_near).filter(is_new);
    all.take(UNSEEN_MAX).cloned().collect()
}

/// Operations that may have changed a file, which are named.
const UNSEEN_MAX: usize = 5;

/// `is_exact`: of a file, only itself counts.
fn role(request: &HistoryRequest, row: &GitRow, is_exact: bool) -> Option<OperationRole> {
    let (git, root) = (&row.git, row.project.path.as_str());
    let (operation, effect) = (&git.operation, &git.effect);
    match request {
        HistoryRequest::Commit(hash) => {
            let is_it = |commit: &String| commit.starts_with(hash.as_str());
            let names = |commits: &[CommitLine]| commits.iter().any(|line| is_it(&line.hash));
            let mut reverts = effect.reverts.iter();
            match (names(&effect.made), names(&effect.left)) {
                _ if effect.undone.as_ref().is_some_and(is_it) => Some(OperationRole::Undid),
                _ if reverts.any(|revert| is_it(&revert.commit.hash)) => Some(OperationRole::Undid),
                (_, true) if git.undoes() => Some(OperationRole::Undid),
                (true, _) => Some(OperationRole::Made),
                (_, true) => Some(OperationRole::Touched),
                _ => None,
            }
        }
        HistoryRequest::Branch(name) => {
            let is_it = |branch: &Option<String>| branch.as_ref() == Some(name);
            let is_on_it = is_it(&operation.branch);
            (is_on_it || is_it(&operation.to)).then(|| match is_on_it {
                true => did(git),
                false => OperationRole::Touched,
            })
        }
        // it writes another work tree, of what was there before
        HistoryRequest::File(_) if operation.kind == OperationKind::WorktreeAdded => None,
        HistoryRequest::File(file) => {
            let names = |path: &str| match is_exact {
                true => file.is(root, path),
                false => file.is_end_of(path),
            };
            let is_it = |known: &FileChange| {
                names(&known.path) || known.previous_path.as_deref().is_some_and(names)
            };
            effect.files.iter().any(is_it).then(|| did(git))
        }
    }
}

/// Some of the files that it changed were not looked at.
pub fn is_cut(git: &GitOperation) -> bool {
    git.effect.files_count > git.effect.files.len() as u64
}

fn did(git: &GitOperation) -> OperationRole {
    match git.operation.kind {
        _ if git.undoes() => OperationRole::Undid,
        OperationKind::Commit
        | OperationKind::CherryPick
        | OperationKind::Merge
        | OperationKind::Pull
        | OperationKind::Rebase => OperationRole::Made,
        _ => OperationRole::Touched,
    }
}

/// The session that did it.
fn author(store: &Store, row: &GitRow) -> Result<Option<Author>, Error> {
    let at = row.git.operation.at;
    let (since, until) = (Time(at.0 - AFTER_MS), Time(at.0 + AFTER_MS));
    let project = Path::new(&row.project.path);
    let mut chunks = store.chunks_around(&row.project.path, until, since, EPISODES_MAX)?;
    chunks.retain(|found| git::is_of(project, Path::new(&found.project_path)));
    Ok(SessionsAtWork::of(chunks).author(&row.git, project))
}
