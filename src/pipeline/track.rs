//! The step `track`: what happened to the [`files`] of tracked projects, and what was done to their
//! [`repositories`] and to those that sessions name, becomes episodes. Knows the order of the two; refuses
//! to know how either is looked at.

mod barred;
mod doing;
mod files;
pub mod look;
pub mod repositories;
mod spoken;
pub mod standing;
mod telling;

pub use files::FilesDone;

use crate::config::Tracked;
use crate::model::file::shown;
use crate::model::time::Time;
use crate::rules::secrets::Redactor;
use crate::store::{Store, Stored};
use anyhow::Result;
use barred::Place;

/// What the step is told.
pub struct Orders<'a> {
    /// The run's time.
    pub now: Time,
    /// The machine's name.
    pub host: &'a str,
    /// Which projects, and what of them is left alone.
    pub place: Place<'a>,
    /// Operations before it are left alone; `None`: all are told.
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

impl Orders<'_> {
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
    /// Work trees that were looked at.
    pub trees: u64,
    /// Work trees of which something was opened.
    pub opened: u64,
    /// Operations that were new.
    pub operations: u64,
    /// What that changed.
    pub stored: Stored,
    /// Repositories that can't be read and changed since they were looked at last, with why. Never content.
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

/// Tells what is new in every tracked project: the one way in, for a run, `track sync` and whoever
/// watches. Files are looked at before git is asked and told after it, so that no operation between the
/// two makes a person's edit of what git wrote.
///
/// # Errors
/// When the store fails. What can't be read is a problem of the report.
pub fn track(store: &mut Store, orders: &Orders<'_>) -> Result<Done> {
    let mut done = Done::default();
    repositories::tell_again(store, orders)?;
    if !orders.place.tracking.is_on() {
        return Ok(done);
    }
    let looks = files::look(store, orders, &mut done.files)?;
    repositories::tell(store, orders, &mut done)?;
    files::tell(store, orders, looks, &mut done.files)?;
    Ok(done)
}

/// A name as it is kept: masked, in one line.
fn named(redactor: &Redactor, name: &str) -> String {
    redactor.redact(&shown(name.as_bytes())).into_owned()
}
