//! Claude Code's dialect: one JSON object per line, one content block per assistant line.
//!
//! Knows the envelope and who speaks (formats § 2, § 3, § 4).

mod assistant;
mod bookkeeping;
mod drift;
mod expansion;
mod line;
mod message;
mod plain;
mod records;
mod result;
mod structured;
mod user;

use crate::json::cursor::Cursor;
use crate::json::text::{decode, inside};
use crate::model::entry::{Context, Entry, EntryKind, Fact, Identity};
use crate::model::source::Span;
use crate::stages::parse::dialect::stem;
use crate::stages::parse::{Dialect, LogName, ParseState, nameless};
use expansion::SlashCommand;
use line::Line;
use std::borrow::Cow;
use uuid::Uuid;

/// Claude Code's dialect.
pub struct ClaudeDialect;

#[cfg(test)]
pub(crate) fn fields() -> &'static crate::rules::fields::KnownFields {
    &drift::FIELDS
}

impl Dialect for ClaudeDialect {
    /// Every `.jsonl` below the projects but the workflows' journals (formats § 1).
    fn is_log(&self, stem: &[u8]) -> bool {
        stem != b"journal"
    }

    fn has_record_ids(&self) -> bool {
        true
    }

    /// `<session>.jsonl`, or `<session>/subagents/agent-<id>.jsonl`.
    fn name(&self, key: &str) -> LogName {
        let stem = stem(key);
        let stream = stem.strip_prefix("agent-").map(str::to_owned);
        let parent = stream.as_ref().and_then(|_| parent_session(key));
        LogName {
            session: Uuid::try_parse(stem).is_ok().then(|| stem.to_owned()),
            fallback_session: parent.map(str::to_owned),
            is_replay: stem.starts_with("agent-acompact-"),
            stream,
        }
    }

    fn resume(&self, context: &mut Context) {
        context.dialect.restore::<SlashCommand>();
    }

    /// A sub-agent's log is of the session whose directory it is in.
    fn family<'k>(&self, key: &'k str) -> &'k str {
        match key.find("/subagents/") {
            Some(at) => key[..at].rsplit('/').next().unwrap_or(key),
            None => stem(key),
        }
    }

    fn value(
        &self,
        state: &mut ParseState,
        place: Span,
        bytes: &[u8],
        out: &mut Vec<Entry>,
    ) -> Result<usize, Cow<'static, str>> {
        value(state, place, bytes, out)
    }
}

/// The session of `…/<session>/subagents/agent-x.jsonl`.
fn parent_session(key: &str) -> Option<&str> {
    key[..key.find("/subagents/")?].rsplit('/').next()
}

/// The value at the start of `bytes` as entries; gives how many bytes it takes. A complete object
/// always gives entries.
fn value(
    state: &mut ParseState,
    place: Span,
    bytes: &[u8],
    out: &mut Vec<Entry>,
) -> Result<usize, Cow<'static, str>> {
    let mut line = Line::default();
    let mut cursor = Cursor::lenient(bytes);
    cursor.object(&mut line).ok_or("torn json")?;
    let used = cursor.at();
    if line.is_plain() {
        plain::line(state, place, &bytes[..used], out)?;
        return Ok(used);
    }
    let mut record = line.record(state, place);
    // nothing of a replay is kept: with ids its records would own what the session's log has
    if state.file.is_replay {
        record.id = Identity::None;
        record.push(out, EntryKind::Noise("compaction agent".into()));
        return Ok(used);
    }
    let before = out.len();
    let kind = line.kind.and_then(inside).map(decode);
    if let (Identity::None, Some("user" | "assistant" | "queue-operation")) =
        (record.id, kind.as_deref())
    {
        record.id = nameless(&bytes[..used]);
    }
    let drifted = drift::of(kind.as_deref(), &line);
    match kind.as_deref() {
        // named below; kept without its words, it would be an empty turn
        _ if drifted.hides_content => {}
        Some("assistant") => assistant::entries(state, &line, &mut record, out),
        Some("user") => match expansion::expanded(state, &line) {
            Some(text) => record.push(out, EntryKind::Fact(Fact::Expanded(text))),
            None => user::entries(&line, &mut record, out),
        },
        Some("attachment") => user::attachment(&line, &record, out),
        Some("system") => bookkeeping::system(&line, &record, out),
        Some(kind) => bookkeeping::other(kind, &line, &record, out),
        None => record.push(out, EntryKind::unknown("no type")),
    }
    if let Some("user" | "assistant") = kind.as_deref() {
        expansion::remember(state, &line, &out[before..]);
    }
    for name in drifted.names {
        record.push(out, EntryKind::unknown(name));
    }
    if out.len() == before {
        record.push(out, EntryKind::Noise("empty".into()));
    }
    Ok(used)
}
