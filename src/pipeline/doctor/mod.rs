//! What is wrong with an installation, and which command mends it.
//!
//! [`Observed`] is what was looked at, once; each check is a function over it in [`CHECKS`], and
//! says what it finds. Checks read nothing themselves but what `Observed` opens for them, and write
//! nothing: mending is [`repair`]'s.

pub mod canary;
pub mod canary_run;
mod deep;
pub mod examination;
mod logs;
pub mod repair;
mod store;
mod workplace;

pub use deep::deep;

use crate::config::Loaded;
use crate::host::files::FoundFile;
use crate::host::writable::NotWritable;
use crate::model::checkpoint::Checkpoint;
use crate::model::error::Error;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::pipeline::ingest_options::Admit;
use crate::store::{DatabaseState, Health, Status, Store};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; `doctor` still succeeds.
    Note,
    /// Something will be missing, or is not kept up.
    Warning,
    /// Something doesn't work.
    Error,
}

impl Severity {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Its name, which stays the same from version to version.
    pub code: &'static str,
    /// What is wrong, in one sentence. Paths and numbers; never content.
    pub reason: String,
    /// What to type next.
    pub command: String,
}

impl Finding {
    fn new(
        severity: Severity,
        code: &'static str,
        reason: impl Into<String>,
        command: impl Into<String>,
    ) -> Finding {
        Finding {
            severity,
            code,
            reason: reason.into(),
            command: command.into(),
        }
    }
}

/// What a timer does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// There is one.
    pub installed: bool,
    /// Seconds from run to run.
    pub interval_s: u64,
}

/// What the store says of itself, where it can be opened.
#[derive(Debug)]
pub struct Inside {
    /// Pages, tables, index.
    pub health: Health,
    /// Counts; `None` where the store is too damaged to count.
    pub status: Option<Status>,
    /// How far each log is in it, by key.
    pub checkpoints: BTreeMap<String, Checkpoint>,
    /// Work trees that couldn't be read, with why.
    pub unread_trees: Vec<(String, String)>,
}

impl Inside {
    /// Looks at an open store. Reads the whole file.
    pub fn of(store: &Store) -> Inside {
        let checkpoints = store.checkpoints().unwrap_or_default();
        Inside {
            health: store.health().unwrap_or(Health {
                faults: 1,
                ..Health::default()
            }),
            status: store.status().ok(),
            unread_trees: store.unread_trees().unwrap_or_default(),
            checkpoints: checkpoints
                .into_iter()
                .map(|c| (c.key.clone(), c))
                .collect(),
        }
    }
}

/// Everything that the checks may look at.
pub struct Observed<'a> {
    /// The present time.
    pub now: Time,
    /// Our folder.
    pub home: PathBuf,
    /// Why nothing can be written into it.
    pub not_writable: Option<NotWritable>,
    /// Where the store lies, or should.
    pub store: PathBuf,
    /// What the file there is; an error where it can't be read at all.
    pub database_state: Result<DatabaseState, Error>,
    /// What is in it.
    pub inside: Option<Inside>,
    /// What the settings' files say, or why they can't be understood.
    pub settings: Result<&'a Loaded, &'a Error>,
    /// What stops a run before it begins: no consent to an endpoint, no key, no template.
    pub refusals: Vec<Error>,
    /// Why nobody can say which projects are not trusted; `None`: it is known.
    pub trust: Option<Error>,
    /// What the timer does.
    pub schedule: Schedule,
    /// When the last run went through.
    pub last_run: Option<Time>,
    /// The logs on disk.
    pub found: FoundFile,
    /// Logs that can't be opened, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Why a log is not read, as runs ask: what is left out on purpose isn't missed.
    pub admit: &'a Admit<'a>,
    /// Days after its last change that an agent deletes a log; of those that do.
    pub keeps_days: BTreeMap<Agent, u32>,
}

/// One check. A new one is one more function in [`CHECKS`].
type Check = fn(&Observed<'_>) -> Vec<Finding>;

/// In the order in which a person would mend things.
const CHECKS: [Check; 18] = [
    workplace::settings,
    workplace::consent,
    workplace::refusals,
    workplace::trust,
    store::database_state,
    store::pages,
    store::index,
    workplace::room,
    workplace::modes,
    workplace::temporary_files,
    workplace::schedule,
    logs::roots,
    logs::unreadable,
    logs::deleted_before_the_next_run,
    logs::never_stored,
    workplace::repositories,
    store::rejects,
    store::drift,
];

/// All findings, the gravest first.
pub fn examine(observed: &Observed<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(observed)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

impl Observed<'_> {
    /// Something may be read, as far as settings go.
    fn enabled(&self) -> bool {
        self.settings.is_ok_and(|loaded| loaded.config.enabled)
    }
}

/// `/a/b`, or `/a/b and 3 more`.
fn first_of(paths: &[String]) -> String {
    match paths {
        [] => String::new(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// `1 log`, `2 logs`.
fn counted(number: u64, noun: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{end}")
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-~+=:@".contains(c);
    match path.chars().all(plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
    }
}
