//! Turns the tables of rules, agents and settings, written as YAML for people, into JSON without samples for the
//! program: parsing YAML took a third of a run that reads one new line.

#[path = "src/rules/cue_pattern/needed_words.rs"]
mod needed_words;
#[path = "src/rules/cue_pattern/written.rs"]
mod written;

use needed_words::NeededWords;

use serde_yaml::Value;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script where to write by the environment"
)]
fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    for room in ROOMS {
        println!("cargo::rerun-if-changed={room}");
    }
    let mut paths: Vec<PathBuf> = ROOMS
        .iter()
        .flat_map(|room| tables(Path::new(room)))
        .collect();
    paths.sort();
    let mut hash = DefaultHasher::new();
    let mut patterns = BTreeMap::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a table can be read");
        let mut table: Value = serde_yaml::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        forget_samples(&mut table);
        needed_by_patterns(&table, &mut patterns);
        let json = serde_json::to_string(&table).expect("tables have plain keys");
        let below = path.strip_prefix("src").expect("a table of ours");
        hash.write(json.as_bytes());
        let written = out.join(below).with_extension("json");
        fs::create_dir_all(written.parent().expect("a room")).expect("OUT_DIR can be written to");
        fs::write(written, json).expect("OUT_DIR can be written to");
    }
    write_needed_words(&out, &patterns);
    for name in SCHEMAS {
        let text = fs::read_to_string(name).expect("a schema can be read");
        let mut schema = serde_json::from_str(&text).expect("a test wrote it");
        forget_remarks(&mut schema);
        let below = Path::new(name).strip_prefix("src").expect("one of ours");
        let written = out.join(below).with_extension("rules.json");
        fs::create_dir_all(written.parent().expect("a room")).expect("OUT_DIR can be written to");
        fs::write(written, schema.to_string()).expect("OUT_DIR can be written to");
    }
    // whoever keeps what the tables say has it made again when they say something else
    println!("cargo::rustc-env=SESSIONMILL_RULES={:016x}", hash.finish());
}

/// Where tables lie.
const ROOMS: [&str; 3] = ["src/rules", "src/agents", "src/config"];

/// Which words each text needs that may be a pattern, by what the text is known by: whose words are looked up knows
/// that it is one.
fn needed_by_patterns(value: &Value, patterns: &mut BTreeMap<u64, NeededWords>) {
    match value {
        Value::Mapping(map) => map
            .values()
            .for_each(|value| needed_by_patterns(value, patterns)),
        Value::Sequence(list) => list
            .iter()
            .for_each(|value| needed_by_patterns(value, patterns)),
        Value::String(text) if text.contains(['(', '[', '\\', '^', '$', '?', '*', '+', '|']) => {
            let text = written::text_of_bytes(text);
            patterns.insert(written::print(&text), NeededWords::of(&text));
        }
        _ => {}
    }
}

/// As one tuple in Rust: what patterns are known by, whether each begins lines, where the words that it holds and begins
/// with stand, all words.
fn write_needed_words(out: &Path, patterns: &BTreeMap<u64, NeededWords>) {
    let prints: Vec<&u64> = patterns.keys().collect();
    let mut all = String::new();
    let rows = patterns.values().map(|words| {
        let places = [&words.held, &words.first].map(|words| {
            let from = all.len();
            all.push_str(&words.join("\n"));
            (from, all.len())
        });
        (words.begins_lines, places)
    });
    let rows: Vec<(bool, [(usize, usize); 2])> = rows.collect();
    let tuple = format!("({prints:?}, {rows:?}, {all:?})");
    fs::write(out.join("needed_words.rs"), tuple).expect("OUT_DIR can be written to");
    let count = patterns.len().to_string();
    fs::write(out.join("needed_words_count.rs"), count).expect("OUT_DIR can be written to");
}

/// What settings are checked against.
const SCHEMAS: [&str; 2] = [
    "src/config/wire/settings.schema.json",
    "src/config/wire/tracking.schema.json",
];

/// What a schema says to people is two thirds of it, and each command reads it.
fn forget_remarks(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(map) => {
            for remark in ["description", "default", "title"] {
                map.shift_remove(remark);
            }
            for (key, value) in map {
                match (key.as_str(), value) {
                    // keys of settings may be called so too
                    ("properties" | "$defs", serde_json::Value::Object(named)) => {
                        named.values_mut().for_each(forget_remarks);
                    }
                    (_, value) => forget_remarks(value),
                }
            }
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(forget_remarks),
        _ => {}
    }
}

/// The YAML files below a folder.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of tables");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => tables(&path),
            Some(extension) if extension == "yaml" => vec![path],
            _ => Vec::new(),
        })
        .collect()
}

/// Samples are for tests.
fn forget_samples(value: &mut Value) {
    match value {
        Value::Mapping(map) => {
            map.remove("samples");
            map.values_mut().for_each(forget_samples);
        }
        Value::Sequence(list) => list.iter_mut().for_each(forget_samples),
        _ => {}
    }
}
