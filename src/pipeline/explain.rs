//! What one line of a log is: read again, told in words, never quoted.

use crate::model::checkpoint::short_id;
use crate::model::entry::{Entry, EntryKind, Fact, Queue};
use crate::model::ledger::Fate;
use crate::model::source::SourceFile;
use crate::pipeline::parsed_log::ParsedLog;
use crate::pipeline::steps::ingest::account::fate;
use crate::pipeline::steps::ingest::ids::{Ids, RecordOrigin};
use anyhow::{Result, bail};
use std::ops::ControlFlow;

/// A line in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineAccount {
    /// Without its newline.
    pub bytes: u64,
    /// The first byte after it.
    pub end: u64,
    /// What each of its records is, in order.
    pub records: Vec<String>,
    /// Its strongest fate, as far as this log alone tells.
    pub fate: Option<Fate>,
    /// It says something about the session, and nothing that an episode holds.
    pub about_session: bool,
    /// Short ids of its records.
    pub ids: Vec<u64>,
}

/// Reads a log from its start up to line `number` (1-based): what a line means can depend on the
/// lines before it. Costs as much as parsing that far.
///
/// # Errors
/// When the file can't be read, or has no such line.
pub fn explain(file: &SourceFile, number: u64) -> Result<LineAccount> {
    let (mut line, mut ids) = (LineAccount::default(), Ids::default());
    ParsedLog::open(file)?.for_each_batch(|log, batch| {
        for entry in &batch.items {
            let record = ids.meet(entry);
            if entry.place.line == number {
                line.learn(entry, record);
            }
        }
        let rejects = batch
            .rejects
            .iter()
            .filter(|reject| reject.place.line == number);
        for reject in rejects {
            (line.bytes, line.end) = (reject.place.bytes, reject.place.end());
            line.records.push(format!("rejected: {}", reject.reason));
            line.fate = line.fate.max(Some(Fate::Rejected));
        }
        Ok(match log.reader().position().1 >= number {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    if line.records.is_empty() {
        bail!("{}: there is no record on line {number}", file.key);
    }
    Ok(line)
}

impl LineAccount {
    fn learn(&mut self, entry: &Entry, record: RecordOrigin) {
        (self.bytes, self.end) = (entry.place.bytes, entry.place.end());
        self.records.push(word(&entry.what));
        self.ids.extend(record.id.map(short_id));
        let fate = match record.copied {
            true => Fate::Copied,
            false => fate(&entry.what).0,
        };
        if self.fate < Some(fate) {
            self.fate = Some(fate);
            self.about_session = matches!(entry.what, EntryKind::Fact(_));
        }
    }
}

/// Why a line is, or is not, in an episode.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No run has read it yet.
    Unread,
    /// It is in an episode.
    Within,
    /// An earlier line of the log has its record.
    Repeated,
    /// Other logs have its record.
    Copied(Vec<String>),
    /// The session has it, in its title, links or counts.
    AboutSession,
    /// It is no record that could be kept.
    Fate(Fate),
    /// Its session stays out.
    Forgotten,
    /// It could be kept.
    LeftOut,
}

impl Verdict {
    /// Of a line that was read and is in no episode; `holders`: other logs that have its record.
    pub fn of(line: &LineAccount, holders: Vec<String>) -> Verdict {
        match line.fate {
            Some(Fate::Copied) => Verdict::Repeated,
            Some(Fate::Kept) if line.about_session => Verdict::AboutSession,
            Some(Fate::Kept) if holders.is_empty() => Verdict::LeftOut,
            Some(Fate::Kept) | None => Verdict::Copied(holders),
            Some(fate) => Verdict::Fate(fate),
        }
    }

    /// What is said of it; `None`: it is where it belongs.
    pub fn text(&self) -> Option<String> {
        Some(match self {
            Verdict::Unread => "not read yet: sessionmill run".into(),
            Verdict::Within => return None,
            Verdict::Repeated => "in no episode: a copy of an earlier line".into(),
            Verdict::Copied(logs) => format!("in no episode: copied, {} has it", logs.join(", ")),
            Verdict::AboutSession => "in no episode: stored with the session".into(),
            Verdict::Fate(fate) => format!("in no episode: {}", fate.as_str()),
            Verdict::Forgotten => "in no episode: its session was forgotten".into(),
            Verdict::LeftOut => {
                "in no episode: the settings leave it out, or it was forgotten".into()
            }
        })
    }
}

fn word(what: &EntryKind) -> String {
    match what {
        EntryKind::Prompt { via, .. } => format!("prompt ({via:?})").to_lowercase(),
        EntryKind::Queue(queue) => format!("queue: {}", queue_word(queue)),
        EntryKind::Said(_) => "the agent's words".into(),
        EntryKind::Call(call) => format!("call of {}", call.tool),
        EntryKind::Result(result) => {
            format!("result of a call ({:?})", result.status).to_lowercase()
        }
        EntryKind::Failure(_) => "the agent's own error".into(),
        EntryKind::Fact(fact) => format!("about the session: {}", fact_word(fact)),
        EntryKind::Noise(reason) => format!("filtered: {reason}"),
        EntryKind::Unknown(unknown) => format!("unknown: {}", unknown.name),
        EntryKind::Copied(_) => "a copy".into(),
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
        Fact::Stopped(_) => "stopped model",
        Fact::Interrupted => "interruption",
        Fact::RolledBack { .. } => "turns taken back",
        Fact::ForkedFrom(_) => "forked from",
        Fact::Parent(_) => "parent",
        Fact::Expanded(_) => "what a command stands for",
        Fact::TurnEnd(_) => "end of a turn",
        Fact::Context => "context",
    }
}
