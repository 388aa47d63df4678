//! One event of a session with its dialect removed: who, when, what.

use super::dialect_state::DialectState;
use super::source::Span;
use super::time::Time;
use super::usage::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use uuid::Uuid;

/// What stays the same from line to line. Shared between neighbours; also the parser's state: a
/// parser that is handed the context of the record at an offset reads on from there as if it had
/// read everything before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Context {
    /// The session id that the record states (Claude `sessionId`, Codex thread or root thread).
    pub session: Option<String>,
    /// `None` for the session's main log; a sub-agent's id for its own (architecture § 6, streams).
    pub stream: Option<String>,
    /// The working directory in force.
    pub cwd: Option<String>,
    /// The git branch in force.
    pub branch: Option<String>,
    /// The agent's version.
    pub version: Option<String>,
    /// The session or thread that the record was first written in, where it says that a fork
    /// copied it.
    pub origin: Option<String>,
    /// What the agent's dialect needs to know besides.
    #[serde(flatten)]
    pub dialect: DialectState,
}

/// How a record is recognised wherever it is copied to (architecture § 6, "Records once").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Identity {
    /// No identity of its own: (file, offset) is all there is.
    #[default]
    None,
    /// An id that the agent wrote.
    Own(Uuid),
    /// The same of a part of a record: agents write a record again when it has a part more.
    Part(Uuid),
    /// A hash of (origin thread, kind, payload): equal payloads are told apart by counting
    /// them within the file.
    Nth(Uuid),
}

/// One event. A line with several content blocks gives several entries at the same place.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The line.
    pub place: Span,
    /// Which entry of its line this is, from 0.
    pub nth: u16,
    /// Of the record, not of the entry.
    pub id: Identity,
    /// Absent on bookkeeping lines and in bare Codex files.
    pub time: Option<Time>,
    /// Session, stream, directory, branch.
    pub context: Arc<Context>,
    /// On entries of an assistant: the message that its lines belong to.
    pub message: Option<Message>,
    /// What happened.
    pub what: EntryKind,
}

/// One assistant message, told over several lines (formats § 3).
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Hash of (message id, request id); lines of a message share it.
    pub group: u64,
    /// The model, absent for `<synthetic>` text.
    pub model: Option<Arc<str>>,
    /// As this line states it. A message's usage is the maximum over its lines, never the sum.
    pub usage: Option<Usage>,
    /// The request is so long that its model's maker has other prices for it.
    pub long: bool,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "every third entry is a result; a box for each costs more than the room"
)]
pub enum EntryKind {
    /// A person's words.
    Prompt {
        /// Without wrappers and injected text.
        text: String,
        /// How they reached the log.
        via: PromptOrigin,
    },
    /// The agent's queue of prompts typed while it works (formats § 4.3).
    Queue(Queue),
    /// The agent's words.
    Said(String),
    /// A tool is called.
    Call(Call),
    /// A tool answered.
    Result(ToolResult),
    /// The agent's own error text (API errors, limits), not a tool's.
    Failure(String),
    /// Something about the session rather than in it.
    Fact(Fact),
    /// Understood and not kept; the word is the ledger's reason (`progress`, `thinking`, …).
    /// Thinking still counts its message.
    Noise(Cow<'static, str>),
    /// A kind of record that this version doesn't know.
    Unknown(UnknownRecord),
    /// A record that is stored elsewhere: nothing of it is told, but what is may answer it.
    Copied(Copied),
}

impl EntryKind {
    /// A record of a kind that is not known, by its name.
    pub fn unknown(name: impl Into<String>) -> Self {
        EntryKind::Unknown(UnknownRecord {
            name: name.into(),
            words: 0,
        })
    }
}

/// A record that is not understood.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownRecord {
    /// Its kind, or `kind.field: type`.
    pub name: String,
    /// Words that it holds, which nobody will find: what somebody said may be among them.
    pub words: u64,
}

/// What a copied record was, as far as others are linked to it.
#[derive(Clone, Debug, PartialEq)]
pub enum Copied {
    /// A call. Its result may be this log's own.
    Call(Call),
    /// The answer to the call with this id.
    Result(String),
    /// A prompt: what is answered after it is answered late.
    Prompt,
}

impl EntryKind {
    /// A person's words; `None` for everything else, a task from agent to agent included.
    pub fn persons_words(&mut self) -> Option<&mut String> {
        match self {
            EntryKind::Prompt { text, via } if *via != PromptOrigin::Agent => Some(text),
            EntryKind::Queue(Queue::Enqueue(text) | Queue::RemoveText(text)) => Some(text),
            _ => None,
        }
    }
}

/// How a person's words reached the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptOrigin {
    /// A user record.
    Typed,
    /// A `queued_command` attachment: delivered while the agent worked.
    Queued,
    /// The first record of a sub-agent: its parent agent's words, not a person's.
    Agent,
}

/// `queue-operation` records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Queue {
    /// A prompt joins the queue.
    Enqueue(String),
    /// The oldest becomes a user record.
    Dequeue,
    /// The oldest is delivered mid-turn, or dropped.
    Remove,
    /// The one with this text is delivered mid-turn, or dropped (newest versions name it).
    RemoveText(String),
    /// All return to the input line.
    PopAll,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Links the result (`toolu_…`, `call_…`).
    pub id: String,
    /// As the model wrote it.
    pub tool: String,
    /// Its parameters as JSON; a Codex free-text input is `{"input": text}`.
    pub input: Value,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It worked.
    #[default]
    Ok,
    /// The tool said that it failed (`is_error`, exit code ≠ 0).
    Failed,
    /// A person refused it; not an error.
    Refused,
    /// A rule, a hook or the agent's own guard denied it ([`ResultFacts::denied`]); nobody refused it, and
    /// it is no error.
    Denied,
    /// Interrupted, or cancelled with a sibling.
    Interrupted,
    /// Still running in the background; a later result may follow.
    Running,
}

