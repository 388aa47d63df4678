//! The step `track`: what happened to the files and repositories of tracked projects.

use crate::model::human::plural;
use crate::pipeline::active_run::Run;
use crate::pipeline::admission::Admission;
use crate::pipeline::context::RunContext;
use crate::pipeline::options::RunOptions;
use crate::pipeline::track::look::{Moment, Wish, look};
use crate::pipeline::track::{Done, FilesDone};
use crate::rules::secrets::Redactor;
use crate::store::Store;
use anyhow::Result;

/// Does the step, for every tracked project.
///
/// # Errors
/// When the store fails. What can't be read is a problem of the report.
pub fn run(run: &mut Run<'_, '_>) -> Result<Done> {
    let moment = moment(run.options, run.cx);
    let redactor = &run.rules.redactor;
    let everything = Wish::default();
    let loaded = run.cx.loaded;
    look(
        loaded,
        &run.admission,
        &moment,
        redactor,
        &everything,
        &mut run.store,
    )
}

/// Does it for whoever asks for it alone.
///
/// # Errors
/// As [`run`].
pub fn sync(
    wish: &Wish<'_>,
    options: &RunOptions,
    redactor: &Redactor,
    store: &mut Store,
    cx: &RunContext<'_>,
) -> Result<Done> {
    let admission = Admission::new(cx.loaded, cx.env, options.window, options.now);
    let moment = moment(options, cx);
    look(cx.loaded, &admission, &moment, redactor, wish, store)
}

fn moment<'o>(options: &'o RunOptions, cx: &RunContext<'_>) -> Moment<'o> {
    Moment {
        now: options.now,
        host: &options.host,
        since: options.since(&cx.loaded.config),
        jobs: options.jobs,
    }
}

/// What was new; `None` where nothing was.
pub fn line(done: &Done) -> Option<String> {
    let files = &done.files;
    let operations =
        (done.operations > 0).then(|| format!("{} told", plural(done.operations, "git operation")));
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
fn file_line(files: &FilesDone) -> String {
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
    format!("{changes} told ({})", parts.join(", "))
}
