//! The documents' own rules for tool calls (001-034..054, D27): how inputs are shortened and
//! outputs named, letter for letter as the printed Python does it. Knows JSON values; refuses to
//! know tools. Digests fall back on it for tools that nobody knows.

use serde_json::{Map, Value, json};

/// Longer strings are cut to this many characters (001-040).
const STRING_CHARS: usize = 100;
/// Longer lists are cut to this many items (001-041).
const LIST_ITEMS: usize = 5;

/// A tool's input with long strings and lists cut, one level deep (001-039..042).
pub fn summarise_input(input: &Value) -> Value {
    match input {
        Value::Object(fields) => {
            let short = fields.iter().map(|(k, v)| (k.clone(), shortened(v)));
            Value::Object(short.collect())
        }
        other if is_falsy(other) => Value::Object(Map::new()),
        other => other.clone(),
    }
}

/// A tool's output in a few words (001-043..050); `None` where the entry has none.
pub fn summarise_output(output: Option<&Value>) -> String {
    match output {
        None | Some(Value::Null) => "No output".to_owned(),
        Some(Value::String(text)) => summarise_text(text),
        Some(Value::Object(fields)) => {
            let keys = fields.keys().take(5).map(|key| json!(key)).collect();
            format!(
                "Dict with {} keys: {}",
                fields.len(),
                repr(&Value::Array(keys))
            )
        }
        Some(Value::Array(items)) => format!("List with {} items", items.len()),
        Some(Value::Bool(_)) => "bool".to_owned(),
        Some(Value::Number(n)) if n.is_f64() => "float".to_owned(),
        Some(Value::Number(_)) => "int".to_owned(),
    }
}

/// A textual output in a few words (001-044..047).
pub fn summarise_text(text: &str) -> String {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    let chars = text.chars().count();
    let lower = text.to_ascii_lowercase();
    match lines {
        _ if lower.contains("error") || lower.contains("failed") => {
            format!("Error output ({lines} lines)")
        }
        101.. => format!("Large output ({lines} lines, {chars} chars)"),
        _ => format!("Output ({lines} lines)"),
    }
}

/// `k=v, k=v` of an already shortened input, values as Python prints them (001-054).
pub fn params(input: &Value) -> String {
    match input {
        Value::Object(fields) => {
            let pairs = fields.iter().map(|(k, v)| format!("{k}={}", display(v)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        other => display(other),
    }
}

/// A value as Python's `str` prints it.
pub fn display(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let chars = text.chars().count();
            match text.char_indices().nth(STRING_CHARS) {
                Some((cut, _)) => json!(format!("{}... ({chars} chars)", &text[..cut])),
                None => value.clone(),
            }
        }
        Value::Array(items) if items.len() > LIST_ITEMS => {
            let mut short = items[..LIST_ITEMS].to_vec();
            short.push(json!(format!("... ({} items)", items.len())));
            Value::Array(short)
        }
        other => other.clone(),
    }
}

/// Nothing, as Python sees it.
pub fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(n) => n.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// A value as Python's `repr` prints it.
fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(n) if n.is_f64() => float(n.as_f64().unwrap_or_default()),
        Value::Number(n) => n.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(repr).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let pairs = fields
                .iter()
                .map(|(k, v)| format!("{}: {}", quoted(k), repr(v)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The shortest digits that read back; an exponent below 1e-4 and from 1e16 on.
fn float(n: f64) -> String {
    let scientific = format!("{n:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if n == 0.0 || (-4..16).contains(&exponent) {
        return format!("{n:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Single quotes, unless only double ones avoid an escape.
fn quoted(text: &str) -> String {
    let quote = match text.contains('\'') && !text.contains('"') {
        true => '"',
        false => '\'',
    };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || (0x7f..0xa1).contains(&(c as u32)) || c == '\u{ad}' => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_as_python_does() {
        let cases = [
            (
                json!([1, "a", null, true, 1.0]),
                "[1, 'a', None, True, 1.0]",
            ),
            (json!({"a": {"b": []}}), "{'a': {'b': []}}"),
            (json!("it's"), "\"it's\""),
            (json!("it's \"x\""), "'it\\'s \"x\"'"),
            (json!("a\n\u{1}\u{e9}\\"), "'a\\n\\x01é\\\\'"),
            (json!(1e16), "1e+16"),
            (json!(1.5e-7), "1.5e-07"),
            (json!(123456.75), "123456.75"),
        ];
        for (value, want) in cases {
            assert_eq!(repr(&value), want);
        }
    }

    #[test]
    fn inputs_are_cut_by_characters_and_items() {
        let exactly = "é".repeat(100);
        let input = json!({"a": exactly, "b": "é".repeat(101), "c": [1, 2, 3, 4, 5], "d": {"e": "x".repeat(500)}});
        let short = summarise_input(&input);
        assert_eq!(short["a"], input["a"]);
        assert_eq!(short["b"], json!(format!("{}... (101 chars)", exactly)));
        assert_eq!((&short["c"], &short["d"]), (&input["c"], &input["d"]));
        assert_eq!(summarise_input(&Value::Null), json!({}));
    }

    #[test]
    fn outputs_are_named_by_kind() {
        assert_eq!(summarise_output(None), "No output");
        let many = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6});
        assert_eq!(
            summarise_output(Some(&many)),
            "Dict with 6 keys: ['a', 'b', 'c', 'd', 'e']"
        );
        assert_eq!(summarise_output(Some(&json!(1.5))), "float");
        assert_eq!(
            summarise_output(Some(&json!("x\nFAILED"))),
            "Error output (2 lines)"
        );
    }
}
