//! The step `track`: what happened to the files and repositories of tracked projects. Here is what may be
//! read, and the threads; [`tracking`](crate::tracking) does it.

use crate::config::{Loaded, TrackedProject};
use crate::model::human::plural;
use crate::model::namespace::global_group;
use crate::model::time::Time;
use crate::pipeline::active_run::Run;
use crate::pipeline::admission::Admission;
use crate::pipeline::context::RunContext;
use crate::pipeline::options::RunOptions;
use crate::pipeline::spec::Window;
use crate::rules::secrets::Redactor;
use crate::store::Store;
use crate::tracking::FilesReport;
use crate::tracking::exclusions::TrackingContext;
use crate::tracking::project_status::{self, FileStatus};
use crate::tracking::{TrackOptions, TrackReport, Workers, track};
use anyhow::Result;
use rayon::prelude::*;

/// Does the step, for every tracked project.
///
/// # Errors
/// When the store fails. What can't be read is a problem of the report.
pub fn run(run: &mut Run<'_, '_>) -> Result<TrackReport> {
    let setup = setup(run.options, &run.admission, &run.rules.redactor, run.cx);
    look(&setup, &TrackRequest::default(), &mut run.store)
}

/// Does it for whoever asks for it alone.
///
/// # Errors
/// As [`run`].
pub fn sync(
    request: &TrackRequest<'_>,
    options: &RunOptions,
    redactor: &Redactor,
    store: &mut Store,
    cx: &RunContext<'_>,
) -> Result<TrackReport> {
    let admission = Admission::new(cx.loaded, cx.env, options.window, options.now);
    look(&setup(options, &admission, redactor, cx), request, store)
}

fn setup<'s, 'l>(
    options: &'s RunOptions,
    admission: &'s Admission<'l>,
    redactor: &'s Redactor,
    cx: &'s RunContext<'_>,
) -> TrackSetup<'s, 'l> {
    TrackSetup {
        loaded: cx.loaded,
        admission,
        redactor,
        now: options.now,
        host: &options.host,
        since: options.since(&cx.loaded.config),
        jobs: options.jobs,
    }
}

/// What somebody wants of the step.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrackRequest<'a> {
    /// Only the project at this root.
    pub only: Option<&'a str>,
    /// Files whose `stat` is as it was are read too.
    pub force: bool,
}

/// What the step goes by, whatever is wanted of it.
pub struct TrackSetup<'a, 'l> {
    /// The settings.
    pub loaded: &'a Loaded,
    /// What may be read.
    pub admission: &'a Admission<'l>,
    /// What hides secrets.
    pub redactor: &'a Redactor,
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
    setup: &TrackSetup<'_, '_>,
    request: &TrackRequest<'_>,
    store: &mut Store,
) -> Result<TrackReport> {
    let group = match &setup.loaded.config.group_id {
        Some(group) => group.clone(),
        None => store
            .last_group()?
            .unwrap_or_else(|| global_group(setup.host)),
    };
    let refuses = |root: &str| setup.admission.admit(Some(root), Some(root), root).err();
    let options = TrackOptions {
        now: setup.now,
        host: setup.host,
        context: TrackingContext::new(
            setup.loaded,
            &refuses,
            setup.admission.mistrusted(),
            setup.jobs,
        ),
        since: setup.since,
        group: &group,
        redactor: setup.redactor,
        only: request.only,
        force: request.force,
        sinks: &sinks(setup.loaded, store)?,
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

/// What was new; `None` where nothing was.
pub fn line(done: &TrackReport) -> Option<String> {
    let files = &done.files;
    let operations = (done.operations > 0)
        .then(|| format!("{} recorded", plural(done.operations, "git operation")));
    let changes = (files.changes() > 0).then(|| file_line(files));
    let waiting =
        (files.waiting > 0).then(|| format!("{} for room in the queue", waits(files.waiting)));
    let parts: Vec<String> = [operations, changes, waiting]
        .into_iter()
        .flatten()
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn waits(count: u64) -> String {
    let are = if count == 1 { "waits" } else { "wait" };
    format!("{} {are}", plural(count, "file change"))
}

/// `3 file changes told (1 new, 2 changed)`.
fn file_line(files: &FilesReport) -> String {
    let parts = [
        (files.created, "new"),
        (files.updated, "changed"),
        (files.moved, "moved"),
        (files.deleted, "deleted"),
        (files.by_git, "by git"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let changes = plural(files.changes(), "file change");
    format!("{changes} recorded ({})", parts.join(", "))
}
