//! Lines in, a store out: what a run would have stored of the same files. The store lives in a folder of its
//! own for as long as the tables are made of it.

use super::line::{CommittedLine, EpisodeLine, LedgerLine, Line, MovedLine, RejectLine};
use super::surroundings::Surroundings;
use crate::memory::moved_projects::meet_projects;
use crate::memory::session_activity::Judge;
use crate::model::namespace::global_group;
use crate::model::time::Time;
use crate::pipeline::steps::enrich::session_summary::{SummarizeOptions, summarize};
use crate::pipeline::steps::promote::promote;
use crate::store::{Prepared, Store};
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::path::Path;

/// What the store is made with.
pub struct ReplayOptions<'a> {
    /// The settings.
    pub surroundings: &'a Surroundings,
    /// The run's one point in time.
    pub now: Time,
    /// Worker threads.
    pub jobs: usize,
}

/// Text that one transaction takes.
const TRANSACTION_BYTES: usize = 2 << 20;

/// Puts lines together to commits and stores those.
pub struct Replay<'a> {
    store: Store,
    told: &'a ReplayOptions<'a>,
    /// `None`: no commit said yet on which machine it was written.
    group: Option<String>,
    /// The lines of the commit that is not whole yet.
    episodes: Vec<EpisodeLine>,
    rejects: Vec<RejectLine>,
    ledger: Option<LedgerLine>,
    waiting: Vec<Prepared>,
    bytes: usize,
}

impl<'a> Replay<'a> {
    /// Makes an empty store at `path`, in the place of what is there.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn begin(path: &Path, told: &'a ReplayOptions<'a>) -> Result<Replay<'a>> {
        Replay::over(Store::scratch(path)?, told)
    }

    pub(super) fn over(mut store: Store, told: &'a ReplayOptions<'a>) -> Result<Replay<'a>> {
        let config = &told.surroundings.loaded.config;
        let redactor = told.surroundings.redaction()?.redactor;
        let (version, secrets) = (redactor.version(), redactor.secrets_only());
        // what comes was masked by these rules
        if store.redacted_by()?.as_deref() != Some(&version) {
            store.redact(&version, &|text| secrets.redact(text))?;
        }
        Ok(Replay {
            store,
            told,
            group: config.group_id.clone(),
            episodes: Vec::new(),
            rejects: Vec::new(),
            ledger: None,
            waiting: Vec::new(),
            bytes: 0,
        })
    }

    /// Takes the next line. They come in the order of [`merge`](super::merge): by commit, each commit's own line
    /// after the others.
    ///
    /// # Errors
    /// When a part of a commit is missing, or the store fails.
    pub fn take(&mut self, line: Line) -> Result<()> {
        match line {
            Line::Episode(episode) => self.episodes.push(*episode),
            Line::Reject(reject) => self.rejects.push(reject),
            Line::Ledger(ledger) => self.ledger = Some(ledger),
            Line::Commit(commit) => self.commit(*commit)?,
            Line::Moved(moved) => self.relocate(&moved)?,
            Line::Header(_) | Line::Tally(_) | Line::Problem(_) | Line::End(_) | Line::Total => {}
        }
        Ok(())
    }

    fn relocate(&mut self, moved: &MovedLine) -> Result<()> {
        self.flush()?;
        let (file, path) = (&moved.step.file, &moved.path);
        Ok(self.store.relocate(&moved.was, file, path, moved.stat)?)
    }

    fn commit(&mut self, commit: CommittedLine) -> Result<()> {
        let step = commit.step.clone();
        let mut episodes = std::mem::take(&mut self.episodes);
        let rejects = std::mem::take(&mut self.rejects);
        let Some(ledger) = self.ledger.take() else {
            bail!("{}: a commit's `ledger` line is missing", step.file);
        };
        let steps = episodes.iter().map(|line| &line.step);
        let steps = steps.chain(rejects.iter().map(|line| &line.step));
        let is_other = steps.chain([&ledger.step]).any(|other| *other != step);
        let counted = (episodes.len() as u64, rejects.len() as u64);
        if is_other || counted != (commit.episodes, commit.rejects) {
            bail!(
                "{}: some lines of the commit that ends at byte {} are missing",
                step.file,
                step.read_to
            );
        }
        if self.group.is_none() {
            self.group = Some(global_group(&commit.session.host));
        }
        episodes.sort_by_key(|line| line.nth);
        let episodes = episodes.into_iter().map(|line| line.episode).collect();
        let rejects = rejects.into_iter().map(|line| line.reject).collect();
        let prepared = Prepared::new(commit.into_commit(episodes, rejects, ledger));
        self.bytes += prepared.bytes();
        self.waiting.push(prepared);
        match self.bytes >= TRANSACTION_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        if !self.waiting.is_empty() {
            let group = self.group.as_deref().unwrap_or_default();
            self.store.commit(&self.waiting, self.told.now, group)?;
            self.waiting.clear();
            self.bytes = 0;
        }
        Ok(())
    }

    /// Does what a run does after it has read: memories of directives, summaries of sessions that rest.
    ///
    /// # Errors
    /// When lines are left that belong to no commit, or the store fails.
    pub fn finish(mut self) -> Result<Store> {
        if let Some(line) = self.episodes.first() {
            bail!("{}: a `commit` line is missing", line.step.file);
        }
        self.flush()?;
        let (told, store) = (self.told, &mut self.store);
        store.finish()?;
        let Surroundings { loaded, home, .. } = told.surroundings;
        let redaction = told.surroundings.redaction()?;
        meet_projects(store)?;
        promote(store, &loaded.config.memory, &redaction.redactor)?;
        let scoring = &loaded.config.scoring;
        let judge = Judge {
            classifier: crate::memory::classifiers::counter(home)?,
            min_strength: scoring.min_strength,
            manual: scoring.manual,
        };
        let mut hidden: BTreeMap<String, bool> = BTreeMap::new();
        let mut hides = |project: &str| -> Result<bool> {
            let known = hidden.get(project).copied();
            let hides = known.unwrap_or_else(|| loaded.hides_paths_of(Path::new(project)));
            hidden.insert(project.to_owned(), hides);
            Ok(hides)
        };
        let mut options = SummarizeOptions {
            now: told.now,
            settled_ms: loaded.config.chunk.gap_ms,
            jobs: told.jobs,
            judge: &judge,
            hides: &mut hides,
        };
        summarize(store, &mut options)?;
        store.finish()?;
        Ok(self.store)
    }
}
