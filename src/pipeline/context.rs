//! What a run, and every part of one, is handed: the settings, the time, the machine's name, and where to
//! say what it meets. The library asks the process for none of it.

use super::progress::{Notices, Progress};
use crate::config::{Env, Home, Loaded, edit};
use crate::memory::classifiers;
use crate::memory::session_activity::Judge;
use crate::model::time::Time;
use crate::model::zone::Zone;
use crate::rules::classify::Classifier;
use crate::rules::tool_cache::ToolCache;
use crate::store::Store;
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// A run's surroundings.
pub struct RunContext<'a> {
    /// The settings, as they were loaded.
    pub loaded: &'a Loaded,
    /// The environment: keys, proxies, where agents have their own files.
    pub env: &'a Env,
    /// Our folder and what lies in it.
    pub home: &'a Home,
    /// The run's one point in time.
    pub now: Time,
    /// The zone in which people read times.
    pub zone: Zone,
    /// The machine's name.
    pub host: &'a str,
    /// Worker threads that somebody asked for.
    pub jobs: Option<usize>,
    /// Threads that the machine runs at once.
    pub cores: usize,
    /// Milliseconds since the command started: for `took`, and for what may take only so long.
    pub elapsed_ms: &'a dyn Fn() -> u64,
    /// For servers that are waited for.
    pub timer: Timer,
    /// Is told how far the reading is.
    pub progress: &'a dyn Progress,
    /// Is told what deserves attention.
    pub notices: &'a mut dyn Notices,
    /// Whose paths are hidden.
    pub hidden: HiddenPaths,
}

/// How servers and rates are waited for.
#[derive(Clone)]
pub struct Timer {
    /// Time since any moment before.
    pub monotonic: Rc<dyn Fn() -> Duration>,
    /// Returns so much later.
    pub wait: Rc<dyn Fn(Duration)>,
}

/// Whether the paths of projects are hidden, by project: each is asked about once.
#[derive(Default)]
pub struct HiddenPaths(BTreeMap<String, bool>);

impl RunContext<'_> {
    /// [`Loaded::hides_paths_of`], asked once.
    pub fn hides_paths_of(&mut self, project: &str) -> bool {
        self.hidden.of(project, self.loaded)
    }

    /// Whether there is a store.
    pub fn has_store(&self) -> bool {
        self.home.store().exists()
    }

    /// Judges by the tables, the cache and the settings of this home.
    ///
    /// # Errors
    /// When a table is wrong, or nobody can be told that the cache is none.
    pub fn judge(&mut self) -> Result<Judge> {
        let scoring = &self.loaded.config.scoring;
        let classifier = match self.learned_tools()? {
            Some(classifier) => classifier,
            None => classifiers::counter(self.home)?,
        };
        Ok(Judge {
            classifier,
            min_strength: scoring.min_strength,
            manual: scoring.manual,
        })
    }

    /// Judges by the user's own tables and, unless the cache is to be passed over (003-096), by what was
    /// learned of tools before; `None` where the cache's file is no cache, so that nothing could be kept in
    /// it. It is left as it is, with a warning.
    ///
    /// # Errors
    /// As [`RunContext::judge`].
    pub fn learned_tools(&mut self) -> Result<Option<Classifier>> {
        let scoring = &self.loaded.config.scoring;
        let cache = &scoring.tool_cache;
        if !scoring.reads_tool_cache {
            return Ok(Some(classifiers::counter(self.home)?));
        }
        let learned = classifiers::learned(cache, self.home)?;
        if learned.is_none() {
            self.warn_of_cache(cache)?;
        }
        Ok(learned)
    }

    /// Changes the cache of tools as it is now, whoever wrote it meanwhile. A file that is no cache
    /// stays as it is.
    ///
    /// # Errors
    /// When the file can't be read or written.
    pub fn change_tool_cache(&mut self, change: impl FnOnce(&mut ToolCache)) -> Result<()> {
        let file = &self.loaded.config.scoring.tool_cache;
        let Some(mut cache) = classifiers::read(file)? else {
            return self.warn_of_cache(file);
        };
        change(&mut cache);
        edit::write(file, &cache.print())?;
        Ok(())
    }

    fn warn_of_cache(&mut self, file: &Path) -> Result<()> {
        self.notices.warn(&format!(
            "{}: is not a tool cache; it is neither used nor changed: move it away",
            file.display()
        ))
    }
}

impl HiddenPaths {
    /// As [`Loaded::hides_paths_of`] says the first time.
    pub fn of(&mut self, project: &str, loaded: &Loaded) -> bool {
        if let Some(known) = self.0.get(project) {
            return *known;
        }
        let hides = loaded.hides_paths_of(Path::new(project));
        self.0.insert(project.to_owned(), hides);
        hides
    }

    /// The projects of the store whose paths are hidden.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn among(
        &mut self,
        store: &Store,
        loaded: &Loaded,
    ) -> Result<std::collections::BTreeSet<String>> {
        let projects = store.projects("")?.into_iter().map(|(_, project)| project);
        Ok(projects
            .filter(|project| self.of(project, loaded))
            .collect())
    }
}
