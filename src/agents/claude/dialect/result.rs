//! Tool results: the block that the model saw, enriched by the structured copy beside it
//! (formats § 4.1, § 4.2). Outputs are measured, not copied.

use super::message::Block;
use super::user::content_text;
use super::{Line, decode_raw};
use crate::json::cursor::{self, Cursor, Raw};
use crate::json::text::{decode, excerpt, inside, is_name, number, string};
use crate::model::entry::{ResultFacts, Status, ToolResult};

/// Questions whose answers are told. A form has four.
const ANSWERS_MAX: usize = 16;

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
    result.status = match block.failed {
        true => failure(&result.output.head, line.denial.is_some()),
        false if structured.interrupted => Status::Interrupted,
        false if structured.background => Status::Running,
        false => Status::Ok,
    };
    result
}

/// `is_error` covers refusals and cancelled siblings too.
fn failure(text: &str, denied: bool) -> Status {
    let text = text.trim_start();
    let starts = |starts: &[&str]| starts.iter().any(|s| text.starts_with(s));
    if denied
        || starts(&[
            "The user doesn't want to",
            "User rejected tool use",
            "User declined",
        ])
    {
        Status::Refused
    } else if starts(&[
        "[Request interrupted",
        "Sibling tool call errored",
        "<tool_use_error>Sibling tool call errored",
        "Cancelled: parallel tool call",
        "<tool_use_error>Cancelled: parallel tool call",
    ]) {
        Status::Interrupted
    } else {
        Status::Failed
    }
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

/// What `toolUseResult` says.
#[derive(Default)]
pub(super) struct Structured {
    /// Without the answers.
    facts: ResultFacts,
    answers: Vec<(String, String)>,
    interrupted: bool,
    background: bool,
    exit_code: Option<i32>,
}

impl Structured {
    /// Walks the object that begins here; strings (they repeat the error's text) and arrays (the
    /// content blocks) give `None`.
    pub(super) fn read(&mut self, mut cursor: Cursor<'_, [u8]>) -> Option<usize> {
        let facts = &mut self.facts;
        cursor.members(|key, value| match key {
            b"file" => file(value, facts),
            b"numLines" => facts.lines = number(value),
            b"totalLines" => facts.total_lines = number(value),
            b"numFiles" => facts.files = number(value),
            b"numMatches" | b"totalMatches" => facts.matches = number(value),
            b"structuredPatch" => patch(value, facts),
            b"type" => kind(value, facts),
            b"durationMs" | b"totalDurationMs" => facts.duration_ms = number(value),
            b"durationSeconds" => facts.duration_ms = seconds(value),
            b"totalTokens" => facts.tokens = number(value),
            b"totalToolUseCount" => facts.tool_uses = number(value),
            b"agentId" => facts.agent = name(value),
            b"code" => facts.kind = number(value).map(|code| code.to_string()),
            b"answers" => answers(value, &mut self.answers),
            b"interrupted" => self.interrupted = value == b"true",
            b"isAsync" => self.background |= value == b"true",
            b"backgroundTaskId" => self.background = true,
            b"exitCode" => self.exit_code = decode(value).parse().ok(),
            _ => {}
        })?;
        Some(cursor.at())
    }
}

fn file(raw: Raw<'_>, facts: &mut ResultFacts) {
    cursor::object(raw, |key, value| match key {
        b"numLines" => facts.lines = number(value),
        b"totalLines" => facts.total_lines = number(value),
        _ => {}
    });
}

fn kind(raw: Raw<'_>, facts: &mut ResultFacts) {
    match inside(raw) {
        Some(b"create") => facts.created = Some(true),
        Some(b"update") => facts.created = Some(false),
        Some(b"text") | None => {}
        Some(_) => facts.kind = name(raw),
    }
}

/// Lines that begin with `+` and `-` over all hunks.
fn patch(raw: Raw<'_>, facts: &mut ResultFacts) {
    let (mut added, mut removed, mut hunks) = (0, 0, 0);
    cursor::array(raw, |hunk| {
        hunks += 1;
        cursor::array(
            cursor::get(hunk, "lines").unwrap_or_default(),
            |line| match line {
                [b'"', b'+', ..] => added += 1,
                [b'"', b'-', ..] => removed += 1,
                _ => {}
            },
        );
    });
    if hunks > 0 {
        (facts.added, facts.removed) = (Some(added), Some(removed));
    }
}

/// `{question: answer}`; several choices are an array.
fn answers(raw: Raw<'_>, all: &mut Vec<(String, String)>) {
    cursor::object(raw, |question, value| {
        if all.len() == ANSWERS_MAX {
            return;
        }
        let mut answer = string(value).unwrap_or_default();
        cursor::array(value, |choice| {
            answer.push_str(if answer.is_empty() { "" } else { ", " });
            answer.push_str(&string(choice).unwrap_or_default());
        });
        all.push((decode(question).into_owned(), answer));
    });
}

/// Every result of the line holds it.
fn name(raw: Raw<'_>) -> Option<String> {
    string(raw).filter(|text| is_name(text))
}

fn seconds(raw: Raw<'_>) -> Option<u64> {
    let seconds: f64 = std::str::from_utf8(raw).ok()?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1_000.0) as u64)
}
