//! The fields of an object by name, as slices of its text. A value that nobody asks for is never
//! decoded, so a broken escape in it does no harm.

use super::cursor::{Cursor, Visit};
use super::text::{Broken, is_name, unescaped};
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

/// Gathers an object's fields, and those of its field `inner` on the way.
struct Gather<'a, 'i> {
    fields: Fields<'a>,
    inner: Option<&'i str>,
    inside: Option<Fields<'a>>,
    is_torn: bool,
}

impl<'i> Gather<'_, 'i> {
    fn new(inner: Option<&'i str>) -> Self {
        let fields = Fields {
            items: Vec::with_capacity(8),
        };
        Gather {
            fields,
            inner,
            inside: None,
            is_torn: false,
        }
    }
}

impl<'a> Visit<'a, str> for Gather<'a, '_> {
    fn enter(&mut self, key: &'a str, mut value: Cursor<'a, str>) -> Option<usize> {
        if self.inner != Some(key) || value.peek() != Some(b'{') {
            return None;
        }
        let (from, mut inside) = (value.at(), Gather::new(None));
        if value.object(&mut inside).is_none() {
            self.is_torn = true;
            return None;
        }
        self.fields.items.push((key, value.since(from)));
        self.inside = Some(inside.fields);
        Some(value.at())
    }

    fn member(&mut self, key: &'a str, value: &'a str) {
        self.fields.items.push((key, value));
    }
}

/// The object at the start of `text`, with the fields of its field `inner`, in one pass.
///
/// # Errors
/// What is there instead: `not an object` or `torn json`.
pub fn nested<'a>(text: &'a str, inner: &str) -> Result<Object<'a>, &'static str> {
    let (mut cursor, mut gather) = (Cursor::strict(text), Gather::new(Some(inner)));
    cursor.blank();
    if cursor.peek() != Some(b'{') {
        return Err("not an object");
    }
    match cursor.object(&mut gather) {
        Some(()) if !gather.is_torn => Ok(Object {
            fields: gather.fields,
            inside: gather.inside,
            end: cursor.at(),
        }),
        _ => Err("torn json"),
    }
}

/// The fields of `text` when it is one JSON object and nothing else.
pub fn object(text: &str) -> Option<Fields<'_>> {
    let object = nested(text, "").ok()?;
    let rest = &text.as_bytes()[object.end..];
    rest.trim_ascii_start().is_empty().then_some(object.fields)
}

/// The raw elements of a JSON array, up to where it is damaged; none when `raw` is something else.
pub fn elements(raw: &str) -> Vec<&str> {
    let mut all = Vec::new();
    Cursor::strict(raw).array(|cursor| {
        all.push(cursor.value()?);
        Some(())
    });
    all
}

/// The text of a raw JSON string; absent when `raw` is no string. Borrowed when nothing in it is
/// escaped. Lone surrogates become U+FFFD, unknown escapes stay as they are.
pub fn text(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    Some(unescaped(inner, Broken::Kept))
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
            let _ = unescaped(&noise, Broken::Kept);
        }
    }
}
