//! A pipeline as meant: what runs, over which logs, and what `run --check` compares.

use crate::model::choice::{listed, nearest};
use crate::model::ledger::Fate;
use crate::model::source::Agent;
use crate::model::time::Time;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A pipeline as meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// What `run NAME` calls it: lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// One sentence for people.
    pub description: String,
    /// In the order in which they run; never empty, no step twice.
    pub steps: Vec<Step>,
    /// Which logs.
    pub window: Window,
    /// Worker threads; `None`: one per core.
    pub jobs: Option<usize>,
    /// Derive everything again whose log still exists.
    pub rebuild: bool,
    /// What `run --check` indexes and compares.
    pub check: Check,
    /// Small examples that `run --check` and `make test` run.
    pub tests: Vec<Example>,
    /// Where it is written.
    pub origin: PipelineOrigin,
}

/// What a run does; each can be run alone and repeated at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Discover, parse, filter, chunk, store.
    Ingest,
    /// Look at what was done to the repositories of tracked projects.
    Track,
    /// Ask a language model, where one is configured, about unknown tools.
    Enrich,
    /// Deliver what waits to the sinks.
    Upload,
    /// Say what happened.
    Report,
}

const DAY_MS: i64 = 86_400_000;

/// Which logs a run looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// As the configuration's `session_tracking.keep_length_days` says.
    Configured,
    /// Modified within so many days.
    Days(u32),
    /// Modified since.
    Since(Time),
    /// All of them.
    All,
}

impl Window {
    /// The first moment of it, where the settings keep logs for `keep_length_days` (`None`: for
    /// ever); `None`: it has none.
    pub fn first(self, keep_length_days: Option<u32>, now: Time) -> Option<Time> {
        let days = |days: u32| Time(now.0.saturating_sub(i64::from(days) * DAY_MS));
        match self {
            Window::All => None,
            Window::Since(time) => Some(time),
            Window::Days(n) => Some(days(n)),
            Window::Configured => keep_length_days.map(days),
        }
    }
}

/// What `run --check` indexes into a throw-away store, and what the result is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Logs are looked for in this home, with default settings; `None`: the configured places.
    pub home: Option<PathBuf>,
    /// The recorded result; `None`: `recorded/<pipeline>.txt` in our folder.
    pub recorded: Option<PathBuf>,
    /// What time it is.
    pub now: Option<Time>,
    /// Which machine this is.
    pub host: Option<String>,
}

/// One `tests:` entry: log lines and what has to come of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// A sentence.
    pub name: String,
    /// Whose log the lines are.
    pub agent: Agent,
    /// The log file's bytes.
    pub given: Given,
    /// What must be true of the store afterwards.
    pub wants: Wants,
}

/// Where an example's log comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// It stands in the pipeline file.
    Lines(String),
    /// A file; relative paths start at the pipeline file's directory, for embedded pipelines at the
    /// working directory.
    File(PathBuf),
}

/// What must be true after an example ran. What isn't named isn't compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Sessions in the store.
    pub sessions: Option<u64>,
    /// Episodes in the store.
    pub episodes: Option<u64>,
    /// Lines per fate; fates that aren't named may have any number.
    pub ledger: BTreeMap<Fate, u64>,
    /// Each stands in some episode's text.
    pub contains: Vec<String>,
    /// None stands in any episode's text.
    pub lacks: Vec<String>,
}

/// Where a pipeline is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipelineOrigin {
    /// In this program.
    Embedded,
    /// In a file of the user's.
    File(PathBuf),
}

/// Steps in the order in which they run, each once.
pub fn steps(named: impl Iterator<Item = Step>) -> Vec<Step> {
    let set: std::collections::BTreeSet<Step> = named.collect();
    set.into_iter().collect()
}

impl Step {
    /// Reads a step's name; the error says what to write.
    pub fn parse(word: &str) -> Result<Step, String> {
        match word {
            "ingest" => Ok(Step::Ingest),
            "track" => Ok(Step::Track),
            "enrich" => Ok(Step::Enrich),
            "upload" => Ok(Step::Upload),
            "report" => Ok(Step::Report),
            other => {
                let all = ["ingest", "track", "enrich", "upload", "report"];
                let what = match nearest(other, all) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("write {}", listed(all)),
                };
                Err(format!("unknown step `{other}`; {what}"))
            }
        }
    }
}
