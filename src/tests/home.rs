//! A home of its own for a test: logs are put into it, runs go over it, the store is looked at.
//!
//! Knows how settings become a run's setup. The clock stands still unless a test moves it, the
//! machine is called `test`. Every run is followed by the laws that hold after every run.

use crate::agents::registry;
use crate::config::{self, Env};
use crate::host::decompress::BrokenOff;
use crate::memory::session_activity::Judge;
use crate::model::ledger::Ledger;
use crate::model::source::Root;
use crate::model::source::SourceFile;
use crate::model::time::Time;
use crate::pipeline::disk_logs::logs_on_disk;
use crate::pipeline::doctor::deep::{changed_logs, compare};
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::ingest_options::Rules;
use crate::pipeline::progress::Silent;
use crate::pipeline::steps::enrich::session_summary::{SummarizeOptions, summarize};
use crate::pipeline::steps::ingest::index;
use crate::pipeline::steps::ingest::report::IngestReport;
use crate::rules::secrets::Redactor;
use crate::stages::discover::DiscoverOptions;
use crate::store::{Access, Store};
use anyhow::{Context, Result};
use std::cell::Cell;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Removed when dropped.
pub struct Home {
    folder: tempfile::TempDir,
    env: Env,
    /// When runs start.
    now: Cell<Time>,
    /// The next run tells everything again.
    again: Cell<bool>,
}

impl Home {
    /// An empty home that has said yes, with more settings where a test wants them.
    pub fn new(settings: Option<&serde_json::Value>) -> Result<Home> {
        let folder = tempfile::tempdir()?;
        let env = Env {
            home: folder.path().to_path_buf(),
            cwd: folder.path().to_path_buf(),
            ..Env::default()
        };
        let mut all =
            serde_json::json!({"version": "2.0.0", "session_tracking": {"enabled": true}});
        if let Some(settings) = settings {
            merge(&mut all, settings);
        }
        let now = Cell::new(Time(1_772_500_000_000));
        let again = Cell::new(false);
        let home = Home {
            folder,
            env,
            now,
            again,
        };
        let file = home.state().join("graphiti.config.json");
        std::fs::create_dir_all(home.state())?;
        std::fs::write(file, all.to_string())?;
        Ok(home)
    }

    /// HOME.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts a log where `below` says.
    pub fn put(&self, below: &str, content: &[u8]) -> Result<PathBuf> {
        let path = self.path().join(below);
        std::fs::create_dir_all(path.parent().context("a path below HOME")?)?;
        std::fs::write(&path, content)?;
        Ok(path)
    }

    /// One run over the default places.
    pub fn run(&self) -> Result<IngestReport> {
        self.run_masked(Redactor::default())
    }

    /// `run --rebuild --all`.
    pub fn rebuild(&self) -> Result<IngestReport> {
        self.again.set(true);
        self.run()
    }

    /// The same, masked by other rules.
    pub fn run_masked(&self, redactor: Redactor) -> Result<IngestReport> {
        let config = config::load(&self.env, registry::log_folders)?.config;
        self.run_over(config.roots, config.policy, config.chunk, redactor)
    }

    /// One run over the default places and these.
    pub fn run_with(&self, more: Vec<Root>) -> Result<IngestReport> {
        let mut config = config::load(&self.env, registry::log_folders)?.config;
        config.roots.extend(more);
        self.run_over(
            config.roots,
            config.policy,
            config.chunk,
            Redactor::default(),
        )
    }

    /// What settings depend on.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Sets the clock.
    pub fn set_clock(&self, now: Time) {
        self.now.set(now);
    }

    /// One run over these places.
    ///
    /// # Panics
    /// When a line of a file isn't accounted for.
    fn run_over(
        &self,
        roots: Vec<Root>,
        policy: crate::model::policy::FilterPolicy,
        chunk: crate::model::policy::ChunkOptions,
        redactor: Redactor,
    ) -> Result<IngestReport> {
        let files = logs_on_disk(&roots).files;
        let setup = self.setup(roots, policy, chunk, redactor);
        let mut store = self.store(Access::ReadWrite)?;
        let report = index(&mut store, &setup, &Silent)?;
        every_line_is_accounted_for(&store, &files)?;
        Ok(report)
    }

