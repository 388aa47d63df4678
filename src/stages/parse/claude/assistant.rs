//! Assistant lines: one block each, tied to a message by (message id, request id) (FORMATS § 3).

use super::super::ParseState;
use super::super::scan::{self, Raw};
use super::super::text::{inside, number, string, tree};
use super::{Line, Record};
use crate::model::entry::{Call, Entry, Message, What};
use crate::model::tally::Usage;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

pub(super) fn entries(
    state: &mut ParseState,
    line: &Line<'_>,
    record: &mut Record,
    out: &mut Vec<Entry>,
) {
    let Some(message) = line.message else {
        return record.push(out, What::Unknown("assistant without message".into()));
    };
    let (mut id, mut model, mut usage, mut content) = (None, None, None, None);
    scan::object(message, |key, value| match key {
        b"id" => id = inside(value),
        b"model" => model = inside(value),
        b"usage" => usage = Some(tokens(value)),
        b"content" => content = Some(value),
        _ => {}
    });
    let synthetic = model == Some(b"<synthetic>");
    if !synthetic {
        let mut group = Xxh3::new();
        group.update(id.or(line.uuid).unwrap_or_default());
        group.update(line.request.unwrap_or_default());
        let model = model.map(|m| shared_model(state, m));
        record.message = Some(Message {
            group: group.digest(),
            model,
            usage,
        });
    }
    let Some(content) = content else {
        return record.push(out, What::Unknown("assistant without content".into()));
    };
    let said = |text: String| match (line.api_error, synthetic, text.trim().is_empty()) {
        (_, _, true) => What::Noise("empty".into()),
        (true, ..) => What::Failure(text),
        (false, true, _) => What::Noise("synthetic".into()),
        _ => What::Said(text),
    };
    if let Some(text) = string(content) {
        return record.push(out, said(text));
    }
    scan::array(content, |block| record.push(out, self::block(block, said)));
}

/// One content block.
fn block(raw: Raw<'_>, said: impl Fn(String) -> What) -> What {
    let mut block = Block::default();
    scan::object(raw, |key, value| match key {
        b"type" => block.kind = inside(value).unwrap_or_default(),
        b"text" => block.text = Some(value),
        b"id" => block.id = Some(value),
        b"name" => block.name = Some(value),
        b"input" => block.input = Some(value),
        _ => {}
    });
    match block.kind {
        b"text" => said(block.text.and_then(string).unwrap_or_default()),
        b"thinking" | b"redacted_thinking" => What::Noise("thinking".into()),
        b"tool_use" | b"server_tool_use" | b"mcp_tool_use" => What::Call(Call {
            id: block.id.and_then(string).unwrap_or_default(),
            tool: block.name.and_then(string).unwrap_or_default(),
            input: block.input.map_or(Value::Null, tree),
        }),
        b"fallback" => What::Noise("fallback".into()),
        other => {
            let name = String::from_utf8_lossy(&other[..other.len().min(40)]);
            What::Unknown(format!("assistant/{name}"))
        }
    }
}

#[derive(Default)]
struct Block<'a> {
    kind: &'a [u8],
    text: Option<Raw<'a>>,
    id: Option<Raw<'a>>,
    name: Option<Raw<'a>>,
    input: Option<Raw<'a>>,
}

fn tokens(raw: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    scan::object(raw, |key, value| {
        let slot = match key {
            b"input_tokens" => &mut usage.input,
            b"output_tokens" => &mut usage.output,
            b"cache_read_input_tokens" => &mut usage.cache_read,
            b"cache_creation_input_tokens" => &mut usage.cache_write,
            _ => return,
        };
        *slot = number(value).unwrap_or(0);
    });
    usage
}

fn shared_model(state: &mut ParseState, name: &[u8]) -> Arc<str> {
    let name: Cow<'_, str> = String::from_utf8_lossy(name);
    match &state.model {
        Some(model) if **model == *name => model.clone(),
        _ => {
            let model: Arc<str> = Arc::from(&*name);
            state.model = Some(model.clone());
            model
        }
    }
}
