//! What of a project's tree is left alone though a pattern names it: what is excluded, other projects, what
//! an agent was told not to trust or switches itself off, our own folder and what we write for sinks. Links
//! don't help around it: each folder counts under all of its names.

use crate::config::{Excluded, FileTracking, Loaded, SinkTo};
use std::path::{Component, Path, PathBuf};

/// Why a project may not be looked at; `None`: it may.
pub type Refuses<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// What tracking may look at, as the settings restrict it.
pub struct TrackingContext<'a> {
    /// Which projects.
    pub tracking: &'a FileTracking,
    /// Our own folder.
    pub own: &'a Path,
    /// Threads.
    pub jobs: usize,
    excluded: &'a Excluded,
    refuses: Refuses<'a>,
    /// Where sinks that are files write: what we deliver is not to come back as a project's file.
    sink_folders: Vec<PathBuf>,
    /// What an agent was told not to trust.
    untrusted: Vec<PathBuf>,
}

impl<'a> TrackingContext<'a> {
    /// As the settings say. `refuses` and `untrusted` come from whoever decides which logs are read.
    pub fn new(
        loaded: &'a Loaded,
        refuses: Refuses<'a>,
        untrusted: Vec<PathBuf>,
        jobs: usize,
    ) -> TrackingContext<'a> {
        let sinks = loaded.config.sinks.iter();
        // no wildcard: a new sink that writes files has to be excluded here
        let sink_folders = sinks.filter_map(|sink| match &sink.to {
            SinkTo::Markdown(folder) | SinkTo::Jsonl(folder) | SinkTo::Parquet(folder) => {
                Some(folder.clone())
            }
            SinkTo::Database(_) | SinkTo::Graphiti(_) => None,
        });
        TrackingContext {
            tracking: &loaded.tracking,
            own: &loaded.home.dir,
            jobs,
            excluded: &loaded.config.excluded,
            refuses,
            sink_folders: sink_folders.collect(),
            untrusted,
        }
    }

    /// A person excluded this path.
    pub fn excludes(&self, path: &Path) -> bool {
        self.excluded.covers(&path.to_string_lossy())
    }

    /// Why the project at this root may not be looked at, under this name or without links.
    pub fn refuses_root(&self, root: &str) -> Option<String> {
        (self.refuses)(root).or_else(|| {
            let real = Path::new(root).canonicalize().ok()?;
            (self.refuses)(real.to_str().filter(|real| *real != root)?)
        })
    }

    /// Why what lies in this folder may not be read: it, or the repository around it, may not.
    pub fn refuses_folder(&self, folder: &Path) -> Option<String> {
        let is_git_dir = |dir: &&Path| {
            let name = dir.file_name();
            name.is_some_and(|name| name == ".git" || name == ".bare")
        };
        let around = folder.ancestors().find(is_git_dir).and_then(Path::parent);
        let folders = [Some(folder), around].into_iter().flatten();
        let mut reasons = folders.filter_map(|folder| (self.refuses)(&folder.to_string_lossy()));
        reasons.next()
    }
}

/// What of one project's tree is left alone.
pub(super) struct Exclusions<'a> {
    context: &'a TrackingContext<'a>,
    root: PathBuf,
    /// Without links.
    real: PathBuf,
    /// Folders that nothing is looked at in, under any of their names; only those that can matter.
    folders: Vec<PathBuf>,
}

impl<'a> Exclusions<'a> {
    pub(super) fn of(root: &Path, context: &'a TrackingContext<'a>) -> Exclusions<'a> {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let is_it = |path: &Path| path == root || path == real;
        let below =
            |path: &Path| !is_it(path) && (path.starts_with(root) || path.starts_with(&real));
        let around = |path: &Path| root.starts_with(path) || real.starts_with(path);
        let projects = context.tracking.projects().iter();
        let projects = projects.map(|project| PathBuf::from(&project.root));
        let others = projects.chain(context.untrusted.iter().cloned());
        let others = others.flat_map(names).filter(|path| below(path));
        let ours = [context.own.to_path_buf()].into_iter();
        let ours = ours
            .chain(context.sink_folders.iter().cloned())
            .flat_map(names);
        let ours = ours.filter(|path| below(path) || around(path));
        let folders = others.chain(ours).collect();
        Exclusions {
            context,
            root: root.to_path_buf(),
            real,
            folders,
        }
    }

    /// Nothing is looked at here, nor below; `path` from the project's root.
    pub(super) fn covers(&self, path: &Path) -> bool {
        let excluded = self.context.excluded;
        if self.folders.is_empty() && excluded.patterns().is_empty() {
            return false;
        }
        let names = [self.root.join(path), self.real.join(path)];
        names.iter().any(|name| {
            let mut folders = self.folders.iter();
            folders.any(|folder| name.starts_with(folder))
                || excluded.covers(&name.to_string_lossy())
        })
    }

    /// The settings that lie in this folder say that nothing is read there.
    pub(super) fn is_left_alone(&self, folder: &Path) -> bool {
        let folder = self.root.join(folder);
        folder != self.root && (self.context.refuses)(&folder.to_string_lossy()).is_some()
    }

    /// The content that git has of a file at this path may not be kept either.
    pub(super) fn covers_content(&self, path: &Path) -> bool {
        let climbs = path.components().any(|part| part == Component::ParentDir);
        let mut around = path.ancestors().skip(1);
        climbs || self.covers(path) || around.any(|folder| self.is_left_alone(folder))
    }
}

/// A folder as it is called, and without links.
fn names(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    let real = path.canonicalize().ok().filter(|real| *real != path);
    [Some(path), real].into_iter().flatten()
}
