//! Google's content parts, in which Gemini CLI and its children write what was said: texts, thoughts, calls
//! of functions and what those gave back (formats § 10). Knows parts; which record they are in, and who
//! speaks there, is each agent's.

use crate::json::cursor::Cursor;
use crate::json::fields::{self, Fields};
use crate::json::text::{is_wide, tree};
use crate::model::entry::{Call, CallStatus, Denial, Excerpt, ToolResult};
use crate::model::usage::Usage;
use crate::rules::denials;
use serde_json::Value;
use std::borrow::Cow;
use uuid::Uuid;

/// Parts of one content that are read, and messages of one list. Real ones have some dozens; larger: an
/// 8 MiB line of `0,0,0` fills the memory.
const LIST_MAX: usize = 8_192;

/// Of ids of what has none as a UUID: UUIDv5 in this namespace.
const IDS: Uuid = Uuid::from_u128(0x2c51_90ce_7b0e_5b6f_8f0a_63d1_94a7_0e3d);

/// What stands in a content.
#[derive(Debug, Default)]
pub struct Parts<'a> {
    /// What was said, without thoughts.
    pub text: String,
    /// Calls of functions.
    pub calls: Vec<Fields<'a>>,
    /// What functions gave back.
    pub responses: Vec<Fields<'a>>,
    /// Pictures and other data.
    pub pictures: usize,
    /// There are thoughts.
    pub thinks: bool,
}

impl<'a> Parts<'a> {
    /// Reads a raw content: a string, a part or a list of parts. Something else has nothing in it.
    pub fn of(raw: &'a str) -> Parts<'a> {
        let mut parts = Parts::default();
        match raw.as_bytes().first() {
            Some(b'"') => parts.text = fields::text(raw).unwrap_or_default().into_owned(),
            Some(b'{') => parts.take(raw),
            Some(b'[') => list(raw).into_iter().for_each(|part| parts.take(part)),
            _ => {}
        }
        parts
    }

    fn take(&mut self, raw: &'a str) {
        let Some(part) = fields::object(raw) else {
            // a bare string among the parts
            return self.say(&fields::text(raw).unwrap_or_default());
        };
        if part.raw("thought") == Some("true") {
            self.thinks = true;
        } else if let Some(text) = part.text("text") {
            self.say(&text);
        }
        self.calls.extend(part.object("functionCall"));
        self.responses.extend(part.object("functionResponse"));
        let is_data = |key| usize::from(part.raw(key).is_some());
        self.pictures += is_data("inlineData") + is_data("fileData");
    }

    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.text
                .push_str(if self.text.is_empty() { "" } else { "\n" });
            self.text.push_str(text);
        }
    }

    /// A person's words with a note of the pictures that came with them.
    pub fn with_pictures(&self, words: &str) -> String {
        let marker = match self.pictures {
            0 => return words.to_owned(),
            1 => "[image]".to_owned(),
            n => format!("[{n} images]"),
        };
        let gap = if words.is_empty() { "" } else { "\n" };
        format!("{words}{gap}{marker}")
    }
}

/// The elements of a raw list, as many as are read.
pub fn list(raw: &str) -> Vec<&str> {
    let mut all = Vec::new();
    Cursor::strict(raw).array(|cursor| {
        let value = cursor.value()?;
        if all.len() < LIST_MAX {
            all.push(value);
        }
        Some(())
    });
    all
}

/// The id of a part of a record: a UUID of the record's id and the part's name.
pub fn part_id(record: &str, part: &str) -> Uuid {
    Uuid::new_v5(&IDS, format!("{record}\0{part}").as_bytes())
}

/// A `functionCall` or a record of a call: `id`, `name`, `args`.
pub fn call(fields: &Fields<'_>) -> Call {
    let name = |key| fields.label(key).map(Cow::into_owned).unwrap_or_default();
    let args = fields.raw("args").filter(|raw| !is_wide(raw.as_bytes()));
    Call {
        id: name("id"),
        tool: name("name"),
        input: args.map_or(Value::Null, |raw| tree(raw.as_bytes())),
    }
}

/// What a `functionResponse` says, with the `status` that is stated beside it and what was `shown` to the
/// person, which knows lines and files better.
pub fn result(
    response: Option<&Fields<'_>>,
    status: Option<&str>,
    shown: Option<&str>,
) -> ToolResult {
    let inner = response.and_then(|response| response.object("response"));
    let member = |key: &str| inner.as_ref().and_then(|inner| inner.raw(key)).map(text);
    let error = member("error");
    let failed = error.is_some() || status == Some("error");
    let told = error.or_else(|| member("output")).unwrap_or_default();
    let command = command_output(&told);
    let mut result = ToolResult {
        call: response
            .and_then(|response| response.label("id"))
            .unwrap_or_default()
            .into_owned(),
        exit_code: command.exit_code,
        output: Excerpt::of(command.text.to_owned()),
        ..ToolResult::default()
    };
    if let Some(shown) = shown.and_then(fields::object) {
        changed_file(&shown, &mut result);
    }
    let stopped = status == Some("cancelled");
    if failed || stopped {
        let by_text = denials::of(None, &told);
        result.facts.denied = by_text.or(stopped.then_some(Denial::Interrupted));
    }
    result.status = match (result.facts.denied, command.exit_code) {
        (Some(denial), _) => denial.status(),
        (None, Some(code)) if code != 0 => CallStatus::Failed,
        (None, _) if failed => CallStatus::Failed,
        (None, _) if command.is_running => CallStatus::Running,
        (None, _) => CallStatus::Ok,
    };
    result
}

