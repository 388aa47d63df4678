//! A home of its own for a test: logs are put into it, runs go over it, the store is looked at.
//!
//! Knows how settings become a run's setup. The clock stands still, the machine is called `test`.

use crate::config::{self, Env};
use crate::host::files::Root;
use crate::model::ledger::Ledger;
use crate::model::time::Time;
use crate::pipeline::file::Rules;
use crate::pipeline::progress::Silent;
use crate::pipeline::report::Report;
use crate::pipeline::run::{self, Setup};
use crate::rules::secrets::Redactor;
use crate::stages::discover::DiscoverOptions;
use crate::store::{Access, Store};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Removed when dropped.
pub struct Home {
    folder: tempfile::TempDir,
    env: Env,
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
        let home = Home { folder, env };
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
    pub fn run(&self) -> Result<Report> {
        self.run_masked(Redactor::default())
    }

    /// The same, masked by other rules.
    pub fn run_masked(&self, redactor: Redactor) -> Result<Report> {
        let config = config::load(&self.env)?.config;
        let roots = config.roots.into_iter().map(|root| Root {
            path: root.path,
            agent: root.agent,
            include: root.include,
            exclude: root.exclude,
        });
        self.run_over(roots.collect(), config.policy, config.chunk, redactor)
    }

    /// One run over these places.
    fn run_over(
        &self,
        roots: Vec<Root>,
        policy: crate::model::policy::FilterPolicy,
        chunk: crate::model::policy::ChunkOptions,
        redactor: Redactor,
    ) -> Result<Report> {
        let setup = Setup {
            roots,
            rules: Rules {
                policy,
                chunk,
                host: "test".into(),
                subagents: true,
                redactor,
            },
            discover: DiscoverOptions::default(),
            jobs: 2,
            now: Time(1_772_500_000_000),
            group: "test__global".into(),
            left_out: &|_, _, _| None,
        };
        let mut store = self.store(Access::ReadWrite)?;
        run::run(&mut store, &setup, &Silent)
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
