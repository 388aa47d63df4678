//! Values as they are written into a Cypher query. Knows quoting; refuses to know queries.

use std::fmt::Write;

/// A string literal. NUL can't be written and is left out; everything else stays as it is.
pub fn string(out: &mut String, text: &str) {
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

/// A map of strings: `{key: "value", …}`. Keys are ours and plain.
pub fn map(out: &mut String, pairs: &[(&str, &str)]) {
    out.push('{');
    for (i, (key, value)) in pairs.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let _ = write!(out, "{comma}{key}: ");
        string(out, value);
    }
    out.push('}');
}

/// A list, each item written by `item`.
pub fn list<T>(out: &mut String, items: &[T], item: impl Fn(&mut String, &T)) {
    out.push('[');
    for (i, value) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        item(out, value);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_its_literal() {
        let mut out = String::new();
        map(&mut out, &[("a", "x\"y\\z\n\0\r"), ("b", "ü\u{2028}😀'")]);
        assert_eq!(out, "{a: \"x\\\"y\\\\z\\n\\r\", b: \"ü\u{2028}😀'\"}");
        let mut out = String::new();
        list(&mut out, &["1", "2"], |out, text| string(out, text));
        assert_eq!(out, "[\"1\", \"2\"]");
    }
}
