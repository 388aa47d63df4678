//! Finds where the values of a JSON object are without decoding them; knows JSON's structure, and
//! refuses to know what any key means.
//!
//! What is skipped is skipped by structure: strings at memory speed, brackets by counting, so that
//! depth costs nothing and a broken escape in a value that nobody asks for does no harm.

use crate::stages::parse::scan::find;
use crate::stages::parse::text::is_name;
use memchr::memchr;
use std::borrow::Cow;

/// The top-level fields of an object, as raw slices of its text.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    items: Vec<(&'a str, &'a str)>,
}

/// The JSON object at the start of a text.
#[derive(Debug)]
pub struct Object<'a> {
    /// Its own fields.
    pub fields: Fields<'a>,
    /// Those of the one that was asked for, where that is an object.
    pub inside: Option<Fields<'a>>,
    /// Bytes up to its end.
    pub end: usize,
}

/// The object at the start of `text`, with the fields of its field `inner`. The error says what is
/// there instead. One pass over the object.
pub fn nested<'a>(text: &'a str, inner: &str) -> Result<Object<'a>, &'static str> {
    let mut scan = Scan { text, at: 0 };
    scan.space();
    if scan.peek() != Some(b'{') {
        return Err("not an object");
    }
    let mut inside = None;
    let fields = scan.fields(Some(inner), &mut inside).ok_or("torn json")?;
    Ok(Object {
        fields,
        inside,
        end: scan.at,
    })
}

/// The fields of `text` when it is one JSON object and nothing else.
pub fn object(text: &str) -> Option<Fields<'_>> {
    let object = nested(text, "").ok()?;
    let rest = &text.as_bytes()[object.end..];
    rest.trim_ascii_start().is_empty().then_some(object.fields)
}

/// The raw elements of a JSON array; none when `raw` is something else.
pub fn elements(raw: &str) -> Vec<&str> {
    let mut scan = Scan { text: raw, at: 0 };
    let mut all = Vec::new();
    if !scan.eat(b'[') {
        return all;
    }
    while let Some(value) = scan.value() {
        all.push(value);
        if !scan.eat(b',') {
            break;
        }
    }
    all
}

/// The text of a raw JSON string; absent when `raw` is no string. Borrowed when nothing in it is
/// escaped. Lone surrogates become U+FFFD, unknown escapes stay as they are.
pub fn text(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    match memchr(b'\\', inner.as_bytes()) {
        None => Some(Cow::Borrowed(inner)),
        Some(first) => Some(Cow::Owned(unescape(inner, first))),
    }
}

impl<'a> Fields<'a> {
    /// The raw value of `key`; the first one where it is repeated.
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.items.iter().find(|(k, _)| *k == key).map(|(_, v)| *v)
    }

    /// The value of `key` when it is a string.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        text(self.raw(key)?)
    }

    /// The value of `key` when it is a string that isn't empty.
    pub fn name(&self, key: &str) -> Option<Cow<'a, str>> {
        self.text(key).filter(|t| !t.is_empty())
    }

    /// The value of `key` when it can be the name of something.
    pub fn label(&self, key: &str) -> Option<Cow<'a, str>> {
        self.name(key).filter(|text| is_name(text))
    }

    /// The value of `key` when it is a number.
    pub fn number<N: std::str::FromStr>(&self, key: &str) -> Option<N> {
        self.raw(key)?.parse().ok()
    }

    /// The value of `key` when it is an object.
    pub fn object(&self, key: &str) -> Option<Fields<'a>> {
        object(self.raw(key)?)
    }

    /// The elements of `key` when it is an array.
    pub fn elements(&self, key: &str) -> Vec<&'a str> {
        self.raw(key).map(elements).unwrap_or_default()
    }

    /// All fields in order, keys undecoded.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> + '_ {
        self.items.iter().copied()
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// The object that starts here; into `inside` the fields of its field `inner`.
    fn fields(
        &mut self,
        inner: Option<&str>,
        inside: &mut Option<Fields<'a>>,
    ) -> Option<Fields<'a>> {
        if !self.eat(b'{') {
            return None;
        }
        let mut items = Vec::with_capacity(8);
        if self.eat(b'}') {
            return Some(Fields { items });
        }
        loop {
            self.space();
            let key = self.string()?;
            if !self.eat(b':') {
                return None;
            }
            self.space();
            let from = self.at;
            let key = key.get(1..key.len() - 1)?;
            if inner == Some(key) && self.peek() == Some(b'{') {
                *inside = Some(self.fields(None, &mut None)?);
            } else {
                self.value()?;
            }
            items.push((key, self.text.get(from..self.at)?));
            if self.eat(b'}') {
                return Some(Fields { items });
            }
            if !self.eat(b',') {
                return None;
            }
        }
    }

    /// The raw value that starts here.
    fn value(&mut self) -> Option<&'a str> {
        self.space();
        let from = self.at;
        match self.peek()? {
            b'"' => return self.string(),
            b'{' | b'[' => self.container()?,
            _ => {
                while self.peek().is_some_and(is_scalar) {
                    self.at += 1;
                }
            }
        }
        self.text.get(from..self.at).filter(|v| !v.is_empty())
    }

    /// Passes the string that starts here.
    fn string(&mut self) -> Option<&'a str> {
        let from = self.at;
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            self.at += find(b'"', rest)? + 1;
            // A quote behind an odd number of backslashes is escaped; they are rarer than escapes.
            let before = &self.text.as_bytes()[from + 1..self.at - 1];
            let strokes = before.iter().rev().take_while(|b| **b == b'\\').count();
            if strokes % 2 == 0 {
                return self.text.get(from..self.at);
            }
        }
    }

    /// Passes the object or array that starts here, however deep.
    fn container(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => {}
                other if is_scalar(other) => {}
                _ => return None,
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }
}

