//! Answers of tools that read, change and search files.

use super::call::{CHANGED, DigestCall, LINES};
use super::line;
use super::output::ToolOutput;
use super::patch;
use crate::model::entry::ToolResult;
use crate::rules::tools::AnswerKind;
use serde_json::Value;

/// `2000 lines, 48 KB`, `lines 201–300 of 2000, 4.1 KB`, `image`.
pub fn read(out: &mut String, call: &DigestCall<'_>, result: &ToolResult, output: &ToolOutput<'_>) {
    let facts = &result.facts;
    match facts.kind.as_deref() {
        Some("file_unchanged") => return out.push_str("unchanged since it was read"),
        Some("image") => return out.push_str("image"),
        Some("text") | None if facts.images > 0 => return out.push_str("image"),
        Some("text") | None => {}
        Some(kind) => {
            line::fold(out, kind, line::TEXT_CHARS_MAX);
            out.push_str(", ");
            return line::size(out, output.bytes);
        }
    }
    let lines = facts.lines.or(output.lines).unwrap_or(0);
    let from = call
        .input
        .get("offset")
        .and_then(Value::as_u64)
        .unwrap_or(1)
        .max(1);
    match facts.total_lines {
        Some(total) if total > lines && lines > 0 => {
            let to = from.saturating_add(lines - 1);
            out.push_str(&format!("lines {from}–{to} of {total}"));
        }
        _ if lines == 0 && output.is_blank() => return out.push_str("empty"),
        _ => line::count(out, lines, "line"),
    }
    out.push_str(", ");
    line::size(out, output.bytes);
}

/// `+3 −1`.
pub fn edit(out: &mut String, call: &DigestCall<'_>, result: &ToolResult) {
    let stated = result.facts.added.zip(result.facts.removed);
    if let Some((added, removed)) = stated.or_else(|| changed_lines(call.input)) {
        return line::changed(out, added, removed);
    }
    match call.text("edit_mode") {
        Some("insert") => out.push_str("cell inserted"),
        Some("delete") => out.push_str("cell deleted"),
        _ if call.text("new_source").is_some() || call.text("cell_id").is_some() => {
            out.push_str("cell replaced")
        }
        _ => out.push_str("edited"),
    }
}

/// Lines that an edit's own texts add and remove; `None` when it has none.
pub fn changed_lines(input: &Value) -> Option<(u64, u64)> {
    if let Some(kept) = input.get(CHANGED) {
        return Some((kept.get(0)?.as_u64()?, kept.get(1)?.as_u64()?));
    }
    let one = |edit: &Value| {
        let old = edit.get("old_string")?.as_str()?;
        let new = edit.get("new_string")?.as_str()?;
        Some(patch::difference(old, new))
    };
    match input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits
            .iter()
            .filter_map(one)
            .reduce(|a, b| (a.0 + b.0, a.1 + b.1)),
        None => one(input),
    }
}

/// `created, 120 lines`, `overwritten, 120 lines, +3 −1`.
pub fn write(out: &mut String, call: &DigestCall<'_>, result: &ToolResult) {
    let created = created(result);
    out.push_str(match created {
        Some(true) => "created",
        Some(false) => "overwritten",
        None => "written",
    });
    if let Some(lines) = written_lines(call.input) {
        out.push_str(", ");
        line::count(out, lines, "line");
    }
    if let (Some(false), Some(added), Some(removed)) =
        (created, result.facts.added, result.facts.removed)
        && (added, removed) != (0, 0)
    {
        out.push_str(", ");
        line::changed(out, added, removed);
    }
}

/// Whether a file that was written was not there before.
pub fn created(result: &ToolResult) -> Option<bool> {
    result.facts.created.or_else(|| match &result.output.head {
        text if text.contains("created successfully") => Some(true),
        text if text.contains("has been updated") || text.contains("overwr") => Some(false),
        _ => None,
    })
}

/// Lines of the content that a call writes.
pub fn written_lines(input: &Value) -> Option<u64> {
    let content = input.get("content").and_then(Value::as_str);
    let counted = content.map(|text| text.lines().count() as u64);
    counted.or_else(|| input.get(LINES).and_then(Value::as_u64))
}

/// `+10 −2` over all files of a patch.
pub fn patch(out: &mut String, call: &DigestCall<'_>, result: &ToolResult) {
    let facts = &result.facts;
    let (added, removed) = match (facts.added.zip(facts.removed), facts.patched.is_empty()) {
        (Some(stated), _) => stated,
        (None, false) => sum(facts.patched.iter().map(|(_, a, r)| (*a, *r))),
        (None, true) => sum(call.changes.iter().map(|c| (c.added, c.removed))),
    };
    match (added, removed) {
        (0, 0) => out.push_str("ok"), // files deleted or moved
        _ => line::changed(out, added, removed),
    }
}

fn sum(changes: impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
    changes.fold((0, 0), |(a, r): (u64, u64), (added, removed)| {
        (a.saturating_add(added), r.saturating_add(removed))
    })
}

