//! What runs did, one line each, in `<home>/logs/sessionmill-YYYY-MM-DD.log`. Counts, paths of our
//! own and error kinds; never a word of what a log says.

use crate::model::inert::inert;
use crate::model::time::Time;
use crate::model::zone::Zone;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Files kept, one a day. More: old names of projects linger on disk; fewer: a failure over a long
/// weekend is gone before anyone looks.
pub const FILES_KEPT: usize = 14;

const PREFIX: &str = "sessionmill-";
const SUFFIX: &str = ".log";

/// Appends `message` (its newlines become blanks) under the day of `now` and drops the files beyond
/// [`FILES_KEPT`]. The directory is made with mode 0700, files with 0600.
pub fn append(dir: &Path, now: Time, zone: Zone, message: &str) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)?;
    let wall = zone.show(now);
    let path = dir.join(format!("{PREFIX}{}{SUFFIX}", wall.format("%Y-%m-%d")));
    let is_new = !path.exists();
    let line = format!(
        "{} {}\n",
        wall.format("%Y-%m-%dT%H:%M:%S%:z"),
        inert(&message.replace(['\n', '\r'], " "))
    );
    // One write of one line: two runs at the same time don't mix within a line.
    fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&path)?
        .write_all(line.as_bytes())?;
    match is_new {
        true => drop_old(dir),
        false => Ok(()),
    }
}

/// Names sort as their days do. Files that are not ours stay.
fn drop_old(dir: &Path) -> io::Result<()> {
    let mut ours: Vec<PathBuf> = fs::read_dir(dir)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_ours(path))
        .collect();
    ours.sort();
    let old = ours.len().saturating_sub(FILES_KEPT);
    ours.iter().take(old).try_for_each(fs::remove_file)
}

/// Whether a file is named as these logs are.
pub fn is_ours(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX))
        .is_some_and(|day| day.len() == 10 && day.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::FixedOffset;

    const DAY_MS: i64 = 86_400_000;

    #[test]
    fn a_fortnight_stays_and_strangers_do_too() {
        let dir = tempfile::tempdir().unwrap();
        let logs = dir.path().join("logs");
        let utc = Zone::Fixed(FixedOffset::east_opt(0).unwrap());
        for day in 0..20 {
            append(&logs, Time(day * DAY_MS), utc, "run: 3 files\nread").unwrap();
            fs::write(logs.join("mine.log"), "x").unwrap();
        }
        append(&logs, Time(19 * DAY_MS + 1), utc, "again").unwrap();
        let mut names: Vec<String> = fs::read_dir(&logs)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names.len(), FILES_KEPT + 1);
        assert_eq!(names[0], "mine.log");
        assert_eq!(names[1], "sessionmill-1970-01-07.log");
        let last = fs::read_to_string(logs.join("sessionmill-1970-01-20.log")).unwrap();
        assert_eq!(
            last,
            "1970-01-20T00:00:00+00:00 run: 3 files read\n1970-01-20T00:00:00+00:00 again\n"
        );
    }
}
