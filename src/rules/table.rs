//! How embedded tables are read. Knows that they are written as YAML with samples that test them,
//! and built as JSON without (`build.rs`).

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// The text of the table `src/rules/$name.yaml`, or `src/$room/$name.yaml`: with samples, as it is written, in tests; as it was
/// built in the program.
macro_rules! embedded {
    (in $room:literal, $name:literal) => {{
        #[cfg(test)]
        let text = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/",
            $room,
            "/",
            $name,
            ".yaml"
        ));
        #[cfg(not(test))]
        let text = include_str!(concat!(env!("OUT_DIR"), "/", $room, "/", $name, ".json"));
        text
    }};
    ($name:literal) => {
        $crate::rules::table::embedded!(in "rules", $name)
    };
}
pub(crate) use embedded;

/// The rows of an [`embedded!`] table; they may borrow from it.
///
/// # Panics
/// When it doesn't fit its rows; every table has a test that reads it.
pub fn rows<T: Deserialize<'static>>(embedded: &'static str) -> T {
    let rows = match cfg!(test) {
        true => through_json(embedded),
        false => serde_json::from_str(embedded).map_err(|error| error.to_string()),
    };
    rows.unwrap_or_else(|error| panic!("an embedded table: {error}"))
}

/// As the build writes it for the program: a bare `null` or `yes` is no word there. Each table is turned into JSON
/// once, and kept: rows may borrow from it.
fn through_json<T: Deserialize<'static>>(yaml: &'static str) -> Result<T, String> {
    static WRITTEN: Mutex<BTreeMap<usize, &'static str>> = Mutex::new(BTreeMap::new());
    let place = yaml.as_ptr() as usize;
    let known = WRITTEN.lock().expect("no panic").get(&place).copied();
    let json = match known {
        Some(json) => json,
        None => {
            let table: serde_yaml::Value = serde_yaml::from_str(yaml).map_err(|e| e.to_string())?;
            let json = serde_json::to_string(&table).map_err(|e| e.to_string())?;
            let json: &'static str = json.leak();
            WRITTEN.lock().expect("no panic").insert(place, json);
            json
        }
    };
    serde_json::from_str(json).map_err(|e| e.to_string())
}

/// A pattern of a table. `\w`, `\d`, `\s` and `\b` mean ASCII: Unicode's classes take a run of one line
/// a tenth of its time to compile, and Unicode's word boundaries keep the fast engines out.
///
/// # Panics
/// When it isn't a pattern; every table has a test that compiles its rows.
pub fn regex(pattern: &str) -> Regex {
    const ASCII: [(&str, &str); 5] = [
        (r"\b", r"(?-u:\b)"),
        (r"\d", "[0-9]"),
        (r"\w", "[0-9A-Za-z_]"),
        (r"\s", r"[\t\n\x0B\f\r ]"),
        (r"\S", r"[^\t\n\x0B\f\r ]"),
    ];
    let ascii = ASCII
        .iter()
        .fold(pattern.to_owned(), |text, (class, ascii)| {
            text.replace(class, ascii)
        });
    Regex::new(&ascii).unwrap_or_else(|error| panic!("a pattern of an embedded table: {error}"))
}

/// Finds the literals of a table. A full automaton would find them twice as fast, and takes ten times
/// as long to build: more than a run of one line can pay.
pub fn finder<L: AsRef<[u8]>>(
    kind: MatchKind,
    literals: impl IntoIterator<Item = L>,
) -> AhoCorasick {
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .match_kind(kind)
        .build(literals)
        .expect("literals")
}

/// A [`regex`] whose `^` and `$` are ends of lines, compiled when first needed: all patterns of all
/// tables are more than a short run can pay.
#[derive(Deserialize)]
#[serde(from = "String")]
pub struct TextPattern {
    text: String,
    regex: OnceLock<Regex>,
}

impl From<String> for TextPattern {
    fn from(text: String) -> TextPattern {
        TextPattern {
            text,
            regex: OnceLock::new(),
        }
    }
}

impl TextPattern {
    /// # Panics
    /// When it isn't a pattern.
    pub fn regex(&self) -> &Regex {
        self.regex
            .get_or_init(|| regex(&format!("(?mR){}", self.text)))
    }
}
