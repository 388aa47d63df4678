//! Starts other programs: the only place that does. Knows how to find one on a given `PATH` and how
//! to wait for it.

use signal_hook::consts::SIGINT;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;

/// What a program left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// What it printed; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
}

impl Finished {
    /// It exited with 0.
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }
}

/// Runs `name` (looked up on `vars["PATH"]`) with exactly these variables and `stdin`, and waits.
///
/// `NotFound` when no such program is on the path. Its exit code is the caller's to judge.
pub fn run(
    name: &str,
    args: &[&str],
    stdin: &str,
    vars: &BTreeMap<String, String>,
) -> io::Result<Finished> {
    let path = vars.get("PATH").map_or("", String::as_str);
    let Some(program) = find(name, path) else {
        let message = format!("there is no `{name}` on the path");
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    };
    start(program.as_os_str(), args, stdin, vars)
}

/// The first executable file called `name` in the directories of `path`. `None`: there is none.
pub fn find(name: &str, path: &str) -> Option<PathBuf> {
    path.split(':')
        .filter(|dir| !dir.is_empty())
        .map(|dir| Path::new(dir).join(name))
        .find(|file| is_executable(file))
}

/// Where `program` is found on `path`: a link there stays when what it leads to is replaced by a newer
/// version. `None`: what is found there is another program, or nothing.
pub fn as_found(program: &Path, path: &str) -> Option<PathBuf> {
    let found = find(program.file_name()?.to_str()?, path)?;
    let is_same =
        found.is_absolute() && found.canonicalize().ok()? == program.canonicalize().ok()?;
    is_same.then_some(found)
}

fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[expect(
    clippy::disallowed_methods,
    reason = "processes start here and nowhere else"
)]
fn start(
    program: &OsStr,
    args: &[&str],
    stdin: &str,
    vars: &BTreeMap<String, String>,
) -> io::Result<Finished> {
    let mut child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(vars)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // The inputs are a few hundred bytes, less than any pipe holds: writing before reading cannot
    // block. A program that doesn't read its input is no failure.
    if let Some(mut pipe) = child.stdin.take()
        && let Err(error) = pipe.write_all(stdin.as_bytes())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        return Err(error);
    }
    let output = child.wait_with_output()?;
    Ok(Finished {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// A program at work, of which only its end and what it says on stderr are wanted.
pub struct AtWork {
    child: Child,
    said: JoinHandle<String>,
}

/// Starts a program and doesn't wait for it.
#[expect(
    clippy::disallowed_methods,
    reason = "processes start here and nowhere else"
)]
pub fn begin(program: &Path, args: &[&str], vars: &BTreeMap<String, String>) -> io::Result<AtWork> {
    let mut child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(vars)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let stderr = child.stderr.take();
    let said = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = stderr.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    Ok(AtWork { child, said })
}

impl AtWork {
    /// It has ended.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Ends it at once.
    pub fn kill(&mut self) -> io::Result<()> {
        self.child.kill()
    }

    /// Waits for its end. Its stdout went nowhere.
    pub fn finish(mut self) -> io::Result<Finished> {
        let status = self.child.wait()?;
        Ok(Finished {
            code: status.code(),
            stdout: String::new(),
            stderr: self.said.join().unwrap_or_default(),
        })
    }
}

/// A program that takes over the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextProgram {
    /// Its file.
    pub program: PathBuf,
    /// What it is told.
    pub args: Vec<String>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// All of its environment but what isn't UTF-8, which it inherits.
    pub vars: BTreeMap<String, String>,
}

impl NextProgram {
    #[expect(
        clippy::disallowed_methods,
        reason = "processes start here and nowhere else"
    )]
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .envs(&self.vars)
            .current_dir(&self.cwd);
        command
    }
}

/// Puts a program into this one's place. Comes back only where it can't be started.
pub fn replace(next: &NextProgram) -> io::Result<()> {
    Err(next.command().exec())
}

/// The same for tests, which go on afterwards.
#[cfg(test)]
pub fn start_and_wait(next: &NextProgram) -> io::Result<()> {
    let mut command = next.command();
    command.stdin(Stdio::null()).status().map(drop)
}

/// A person's pager at work. What is written goes to it; dropping it waits until the person leaves it.
pub struct Pager(Child);

/// Starts `$PAGER`, as git does: through a shell, `less` where none is named, told to show colours and to
/// leave alone what fits the screen. `None`: none is wanted, or there.
#[expect(
    clippy::disallowed_methods,
    reason = "processes start here and nowhere else"
)]
pub fn pager(vars: &BTreeMap<String, String>) -> io::Result<Option<Pager>> {
    let path = vars.get("PATH").map_or("", String::as_str);
    let wanted = vars.get("PAGER").map(|pager| pager.trim());
    let wanted = match wanted {
        Some("" | "cat") => return Ok(None),
        Some(wanted) => wanted,
        None if find("less", path).is_some() => "less",
        None => return Ok(None),
    };
    let mut command = Command::new("/bin/sh");
    command.args(["-c", wanted]).env_clear().envs(vars);
    for (name, value) in [("LESS", "FRX"), ("LV", "-c"), ("LESSCHARSET", "utf-8")] {
        if !vars.contains_key(name) {
            command.env(name, value);
        }
    }
    // Ctrl-C is the pager's, as long as it is there
    signal_hook::flag::register(SIGINT, Arc::default())?;
    command.stdin(Stdio::piped()).spawn().map(Pager).map(Some)
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0.stdin {
            Some(pipe) => pipe.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.stdin.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // nobody is left to tell that it failed
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars() -> BTreeMap<String, String> {
        BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())])
    }

    #[test]
    fn a_program_is_called_as_it_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let cat = find("cat", "/usr/bin:/bin")
            .unwrap()
            .canonicalize()
            .unwrap();
        let name = cat.file_name().unwrap();
        assert_eq!(as_found(&cat, path), None);
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(&cat, &link).unwrap();
        assert_eq!(as_found(&cat, path), Some(link.clone()));
        std::fs::remove_file(&link).unwrap();
        std::fs::copy(&cat, &link).unwrap();
        assert_eq!(as_found(&cat, path), None, "another program of this name");
    }

    #[test]
    fn input_goes_in_and_output_comes_out() {
        let cat = run("cat", &[], "hello", &vars()).unwrap();
        assert_eq!((cat.code, cat.stdout.as_str()), (Some(0), "hello"));
    }

    #[test]
    fn a_program_that_fails_is_not_an_error() {
        let ended = run("sh", &["-c", "echo no >&2; exit 7"], "", &vars()).unwrap();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(7), "no\n"));
    }

    #[test]
    fn a_program_at_work_is_ended_or_waited_for() {
        let sh = find("sh", &vars()["PATH"]).unwrap();
        let ended = begin(&sh, &["-c", "echo no >&2; exit 7"], &vars()).unwrap();
        let ended = ended.finish().unwrap();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(7), "no\n"));
        let mut long = begin(&sh, &["-c", "exec sleep 60"], &vars()).unwrap();
        assert!(!long.has_ended().unwrap());
        long.kill().unwrap();
        assert_eq!(long.finish().unwrap().code, None);
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let error = run("sessionmill-is-not-here", &[], "", &vars()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("`sessionmill-is-not-here`"));
    }
}
