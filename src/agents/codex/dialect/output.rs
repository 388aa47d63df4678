//! Reads what a tool gave back: exit code, duration and real text out of the encodings of
//! formats § 8.5.

use crate::json::fields::{self, Fields};
use crate::model::entry::CallStatus;
use crate::rules::endings;
use std::borrow::Cow;

/// One output, taken apart.
#[derive(Debug, Default, PartialEq)]
pub struct CallOutput<'a> {
    /// As far as the output says.
    pub status: CallStatus,
    /// Where one is stated: the last one of a script's.
    pub exit_code: Option<i32>,
    /// Wall time, milliseconds.
    pub duration_ms: Option<u64>,
    /// Without headers.
    pub text: Cow<'a, str>,
    /// Pictures among its blocks.
    pub images: u64,
}

/// Reads the raw JSON value of an `output` field: a string, an array of blocks or an object.
pub fn read(raw: &str) -> CallOutput<'_> {
    match raw.as_bytes().first() {
        Some(b'"') => of_text(fields::text(raw).unwrap_or_default()),
        Some(b'[') => blocks(&fields::elements(raw)),
        Some(b'{') => fields::object(raw).map_or_else(CallOutput::default, |f| of_object(&f, raw)),
        _ => CallOutput::default(),
    }
}

/// `{"content": text or blocks, "success": bool}`, else the JSON itself.
fn of_object<'a>(fields: &Fields<'a>, raw: &'a str) -> CallOutput<'a> {
    let content = fields
        .raw("content")
        .or_else(|| fields.raw("content_items"));
    let mut output = match content {
        Some(content) if !content.starts_with('{') => read(content),
        _ => CallOutput {
            text: Cow::Borrowed(raw),
            ..CallOutput::default()
        },
    };
    if fields.raw("success") == Some("false") && output.status == CallStatus::Ok {
        output.status = CallStatus::Failed;
    }
    output
}

fn of_text(text: Cow<'_, str>) -> CallOutput<'_> {
    if let Some(output) = structured(&text) {
        return output;
    }
    let mut output = CallOutput::default();
    let body = header(&text, &mut output);
    let said = output.exit_code.is_some() || output.status != CallStatus::Ok || body > 0;
    if !said && let Some(status) = endings::of(&text) {
        output.status = status;
    }
    output.text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[body..]),
        Cow::Owned(mut text) => {
            text.drain(..body);
            Cow::Owned(text)
        }
    };
    output
}

/// `[{"type":"input_text","text":header}, …]`: the header's facts, the other blocks' text.
fn blocks<'a>(elements: &[&'a str]) -> CallOutput<'a> {
    let mut whole = CallOutput::default();
    let mut texts: Vec<Cow<'a, str>> = Vec::new();
    for raw in elements {
        let Some(block) = fields::object(raw) else {
            continue;
        };
        let Some(text) = block.text("text") else {
            whole.images += u64::from(block.raw("image_url").is_some());
            continue;
        };
        let part = match structured(&text) {
            Some(part) => CallOutput {
                text: Cow::Owned(part.text.into_owned()),
                ..part
            },
            None if texts.is_empty() && whole.duration_ms.is_none() => of_text(text),
            None => CallOutput {
                text,
                ..CallOutput::default()
            },
        };
        take(&mut whole, &part);
        if !part.text.is_empty() && part.text != "{}" {
            texts.push(part.text);
        }
    }
    whole.text = match texts.len() {
        1 => texts.swap_remove(0),
        _ => Cow::Owned(texts.join("\n")),
    };
    whole
}

fn take(whole: &mut CallOutput<'_>, part: &CallOutput<'_>) {
    match part.exit_code {
        Some(code) => {
            whole.exit_code = Some(code);
            if matches!(whole.status, CallStatus::Ok | CallStatus::Failed) {
                whole.status = part.status;
            }
        }
        None if whole.status == CallStatus::Ok => whole.status = part.status,
        None => {}
    }
    whole.duration_ms = whole.duration_ms.or(part.duration_ms);
}

/// `{"output":…,"metadata":{"exit_code":…}}` and `{"chunk_id":…,"exit_code":…,"output":…}`.
fn structured<'a>(text: &str) -> Option<CallOutput<'a>> {
    if !text.starts_with("{\"") || !text.contains("\"output\"") {
        return None;
    }
    let fields = fields::object(text)?;
    let metadata = fields.object("metadata");
    let facts = metadata.as_ref().unwrap_or(&fields);
    let exit_code = facts.number("exit_code");
    let running = exit_code.is_none() && fields.number::<u64>("session_id").is_some();
    if exit_code.is_none() && metadata.is_none() && !running {
        return None;
    }
    let seconds = ["duration_seconds", "wall_time_seconds"]
        .iter()
        .find_map(|key| facts.number::<f64>(key));
    Some(CallOutput {
        status: match exit_code {
            _ if running => CallStatus::Running,
            Some(0) | None => CallStatus::Ok,
            Some(_) => CallStatus::Failed,
        },
        exit_code,
        duration_ms: seconds.map(millis),
        text: Cow::Owned(fields.text("output")?.into_owned()),
        images: 0,
    })
}

