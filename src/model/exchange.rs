//! What `filter` keeps: a human's prompt and everything until the next one, as lines of text.

use super::activity::ActivityTally;
use super::entry::{CallStatus, Context};
use super::finding::Finding;
use super::resume_state::FilterResumeState;
use super::source::Span;
use super::spending::Spending;
use super::time::Time;
use super::usage::Usage;
use super::work_time::WorkTime;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// An exchange, or a piece of one: a batch may end inside an exchange, and the next batch's first
/// piece of that stream then goes on with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// `None`: the session's main log.
    pub stream: Option<String>,
    /// The first item is a prompt that opens an exchange. `false`: continues the one before, or
    /// stands at the start of a log that opens without a prompt.
    pub opens: bool,
    /// In record order; never empty.
    pub items: Vec<Item>,
}

/// One kept record, as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its line.
    pub place: Span,
    /// Which item of its line this is, from 0.
    pub nth: u16,
    /// The record's id: Claude `uuid`, Codex UUIDv5, else UUIDv5 of (session, stream, offset).
    pub id: Uuid,
    /// The record's time, or that of the last one before it which had one.
    pub time: Option<Time>,
    /// What it is.
    pub kind: ItemKind,
    /// As it stands in the body: `User: …`, `User (while working): …`, `Task: …` (what a sub-agent
    /// was told), `Agent: …`, `Action: …`, `Error: …`, `Note: …`; no newline at the end.
    pub text: String,
    /// On digests.
    pub tool: Option<ToolUse>,
    /// What it says about the kind of work; empty before `score`.
    pub activity: ActivityTally,
    /// Assistant messages that were first seen since the item before (silent ones included).
    pub messages: u32,
    /// Tokens billed since the item before.
    pub usage: Usage,
    /// The same by model and time.
    pub spending: Spending,
    /// How long the agent worked since the item before.
    pub work: WorkTime,
    /// The latest time among earlier prompts, assistant and result entries of the stream; what
    /// the gap before a prompt is measured from (architecture § 6).
    pub quiet_since: Option<Time>,
    /// Where reading can start again with this item first.
    pub resume: Resume,
}

/// What stands for words that the policy leaves out.
pub const LEFT_OUT: &str = "(left out)";

/// How the note of what a slash command stands for begins.
pub const EXPANDED: &str = "the command stands for: ";

/// How the note of what stopped the model for a while begins.
pub const STOPPED: &str = "the model was stopped: ";

/// What the note of an interruption says.
pub const INTERRUPTED: &str = "interrupted by the user";

/// `/clear`, `/model`: says nothing of what the session is about, so a later prompt names it.
pub fn is_bare_command(title: &str) -> bool {
    title.is_empty()
        || title
            .strip_prefix('/')
            .is_some_and(|name| !name.contains([' ', '/']))
}

/// A first line that says nothing of what a session is about, as a bare command does: a number that picks something, a
/// shell's prompt with what was typed there, a command for the shell (`!git switch main`).
pub fn is_idle_title(title: &str) -> bool {
    let is_said = title.contains(char::is_alphabetic) && !title.starts_with(['➜', '❯', '!']);
    // `q` leaves a menu
    let is_key = title.len() == 1;
    is_bare_command(title) || is_key || !is_said
}

impl Item {
    /// Who speaks, as it stands before the first `: ` of the text: `User`, `Agent`, `Action`, …;
    /// empty on markers, which have none.
    pub fn label(&self) -> &str {
        label_of(&self.text)
    }

    /// The text without its label.
    pub fn words(&self) -> &str {
        words_of(&self.text)
    }
}

/// [`Item::label`] of an item's text.
fn label_of(text: &str) -> &str {
    // looked for where it may be only: texts are long, and this is asked of each of them often
    let head = text.as_bytes();
    let head = &head[..head.len().min(LABEL_BYTES_MAX + 2)];
    let mut colons = memchr::memchr_iter(b':', head);
    colons
        .find(|at| head.get(at + 1) == Some(&b' '))
        .map_or("", |at| &text[..at])
}

/// [`Item::words`] of an item's text.
pub fn words_of(text: &str) -> &str {
    match label_of(text) {
        "" => text,
        label => &text[label.len() + 2..],
    }
}

/// Longer than every label (`User (while working)`), shorter than most sentences.
const LABEL_BYTES_MAX: usize = 24;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// A person's prompt that opens an exchange, or the prompt that opens a sub-agent's log.
    Prompt,
    /// A person's words while the agent worked; they open no exchange.
    Aside,
    /// The agent's words.
    Agent,
    /// A tool call and its result.
    Digest,
    /// The agent's own error.
    Error,
    /// A line about the session (`Note: history compacted`).
    Note,
}

/// What is known of a call besides its digest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolUse {
    /// The tool's name as the model wrote it.
    pub name: String,
    /// On calls of shells: what its command is counted as (`rules::commands`); else empty.
    pub command: String,
    /// How it ended.
    pub status: CallStatus,
    /// UTF-8 bytes of the output that the digest stands for.
    pub output_bytes: u64,
    /// Paths that its parameters name: read, edited or written, as written in the log.
    pub files: Vec<String>,
    /// Those of them that it changed.
    pub modified: Vec<String>,
    /// Tasks that it marked as completed.
    pub completed: Vec<String>,
    /// What it came to.
    pub findings: Vec<Finding>,
}

/// The state before an item: handing it back to `parse` and `filter` at `Item::place` gives the
/// same items again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resume {
    /// The parser's.
    pub context: Arc<Context>,
    /// The filter's, of this stream, before the item's *record*.
    pub filter: Arc<FilterResumeState>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_command_names_nothing() {
        for (title, bare) in [
            ("/clear", true),
            ("", true),
            ("/review the api", false),
            ("/etc/hosts is wrong", false),
        ] {
            assert_eq!(is_bare_command(title), bare, "{title}");
        }
        assert!(is_idle_title("!git switch main"));
        assert!(!is_idle_title("switch to main"));
    }
}