/// Who kept a call from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denial {
    /// A person said no.
    Person,
    /// A person stopped the agent, or it was cancelled with a sibling.
    Interrupted,
    /// The agent's settings forbid it.
    Rule,
    /// The agent's own judge of what is safe said no.
    AutoMode,
    /// A hook said no.
    Hook,
    /// The log doesn't say it in words known here.
    Other,
}

impl Denial {
    /// How a call that it kept from running ended.
    pub fn status(self) -> CallStatus {
        match self {
            Denial::Person => CallStatus::Refused,
            Denial::Interrupted => CallStatus::Interrupted,
            Denial::Rule | Denial::AutoMode | Denial::Hook | Denial::Other => CallStatus::Denied,
        }
    }
}

/// A tool's answer, condensed while parsing: outputs are measured, not copied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// The [`Call::id`] that it answers.
    pub call: String,
    /// How it ended.
    pub status: CallStatus,
    /// Where one is stated.
    pub exit_code: Option<i32>,
    /// Its text.
    pub output: Excerpt,
    /// What the structured copy of the result says (formats § 4.2).
    pub facts: ResultFacts,
}

/// A long text, measured, with both ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The first [`EXCERPT_HEAD`] bytes, or all of it.
    pub head: String,
    /// The last [`EXCERPT_TAIL`] bytes; empty when `head` is all of it.
    pub tail: String,
    /// Of the whole text, UTF-8.
    pub bytes: u64,
    /// Newlines + 1; 0 for an empty text. A newline at the end doesn't open a line.
    pub lines: u64,
}

/// Larger: more of each output is decoded; smaller: error messages and file lists are cut.
pub const EXCERPT_HEAD: usize = 4 * 1024;
/// Larger: slower; smaller: the totals that test runners print last are missed.
pub const EXCERPT_TAIL: usize = 12 * 1024;

impl Excerpt {
    /// Measures and cuts `text` at character boundaries.
    pub fn of<'a>(text: impl Into<Cow<'a, str>>) -> Excerpt {
        let text = text.into();
        let bytes = text.len() as u64;
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        let lines = match text.is_empty() {
            true => 0,
            false => newlines + u64::from(!text.ends_with('\n')),
        };
        if text.len() <= EXCERPT_HEAD + EXCERPT_TAIL {
            return Excerpt {
                head: text.into_owned(),
                tail: String::new(),
                bytes,
                lines,
            };
        }
        let head = text.floor_char_boundary(EXCERPT_HEAD);
        let tail = text.ceil_char_boundary(text.len() - EXCERPT_TAIL);
        Excerpt {
            head: text[..head].to_owned(),
            tail: text[tail..].to_owned(),
            bytes,
            lines,
        }
    }

    /// Nothing is missing between `head` and `tail`.
    pub fn is_whole(&self) -> bool {
        self.tail.is_empty()
    }
}

/// What a result states in its structured copy; every field is absent where the log has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultFacts {
    /// Read: lines shown; Grep in content mode: lines.
    pub lines: Option<u64>,
    /// Read: lines of the whole file.
    pub total_lines: Option<u64>,
    /// Grep, Glob: files.
    pub files: Option<u64>,
    /// Grep: matches.
    pub matches: Option<u64>,
    /// Edit, Write, apply_patch: lines added.
    pub added: Option<u64>,
    /// Edit, Write, apply_patch: lines removed.
    pub removed: Option<u64>,
    /// Write: the file is new.
    pub created: Option<bool>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Task/Agent: the sub-agent's id.
    pub agent: Option<String>,
    /// Task/Agent: calls made by the sub-agent.
    pub tool_uses: Option<u64>,
    /// Task/Agent: tokens used by the sub-agent.
    pub tokens: Option<u64>,
    /// AskUserQuestion: (question, answer).
    pub answers: Vec<(String, String)>,
    /// Files that a patch changed: (path, added lines, removed lines).
    pub patched: Vec<(String, u64, u64)>,
    /// Tasks that this result marks as completed.
    pub completed: Vec<String>,
    /// Read: `image`, `pdf`, `notebook`; WebFetch: the HTTP status as text.
    pub kind: Option<String>,
    /// Pictures among the content blocks.
    pub images: u64,
    /// Who kept it from running.
    pub denied: Option<Denial>,
    /// The output in a few words, where the dialect knows more of it than its text shows: whether
    /// it was a list, a number or nothing. Told of tools that nobody knows.
    pub summary: Option<String>,
}

/// Something about the session. Where several are stated the last one counts, unless noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A title; `custom` beats `ai`.
    Title {
        /// One line.
        text: String,
        /// Typed by a person.
        custom: bool,
    },
    /// A title for the session that owns the record `leaf`, which may be another one.
    Summary {
        /// The text.
        text: String,
        /// A record's uuid.
        leaf: Option<Uuid>,
    },
    /// All are kept.
    PullRequest(String),
    /// The history was compacted here.
    Compaction,
    /// Something stopped the model for a while: its API, its safeguards. In a sentence or two.
    Stopped(String),
    /// A person interrupted the agent.
    Interrupted,
    /// The last turns were taken back; they stay in the file.
    RolledBack {
        /// How many.
        turns: u32,
    },
    /// The session that this one was forked from.
    ForkedFrom(String),
    /// The thread that spawned this one.
    Parent(String),
    /// How the text begins that the agent put in place of a slash command, with what a person typed behind that.
    Expanded(String),
    /// A turn ended; so many milliseconds the agent worked in it without waiting for somebody, where that is stated.
    TurnEnd(Option<u64>),
    /// Context only: the working directory, branch, version or model changed.
    Context,
}
