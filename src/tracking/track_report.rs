//! What tracking did: counts, and what could not be read.

use crate::store::Stored;

/// What tracking did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackReport {
    /// Work trees that were checked.
    pub trees: u64,
    /// Work trees of which something was opened.
    pub opened: u64,
    /// Operations that were new.
    pub operations: u64,
    /// What that changed.
    pub stored: Stored,
    /// Repositories that can't be read and changed since they were checked last, with why. Never content.
    pub problems: Vec<(String, String)>,
    /// What happened to files.
    pub files: FilesReport,
}

impl TrackReport {
    /// Repositories, projects and files that could not be read.
    pub fn unread(&self) -> usize {
        self.problems.len() + self.files.problems.len() + self.files.unread.len()
    }
}

/// What scanning files did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesReport {
    /// Projects that were scanned.
    pub projects: u64,
    /// Files that patterns name.
    pub seen: u64,
    /// Files that were opened.
    pub opened: u64,
    /// New files.
    pub created: u64,
    /// Files with another content.
    pub updated: u64,
    /// Files that are gone.
    pub deleted: u64,
    /// Files that are elsewhere, or are called otherwise.
    pub moved: u64,
    /// Of all these, what git did.
    pub by_git: u64,
    /// Files that are named only: too large, or no text.
    pub named: u64,
    /// Links that were not followed; pipes, sockets and devices.
    pub passed: u64,
    /// Changes that wait for room in the queue.
    pub waiting: u64,
    /// Files that could not be read: project, path, why. Never content.
    pub unread: Vec<(String, String, String)>,
    /// Projects that can't be scanned, with why.
    pub problems: Vec<(String, String)>,
    /// What that changed.
    pub stored: Stored,
}

impl FilesReport {
    /// Files of which something was recorded.
    pub fn changes(&self) -> u64 {
        self.created + self.updated + self.deleted + self.moved
    }
}
