//! What every command is handed: the streams, the switches that all share, and the places that
//! follow from the environment. Asks the process nothing itself.

use super::exit;
use super::out::Out;
use super::switches::Switches;
use super::world::{HandOver, Input, World, timer};
use crate::agents::registry;
use crate::config::{self, Env, Home, Loaded, gate};
use crate::memory::places::Places;
use crate::memory::provenance::shown_digits;
use crate::memory::session_activity::Judge;
use crate::model::error::{Error, ErrorKind};
use crate::model::layout::style::{file_address, link};
use crate::model::time::Time;
use crate::model::zone::Zone;
use crate::pipeline::context::{HiddenPaths, RunContext};
use crate::pipeline::progress::{Progress, Silent};
use crate::pipeline::spec::{self, Pipeline};
use crate::store::{Access, Store, TYPED};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use uuid::Uuid;

/// A command's surroundings.
pub struct Ctx<'w> {
    /// Where output goes.
    pub out: Out<'w>,
    /// Where answers come from.
    pub stdin: Input<'w>,
    /// This program's file.
    pub program: PathBuf,
    /// When the command started, or what `--now` says.
    pub now: Time,
    /// The zone that people read times in.
    pub zone: Zone,
    /// The machine's name, or what `--host` says.
    pub host: String,
    /// `--host` was given.
    pub host_is_fixed: bool,
    /// `--now` was given.
    pub now_is_fixed: bool,
    /// What `--jobs` says.
    pub jobs: Option<usize>,
    /// Threads that the machine runs at once.
    pub cores: usize,
    /// The environment, as settings see it.
    pub env: Env,
    /// Our folder and what lies in it.
    pub home: Home,
    /// More than people usually want to know.
    pub verbose: bool,
    /// Gives the terminal to another program.
    pub hand_over: Box<HandOver<'w>>,
    elapsed_ms: Box<dyn Fn() -> u64 + 'w>,
    warned: bool,
    reads_tool_cache: bool,
    hidden: HiddenPaths,
    /// The settings that `hidden` goes by.
    here: Option<Loaded>,
    names: Option<Store>,
    /// What projects are called, by namespace.
    projects: Option<BTreeMap<String, String>>,
}

