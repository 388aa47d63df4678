//! A tool's output as a digest sees it: without what agents put around it.
//!
//! Knows the headers and wrappers of Claude Code and Codex (formats § 4.1, § 8.5); refuses to judge
//! what remains.

use super::line;
use crate::model::entry::ToolResult;
use crate::rules::errors;
use crate::rules::secrets::Redactor;
use serde_json::Value;
use std::borrow::Cow;

/// What a tool printed. `head` and `tail` are to be measured; what is told of them goes through
/// [`ToolOutput::masked_parts`] or [`ToolOutput::masked`].
pub struct ToolOutput<'a> {
    /// Its start, or all of it.
    pub head: Cow<'a, str>,
    /// Its end, when the middle is missing.
    pub tail: &'a str,
    /// UTF-8 bytes of the whole.
    pub bytes: u64,
    /// Lines of the whole; `None` when only the size is known.
    pub lines: Option<u64>,
    /// Stated by the result or by a wrapper around its text.
    pub exit_code: Option<i32>,
    /// Masks what is told of it.
    pub redactor: &'a Redactor,
    /// What a person says in it may be told.
    pub quotes_people: bool,
}

impl<'a> ToolOutput<'a> {
    /// Unwraps a result's text. Parses JSON only where a Codex cell's answer starts like it.
    pub fn of(result: &'a ToolResult, redactor: &'a Redactor) -> ToolOutput<'a> {
        let excerpt = &result.output;
        let whole = excerpt.is_whole();
        let mut output = ToolOutput {
            head: Cow::Borrowed(excerpt.head.as_str()),
            tail: excerpt.tail.as_str(),
            bytes: excerpt.bytes,
            lines: Some(excerpt.lines),
            exit_code: result.exit_code,
            redactor,
            quotes_people: true,
        };
        if let Some(kept) = stored_elsewhere(&excerpt.head) {
            (output.bytes, output.lines) = (kept, None);
            output.head = Cow::Borrowed("");
            return output;
        }
        if NOTHING.contains(&excerpt.head.trim()) {
            (output.bytes, output.lines) = (0, Some(0));
            output.head = Cow::Borrowed("");
            return output;
        }
        output.take_header(&excerpt.head);
        if whole && output.head.starts_with("{\"chunk_id\"") {
            output.take_cell();
        }
        output
    }

    /// Nothing but whitespace.
    pub fn is_blank(&self) -> bool {
        self.tail.is_empty() && self.lines.is_some() && self.head.trim().is_empty()
    }

    /// Start and end.
    pub fn parts(&self) -> [&str; 2] {
        [&self.head, self.tail]
    }

    /// Start and end as they may be told: masked, and where the middle is missing without the words
    /// that the cut went through, since half a secret is none that a rule knows.
    pub fn masked_parts(&self) -> [Cow<'_, str>; 2] {
        let (mut head, mut tail) = (&*self.head, self.tail);
        if !tail.is_empty() {
            head = &head[..head.rfind(char::is_whitespace).unwrap_or(0)];
            tail = &tail[tail.find(char::is_whitespace).unwrap_or(tail.len())..];
        }
        [head, tail].map(|part| self.redactor.redact(part))
    }

    /// A text that was taken out of it, as it may be told.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.redact(text)
    }

    /// Nothing is missing between them.
    pub fn is_whole(&self) -> bool {
        self.tail.is_empty() && self.lines.is_some()
    }

    /// All of it where it is short, else its lines and bytes; `ok, no output` when there is none.
    pub fn write(&self, out: &mut String) {
        if self.is_blank() {
            return out.push_str("ok, no output");
        }
        if !self.write_short(out) {
            self.write_size(out);
        }
    }

    /// Appends a text of at most three lines and 160 bytes; `false` when it is longer.
    pub fn write_short(&self, out: &mut String) -> bool {
        const SHORT_BYTES_MAX: usize = 160;
        const SHORT_LINES_MAX: usize = 3;
        let text = self.head.trim();
        if !self.is_whole() || text.len() > SHORT_BYTES_MAX || text.is_empty() {
            return false;
        }
        let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
        if lines.by_ref().count() > SHORT_LINES_MAX {
            return false;
        }
        let text = self.masked(text);
        for (i, text) in text
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty())
            .enumerate()
        {
            out.push_str(if i > 0 { " · " } else { "" });
            line::fold(out, text, SHORT_BYTES_MAX);
        }
        true
    }

    /// `34 lines, 2.1 KB`.
    pub fn write_size(&self, out: &mut String) {
        if let Some(lines) = self.lines {
            line::count(out, lines, "line");
            out.push_str(", ");
        }
        line::size(out, self.bytes);
    }

    /// The message in it, without stack trace; appends nothing when it says nothing.
    pub fn write_message(&self, out: &mut String, before: &str) {
        let masked = self.masked_parts();
        let message = errors::message([&masked[0], &masked[1]]);
        let message = line::folded(&message, line::TEXT_CHARS_MAX);
        if !message.is_empty() {
            out.push_str(before);
            out.push_str(&message);
        }
    }

    /// Takes what agents print before a command's own output.
    fn take_header(&mut self, head: &'a str) {
        let mut rest = head;
        if let Some(text) = head
            .strip_prefix("Error: ")
            .unwrap_or(head)
            .strip_prefix("Exit code ")
        {
            let (code, after) = text.split_once('\n').unwrap_or((text, ""));
            self.exit_code = self.exit_code.or(code.trim().parse().ok());
            rest = after;
        } else if CODEX_HEADERS.iter().any(|start| head.starts_with(start)) {
            let (header, after) = match head.find("Output:\n") {
                Some(at) => (&head[..at], &head[at + "Output:\n".len()..]),
                None => (head, ""),
            };
            self.exit_code = self.exit_code.or(header.lines().find_map(code_in));
            rest = after;
        }
        let taken = &head[..head.len() - rest.len()];
        self.bytes = self.bytes.saturating_sub(taken.len() as u64);
        let lines = taken.lines().count() as u64;
        self.lines = self.lines.map(|n| n.saturating_sub(lines));
        self.head = Cow::Borrowed(rest);
    }

    /// Code mode prints a command's answer as JSON; takes the command's output out of it.
    fn take_cell(&mut self) {
        let Some(Ok(cell)) = serde_json::Deserializer::from_str(&self.head)
            .into_iter::<Value>()
            .next()
        else {
            return;
        };
        let code = cell.get("exit_code").and_then(Value::as_i64);
        let code = code.and_then(|code| i32::try_from(code).ok());
        self.exit_code = self.exit_code.filter(|c| *c != 0).or(code);
        if let Some(text) = cell.get("output").and_then(Value::as_str) {
            self.bytes = text.len() as u64;
            self.lines = Some(text.lines().count() as u64);
            self.head = Cow::Owned(text.to_owned());
        }
    }
}

