//! Deletes what this program wrote into its folder and leaves what people and other programs put there.
//! A file is ours by its name: the folder is Graphiti's too.

use crate::config::{Env, Home, edit};
use crate::model::error::{Error, ErrorKind};
use crate::pipeline::doctor::set_aside;
use crate::pipeline::lock::Lock;
use crate::pipeline::run_log;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What became of the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Files that are gone.
    pub removed: Vec<PathBuf>,
    /// What is still there: settings, rules and pipelines that people wrote, other programs' files.
    pub left: Vec<PathBuf>,
    /// Tracking was on, and is off now: settings that stay may not go on to mean consent.
    pub switched_off: bool,
}

/// Deletes the store with everything that belongs to it, and the folder itself where nothing else is in it.
///
/// # Errors
/// `Busy` while another command runs; or something can't be deleted, and what came before it is gone.
pub fn purge(home: &Home) -> Result<PurgeReport, Error> {
    let mut report = PurgeReport::default();
    if !home.dir.is_dir() {
        return Ok(report);
    }
    let locks = [
        home.lock(),
        home.deliver_lock(),
        home.export_lock(),
        home.watch_lock(),
    ];
    let held: Result<Vec<Lock>, Error> = locks
        .iter()
        .map(|path| Lock::take_for("uninstall", path))
        .collect();
    let held = held?;
    if home.config().exists() {
        report.switched_off = edit::set_enabled(&home.config(), false)? == edit::Edited::Changed;
    }
    for file in written(home) {
        if remove(&file)? {
            report.removed.push(file);
        }
    }
    // the locks go last: whoever waits for one finds a folder without a store
    for file in locks {
        remove(&file)?;
    }
    drop(held);
    // a folder that has something else in it stays
    let _ = fs::remove_dir_all(home.import());
    for folder in [home.runs(), home.alarms(), home.graphs(), home.logs()] {
        let _ = fs::remove_dir(folder);
    }
    let _ = fs::remove_dir(&home.dir);
    report.left = listed(&home.dir);
    Ok(report)
}

/// The files that this program makes by itself.
fn written(home: &Home) -> Vec<PathBuf> {
    let store = home.store();
    let beside = |suffix: &str| {
        let mut name = store.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    };
    let damaged = set_aside::all(home).into_iter().map(|file| file.path);
    let logs = listed(&home.logs())
        .into_iter()
        .filter(|path| run_log::is_ours(path));
    let small = [home.runs(), home.alarms(), home.graphs()];
    let small = small.iter().flat_map(|folder| listed(folder));
    // the store goes after its journals: a crash between must leave none that a new store would replay
    [
        beside("-wal"),
        beside("-journal"),
        beside("-shm"),
        store.clone(),
    ]
    .into_iter()
    .chain(damaged)
    .chain(logs)
    .chain(small)
    .chain([
        home.redact_key(),
        home.tool_cache(),
        home.dir.join("mcp-token"),
    ])
    .collect()
}

/// Bytes on disk of the store and what belongs to it.
pub fn size(home: &Home) -> u64 {
    let sizes = written(home).into_iter();
    sizes
        .filter_map(|file| Some(fs::metadata(file).ok()?.len()))
        .sum()
}

/// Completion scripts and manual pages that lie where the manual says that they are found, and are this
/// program's.
pub fn completions(env: &Env) -> Vec<PathBuf> {
    let places = [
        ".local/share/bash-completion/completions/sessionmill",
        ".zfunc/_sessionmill",
        ".config/fish/completions/sessionmill.fish",
    ];
    let is_ours = |path: &PathBuf| {
        let text = fs::read_to_string(path);
        text.is_ok_and(|text| {
            [
                "_sessionmill()",
                "--command sessionmill",
                "#compdef sessionmill",
                "complete -c sessionmill",
            ]
            .iter()
            .any(|mark| text.contains(mark))
        })
    };
    let places = places.iter().map(|place| env.home.join(place));
    let pages = listed(&env.home.join(".local/share/man/man1")).into_iter();
    let is_page = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.lines().any(|line| line.starts_with(".TH sessionmill"))
    };
    places
        .filter(is_ours)
        .chain(pages.filter(is_page))
        .collect()
}

/// What lies in a folder, by name; nothing where it can't be read.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Deletes a file; `false`: there is none.
fn remove(file: &Path) -> Result<bool, Error> {
    match fs::remove_file(file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => {
            let message = format!("{}: {error}", file.display());
            Err(Error::new(ErrorKind::Failed, message).hinted("delete it by hand"))
        }
    }
}
