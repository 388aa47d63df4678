//! JSON strings to text, leniently: lone surrogates and invalid UTF-8 become U+FFFD, never an error.
//!
//! Also measures long strings without decoding all of them ([`excerpt`]).

use super::cursor::{self, Raw, find, structure};
use super::tree;
use crate::model::entry::{EXCERPT_HEAD, EXCERPT_TAIL, Excerpt};
use memchr::memchr;
use serde_json::Value;
use std::borrow::Cow;

/// Bytes of a name as logs state it: an id, a directory, a tool, a model. A path can't be longer on
/// Linux; longer ones cost memory in every checkpoint and time in every look at the disk.
pub const NAME_BYTES_MAX: usize = 4_096;

/// Whether this can be a name: not too long, and nothing in it that steers a terminal.
pub fn is_name(text: &str) -> bool {
    text.len() <= NAME_BYTES_MAX && !text.chars().any(char::is_control)
}

/// The inside of a raw string (`"…"`), or `None` when the raw value is something else.
pub fn inside(raw: &[u8]) -> Option<&[u8]> {
    match raw {
        [b'"', inside @ .., b'"'] => Some(inside),
        _ => None,
    }
}

/// A raw string decoded. `None` when the value is not a string.
pub fn string(raw: Raw<'_>) -> Option<String> {
    inside(raw).map(|text| decode(text).into_owned())
}

/// The inside of a string, decoded; borrowed where nothing is escaped and the bytes are UTF-8.
pub fn decode(text: &[u8]) -> Cow<'_, str> {
    // much faster than `from_utf8_lossy` for the text that all text is
    let text = simdutf8::basic::from_utf8(text)
        .map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed);
    match text {
        Cow::Borrowed(text) => unescaped(text, Broken::Mended),
        Cow::Owned(text) => Cow::Owned(unescaped(&text, Broken::Mended).into_owned()),
    }
}

/// What becomes of an escape that JSON doesn't have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// `\x` is `x`, `\u12` is U+FFFD and `12`, a backslash at the end is nothing.
    Mended,
    /// It stays as it is written.
    Kept,
}

/// The inside of a string without its escapes; borrowed where there are none.
pub fn unescaped(text: &str, broken: Broken) -> Cow<'_, str> {
    let Some(first) = memchr(b'\\', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = escape(&text[first + 1..], broken, &mut out);
    while let Some(slash) = find(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..slash]);
        rest = escape(&rest[slash + 1..], broken, &mut out);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// One escape, without its backslash; gives what follows it.
fn escape<'a>(rest: &'a str, broken: Broken, out: &mut String) -> &'a str {
    let mut after = rest.chars();
    let plain = match after.next() {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('u') => return unicode(after.as_str(), broken, out),
        Some(known @ ('"' | '\\' | '/')) => known,
        _ if broken == Broken::Kept => {
            out.push('\\');
            return rest;
        }
        Some(other) => other,
        None => return rest,
    };
    out.push(plain);
    after.as_str()
}

/// After `\u`: four digits, and for a high surrogate the second half.
fn unicode<'a>(rest: &'a str, broken: Broken, out: &mut String) -> &'a str {
    let Some(first) = hex4(rest) else {
        out.push_str(match broken {
            Broken::Mended => "\u{fffd}",
            Broken::Kept => "\\u",
        });
        return rest;
    };
    let mut after = &rest[4..];
    let mut code = first;
    if (0xD800..0xDC00).contains(&first)
        && let Some(second) = after.strip_prefix("\\u")
        && let Some(low @ 0xDC00..0xE000) = hex4(second)
    {
        code = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
        after = &second[4..];
    }
    out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    after
}

fn hex4(text: &str) -> Option<u32> {
    let mut digits = text.get(..4)?.chars();
    digits.try_fold(0, |code, digit| Some(code << 4 | digit.to_digit(16)?))
}

