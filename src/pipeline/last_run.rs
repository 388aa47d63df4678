//! What the last complete run of a pipeline left behind, in a small file beside the store: when it
//! began, which logs it could not read, how many it left out for their age. So no log is passed over
//! because it grew old between two runs, and a run without news writes nothing to the store.

use super::lock;
use super::spec::Window;
use crate::config::Home;
use crate::config::edit::{self, Edited};
use crate::model::error::{Error, ErrorKind};
use crate::model::human::{bytes, plural};
use crate::model::time::Time;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// What is known of a pipeline's last complete run: one whose step `ingest` went through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LastRun {
    /// When it began; `None`: there was none.
    pub began: Option<Time>,
    /// What it left.
    pub left: Left,
}

/// What a run left for a later one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Left {
    /// Logs, and folders of logs, that it could not read or was not allowed to, by path. They are looked
    /// at again however old they grow.
    pub due: BTreeSet<String>,
    /// Logs older than its window that no run ever read.
    pub outside: u64,
}

impl LastRun {
    /// Of this pipeline. A file that nobody can read any more is as old as the last run of any pipeline.
    pub fn of(pipeline: &str, home: &Home) -> LastRun {
        let path = path(pipeline, home);
        let left = fs::read(&path).ok();
        let left: Option<Left> = left.and_then(|text| serde_json::from_slice(&text).ok());
        let began = left.as_ref().and_then(|_| lock::last_run(&path));
        let is_known = home.runs().is_dir();
        LastRun {
            began: match left.is_some() || is_known {
                true => began.or_else(|| left_broken(&path, home)),
                // as programs did that kept no such files
                false => lock::last_run(&home.lock()),
            },
            left: left.unwrap_or_default(),
        }
    }

    /// The latest complete run of any pipeline that kept such a file.
    pub fn latest(home: &Home) -> LastRun {
        let names = fs::read_dir(home.runs()).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(SUFFIX)?.to_owned())
        });
        let all = names.map(|name| LastRun::of(&name, home));
        // of two at one moment the one that left less went further back
        all.max_by_key(|run| (run.began, Reverse(run.left.outside)))
            .unwrap_or_default()
    }

    /// The first moment of a run's window: what changed since the last complete run is in it, however
    /// long that is ago. A window that somebody names, and one without an end, stays as it is.
    pub fn first(&self, window: Window, keep_length_days: Option<u32>, now: Time) -> Option<Time> {
        let first = window.first(keep_length_days, now)?;
        Some(match window {
            Window::Since(_) => first,
            _ => self.began.map_or(first, |began| began.min(first)),
        })
    }

    /// Keeps what a run that began at `now` left. Writes the file only where that is something else than
    /// before; else only its time.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn keep(&self, left: &Left, pipeline: &str, home: &Home, now: Time) -> Result<(), Error> {
        let path = path(pipeline, home);
        if self.left != *left || !path.exists() {
            let text = serde_json::to_string(left).unwrap_or_default();
            edit::write(&path, &text)?;
        }
        stamp(&path, now).map_err(|error| {
            let message = format!("{}: {error}", path.display());
            Error::new(ErrorKind::Failed, message).hinted("make the folder writable")
        })
    }
}

/// The file is there and says nothing: some run was complete.
fn left_broken(path: &Path, home: &Home) -> Option<Time> {
    path.exists().then(|| lock::last_run(&home.lock()))?
}

/// The next run of each pipeline is a first one again: what was written while tracking was off is not
/// taken because it is on again, but for what a first run takes.
///
/// # Errors
/// When our folder can't be written.
pub fn begin_anew(home: &Home) -> std::io::Result<()> {
    let dir = home.runs();
    for file in fs::read_dir(&dir).into_iter().flatten().flatten() {
        fs::remove_file(file.path())?;
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

/// Switches tracking on in the settings' file. Where it was off, runs [begin anew](begin_anew).
///
/// # Errors
/// When the settings can't be read or written, or our folder can't.
pub fn switch_on(file: &Path, home: &Home) -> Result<(), Error> {
    if edit::set_enabled(file, true)? == Edited::Same {
        return Ok(());
    }
    begin_anew(home).map_err(|error| {
        let message = format!("{}: {error}", home.runs().display());
        Error::new(ErrorKind::Failed, message).hinted("make the folder writable")
    })
}

/// The command that reads what was left out for its age.
pub const BACKFILL: &str = "sessionmill backfill";

impl Left {
    /// `87 logs older than 7 days were never read`, where a run's window is so many days.
    pub fn words(&self, keep_length_days: Option<u32>) -> String {
        let logs = plural(self.outside, "log");
        let age = keep_length_days.map(|days| plural(u64::from(days), "day"));
        let age = age.map_or("the window".to_owned(), |days| days);
        let were = if self.outside == 1 { "was" } else { "were" };
        format!("{logs} older than {age} {were} never read")
    }
}

/// Logs, and their bytes on disk, that are too old for a run to look at; `None`: there are none.
pub fn outside_line(logs: u64, size: u64) -> Option<String> {
    let logs = Some(logs).filter(|logs| *logs > 0)?;
    let (logs, size) = (plural(logs, "log"), bytes(size));
    Some(format!(
        "older than the window: {logs}, {size} ({BACKFILL})"
    ))
}

/// What to say where nothing was found: what was never read may have it. `None` where all was read.
pub fn unread(keep_length_days: Option<u32>, home: &Home) -> Option<String> {
    let left = LastRun::latest(home).left;
    (left.outside > 0).then(|| format!("{}: {BACKFILL}", left.words(keep_length_days)))
}

const SUFFIX: &str = ".json";

fn path(pipeline: &str, home: &Home) -> PathBuf {
    home.runs().join(format!("{pipeline}{SUFFIX}"))
}

fn stamp(path: &Path, now: Time) -> std::io::Result<()> {
    let since_epoch = Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    File::options()
        .write(true)
        .open(path)?
        .set_modified(UNIX_EPOCH + since_epoch)
}
