//! The documents' simplified entries (D27) as a dialect: `user`, `assistant`, `tool_use`, `error`.

use super::super::injected::INJECTED;
use crate::json::text::is_wide;
use crate::model::entry::{
    Call, CallStatus, Entry, EntryKind, Excerpt, Message, PromptOrigin, ResultFacts, ToolResult,
};
use crate::model::source::Span;
use crate::model::time::Time;
use crate::rules::documents::{display, is_falsy, summarise_output};
use crate::rules::injected::Spoken;
use crate::stages::parse::{ParseState, nameless};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Longer error messages are cut to this many characters (001-037).
const MESSAGE_CHARS: usize = 200;

/// Reads one line: one complete JSON value without its newline. Pushes at least one entry, or says
/// why the line is no record. A `tool_use` gives a call and its result.
pub fn line(
    state: &mut ParseState,
    place: Span,
    line: &[u8],
    out: &mut Vec<Entry>,
) -> Result<(), Cow<'static, str>> {
    let text = std::str::from_utf8(line).map_err(|_| "invalid utf-8")?;
    if is_wide(line) {
        return Err("too many values".into());
    }
    let value: Value = serde_json::from_str(text).map_err(|_| "torn json")?;
    let Value::Object(entry) = value else {
        return Err("not an object".into());
    };
    let time = entry.get("timestamp").and_then(Value::as_str);
    let time = time.and_then(Time::parse);
    let (id, mut message) = (nameless(line), None);
    let whats = match kind(&entry) {
        "user" => vec![user(&entry)],
        "assistant" => {
            message = Some(Message {
                // these have no message id: no two lines are one message
                group: place.offset.wrapping_add(1),
                model: None,
                usage: None,
                long: false,
            });
            vec![EntryKind::Said(content(&entry))]
        }
        "tool_use" => tool_use(&entry, place),
        "error" => vec![EntryKind::Failure(failure(&entry))],
        "" => vec![EntryKind::unknown("untyped")],
        other => vec![EntryKind::unknown(other.to_owned())],
    };
    for (nth, what) in (0..).zip(whats) {
        out.push(Entry {
            place,
            nth,
            id,
            time,
            context: state.context.clone(),
            message: message.clone(),
            what,
        });
    }
    Ok(())
}

fn kind(entry: &Map<String, Value>) -> &str {
    entry
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn content(entry: &Map<String, Value>) -> String {
    match entry.get("content") {
        None | Some(Value::Null) => String::new(),
        Some(content) => display(content),
    }
}

fn user(entry: &Map<String, Value>) -> EntryKind {
    match INJECTED.people_words(&content(entry)) {
        Spoken::Machine(reason) => EntryKind::Noise(Cow::Borrowed(reason)),
        Spoken::Words(words) => EntryKind::Prompt {
            text: words.into_owned(),
            via: PromptOrigin::Typed,
        },
    }
}

/// The call, and its result: `success` iff there is an output (001-036).
fn tool_use(entry: &Map<String, Value>, place: Span) -> Vec<EntryKind> {
    let id = format!("line:{}", place.offset);
    let tool = entry.get("tool").map(display).unwrap_or_default();
    let input = match entry.get("input") {
        Some(Value::Object(fields)) => Value::Object(fields.clone()),
        Some(other) if !is_falsy(other) => json!({ "input": other }),
        _ => Value::Object(Map::new()),
    };
    let output = entry.get("output");
    let result = ToolResult {
        call: id.clone(),
        status: match output {
            Some(_) => CallStatus::Ok,
            None => CallStatus::Failed,
        },
        output: Excerpt::of(output.map(output_text).unwrap_or_default()),
        facts: ResultFacts {
            summary: Some(summarise_output(output)),
            ..ResultFacts::default()
        },
        ..ToolResult::default()
    };
    vec![
        EntryKind::Call(Call { id, tool, input }),
        EntryKind::Result(result),
    ]
}

/// An output as text: a list's items stand on lines of their own.
fn output_text(output: &Value) -> String {
    match output {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(output_text).collect();
            items.join("\n")
        }
        other => other.to_string(),
    }
}

/// The message without its trace, cut (001-037).
fn message(entry: &Map<String, Value>) -> String {
    let message = entry.get("message").map(|m| match m {
        Value::Null => String::new(),
        other => display(other),
    });
    message
        .unwrap_or_default()
        .chars()
        .take(MESSAGE_CHARS)
        .collect()
}

/// `Edit failed - String to replace not found`: the documents' example (001-026, D26).
fn failure(entry: &Map<String, Value>) -> String {
    match entry.get("tool").and_then(Value::as_str) {
        Some(tool) => format!("{tool} failed - {}", message(entry)),
        None => message(entry),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<EntryKind>, Cow<'static, str>> {
        let mut out = Vec::new();
        let bytes = text.as_bytes().to_vec();
        line(
            &mut ParseState::default(),
            Span::default(),
            &bytes,
            &mut out,
        )?;
        Ok(out.into_iter().map(|entry| entry.what).collect())
    }

    #[test]
    fn the_documents_examples_become_entries() {
        let prompt = read(r#"{"type":"user","content":"Fix the authentication bug"}"#).unwrap();
        assert!(matches!(&prompt[..], [EntryKind::Prompt { text, .. }] if text.starts_with("Fix")));
        let said = read(r#"{"type":"assistant","content":"Reading"}"#).unwrap();
        assert_eq!(said, [EntryKind::Said("Reading".into())]);
        let call =
            r#"{"type":"tool_use","tool":"Grep","input":{"pattern":"jwt"},"output":["a","b"]}"#;
        let [EntryKind::Call(call), EntryKind::Result(result)] = &read(call).unwrap()[..] else {
            panic!("a call and its result");
        };
        assert_eq!((&*call.tool, &call.id), ("Grep", &result.call));
        assert_eq!((result.output.lines, result.status), (2, CallStatus::Ok));
        let error = r#"{"type":"error","tool":"Edit","message":"String not found","details":"at"}"#;
        assert_eq!(
            read(error).unwrap(),
            [EntryKind::Failure("Edit failed - String not found".into())]
        );
        let open = read(r#"{"type":"tool_use","tool":"Bash","input":{}}"#).unwrap();
        assert!(matches!(&open[1], EntryKind::Result(r) if r.status == CallStatus::Failed));
    }

    #[test]
    fn other_lines_are_unknown_or_refused() {
        assert_eq!(read(r#"{"type":"x"}"#).unwrap(), [EntryKind::unknown("x")]);
        assert_eq!(read("{}").unwrap(), [EntryKind::unknown("untyped")]);
        assert_eq!(read("[1]").unwrap_err(), "not an object");
        assert_eq!(read("{").unwrap_err(), "torn json");
    }
}
