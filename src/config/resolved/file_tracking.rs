//! File tracking as it is meant: which projects, and which of their files. Off unless written (D59).
//! No file is looked at.

use super::file_patterns::{FilePattern, Ignored};
use crate::config::document::Document;
use crate::config::env::Env;
use crate::config::exclude::glob;
use crate::config::position::PathStep;
use crate::config::values::bytes;
use crate::config::wire::{FileDefaults, FileProject, WirePattern, WireTracking};
use crate::model::error::Error;
use crate::model::namespace::project_root;
use std::path::{Path, PathBuf};

/// What `tracking-config` says of files and repositories.
#[derive(Clone, Debug)]
pub struct FileTracking {
    /// Git operations of projects that no entry names are tracked.
    enabled: bool,
    projects: Vec<TrackedProject>,
    /// How projects are tracked that no entry names.
    others: Tracked,
    limits: FileLimits,
    /// Quiet time after a change before `watch` runs, in milliseconds.
    pub debounce_ms: u64,
    /// Where it is never quiet, from the first change on, in milliseconds.
    pub debounce_max_ms: u64,
    /// Between looks of `watch` where there are no file events, in milliseconds.
    pub polling_ms: u64,
}

/// What holds for the files of all projects.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileLimits {
    /// Longer files are named, not kept, where their pattern says nothing else.
    pub max_file_bytes: u64,
    /// Files that are stored in one transaction.
    pub batch: usize,
    /// Episodes of files that may wait for a sink.
    pub queue_max: u64,
    /// A file that could not be read is left alone for so long.
    pub retry_ms: i64,
    /// Links are followed, inside the project.
    pub follows_links: bool,
}

/// One of `projects`.
#[derive(Clone, Debug, Default)]
pub struct TrackedProject {
    /// `<hostname>__<hash>`, or whatever it is called.
    pub name: String,
    /// The project, as everywhere ([`project_root`]).
    pub root: String,
    /// It is tracked.
    pub enabled: bool,
    /// How.
    pub tracked: Tracked,
}

/// How a project is tracked.
#[derive(Clone, Debug, Default)]
pub struct Tracked {
    /// The group of its episodes; `None`: that of the sessions.
    pub group: Option<String>,
    /// Whose content is kept; the first that names a file counts.
    pub patterns: Vec<FilePattern>,
    ignored: Ignored,
}

impl Default for FileTracking {
    /// Without a document.
    fn default() -> Self {
        FileTracking::of_defaults(&FileDefaults::default())
    }
}

impl FileTracking {
    fn of_defaults(defaults: &FileDefaults) -> FileTracking {
        let ms = |seconds: f64| (seconds * 1e3) as u64;
        FileTracking {
            enabled: defaults.enabled,
            projects: Vec::new(),
            others: Tracked::default(),
            limits: limits(defaults),
            debounce_ms: ms(defaults.debounce_seconds),
            debounce_max_ms: ms(defaults.debounce_max_seconds),
            polling_ms: ms(defaults.polling_interval_seconds),
        }
    }

    /// The innermost entry around this root.
    pub fn around(&self, root: &str) -> Option<&TrackedProject> {
        let around = self.projects.iter();
        let around = around.filter(|project| Path::new(root).starts_with(&project.root));
        around.max_by_key(|project| project.root.len())
    }

    /// How the project with this root is tracked; `None`: not at all. The innermost entry around it
    /// counts.
    pub fn of(&self, root: &str) -> Option<&Tracked> {
        match self.around(root) {
            Some(project) => project.enabled.then_some(&project.tracked),
            None => self.enabled.then_some(&self.others),
        }
    }

    /// Something may be tracked.
    pub fn is_on(&self) -> bool {
        self.enabled || self.projects.iter().any(|project| project.enabled)
    }

    /// As written, tracked or not, by name.
    pub fn projects(&self) -> &[TrackedProject] {
        &self.projects
    }

    /// The entry of the project with this root; `None`: it has none.
    pub fn project(&self, root: &str) -> Option<&TrackedProject> {
        self.projects.iter().find(|project| project.root == root)
    }

    /// What holds for all of them.
    pub fn limits(&self) -> FileLimits {
        self.limits
    }
}

impl Tracked {
    /// The pattern that names the file at this path, from the project's root; `None`: its content is not
    /// kept.
    pub fn pattern(&self, path: &Path) -> Option<&FilePattern> {
        let is_left_out = self.ignored.has(path);
        let mut patterns = self.patterns.iter().filter(|_| !is_left_out);
        patterns.find(|pattern| pattern.names(path))
    }

    /// Something below this folder may be kept.
    pub fn may_keep_below(&self, folder: &Path) -> bool {
        !self.ignored.covers(folder) && self.patterns.iter().any(|p| p.may_name_below(folder))
    }

    /// The folders, or files, in which everything lies that is kept; none is in another.
    pub fn starts(&self) -> Vec<PathBuf> {
        let mut all: Vec<&Path> = self.patterns.iter().map(FilePattern::start).collect();
        all.sort_unstable();
        let mut starts: Vec<PathBuf> = Vec::new();
        for start in all {
            if !starts.iter().any(|around| start.starts_with(around)) {
                starts.push(start.to_path_buf());
            }
        }
        starts
    }
}

