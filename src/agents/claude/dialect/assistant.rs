//! Assistant lines: one block each, tied to a message by (message id, request id) (formats § 3).

use super::line::{Line, Record};
use super::message::{Block, Content};
use crate::json::cursor::Raw;
use crate::json::text::{is_name, string, tree};
use crate::model::entry::{Call, Entry, EntryKind, Message};
use crate::stages::parse::ParseState;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Tokens of input, cached ones included, above which a request is a long one.
const LONG_FROM: u64 = 200_000;

pub(super) fn entries(
    state: &mut ParseState,
    line: &Line<'_>,
    record: &mut Record,
    out: &mut Vec<Entry>,
) {
    let Some(parts) = &line.message else {
        return record.push(out, EntryKind::unknown("assistant without message"));
    };
    let (id, model, usage) = (parts.id, parts.model, parts.usage);
    let synthetic = model == Some(b"<synthetic>");
    if !synthetic {
        let mut group = Xxh3::new();
        group.update(id.or(line.uuid).unwrap_or_default());
        group.update(line.request.unwrap_or_default());
        let model = model.and_then(|m| shared_model(state, m));
        record.message = Some(Message {
            group: group.digest(),
            model,
            usage,
            long: usage.is_some_and(|usage| usage.total() - usage.output > LONG_FROM),
        });
    }
    let said = |text: String| match (line.api_error, synthetic, text.trim().is_empty()) {
        (_, _, true) => EntryKind::Noise("empty".into()),
        (true, ..) => EntryKind::Failure(text),
        (false, true, _) => EntryKind::Noise("synthetic".into()),
        _ => EntryKind::Said(text),
    };
    match &parts.content {
        Content::Absent => record.push(out, EntryKind::unknown("assistant without content")),
        Content::Text(text) => record.push(out, said(string(text).unwrap_or_default())),
        Content::Blocks(blocks) => blocks.iter().for_each(|block| {
            if let Some(report) = reported(block) {
                record.push(out, said(report));
            }
            record.push(out, self::block(block, said));
        }),
    }
}

/// One content block.
fn block(block: &Block<'_>, said: impl Fn(String) -> EntryKind) -> EntryKind {
    match block.kind {
        b"text" => said(block.text.and_then(string).unwrap_or_default()),
        b"thinking" | b"redacted_thinking" => EntryKind::Noise("thinking".into()),
        b"tool_use" | b"server_tool_use" | b"mcp_tool_use" => EntryKind::Call(Call {
            id: name(block.id),
            tool: name(block.name),
            input: block.input.map_or(Value::Null, tree),
        }),
        b"fallback" => EntryKind::Noise("fallback".into()),
        other => {
            let name = String::from_utf8_lossy(&other[..other.len().min(40)]);
            EntryKind::unknown(format!("assistant/{name}"))
        }
    }
}

/// What a member of a team tells its lead in a message, where that is more than a line: nobody else reads its words, so
/// that is its report. What a lead tells its members are tasks.
fn reported(block: &Block<'_>) -> Option<String> {
    const REPORT_BYTES_MIN: usize = 160;
    if block.kind != b"tool_use" || name(block.name) != "SendMessage" {
        return None;
    }
    let input = block.input.map(tree)?;
    let text = |keys: [&str; 2]| keys.iter().find_map(|key| input[*key].as_str());
    let is_lead = text(["recipient", "to"]).is_some_and(|to| to == "team-lead");
    let said = text(["content", "message"]).filter(|said| said.len() >= REPORT_BYTES_MIN);
    said.filter(|_| is_lead).map(str::to_owned)
}

/// Empty where it can't be one.
fn name(raw: Option<Raw<'_>>) -> String {
    let text = raw.and_then(string).filter(|text| is_name(text));
    text.unwrap_or_default()
}

fn shared_model(state: &mut ParseState, name: &[u8]) -> Option<Arc<str>> {
    let name: Cow<'_, str> = String::from_utf8_lossy(name);
    if state.model.as_deref() != Some(&*name) {
        state.model = is_name(&name).then(|| Arc::from(&*name));
    }
    state.model.clone()
}