/// Reads the header lines at the start of `text`; gives back where the real text begins.
fn header(text: &str, output: &mut CallOutput<'_>) -> usize {
    // some tell the command first, which may have many lines
    let told = text
        .starts_with("Command: ")
        .then(|| text.find("\nChunk ID: "));
    let mut at = told.flatten().map_or(0, |at| at + 1);
    while let Some(line) = text[at..].split_inclusive('\n').next() {
        let words = line.trim_end();
        if words == "Output:" && at > 0 {
            return at + line.len();
        }
        if !header_line(words, output) {
            break;
        }
        at += line.len();
    }
    at
}

fn header_line(line: &str, output: &mut CallOutput<'_>) -> bool {
    if let Some(code) = line
        .strip_prefix("Process exited with code ")
        .or_else(|| line.strip_prefix("Exit code: "))
    {
        output.exit_code = code.parse().ok();
        if output.exit_code.is_some_and(|code| code != 0) {
            output.status = CallStatus::Failed;
        }
        return output.exit_code.is_some();
    }
    if let Some(time) = line
        .strip_prefix("Wall time: ")
        .or_else(|| line.strip_prefix("Wall time "))
    {
        let seconds = time.split(' ').next().and_then(|n| n.parse().ok());
        output.duration_ms = seconds.map(millis);
        return seconds.is_some();
    }
    let running = [
        "Process running with session ID ",
        "Script running with cell ID ",
    ];
    if running.iter().any(|start| line.starts_with(start)) {
        output.status = CallStatus::Running;
        return true;
    }
    if line == "Script failed" {
        output.status = CallStatus::Failed;
        return true;
    }
    line == "Script completed"
        || [
            "Chunk ID: ",
            "Original token count: ",
            "Total output lines: ",
        ]
        .iter()
        .any(|start| line.starts_with(start))
}

fn millis(seconds: f64) -> u64 {
    (seconds * 1_000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts(raw: &str) -> (CallStatus, Option<i32>, Option<u64>, String) {
        let output = read(raw);
        (
            output.status,
            output.exit_code,
            output.duration_ms,
            output.text.into_owned(),
        )
    }

    #[test]
    fn each_encoding_of_an_exit_code_is_read() {
        let cases = [
            (
                r#""{\"output\":\"hi\\n\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.5}}""#,
                (CallStatus::Failed, Some(2), Some(500), "hi\n"),
            ),
            (
                r#""Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\nOutput:\nx""#,
                (CallStatus::Ok, Some(0), Some(100), "Output:\nx"),
            ),
            (
                r#""Command: /bin/zsh -lc 'git log'\nChunk ID: 1\nWall time: 5.0 seconds\nProcess running with session ID 7\nOutput:\nx""#,
                (CallStatus::Running, None, Some(5000), "x"),
            ),
            (
                r#""Wall time: 5.0 seconds\nProcess running with session ID 7\nOutput:\n""#,
                (CallStatus::Running, None, Some(5000), ""),
            ),
            (
                r#""Exit code: 1\nWall time: 2 seconds\nTotal output lines: 9\nOutput:\nno""#,
                (CallStatus::Failed, Some(1), Some(2000), "no"),
            ),
            (
                r#"[{"type":"input_text","text":"Script completed\nWall time 1.7 seconds\nOutput:\n"},{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]"#,
                (CallStatus::Ok, None, Some(1700), "a\nb"),
            ),
            (
                r#"[{"type":"input_text","text":"Script completed\nWall time 0 seconds\nOutput:\n"},{"type":"input_text","text":"{\"chunk_id\":\"1\",\"exit_code\":3,\"output\":\"bad\"}"}]"#,
                (CallStatus::Failed, Some(3), Some(0), "bad"),
            ),
            (
                r#"[{"type":"input_text","text":"Script failed\nWall time 1 seconds\nOutput:\n"},{"type":"input_text","text":"TypeError"}]"#,
                (CallStatus::Failed, None, Some(1000), "TypeError"),
            ),
            (
                r#""Script running with cell ID 4\nWall time 10.0 seconds\nOutput:\npart""#,
                (CallStatus::Running, None, Some(10_000), "part"),
            ),
        ];
        for (raw, (status, code, time, text)) in cases {
            assert_eq!(facts(raw), (status, code, time, text.into()), "{raw}");
        }
    }

    #[test]
    fn outputs_without_a_header_are_judged_by_their_first_words() {
        for (raw, status) in [
            (r#""aborted by user after 3s""#, CallStatus::Interrupted),
            (
                r#""apply_patch verification failed: no lines""#,
                CallStatus::Failed,
            ),
            (r#""exec command rejected by user""#, CallStatus::Refused),
            (r#""Plan updated""#, CallStatus::Ok),
            (r#""1 failed""#, CallStatus::Ok),
            (r#"{"content":"no","success":false}"#, CallStatus::Failed),
            ("null", CallStatus::Ok),
        ] {
            assert_eq!(read(raw).status, status, "{raw}");
        }
    }

    #[test]
    fn pictures_are_counted() {
        let raw =
            r#"[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"data:"}]"#;
        let output = read(raw);
        assert_eq!((output.images, &*output.text), (1, "t"));
    }

    proptest! {
        #[test]
        fn nothing_panics(noise in r#"(Exit code: |Wall time: |-?[0-9]{1,30}|\n|Output:|\{"output":"|é|"|\}|Script failed){0,20}"#) {
            of_text(Cow::Borrowed(&noise));
            read(&noise);
            read(&serde_json::to_string(&noise).unwrap());
        }
    }
}
