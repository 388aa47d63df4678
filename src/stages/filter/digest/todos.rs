//! Comments of an edit's own text that say that something is to be done: new in it, or gone with it.

use super::call::{DigestCall, TODOS};
use super::line::{self, TEXT_CHARS_MAX};
use crate::rules::left::to_do;
use crate::rules::secrets::Redactor;
use crate::rules::tools::AnswerKind;
use serde_json::Value;

/// More of one call are a skeleton, not something left.
const TODOS_MAX: usize = 8;

/// What is to be done, and whether the edit took it away; masked. Of a file that is written whole all of its text counts.
pub fn todos(call: &DigestCall<'_>, redactor: &Redactor) -> Vec<(String, bool)> {
    if let Some(kept) = call.input.get(TODOS) {
        return serde_json::from_value(kept.clone()).unwrap_or_default();
    }
    let text = |edit: &Value, key: &str| edit.get(key).and_then(Value::as_str).map(str::to_owned);
    let edits: Vec<[String; 2]> = match call.row.answer {
        AnswerKind::Write => {
            let content = text(call.input, "content").unwrap_or_default();
            vec![[String::new(), content]]
        }
        AnswerKind::Edit => {
            let list = call.input.get("edits").and_then(Value::as_array);
            let edits = list.map_or(std::slice::from_ref(call.input), Vec::as_slice);
            let texts = edits.iter().map(|edit| {
                ["old_string", "new_string"].map(|key| text(edit, key).unwrap_or_default())
            });
            texts.collect()
        }
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for [old, new] in &edits {
        let (old, new): (Vec<&str>, Vec<&str>) = (
            old.lines().filter_map(to_do).collect(),
            new.lines().filter_map(to_do).collect(),
        );
        let gone = old.iter().filter(|text| !new.contains(text));
        let gone = gone.map(|text| (*text, true));
        let come = new.iter().filter(|text| !old.contains(text));
        found.extend(
            gone.chain(come.map(|text| (*text, false)))
                .map(|(text, is_gone)| {
                    let text = redactor.redact(text);
                    (line::folded(&text, TEXT_CHARS_MAX).into_owned(), is_gone)
                }),
        );
    }
    found.truncate(TODOS_MAX);
    found
}
