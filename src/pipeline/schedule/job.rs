//! What a timer starts, and with what.

use super::every::Every;
use super::recurrence::Recurrence;
use crate::agents::registry;
use crate::config::{SinkSettings, SinkTo};
use crate::model::error::{Error, ErrorKind};
use crate::pipeline::context::RunContext;
use anyhow::Result;
use std::iter;
use std::path::{Path, PathBuf};

/// What the timer has to start.
pub struct Job {
    /// This program.
    pub program: PathBuf,
    /// What it runs.
    pub pipeline: String,
    /// When.
    pub recurrence: Recurrence,
    /// Our folder, which is written.
    pub home: PathBuf,
    /// Sinks' folders, which are written too.
    pub folders: Vec<PathBuf>,
    /// A sink or a language model is somewhere else.
    pub network: bool,
    /// The person's, where `~` leads.
    pub user_home: PathBuf,
    /// Variables that say where things are, resolved: a timer's environment wouldn't have them.
    pub vars: Vec<(String, String)>,
}

impl Job {
    /// `program` runs `pipeline`, as often as the settings say where `recurrence` doesn't.
    ///
    /// # Errors
    /// Of usage, where a path or an interval can't be written into a timer.
    pub fn new(
        program: &Path,
        pipeline: &str,
        recurrence: Option<Recurrence>,
        cx: &RunContext<'_>,
    ) -> Result<Job> {
        let config = &cx.loaded.config;
        let recurrence = match recurrence {
            Some(recurrence) => recurrence,
            None => Recurrence::Every(Every::of_seconds(config.schedule_interval_s)?),
        };
        let folder = |sink: &SinkSettings| match &sink.to {
            SinkTo::Markdown(folder) | SinkTo::Jsonl(folder) | SinkTo::Parquet(folder) => {
                Some(folder.clone())
            }
            SinkTo::Database(_) | SinkTo::Graphiti(_) => None,
        };
        let away = |sink: &SinkSettings| !sink.to.endpoints().is_empty();
        let agents = registry::all().map(|agent| agent.folder(cx.env));
        let set = iter::once(("SESSIONMILL_HOME", cx.home.dir.clone()))
            .chain(agents)
            .filter(|(name, _)| cx.env.var(name).is_some());
        let job = Job {
            program: program.to_owned(),
            pipeline: pipeline.to_owned(),
            recurrence,
            home: cx.home.dir.clone(),
            folders: config.sinks.iter().filter_map(folder).collect(),
            network: config.llm.is_some()
                || config.embeddings.is_some()
                || config.sinks.iter().any(away),
            user_home: cx.env.home.clone(),
            vars: set
                .map(|(name, path)| (name.into(), path.to_string_lossy().into()))
                .collect(),
        };
        // A newline would end the line in a unit or a crontab and begin another one.
        let values = job.vars.iter().map(|(_, value)| value.as_str());
        let paths = [&job.program, &job.home].into_iter().chain(&job.folders);
        let paths: Vec<String> = paths.map(|p| p.to_string_lossy().into_owned()).collect();
        let mut all = values.chain(paths.iter().map(String::as_str));
        match all.find(|v| v.contains(char::is_control)) {
            Some(bad) => Err(Error::usage(format!("{bad:?} can't be written into a timer")).into()),
            None => Ok(job),
        }
    }
}

/// A program of the machine that failed, with what it said.
pub(super) fn refused(command: &str, said: &str, hint: &str) -> Error {
    let said = said.trim().replace('\n', "; ");
    Error::new(ErrorKind::Failed, format!("`{command}` failed: {said}")).hinted(hint)
}