/// The inside of a string, measured, with both ends decoded. Costs one pass for backslashes.
pub fn excerpt(text: &[u8]) -> Excerpt {
    if text.len() <= EXCERPT_HEAD + EXCERPT_TAIL {
        return Excerpt::of(decode(text));
    }
    let (bytes, newlines, ends_with_newline) = measure(text);
    let mut start = text.len() - EXCERPT_TAIL;
    let slashes = text[..start]
        .iter()
        .rev()
        .take_while(|b| **b == b'\\')
        .count();
    start += slashes % 2;
    while text.get(start).is_some_and(|b| b & 0xC0 == 0x80) {
        start += 1;
    }
    let mut end = EXCERPT_HEAD;
    while text[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    let mut head = decode(&text[..end]).into_owned();
    if head.ends_with('\u{fffd}') {
        head.pop(); // half an escape
    }
    Excerpt {
        head,
        tail: decode(&text[start..]).into_owned(),
        bytes,
        lines: newlines + u64::from(!ends_with_newline),
    }
}

/// (decoded bytes, newlines, ends with a newline). `\uNNNN` counts as 3 bytes.
fn measure(text: &[u8]) -> (u64, u64, bool) {
    let (mut bytes, mut newlines, mut last_newline) = (text.len() as u64, 0, false);
    let mut rest = text;
    while let Some(slash) = find(b'\\', rest) {
        let kind = rest.get(slash + 1).copied().unwrap_or(b' ');
        let length = if kind == b'u' { 6 } else { 2 };
        bytes = bytes.saturating_sub(if kind == b'u' { 3 } else { 1 });
        newlines += u64::from(kind == b'n');
        rest = rest.get(slash + length..).unwrap_or(&[]);
        last_newline = kind == b'n' && rest.is_empty();
    }
    (bytes, newlines, last_newline)
}

/// A raw value as a tree, leniently where serde_json refuses (lone surrogates, invalid UTF-8). What
/// is deeper than [`DEPTH_MAX`] or wider than [`VALUES_MAX`] becomes a marker.
pub fn tree(raw: Raw<'_>) -> Value {
    if is_deep(raw) {
        return Value::String("(nested too deep)".into());
    }
    if is_wide(raw) {
        return Value::String("(too many values)".into());
    }
    tree::decoded(raw).unwrap_or_else(|| lenient(raw))
}

/// A raw value as a tree, as `serde_json` reads it; `None` where it would refuse it, and where it is too wide.
pub fn strict_tree(raw: Raw<'_>) -> Option<Value> {
    match () {
        () if is_wide(raw) => None,
        // it counts by itself
        () if is_deep(raw) => serde_json::from_slice(raw).ok(),
        () => tree::decoded(raw),
    }
}

/// serde_json's own recursion limit is 128; deeper parameters are damage or an attack.
pub const DEPTH_MAX: usize = 100;

/// Values of one tree. Real parameters have some hundred; larger: each takes up to a hundred bytes of
/// memory, so that a line of eight megabytes becomes several hundred.
pub const VALUES_MAX: usize = 100_000;

/// More than [`VALUES_MAX`] values are in a raw value.
pub fn is_wide(raw: Raw<'_>) -> bool {
    raw.len() > VALUES_MAX && shape(raw).1 > VALUES_MAX
}

/// A raw value is nested more than [`DEPTH_MAX`] deep. Counting brackets, in strings too, is faster
/// than telling which of them count, and nearly always enough.
fn is_deep(raw: Raw<'_>) -> bool {
    let opening = memchr::memchr2_iter(b'{', b'[', raw);
    opening.count() > DEPTH_MAX && shape(raw).0 > DEPTH_MAX
}

/// How deep a raw value is, and about how many values are in it.
fn shape(raw: Raw<'_>) -> (usize, usize) {
    let (mut depth, mut deepest, mut values) = (0usize, 0, 1);
    for (_, byte) in structure(raw) {
        match byte {
            b',' => values += 1,
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            _ => depth = depth.saturating_sub(1),
        }
    }
    (deepest, values)
}

/// By this module's own reading; for what strict parsers refuse.
fn lenient(raw: Raw<'_>) -> Value {
    match raw.first() {
        Some(b'"') => Value::String(string(raw).unwrap_or_default()),
        Some(b'{') => {
            let mut map = serde_json::Map::new();
            cursor::object(raw, |key, value| {
                map.insert(decode(key).into_owned(), lenient(value));
            });
            Value::Object(map)
        }
        Some(b'[') => {
            let mut all = Vec::new();
            cursor::array(raw, |value| all.push(lenient(value)));
            Value::Array(all)
        }
        _ => serde_json::from_slice(raw).unwrap_or(Value::Null),
    }
}

/// A raw whole number; `None` for anything else.
pub fn number(raw: Raw<'_>) -> Option<u64> {
    std::str::from_utf8(raw).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_surrogates() {
        for (raw, text) in [
            (r#"plain"#, "plain"),
            (r#"a\n\t\"\\\/b"#, "a\n\t\"\\/b"),
            (r#"\u00e9\ud83d\ude00"#, "é😀"),
            (r#"\ud83d alone \ude00"#, "\u{fffd} alone \u{fffd}"),
            (r#"\ud83d\u0041"#, "\u{fffd}A"),
            (r#"cut \"#, "cut "),
            (r#"cut \u12"#, "cut \u{fffd}12"),
        ] {
            assert_eq!(decode(raw.as_bytes()), text, "{raw}");
        }
        assert_eq!(decode(b"bad \xff utf-8"), "bad \u{fffd} utf-8");
    }

    #[test]
    fn a_long_text_is_measured_like_a_short_one() {
        let text = "line with \"quotes\" and é\n".repeat(2_000);
        let raw = serde_json::to_string(&text).unwrap();
        let long = excerpt(inside(raw.as_bytes()).unwrap());
        let wants = Excerpt::of(&text);
        assert_eq!((long.bytes, long.lines), (wants.bytes, wants.lines));
        assert_eq!(long.lines, 2_000);
        assert!(text.starts_with(&long.head) && text.ends_with(&long.tail));
        assert!(!long.is_whole());
    }

    #[test]
    fn trees_survive_what_strict_parsers_refuse() {
        let tree = tree(br#"{"a":"x\ud83dy","b":[1,true,null,"c"]}"#);
        assert_eq!(tree["a"], "x\u{fffd}y");
        assert_eq!(tree["b"], serde_json::json!([1, true, null, "c"]));
        let deep = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
        assert_eq!(super::tree(deep.as_bytes()), "(nested too deep)");
        let wide = format!("[{}0]", "0,".repeat(VALUES_MAX));
        assert_eq!(super::tree(wide.as_bytes()), "(too many values)");
    }

    #[test]
    fn names_are_short_and_visible() {
        assert!(is_name("/home/ada/shöp (2)") && is_name(&"n".repeat(NAME_BYTES_MAX)));
        assert!(!is_name("a\nb") && !is_name("\u{1b}[31m") && !is_name("\u{9b}1m"));
        assert!(!is_name(&"n".repeat(NAME_BYTES_MAX + 1)));
    }

    proptest::proptest! {
        #[test]
        fn decoding_undoes_encoding(text: String) {
            let raw = serde_json::to_string(&text).unwrap();
            proptest::prop_assert_eq!(string(raw.as_bytes()).unwrap(), text);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, n in 1usize..900) {
            decode(&bytes);
            excerpt(&bytes.repeat(n));
            tree(&bytes);
        }
    }
}
