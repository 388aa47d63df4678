//! What became of a timer's runs: the last one that went through, and those that failed, by the log of
//! runs and the small file that each complete run leaves.

use crate::config::Home;
use crate::model::time::Time;
use crate::pipeline::last_run::LastRun;
use crate::pipeline::run_log;
use std::fs;
use std::path::PathBuf;

/// Runs of one pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    /// When the last complete one began.
    pub last: Option<Time>,
    /// Those that failed, the latest last; the log keeps [`run_log::FILES_KEPT`] days with news.
    pub failed: Vec<FailedRun>,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// When it began.
    pub at: Time,
    /// Why.
    pub reason: String,
}

impl Runs {
    /// Of this pipeline, as far as anything is known; what can't be read is unknown.
    pub fn of(pipeline: &str, home: &Home) -> Runs {
        let entries = fs::read_dir(home.logs()).into_iter().flatten().flatten();
        let mut logs: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| run_log::is_ours(path))
            .collect();
        logs.sort();
        let texts = logs.iter().filter_map(|path| fs::read_to_string(path).ok());
        let failed = texts.flat_map(|text| failed_in(&text, pipeline));
        Runs {
            last: LastRun::of(pipeline, home).began,
            failed: failed.collect(),
        }
    }

    /// Those that failed after the last one that went through.
    pub fn failed_since_last(&self) -> usize {
        let later = |run: &&FailedRun| self.last.is_none_or(|last| run.at > last);
        self.failed.iter().filter(later).count()
    }
}

fn failed_in(text: &str, pipeline: &str) -> Vec<FailedRun> {
    let mark = format!(" run {pipeline}: failed: ");
    let lines = text.lines().filter_map(|line| {
        let (at, reason) = line.split_once(&mark)?;
        Some(FailedRun {
            at: Time::parse(at)?,
            reason: reason.to_owned(),
        })
    });
    lines.collect()
}
