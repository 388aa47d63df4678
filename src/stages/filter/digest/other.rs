//! Answers of the web, of tools that only say something, and of tools that we don't know.

use super::call::DigestCall;
use super::line::{self, TEXT_CHARS_MAX};
use super::output::ToolOutput;
use crate::model::entry::ToolResult;
use crate::rules::documents;
use crate::rules::tools::AnswerKind;
use serde_json::Value;
use std::fmt::Write;

/// `200, 12 KB`.
pub fn fetch(out: &mut String, result: &ToolResult, output: &ToolOutput<'_>) {
    if let Some(status) = &result.facts.kind {
        line::fold(out, status, TEXT_CHARS_MAX);
        out.push_str(", ");
    }
    line::size(out, output.bytes);
}

/// The first line, and how many there are.
pub fn said(out: &mut String, output: &ToolOutput<'_>) {
    let [head, _] = output.masked_parts();
    let first = head.lines().map(str::trim).find(|l| !l.is_empty());
    match first {
        None if output.lines.is_none() => output.write_size(out),
        None => out.push_str("ok"),
        Some(text) if text.starts_with("{\"success\":true") => out.push_str("ok"),
        Some(text) => {
            line::fold(out, text, TEXT_CHARS_MAX);
            let lines = output.lines.unwrap_or(1);
            if lines > 1 {
                let _ = write!(out, " ({lines} lines)");
            }
        }
    }
}

/// `X()`: the documents have parentheses without parameters too (001-054).
pub fn close_parameters(out: &mut String, call: &DigestCall<'_>, result: &ToolResult) {
    let is_theirs = call.row.answer == AnswerKind::Other && result.facts.summary.is_some();
    if is_theirs && !out.ends_with(')') {
        out.push_str("()");
    }
}

/// What the dialect sums the output up to.
pub fn summed_up(out: &mut String, output: &ToolOutput<'_>, summary: &str) {
    line::fold(out, &output.masked(summary), TEXT_CHARS_MAX);
}

/// The documents' rules (001-043..049), with one correction: a result whose status is known to
/// be good is not an error because it holds the word (D28).
pub fn unknown(out: &mut String, output: &ToolOutput<'_>) {
    if output.bytes == 0 {
        return out.push_str(&documents::summarise_output(None));
    }
    let head = output.head.trim();
    let structured =
        output.is_whole() && head.starts_with(['{', '[']) && head.ends_with(['}', ']']);
    if let Some(value) = structured
        .then(|| serde_json::from_str::<Value>(head).ok())
        .flatten()
    {
        return summed_up(out, output, &documents::summarise_output(Some(&value)));
    }
    let lines = output.lines.unwrap_or(1);
    let _ = match lines > LARGE_LINES_MIN {
        true => write!(out, "Large output ({lines} lines, {} chars)", chars(output)),
        false => write!(out, "Output ({lines} lines)"),
    };
}

/// 001-046.
const LARGE_LINES_MIN: u64 = 100;

/// Characters; bytes where the middle is missing.
fn chars(output: &ToolOutput<'_>) -> u64 {
    match output.is_whole() {
        true => output.head.chars().count() as u64,
        false => output.bytes,
    }
}
