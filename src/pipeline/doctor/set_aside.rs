//! Damaged files that a repair set aside: which there are and since when, and taking them away. They hold what
//! the store held, also what was forgotten since.

use super::diagnosis::{Diagnosis, Severity, counted, first_of};
use super::observed::Observed;
use crate::config::Home;
use crate::model::human;
use crate::model::time::Time;
use chrono::NaiveDateTime;
use std::fs;
use std::path::{Path, PathBuf};

/// When a file was set aside, as its name says it.
pub(super) const MARK: &str = "%Y%m%dT%H%M%SZ";

/// Characters of such a mark.
const MARK_CHARS: usize = 16;

/// Long enough to miss something; then they are only a copy of what was said.
const KEPT_DAYS: i64 = 30;

/// What takes them away.
const PURGE: &str = "sessionmill forget --purge-aside";

/// A file, or SQLite's companion of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Where it is.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    at: Option<Time>,
}

/// All of them, by name.
pub fn all(home: &Home) -> Vec<SetAside> {
    beside(&home.store())
}

fn beside(store: &Path) -> Vec<SetAside> {
    let name = store.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!("{name}.damaged-");
    let folder = store.parent().and_then(|folder| fs::read_dir(folder).ok());
    let entries = folder.into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let mark = name.strip_prefix(&prefix)?.get(..MARK_CHARS)?;
        let at = NaiveDateTime::parse_from_str(mark, MARK).ok();
        Some(SetAside {
            path: entry.path(),
            bytes: entry.metadata().map_or(0, |file| file.len()),
            at: at.map(|at| Time(at.and_utc().timestamp_millis())),
        })
    });
    let mut found: Vec<SetAside> = found.collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Removes them; gives which.
///
/// # Errors
/// Where one can't be removed; those before it are gone.
pub fn purge(home: &Home) -> std::io::Result<Vec<SetAside>> {
    let all = all(home);
    all.iter()
        .try_for_each(|file| fs::remove_file(&file.path))?;
    Ok(all)
}

/// `a.db and 1 more (12 MB)`; `None`: there are none.
pub fn named(files: &[SetAside]) -> Option<String> {
    let paths = files
        .iter()
        .map(|file| file.path.to_string_lossy().into_owned());
    let bytes = human::bytes(files.iter().map(|file| file.bytes).sum());
    let paths: Vec<String> = paths.collect();
    (!paths.is_empty()).then(|| format!("{} ({bytes})", first_of(&paths)))
}

/// What somebody is told who forgets something; `None`: there are none.
pub fn after_forgetting(home: &Home) -> Option<String> {
    let files = named(&all(home))?;
    Some(format!(
        "{files} from a repair may still hold forgotten text: {PURGE}"
    ))
}

/// Some were kept long enough.
pub(super) fn check(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let days = |at: Time| (observed.now.0 - at.0) / 86_400_000;
    let mut old = beside(&observed.store);
    old.retain(|file| file.at.is_some_and(|at| days(at) >= KEPT_DAYS));
    let oldest = old.iter().filter_map(|file| file.at).map(days).max();
    let told = named(&old).zip(oldest).map(|(files, days)| {
        let since = counted(days.unsigned_abs(), "day");
        let reason = format!("a repair set {files} aside {since} ago");
        Diagnosis::new(Severity::Note, "set-aside", reason, PURGE)
    });
    told.into_iter().collect()
}
