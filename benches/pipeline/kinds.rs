//! What telling the kind of work costs: judging commands, and counting in the score stage.

use crate::homes::logs_below;
use serde_json::Value;
use sessionmill::host::files::source_file;
use sessionmill::host::read::{Content, LogReader};
use sessionmill::model::entry::Context;
use sessionmill::model::policy::FilterPolicy;
use sessionmill::model::source::Agent;
use sessionmill::rules::classify::Classifier;
use sessionmill::rules::commands;
use sessionmill::rules::secrets::Redactor;
use sessionmill::stages::filter::{FilterState, filter};
use sessionmill::stages::parse::{ParseState, parse, skim::Skimmer};
use sessionmill::stages::score::score;
use std::io;
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
    commands::counted_as("true");
    let mut kinds = Kinds::default();
    for log in logs_below(corpus)? {
        let content = std::fs::read(&log)?;
        kinds.bytes += content.len() as u64;
        for command in content.split(|b| *b == b'\n').flat_map(commands_of) {
            let start = Instant::now();
            std::hint::black_box(commands::counted_as(&command));
            kinds.judging += start.elapsed();
            kinds.commands += 1;
        }
        let is_codex = log.components().any(|part| part.as_os_str() == ".codex");
        let agent = if is_codex {
            Agent::Codex
        } else {
            Agent::Claude
        };
        kinds.scoring += scoring(&log, agent)?;
    }
    Ok(kinds)
}

/// Every string that stands under `command` or `cmd` in a line.
fn commands_of(line: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_slice::<Value>(line) {
        gather(&value, &mut found);
    }
    found
}

fn gather(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                match value {
                    Value::String(text) if name == "command" || name == "cmd" => {
                        found.push(text.clone());
                    }
                    other => gather(other, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|item| gather(item, found)),
        _ => {}
    }
}

fn scoring(log: &Path, agent: Agent) -> io::Result<Duration> {
    let file = source_file(log, agent)?;
    let mut skimmer = Skimmer::default();
    let mut reader = LogReader::open(&file, 0, 0, Content::default()).map_err(io::Error::other)?;
    let mut parser = ParseState::resume(Context::default(), "bench");
    let mut state = FilterState::default();
    let (policy, redactor) = (FilterPolicy::default(), Redactor::default());
    let classifier = Classifier::default();
    let mut time = Duration::ZERO;
    while let Some(block) = reader.next_block(&mut skimmer).map_err(io::Error::other)? {
        let block = reader.block(block, &mut skimmer);
        let batch = filter(
            parse(agent, &mut parser, block),
            &policy,
            &redactor,
            &mut state,
        );
        let start = Instant::now();
        std::hint::black_box(score(batch, &classifier));
        time += start.elapsed();
    }
    Ok(time)
}
