//! The status of tracked projects and their files, from the catalogue and the disk, without reading or
//! changing any file (004-053, 004-057).

use super::exclusions::TrackingContext;
use super::file_scan::walked;
use crate::config::{FileTracking, TrackedProject};
use crate::model::file::{Hashes, print_of, shown};
use crate::model::git::FileOperation;
use crate::model::source::Stat;
use crate::model::time::Time;
use crate::store::Store;
use anyhow::Result;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use uuid::Uuid;

/// The status of a project.
#[derive(Clone, Debug)]
pub struct ProjectStatus<'a> {
    /// As configured.
    pub project: &'a TrackedProject,
    /// Since when it is not scanned.
    pub paused_at: Option<Time>,
    /// When a scan last found news.
    pub changed_at: Option<Time>,
    /// Files of the catalogue.
    pub files: u64,
    /// Files that could not be read, with why.
    pub unread: Vec<(String, String)>,
}

/// The status of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// As it was recorded.
    Recorded,
    /// Nothing is recorded of it yet.
    New,
    /// It changed since, or may have.
    Changed,
    /// It is gone, or out of sight.
    Gone,
    /// It could not be read.
    Unread,
}

impl FileState {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            FileState::Recorded => "told",
            FileState::New => "new",
            FileState::Changed => "changed",
            FileState::Gone => "gone",
            FileState::Unread => "unread",
        }
    }
}

/// A file of a project.
#[derive(Clone, Debug)]
pub struct FileStatus {
    /// From the project's root.
    pub path: String,
    /// Its status.
    pub state: FileState,
    /// Bytes, as last seen.
    pub size: u64,
    /// When it was written, as last seen.
    pub modified: Time,
    /// `sha256:…`; absent where it was not read.
    pub content_hash: Option<String>,
    /// The episode that has its content.
    pub episode: Option<Uuid>,
    /// What that was recorded as.
    pub operation: Option<FileOperation>,
}

impl FileStatus {
    /// A file of which `stat` is all that is known.
    fn of(path: &[u8], state: FileState, stat: &Stat) -> FileStatus {
        FileStatus {
            path: shown(path),
            state,
            size: stat.size,
            modified: stat.modified(),
            content_hash: None,
            episode: None,
            operation: None,
        }
    }
}

/// Projects as configured; `only`: the one at this root. `store`: absent where there is none yet.
///
/// # Errors
/// When the store fails.
pub fn projects<'a>(
    store: Option<&Store>,
    tracking: &'a FileTracking,
    only: Option<&str>,
) -> Result<Vec<ProjectStatus<'a>>> {
    let projects = tracking.projects().iter();
    let projects = projects.filter(|project| only.is_none_or(|only| only == project.root));
    let status = |project| {
        let mut status = ProjectStatus {
            project,
            paused_at: None,
            changed_at: None,
            files: 0,
            unread: Vec::new(),
        };
        if let Some(store) = store {
            let row = store.tracked_project(&project.root)?;
            status.paused_at = row.paused_at;
            status.changed_at = row.changed_at;
            status.files = store.count_tracked(row.n)?;
            let failures = store.file_failures(row.n)?.into_iter();
            status.unread = failures.map(|one| (shown(&one.path), one.reason)).collect();
        }
        Ok(status)
    };
    projects.map(status).collect()
}

/// The files of a project, by path. Costs a `stat` per file.
///
/// # Errors
/// When the store fails.
pub fn files(
    store: Option<&Store>,
    project: &TrackedProject,
    context: &TrackingContext<'_>,
) -> Result<Vec<FileStatus>> {
    let mut all: BTreeMap<Vec<u8>, (FileStatus, u64)> = BTreeMap::new();
    let mut unread = BTreeMap::new();
    if let Some(store) = store {
        let row = store.tracked_project(&project.root)?;
        let prints = store.tracked_prints(row.n)?;
        for (path, known) in store.tracked_files(row.n)? {
            let print = prints.get(path.as_slice()).copied().unwrap_or_default();
            let status = FileStatus {
                content_hash: known.hashes.as_ref().map(Hashes::content_hash),
                episode: known.episode,
                operation: known.operation,
                ..FileStatus::of(&path, FileState::Gone, &known.stat)
            };
            all.insert(path, (status, print));
        }
        let failures = store.file_failures(row.n)?.into_iter();
        unread = failures.map(|one| (one.path, one.print)).collect();
    }
    for sighting in walked(project, context).files {
        let print = print_of(&sighting.stat);
        let is_unread = unread.get(&sighting.path) == Some(&print);
        let state = match all.get(&sighting.path) {
            _ if is_unread => FileState::Unread,
            None => FileState::New,
            Some((_, known)) if *known == print => FileState::Recorded,
            Some(_) => FileState::Changed,
        };
        let seen = FileStatus::of(&sighting.path, state, &sighting.stat);
        match all.entry(sighting.path) {
            Entry::Vacant(entry) => {
                entry.insert((seen, print));
            }
            Entry::Occupied(mut entry) => {
                let (known, _) = entry.get_mut();
                (known.state, known.size, known.modified) = (state, seen.size, seen.modified);
            }
        }
    }
    Ok(all.into_values().map(|(status, _)| status).collect())
}

/// How many of these files have something to record.
pub fn pending(files: &[FileStatus]) -> u64 {
    let is_pending = |file: &&FileStatus| file.state != FileState::Recorded;
    files.iter().filter(is_pending).count() as u64
}
