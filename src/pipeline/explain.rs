//! What one line of a log is: read again, told in words, never quoted.

use super::peek::file_name;
use crate::host::read::{Content, LogReader};
use crate::model::entry::{Fact, Queue, What};
use crate::model::source::SourceFile;
use crate::stages::parse::{ParseState, parse, skim::Skimmer};
use anyhow::{Result, bail};

/// A line in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Without its newline.
    pub bytes: u64,
    /// The first byte after it.
    pub end: u64,
    /// What each of its records is, in order.
    pub records: Vec<String>,
}

/// Reads a log from its start up to line `number` (1-based): what a line means can depend on the
/// lines before it. Costs as much as parsing that far.
///
/// # Errors
/// When the file can't be read, or has no such line.
pub fn explain(file: &SourceFile, number: u64) -> Result<Line> {
    let mut state = ParseState::resume(Default::default(), file_name(&file.key));
    let mut skimmer = Skimmer::default();
    let mut reader = LogReader::open(file, 0, 0, Content::default())?;
    let mut line = Line::default();
    while let Some(block) = reader.next_block(&mut skimmer)? {
        let batch = parse(file.agent, &mut state, reader.block(block, &mut skimmer));
        let entries = batch
            .items
            .iter()
            .filter(|entry| entry.place.line == number);
        for entry in entries {
            (line.bytes, line.end) = (entry.place.bytes, entry.place.end());
            line.records.push(word(&entry.what));
        }
        let rejects = batch
            .rejects
            .iter()
            .filter(|reject| reject.place.line == number);
        for reject in rejects {
            (line.bytes, line.end) = (reject.place.bytes, reject.place.end());
            line.records.push(format!("rejected: {}", reject.reason));
        }
        if reader.position().1 >= number {
            break;
        }
    }
    if line.records.is_empty() {
        bail!("{}: there is no record on line {number}", file.key);
    }
    Ok(line)
}

fn word(what: &What) -> String {
    match what {
        What::Prompt { via, .. } => format!("prompt ({via:?})").to_lowercase(),
        What::Queue(queue) => format!("queue: {}", queue_word(queue)),
        What::Said(_) => "the agent's words".into(),
        What::Call(call) => format!("call of {}", call.tool),
        What::Result(result) => format!("result of a call ({:?})", result.status).to_lowercase(),
        What::Failure(_) => "the agent's own error".into(),
        What::Fact(fact) => format!("about the session: {}", fact_word(fact)),
        What::Noise(reason) => format!("filtered: {reason}"),
        What::Unknown(name) => format!("unknown: {name}"),
    }
}

fn queue_word(queue: &Queue) -> &'static str {
    match queue {
        Queue::Enqueue(_) => "a prompt joins",
        Queue::Dequeue => "the oldest becomes a record",
        Queue::Remove => "the oldest is delivered or dropped",
        Queue::RemoveText(_) => "one is delivered or dropped",
        Queue::PopAll => "all return to the input line",
    }
}

fn fact_word(fact: &Fact) -> &'static str {
    match fact {
        Fact::Title { .. } => "title",
        Fact::Summary { .. } => "summary",
        Fact::PullRequest(_) => "pull request",
        Fact::Compaction => "compaction",
        Fact::Interrupted => "interruption",
        Fact::RolledBack { .. } => "turns taken back",
        Fact::ForkedFrom(_) => "forked from",
        Fact::Parent(_) => "parent",
        Fact::TurnEnd => "end of a turn",
        Fact::Context => "context",
    }
}
