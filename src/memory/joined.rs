//! Sessions and commits, joined both ways when somebody asks, so that logs that come late count too.
//! Knows what ties a commit to a session; refuses to know repositories.

use super::summary::Stored;
use crate::insight::page::commits as page_commits;
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::git::{AFTER_MS, GitOperation, OperationKind, short_hash};
use crate::model::summary::{Commit, Sourced, Summary};
use crate::model::time::Time;
use crate::store::{Found, Query, Store, Term};
use uuid::Uuid;

/// What ties an operation to a session, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tie {
    /// It was at work in the repository at that time.
    Time,
    /// And on that branch.
    Branch,
    /// And on the files that the operation changed.
    Files,
    /// Its log tells a commit of that message, and no hash.
    Message,
    /// Its log names the commit.
    Hash,
}

impl Tie {
    /// The word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Tie::Time => "time",
            Tie::Branch => "branch",
            Tie::Files => "files",
            Tie::Message => "message",
            Tie::Hash => "hash",
        }
    }
}

/// The session that did something, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    /// Its id.
    pub session: String,
    /// The episode.
    pub episode: Uuid,
    /// Where the episode begins in its log.
    pub line: u64,
    /// How that is known.
    pub tie: Tie,
}

/// Chunks of the sessions that were at work somewhere, with the commits that they tell.
pub struct AtWork(Vec<(Found, Vec<Commit>)>);

impl AtWork {
    /// Of chunks with their items.
    pub fn of(chunks: Vec<Found>) -> AtWork {
        let told = |found: Found| {
            let commits = Stored::of(std::slice::from_ref(&found)).summary().commits;
            let commits = commits.into_iter().map(|commit| commit.what).collect();
            (found, commits)
        };
        AtWork(chunks.into_iter().map(told).collect())
    }

    /// The session that did it: the one with the strongest tie, then the one that names most of the files,
    /// then the latest. `None`: nobody was at work then.
    pub fn author(&self, git: &GitOperation) -> Option<By> {
        let around = self.0.iter().filter(|(found, _)| is_around(found, git));
        let tied = around.filter_map(|(found, commits)| {
            let shared = shared_files(found, git);
            let tie = tie(found, commits, shared, git)?;
            Some(((tie, shared, found.episode.valid_at), found))
        });
        let ((tie, ..), found) = tied.max_by_key(|(strength, _)| *strength)?;
        Some(By {
            session: found.session.clone(),
            episode: found.episode.id,
            line: found.episode.lines.0,
            tie,
        })
    }
}

fn is_around(found: &Found, git: &GitOperation) -> bool {
    let (episode, at) = (&found.episode, git.operation.at.0);
    let (began, ended) = (episode.valid_at, episode.ended_at.or(episode.valid_at));
    began.is_some_and(|began| began.0 <= at + AFTER_MS)
        && ended.is_some_and(|ended| ended.0 >= at - AFTER_MS)
}

/// Reflogs count whole seconds.
const SECOND_MS: i64 = 999;

fn tie(found: &Found, commits: &[Commit], shared: usize, git: &GitOperation) -> Option<Tie> {
    let operation = &git.operation;
    let names =
        |commit: &Commit| !commit.hash.is_empty() && operation.new.starts_with(&commit.hash);
    if commits.iter().any(names) {
        return Some(Tie::Hash);
    }
    // whoever began later did it only where the log says so
    let at = Time(operation.at.0 + SECOND_MS);
    if found.episode.valid_at > Some(at) {
        return None;
    }
    let subject = git.commit().map(|commit| commit.subject.as_str());
    let says = |commit: &Commit| commit.hash.is_empty() && Some(&*commit.subject) == subject;
    Some(match () {
        () if commits.iter().any(says) => Tie::Message,
        () if shared > 0 => Tie::Files,
        () if operation.branch.is_some() && found.branch == operation.branch => Tie::Branch,
        () => Tie::Time,
    })
}

/// Files of the operation that a chunk speaks of.
fn shared_files(found: &Found, git: &GitOperation) -> usize {
    let files = git.effect.files.iter();
    let told = |path: &str| found.episode.text.contains(path);
    files.filter(|file| told(&file.path)).count()
}

/// Chunks around the commits of one session. More: memory; fewer: of a session of many hours its first
/// commits are told by its log alone.
const CHUNKS_MAX: u32 = 256;

