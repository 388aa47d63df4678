//! `toolUseResult`, the structured copy of a result beside the block that the model saw
//! (formats § 4.2).

use crate::json::cursor::{self, Cursor, Raw};
use crate::json::text::{decode, inside, is_name, number, string};
use crate::model::entry::ResultFacts;

/// Questions whose answers are told. A form has four.
const ANSWERS_MAX: usize = 16;

/// What `toolUseResult` says.
#[derive(Default)]
pub(super) struct Structured {
    /// Without the answers.
    pub(super) facts: ResultFacts,
    pub(super) answers: Vec<(String, String)>,
    pub(super) interrupted: bool,
    pub(super) background: bool,
    pub(super) exit_code: Option<i32>,
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
