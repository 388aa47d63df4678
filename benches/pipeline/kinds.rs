//! What telling the kind of work costs: judging commands, and counting in the score stage.

use crate::homes::logs_below;
use serde_json::Value;
use sessionmill::host::files::source_file;
use sessionmill::model::entry::{Entry, EntryKind};
use sessionmill::model::policy::FilterPolicy;
use sessionmill::model::source::Agent;
use sessionmill::pipeline::parsed_log::ParsedLog;
use sessionmill::rules::classify::Classifier;
use sessionmill::rules::commands;
use sessionmill::rules::secrets::Redactor;
use sessionmill::stages::filter::{FilterState, filter};
use sessionmill::stages::score::score;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// What was measured on one thread.
#[derive(Default)]
pub struct Kinds {
    /// Bytes of the logs.
    pub bytes: u64,
    /// Shell commands in them.
    pub commands: u64,
    /// Judging them.
    pub judging: Duration,
    /// The score stage over everything that is kept.
    pub scoring: Duration,
}

impl Kinds {
    /// Of one command.
    pub fn per_command(&self) -> Duration {
        self.judging / u32::try_from(self.commands.max(1)).unwrap_or(u32::MAX)
    }

    /// CPU time per byte of log.
    pub fn per_byte(&self) -> f64 {
        (self.judging + self.scoring).as_secs_f64() / self.bytes.max(1) as f64
    }
}

/// Over every log below `corpus`, after one pass that reads the tables.
pub fn measure(corpus: &Path) -> io::Result<Kinds> {
    commands::counted("true");
    let mut kinds = Kinds::default();
    for log in logs_below(corpus)? {
        kinds.log(&log)?;
    }
    Ok(kinds)
}

/// The command line that a call runs; patches are read, not judged.
fn command_of(entry: &Entry) -> Option<&str> {
    let EntryKind::Call(call) = &entry.what else {
        return None;
    };
    let given = ["command", "cmd"].map(|key| call.input.get(key));
    let line = given.into_iter().flatten().find_map(Value::as_str)?;
    (!line.contains("*** Begin Patch")).then_some(line)
}

impl Kinds {
    fn log(&mut self, log: &Path) -> io::Result<()> {
        self.bytes += std::fs::metadata(log)?.len();
        let is_codex = log.components().any(|part| part.as_os_str() == ".codex");
        let agent = if is_codex {
            Agent::new("codex")
        } else {
            Agent::new("claude")
        };
        let file = source_file(log, agent)?;
        let mut log = ParsedLog::open(&file).map_err(io::Error::other)?;
        let mut state = FilterState::default();
        let (policy, redactor) = (FilterPolicy::default(), Redactor::default());
        let classifier = Classifier::default();
        let read = log.for_each_batch(|_, parsed| {
            let start = Instant::now();
            for line in parsed.items.iter().filter_map(command_of) {
                std::hint::black_box(commands::counted(line));
                self.commands += 1;
            }
            self.judging += start.elapsed();
            let batch = filter(parsed, &policy, &redactor, &mut state);
            let start = Instant::now();
            std::hint::black_box(score(batch, &classifier));
            self.scoring += start.elapsed();
            Ok(ControlFlow::<()>::Continue(()))
        });
        read.map(|_| ()).map_err(io::Error::other)
    }
}
