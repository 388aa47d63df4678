//! What has to be kept of a call's input until its result comes.
//!
//! Knows which numbers a digest takes from long parameters; refuses to change what the digest says:
//! the digest of a shortened input is the digest of the input, and shortening twice is shortening
//! once.

use super::call::{
    ACTS, CHANGED, CHECKS, CLASS, DigestCall, IDLE, KEY, LINES, PARAMS, SETTINGS, TITLE, TODOS,
    joined, params,
};
use super::files::{changed_lines, written_lines};
use super::findings;
use super::line::{self, COMMAND_CHARS_MAX, TEXT_CHARS_MAX};
use super::patch;
use super::plans::planned;
use super::script;
use super::todos;
use crate::rules::secrets::Redactor;
use crate::rules::tools::{self, AnswerKind, Show, ToolRule};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The input without what its digest doesn't need: a few hundred bytes, except for questions to a
/// person; what is kept is masked first. About as fast as dropping what is left out.
pub fn shorten_input(tool: &str, mut input: Value, redactor: &Redactor) -> Value {
    mask(tools::tool(tool), &mut input, redactor);
    let call = DigestCall::new(tool, &input, None);
    let mut kept = Map::new();
    match call.row.answer {
        AnswerKind::Other => return shorten_unknown(input),
        AnswerKind::Ask => kept.extend(questions(&call)),
        AnswerKind::Plan => kept.extend(plan(&input)),
        AnswerKind::Edit => {
            let changed = changed_lines(&input);
            kept.extend(changed.map(|(a, r)| (CHANGED.to_owned(), json!([a, r]))));
            let set = findings::settings(&call, redactor);
            kept.extend((!set.is_empty()).then(|| (SETTINGS.to_owned(), json!(set))));
            kept.extend(kept_todos(&call, redactor));
        }
        AnswerKind::Write => {
            let lines = written_lines(&input);
            kept.extend(lines.map(|n| (LINES.to_owned(), json!(n))));
            kept.extend(planned(&call).map(|title| kept_title(&redactor.redact(title))));
            kept.extend(kept_todos(&call, redactor));
        }
        AnswerKind::Approve => kept.extend(call.title().map(kept_title)),
        AnswerKind::Shell => {
            let counted = call.counted();
            kept.extend([
                (IDLE.to_owned(), call.is_idle().into()),
                (CLASS.to_owned(), counted.name.into()),
                (KEY.to_owned(), counted.key.into()),
            ]);
            let acts = call.acts();
            kept.extend((!acts.is_empty()).then(|| (ACTS.to_owned(), json!(acts))));
            kept.extend(kept_checks(&call));
        }
        _ => {}
    }
    if !call.changes.is_empty() {
        kept.extend([patch::keep(&call.changes)]);
    }
    let patched = !call.changes.is_empty();
    let row = call.row;
    let Value::Object(map) = input else {
        return Value::Object(kept);
    };
    for (key, value) in map {
        let shown = row.shows.iter().find(|show| show.keys().contains(&key));
        let command = matches!(shown, Some(Show::Command(_)));
        // a command that patches is the patch, of which the changes are kept already
        if is_needed(row, &key) && !(command && patched) && !kept.contains_key(&key) {
            kept.insert(key, shorten_value(value, command));
        }
    }
    Value::Object(kept)
}

/// Of a command that will be cut.
fn kept_checks(call: &DigestCall<'_>) -> Option<(String, Value)> {
    let is_long = |line: Cow<'_, str>| line.len() > COMMAND_CHARS_MAX;
    if call.input.get(CHECKS).is_none() && !call.command_line().is_some_and(is_long) {
        return None;
    }
    let checks = call.own_checks();
    (!checks.is_empty()).then(|| (CHECKS.to_owned(), json!(checks)))
}

fn kept_todos(call: &DigestCall<'_>, redactor: &Redactor) -> Option<(String, Value)> {
    let found = todos::todos(call, redactor);
    (!found.is_empty()).then(|| (TODOS.to_owned(), json!(found)))
}

/// Masks what the digest may tell, whole, because the cuts come later. What is only counted (texts
/// that are written, read or replaced) stays as it is, and so do the counts.
fn mask(row: &ToolRule, input: &mut Value, redactor: &Redactor) {
    let counted = matches!(
        row.answer,
        AnswerKind::Edit | AnswerKind::Write | AnswerKind::Read
    );
    match input {
        Value::Object(map) if counted => {
            let shown = map.iter_mut().filter(|(key, _)| is_needed(row, key));
            shown.for_each(|(_, value)| redactor.mask_value(value));
        }
        input => redactor.mask_value(input),
    }
}

fn is_needed(row: &ToolRule, key: &str) -> bool {
    let shown = row
        .shows
        .iter()
        .any(|show| show.keys().iter().any(|k| k == key));
    shown || row.files.iter().any(|k| k == key) || ALSO.contains(&key)
}

/// Parameters that no row shows and some answer needs.
const ALSO: [&str; 18] = [
    "offset",
    "workdir",
    "output_mode",
    "-A",
    "-B",
    "-C",
    "context",
    "edit_mode",
    "cell_id",
    "status",
    "subject",
    "taskId",
    "question",
    TITLE,
    LINES,
    CHANGED,
    SETTINGS,
    TODOS,
];

fn shorten_value(value: Value, command: bool) -> Value {
    let chars_max = if command {
        COMMAND_CHARS_MAX
    } else {
        TEXT_CHARS_MAX
    };
    match value {
        Value::String(text) if text.len() > chars_max && command => script::folded(&text).into(),
        Value::String(text) if text.len() > chars_max => line::folded(&text, chars_max).into(),
        Value::Array(list) if command => script::folded(&joined(&list)).into(),
        Value::Array(_) | Value::Object(_) => Value::Null,
        short => short,
    }
}

fn shorten_unknown(input: Value) -> Value {
    match input.get(PARAMS).is_some_and(Value::is_string) {
        true => input,
        false => match params(&input) {
            params if params.is_empty() => Value::Object(Map::new()),
            params => json!({ PARAMS: params }),
        },
    }
}

fn questions(call: &DigestCall<'_>) -> Option<(String, Value)> {
    let kept: Vec<Value> = call
        .questions()
        .map(|(id, text)| {
            let (header, options) = call.form(text);
            let option = |(label, means): &(&str, &str)| json!({"label": label, "description": line::folded(means, TEXT_CHARS_MAX)});
            let options: Vec<Value> = options.iter().map(option).collect();
            json!({"id": id, "question": text, "header": header, "options": options})
        })
        .collect();
    (!kept.is_empty()).then(|| ("questions".to_owned(), kept.into()))
}

fn plan(input: &Value) -> Option<(String, Value)> {
    let keys = ["todos", "plan"];
    let (key, list) = keys
        .iter()
        .find_map(|key| Some((*key, input.get(*key)?.as_array()?)))?;
    let short = |item: &Value| {
        let kept = ["content", "step", "description", "title", "status"];
        let kept = kept
            .iter()
            .filter_map(|key| Some((*key, item.get(*key)?.as_str()?)));
        let kept = kept.map(|(key, text)| {
            (
                key.to_owned(),
                Value::from(line::folded(text, TEXT_CHARS_MAX)),
            )
        });
        Value::Object(kept.collect())
    };
    Some((key.to_owned(), list.iter().map(short).collect()))
}

fn kept_title(title: &str) -> (String, Value) {
    (TITLE.to_owned(), line::folded(title, TEXT_CHARS_MAX).into())
}
