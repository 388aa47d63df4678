//! Checks of what surrounds the store: settings, consent, the timer, files that a crash left.

use super::diagnosis::{Diagnosis, Severity, counted, first_of, quoted};
use super::observed::Observed;
use crate::config::SettingOrigin;
use crate::host::git_preflight::REFTABLE;
use crate::host::writable::NotWritable;
use crate::model::error::Error;
use crate::model::namespace::project_root;
use crate::pipeline::preconditions::Refusal;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY_S: u64 = 86_400;

/// Runs that a timer may miss before it counts as stuck. Fewer: a laptop's lunch break is a
/// diagnosis; more: a day's words may be lost to Claude Code's cleanup before anyone looks.
const MISSED_RUNS: u64 = 4;

/// A temporary file younger than this may belong to a command that is at work.
const LEFT_BEHIND: Duration = Duration::from_secs(3_600);

/// The settings' files can't be understood: nothing runs until they can.
pub(super) fn settings(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let diagnosis = observed.settings.err().map(|error| {
        let hint = error.hint.iter().map(|hint| format!("; {hint}"));
        let reason = format!("{}{}", error.message, hint.collect::<String>());
        Diagnosis::new(
            Severity::Error,
            "settings",
            reason,
            "sessionmill config validate",
        )
    });
    diagnosis.into_iter().collect()
}

/// Nobody said yes.
pub(super) fn consent(observed: &Observed<'_>) -> Vec<Diagnosis> {
    if observed.settings.is_err() || observed.enabled() {
        return Vec::new();
    }
    let reason = "tracking is off: no log is read";
    vec![Diagnosis::new(
        Severity::Warning,
        "not-enabled",
        reason,
        "sessionmill init",
    )]
}

/// Runs fail before they read anything.
pub(super) fn refusals(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let diagnosis = |refusal: &Refusal| {
        let reason = format!("{} stops: {}", refusal.runs, refusal.error.message);
        Diagnosis::new(
            Severity::Error,
            "run-refused",
            reason,
            mends(&refusal.error),
        )
    };
    observed.refusals.iter().map(diagnosis).collect()
}

/// Sinks that get nothing; runs go on without them.
pub(super) fn sinks(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let diagnosis = |(sink, error): &(String, Error)| {
        let reason = format!("nothing is delivered to sink {sink}: {}", error.message);
        Diagnosis::new(Severity::Error, "sink-refused", reason, mends(error))
    };
    observed.refused_sinks.iter().map(diagnosis).collect()
}

/// The command that an error names; else its file has to be edited.
fn mends(error: &Error) -> String {
    let named = error.hint.clone();
    named.unwrap_or_else(|| match file_of(&error.message) {
        Some(file) => format!("${{EDITOR:-vi}} {}", quoted(file)),
        None => "sessionmill config validate".to_owned(),
    })
}

/// The file that a message begins with: `/home/u/rules/secrets.yaml:2: …`.
fn file_of(message: &str) -> Option<&str> {
    let (file, _) = message.split_once(':')?;
    file.starts_with('/').then_some(file)
}

/// Templates of messages by which nothing is condensed (D61).
pub(super) fn templates(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let Ok(loaded) = observed.settings else {
        return Vec::new();
    };
    let written = loaded.settings.iter().filter(|setting| {
        let is_template =
            setting.key.starts_with("session_tracking.filter.") && setting.value.is_string();
        is_template && setting.origin != SettingOrigin::Default
    });
    let diagnosis = written.filter_map(|setting| {
        let reason = format!(
            "{} names a template: {}",
            setting.key,
            setting.note.as_ref()?
        );
        let command = "sessionmill config show";
        Some(Diagnosis::new(
            Severity::Note,
            "template-unused",
            reason,
            command,
        ))
    });
    diagnosis.collect()
}

