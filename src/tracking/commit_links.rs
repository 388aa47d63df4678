//! Sessions and commits, linked both ways when somebody asks, so that logs that come late count too.
//! Works on what is stored: no repository is opened.

use super::git_commands;
use super::timed_calls::{TimedCall, timed_calls};
use crate::insight::items::SessionItems;
use crate::insight::summary::commits as commits_in;
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::git::{AFTER_MS, GitOperation, OperationKind, short_hash};
use crate::model::source::Agent;
use crate::model::summary::{SessionCommit, Sourced};
use crate::model::time::Time;
use crate::store::{Found, Query, Store, Term};
use std::cell::OnceCell;
use std::path::Path;
use uuid::Uuid;

/// What links an operation to a session, the weakest first. The first three say that it may have done it, the
/// others that it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkStrength {
    /// It was at work in the repository at that time.
    Time,
    /// And on that branch.
    Branch,
    /// And on the files that the operation changed.
    Files,
    /// It ran the command in that second.
    Command,
    /// Its log has a commit with that message, and no hash.
    Message,
    /// Its log names the commit.
    Hash,
}

impl LinkStrength {
    /// The word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            LinkStrength::Time => "time",
            LinkStrength::Branch => "branch",
            LinkStrength::Files => "files",
            LinkStrength::Command => "command",
            LinkStrength::Message => "message",
            LinkStrength::Hash => "hash",
        }
    }

    /// Nothing in the log says that the session did it.
    pub fn is_weak(self) -> bool {
        self < LinkStrength::Command
    }
}

/// The session that did something, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Its id.
    pub session: String,
    /// Whose session it is; where the link is weak, perhaps not who did it.
    pub agent: Agent,
    /// The episode.
    pub episode: Uuid,
    /// Where the episode begins in its log.
    pub line: u64,
    /// How that is known.
    pub link: LinkStrength,
}

/// Chunks of the sessions that were at work somewhere.
pub struct SessionsAtWork(Vec<ChunkAtWork>);

struct ChunkAtWork {
    found: Found,
    /// That its log names.
    commits: Vec<SessionCommit>,
    /// `None`: its log can't be read any more.
    calls: OnceCell<Option<Vec<TimedCall>>>,
}

impl ChunkAtWork {
    fn calls(&self) -> Option<&[TimedCall]> {
        self.calls
            .get_or_init(|| timed_calls(&self.found))
            .as_deref()
    }
}

impl SessionsAtWork {
    /// Of chunks with their items.
    pub fn of(chunks: Vec<Found>) -> SessionsAtWork {
        let with_commits = |found: Found| {
            let items = SessionItems::of(std::iter::once(&found.episode));
            ChunkAtWork {
                commits: items.commits(),
                found,
                calls: OnceCell::new(),
            }
        };
        SessionsAtWork(chunks.into_iter().map(with_commits).collect())
    }

    /// The session that did it, in the repository at this root: the one with the strongest tie, then the one
    /// that names most of the files, then the latest. `None`: nobody was at work then.
    pub fn author(&self, git: &GitOperation, root: &Path) -> Option<Author> {
        let around = self.0.iter();
        let around = around.filter(|chunk| is_around(&chunk.found, git.operation.at));
        let linked = around.filter_map(|chunk| {
            let shared = shared_files(&chunk.found, git);
            let link = link(chunk, shared, git, root)?;
            Some(((link, shared, chunk.found.episode.valid_at), &chunk.found))
        });
        let ((link, ..), found) = linked.max_by_key(|(strength, _)| *strength)?;
        Some(Author {
            session: found.session.clone(),
            agent: found.agent,
            episode: found.episode.id,
            line: found.episode.lines.0,
            link,
        })
    }

    /// Who did it.
    pub fn agent(&self, git: &GitOperation, root: &Path) -> Agent {
        match self.author(git, root) {
            Some(by) if !by.link.is_weak() => by.agent,
            // the time is that of a file that others write, too
            _ if git.operation.at_is_guessed => Agent::UNKNOWN,
            _ => self.doer(git.operation.at, |_| false),
        }
    }

    /// The agent of a call that did it; a person where every session's log has the time and no command ran
    /// then that may have done it.
    pub(super) fn doer(&self, at: Time, did: impl Fn(&TimedCall) -> bool) -> Agent {
        let mut nobody = Agent::PERSON;
        for chunk in self.0.iter().filter(|chunk| is_around(&chunk.found, at)) {
            let Some(calls) = chunk.calls() else {
                nobody = Agent::UNKNOWN;
                continue;
            };
            if calls.iter().any(&did) {
                return chunk.found.agent;
            }
            let may_have = |call: &TimedCall| {
                (call.is_shell() && call.runs_at(at)) || (call.stays() && call.began <= at)
            };
            if chunk.found.episode.pending_calls > 0 || calls.iter().any(may_have) {
                nobody = Agent::UNKNOWN;
            }
        }
        nobody
    }
}

fn is_around(found: &Found, at: Time) -> bool {
    let (episode, at) = (&found.episode, at.0);
    let (began, ended) = (episode.valid_at, episode.ended_at.or(episode.valid_at));
    began.is_some_and(|began| began.0 <= at + AFTER_MS)
        && ended.is_some_and(|ended| ended.0 >= at - AFTER_MS)
}

/// Reflogs count whole seconds.
const SECOND_MS: i64 = 999;

