//! The logs that lie on a machine, counted by agent. Opens none.

use crate::agents::registry;
use crate::config::Config;
use crate::model::human::{bytes, duration_ms, plural};
use crate::model::source::Agent;
use crate::pipeline::disk_logs::logs_on_disk;
use serde::Serialize;
use std::path::PathBuf;

/// What an agent has written so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundLogs {
    /// Whose.
    pub agent: Agent,
    /// Where it was looked for.
    pub folders: Vec<PathBuf>,
    /// Log files.
    pub files: u64,
    /// Their bytes on disk.
    pub bytes: u64,
}

impl FoundLogs {
    /// `Claude Code: 8 logs, 100 kB in ~/.claude/projects`.
    pub fn line(&self) -> String {
        let title = registry::title(self.agent);
        let folders = self.folders.iter().map(|dir| dir.display().to_string());
        let folders = folders.collect::<Vec<String>>().join(", ");
        match self.files {
            0 => format!("{title}: no logs in {folders}"),
            files => {
                let (logs, size) = (plural(files, "log"), bytes(self.bytes));
                format!("{title}: {logs}, {size} in {folders}")
            }
        }
    }

    /// Agents that have logs.
    pub fn agents(all: &[FoundLogs]) -> Vec<Agent> {
        let with_logs = all.iter().filter(|found| found.files > 0);
        with_logs.map(|found| found.agent).collect()
    }
}

/// Of each agent that the settings have a folder of, its logs, in the order of the agents. Costs a `stat`
/// for each file.
pub fn found_logs(config: &Config) -> Vec<FoundLogs> {
    let found = logs_on_disk(&config.roots).files;
    let agents = registry::words().map(|agent| {
        let own = found.iter().filter(|file| file.agent == agent);
        let roots = config.roots.iter().filter(|root| root.agent == agent);
        FoundLogs {
            agent,
            folders: roots.map(|root| root.path.clone()).collect(),
            files: own.clone().count() as u64,
            bytes: own.map(|file| file.stat.size).sum(),
        }
    });
    agents.filter(|logs| !logs.folders.is_empty()).collect()
}

/// How fast logs are read on a machine slower than those that docs/performance.md measures.
const BYTES_PER_SECOND: u64 = 100_000_000;

/// How long reading all of them takes, by a cautious estimate that is named with it.
pub fn reading_line(all: &[FoundLogs]) -> String {
    let bytes: u64 = all.iter().map(|found| found.bytes).sum();
    let time = match bytes / BYTES_PER_SECOND {
        _ if bytes == 0 => {
            return "nothing to read yet; later runs read what agents write from now on".into();
        }
        0 => "less than a second".to_owned(),
        seconds => duration_ms(seconds * 1_000),
    };
    format!("reading them takes {time} at 100 MB/s")
}