/// What fails at each delivery since some time, from the first failure on.
pub(super) fn alarms(observed: &Observed<'_>) -> Vec<Diagnosis> {
    // what is refused by the settings, or lacks consent, is told as that
    let is_refused = |who: &str| {
        let mut refused = observed.refused_sinks.iter();
        refused.any(|(sink, _)| who.strip_prefix("sink ") == Some(sink.as_str()))
    };
    let others = observed.alarms.iter();
    let others = others.filter(|alarm| !is_refused(&alarm.who));
    let all = others.map(|alarm| {
        let words = alarm.words(observed.zone);
        Diagnosis::new(Severity::Warning, "failing", words, &alarm.hint)
    });
    all.collect()
}

/// Where trust can't be read, nothing is (D63).
pub(super) fn trust(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let diagnosis = observed.trust.as_ref().map(|error| {
        let (file, _) = error.message.split_once(": ").unwrap_or_default();
        let reason = format!("no log of a project is read: {}", error.message);
        let command = format!("${{EDITOR:-vi}} {}", quoted(file));
        Diagnosis::new(Severity::Error, "trust-unreadable", reason, command)
    });
    diagnosis.into_iter().collect()
}

/// Tracked repositories that could not be read when a run looked at them last.
pub(super) fn repositories(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let (Some(inside), Ok(loaded)) = (&observed.inside, observed.settings) else {
        return Vec::new();
    };
    let is_tracked = |tree: &&(String, String)| {
        let lies_there = Path::new(&tree.0).is_dir();
        lies_there && loaded.tracking.of(&project_root(&tree.0)).is_some()
    };
    let unread = inside.unread_trees.iter().filter(is_tracked);
    let diagnosis = |(tree, why): &(String, String)| {
        let reason = format!(
            "{tree} can't be read: {why}; set `enabled: false` for it in tracking-config to skip it"
        );
        let does = match why.as_str() {
            REFTABLE => "refs migrate --ref-format=files",
            _ => "fsck",
        };
        let command = format!("git --git-dir {} {does}", quoted(tree));
        Diagnosis::new(Severity::Warning, "repository-unreadable", reason, command)
    };
    unread.map(diagnosis).collect()
}

/// Others can get at what is ours: into the folder, or, where a file was let loose by hand, at it.
#[cfg(unix)]
pub(super) fn modes(observed: &Observed<'_>) -> Vec<Diagnosis> {
    use std::os::unix::fs::PermissionsExt;
    let entries = std::fs::read_dir(&observed.home).into_iter().flatten();
    let inside = entries.flatten().map(|entry| entry.path());
    // A link's own mode says nothing; what it leads to is not ours.
    let is_open = |path: &PathBuf| {
        std::fs::symlink_metadata(path)
            .is_ok_and(|m| !m.is_symlink() && m.permissions().mode() & 0o077 != 0)
    };
    let folder_is_open = is_open(&observed.home);
    let is_kept_inside = |path: &PathBuf| !folder_is_open && !is_secret(path);
    let mut open: Vec<String> = std::iter::once(observed.home.clone())
        .chain(inside)
        .filter(|path| is_open(path) && !is_kept_inside(path))
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    if open.is_empty() {
        return Vec::new();
    }
    open.sort_unstable();
    let reason = format!("other users can read or write {}", first_of(&open));
    let command = format!("chmod -R go= {}", quoted(&observed.home.to_string_lossy()));
    vec![Diagnosis::new(
        Severity::Warning,
        "open-to-others",
        reason,
        command,
    )]
}

/// Files that are closed by themselves too, whoever may enter the folder one day.
#[cfg(unix)]
fn is_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("sessionmill.db") || matches!(&*name, "redact.key" | "env")
}

#[cfg(not(unix))]
pub(super) fn modes(_observed: &Observed<'_>) -> Vec<Diagnosis> {
    Vec::new()
}

