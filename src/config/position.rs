//! Where in a text a key stands. Knows how JSON and YAML are spelled, just enough to point at a
//! place; refuses to judge: it is asked about texts that were already read without an error.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// One step of the way to a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into a map.
    Key(String),
    /// Into a list, from 0.
    Index(usize),
}

/// The way as people write it: `session_tracking.trusted_namespaces[1]`.
pub fn dotted(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Key(key) if out.is_empty() => out.push_str(key),
            Step::Key(key) => out.extend([".", key]),
            Step::Index(i) => out.push_str(&format!("[{i}]")),
        }
    }
    out
}

/// The inverse of [`dotted`] for keys without dots and without lists.
pub fn path(dotted: &str) -> Vec<Step> {
    dotted.split('.').map(|k| Step::Key(k.to_owned())).collect()
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
pub fn in_json(text: &str, path: &[Step]) -> Option<Spot> {
    let mut scan = Scan {
        text,
        bytes: text.as_bytes(),
        at: 0,
    };
    scan.find(path)
}

/// Finds `path` in a valid YAML text; `None` when the text has no such value.
///
/// The parser tells positions only in its errors, so a visitor walks to the place and fails there.
pub fn in_yaml(text: &str, path: &[Step]) -> Option<Spot> {
    let stop = |want| {
        let from = serde_yaml::Deserializer::from_str(text);
        let error = Walk { path, want }.deserialize(from).err()?;
        error.to_string().contains(FOUND).then_some(())?;
        let at = error.location()?.index().min(text.len());
        text.is_char_boundary(at).then_some(at)
    };
    let value = stop(Want::Value)?;
    let key = match path.last() {
        Some(Step::Key(_)) => stop(Want::Key)?,
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

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn find(&mut self, path: &[Step]) -> Option<Spot> {
        let open = self.peek();
        let value = self.at;
        match (open, path.split_first()) {
            (_, None) => {
                self.skip_value();
                Some(Spot {
                    key: value,
                    value,
                    end: Some(self.at),
                })
            }
            (Some(b'{'), Some((Step::Key(wanted), rest))) => self.find_key(wanted, rest),
            (Some(b'['), Some((Step::Index(nth), rest))) => {
                self.at += 1;
                for _ in 0..*nth {
                    self.skip_value();
                    if !self.eat(b',') {
                        return None;
                    }
                }
                (self.peek()? != b']').then(|| self.find(rest))?
            }
            _ => None,
        }
    }

    fn find_key(&mut self, wanted: &str, rest: &[Step]) -> Option<Spot> {
        self.at += 1;
        while self.peek()? == b'"' {
            let key = self.at;
            self.skip_string();
            let name: String = serde_json::from_str(self.text.get(key..self.at)?).ok()?;
            self.eat(b':');
            if name == wanted {
                let spot = self.find(rest)?;
                let named = rest.is_empty();
                return Some(Spot {
                    key: if named { key } else { spot.key },
                    ..spot
                });
            }
            self.skip_value();
            self.eat(b',');
        }
        None
    }

    /// The next byte that isn't white space.
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let is = self.peek() == Some(wanted);
        self.at += usize::from(is);
        is
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                break;
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn skip_value(&mut self) {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => (self.at, depth) = (self.at + 1, depth + 1),
                b'}' | b']' => (self.at, depth) = (self.at + 1, depth.saturating_sub(1)),
                b',' | b':' => self.at += 1,
                _ => self.skip_word(),
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_word(&mut self) {
        let word = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|b| word(b)).count().max(1);
    }
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
    path: &'a [Step],
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
        let Some((Step::Index(nth), rest)) = self.path.split_first() else {
            return Ok(());
        };
        let mut at = 0;
        loop {
            let here = at == *nth;
            let found = match here {
                true => list.next_element_seed(Walk { path: rest, ..self })?,
                false => list.next_element::<IgnoredAny>()?.map(|_| ()),
            };
            if found.is_none() {
                return Ok(());
            }
            at += 1;
        }
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.stop()?;
        let Some((Step::Key(wanted), rest)) = self.path.split_first() else {
            return Ok(());
        };
        let fail = rest.is_empty() && self.want == Want::Key;
        while let Some(is) = map.next_key_seed(KeyIs { wanted, fail })? {
            match is {
                true => map.next_value_seed(Walk { path: rest, ..self })?,
                false => map.next_value::<IgnoredAny>().map(|_| ())?,
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

    fn steps(path: &str) -> Vec<Step> {
        let parts = path.split('/').filter(|p| !p.is_empty());
        parts
            .map(|p| {
                p.parse()
                    .map_or_else(|_| Step::Key(p.to_owned()), Step::Index)
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
            let spot = in_json(JSON, &steps(path)).expect(path);
            assert!(JSON[spot.key..].starts_with(key), "{path}");
            assert!(JSON[spot.value..].starts_with(value), "{path}");
            let read: Result<serde_json::Value, _> =
                serde_json::from_str(&JSON[spot.value..spot.end.unwrap()]);
            assert!(read.is_ok(), "{path}: the span is not one value");
        }
        for path in ["b", "a/b/3", "a/x", "z/1", "a/b/1/d"] {
            assert_eq!(in_json(JSON, &steps(path)), None, "{path}");
        }
        assert_eq!(in_json("", &steps("a")), None);
        assert_eq!(in_json("{}", &steps("a")), None);
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
            let spot = in_yaml(YAML, &steps(path)).expect(path);
            assert!(YAML[spot.key..].starts_with(key), "{path}");
            assert!(YAML[spot.value..].starts_with(value), "{path}");
            assert_eq!(line_at(YAML, spot.key), line, "{path}");
        }
        assert_eq!(in_yaml(YAML, &steps("a/b/7")), None);
        assert_eq!(in_yaml(YAML, &steps("q")), None);
    }

    #[test]
    fn paths_read_as_people_write_them() {
        assert_eq!(dotted(&steps("a/b/1/c")), "a.b[1].c");
        assert_eq!(dotted(&path("a.b")), "a.b");
    }
}
