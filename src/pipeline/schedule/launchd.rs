//! launchd's agent on macOS: one file, loaded, looked at, removed. What was due while the machine slept
//! happens when it wakes: launchd does that itself.

use super::every::Every;
use super::job::{Job, refused};
use super::recurrence::Recurrence;
use crate::host::process;
use crate::model::error::Error;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

type Vars = BTreeMap<String, String>;

const LABEL: &str = "sessionmill";
/// In every file that we wrote; one without it is somebody else's and stays.
const MARK: &str = "<!-- Written by `sessionmill schedule install`; `sessionmill schedule remove` deletes it. -->\n";

/// Whether launchd is this machine's.
pub fn is_there(vars: &Vars) -> bool {
    let path = vars.get("PATH").map_or("", String::as_str);
    process::find("launchctl", path).is_some()
}

/// The agent as it would be written.
pub fn file(job: &Job, vars: &Vars) -> (PathBuf, String) {
    (place(vars), plist(job))
}

/// Writes the agent and loads it in place of the one that is loaded. What was written.
pub fn install(job: &Job, vars: &Vars) -> Result<Vec<PathBuf>> {
    let (path, text) = file(job, vars);
    if path.exists() && !is_ours(&path) {
        let error = Error::usage(format!("{} is not ours", path.display()));
        return Err(error.hinted("move it away, then install again").into());
    }
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).with_context(|| format!("create {}", dir.display()))?;
    }
    let new = path.with_extension("new");
    fs::write(&new, text)
        .and_then(|()| fs::rename(&new, &path))
        .with_context(|| format!("write {}", path.display()))?;
    unload(vars)?;
    let domain = domain(vars)?;
    let args = ["bootstrap", &domain, &path.to_string_lossy()];
    let ended = process::run("launchctl", &args, "", vars).context("start launchctl")?;
    match ended.succeeded() {
        true => Ok(vec![path]),
        false => {
            let hint = "log in at the machine's screen, then install again";
            Err(refused(
                &format!("launchctl {}", args.join(" ")),
                &ended.stderr,
                hint,
            )
            .into())
        }
    }
}

/// The agent of ours that lies there now.
pub fn installed(vars: &Vars) -> Option<(PathBuf, String)> {
    let path = place(vars);
    is_ours(&path)
        .then(|| fs::read_to_string(&path).ok())
        .flatten()
        .map(|text| (path, text))
}

/// Unloads and deletes the agent that is ours. What was deleted.
pub fn remove(vars: &Vars) -> Result<Option<PathBuf>> {
    let Some((path, _)) = installed(vars) else {
        return Ok(None);
    };
    if is_there(vars) {
        unload(vars)?;
    }
    fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
    Ok(Some(path))
}

/// One that isn't loaded is as good as unloaded.
fn unload(vars: &Vars) -> Result<()> {
    let target = format!("{}/{LABEL}", domain(vars)?);
    process::run("launchctl", &["bootout", &target], "", vars).context("start launchctl")?;
    Ok(())
}

/// The person's own domain: whose the home is.
fn domain(vars: &Vars) -> Result<String> {
    let home = home(vars);
    let owner = fs::metadata(&home).with_context(|| format!("look at {}", home.display()))?;
    Ok(format!("gui/{}", owner.uid()))
}

fn home(vars: &Vars) -> PathBuf {
    Path::new(vars.get("HOME").map_or("/", String::as_str)).to_owned()
}

fn place(vars: &Vars) -> PathBuf {
    home(vars).join(format!("Library/LaunchAgents/{LABEL}.plist"))
}

fn is_ours(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.contains(MARK))
}

fn plist(job: &Job) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{MARK}<!-- {} -->\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n    <key>Label</key>\n    <string>{LABEL}</string>\n",
        job.recurrence.mark()
    );
    let program = job.program.to_string_lossy();
    text += "    <key>ProgramArguments</key>\n    <array>\n";
    for word in [&*program, "run", &job.pipeline, "--quiet"] {
        string(&mut text, word);
    }
    text += "    </array>\n";
    if !job.vars.is_empty() {
        text += "    <key>EnvironmentVariables</key>\n    <dict>\n";
        for (name, value) in &job.vars {
            key(&mut text, name);
            string(&mut text, value);
        }
        text += "    </dict>\n";
    }
    text += &when(&job.recurrence);
    text + "    <key>ProcessType</key>\n    <string>Background</string>\n    <key>LowPriorityIO</key>\n    \
           <true/>\n    <key>Nice</key>\n    <integer>19</integer>\n    <key>Umask</key>\n    \
           <integer>63</integer>\n</dict>\n</plist>\n"
}

fn when(recurrence: &Recurrence) -> String {
    let times = match recurrence {
        Recurrence::Every(Every::Day) => vec![(None, 3, 0)],
        Recurrence::Every(every) => {
            let seconds = every.seconds();
            return format!("    <key>StartInterval</key>\n    <integer>{seconds}</integer>\n");
        }
        Recurrence::At(calendar) => calendar.launchd(),
    };
    let mut text = "    <key>StartCalendarInterval</key>\n    <array>\n".to_owned();
    for (day, hour, minute) in times {
        text += "        <dict>";
        let day = day.map(|day| ("Weekday", day));
        let parts = [("Hour", hour.to_string()), ("Minute", minute.to_string())];
        for (name, value) in day.into_iter().chain(parts) {
            // writing into a string can't fail
            let _ = write!(text, "<key>{name}</key><integer>{value}</integer>");
        }
        text += "</dict>\n";
    }
    text + "    </array>\n"
}

fn key(text: &mut String, name: &str) {
    *text += &format!("        <key>{}</key>\n", escaped(name));
}

fn string(text: &mut String, word: &str) {
    *text += &format!("        <string>{}</string>\n", escaped(word));
}

fn escaped(word: &str) -> String {
    word.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
