//! One settings file as text and as a value. Knows JSON, YAML and where each value stands.
//! What its keys mean is for others.

use super::position::{self, PathStep, Spot, dotted};
use crate::model::error::Error;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};
use std::fmt;
use std::path::{Path, PathBuf};

/// What somebody did who pasted YAML into a file of JSON.
const IS_YAML: &str = "that is YAML: write it as JSON, or rename the file to .yaml";

/// Larger files are not settings.
pub const DOCUMENT_BYTES_MAX: u64 = 1 << 20;

/// How a file is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.json`, and whatever isn't YAML.
    Json,
    /// `.yaml`, `.yml`.
    Yaml,
}

impl Format {
    /// By the file's extension.
    pub fn of(file: &Path) -> Format {
        match file.extension().and_then(|e| e.to_str()) {
            Some("yaml" | "yml") => Format::Yaml,
            _ => Format::Json,
        }
    }
}

/// A settings file that could be read as a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its path, as errors name it.
    pub file: PathBuf,
    /// How it is spelled.
    pub format: Format,
    /// As on disk.
    pub text: String,
    /// What it says. Maps keep the file's order.
    pub value: Value,
}

fn too_large(file: &Path) -> Error {
    Error::usage(format!("{}: too large for settings", file.display()))
}

impl Document {
    /// Reads a text.
    ///
    /// # Errors
    /// It is too large for settings, empty, not UTF-8, not JSON or YAML, has a key twice, a number that is
    /// not finite, or a top level that isn't a map; with file and line.
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Document, Error> {
        if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
            return Err(too_large(file));
        }
        let format = Format::of(file);
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = 1 + memchr::memchr_iter(b'\n', &bytes[..e.valid_up_to()]).count();
            placed(file, line, "is not UTF-8")
        })?;
        let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
        if plain.trim().is_empty() {
            let hint = "write {} into it, or remove it to use the defaults";
            return Err(placed(file, 1, "is empty").hinted(hint));
        }
        let value = match format {
            Format::Json => json(plain).map_err(|(line, what)| {
                let error = placed(file, line, &what);
                match yaml(plain) {
                    Ok(Value::Object(_)) => error.hinted(IS_YAML),
                    _ => error,
                }
            })?,
            Format::Yaml => yaml(plain).map_err(|(line, what)| placed(file, line, &what))?,
        };
        let document = Document {
            file: file.to_path_buf(),
            format,
            text: text.to_owned(),
            value,
        };
        match document.value {
            Value::Object(_) => Ok(document),
            _ => Err(placed(file, 1, "the settings are not a map of keys")),
        }
    }

    /// Reads a file; `None` when there is none.
    ///
    /// # Errors
    /// As [`Document::parse`]; or it is no regular file, or can't be read.
    pub fn load(file: &Path) -> Result<Option<Document>, Error> {
        let named = |e: std::io::Error| Error::usage(format!("{}: {e}", file.display()));
        match std::fs::metadata(file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(named(e)),
            Ok(meta) if !meta.is_file() => {
                let message = format!("{}: not a regular file", file.display());
                return Err(Error::usage(message));
            }
            Ok(meta) if meta.len() > DOCUMENT_BYTES_MAX => {
                return Err(too_large(file));
            }
            Ok(_) => {}
        }
        let bytes = std::fs::read(file).map_err(named)?;
        Document::parse(file, &bytes).map(Some)
    }

    /// Where a value stands; `None` when the file doesn't have it.
    pub fn spot(&self, path: &[PathStep]) -> Option<Spot> {
        let skipped = if self.text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let plain = &self.text[skipped..];
        let spot = match self.format {
            Format::Json => position::in_json(plain, path),
            Format::Yaml => position::in_yaml(plain, path),
        }?;
        Some(Spot {
            key: spot.key + skipped,
            value: spot.value + skipped,
            end: spot.end.map(|end| end + skipped),
        })
    }

    /// What stands at a place.
    pub fn get(&self, at: &[PathStep]) -> Option<&Value> {
        position::get(&self.value, at)
    }

    /// This file with another text; `None` where that doesn't mean exactly `wants`.
    pub fn rewritten(&self, text: &str, wants: &Value) -> Option<Document> {
        let read = Document::parse(&self.file, text.as_bytes()).ok()?;
        (read.value == *wants).then_some(read)
    }

    /// The 1-based line of a key, or of the nearest one above it that the file has.
    pub fn line(&self, path: &[PathStep]) -> usize {
        (0..=path.len())
            .rev()
            .find_map(|n| self.spot(&path[..n]))
            .map_or(1, |spot| position::line_at(&self.text, spot.key))
    }

    /// An error that names file, line and key.
    pub fn error(&self, path: &[PathStep], what: &str) -> Error {
        let message = match path {
            [] => what.to_owned(),
            _ => format!("`{}`: {what}", dotted(path)),
        };
        placed(&self.file, self.line(path), &message)
    }
}

