//! Which kind of work a file belongs to, by its path, as a table (`paths.yaml`).

use super::table;
use crate::model::activity::Dimension;
use memchr::{memmem, memrchr2};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The embedded table.
pub fn embedded() -> &'static Paths {
    static TABLE: LazyLock<Paths> = LazyLock::new(|| written().files);
    &TABLE
}

/// What names of files and folders say.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Paths(BTreeMap<Dimension, Row>);

impl Paths {
    /// The categories of a path; most have none. About 500 ns.
    pub fn categories(&self, path: &str) -> Vec<Dimension> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let lower = match path.is_ascii() {
            true => path.to_ascii_lowercase(),
            false => path.to_lowercase(),
        };
        let bytes = lower.as_bytes();
        let (folders, name) = match memrchr2(b'/', b'\\', bytes) {
            Some(at) => (&bytes[..at], &bytes[at + 1..]),
            None => (&[][..], bytes),
        };
        let letters = letters(name);
        let fits = |row: &Row| row.fits(folders, name, letters);
        let fits = self.0.iter().filter(|(_, row)| fits(row));
        fits.map(|(category, _)| *category).collect()
    }
}

/// A file that nobody wants to keep: scratch, plans and notes of agents, what lies in the system's
/// folder for such things.
pub fn is_throwaway(path: &str) -> bool {
    static TABLE: LazyLock<Vec<String>> = LazyLock::new(|| written().throwaway.parts);
    let is_plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b'\\';
    let path = match path.bytes().all(is_plain) {
        true => Cow::Borrowed(path),
        false => Cow::Owned(path.replace('\\', "/").to_lowercase()),
    };
    TABLE.iter().any(|part| match part.strip_prefix('^') {
        Some(start) => path.starts_with(start),
        None => path.contains(part),
    })
}

fn plan_names() -> &'static Plans {
    static TABLE: LazyLock<Plans> = LazyLock::new(|| written().plans);
    &TABLE
}

/// A word that files that say what is to be done are named by: `plan`.
pub fn is_plan_word(word: &str) -> bool {
    plan_names().words.iter().any(|known| known == word)
}

/// What a file that says what is to be done calls itself, by its name or else by the folder around it: `plan`, `spec`. `None`
/// of other files.
pub fn plan_word(path: &str) -> Option<&'static str> {
    let path = path.to_lowercase();
    let mut parts = path.rsplit(['/', '\\']);
    let (stem, end) = parts.next().unwrap_or_default().rsplit_once('.')?;
    let folder = parts.next().unwrap_or_default();
    let names = plan_names();
    let is_text = names.ends.iter().any(|known| known == end);
    let of = |text: &str, word: &str| {
        text.split(|c: char| !c.is_alphanumeric())
            .any(|own| own == word)
    };
    let words = || names.words.iter().filter(|_| is_text);
    let named = words().find(|word| of(stem, word));
    let around = || words().find(|word| folder.strip_suffix('s') == Some(word.as_str()));
    named.or_else(around).map(String::as_str)
}

/// A file that holds code.
pub fn is_source(path: &str) -> bool {
    static TABLE: LazyLock<Vec<String>> = LazyLock::new(|| written().source.ends);
    let path = path.to_lowercase();
    TABLE.iter().any(|end| path.ends_with(end.as_str()))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Row {
    name: Vec<Part>,
    begins: Vec<String>,
    ends: Vec<String>,
    folder: Vec<String>,
}

/// What a name may contain.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
struct Part {
    text: String,
    /// Its [`letters`]: a name that lacks one can't contain it.
    letters: u64,
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        let letters = letters(text.as_bytes());
        Part { text, letters }
    }
}

/// Which bytes a text has, modulo 64.
fn letters(text: &[u8]) -> u64 {
    text.iter().fold(0, |set, byte| set | 1 << (byte % 64))
}

impl Row {
    fn fits(&self, folders: &[u8], name: &[u8], letters: u64) -> bool {
        let within = |part: &Part| {
            part.letters & !letters == 0 && memmem::find(name, part.text.as_bytes()).is_some()
        };
        let is_known = |folder: &[u8]| self.folder.iter().any(|known| known.as_bytes() == folder);
        let mut folders = folders.split(|byte| matches!(byte, b'/' | b'\\'));
        self.name.iter().any(within)
            || self
                .begins
                .iter()
                .any(|start| name.starts_with(start.as_bytes()))
            || self.ends.iter().any(|end| name.ends_with(end.as_bytes()))
            || (!self.folder.is_empty() && folders.any(is_known))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    files: Paths,
    throwaway: Throwaway,
    plans: Plans,
    source: Source,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<Dimension>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Throwaway {
    parts: Vec<String>,
    #[cfg(test)]
    samples: BTreeMap<String, bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plans {
    words: Vec<String>,
    ends: Vec<String>,
    #[cfg(test)]
    samples: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    ends: Vec<String>,
    #[cfg(test)]
    samples: BTreeMap<String, bool>,
}

fn written() -> Written {
    table::rows(table::embedded!("paths"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (path, wants) in written().samples {
            assert_eq!(embedded().categories(&path), wants, "{path}");
        }
        for (path, wants) in written().throwaway.samples {
            assert_eq!(is_throwaway(&path), wants, "{path}");
        }
        for (path, wants) in written().plans.samples {
            assert_eq!(plan_word(&path).unwrap_or_default(), wants, "{path}");
        }
        for (path, wants) in written().source.samples {
            assert_eq!(is_source(&path), wants, "{path}");
        }
    }
}
