//! The step `track` on the command line: what it is told, and what it says.

use super::human::plural;
use super::setup::{self, Orders};
use crate::config::Loaded;
use crate::pipeline::admission::Admission;
pub use crate::pipeline::track::Wish;
use crate::pipeline::track::{Moment, look};
use crate::rules::secrets::Redactor;
use crate::store::Store;
pub use crate::tracking::{Done, FilesDone};
use anyhow::Result;
use serde_json::{Value, json};

/// Does the step as the command line says.
pub fn run(
    loaded: &Loaded,
    admission: &Admission<'_>,
    orders: &Orders,
    redactor: &Redactor,
    wish: &Wish<'_>,
    store: &mut Store,
) -> Result<Done> {
    let moment = Moment {
        now: orders.now,
        host: &orders.host,
        since: setup::since(&loaded.config, orders),
        jobs: orders.jobs,
    };
    look(loaded, admission, &moment, redactor, wish, store)
}

/// As a run does it, over everything.
pub fn run_all(
    loaded: &Loaded,
    admission: &Admission<'_>,
    orders: &Orders,
    redactor: &Redactor,
    store: &mut Store,
) -> Result<Done> {
    run(loaded, admission, orders, redactor, &Wish::default(), store)
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

/// What could not be read, line by line.
pub fn warnings(done: &Done) -> Vec<String> {
    let repositories = done.problems.iter();
    let repositories = repositories.map(|(path, why)| format!("repository {path}: {why}"));
    let projects = done.files.problems.iter();
    let projects = projects.map(|(path, why)| format!("files of {path}: {why}"));
    let unread = &done.files.unread;
    let files = unread.iter().take(UNREAD_TOLD);
    let files = files.map(|(project, path, why)| format!("{project}/{path}: {why}"));
    let more = unread.len().saturating_sub(UNREAD_TOLD);
    let more = (more > 0).then(|| format!("and {more} more: sessionmill track status"));
    repositories
        .chain(projects)
        .chain(files)
        .chain(more)
        .collect()
}

/// Files that could not be read that a run names.
const UNREAD_TOLD: usize = 10;

/// What happened to files, as JSON.
pub fn files(done: &FilesDone) -> Value {
    let unread = done.unread.iter();
    let unread = unread
        .map(|(project, path, reason)| json!({"project": project, "path": path, "reason": reason}));
    let problems = done.problems.iter();
    let problems = problems.map(|(path, reason)| json!({"path": path, "reason": reason}));
    json!({
        "projects": done.projects,
        "seen": done.seen,
        "opened": done.opened,
        "created": done.created,
        "updated": done.updated,
        "moved": done.moved,
        "deleted": done.deleted,
        "by_git": done.by_git,
        "named_only": done.named,
        "passed_over": done.passed,
        "waiting": done.waiting,
        "unread": unread.collect::<Value>(),
        "problems": problems.collect::<Value>(),
    })
}

/// Repositories that can't be read, as JSON.
pub fn problems(done: &Done) -> Value {
    let all = done.problems.iter();
    all.map(|(path, reason)| json!({"path": path, "reason": reason}))
        .collect()
}