    /// How a run reads logs.
    fn setup(
        &self,
        roots: Vec<Root>,
        policy: crate::model::policy::FilterPolicy,
        chunk: crate::model::policy::ChunkOptions,
        redactor: Redactor,
    ) -> IngestOptions<'static> {
        IngestOptions {
            roots,
            rules: Rules {
                policy,
                chunk,
                host: "test".into(),
                subagents: true,
                redactor,
                classifier: Default::default(),
                markers: Default::default(),
                hides_paths: false,
                directives: None,
            },
            discover: DiscoverOptions {
                again: self.again.take(),
                ..DiscoverOptions::default()
            },
            jobs: 2,
            now: self.now.get(),
            group: None,
            admit: &|_, _, _| Ok(None),
        }
    }

    /// What `doctor --deep` says of the store, once summaries are written.
    pub fn looked_at_deeply(&self) -> Result<Vec<String>> {
        let config = config::load(&self.env, registry::log_folders)?.config;
        let files = logs_on_disk(&config.roots).files;
        let summarize = &mut |store: &mut Store| {
            let judge = Judge {
                classifier: Default::default(),
                min_strength: config.scoring.min_strength,
                manual: config.scoring.manual,
            };
            let options = &mut SummarizeOptions {
                now: Time(i64::MAX),
                settled_ms: 0,
                jobs: 1,
                judge: &judge,
                hides: &mut |_| Ok(false),
            };
            summarize(store, options).map(drop)
        };
        summarize(&mut self.store(Access::ReadWrite)?)?;
        let known = self.store(Access::ReadOnly)?.checkpoints()?;
        let known = known.into_iter().map(|c| (c.key.clone(), c)).collect();
        let changed = changed_logs(&files, &known, 1)?;
        let setup = self.setup(
            config.roots,
            config.policy,
            config.chunk,
            Redactor::default(),
        );
        let place = self.state().join("sessionmill.db");
        let compared = compare(&place, setup, &files, &changed, summarize, &Silent)?;
        let said = compared.diagnoses().into_iter();
        Ok(said.map(|said| said.reason).collect())
    }

    /// What the runs stored.
    pub fn store(&self, access: Access) -> Result<Store> {
        Ok(Store::open(&self.state().join("sessionmill.db"), access)?)
    }

    /// Every file's account in sum.
    pub fn ledger(&self) -> Result<Ledger> {
        let store = self.store(Access::ReadOnly)?;
        let mut sum = Ledger::default();
        for checkpoint in store.checkpoints()? {
            let account = store.account(&checkpoint.key)?;
            sum.merge(&account.context("an account for each checkpoint")?.ledger);
        }
        Ok(sum)
    }

    fn state(&self) -> PathBuf {
        self.path().join(".graphiti")
    }
}

/// A compressed log that nothing is wrong with but what it comes to.
fn ends_before_its_time(reason: &str) -> bool {
    [BrokenOff::TooMuch, BrokenOff::WideWindow]
        .map(BrokenOff::as_str)
        .contains(&reason)
}

/// Lines read = kept + filtered + copied + rejected + unknown + pending, for each file that the
/// store has (architecture § 4, 9). Lines on disk are counted here, without the program's own reader.
fn every_line_is_accounted_for(store: &Store, files: &[SourceFile]) -> Result<()> {
    for file in files {
        let Some(account) = store.account(&file.key)? else {
            continue; // left out on purpose, or a problem of the report
        };
        let mut bytes = Vec::new();
        match file.inside() {
            Some(inside) => drop(inside.open()?.read_to_end(&mut bytes)?),
            None => bytes = std::fs::read(file.path())?,
        }
        let text = match file.compressed {
            true => match zstd::decode_all(&*bytes) {
                Ok(_)
                    if account
                        .rejects
                        .iter()
                        .any(|r| ends_before_its_time(&r.reason)) =>
                {
                    continue;
                }
                Ok(text) => text,
                Err(_) => continue, // damaged: nobody knows how many lines it had
            },
            false => bytes,
        };
        let ended = text.is_empty() || text.ends_with(b"\n");
        let lines = memchr::memchr_iter(b'\n', &text).count() as u64 + u64::from(!ended);
        let ledger = account.ledger;
        let told = ledger.total();
        assert_eq!(told, lines, "lines of {}: {ledger:?}", file.key);
    }
    Ok(())
}

/// `more` over `all`, object by object.
fn merge(all: &mut serde_json::Value, more: &serde_json::Value) {
    match (all, more) {
        (serde_json::Value::Object(all), serde_json::Value::Object(more)) => {
            for (key, value) in more {
                merge(all.entry(key).or_insert(serde_json::Value::Null), value);
            }
        }
        (all, more) => *all = more.clone(),
    }
}
