//! Floor 2: what happened to the files of tracked projects, and what was done to their repositories and
//! to those that sessions name, becomes episodes. One vertical over `host` (disk, git), `config` (which
//! projects) and `store` (what is known, what was said):
//!
//! - what may be read: [`exclusions`]
//! - files: [`file_scan`] finds changes, [`git_attribution`] says which of them git made,
//!   [`file_recorder`] stores them as [`file_episodes`]
//! - git: [`repositories`] reads logs, [`operations`] sorts their lines, [`conversation_context`] finds
//!   what was said before an operation, [`reasons`] the sentence that says why, [`git_episodes`] the text
//! - reading back: [`project_status`], [`git_history`] (what became of a commit, branch or file),
//!   [`commit_links`] (which session made a commit), [`rollbacks`] (work that was given up)
//!
//! Threads are the caller's: see [`Workers`].

pub mod commit_links;
mod conversation_context;
pub mod exclusions;
mod file_episodes;
mod file_recorder;
mod file_scan;
mod git_attribution;
mod git_episodes;
pub mod git_history;
mod operations;
pub mod project_status;
mod reasons;
pub mod repositories;
pub mod rollbacks;
pub mod safe_names;

pub use file_scan::FilesDone;

use crate::config::Tracked;
use crate::model::file::shown;
use crate::model::time::Time;
use crate::rules::secrets::Redactor;
use crate::store::{Store, Stored};
use anyhow::Result;
use exclusions::TrackingContext;

/// Does independent pieces of work, on threads or one after the other.
pub trait Workers {
    /// The results in the order of the items.
    fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R>;
}

/// What is tracked, how, and by whom.
pub struct TrackOptions<'a> {
    /// The run's time.
    pub now: Time,
    /// The machine's name.
    pub host: &'a str,
    /// Which projects, and what of them is left alone.
    pub context: TrackingContext<'a>,
    /// Operations before it are left alone; `None`: all are recorded.
    pub since: Option<Time>,
    /// The group of the episodes, where the project has none of its own.
    pub group: &'a str,
    /// Masks every word.
    pub redactor: &'a Redactor,
    /// Only the project at this root; `None`: all.
    pub only: Option<&'a str>,
    /// Files whose `stat` is as it was are read too.
    pub force: bool,
    /// Numbers of the sinks that episodes of files wait for.
    pub sinks: &'a [i64],
}

impl TrackOptions<'_> {
    /// The project at this root is meant.
    fn includes(&self, root: &str) -> bool {
        self.only.is_none_or(|only| only == root)
    }

    /// The group of the episodes of a project.
    fn group_of<'g>(&'g self, tracked: &'g Tracked) -> &'g str {
        tracked.group.as_deref().unwrap_or(self.group)
    }
}

/// What the step did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Work trees that were checked.
    pub trees: u64,
    /// Work trees of which something was opened.
    pub opened: u64,
    /// Operations that were new.
    pub operations: u64,
    /// What that changed.
    pub stored: Stored,
    /// Repositories that can't be read and changed since they were checked last, with why. Never content.
    pub problems: Vec<(String, String)>,
    /// What happened to files.
    pub files: FilesDone,
}

impl Done {
    /// Repositories, projects and files that could not be read.
    pub fn unread(&self) -> usize {
        self.problems.len() + self.files.problems.len() + self.files.unread.len()
    }
}

/// Records what is new in every tracked project: the one way in, for a run, `track sync` and whoever
/// watches. Files are scanned before git is asked and recorded after it, so that no operation between the
/// two makes a person's edit of what git wrote.
///
/// # Errors
/// When the store fails. What can't be read is a problem of the report.
pub fn track(
    store: &mut Store,
    options: &TrackOptions<'_>,
    workers: &impl Workers,
) -> Result<Done> {
    let mut done = Done::default();
    repositories::record_again(store, options)?;
    if !options.context.tracking.is_on() {
        return Ok(done);
    }
    let scans = file_scan::scan(store, options, workers, &mut done.files)?;
    repositories::record(store, options, &mut done)?;
    file_scan::record(store, options, scans, workers, &mut done.files)?;
    Ok(done)
}

/// A name as it is kept: masked, in one line.
fn named(redactor: &Redactor, name: &str) -> String {
    redactor.redact(&shown(name.as_bytes())).into_owned()
}
