//! File tracking as it is meant: which projects, and which of their files. Off unless written (D59).
//! Refuses to look at files.

use super::document::Document;
use super::env::Env;
use super::exclude::glob;
use super::position::Step;
use super::wire_tracking::{FileDefaults, FileProject, WireTracking};
use crate::model::error::Error;
use crate::model::namespace::project_root;
use globset::{GlobSet, GlobSetBuilder};

/// What `tracking-config` says of files and repositories.
#[derive(Clone, Debug)]
pub struct FileTracking {
    /// Projects that no entry names are tracked.
    enabled: bool,
    projects: Vec<(String, bool, Tracked)>,
    max_file_bytes: u64,
    /// Quiet time after a change before `watch` runs, in milliseconds.
    pub debounce_ms: u64,
    /// Between looks of `watch` where there are no file events, in milliseconds.
    pub polling_ms: u64,
}

/// How a project is tracked.
#[derive(Clone, Debug, Default)]
pub struct Tracked {
    /// The group of its episodes; `None`: that of the sessions.
    pub group: Option<String>,
    /// Longer files are named, not kept.
    pub max_file_bytes: u64,
    include: GlobSet,
    exclude: GlobSet,
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
            max_file_bytes: bytes(defaults.max_file_size_mb),
            debounce_ms: ms(defaults.debounce_seconds),
            polling_ms: ms(defaults.polling_interval_seconds),
        }
    }

    /// How the project with this root is tracked; `None`: not at all. The innermost entry around it
    /// counts.
    pub fn of(&self, root: &str) -> Option<Tracked> {
        let is_around = |project: &str| {
            let below = root.strip_prefix(project);
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        };
        let around = self
            .projects
            .iter()
            .filter(|(project, ..)| is_around(project));
        match around.max_by_key(|(project, ..)| project.len()) {
            Some((_, enabled, tracked)) => enabled.then(|| tracked.clone()),
            None => self.enabled.then(|| Tracked {
                max_file_bytes: self.max_file_bytes,
                ..Tracked::default()
            }),
        }
    }

    /// Something may be tracked.
    pub fn is_on(&self) -> bool {
        self.enabled || self.projects.iter().any(|(_, enabled, _)| *enabled)
    }
}

impl Tracked {
    /// The content of the file at this path, from the project's root, is kept: a pattern names it.
    pub fn keeps(&self, path: &str) -> bool {
        self.include.is_match(path) && !self.exclude.is_match(path)
    }
}

/// What the document says. Errors name file, line and key.
pub(super) fn tracking(document: &Document, env: &Env) -> Result<FileTracking, Error> {
    let wire: WireTracking = serde_json::from_value(document.value.clone())
        .map_err(|error| document.error(&[], &error.to_string()))?;
    let mut tracking = FileTracking::of_defaults(&wire.defaults);
    for (name, project) in &wire.projects {
        let at = |key: &str| ["projects", name, key].map(|key| Step::Key(key.into()));
        let root = env.expand(&project.project_root);
        let root = root.map_err(|error| document.error(&at("project_root"), &error.message))?;
        let root = project_root(&root);
        if !root.starts_with('/') && !root.contains(":/") {
            return Err(document.error(&at("project_root"), "must be absolute"));
        }
        let globs = globs(project);
        let (include, exclude) = globs.map_err(|what| document.error(&at("patterns"), &what))?;
        let tracked = Tracked {
            group: project.group_id.clone(),
            max_file_bytes: tracking.max_file_bytes,
            include,
            exclude,
        };
        tracking.projects.push((root, project.enabled, tracked));
    }
    Ok(tracking)
}

fn bytes(mb: f64) -> u64 {
    (mb.max(0.0) * f64::from(1 << 20)) as u64
}

/// What the patterns include, and what they exclude.
fn globs(project: &FileProject) -> Result<(GlobSet, GlobSet), String> {
    let (mut include, mut exclude) = (GlobSetBuilder::new(), GlobSetBuilder::new());
    let wrong = |pattern: &str, what: String| format!("`{pattern}` is no glob: {what}");
    for pattern in &project.patterns {
        include.add(glob(&pattern.include).map_err(|e| wrong(&pattern.include, e))?);
    }
    let excluded = project.patterns.iter().flat_map(|pattern| &pattern.exclude);
    for pattern in excluded.chain(&project.ignore_patterns) {
        exclude.add(glob(pattern).map_err(|e| wrong(pattern, e))?);
    }
    let built = |set: GlobSetBuilder| set.build().map_err(|error| error.to_string());
    Ok((built(include)?, built(exclude)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_entry_counts() {
        let project = |root: &str, enabled| (root.to_owned(), enabled, Tracked::default());
        let tracking = FileTracking {
            enabled: false,
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