fn link(
    chunk: &ChunkAtWork,
    shared: usize,
    git: &GitOperation,
    root: &Path,
) -> Option<LinkStrength> {
    let (operation, found) = (&git.operation, &chunk.found);
    let names = |commit: &SessionCommit| {
        writes_commit(git) && !commit.hash.is_empty() && operation.new.starts_with(&commit.hash)
    };
    if chunk.commits.iter().any(names) {
        return Some(LinkStrength::Hash);
    }
    // whoever began later did it only where the log says so
    let at = Time(operation.at.0 + SECOND_MS);
    if found.episode.valid_at > Some(at) {
        return runs_it(chunk, git, root).then_some(LinkStrength::Command);
    }
    let subject = git.commit().map(|commit| commit.subject.as_str());
    let says = |commit: &SessionCommit| commit.hash.is_empty() && Some(&*commit.subject) == subject;
    Some(match () {
        () if chunk.commits.iter().any(says) => LinkStrength::Message,
        () if runs_it(chunk, git, root) => LinkStrength::Command,
        () if shared > 0 => LinkStrength::Files,
        () if operation.branch.is_some() && found.branch == operation.branch => {
            LinkStrength::Branch
        }
        () => LinkStrength::Time,
    })
}

/// What it came to is a commit that it wrote; others come to one that was there.
fn writes_commit(git: &GitOperation) -> bool {
    let writes = matches!(
        git.operation.kind,
        OperationKind::Commit
            | OperationKind::Amend
            | OperationKind::Merge
            | OperationKind::CherryPick
            | OperationKind::Revert
            | OperationKind::Apply
    );
    writes && git.operation.mode.as_deref() != Some("fast-forward")
}

/// A command that does such a thing ran when it was done; where nobody wrote down when, one that names the
/// branch.
fn runs_it(chunk: &ChunkAtWork, git: &GitOperation, root: &Path) -> bool {
    let operation = &git.operation;
    let fits = |call: &TimedCall| match (operation.at_is_guessed, &operation.branch) {
        (false, _) => call.runs_at(operation.at),
        (true, Some(branch)) => git_commands::names_branch(&call.text, branch),
        (true, None) => false,
    };
    let ran = |call: &TimedCall| {
        call.is_shell() && fits(call) && git_commands::does(&call.text, git, root)
    };
    chunk.calls().is_some_and(|calls| calls.iter().any(ran))
}

/// Files of the operation that a chunk speaks of.
fn shared_files(found: &Found, git: &GitOperation) -> usize {
    let files = git.effect.files.iter();
    let names = |path: &str| found.episode.text.contains(path);
    files.filter(|file| names(&file.path)).count()
}

/// Chunks around the commits of one session. More: memory; fewer: of a session of many hours its first
/// commits come from its log alone.
const CHUNKS_MAX: u32 = 256;

/// Commits that a session made according to git, in order: those that its log names too, and those that
/// it doesn't, where the session spoke of their files. `episodes`: all of the session's.
///
/// # Errors
/// When the store can't be read.
pub fn commits_of(store: &Store, episodes: &[Found]) -> Result<Vec<Sourced<SessionCommit>>, Error> {
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
    let at_work = SessionsAtWork::of(chunks);
    let mut made: Vec<Sourced<SessionCommit>> = Vec::new();
    for row in rows.iter().rev() {
        let root = Path::new(&row.project.path);
        let operation = &row.git.operation;
        if operation.kind == OperationKind::Amend {
            made.retain(|commit| !operation.old.starts_with(&commit.what.hash));
        }
        let author = at_work.author(&row.git, root);
        let by_us =
            author.filter(|by| by.session == first.session && by.link >= LinkStrength::Files);
        let (Some(by), Some(commit)) = (by_us, row.git.commit()) else {
            continue;
        };
        made.push(Sourced {
            what: SessionCommit {
                hash: short_hash(&commit.hash).to_owned(),
                subject: commit.subject.clone(),
                by_git: true,
                ..SessionCommit::default()
            },
            episode: by.episode,
            line: by.line,
        });
    }
    Ok(made)
}

/// A session whose summary names a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitMention {
    /// Its id.
    pub session: String,
    /// Its namespace.
    pub namespace: String,
    /// Its project.
    pub project_path: String,
    /// When it ended.
    pub at: Option<Time>,
    /// The hash as the summary has it.
    pub hash: String,
    /// The first line of the commit's message.
    pub subject: String,
}

/// Digits that git prints of a hash at least.
const PRINTED_DIGITS: usize = 7;
/// Summaries that are looked through.
const SUMMARIES_MAX: u32 = 50;

/// Sessions whose summaries name a commit that begins so, the latest first: git needn't be tracked for it.
///
/// # Errors
/// When the store can't be read.
pub fn mentions(
    store: &Store,
    commit: &str,
    namespaces: Option<&[String]>,
) -> Result<Vec<CommitMention>, Error> {
    let query = Query {
        terms: vec![Term {
            text: commit.get(..PRINTED_DIGITS).unwrap_or(commit).to_owned(),
            prefix: true,
            ..Term::default()
        }],
        namespaces: namespaces.map(<[String]>::to_vec),
        sources: vec![EpisodeSource::SessionSummary],
        limit: SUMMARIES_MAX,
        ..Query::default()
    };
    let mut mentions = Vec::new();
    for hit in store.search(&query)? {
        let Some(summary) = store.summary(&hit.session)? else {
            continue;
        };
        let is_it = |hash: &str| {
            hash.len() >= PRINTED_DIGITS && (hash.starts_with(commit) || commit.starts_with(hash))
        };
        let named = commits_in(&summary.episode.text).into_iter();
        let named = named.filter(|(hash, _)| is_it(hash));
        mentions.extend(named.map(|(hash, subject)| CommitMention {
            session: summary.session.clone(),
            namespace: summary.namespace.clone(),
            project_path: summary.project_path.clone(),
            at: summary.episode.valid_at,
            hash: hash.to_owned(),
            subject: subject.to_owned(),
        }));
    }
    mentions.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.session.cmp(&b.session)));
    Ok(mentions)
}
