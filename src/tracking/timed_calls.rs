//! When the calls of a session ran: from the line that asks for one to the line that answers it. Stored
//! items have line numbers and no times, so the times are read again from the log.

use super::line_times::time_of;
use crate::host::read;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::item::apart;
use crate::model::time::Time;
use crate::rules::tools::{AnswerKind, tool};
use crate::store::Found;
use std::path::Path;

/// A call with the time that it took.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimedCall {
    /// When it was asked for.
    pub(super) began: Time,
    /// When its answer was there.
    pub(super) ended: Time,
    /// `Bash(git status) → …`.
    pub(super) text: String,
    /// What it came to.
    pub(super) findings: Vec<Finding>,
}

/// A log's part that is read for its times. Longer: nobody knows when its calls were.
const PART_BYTES_MAX: u64 = 64 << 20;
/// Reflogs and file systems of old count whole seconds.
const SECOND_MS: i64 = 1_000;
/// An edit is answered within so long.
const ANSWER_MS: i64 = 3_000;

impl TimedCall {
    /// It runs commands.
    pub(super) fn is_shell(&self) -> bool {
        let end = self.text.find(['(', ' ']).unwrap_or(self.text.len());
        tool(&self.text[..end]).answer == AnswerKind::Shell
    }

    /// It was under way.
    pub(super) fn runs_at(&self, at: Time) -> bool {
        self.began.0 <= at.0 + SECOND_MS && at.0 <= self.ended.0 + SECOND_MS
    }

    /// It goes on after its answer.
    pub(super) fn stays(&self) -> bool {
        self.is_shell() && self.text.ends_with("→ running in the background")
    }

    /// It was answered right after that, as an edit is.
    pub(super) fn is_answered_at(&self, at: Time) -> bool {
        self.ended.0 - ANSWER_MS <= at.0 && at.0 <= self.ended.0 + SECOND_MS
    }
}

/// The calls of a chunk in the order of their answers; `None`: its log can't be read any more.
pub(super) fn timed_calls(found: &Found) -> Option<Vec<TimedCall>> {
    let episode = &found.episode;
    let bytes = episode.bytes;
    if bytes.to.saturating_sub(bytes.from) > PART_BYTES_MAX {
        return None;
    }
    let part = read::part(Path::new(&found.path), bytes.from, bytes.to).ok()?;
    let lines: Vec<&[u8]> = part.split(|byte| *byte == b'\n').collect();
    let marks = &episode.outline;
    let texts = apart(&episode.text, marks)?;
    let mut calls = Vec::new();
    for (mark, text) in marks.iter().zip(texts) {
        let Some(text) = text.strip_prefix("Action: ") else {
            continue;
        };
        if mark.kind != ItemKind::Digest {
            continue;
        }
        let nth = usize::try_from(mark.line.checked_sub(episode.lines.0)?).ok()?;
        let ended = time_of(lines.get(nth)?)?;
        calls.push(TimedCall {
            began: asked(&lines, nth).unwrap_or(ended),
            ended,
            text: text.to_owned(),
            findings: mark.findings.clone(),
        });
    }
    Some(calls)
}

/// When the call was asked for that this line answers: the first line that has its id. Of a line that
/// answers several, the first one counts.
fn asked(lines: &[&[u8]], answer: usize) -> Option<Time> {
    const KEYS: [&[u8]; 2] = [b"\"tool_use_id\"", b"\"call_id\""];
    let line = lines[answer];
    let mut ids = KEYS.iter().filter_map(|key| {
        let from = memchr::memmem::find(line, key)? + key.len();
        let value = line[from..].trim_ascii_start().strip_prefix(b":")?;
        let value = value.trim_ascii_start().strip_prefix(b"\"")?;
        Some(&value[..memchr::memchr(b'"', value)?])
    });
    let id = ids.find(|id| !id.is_empty())?;
    let names = memchr::memmem::Finder::new(id);
    let mut asks = lines[..answer]
        .iter()
        .rev()
        .take(LINES_BACK)
        .filter(|line| names.find(line).is_some());
    asks.next_back().and_then(|line| time_of(line))
}

/// Lines between a call and its answer at most: parallel calls, a sub-agent's messages.
const LINES_BACK: usize = 200;
