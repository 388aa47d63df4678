//! What is tracked and how: settings, permits, time and threads of one run.

use super::exclusions::TrackingContext;
use crate::config::Tracked;
use crate::model::file::shown;
use crate::model::time::Time;
use crate::rules::secrets::Redactor;

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
    pub(super) fn includes(&self, root: &str) -> bool {
        self.only.is_none_or(|only| only == root)
    }

    /// The group of the episodes of a project.
    pub(super) fn group_of<'g>(&'g self, tracked: &'g Tracked) -> &'g str {
        tracked.group.as_deref().unwrap_or(self.group)
    }

    /// A name as it is stored: masked, in one line.
    pub(super) fn stored_name(&self, name: &str) -> String {
        stored_name(self.redactor, name)
    }
}

/// A name as it is stored: masked, in one line.
pub(super) fn stored_name(redactor: &Redactor, name: &str) -> String {
    redactor.redact(&shown(name.as_bytes())).into_owned()
}