/// What the document says.
///
/// # Errors
/// A root that isn't absolute or stands twice, a pattern that is no glob or leaves the project; with file,
/// line and key.
pub(in crate::config) fn file_tracking(
    document: &Document,
    env: &Env,
) -> Result<FileTracking, Error> {
    let wire: WireTracking = serde_json::from_value(document.value.clone())
        .map_err(|error| document.error(&[], &error.to_string()))?;
    let mut tracking = FileTracking::of_defaults(&wire.defaults);
    for (name, written) in &wire.projects {
        let project = project(document, env, name, written, tracking.limits)?;
        if let Some(twin) = tracking.project(&project.root) {
            let at = ["projects", name, "project_root"].map(|key| PathStep::Key(key.into()));
            let what = format!("`{}` is that of `{}` too", project.root, twin.name);
            return Err(document.error(&at, &what));
        }
        tracking.projects.push(project);
    }
    Ok(tracking)
}

fn limits(defaults: &FileDefaults) -> FileLimits {
    let resilience = &defaults.resilience;
    FileLimits {
        max_file_bytes: bytes(defaults.max_file_size_mb),
        batch: defaults.batch_size.max(1) as usize,
        queue_max: resilience.max_queue_size.into(),
        retry_ms: i64::from(resilience.retry_failed_after_seconds) * 1_000,
        follows_links: defaults.follow_symlinks,
    }
}

fn project(
    document: &Document,
    env: &Env,
    name: &str,
    written: &FileProject,
    limits: FileLimits,
) -> Result<TrackedProject, Error> {
    let at = |more: &[PathStep]| {
        let mut at = vec![PathStep::Key("projects".into()), PathStep::Key(name.into())];
        at.extend_from_slice(more);
        at
    };
    let key = |key: &str| PathStep::Key(key.into());
    let at_root = at(&[key("project_root")]);
    let root = env.expand(&written.project_root);
    let root = root.map_err(|error| document.error(&at_root, &error.message))?;
    let root = project_root(&root);
    // `C:/repo` is absolute, too
    if !root.starts_with('/') && !root.contains(":/") {
        return Err(document.error(&at_root, "must be absolute"));
    }
    let mut patterns = Vec::new();
    for (nth, written) in written.patterns.iter().enumerate() {
        let of = |step: &[PathStep]| at(&[&[key("patterns"), PathStep::Index(nth)], step].concat());
        // before it is compiled: this error names the very key, the other one the pattern
        check_pattern(written, &|more, what| document.error(&of(more), what))?;
        let pattern = FilePattern::new(written, limits.max_file_bytes);
        patterns.push(pattern.map_err(|what| document.error(&of(&[]), &what))?);
    }
    let globs = &written.ignore_patterns;
    if let Some((nth, what)) = broken(globs) {
        let at = at(&[key("ignore_patterns"), PathStep::Index(nth)]);
        return Err(document.error(&at, &what));
    }
    let ignored = Ignored::new(globs);
    Ok(TrackedProject {
        name: name.to_owned(),
        root,
        enabled: written.enabled,
        tracked: Tracked {
            group: written.group_id.clone(),
            patterns,
            ignored: ignored.map_err(|what| document.error(&at(&[]), &what))?,
        },
    })
}

/// What is wrong with a pattern, said at its place.
pub(in crate::config) fn check_pattern(
    written: &WirePattern,
    error: &dyn Fn(&[PathStep], &str) -> Error,
) -> Result<(), Error> {
    let include = PathStep::Key("include".into());
    if let Some((_, what)) = broken(std::slice::from_ref(&written.include)) {
        return Err(error(&[include], &what));
    }
    let leaves = |part: &str| part == "..";
    if written.include.starts_with('/') || written.include.split('/').any(leaves) {
        return Err(error(&[include], "must be below the project"));
    }
    if written.max_file_size_mb.is_some_and(|mb| mb < 0.0) {
        let at = [PathStep::Key("max_file_size_mb".into())];
        return Err(error(&at, "must not be negative"));
    }
    if let Some((nth, what)) = broken(&written.exclude) {
        return Err(error(
            &[PathStep::Key("exclude".into()), PathStep::Index(nth)],
            &what,
        ));
    }
    Ok(())
}

/// The first that is no glob, and why.
fn broken(patterns: &[String]) -> Option<(usize, String)> {
    let why = |pattern: &String| {
        if pattern.trim().is_empty() {
            Some("is empty".to_owned())
        } else {
            glob(pattern).err()
        }
    };
    let mut all = patterns.iter().enumerate();
    all.find_map(|(nth, pattern)| {
        let why = why(pattern)?;
        Some((nth, format!("`{pattern}` is not a valid glob: {why}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_entry_counts() {
        let project = |root: &str, enabled| TrackedProject {
            root: root.to_owned(),
            enabled,
            ..TrackedProject::default()
        };
        let tracking = FileTracking {
            projects: vec![project("/w", true), project("/w/secret", false)],
            ..FileTracking::default()
        };
        assert!(tracking.is_on());
        assert!(tracking.of("/w/app").is_some());
        assert!(tracking.of("/w/secret/x").is_none());
        assert!(tracking.of("/work").is_none());
        assert!(!FileTracking::default().is_on());
    }
}
