//! The systemd user service and timer: written from `scripts/`, enabled, looked at, removed.

use super::job::{Job, refused};
use super::recurrence::Recurrence;
use crate::host::process;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

type Vars = BTreeMap<String, String>;

const SERVICE: &str = include_str!("../../../scripts/sessionmill.service");
const TIMER: &str = include_str!("../../../scripts/sessionmill.timer");

/// First line of every unit that we wrote; a unit without it is somebody else's and stays.
const MARK: &str =
    "# Written by `sessionmill schedule install`; `sessionmill schedule remove` deletes it.\n";

/// What the templates say where a machine's own values belong. Each stands there exactly once,
/// apart from comments, which a test checks.
const PROGRAM: &str = "ExecStart=%h/.cargo/bin/sessionmill run nightly --quiet\n";
const WRITABLE: &str = "ReadWritePaths=%h/.graphiti\n";
const NO_NETWORK: &str = "# It needs no network, no device, no privilege.
PrivateNetwork=true
RestrictAddressFamilies=AF_UNIX
";
/// What stands there where something is sent.
const NETWORK: &str =
    "# A sink or a language model is configured: it needs the network, no device, no privilege.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
";
const CALENDAR: &str = "OnCalendar=*:0/15\n";

/// Whether this person has a systemd user manager that answers.
pub fn answers(vars: &Vars) -> bool {
    systemctl(&["show-environment"], vars).is_ok_and(|ended| ended.succeeded())
}

/// Fails, with what systemd says, where this person has none.
pub fn expect_manager(vars: &Vars) -> Result<()> {
    expect(&["show-environment"], vars)
}

/// The two units with their paths, as they would be written.
pub fn files(job: &Job, vars: &Vars) -> Vec<(PathBuf, String)> {
    let dir = units(vars);
    vec![
        (dir.join("sessionmill.service"), service(job)),
        (dir.join("sessionmill.timer"), timer(job)),
    ]
}