/// Bytes of numbers, `true`, `false` and `null`; anything else outside of strings is torn.
fn is_scalar(byte: u8) -> bool {
    matches!(
        byte,
        b'0'..=b'9'
            | b'+'
            | b'-'
            | b'.'
            | b'E'
            | b'e'
            | b't'
            | b'r'
            | b'u'
            | b'f'
            | b'a'
            | b'l'
            | b's'
            | b'n'
    )
}

fn unescape(inner: &str, first: usize) -> String {
    let mut out = String::with_capacity(inner.len());
    out.push_str(&inner[..first]);
    let mut rest = &inner[first..];
    while let Some(at) = find(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let plain = match rest.as_bytes().first() {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
            Some(b'u') => {
                rest = unicode(&rest[1..], &mut out);
                continue;
            }
            _ => {
                out.push('\\');
                continue;
            }
        };
        out.push(plain);
        rest = &rest[1..];
    }
    out.push_str(rest);
    out
}

/// Reads what follows `\u`, with the low half where there is one; gives back the rest.
fn unicode<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let Some(unit) = hex(rest) else {
        out.push_str("\\u");
        return rest;
    };
    let rest = &rest[4..];
    if (0xD800..0xDC00).contains(&unit)
        && let Some(low) = rest.strip_prefix("\\u").and_then(hex)
        && (0xDC00..0xE000).contains(&low)
    {
        let both = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        out.push(char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER));
        return &rest[6..];
    }
    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

fn hex(text: &str) -> Option<u32> {
    let digits = text.get(..4)?;
    digits
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_are_found_in_any_order_and_at_any_depth() {
        let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        let line = format!(r#" {{"payload":{{"a":"x\"}}","b":{deep},"c":-1.5e3}},"type":"t"}} "#);
        let Object {
            fields,
            inside,
            end,
        } = nested(&line, "payload").unwrap();
        let inner = inside.unwrap();
        assert_eq!(end, line.len() - 1);
        assert_eq!(fields.text("type").unwrap(), "t");
        assert_eq!(inner.text("a").unwrap(), "x\"}");
        assert_eq!(inner.raw("b").unwrap().len(), 10_001);
        assert_eq!(inner.number::<f64>("c"), Some(-1500.0));
    }

    #[test]
    fn what_is_not_one_object_is_said_so() {
        assert_eq!(nested("[1]", "p").unwrap_err(), "not an object");
        assert_eq!(nested("", "p").unwrap_err(), "not an object");
        for torn in [
            r#"{"a":"b"#,
            r#"{"a":{"b":"c{"d":"e"}}"#,
            r#"{"a"}"#,
            r#"{"a":}"#,
        ] {
            assert_eq!(nested(torn, "p").unwrap_err(), "torn json", "{torn}");
        }
    }

    #[test]
    fn one_object_may_be_followed_by_another() {
        let glued = r#"{"a":1} {"b":2}"#;
        assert_eq!(nested(glued, "p").unwrap().end, 7);
        assert!(object(glued).is_none() && object(r#"{"a":1} "#).is_some());
    }

    #[test]
    fn strings_decode_leniently() {
        assert_eq!(text(r#""a\nb\u00e9\ud83d\ude00""#).unwrap(), "a\nbé😀");
        assert_eq!(text(r#""\ud83d x \x""#).unwrap(), "\u{fffd} x \\x");
        assert_eq!(text(r#""\u12""#).unwrap(), "\\u12");
        assert_eq!(text("12"), None);
    }

    proptest! {
        #[test]
        fn decoding_agrees_with_serde(words in ".*") {
            let raw = serde_json::to_string(&words).unwrap();
            prop_assert_eq!(text(&raw).unwrap(), words);
        }

        #[test]
        fn nothing_panics(noise in r#"[\{\}\[\]",:\\u0-9a-e é😀]{0,60}"#) {
            let _ = nested(&noise, "a");
            let _ = elements(&noise);
            let _ = text(&noise);
            let _ = unescape(&noise, 0);
        }
    }
}