impl<'w> Ctx<'w> {
    /// The world with the switches applied. Fails where no home directory is known.
    pub fn new(
        world: World<'w>,
        switches: &Switches,
        command: String,
    ) -> Result<Ctx<'w>, Box<(Out<'w>, Error)>> {
        let mut out = Out::new(world.stdout, world.stderr, switches.colours(), &world.vars);
        out.json = switches.json;
        out.command = command;
        out.quiet = switches.quiet;
        let Some(home) = world.vars.get("HOME").filter(|dir| dir.starts_with('/')) else {
            let what = match world.home_is_odd {
                true => "the path in HOME is not UTF-8",
                false => "HOME is not set to an absolute path",
            };
            let error = Error::usage(what).hinted("HOME=/home/you sessionmill …");
            // with the output, so that the error is shown as the switches ask
            return Err(Box::new((out, error)));
        };
        let env = Env {
            home: home.into(),
            cwd: world.cwd,
            vars: world.vars,
        };
        Ok(Ctx {
            out,
            stdin: world.stdin,
            program: world.program,
            now: switches.now.unwrap_or(world.now),
            zone: world.zone,
            host: switches.host.clone().unwrap_or(world.host),
            host_is_fixed: switches.host.is_some(),
            now_is_fixed: switches.now.is_some(),
            cores: world.cores,
            jobs: switches.jobs.map(|n| usize::from(n.get())),
            home: Home::of(&env),
            env,
            verbose: switches.verbose,
            hand_over: world.hand_over,
            elapsed_ms: world.elapsed_ms,
            warned: false,
            reads_tool_cache: !switches.no_tool_cache,
            hidden: HiddenPaths::default(),
            here: None,
            names: None,
            projects: None,
        })
    }

    /// The environment's variables.
    pub fn vars(&self) -> &BTreeMap<String, String> {
        &self.env.vars
    }

    /// Wall time since the command started, or since [`Ctx::restart_clock`].
    pub fn elapsed_ms(&self) -> u64 {
        (self.elapsed_ms)()
    }

    /// Counts from now on: what a person took to answer is no time of ours.
    pub fn restart_clock(&mut self) {
        let before = self.elapsed_ms();
        let elapsed_ms = std::mem::replace(&mut self.elapsed_ms, Box::new(|| 0));
        self.elapsed_ms = Box::new(move || elapsed_ms().saturating_sub(before));
    }

    /// Makes our folder, readable by its owner only. An existing one keeps its mode.
    pub fn make_home(&self) -> Result<()> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.home.dir)
            .with_context(|| format!("create {}", self.home.dir.display()))
    }

    /// Everything that the settings' files say. Their warnings are printed, once per command.
    pub fn settings(&mut self) -> Result<Loaded> {
        let mut loaded = config::load(&self.env, registry::log_folders)?;
        loaded.config.scoring.reads_tool_cache = self.reads_tool_cache;
        if !self.warned {
            self.warned = true;
            for warning in &loaded.warnings {
                self.out.warn(warning)?;
            }
        }
        Ok(loaded)
    }

    /// What the pipeline is handed of it; `progress` is told how far a reading is.
    pub fn pipeline_context<'c>(
        &'c mut self,
        loaded: &'c Loaded,
        progress: &'c dyn Progress,
    ) -> RunContext<'c> {
        RunContext {
            loaded,
            env: &self.env,
            home: &self.home,
            now: self.now,
            zone: self.zone,
            host: &self.host,
            jobs: self.jobs,
            cores: self.cores,
            elapsed_ms: &*self.elapsed_ms,
            timer: timer(),
            progress,
            notices: &mut self.out,
            hidden: HiddenPaths::default(),
        }
    }

    /// Judges what kind of work it was, by the settings of this home.
    pub fn judge(&mut self) -> Result<Judge> {
        let loaded = self.settings()?;
        self.pipeline_context(&loaded, &Silent).judge()
    }

    /// [`Loaded::hides_paths_of`], asked once per command.
    pub fn hides_paths_of(&mut self, project: &str) -> Result<bool> {
        let here = match self.here.take() {
            Some(here) => here,
            None => self.settings()?,
        };
        let here = self.here.insert(here);
        Ok(self.hidden.of(project, here))
    }

    /// The store, to read. Works while a run writes; an error with a hint where there is none.
    pub fn reader(&self) -> Result<Store, Error> {
        Store::open(&self.home.store(), Access::ReadOnly).map_err(|error| {
            let is_off = || {
                config::load(&self.env, registry::log_folders)
                    .is_ok_and(|all| !gate(&all.config).enabled)
            };
            match !self.home.store().exists() && is_off() {
                true => error.hinted("sessionmill init"),
                false => error,
            }
        })
    }

    /// The store, to read, where there is one.
    pub fn stored(&self) -> Result<Option<Store>, Error> {
        let is_there = self.home.store().exists();
        is_there.then(|| self.reader()).transpose()
    }

    /// What of a session's id people are shown: enough to type it again.
    pub fn session_shown(&mut self, id: &str) -> Result<String, Error> {
        self.names()?.session_shown(id, TYPED)
    }

    /// The same of an episode's or a memory's.
    pub fn episode_shown(&mut self, id: Uuid) -> Result<String, Error> {
        self.names()?.episode_shown(id, TYPED)
    }

    /// The store that ids are looked up in, opened once per command.
    fn names(&mut self) -> Result<&Store, Error> {
        let store = match self.names.take() {
            Some(store) => store,
            None => self.reader()?,
        };
        Ok(self.names.insert(store))
    }

    /// What people call a project: its name, which leads to its folder on a terminal that has links.
    pub fn project_name(&mut self, namespace: &str, path: &str) -> Result<String> {
        let name = self.bare_project_name(namespace)?;
        let is_linked = path.starts_with('/') && !self.hides_paths_of(path)?;
        Ok(match is_linked {
            true => link(&file_address(&self.host, path), &name),
            false => name,
        })
    }

    /// The same without a link, for pages and files.
    pub fn bare_project_name(&mut self, namespace: &str) -> Result<String> {
        let names = match self.projects.take() {
            Some(names) => names,
            None => {
                let places = Places::of(self.names()?)?;
                places.names(|path| self.hides_paths_of(path).unwrap_or(true))
            }
        };
        let name = self.projects.insert(names).get(namespace);
        Ok(name.map_or_else(|| shown_digits(namespace).to_owned(), String::clone))
    }

    /// Names the store's file in an error about it that doesn't.
    pub fn name_store(&self, error: anyhow::Error) -> anyhow::Error {
        let path = self.home.store().to_string_lossy().into_owned();
        let named = format!("{error:#}").contains(&path);
        match exit::typed(&error).map(|e| e.kind) {
            Some(ErrorKind::Damaged) => error.context(format!("{path} is damaged")),
            Some(ErrorKind::Store) if !named => error.context(path),
            _ => error,
        }
    }

    /// The user's pipeline of this name, else the embedded one.
    pub fn pipeline(&self, name: &str) -> Result<Pipeline, Error> {
        spec::load(name, &self.home.pipelines())
    }

    /// Asks a person for one line. `None` where nobody is there to answer.
    pub fn ask(&mut self, question: &str) -> Result<Option<String>> {
        if !self.stdin.terminal {
            return Ok(None);
        }
        // what was printed before comes before
        self.out.flush()?;
        self.out.ask(question)?;
        let mut answer = String::new();
        self.stdin.from.read_line(&mut answer)?;
        Ok(Some(answer.trim().to_owned()))
    }

    /// Somebody is there and says yes.
    ///
    /// # Errors
    /// When the question can't be printed, or the terminal is lost.
    pub fn is_yes(&mut self, question: &str) -> Result<bool> {
        let answer = self.ask(&format!("{question} [y/N]"))?;
        Ok(answer.is_some_and(|answer| is_yes(&answer)))
    }
}

/// An answer that agrees.
pub fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.to_lowercase().as_str())
}
