//! Which files of a project are remembered (004-052..058): what `sessionmill track` does, for agents. Acts
//! only where sessions may be read, and changes the user's own settings alone.

use super::here::{Here, minute, typed};
use crate::agents::registry;
use crate::config::edit::tracking_config::{NewPattern, NewProject, add, switch};
use crate::config::{Loaded, TrackedProject, gate, load};
use crate::memory::places::{glob_from_root, tracked_root};
use crate::memory::redaction_setup;
use crate::model::error::{Error, ErrorKind};
use crate::model::file::Strategy;
use crate::model::human::plural;
use crate::pipeline::admission::Admission;
use crate::pipeline::lock::Lock;
use crate::pipeline::spec::Window;
use crate::pipeline::steps::track::{self, TrackRequest, TrackSetup, look};
use crate::store::{Access, Store};
use crate::tracking::project_status::{self, FileStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;
use std::path::Path;

/// Arguments of `configure_file_tracking`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Configure {
    /// Absolute
    project_path: String,
    patterns: Vec<Pattern>,
}

// A pattern (004-072).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pattern {
    /// Glob: src/**/*.py
    include: String,
    #[serde(default)]
    exclude: Vec<String>,
    /// replace, version, archive [replace]
    update_strategy: Option<String>,
    max_file_size_mb: Option<f64>,
    source_description: Option<String>,
}

/// Arguments of `list_tracked_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    project_path: String,
    /// [true]
    include_status: Option<bool>,
}

/// Arguments of `sync_tracked_files`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sync {
    project_path: String,
    /// Read unchanged files too
    #[serde(default)]
    force: bool,
}

/// Arguments of the others.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Project")]
pub struct ProjectArgs {
    project_path: String,
}

/// Writes patterns into the user's settings.
pub fn configure(here: &Here, args: &Configure) -> Result<String, Error> {
    let root = admitted(here, &args.project_path)?;
    // an agent that is misled would otherwise have any folder read
    let has_sessions = here.places.has(&root);
    if here.env.home.starts_with(&root) {
        return Err(Error::usage("the home folder is not a project"));
    }
    if !has_sessions {
        return Err(Error::usage("no stored session was in the project")
            .hinted("the user can: sessionmill track add PATH --include GLOB"));
    }
    if args.patterns.is_empty() {
        return Err(Error::usage("`patterns` names no files").hinted("[{\"include\": \"src/**\"}]"));
    }
    let folder = Path::new(&args.project_path);
    let pattern = |written| pattern(written, &|glob| glob_from_root(glob, folder, &root));
    let patterns: Result<Vec<NewPattern>, Error> = args.patterns.iter().map(pattern).collect();
    let new = NewProject {
        root: &root,
        host: &here.host,
        patterns: &patterns?,
        group: None,
    };
    add(&here.home.tracking_config(), &here.env, &new)?;
    let loaded = load(&here.env, registry::log_folders)?;
    let files = files(here, &loaded, known(&loaded, &root)?)?;
    Ok(format!(
        "files tracked: {}; the next run records them, or sync_tracked_files\n",
        files.len()
    ))
}

fn pattern(written: &Pattern, from_root: &dyn Fn(&str) -> String) -> Result<NewPattern, Error> {
    let strategy = match &written.update_strategy {
        None => Strategy::default(),
        Some(word) => Strategy::parse(word)
            .ok_or_else(|| Error::usage("`update_strategy` is replace, version or archive"))?,
    };
    Ok(NewPattern {
        include: from_root(&written.include),
        exclude: written.exclude.iter().map(|glob| from_root(glob)).collect(),
        strategy,
        max_file_size_mb: written.max_file_size_mb,
        description: written.source_description.clone(),
    })
}

/// A line for each file.
pub fn list(here: &Here, args: &List) -> Result<String, Error> {
    let root = admitted(here, &args.project_path)?;
    let all = files(here, &here.loaded, known(&here.loaded, &root)?)?;
    let mut text = String::new();
    for file in &all {
        let _ = match args.include_status.unwrap_or(true) {
            true => writeln!(text, "{} {}", file.state.as_str(), file.path),
            false => writeln!(text, "{}", file.path),
        };
    }
    if all.is_empty() {
        text.push_str("no file matches a pattern\n");
    }
    Ok(text)
}

/// The step `track` over one project, now.
pub fn sync(here: &Here, args: &Sync) -> Result<String, Error> {
    let root = admitted(here, &args.project_path)?;
    known(&here.loaded, &root)?;
    let loaded = &here.loaded;
    let window = Window::Configured;
    let admission = Admission::new(loaded, &here.env, window, here.now);
    let _lock = Lock::take(&here.home.lock())?;
    let redaction = redaction_setup::load(&loaded.config, &here.home).map_err(typed)?;
    let mut store = Store::open(&here.home.store(), Access::ReadWrite)?;
    let setup = TrackSetup {
        loaded,
        admission: &admission,
        redactor: &redaction.redactor,
        now: here.now,
        host: &here.host,
        since: window.first(loaded.config.keep_length_days, here.now),
        jobs: 1,
    };
    let wish = TrackRequest {
        only: Some(&root),
        force: args.force,
    };
    let done = look(&setup, &wish, &mut store);
    let done = done.map_err(typed)?;
    store.finish()?;
    Ok(format!(
        "{} and {} recorded, {} looked at; {} can't be read\n",
        plural(done.files.changes(), "file change"),
        plural(done.operations, "git operation"),
        plural(done.files.seen, "file"),
        done.unread(),
    ))
}

