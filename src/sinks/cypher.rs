//! Values of Cypher queries, and how they are written into one.

use crate::model::time::Time;
use chrono::SecondsFormat;
use std::fmt::Write;

/// A parameter of a query, or a part of its answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing; of an answer also what nobody here asks for.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(String),
    /// A moment, in UTC.
    Time(Time),
    /// In order.
    List(Vec<Value>),
    /// Keys are plain.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into())
    }

    /// A map of these.
    pub fn map<const N: usize>(pairs: [(&str, Value); N]) -> Value {
        let pairs = pairs.into_iter();
        Value::Map(pairs.map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// The text; none of anything else.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Writes a value as a literal. FalkorDB has no moments: they are texts as Python writes them.
pub fn literal(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("NULL"),
        Value::Bool(is) => {
            let _ = write!(out, "{is}");
        }
        Value::Int(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Text(text) => string(out, text),
        Value::Time(time) => string(out, &isoformat(*time)),
        Value::List(items) => {
            out.push('[');
            for (nth, item) in items.iter().enumerate() {
                out.push_str(if nth == 0 { "" } else { ", " });
                literal(out, item);
            }
            out.push(']');
        }
        Value::Map(pairs) => {
            out.push('{');
            for (nth, (key, item)) in pairs.iter().enumerate() {
                let comma = if nth == 0 { "" } else { ", " };
                let _ = write!(out, "{comma}{key}: ");
                literal(out, item);
            }
            out.push('}');
        }
    }
}

/// NUL can't be written and is left out; everything else stays as it is.
fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => {}
            c => out.push(c),
        }
    }
    out.push('"');
}

/// As Python writes it: such texts are compared with each other.
fn isoformat(time: Time) -> String {
    let precision = match time.0.rem_euclid(1_000) {
        0 => SecondsFormat::Secs,
        _ => SecondsFormat::Micros,
    };
    time.utc().to_rfc3339_opts(precision, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &Value) -> String {
        let mut out = String::new();
        literal(&mut out, value);
        out
    }

    #[test]
    fn nothing_in_a_text_ends_its_literal() {
        let map = Value::map([
            ("a", Value::text("x\"y\\z\n\0\r")),
            ("b", Value::text("ü\u{2028}😀'")),
        ]);
        assert_eq!(
            written(&map),
            "{a: \"x\\\"y\\\\z\\n\\r\", b: \"ü\u{2028}😀'\"}"
        );
        let list = Value::List(vec![Value::Int(-1), Value::Bool(true), Value::Null]);
        assert_eq!(written(&list), "[-1, true, NULL]");
    }

    #[test]
    fn times_are_written_as_graphiti_compares_them() {
        let written = |text: &str| written(&Value::Time(Time::parse(text).unwrap()));
        assert_eq!(
            written("2026-01-02T03:04:05Z"),
            "\"2026-01-02T03:04:05+00:00\""
        );
        assert_eq!(
            written("2026-01-02T03:04:05.120Z"),
            "\"2026-01-02T03:04:05.120000+00:00\""
        );
    }
}
