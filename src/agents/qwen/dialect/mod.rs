//! Qwen Code's chats: one record a line, in an envelope like Claude Code's, with Google's content parts in it
//! (formats § 11).

mod record;
mod speech;
mod system;

use crate::agents::prompts::Prompts;
use crate::json::cursor;
use crate::json::fields::{self, Object};
use crate::model::entry::{Context, Entry, EntryKind};
use crate::model::source::Span;
use crate::rules::fields::KnownFields;
use crate::rules::table;
use crate::stages::parse::dialect::stem;
use crate::stages::parse::{Dialect, LogName, ParseState};
use record::Record;
use std::borrow::Cow;
use std::sync::LazyLock;
use uuid::Uuid;

static FIELDS: LazyLock<KnownFields> =
    LazyLock::new(|| KnownFields::of(table::embedded!(in "agents", "qwen/fields")));

/// Qwen Code's dialect.
pub struct QwenDialect;

#[cfg(test)]
pub(crate) fn fields() -> &'static KnownFields {
    &FIELDS
}

impl Dialect for QwenDialect {
    /// `<session>.jsonl`, and `agent-<id>.jsonl` of sub-agents.
    fn is_log(&self, stem: &[u8]) -> bool {
        stem.starts_with(b"agent-") || Uuid::try_parse_ascii(stem).is_ok()
    }

    /// `chats/<session>.jsonl`, or `subagents/<session>/agent-<id>.jsonl`.
    fn name(&self, key: &str) -> LogName {
        let stem = stem(key);
        match stem.strip_prefix("agent-") {
            Some(stream) => LogName {
                fallback_session: parent(key).map(str::to_owned),
                stream: Some(stream.to_owned()),
                ..LogName::default()
            },
            None => LogName {
                session: Some(stem.to_owned()),
                ..LogName::default()
            },
        }
    }

    fn has_record_ids(&self) -> bool {
        true
    }

    fn resume(&self, context: &mut Context) {
        context.dialect.restore::<Prompts>();
    }

    /// A sub-agent's log is of the session whose directory it is in.
    fn family<'k>(&self, key: &'k str) -> &'k str {
        match stem(key).starts_with("agent-") {
            true => parent(key).unwrap_or(key),
            false => stem(key),
        }
    }

    fn value(
        &self,
        state: &mut ParseState,
        place: Span,
        bytes: &[u8],
        out: &mut Vec<Entry>,
    ) -> Result<usize, Cow<'static, str>> {
        let text = cursor::value_text(bytes)?;
        let Object {
            fields: line,
            inside: message,
            end,
        } = fields::nested(text, "message")?;
        let before = out.len();
        let mut record = Record::new(&line, &text[..end], state, place, out);
        match line.text("type").as_deref() {
            Some("user") => record.user(&line, message.as_ref()),
            Some("assistant") => record.assistant(&line, message.as_ref()),
            Some("tool_result") => record.tool_result(&line, message.as_ref()),
            Some("system") => record.system(&line),
            Some(kind) => {
                let kind: String = kind.chars().take(40).collect();
                record.push(EntryKind::unknown(kind));
            }
            None => record.push(EntryKind::unknown("no type")),
        }
        record.drifted(&FIELDS, "*", &line);
        if let Some(message) = &message {
            record.drifted(&FIELDS, "message", message);
        }
        if out.len() == before {
            Record::new(&line, &text[..end], state, place, out).noise("empty");
        }
        Ok(end)
    }
}

fn parent(key: &str) -> Option<&str> {
    key.rsplit('/').nth(1)
}