/// A string's text; of anything else what is written.
fn text(raw: &str) -> Cow<'_, str> {
    fields::text(raw).unwrap_or(Cow::Borrowed(raw))
}

/// Lines added and removed, and whether the file is new.
fn changed_file(shown: &Fields<'_>, result: &mut ToolResult) {
    if let Some(stat) = shown.object("diffStat") {
        let sum = |one, other| {
            let number = |key| stat.number::<u64>(key);
            Some(number(one)?.saturating_add(number(other).unwrap_or(0)))
        };
        result.facts.added = sum("model_added_lines", "user_added_lines");
        result.facts.removed = sum("model_removed_lines", "user_removed_lines");
        result.facts.created = shown.raw("isNewFile").map(|new| new == "true");
    }
}

/// A command's output without what the tool writes around it.
#[derive(Debug, Default, PartialEq, Eq)]
struct CommandOutput<'a> {
    text: &'a str,
    exit_code: Option<i32>,
    is_running: bool,
}

/// Lines that the shell tool writes behind an output.
const TRAILERS: [&str; 6] = [
    "Exit Code: ",
    "Error: ",
    "Signal: ",
    "Background PIDs: ",
    "Process Group PGID: ",
    "Process exited with code ",
];

/// `Output: …`, then lines of [`TRAILERS`], possibly in `<untrusted_context>`, or after lines that repeat the
/// command. Other texts come back as they are.
fn command_output(told: &str) -> CommandOutput<'_> {
    let inside = told.trim().strip_prefix("<untrusted_context>");
    let inside = inside.and_then(|text| text.strip_suffix("</untrusted_context>"));
    let body = inside.unwrap_or(told).trim();
    let start = match body.starts_with("Command: ") {
        true => body.find("\nOutput: ").map(|at| at + 1),
        false => body.starts_with("Output: ").then_some(0),
    };
    let Some(start) = start else {
        return CommandOutput {
            text: inside.map_or(told, str::trim),
            exit_code: None,
            is_running: body.starts_with("Command moved to background")
                || body.starts_with("Background command started"),
        };
    };
    let mut output = CommandOutput {
        text: &body[start + "Output: ".len()..],
        ..CommandOutput::default()
    };
    while let Some((before, line)) = output.text.rsplit_once('\n') {
        if !TRAILERS.iter().any(|trailer| line.starts_with(trailer)) {
            break;
        }
        if let Some(code) = line.strip_prefix(TRAILERS[0]) {
            output.exit_code = code.trim().parse().ok();
        }
        output.text = before;
    }
    if matches!(output.text, "(empty)" | "(none)") {
        output.text = "";
    }
    output
}

/// Tokens: what was read from the cache counts as input there, and thoughts beside the output.
pub fn usage(input: u64, cached: u64, output: u64, thoughts: u64) -> Usage {
    Usage {
        input: input.saturating_sub(cached),
        output: output.saturating_add(thoughts),
        cache_read: cached,
        cache_write: 0,
        cache_write_1h: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_a_string_a_part_or_a_list() {
        let said = |raw: &str| Parts::of(raw).text;
        assert_eq!(said(r#""yes""#), "yes");
        assert_eq!(said(r#"{"text": "yes"}"#), "yes");
        assert_eq!(
            said(r#"[{"text": "a"}, "b", {"text": "no", "thought": true}]"#),
            "a\nb"
        );
        assert_eq!(said("5"), "");
        let parts = Parts::of(
            r#"[{"functionCall": {"id": "1", "name": "ls", "args": {"a": 1}}}, {"inlineData": {}}]"#,
        );
        assert_eq!((parts.calls.len(), parts.pictures), (1, 1));
        let call = call(&parts.calls[0]);
        assert_eq!(
            (&*call.id, &*call.tool, &call.input["a"]),
            ("1", "ls", &1.into())
        );
        assert_eq!(parts.with_pictures(""), "[image]");
    }

    #[test]
    fn what_the_shell_tool_writes_around_an_output_is_taken_off() {
        let told = "<untrusted_context>\nOutput: one\ntwo\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>";
        let output = command_output(told);
        assert_eq!((output.text, output.exit_code), ("one\ntwo", Some(3)));
        let old = "Command: ls\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0";
        assert_eq!(
            (command_output(old).text, command_output(old).exit_code),
            ("", Some(0))
        );
        for plain in ["words", "", "Outputs: x", "Error: no such file"] {
            assert_eq!(command_output(plain).text, plain);
        }
    }

    #[test]
    fn a_result_says_how_it_ended() {
        let status = |raw: &str, status: Option<&str>| {
            result(fields::object(raw).as_ref(), status, None).status
        };
        let ok = r#"{"id": "1", "response": {"output": "fine"}}"#;
        assert_eq!(status(ok, Some("success")), CallStatus::Ok);
        let failed = r#"{"id": "1", "response": {"error": "no such tool"}}"#;
        assert_eq!(status(failed, None), CallStatus::Failed);
        let code = r#"{"id": "1", "response": {"output": "Output: x\nExit Code: 2"}}"#;
        assert_eq!(status(code, Some("success")), CallStatus::Failed);
        let stopped = r#"{"id": "1", "response": {"error": "[Operation Cancelled] Reason: User cancelled the operation."}}"#;
        assert_eq!(status(stopped, Some("cancelled")), CallStatus::Interrupted);
    }
}