/// Files that a successful call changed, each once, as it names them, with the lines added and
/// removed (0 where nothing states them).
pub fn changed(call: &DigestCall<'_>, result: &ToolResult) -> Vec<(String, u64, u64)> {
    let facts = &result.facts;
    let stated = facts.patched.iter().map(|(path, a, r)| (path, *a, *r));
    let own = call.changes.iter().map(|c| (&c.path, c.added, c.removed));
    let mut files: Vec<(String, u64, u64)> = Vec::new();
    let same = |a: &str, b: &str| line::relative(a, call.cwd) == line::relative(b, call.cwd);
    for (path, added, removed) in stated.chain(own) {
        if files.iter().all(|(known, ..)| !same(known, path)) {
            files.push((path.clone(), added, removed));
        }
    }
    if !files.is_empty() {
        return files;
    }
    let counts = facts.added.zip(facts.removed);
    let counts = match call.row.answer {
        AnswerKind::Edit => counts.or_else(|| changed_lines(call.input)),
        AnswerKind::Write => counts.or_else(|| Some((written_lines(call.input)?, 0))),
        _ => return files,
    };
    let (added, removed) = counts.unwrap_or_default();
    let paths = call.named_files().map(str::to_owned);
    paths.map(|path| (path, added, removed)).collect()
}

/// `47 matches in 12 files`, `12 files`, `34 lines`, `no matches`.
pub fn search(
    out: &mut String,
    call: &DigestCall<'_>,
    result: &ToolResult,
    output: &ToolOutput<'_>,
) {
    let facts = &result.facts;
    let head = output.head.as_ref();
    let none = head.starts_with("No matches found") || head.starts_with("No files found");
    if none || output.is_blank() && facts.matches.or(facts.files).unwrap_or(0) == 0 {
        return out.push_str("no matches");
    }
    let content = call.text("output_mode") == Some("content");
    let (matches, files) = match content && facts.matches.is_none() && output.is_whole() {
        true => matches_in(head, call),
        false => (facts.matches, facts.files.filter(|n| *n > 0)),
    };
    let files = files.or_else(|| number_after(head, "Found "));
    match (matches, files) {
        (Some(matches), Some(files)) => {
            line::count(out, matches, "match");
            out.push_str(" in ");
            line::count(out, files, "file");
        }
        (Some(matches), None) => line::count(out, matches, "match"),
        (None, Some(files)) if !content => line::count(out, files, "file"),
        _ if content && !with_context(call) && facts.lines.is_some() => {
            line::count(out, facts.lines.unwrap_or(0), "match")
        }
        _ => line::count(out, facts.lines.or(output.lines).unwrap_or(0), "line"),
    }
}

fn number_after(text: &str, marker: &str) -> Option<u64> {
    let rest = text.strip_prefix(marker)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Matches and files of `path:12:text` lines, context lines (`path-12-text`) apart. Files are absent
/// where a single file was searched, both where the lines don't tell.
fn matches_in(text: &str, call: &DigestCall<'_>) -> (Option<u64>, Option<u64>) {
    let with_context = with_context(call);
    let (mut matches, mut files, mut last) = (0u64, 0u64, "");
    let mut unknown = 0u64;
    for text in text.lines().filter(|l| !l.is_empty() && *l != "--") {
        match numbered(text) {
            Some(path) => {
                matches += 1;
                if path != last {
                    files += 1;
                    last = path;
                }
            }
            None => unknown += 1,
        }
    }
    match (matches, unknown, with_context) {
        (0, _, true) | (0, 0, _) => (None, None),
        (0, unknown, false) => (Some(unknown), None),
        (matches, 0, _) | (matches, _, true) => {
            (Some(matches), Some(files).filter(|_| !last.is_empty()))
        }
        (matches, unknown, false) => (Some(matches + unknown), None),
    }
}

fn with_context(call: &DigestCall<'_>) -> bool {
    let keys = ["-A", "-B", "-C", "context"];
    keys.iter().any(|key| call.input.get(*key).is_some())
}

/// The path of a `path:12:text` line; empty for `12:text`.
fn numbered(text: &str) -> Option<&str> {
    let is_number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let mut from =
        if text.as_bytes().get(1) == Some(&b':') && text.as_bytes().get(2) == Some(&b'\\') {
            2
        } else {
            0
        };
    let first = from + text[from..].find(':')?;
    if from == 0 && is_number(&text[..first]) {
        return Some("");
    }
    from = first + 1;
    let second = from + text[from..].find(':')?;
    is_number(&text[from..second]).then_some(&text[..first])
}

/// `12 files`, `no files`.
pub fn list(out: &mut String, call: &DigestCall<'_>, result: &ToolResult, output: &ToolOutput<'_>) {
    let noun = call.row.counts.as_str();
    let head = output.head.as_ref();
    let facts = &result.facts;
    let n = facts.files.or(facts.matches).or(match noun {
        "result" => Some(occurrences(output, "{\"title\":")),
        "entry" => Some(
            head.lines()
                .filter(|l| l.trim_start().starts_with("- "))
                .count() as u64,
        )
        .filter(|n| *n > 0 && output.is_whole()),
        _ if head.starts_with("No ") => Some(0),
        _ => None,
    });
    match n.or(output.lines).unwrap_or(0) {
        0 => {
            out.push_str("no ");
            line::plural(out, 0, noun);
        }
        n => line::count(out, n, noun),
    }
}

fn occurrences(output: &ToolOutput<'_>, marker: &str) -> u64 {
    let find = |part: &str| memchr::memmem::find_iter(part.as_bytes(), marker).count() as u64;
    output.parts().iter().map(|part| find(part)).sum()
}
