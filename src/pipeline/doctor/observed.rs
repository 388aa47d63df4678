//! What the checks look at, gathered once.

use crate::config::Loaded;
use crate::host::files::FoundFile;
use crate::host::writable::NotWritable;
use crate::model::checkpoint::Checkpoint;
use crate::model::error::Error;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::model::zone::Zone;
use crate::pipeline::alarms::Alarm;
use crate::pipeline::ingest_options::Admit;
use crate::pipeline::last_run::LastRun;
use crate::pipeline::preconditions::Refusal;
use crate::store::{DatabaseState, Health, Store, StoreStatus};
use std::collections::BTreeMap;
use std::path::PathBuf;

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
    pub status: Option<StoreStatus>,
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
    /// What stops runs before they begin: a broken file, no consent to a model, no key, no template.
    pub refusals: Vec<Refusal>,
    /// Sinks that can't be opened, and why.
    pub refused_sinks: Vec<(String, Error)>,
    /// Why nobody can say which projects are not trusted; `None`: it is known.
    pub trust: Option<Error>,
    /// What the timer does.
    pub schedule: Schedule,
    /// What goes on failing.
    pub alarms: Vec<Alarm>,
    /// In which people read times.
    pub zone: Zone,
    /// What the last complete run left, of any pipeline.
    pub before: LastRun,
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

impl Observed<'_> {
    /// Something may be read, as far as settings go.
    pub(super) fn enabled(&self) -> bool {
        self.settings.is_ok_and(|loaded| loaded.config.enabled)
    }
}