/// What agents write in the place of an empty output.
const NOTHING: [&str; 3] = [
    "(Bash completed with no output)",
    "(PowerShell completed with no output)",
    "<system>Tool ran without output or errors</system>",
];

/// How Codex's own lines before an output start.
const CODEX_HEADERS: [&str; 6] = [
    "Chunk ID: ",
    "Wall time: ",
    "Exit code: ",
    "Script completed\n",
    "Script failed\n",
    "Script running with cell ID ",
];

fn code_in(line: &str) -> Option<i32> {
    let code = ["Process exited with code ", "Exit code: "];
    code.iter()
        .find_map(|start| line.strip_prefix(start)?.trim().parse().ok())
}

/// The stated size of an output that Claude Code moved to a file: `(54.5KB)` is 54,500 bytes.
fn stored_elsewhere(head: &str) -> Option<u64> {
    let stated = head.strip_prefix("<persisted-output>")?;
    let (_, stated) = stated.split_once("too large (")?;
    let (stated, _) = stated.split_once(')')?;
    let unit = stated.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number: f64 = stated[..stated.len() - unit.len()].parse().ok()?;
    let unit = match unit.trim().chars().next().map(|c| c.to_ascii_uppercase()) {
        Some('K') => 1e3,
        Some('M') => 1e6,
        Some('G') => 1e9,
        _ => 1.0,
    };
    Some((number * unit).round() as u64)
}
