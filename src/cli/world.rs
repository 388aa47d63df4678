//! The door: the only place that asks the process for its environment, its clock and its streams.
//! Everything behind it takes these as values, so that tests run whole commands in process.

use crate::host::identity;
use crate::host::process::{self, NextProgram};
use crate::model::time::Time;
use crate::model::zone::Zone;
use crate::pipeline::context::Timer;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What a command may know of the process that it runs in.
pub struct World<'w> {
    /// The environment; variables that are not UTF-8 are left out.
    pub vars: BTreeMap<String, String>,
    /// `HOME` is set, and isn't UTF-8.
    pub home_is_odd: bool,
    /// The working directory.
    pub cwd: PathBuf,
    /// This program, as a timer should start it.
    pub program: PathBuf,
    /// When the command started. Asked once.
    pub now: Time,
    /// In which zone people read times.
    pub zone: Zone,
    /// The machine's name.
    pub host: String,
    /// Threads that the machine runs at once.
    pub cores: usize,
    /// Answers to questions; only asked when it is a terminal.
    pub stdin: Input<'w>,
    /// Data.
    pub stdout: Output<'w>,
    /// Everything else.
    pub stderr: Output<'w>,
    /// Gives the terminal to another program; comes back only where that failed.
    pub hand_over: Box<HandOver<'w>>,
    /// Milliseconds of wall time since the command started, for `took`.
    pub elapsed_ms: Box<dyn Fn() -> u64 + 'w>,
}

/// Starts a program in this one's place.
pub type HandOver<'w> = dyn Fn(&NextProgram) -> std::io::Result<()> + 'w;

/// A stream to read from.
pub struct Input<'w> {
    /// Line by line.
    pub from: Box<dyn BufRead + 'w>,
    /// A person sits at it.
    pub terminal: bool,
}

/// A stream to write to.
pub struct Output<'w> {
    /// Where the bytes go.
    pub to: Box<dyn Write + 'w>,
    /// A person looks at it.
    pub terminal: bool,
    /// How wide that is; `None`: nobody knows, or nobody looks.
    pub columns: Option<usize>,
}

impl World<'static> {
    /// The real one.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door at which the world is asked, once"
    )]
    pub fn of_process() -> World<'static> {
        let started = Instant::now();
        let vars: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        let program = std::env::current_exe().unwrap_or_else(|_| "sessionmill".into());
        let path = vars.get("PATH").map_or("", String::as_str);
        let program = process::as_found(&program, path).unwrap_or(program);
        World {
            vars,
            home_is_odd: std::env::var_os("HOME").is_some_and(|home| home.to_str().is_none()),
            cwd: std::env::current_dir().unwrap_or_default(),
            program,
            now: present(),
            zone: Zone::Local,
            host: identity::hostname(),
            cores: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            stdin: Input {
                from: Box::new(std::io::BufReader::new(std::io::stdin())),
                terminal: std::io::IsTerminal::is_terminal(&std::io::stdin()),
            },
            stdout: Output {
                to: Box::new(std::io::BufWriter::new(std::io::stdout())),
                terminal: std::io::IsTerminal::is_terminal(&std::io::stdout()),
                columns: columns_of(std::io::stdout()),
            },
            stderr: Output {
                to: Box::new(std::io::stderr()),
                terminal: std::io::IsTerminal::is_terminal(&std::io::stderr()),
                columns: columns_of(std::io::stderr()),
            },
            hand_over: Box::new(process::replace),
            elapsed_ms: Box::new(move || {
                u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
            }),
        }
    }
}

/// How wide a terminal is; `None` where it is none.
fn columns_of(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stream)?;
    Some(usize::from(width.0))
}

/// The machine's clock. For what outlives its command's start: a server.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the door at which the world is asked"
)]
pub fn present() -> Time {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Time(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// How servers and rates are waited for.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the door at which the world is asked"
)]
pub fn timer() -> Timer {
    let begun = Instant::now();
    Timer {
        monotonic: Rc::new(move || begun.elapsed()),
        wait: Rc::new(std::thread::sleep),
    }
}
