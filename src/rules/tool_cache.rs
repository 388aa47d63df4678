//! What was learned of tools: a file that other tools share (003 § 3.4, 003-148).
//!
//! Knows the documents' file: `exact` by name and parameters, `pattern` by name. Doesn't know where
//! it lies (`memory::classifiers`).

use crate::model::classification::Classification;
use crate::model::time::Time;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The field of the file that is ours alone.
const OURS: &str = "sessionmill";

/// The documents' file. Fields and rows that we don't know stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolCache {
    /// By [`key`].
    exact: BTreeMap<String, Value>,
    /// By name.
    pattern: BTreeMap<String, Value>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// A row of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    tool_name: String,
    #[serde(default)]
    tool_params: Option<Value>,
    #[serde(flatten)]
    classification: Classification,
}

impl ToolCache {
    /// Reads a file's text; `None` where it isn't one.
    pub fn parse(text: &str) -> Option<ToolCache> {
        serde_json::from_str(text).ok()
    }

    /// As the file has it.
    pub fn print(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// What is known of a call: of this very one, else of its tool. A row that can't be read is none.
    pub fn get(&self, tool: &str, params: &Value) -> Option<Classification> {
        let exact = (!self.exact.is_empty()).then(|| self.exact.get(&key(tool, params)));
        let row = exact.flatten().or_else(|| self.pattern.get(tool))?;
        let row: Row = serde_json::from_value(row.clone()).ok()?;
        let sure = (0.0..=1.0).contains(&row.classification.confidence);
        sure.then_some(row.classification)
    }

    /// Whether nothing could be learned of a tool after `since`, so that asking again can wait
    /// (D44).
    pub fn failed(&self, tool: &str, since: Time) -> bool {
        let at = self
            .more
            .get(OURS)
            .and_then(|ours| ours["failed"][tool].as_str());
        at.and_then(Time::parse).is_some_and(|at| at > since)
    }

    /// Remembers that nothing could be learned of a tool.
    pub fn fail(&mut self, tool: &str, at: Time) {
        let ours = self.more.entry(OURS).or_insert_with(|| json!({}));
        if !ours.is_object() {
            *ours = json!({});
        }
        if !ours["failed"].is_object() {
            ours["failed"] = json!({});
        }
        ours["failed"][tool] = at.rfc3339_millis().into();
    }

    /// Remembers an answer, of this call and of its tool.
    pub fn learn(&mut self, tool: &str, params: &Value, classification: Classification) {
        let row = Row {
            tool_name: tool.to_owned(),
            tool_params: (!params.is_null()).then(|| params.clone()),
            classification,
        };
        if let Ok(row) = serde_json::to_value(row) {
            self.exact.insert(key(tool, params), row.clone());
            self.pattern.insert(tool.to_owned(), row);
        }
    }
}

/// `name::` and the first 8 hex digits of the MD5 of the parameters as Python prints them: keys
/// sorted, nulls of the outermost object dropped, ASCII only (003-060).
pub fn key(tool: &str, params: &Value) -> String {
    let mut text = String::new();
    match params {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            print_object(kept.collect(), &mut text);
        }
        _ => text.push_str("{}"),
    }
    let hash = Md5::digest(text.as_bytes());
    let mut key = format!("{tool}::");
    for byte in &hash[..4] {
        let _ = write!(key, "{byte:02x}");
    }
    key
}

fn print_object(mut entries: Vec<(&String, &Value)>, text: &mut String) {
    entries.sort_by_key(|(name, _)| *name);
    text.push('{');
    for (at, (name, value)) in entries.into_iter().enumerate() {
        text.push_str(if at > 0 { ", " } else { "" });
        print_string(name, text);
        text.push_str(": ");
        print(value, text);
    }
    text.push('}');
}

fn print(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => print_object(map.iter().collect(), text),
        Value::Array(list) => {
            text.push('[');
            for (at, item) in list.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                print(item, text);
            }
            text.push(']');
        }
        Value::String(string) => print_string(string, text),
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

fn print_string(string: &str, text: &mut String) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::classification::{Domain, Intent};

    #[test]
    fn what_is_learned_is_known_again() {
        let mut cache = ToolCache::default();
        let learned = Classification {
            intent: Intent::Search,
            domain: Domain::Code,
            confidence: 0.9,
            reasoning: "x".into(),
            signals: Default::default(),
        };
        cache.learn("mcp__a__b", &json!({"p": 1}), learned.clone());
        let cache = ToolCache::parse(&cache.print()).expect("its own text");
        assert_eq!(cache.get("mcp__a__b", &json!({"q": 2})), Some(learned));
        assert_eq!(cache.get("mcp__a__c", &Value::Null), None);
    }

    #[test]
    fn what_other_tools_wrote_stays() {
        let theirs = r#"{"exact": {"a::1": {"mine": 1}}, "pattern": {}, "version": 7}"#;
        let mut cache = ToolCache::parse(theirs).expect("their text");
        cache.fail("x", Time(1_000));
        assert!(cache.failed("x", Time(999)) && !cache.failed("x", Time(1_000)));
        let printed: Value = serde_json::from_str(&cache.print()).expect("JSON");
        assert_eq!(printed["exact"]["a::1"], json!({"mine": 1}));
        assert_eq!(printed["version"], 7);
        assert!(ToolCache::parse("[]").is_none() && ToolCache::parse("{\"exact\": 1}").is_none());
    }

    #[test]
    fn the_documents_keys() {
        let dir = std::env::var("GOLDEN_DIR").unwrap_or_else(|_| "../shared/golden".into());
        let Ok(text) = std::fs::read_to_string(format!("{dir}/cache_keys.json")) else {
            return eprintln!("passed over: no {dir}/cache_keys.json");
        };
        let golden: Value = serde_json::from_str(&text).expect("JSON");
        for case in golden["cases"].as_array().expect("cases") {
            let name = case["name"].as_str().expect("a name");
            assert_eq!(
                key(name, &case["params"]),
                case["want"].as_str().expect("a key")
            );
        }
    }
}
