//! The way to a value: as people write it, in a value, and in a text of JSON or YAML that was read without
//! an error.

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// One step of the way to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    /// Into a map.
    Key(String),
    /// Into a list, from 0.
    Index(usize),
}

/// The step into a map.
pub fn key(name: &str) -> PathStep {
    PathStep::Key(name.to_owned())
}

/// The way as people write it: `session_tracking.trusted_namespaces[1]`.
pub fn dotted(path: &[PathStep]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            PathStep::Key(key) if out.is_empty() => out.push_str(key),
            PathStep::Key(key) => out.extend([".", key]),
            PathStep::Index(i) => out.push_str(&format!("[{i}]")),
        }
    }
    out
}

/// The inverse of [`dotted`] for keys without dots and without lists.
pub fn path(dotted: &str) -> Vec<PathStep> {
    dotted.split('.').map(key).collect()
}

/// What stands at a place.
pub fn get<'v>(value: &'v Value, at: &[PathStep]) -> Option<&'v Value> {
    at.iter().try_fold(value, |value, step| match step {
        PathStep::Key(key) => value.get(key),
        PathStep::Index(nth) => value.get(nth),
    })
}

/// Puts a value at a place, at a list's end for the index after its last; maps and lists that are missing
/// around it are made.
pub fn put(value: &mut Value, at: &[PathStep], new: Value) {
    match at.split_first() {
        None => *value = new,
        Some((PathStep::Key(key), inside)) => {
            if !value.is_object() {
                *value = Value::Object(Map::new());
            }
            put(&mut value[key.as_str()], inside, new);
        }
        Some((PathStep::Index(nth), inside)) => {
            if !value.is_array() {
                *value = Value::Array(Vec::new());
            }
            let Some(list) = value.as_array_mut() else {
                return;
            };
            if *nth == list.len() {
                list.push(Value::Null);
            }
            if let Some(item) = list.get_mut(*nth) {
                put(item, inside, new);
            }
        }
    }
}

/// Takes out what stands at a place; `None`: nothing does.
pub fn take(value: &mut Value, at: &[PathStep]) -> Option<Value> {
    let (step, around) = at.split_last()?;
    let around = around.iter().try_fold(value, |value, step| match step {
        PathStep::Key(key) => value.get_mut(key),
        PathStep::Index(nth) => value.get_mut(nth),
    })?;
    match (around, step) {
        (Value::Object(map), PathStep::Key(key)) => map.shift_remove(key),
        (Value::Array(list), PathStep::Index(nth)) if *nth < list.len() => Some(list.remove(*nth)),
        _ => None,
    }
}

/// The steps into a map or a list, in its order.
pub fn steps(value: &Value) -> impl Iterator<Item = PathStep> {
    let keys = value.as_object().into_iter().flat_map(Map::keys);
    let items = 0..value.as_array().map_or(0, Vec::len);
    keys.map(|key| PathStep::Key(key.clone()))
        .chain(items.map(PathStep::Index))
}

/// Byte offsets of a value and of the key that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// First byte of the key's token; the value's own for list items and the whole text.
    pub key: usize,
    /// First byte of the value.
    pub value: usize,
    /// First byte after the value; only JSON tells.
    pub end: Option<usize>,
}

/// Finds `path` in a valid JSON text; `None` when the text has no such value.
pub fn in_json(text: &str, path: &[PathStep]) -> Option<Spot> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?;
    let whole = parsed.value?;
    let (mut key, mut value) = (whole.start(), &whole);
    for step in path {
        (key, value) = match (value, step) {
            (ast::Value::Object(map), PathStep::Key(name)) => {
                let member = map.get(name)?;
                (member.name.start(), &member.value)
            }
            (ast::Value::Array(list), PathStep::Index(nth)) => {
                let item = list.elements.get(*nth)?;
                (item.start(), item)
            }
            _ => return None,
        };
    }
    Some(Spot {
        key,
        value: value.start(),
        end: Some(value.end()),
    })
}

/// Finds `path` in a valid YAML text; `None` when the text has no such value.
///
/// The parser tells positions only in its errors, so a visitor walks to the place and fails there.
pub fn in_yaml(text: &str, path: &[PathStep]) -> Option<Spot> {
    let stop = |want| {
        let from = serde_yaml::Deserializer::from_str(text);
        let error = Walk { path, want }.deserialize(from).err()?;
        error.to_string().contains(FOUND).then_some(())?;
        let at = error.location()?.index().min(text.len());
        text.is_char_boundary(at).then_some(at)
    };
    let value = stop(Want::Value)?;
    let key = match path.last() {
        Some(PathStep::Key(_)) => stop(Want::Key)?,
        _ => value,
    };
    Some(Spot {
        key,
        value,
        end: None,
    })
}

