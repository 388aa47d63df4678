//! Comments of an edit's own text that say that something is to be done: new in it, or gone with it.

use super::call::{DigestCall, TODOS};
use super::line::{self, TEXT_CHARS_MAX};
use crate::rules::left::{at_mark, to_do};
use crate::rules::secrets::Redactor;
use crate::rules::tools::AnswerKind;
use serde_json::Value;

/// More of one call are a skeleton, not something left.
const TODOS_MAX: usize = 8;

/// Of one call; where more are gone, any may be.
const GONE_MAX: usize = 16;

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
    let (mut found, mut come) = (Vec::new(), Vec::new());
    for [old, new] in &edits {
        found.extend(gone(old, new).into_iter().map(|text| (text, true)));
        let old = of(old);
        let new = of(new).into_iter().filter(|text| !old.contains(text));
        come.extend(new.map(|text| (text, false)));
    }
    if found.len() > GONE_MAX {
        found = vec![("", true)];
    }
    come.truncate(TODOS_MAX);
    let all = found.into_iter().chain(come).map(|(text, is_gone)| {
        let text = redactor.redact(text);
        (line::folded(&text, TEXT_CHARS_MAX).into_owned(), is_gone)
    });
    all.collect()
}

/// What a text says is to be done, outside of its strings of several lines.
fn of(text: &str) -> Vec<&str> {
    let mut inside = [false; 3];
    let mut all = Vec::new();
    // most texts have none, and are long
    if at_mark(text).is_none() {
        return all;
    }
    for line in text.lines() {
        if !inside.contains(&true) {
            all.extend(to_do(line));
        }
        for (inside, mark) in inside.iter_mut().zip(["`", "\"\"\"", "'''"]) {
            *inside ^= line.matches(mark).count() % 2 == 1;
        }
    }
    all
}

/// What an old text has that the new one hasn't: behind a mark, however it is written, or nothing but words, which may be of a
/// comment.
fn gone<'t>(old: &'t str, new: &str) -> Vec<&'t str> {
    let is_plain = |line: &&str| {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, ' ' | ',' | '.' | '-' | ':');
        line.contains(' ') && line.chars().all(is_word)
    };
    let is_single = !old.trim().contains('\n');
    let lines = old.lines().filter_map(|line| {
        let line = line.trim();
        let bare = || Some(line).filter(|_| is_single).filter(is_plain);
        let marked = at_mark(line)
            .map(|(_, after)| to_do(line).unwrap_or(after.trim_matches([':', ' ', '-'])));
        marked.or_else(bare)
    });
    lines
        .filter(|text| text.is_empty() || !new.contains(text))
        .collect()
}