/// Writes both units, makes systemd read them, starts the timer. What was written.
pub fn install(job: &Job, vars: &Vars) -> Result<Vec<PathBuf>> {
    let files = files(job, vars);
    for (path, text) in &files {
        if path.exists() && !is_ours(path) {
            let message = format!("{} is not ours", path.display());
            let error = crate::model::error::Error::usage(message);
            return Err(error.hinted("move it away, then install again").into());
        }
        write(path, text).with_context(|| format!("write {}", path.display()))?;
    }
    // `restart`, not `start`: a timer that runs already has to take over a new interval.
    for args in [
        &["daemon-reload"][..],
        &["enable", "sessionmill.timer"],
        &["restart", "sessionmill.timer"],
    ] {
        expect(args, vars)?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// The units of ours that lie there now.
pub fn installed(vars: &Vars) -> Vec<(PathBuf, String)> {
    ["sessionmill.service", "sessionmill.timer"]
        .into_iter()
        .map(|name| units(vars).join(name))
        .filter(|path| is_ours(path))
        .filter_map(|path| Some((path.clone(), fs::read_to_string(&path).ok()?)))
        .collect()
}

/// `active, next run Sat 2026-…`, as systemd puts it. `None`: it doesn't answer.
pub fn state(vars: &Vars) -> Option<String> {
    let asked = [
        "show",
        "sessionmill.timer",
        "-p",
        "ActiveState",
        "-p",
        "NextElapseUSecRealtime",
    ];
    let ended = systemctl(&asked, vars)
        .ok()
        .filter(process::Finished::succeeded)?;
    let value = |key: &str| {
        let mut lines = ended.stdout.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
    };
    let active = value("ActiveState")?;
    match value("NextElapseUSecRealtime").filter(|next| !next.is_empty()) {
        Some(next) => Some(format!("{active}, next run {next}")),
        None => Some(active),
    }
}

/// Stops the timer and deletes the units that are ours. What was deleted.
pub fn remove(vars: &Vars) -> Result<Vec<PathBuf>> {
    let ours: Vec<PathBuf> = installed(vars).into_iter().map(|(path, _)| path).collect();
    if ours.is_empty() {
        return Ok(ours);
    }
    // A manager that is gone can't run the timer either: the files go all the same.
    let managed = answers(vars);
    if managed {
        expect(&["disable", "--now", "sessionmill.timer"], vars)?;
    }
    for path in &ours {
        fs::remove_file(path).with_context(|| format!("remove {}", path.display()))?;
    }
    if managed {
        expect(&["daemon-reload"], vars)?;
    }
    Ok(ours)
}

fn service(job: &Job) -> String {
    let mut start = format!(
        "ExecStart={} run {} --quiet\n",
        quoted(&job.program.to_string_lossy().replace('$', "$$")),
        quoted(&job.pipeline)
    );
    for (name, value) in &job.vars {
        start.push_str(&format!(
            "Environment={}\n",
            quoted(&format!("{name}={value}"))
        ));
    }
    let writable = match job.home == job.user_home.join(".graphiti") {
        true => WRITABLE.to_owned(),
        false => format!("ReadWritePaths={}\n", quoted(&job.home.to_string_lossy())),
    };
    let folders = job.folders.iter();
    let folders = folders.map(|f| format!("ReadWritePaths={}\n", quoted(&f.to_string_lossy())));
    let writable = writable + &folders.collect::<String>();
    let mut text = SERVICE
        .replace(PROGRAM, &start)
        .replace(WRITABLE, &writable);
    if job.network {
        text = text.replace(NO_NETWORK, NETWORK);
    }
    format!("{MARK}{text}")
}

fn timer(job: &Job) -> String {
    let one = |calendar: &String| format!("OnCalendar={calendar}\n");
    let calendar: String = job.recurrence.systemd().iter().map(one).collect();
    let calendar = match &job.recurrence {
        Recurrence::Every(_) => calendar,
        at => format!("# {}\n{calendar}", at.mark()),
    };
    let header = match job.recurrence.to_string().as_str() {
        "every 15m" => "every 15 minutes.".to_owned(),
        other => format!("{other}."),
    };
    let text = TIMER
        .replace(CALENDAR, &calendar)
        .replace("every 15 minutes.", &header);
    format!("{MARK}{text}")
}

/// One word of a unit file: specifiers and quotes lose their meaning.
fn quoted(word: &str) -> String {
    let word = word.replace('%', "%%");
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:%@~$".contains(c);
    match word.chars().all(plain) {
        true => word,
        false => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// `$XDG_CONFIG_HOME/systemd/user`, else `~/.config/systemd/user`.
fn units(vars: &Vars) -> PathBuf {
    let config = vars
        .get("XDG_CONFIG_HOME")
        .filter(|dir| dir.starts_with('/'));
    let config = config.map_or_else(
        || Path::new(vars.get("HOME").map_or("/", String::as_str)).join(".config"),
        PathBuf::from,
    );
    config.join("systemd/user")
}

fn is_ours(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.starts_with(MARK))
}

/// Whole or not at all: a manager that reloads meanwhile never sees half a unit.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let new = path.with_extension("new");
    fs::write(&new, text)?;
    fs::rename(&new, path)
}

fn systemctl(args: &[&str], vars: &Vars) -> io::Result<process::Finished> {
    let args: Vec<&str> = std::iter::once("--user")
        .chain(args.iter().copied())
        .collect();
    process::run("systemctl", &args, "", vars)
}

fn expect(args: &[&str], vars: &Vars) -> Result<()> {
    let ended = systemctl(args, vars).context("start systemctl")?;
    let command = format!("systemctl --user {}", args.join(" "));
    match ended.succeeded() {
        true => Ok(()),
        false => Err(refused(
            &command,
            &ended.stderr,
            "sessionmill schedule install --cron",
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::every::Every;
    use super::*;

    fn job() -> Job {
        Job {
            program: "/opt/my tools/100%/sessionmill".into(),
            pipeline: "nightly".into(),
            recurrence: Recurrence::Every(Every::Hours(6)),
            home: "/data/memory".into(),
            folders: vec!["/data/my vault".into()],
            network: true,
            user_home: "/home/u".into(),
            vars: vec![("SESSIONMILL_HOME".into(), "/data/memory".into())],
        }
    }

    #[test]
    fn the_templates_hold_what_is_filled_in() {
        assert_eq!(SERVICE.matches(PROGRAM).count(), 1);
        assert_eq!(SERVICE.matches(WRITABLE).count(), 1);
        assert_eq!(SERVICE.matches(NO_NETWORK).count(), 1);
        assert_eq!(TIMER.matches(CALENDAR).count(), 1);
    }

    #[test]
    fn a_machines_own_values_are_filled_in_and_quoted() {
        let service = service(&job());
        assert!(
            service
                .contains("\nExecStart=\"/opt/my tools/100%%/sessionmill\" run nightly --quiet\n")
        );
        assert!(service.contains("\nEnvironment=SESSIONMILL_HOME=/data/memory\n"));
        assert!(service.contains("\nReadWritePaths=/data/memory\n"));
        assert!(service.contains("\nReadWritePaths=\"/data/my vault\"\n"));
        assert!(service.contains("AF_INET6") && !service.contains("PrivateNetwork"));
        assert!(!service.contains(WRITABLE));
        assert!(timer(&job()).contains("\nOnCalendar=*-*-* 0/6:00\n"));
    }
}
