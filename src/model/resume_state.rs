//! The folds' state at the start of the open tail, so that a later run reads on from there.
//!
//! Stored as JSON with the checkpoint, in the transaction that stores the episodes before it.

use super::entry::Context;
use super::spending::Spending;
use super::tally::Tally;
use super::time::Time;
use super::usage::Usage;
use super::work_time::{TurnClock, WorkTime};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use uuid::Uuid;

/// Everything that a file's checkpoint carries besides its offset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResumeState {
    /// The parser's, at the checkpoint's offset.
    pub context: Context,
    /// One per stream of the file; a stream that isn't here starts afresh.
    pub streams: Vec<StreamResumeState>,
}

/// Where one stream of a file goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamResumeState {
    /// `None`: the session's main log.
    pub stream: Option<String>,
    /// Records of this stream before this offset are sealed; they are passed over when an older
    /// stream of the same file makes reading start earlier.
    pub from: u64,
    /// Before the record at `from`.
    pub filter: FilterResumeState,
    /// Before the first item of the open tail.
    pub chunk: ChunkResumeState,
    /// After the open tail, where there is one and it is stored.
    pub end: Option<Box<StreamEnd>>,
}

/// Where a stream stood when its log was last read to the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamEnd {
    /// After the last record.
    pub filter: FilterResumeState,
    /// After the last item; the open tail counts as a part.
    pub chunk: ChunkResumeState,
}

impl ResumeState {
    /// The state from which another generation of the log goes on: what is stored stays, and the
    /// records are read from the start of the file.
    pub fn at_the_end(self) -> ResumeState {
        let streams = self.streams.into_iter().map(|stream| {
            let end = stream.end.unwrap_or_else(|| {
                let (filter, mut chunk) = (stream.filter, stream.chunk);
                (chunk.skip_items, chunk.skip_bytes, chunk.first) = (0, 0, None);
                Box::new(StreamEnd { filter, chunk })
            });
            StreamResumeState {
                stream: stream.stream,
                from: 0,
                filter: end.filter,
                chunk: end.chunk,
                end: None,
            }
        });
        ResumeState {
            context: Context::default(),
            streams: streams.collect(),
        }
    }
}

/// What links records of one stream: calls without results, prompts without delivery. Copied for
/// every kept record, so that what can be long is shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FilterResumeState {
    /// Calls that wait for their results, oldest first.
    pub calls: Vec<Arc<PendingCall>>,
    /// Prompts that were enqueued and not delivered yet, oldest first.
    pub queued: Vec<Arc<QueuedPrompt>>,
    /// The last few assistant messages and the usage counted for each so far.
    pub groups: Vec<(u64, Usage)>,
    /// Messages first seen since the last item.
    pub messages: u32,
    /// Tokens billed since the last item.
    pub usage: Usage,
    /// The same by model and time.
    #[serde(skip_serializing_if = "Spending::is_empty")]
    pub spending: Spending,
    /// How long the agent worked since the last item.
    pub work: WorkTime,
    /// Where its time stands.
    #[serde(skip_serializing_if = "TurnClock::is_new")]
    pub clock: TurnClock,
    /// The latest time among prompts, assistant and result entries so far.
    pub latest: Option<Time>,
    /// The last time seen, for entries without one.
    pub last: Option<Time>,
    /// Since the last kept item, the marker for left-out words of the agent was emitted.
    pub marked_agent: bool,
    /// Since the last kept item, the marker for left-out tool calls was emitted.
    pub marked_tools: bool,
}

/// A call that waits for its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingCall {
    /// Links the result.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// Its parameters, long strings cut to what the digest needs.
    pub input: Value,
    /// When it was made.
    pub time: Option<Time>,
    /// A prompt came before its result; a result that still comes is marked late.
    pub given_up: bool,
    /// It is told elsewhere: only its result may be this log's own.
    #[serde(skip_serializing_if = "is_no")]
    pub copied: bool,
}

fn is_no(flag: &bool) -> bool {
    !flag
}

/// A prompt typed while the agent worked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueuedPrompt {
    /// The words.
    pub text: String,
    /// Already emitted as an aside; a `queued_command` with this text is a copy.
    #[serde(rename = "told")]
    pub emitted: bool,
}

/// Where the cutting of one stream stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChunkResumeState {
    /// Sealed parts so far; the open one will be `parts + 1`.
    pub parts: u32,
    /// The stream's first prompt: first line, at most 80 characters.
    pub title: Option<String>,
    /// Prompts + assistant messages up to here.
    pub message_count: u64,
    /// Time of the stream's first item, later by every pause: an episode's minutes count from it.
    pub started: Option<Time>,
    /// Latest time of any item up to here.
    pub ended: Option<Time>,
    /// Hashes of the tasks completed up to here.
    pub completed: BTreeSet<u64>,
    /// Hashes of the paths modified up to here.
    pub modified: BTreeSet<u64>,
    /// The open tail starts inside an exchange that was cut: its next part doesn't open with a prompt.
    pub inside: bool,
    /// Items of the record at the tail's start that belong to sealed parts.
    pub skip_items: u16,
    /// Bytes of the next item's text that belong to sealed parts.
    pub skip_bytes: u64,
    /// The id of the first record of the open tail, once there is one.
    pub first: Option<Uuid>,
    /// What was counted for records that gave no item yet.
    pub tally: Tally,
}

impl ChunkResumeState {
    /// Nobody worked for so long.
    pub fn pause(&mut self, ms: i64) {
        let started = self.started.as_mut();
        started
            .into_iter()
            .for_each(|at| at.0 = at.0.saturating_add(ms));
    }
}
