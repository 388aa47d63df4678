//! A world of its own for whole commands: a throw-away home, a fixed clock, streams in memory.

use crate::cli::{self, Exit, Input, Output, World, Zone};
use crate::config::CONSENT_TEXT;
use crate::host::process;
use crate::model::time::Time;
use chrono::FixedOffset;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

/// A person at a machine that nobody else uses.
pub struct Desk {
    home: TempDir,
    /// The environment; `HOME` and `PATH` are set.
    pub vars: BTreeMap<String, String>,
    /// When commands start.
    pub now: Time,
    /// The working directory; `None`: the home.
    pub cwd: Option<PathBuf>,
    /// The home's path isn't UTF-8.
    pub home_is_odd: bool,
    /// A terminal, and how wide it is.
    pub columns: Option<usize>,
    /// Errors go elsewhere all the same.
    pub pipes_errors: bool,
    /// Whoever reads stdout goes away at once.
    pub pipe_is_broken: bool,
    /// What the person types when asked; `None`: nobody sits there.
    pub answers: Option<String>,
    /// What comes through a pipe where nobody sits.
    pub piped: String,
}

/// What a command left.
#[derive(Debug)]
pub struct Ran {
    /// Its code.
    pub exit: Exit,
    /// Data.
    pub stdout: String,
    /// Everything else.
    pub stderr: String,
}

impl Desk {
    /// An empty home on 1 June 2026, noon UTC, and an empty path.
    pub fn new() -> Desk {
        let home = tempfile::tempdir().expect("a temporary directory");
        let path = home.path().to_string_lossy().into_owned();
        let vars = [("HOME", path.clone()), ("PATH", format!("{path}/bin"))];
        Desk {
            home,
            vars: vars.map(|(k, v)| (k.to_owned(), v)).into(),
            now: Time::parse("2026-06-01T12:00:00Z").expect("a time"),
            cwd: None,
            home_is_odd: false,
            columns: None,
            pipes_errors: true,
            pipe_is_broken: false,
            answers: None,
            piped: String::new(),
        }
    }

    /// The same with the fixture sessions lying in it.
    pub fn with_fixtures() -> Desk {
        let desk = Desk::new();
        copy(&fixture_home(), desk.home.path(), desk.now);
        desk
    }

    /// With consent given, so that a run reads.
    pub fn enabled() -> Desk {
        let desk = Desk::with_fixtures();
        let ran = desk.run(&format!("sessionmill enable --confirm \"{CONSENT_TEXT}\""));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        desk
    }

    /// A path below the home.
    pub fn path(&self, below: &str) -> PathBuf {
        self.home.path().join(below)
    }

    /// Writes a file below the home, with its directories.
    pub fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path.parent().expect("a parent"))
            .expect("a directory");
        fs::write(path, text).expect("a file");
    }

    /// A program on the path: a shell script.
    pub fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let below = format!("bin/{name}");
        self.write(&below, &format!("#!/bin/sh\n{script}\n"));
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(&below), mode).expect("a mode");
    }

    /// Runs a command line; quotes hold words together as a shell's would.
    pub fn run(&self, line: &str) -> Ran {
        let (out, err) = (Pipe::default(), Pipe::default());
        let world = World {
            vars: self.vars.clone(),
            home_is_odd: self.home_is_odd,
            cwd: self
                .cwd
                .clone()
                .unwrap_or_else(|| self.home.path().to_owned()),
            program: "/usr/local/bin/sessionmill".into(),
            now: self.now,
            zone: Zone::Fixed(FixedOffset::east_opt(0).expect("an offset")),
            host: "desk".into(),
            cores: 2,
            stdin: Input {
                from: Box::new(std::io::Cursor::new(match &self.answers {
                    Some(typed) => typed.clone(),
                    None => self.piped.clone(),
                })),
                terminal: self.answers.is_some(),
            },
            stdout: Output {
                to: match self.pipe_is_broken {
                    true => Box::new(Gone),
                    false => Box::new(out.clone()),
                },
                terminal: self.columns.is_some(),
                columns: self.columns,
            },
            stderr: Output {
                to: Box::new(err.clone()),
                terminal: self.columns.is_some() && !self.pipes_errors,
                columns: self.columns,
            },
            hand_over: Box::new(process::start_and_wait),
            elapsed_ms: Box::new(|| 0),
        };
        let exit = cli::run(words(line).into_iter().map(OsString::from), world);
        Ran {
            exit,
            stdout: self.anonymous(&out.text()),
            stderr: self.anonymous(&err.text()),
        }
    }

    /// The same text with this home's path as `~`, which no two runs share.
    fn anonymous(&self, text: &str) -> String {
        text.replace(&*self.home.path().to_string_lossy(), "~")
    }
}

impl Ran {
    /// Everything that a person sees, as a snapshot shows it.
    pub fn shown(&self) -> String {
        let mut text = format!("exit {}\n", self.exit.code());
        if !self.stdout.is_empty() {
            text += &format!("--- stdout\n{}", self.stdout);
        }
        if !self.stderr.is_empty() {
            text += &format!("--- stderr\n{}", self.stderr);
        }
        text
    }

    /// The document of a `--json` run.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}:\n{}", self.shown()))
    }
}

/// Splits a command line at blanks outside quotes.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The fixture home that lies in the tree.
pub fn fixture_home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/home")
}

/// Copies a tree; its files are an hour old.
fn copy(from: &Path, to: &Path, now: Time) {
    let now_ms = u64::try_from(now.0).expect("after 1970");
    let old = UNIX_EPOCH + Duration::from_millis(now_ms - 3_600_000);
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("the fixtures") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target, now),
            false => {
                fs::copy(&path, &target).expect("a copy");
                let file = fs::File::options().append(true).open(&target);
                file.and_then(|file| file.set_modified(old))
                    .expect("a time");
            }
        }
    }
}

/// The end of a pipe that nobody reads.
struct Gone;

impl Write for Gone {
    fn write(&mut self, _bytes: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Pipe {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("one writer").clone()).expect("UTF-8")
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one writer").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
