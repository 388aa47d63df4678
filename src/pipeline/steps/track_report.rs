//! What the step `track` did, as lines for people and as JSON.

use crate::tracking::{FilesReport, TrackReport};
use serde_json::{Value, json};

/// What could not be read, line by line.
pub fn warnings(done: &TrackReport) -> Vec<String> {
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
pub fn files(done: &FilesReport) -> Value {
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
pub fn problems(done: &TrackReport) -> Value {
    let all = done.problems.iter();
    all.map(|(path, reason)| json!({"path": path, "reason": reason}))
        .collect()
}