/// The 1-based line of a byte.
pub fn line_at(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    memchr::memchr_iter(b'\n', before).count() + 1
}

/// The message of the error that says "here"; a control character, so that no text contains it.
const FOUND: &str = "\u{1}found";

#[derive(Clone, Copy, PartialEq)]
enum Want {
    Key,
    Value,
}

#[derive(Clone, Copy)]
struct Walk<'a> {
    path: &'a [PathStep],
    want: Want,
}

impl Walk<'_> {
    fn stop<E: Error>(self) -> Result<(), E> {
        match self.path {
            [] => Err(E::custom(FOUND)),
            _ => Ok(()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.stop()
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.stop()
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.stop()
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.stop()
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.stop()
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.stop()
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.stop()?;
        let Some((PathStep::Index(nth), rest)) = self.path.split_first() else {
            return Ok(());
        };
        let mut at = 0;
        loop {
            let here = at == *nth;
            let found = if here {
                list.next_element_seed(Walk { path: rest, ..self })?
            } else {
                list.next_element::<IgnoredAny>()?.map(|_| ())
            };
            if found.is_none() {
                return Ok(());
            }
            at += 1;
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.stop()?;
        let Some((PathStep::Key(wanted), rest)) = self.path.split_first() else {
            return Ok(());
        };
        let fail = rest.is_empty() && self.want == Want::Key;
        while let Some(is) = map.next_key_seed(KeyIs { wanted, fail })? {
            if is {
                map.next_value_seed(Walk { path: rest, ..self })?
            } else {
                map.next_value::<IgnoredAny>().map(|_| ())?
            }
        }
        Ok(())
    }
}

struct KeyIs<'a> {
    wanted: &'a str,
    fail: bool,
}

impl<'de> DeserializeSeed<'de> for KeyIs<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyIs<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        match key == self.wanted {
            true if self.fail => Err(E::custom(FOUND)),
            is => Ok(is),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = "{\n  \"a\": {\n    \"b\" :\n [1, {\"c\": \"}\\\"\"}, true],\n    \"d\\u0065\": null\n  }, \"z\": -1.5e3}";
    const YAML: &str =
        "# é comment\na:\n  b:\n    - 1\n    - {c: x}\n    - true\n  de: ~\n\"z\": [1,\n  2]\n";

    fn way(path: &str) -> Vec<PathStep> {
        let parts = path.split('/').filter(|p| !p.is_empty());
        parts
            .map(|p| {
                p.parse()
                    .map_or_else(|_| PathStep::Key(p.to_owned()), PathStep::Index)
            })
            .collect()
    }

    #[test]
    fn json_places_are_exact() {
        for (path, key, value) in [
            ("a", "\"a\"", "{\n"),
            ("a/b", "\"b\" :", "[1"),
            ("a/b/0", "1", "1"),
            ("a/b/1/c", "\"c\"", "\"}\\\"\""),
            ("a/b/2", "true", "true"),
            ("a/de", "\"d\\u0065\"", "null"),
            ("z", "\"z\"", "-1.5e3"),
        ] {
            let spot = in_json(JSON, &way(path)).expect(path);
            assert!(JSON[spot.key..].starts_with(key), "{path}");
            assert!(JSON[spot.value..].starts_with(value), "{path}");
            let read: Result<serde_json::Value, _> =
                serde_json::from_str(&JSON[spot.value..spot.end.unwrap()]);
            assert!(read.is_ok(), "{path}: the span is not one value");
        }
        for path in ["b", "a/b/3", "a/x", "z/1", "a/b/1/d"] {
            assert_eq!(in_json(JSON, &way(path)), None, "{path}");
        }
        assert_eq!(in_json("", &way("a")), None);
        assert_eq!(in_json("{}", &way("a")), None);
    }

    #[test]
    fn yaml_places_are_exact() {
        for (path, key, value, line) in [
            ("a", "a:", "b:", 2),
            ("a/b", "b:", "- 1", 3),
            ("a/b/0", "1", "1", 4),
            ("a/b/1/c", "c:", "x}", 5),
            ("a/b/2", "true", "true", 6),
            ("a/de", "de:", "~", 7),
            ("z/1", "2]", "2]", 9),
        ] {
            let spot = in_yaml(YAML, &way(path)).expect(path);
            assert!(YAML[spot.key..].starts_with(key), "{path}");
            assert!(YAML[spot.value..].starts_with(value), "{path}");
            assert_eq!(line_at(YAML, spot.key), line, "{path}");
        }
        assert_eq!(in_yaml(YAML, &way("a/b/7")), None);
        assert_eq!(in_yaml(YAML, &way("q")), None);
    }

    #[test]
    fn paths_read_as_people_write_them() {
        assert_eq!(dotted(&way("a/b/1/c")), "a.b[1].c");
        assert_eq!(dotted(&path("a.b")), "a.b");
    }
}
