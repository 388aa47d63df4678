//! Tool results: the block that the model saw, enriched by the structured copy beside it
//! (formats § 4.1, § 4.2). Outputs are measured, not copied.

use super::line::{Line, decode_raw};
use super::message::Block;
use crate::json::cursor::{self, Raw};
use crate::json::text::{decode, excerpt, inside, is_name};
use crate::model::entry::{CallStatus, Denial, ToolResult};
use crate::rules::denials;

/// One `tool_result` block with what the line's `toolUseResult` says of it.
///
/// A form's answers go to the `first` result of the line: there is one.
pub(super) fn read(block: &Block<'_>, line: &Line<'_>, first: bool) -> ToolResult {
    let structured = &line.structured;
    let call = block.call.map(decode_raw);
    let mut result = ToolResult {
        call: call
            .filter(|id| is_name(id))
            .unwrap_or_default()
            .into_owned(),
        facts: structured.facts.clone(),
        ..ToolResult::default()
    };
    if first {
        result.facts.answers.clone_from(&structured.answers);
    }
    match (block.content, block.content.and_then(inside)) {
        (_, Some(text)) => result.output = excerpt(text),
        (Some(blocks), None) => {
            let (text, pictures) = content_text(blocks);
            result.output = excerpt(&text);
            result.facts.images = pictures;
        }
        (None, None) => {}
    }
    let stated = structured.exit_code;
    result.exit_code = stated.or_else(|| exit_code(&result.output.head, block.failed));
    // `is_error` covers refusals and cancelled siblings too
    let denied = || {
        let kind = line.denial.and_then(inside).map(decode);
        denials::of(kind.as_deref(), &result.output.head)
    };
    result.facts.denied = block.failed.then(denied).flatten();
    result.status = match block.failed {
        true => result
            .facts
            .denied
            .map_or(CallStatus::Failed, Denial::status),
        false if structured.interrupted => CallStatus::Interrupted,
        false if structured.background => CallStatus::Running,
        false => CallStatus::Ok,
    };
    result
}

/// `Exit code N` opens the text of a failed command.
fn exit_code(text: &str, failed: bool) -> Option<i32> {
    let rest = text.trim_start();
    let rest = rest
        .strip_prefix("Error: ")
        .unwrap_or(rest)
        .strip_prefix("Exit code ")?;
    let digits = rest
        .split(|c: char| !c.is_ascii_digit() && c != '-')
        .next()?;
    failed.then(|| digits.parse().ok()).flatten()
}

fn block_type(block: Raw<'_>) -> &[u8] {
    cursor::get(block, "type")
        .and_then(inside)
        .unwrap_or_default()
}

/// The text of a tool result's content: a string, or its text blocks joined; and its pictures.
fn content_text(content: Raw<'_>) -> (Vec<u8>, u64) {
    if let Some(text) = inside(content) {
        return (text.to_vec(), 0);
    }
    let (mut text, mut pictures) = (Vec::new(), 0);
    cursor::array(content, |block| match block_type(block) {
        b"text" => {
            let part = cursor::get(block, "text")
                .and_then(inside)
                .unwrap_or_default();
            if !text.is_empty() {
                text.extend_from_slice(b"\\n");
            }
            text.extend_from_slice(part);
        }
        b"image" => pictures += 1,
        b"tool_reference" => {
            let name = cursor::get(block, "tool_name")
                .and_then(inside)
                .map(decode)
                .unwrap_or_default();
            text.extend_from_slice(if text.is_empty() { b"" } else { b"\\n" });
            text.extend_from_slice(name.as_bytes());
        }
        _ => {}
    });
    (text, pictures)
}
