//! What of a JSON value somebody may have said: words in its strings. Also the value without any of it.

use super::text::{decode, inside};
use serde_json::Value;

/// A string with fewer words is an id, a name, a path. Smaller: every state of two words rings an alarm;
/// larger: short answers go unnoticed.
const WORDS_MIN: usize = 3;
/// Of the value without its content. Larger: nobody reads it; real lines have up to 60.
const MEMBERS_MAX: usize = 200;

/// Words in the strings of a JSON value, without those in names of members, and without strings of one or
/// two. Costs one pass.
pub fn words(json: &[u8]) -> u64 {
    let (mut words, mut at) = (0, 0);
    while let Some(open) = memchr::memchr(b'"', &json[at..]).map(|n| at + n) {
        let end = string_end(json, open);
        let is_name = json[end..].iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':');
        if let (false, Some(text)) = (is_name, inside(&json[open..end])) {
            words += spoken(&decode(text));
        }
        at = end;
    }
    words
}

fn spoken(text: &str) -> u64 {
    let is_word = |word: &&str| word.chars().any(char::is_alphabetic);
    let words = text.split_whitespace().filter(is_word).count();
    if words < WORDS_MIN { 0 } else { words as u64 }
}

/// Behind the string that opens at `open`.
fn string_end(json: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(byte) = json.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    json.len()
}

/// The value's shape: names of members and types, and nothing that it says. Lists keep their first element;
/// a member whose name may be content is `…`.
pub fn blanked(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.split_whitespace().count() {
            0 | 1 => "text".into(),
            words => format!("text of {words} words").into(),
        },
        Value::Number(_) => "number".into(),
        Value::Bool(_) => "true or false".into(),
        Value::Null => Value::Null,
        Value::Array(elements) => elements.iter().take(1).map(blanked).collect(),
        Value::Object(members) => {
            let shown = members.iter().take(MEMBERS_MAX);
            shown
                .map(|(name, value)| (harmless(name), blanked(value)))
                .collect()
        }
    }
}

/// Names that programmers give; what else stands before a colon (paths, questions, ids) is content.
fn harmless(name: &str) -> String {
    let is_plain = name
        .chars()
        .all(|c| c.is_ascii_alphabetic() || c == '_' || c == '-');
    let is_name = is_plain && (1..=40).contains(&name.len());
    if is_name {
        name.to_owned()
    } else {
        "…".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_counted_in_values_only_and_ids_are_none() {
        for (json, wants) in [
            (r#"{"type":"x","id":"a-b-c","n":5,"at":"2026-01-01"}"#, 0),
            (
                r#"{"text":"please add a retry","more":["one two three"]}"#,
                7,
            ),
            (r#"{"a name of four words":"two words"}"#, 0),
            (r#"{"text":"she said \"no\" to me"}"#, 5),
            (r#"{"text":"never ends, this one"#, 0),
            (r#"{"text":"1 2 3 4"}"#, 0),
        ] {
            assert_eq!(words(json.as_bytes()), wants, "{json}");
        }
    }

    #[test]
    fn a_blanked_value_says_nothing() {
        let value = json!({"type": "hologram", "text": "my secret plan", "n": 7, "on": true, "none": null,
            "list": [{"a": "b"}, {"c": "d"}], "/home/ada/plan.md": 1, "4f2a": {}});
        let wants = json!({"type": "text", "text": "text of 3 words", "n": "number", "on": "true or false",
            "none": null, "list": [{"a": "text"}], "…": "number"});
        let mut got = blanked(&value);
        got["…"] = "number".into(); // two of them: the last one counts
        assert_eq!(got, wants);
    }
}