/// An error that names file and line.
pub fn placed(file: &Path, line: usize, what: &str) -> Error {
    Error::usage(format!("{}:{line}: {what}", file.display()))
}

fn json(text: &str) -> Result<Value, (usize, String)> {
    let mut from = serde_json::Deserializer::from_str(text);
    Strict
        .deserialize(&mut from)
        .and_then(|value| from.end().map(|()| value))
        .map_err(|e| {
            if e.is_eof() {
                (e.line().max(1), CUT_SHORT.to_owned())
            } else {
                (e.line().max(1), bare(&e.to_string()))
            }
        })
}

/// JSON that ends too early.
const CUT_SHORT: &str = "ends too early: a bracket or a quote is not closed";

fn yaml(text: &str) -> Result<Value, (usize, String)> {
    if let Some(line) = too_deep(text) {
        return Err((line, "is nested too deeply".to_owned()));
    }
    Strict
        .deserialize(serde_yaml::Deserializer::from_str(text))
        .map_err(|e| {
            let line = e.location().map_or(1, |l| l.line());
            (line, bare(&e.to_string()))
        })
}

/// The line in which so many brackets, or marks of lists in one line, are open that no settings are meant: the YAML
/// library looks at all of them again with each word, which takes it minutes.
fn too_deep(text: &str) -> Option<usize> {
    const DEPTH_MAX: usize = 128;
    let mut open = 0_usize;
    text.lines().zip(1..).find_map(|(line, number)| {
        let mut most = open;
        for byte in line.bytes() {
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open = open.saturating_sub(1),
                _ => {}
            }
            most = most.max(open);
        }
        let marks = ["- ", "? "].map(|mark| line.matches(mark).count());
        (most > DEPTH_MAX || marks.iter().any(|count| *count > DEPTH_MAX)).then_some(number)
    })
}

/// The message without the place that the libraries write behind it.
fn bare(message: &str) -> String {
    let end = message.find(" at line ").unwrap_or(message.len());
    message[..end].trim().to_owned()
}

/// Any JSON-like value, without what JSON readers swallow: repeated keys, NaN, tags.
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plain value")
    }
    fn visit_bool<E>(self, is: bool) -> Result<Value, E> {
        Ok(is.into())
    }
    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(n.into())
    }
    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        Ok(n.into())
    }
    fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<Value, E> {
        let number = Number::from_f64(n).ok_or_else(|| E::custom("not a finite number"))?;
        Ok(number.into())
    }
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = list.next_element_seed(Strict)? {
            out.push(item);
        }
        Ok(out.into())
    }
    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Value, A::Error> {
        Err(A::Error::custom("tags (`!…`) mean nothing here"))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = map.next_key_seed(NewKey(&out))? {
            let value = map.next_value_seed(Strict)?;
            out.insert(key, value);
        }
        Ok(out.into())
    }
}

/// A key that the map doesn't have yet. Checked while the key is read, so that the error is placed
/// at it.
struct NewKey<'a>(&'a Map<String, Value>);

impl<'de> DeserializeSeed<'de> for NewKey<'_> {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for NewKey<'_> {
    type Value = String;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        if self.0.contains_key(key) {
            Err(E::custom(format_args!("key `{key}` is given twice")))
        } else {
            Ok(key.to_owned())
        }
    }
}