/// What commands that were killed left in our folder.
pub(super) fn temporary_files(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let entries = std::fs::read_dir(&observed.home).into_iter().flatten();
    let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(observed.now.0).unwrap_or(0));
    let old = |modified: SystemTime| {
        now.duration_since(modified)
            .is_ok_and(|age| age >= LEFT_BEHIND)
    };
    let mut left: Vec<String> = entries
        .flatten()
        .filter(|entry| is_temporary(&entry.file_name().to_string_lossy()))
        .filter(|entry| entry.metadata().and_then(|m| m.modified()).is_ok_and(old))
        .map(|entry| entry.path().to_string_lossy().into_owned())
        .collect();
    if left.is_empty() {
        return Vec::new();
    }
    left.sort();
    let files: Vec<String> = left.iter().map(|path| quoted(path)).collect();
    let reason = format!("an interrupted command left {} behind", first_of(&left));
    let command = format!("rm {}", files.join(" "));
    vec![Diagnosis::new(
        Severity::Note,
        "temporary-files",
        reason,
        command,
    )]
}

/// As [`config::edit`](crate::config::edit) names the file that it writes before it renames it
/// (`.graphiti.config.json.4711`), and the store the one that it makes.
fn is_temporary(name: &str) -> bool {
    let process = |end: &str| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit());
    let settings = name
        .strip_prefix('.')
        .and_then(|name| name.rsplit_once('.'))
        .is_some_and(|(_, end)| process(end));
    settings || name.starts_with("sessionmill.db.new")
}

/// Nothing can be written where everything of ours is.
pub(super) fn room(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let Some(not_writable) = observed.not_writable else {
        return Vec::new();
    };
    let (home, shown) = (
        quoted(&observed.home.to_string_lossy()),
        observed.home.display(),
    );
    let (code, reason, command) = match not_writable {
        NotWritable::Full(_) => (
            "disk-full",
            format!("the disk of {shown} is full: the store can be read, but runs can't add to it"),
            format!("df -h {home}"),
        ),
        NotWritable::ReadOnly => (
            "home-read-only",
            format!("the file system of {shown} is read-only: runs can't store anything"),
            format!("findmnt -T {home}"),
        ),
        NotWritable::Forbidden => (
            "home-read-only",
            format!("no permission to write to {shown}: runs can't store anything"),
            format!("ls -ld {home}"),
        ),
    };
    vec![Diagnosis::new(Severity::Error, code, reason, command)]
}

/// `3 hours`, and from two days on `27 days`.
fn spell(seconds: u64) -> String {
    match seconds / 3_600 {
        hours if hours < 48 => counted(hours, "hour"),
        hours => counted(hours / 24, "day"),
    }
}

/// No timer, or one that doesn't get through.
pub(super) fn schedule(observed: &Observed<'_>) -> Vec<Diagnosis> {
    if !observed.enabled() {
        return Vec::new();
    }
    let schedule = observed.schedule;
    let quiet_s = observed
        .last_run
        .map(|at| u64::try_from(observed.now.0.saturating_sub(at.0) / 1_000).unwrap_or(0));
    let allowed_s = match schedule.installed {
        true => (schedule.interval_s * MISSED_RUNS).max(3_600),
        false => DAY_S,
    };
    let mut diagnoses = Vec::new();
    if let Some(quiet_s) = quiet_s.filter(|s| *s > allowed_s) {
        let timer = match schedule.installed {
            true => "though a timer is installed",
            false => "and no timer is installed",
        };
        let reason = format!("the last run was {} ago, {timer}", spell(quiet_s));
        diagnoses.push(Diagnosis::new(
            Severity::Warning,
            "run-overdue",
            reason,
            "sessionmill run",
        ));
    }
    if !schedule.installed {
        let (reason, command) = ("no timer is installed", "sessionmill schedule install");
        diagnoses.push(Diagnosis::new(
            Severity::Note,
            "not-scheduled",
            reason,
            command,
        ));
    }
    diagnoses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_ours_that_should_not_stay_are_known_by_name() {
        for name in [
            ".graphiti.config.json.4711",
            "sessionmill.db.new",
            "sessionmill.db.new-wal",
        ] {
            assert!(is_temporary(name), "{name}");
        }
        for name in [
            "sessionmill.db",
            "sessionmill.db-wal",
            "sessionmill.db.damaged-20260601T120000Z",
            ".graphiti.config.json",
            "notes.2026",
        ] {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
