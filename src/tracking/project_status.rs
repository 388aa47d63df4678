//! How tracked projects and their files stand, without reading or changing any (004-053, 004-057). Knows the
//! catalogue and the disk; refuses to know who asks.

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

/// How a project stands.
#[derive(Clone, Debug)]
pub struct ProjectStanding<'a> {
    /// As configured.
    pub project: &'a TrackedProject,
    /// Since when it is not looked at.
    pub paused_at: Option<Time>,
    /// When a look last found news.
    pub changed_at: Option<Time>,
    /// Files of the catalogue.
    pub files: u64,
    /// Files that could not be read, with why.
    pub unread: Vec<(String, String)>,
}

/// How a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// As it was told.
    Told,
    /// Nothing was told of it yet.
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
            FileState::Told => "told",
            FileState::New => "new",
            FileState::Changed => "changed",
            FileState::Gone => "gone",
            FileState::Unread => "unread",
        }
    }
}

/// A file of a project.
#[derive(Clone, Debug)]
pub struct FileStanding {
    /// From the project's root.
    pub path: String,
    /// How it stands.
    pub state: FileState,
    /// Bytes, as last seen.
    pub size: u64,
    /// When it was written, as last seen.
    pub modified: Time,
    /// `sha256:…`; absent where it was not read.
    pub content_hash: Option<String>,
    /// The episode that has its content.
    pub episode: Option<Uuid>,
    /// What that was told as.
    pub operation: Option<FileOperation>,
}

impl FileStanding {
    /// A file of which `stat` is all that is known.
    fn of(path: &[u8], state: FileState, stat: &Stat) -> FileStanding {
        FileStanding {
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
) -> Result<Vec<ProjectStanding<'a>>> {
    let projects = tracking.projects().iter();
    let projects = projects.filter(|project| only.is_none_or(|only| only == project.root));
    let standing = |project| {
        let mut standing = ProjectStanding {
            project,
            paused_at: None,
            changed_at: None,
            files: 0,
            unread: Vec::new(),
        };
        if let Some(store) = store {
            let row = store.tracked_project(&project.root)?;
            standing.paused_at = row.paused_at;
            standing.changed_at = row.changed_at;
            standing.files = store.count_tracked(row.n)?;
            let failures = store.file_failures(row.n)?.into_iter();
            standing.unread = failures.map(|one| (shown(&one.path), one.reason)).collect();
        }
        Ok(standing)
    };
    projects.map(standing).collect()
}

/// The files of a project, by path. Costs a `stat` per file.
///
/// # Errors
/// When the store fails.
pub fn files(
    store: Option<&Store>,
    project: &TrackedProject,
    context: &TrackingContext<'_>,
) -> Result<Vec<FileStanding>> {
    let mut all: BTreeMap<Vec<u8>, (FileStanding, u64)> = BTreeMap::new();
    let mut unread = BTreeMap::new();
    if let Some(store) = store {
        let row = store.tracked_project(&project.root)?;
        let prints = store.tracked_prints(row.n)?;
        for (path, known) in store.tracked_files(row.n)? {
            let print = prints.get(path.as_slice()).copied().unwrap_or_default();
            let standing = FileStanding {
                content_hash: known.hashes.as_ref().map(Hashes::content_hash),
                episode: known.episode,
                operation: known.operation,
                ..FileStanding::of(&path, FileState::Gone, &known.stat)
            };
            all.insert(path, (standing, print));
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
            Some((_, known)) if *known == print => FileState::Told,
            Some(_) => FileState::Changed,
        };
        let seen = FileStanding::of(&sighting.path, state, &sighting.stat);
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
    Ok(all.into_values().map(|(standing, _)| standing).collect())
}

/// How many files of these have something to be told.
pub fn pending(files: &[FileStanding]) -> u64 {
    let is_pending = |file: &&FileStanding| file.state != FileState::Told;
    files.iter().filter(is_pending).count() as u64
}
