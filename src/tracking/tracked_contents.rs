//! The content of files that git wrote, where a project's patterns name them.

use super::exclusions::Exclusions;
use super::track_options::TrackOptions;
use crate::config::TrackedProject;
use crate::host::repository::Repository;
use crate::model::error::Error;
use crate::store::Store;
use std::path::{Path, PathBuf};

/// The project whose patterns name files of a repository.
pub(super) struct TrackedContents<'a> {
    options: &'a TrackOptions<'a>,
    project: &'a TrackedProject,
    /// The repository, from the project's root.
    below: PathBuf,
    exclusions: Exclusions<'a>,
}

impl<'a> TrackedContents<'a> {
    /// For the repository at `root`; `None`: no project names files of it, or the one that does is left alone
    /// for a while.
    pub(super) fn of(
        options: &'a TrackOptions<'a>,
        root: &str,
        store: &Store,
    ) -> Result<Option<TrackedContents<'a>>, Error> {
        let context = &options.context;
        let Some(project) = context.tracking.around(root) else {
            return Ok(None);
        };
        if store.tracked_project(&project.root)?.paused_at.is_some() {
            return Ok(None);
        }
        let top = Path::new(&project.root);
        let below = Path::new(root).strip_prefix(top);
        Ok(below.ok().map(|below| TrackedContents {
            options,
            project,
            below: below.to_path_buf(),
            exclusions: Exclusions::of(top, context),
        }))
    }

    /// A file's content, where a pattern names it and a scan of the disk would read it.
    pub(super) fn read(&self, repository: &Repository, blob: &str, path: &Path) -> Option<String> {
        let path = self.below.join(path);
        let pattern = self.project.tracked.pattern(&path)?;
        if self.exclusions.covers_content(&path) {
            return None;
        }
        let content = repository.file(blob, pattern.max_bytes)?;
        Some(self.options.redactor.redact(&content).into_owned())
    }
}
