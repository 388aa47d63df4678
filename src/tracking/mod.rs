//! Floor 2: what happened to the files of tracked projects, and what was done to their repositories and
//! to those that sessions name, becomes episodes. One vertical over `host` (disk, git), `config` (which
//! projects) and `store` (what is known, what was said):
//!
//! - what may be read: [`exclusions`]
//! - files: `file_scan` finds changes, `git_attribution` says which of them git made,
//!   `file_recorder` stores them as `file_episodes`
//! - git: [`repositories`] reads logs, `operations` sorts their lines, `conversation_context` finds
//!   what was said before an operation, `reasons` the sentence that says why, `git_episodes` the text
//! - who did it: [`commit_links`] ties sessions to operations, by commits and by `git_commands` in
//!   `timed_calls`; `doers` judges what a session's new words may change
//! - reading back: [`project_status`], [`git_history`] (what became of a commit, branch or file),
//!   [`file_history`] (which sessions edited a file), [`coverage`] (what could be known), [`history_words`] (all of this in plain English),
//!   [`commit_links`] (which session made a commit), [`session_git`] (what became of a session's commits),
//!   [`decision_links`] (decisions that led to work that was given up),
//!   [`rollbacks`] (work that was given up)
//!
//! Threads are the caller's: see [`Workers`].

pub mod commit_links;
mod conversation_context;
pub mod coverage;
pub mod decision_links;
mod doers;
pub mod exclusions;
pub mod fates;
mod file_episodes;
pub mod file_history;
mod file_recorder;
mod file_scan;
mod git_attribution;
mod git_commands;
mod git_episodes;
pub mod git_history;
pub mod history_documents;
pub mod history_words;
mod judging;
mod line_times;
mod objections;
mod operations;
pub mod project_status;
mod quoted_reasons;
mod reasons;
pub mod repositories;
mod reset_modes;
mod reverts;
pub mod rollbacks;
pub mod safe_names;
mod same_work;
pub mod session_git;
mod timed_calls;
mod track_options;
mod track_report;
mod tracked_contents;
mod unlogged;
mod verdict;

pub use track_options::{TrackOptions, Workers};
pub use track_report::{FilesReport, TrackReport};

use crate::store::Store;
use anyhow::Result;

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
) -> Result<TrackReport> {
    let mut done = TrackReport::default();
    repositories::record_again(store, options)?;
    if !options.context.tracking.is_on() {
        doers::judge(store)?;
        return Ok(done);
    }
    let scans = file_scan::scan(store, options, workers, &mut done.files)?;
    repositories::record(store, options, &mut done)?;
    file_recorder::record(store, options, scans, workers, &mut done.files)?;
    doers::judge(store)?;
    Ok(done)
}
