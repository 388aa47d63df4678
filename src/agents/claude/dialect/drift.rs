//! Fields of a line whose type is another than ever before (`fields.yaml`). Knows where this
//! dialect's line keeps them; refuses to read on where nothing could be understood.

use super::line::Line;
use super::message::{Block, Content};
use crate::json::cursor::Raw;
use crate::rules::fields::KnownFields;
use crate::rules::table;
use std::sync::LazyLock;

pub(super) static FIELDS: LazyLock<KnownFields> =
    LazyLock::new(|| KnownFields::of(table::embedded!(in "agents", "claude/fields")));

/// What drifted in one line.
#[derive(Default)]
pub(super) struct Drifted {
    /// `user.message.content: number`; empty in nearly all lines, and then without an allocation.
    pub(super) names: Vec<String>,
    /// What is left says nothing.
    pub(super) hides_content: bool,
}

/// Compares the line's fields with the types that they have had. Some ten look-ups.
pub(super) fn of(kind: Option<&str>, line: &Line<'_>) -> Drifted {
    let mut drifted = Drifted::default();
    let kind = kind.unwrap_or_default();
    for field in FIELDS.of_record("*").iter().chain(FIELDS.of_record(kind)) {
        let raw = line.field(&field.name);
        if let Some(name) = raw.and_then(|raw| field.drift(kind, raw)) {
            drifted.names.push(name);
            drifted.hides_content |= field.hides;
        }
    }
    if let Some(Content::Blocks(blocks)) = line.message.as_ref().map(|m| &m.content) {
        for block in blocks {
            in_block(kind, block, &mut drifted);
        }
    }
    drifted
}

fn in_block(kind: &str, block: &Block<'_>, drifted: &mut Drifted) {
    let record = match block.kind {
        b"text" => "[text]",
        b"tool_use" => "[tool_use]",
        b"tool_result" => "[tool_result]",
        _ => return,
    };
    for field in FIELDS.of_record(record) {
        let raw = match field.name.as_str() {
            "text" => block.text,
            "name" => block.name,
            "input" => block.input,
            "tool_use_id" => block.call,
            "content" => block.content,
            _ => None,
        };
        let record = || format!("{kind}{record}");
        let name = raw.and_then(|raw| field.drift("", raw));
        drifted
            .names
            .extend(name.map(|name| format!("{}.{name}", record())));
    }
}

impl<'a> Line<'a> {
    /// The raw value of a field that the table names.
    fn field(&self, name: &str) -> Option<Raw<'a>> {
        match name {
            "type" => self.kind,
            "timestamp" => self.timestamp,
            "uuid" => self.uuid,
            "sessionId" => self.session,
            "cwd" => self.cwd,
            "version" => self.version,
            "message" => self.odd_message,
            "message.content" => match self.message.as_ref()?.content {
                Content::Text(raw) => Some(raw),
                _ => None,
            },
            "attachment" => self.attachment,
            "subtype" => self.subtype,
            "operation" => self.operation,
            "content" => self.content,
            "summary" => self.summary,
            _ => None,
        }
    }
}
