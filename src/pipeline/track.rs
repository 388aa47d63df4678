//! The step `track` for whoever asks for it: a run, `track sync`, an agent. Knows what may be read, and
//! brings the threads; [`tracking`](crate::tracking) does it.

use crate::config::{Loaded, TrackedProject};
use crate::model::namespace::global_group;
use crate::model::time::Time;
use crate::pipeline::admission::Admission;
use crate::pipeline::spec::Window;
use crate::rules::secrets::Redactor;
use crate::store::Store;
use crate::tracking::exclusions::TrackingContext;
use crate::tracking::project_status::{self, FileStatus};
use crate::tracking::{Done, TrackOptions, Workers, track};
use anyhow::Result;
use rayon::prelude::*;

/// What somebody wants of the step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish<'a> {
    /// Only the project at this root.
    pub only: Option<&'a str>,
    /// Files whose `stat` is as it was are read too.
    pub force: bool,
}

/// Where and when it is done.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The run's time.
    pub now: Time,
    /// The machine's name.
    pub host: &'a str,
    /// Operations before it are left alone; `None`: all are told.
    pub since: Option<Time>,
    /// Threads.
    pub jobs: usize,
}

/// Does it. What sessions may not be read of, files and repositories may not either.
///
/// # Errors
/// When the store fails. What can't be read is a problem of the report.
pub fn look(
    loaded: &Loaded,
    admission: &Admission<'_>,
    moment: &Moment<'_>,
    redactor: &Redactor,
    wish: &Wish<'_>,
    store: &mut Store,
) -> Result<Done> {
    let group = match &loaded.config.group_id {
        Some(group) => group.clone(),
        None => store
            .last_group()?
            .unwrap_or_else(|| global_group(moment.host)),
    };
    let refuses = |root: &str| admission.admit(Some(root), Some(root), root).err();
    let options = TrackOptions {
        now: moment.now,
        host: moment.host,
        context: TrackingContext::new(loaded, &refuses, admission.mistrusted(), moment.jobs),
        since: moment.since,
        group: &group,
        redactor,
        only: wish.only,
        force: wish.force,
        sinks: &sinks(loaded, store)?,
    };
    track(store, &options, &Threads)
}

/// The files of a project, by path. Costs a `stat` per file.
///
/// # Errors
/// When the store fails.
pub fn files(
    store: Option<&Store>,
    project: &TrackedProject,
    loaded: &Loaded,
    jobs: usize,
) -> Result<Vec<FileStatus>> {
    let admission = Admission::new(loaded, loaded.env(), Window::Configured, Time(0));
    let refuses = |root: &str| admission.admit(Some(root), Some(root), root).err();
    let context = TrackingContext::new(loaded, &refuses, admission.mistrusted(), jobs);
    project_status::files(store, project, &context)
}

/// Rayon's.
struct Threads;

impl Workers for Threads {
    fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        items.into_par_iter().map(&work).collect()
    }
}

/// The sinks that episodes wait for, where they were met before.
fn sinks(loaded: &Loaded, store: &Store) -> Result<Vec<i64>> {
    let mut known = Vec::new();
    let sinks = loaded.config.sinks.iter();
    for sink in sinks.filter(|_| loaded.config.store_in_graph) {
        let row = store.known_sink(&sink.name, &sink.to.address())?;
        known.extend(row.map(|row| row.n));
    }
    Ok(known)
}