/// Commits that a session made as git tells it, in order: those that its log tells too, and those that
/// it doesn't, where the session spoke of their files. `episodes`: all of the session's.
///
/// # Errors
/// When the store can't be read.
pub fn commits_of(store: &Store, episodes: &[Found]) -> Result<Vec<Sourced<Commit>>, Error> {
    let chunks = episodes.iter().map(|found| &found.episode);
    let began = chunks.clone().filter_map(|chunk| chunk.valid_at).min();
    let ended = chunks
        .filter_map(|chunk| chunk.ended_at.or(chunk.valid_at))
        .max();
    let (Some(first), Some(began), Some(ended)) = (episodes.first(), began, ended) else {
        return Ok(Vec::new());
    };
    let (since, until) = (Time(began.0 - AFTER_MS), Time(ended.0 + AFTER_MS));
    let namespace = &first.namespace;
    let mut rows = store.operations_between(namespace, since, until)?;
    rows.retain(|row| row.git.commit().is_some());
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let chunks = store.chunks_at_work(namespace, until, since, CHUNKS_MAX)?;
    let at_work = AtWork::of(chunks);
    let mut made: Vec<Sourced<Commit>> = Vec::new();
    for row in rows.iter().rev() {
        let operation = &row.git.operation;
        if operation.kind == OperationKind::Amend {
            made.retain(|commit| !operation.old.starts_with(&commit.what.hash));
        }
        let author = at_work.author(&row.git);
        let by_us = author.filter(|by| by.session == first.session && by.tie >= Tie::Files);
        let (Some(by), Some(commit)) = (by_us, row.git.commit()) else {
            continue;
        };
        made.push(Sourced {
            what: Commit {
                hash: short_hash(&commit.hash).to_owned(),
                subject: commit.subject.clone(),
                pushed: false,
                by_git: true,
            },
            episode: by.episode,
            line: by.line,
        });
    }
    Ok(made)
}

/// Adds to a summary what git tells of a session's commits, as [`commits_of`] gives it: hashes that the
/// log doesn't have, and commits that it doesn't tell.
pub fn add(summary: &mut Summary, commits: &[Sourced<Commit>]) {
    for commit in commits {
        let known = summary.commits.iter_mut().find(|known| {
            let (known, told) = (&known.what, &commit.what);
            match known.hash.is_empty() {
                true => known.subject == told.subject,
                false => known.hash.starts_with(&told.hash) || told.hash.starts_with(&known.hash),
            }
        });
        match known {
            Some(known) if known.what.hash.is_empty() => {
                known.what.hash.clone_from(&commit.what.hash);
            }
            Some(_) => {}
            None => summary.commits.push(commit.clone()),
        }
    }
}

/// A session whose page tells a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Teller {
    /// Its id.
    pub session: String,
    /// Its namespace.
    pub namespace: String,
    /// Its project.
    pub project_path: String,
    /// When it ended.
    pub at: Option<Time>,
    /// The hash as it tells it.
    pub hash: String,
    /// The first line of the commit's message.
    pub subject: String,
}

/// Digits that git prints of a hash at least.
const PRINTED_DIGITS: usize = 7;
/// Pages that are looked through.
const PAGES_MAX: u32 = 50;

/// Sessions whose pages tell a commit that begins so, the latest first: git needn't be tracked for it.
///
/// # Errors
/// When the store can't be read.
pub fn tellers(
    store: &Store,
    commit: &str,
    namespaces: Option<&[String]>,
    project: Option<&str>,
) -> Result<Vec<Teller>, Error> {
    let query = Query {
        terms: vec![Term {
            text: commit.get(..PRINTED_DIGITS).unwrap_or(commit).to_owned(),
            prefix: true,
            ..Term::default()
        }],
        namespaces: namespaces.map(<[String]>::to_vec),
        project: project.map(str::to_owned),
        sources: vec![EpisodeSource::SessionSummary],
        limit: PAGES_MAX,
        ..Query::default()
    };
    let mut tellers = Vec::new();
    for hit in store.search(&query)? {
        let Some(page) = store.summary(&hit.session)? else {
            continue;
        };
        let is_it = |hash: &str| {
            hash.len() >= PRINTED_DIGITS && (hash.starts_with(commit) || commit.starts_with(hash))
        };
        let told = page_commits(&page.episode.text).into_iter();
        let told = told.filter(|(hash, _)| is_it(hash));
        tellers.extend(told.map(|(hash, subject)| Teller {
            session: page.session.clone(),
            namespace: page.namespace.clone(),
            project_path: page.project_path.clone(),
            at: page.episode.valid_at,
            hash: hash.to_owned(),
            subject: subject.to_owned(),
        }));
    }
    tellers.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.session.cmp(&b.session)));
    Ok(tellers)
}