/// Switches a project on, for good.
pub fn enable(here: &Here, args: &ProjectArgs) -> Result<String, Error> {
    let root = admitted(here, &args.project_path)?;
    let project = known(&here.loaded, &root)?;
    switch(&here.home.tracking_config(), &project.name, true)?;
    let watched = Lock::take(&here.home.watch_lock()).is_err_and(|e| e.kind == ErrorKind::Busy);
    Ok(match watched {
        true => "on: changes are recorded some seconds after they happen\n",
        false => "on: the next run records changes; `sessionmill watch` would do it at once\n",
    }
    .to_owned())
}

/// Switches a project off, for good.
pub fn disable(here: &Here, args: &ProjectArgs) -> Result<String, Error> {
    let project = known(&here.loaded, &root_of(here, &args.project_path))?;
    switch(&here.home.tracking_config(), &project.name, false)?;
    Ok("off: what was recorded stays\n".to_owned())
}

/// How a project stands (004-057).
pub fn status(here: &Here, args: &ProjectArgs) -> Result<String, Error> {
    let root = admitted(here, &args.project_path)?;
    let project = known(&here.loaded, &root)?;
    let pending = project_status::pending(&files(here, &here.loaded, project)?);
    let store = here.stored()?;
    let all = project_status::projects(store.as_ref(), &here.loaded.tracking, Some(&root));
    let mut text = String::new();
    for status in all.map_err(typed)? {
        let _ = writeln!(text, "enabled: {}", project.enabled);
        if let Some(at) = status.paused_at {
            let _ = writeln!(text, "paused: since {}", minute(Some(at)));
        }
        let _ = writeln!(text, "files_watched: {}", status.files);
        let _ = writeln!(text, "pending_updates: {pending}");
        let last = status
            .changed_at
            .map_or("never".to_owned(), |at| minute(Some(at)));
        let _ = writeln!(text, "last_sync: {last}");
        for (path, why) in status.unread {
            let _ = writeln!(text, "can't be read: {path}: {why}");
        }
    }
    Ok(text)
}

/// Until `resume_tracking`; not in the settings (004-058).
pub fn pause(here: &Here, args: &ProjectArgs) -> Result<String, Error> {
    set_pause(here, args, true)
}

/// Goes on.
pub fn resume(here: &Here, args: &ProjectArgs) -> Result<String, Error> {
    set_pause(here, args, false)
}

fn set_pause(here: &Here, args: &ProjectArgs, pauses: bool) -> Result<String, Error> {
    let root = root_of(here, &args.project_path);
    known(&here.loaded, &root)?;
    let _lock = Lock::take(&here.home.lock())?;
    let mut store = Store::open(&here.home.store(), Access::ReadWrite)?;
    let changed = store.pause_project(&root, pauses.then_some(here.now))?;
    store.finish()?;
    Ok(match (pauses, changed) {
        (true, true) => "paused\n",
        (false, true) => "resumed\n",
        (_, false) => "nothing to change\n",
    }
    .to_owned())
}

/// The root of the project that a folder means.
fn root_of(here: &Here, path: &str) -> String {
    let is_tracked = |root: &str| here.loaded.tracking.project(root).is_some();
    tracked_root(Path::new(path), &here.env.cwd, is_tracked)
}

/// The project's root, where its sessions may be read.
fn admitted(here: &Here, path: &str) -> Result<String, Error> {
    let gate = gate(&here.loaded.config);
    if !gate.enabled {
        return Err(Error::usage(format!("tracking is off: {}", gate.reason)));
    }
    let root = root_of(here, path);
    let admission = Admission::new(&here.loaded, &here.env, Window::Configured, here.now);
    match admission.admit(Some(&root), Some(&root), &root) {
        Ok(_) => Ok(root),
        Err(reason) => Err(Error::usage(format!("the project is left alone: {reason}"))),
    }
}

fn known<'l>(loaded: &'l Loaded, root: &str) -> Result<&'l TrackedProject, Error> {
    loaded.tracking.project(root).ok_or_else(|| {
        Error::usage("the project is not tracked")
            .hinted("configure_file_tracking, if the user wants it")
    })
}

fn files(here: &Here, loaded: &Loaded, project: &TrackedProject) -> Result<Vec<FileStatus>, Error> {
    let store = here.stored()?;
    track::files(store.as_ref(), project, loaded, 1).map_err(typed)
}
