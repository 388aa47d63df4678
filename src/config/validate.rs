//! A value against a JSON Schema: the first key that doesn't belong, the first value of a wrong
//! type. Knows the part of JSON Schema that our wire types produce, and none of the keys.

use super::position::{PathStep, dotted};
use super::schema::{at, keys, options};
use serde_json::Value;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The key.
    pub path: Vec<PathStep>,
    /// What is wrong with it.
    pub what: String,
    /// What was probably meant.
    pub hint: Option<String>,
}

/// The first violation in file order; `None`: the value fits.
pub fn violation(root: &Value, value: &Value) -> Option<Violation> {
    let mut path = Vec::new();
    walk(root, root, value, &mut path)
}

fn walk(
    root: &Value,
    schema: &Value,
    value: &Value,
    path: &mut Vec<PathStep>,
) -> Option<Violation> {
    if !fits(schema, value) {
        return Some(wrong_value(schema, value, path));
    }
    // of several shapes the one that fits says which keys there are
    let fitting = options(schema).and_then(|all| all.iter().find(|o| fits(o, value)));
    let schema = fitting.unwrap_or(schema);
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                path.push(PathStep::Key(key.clone()));
                let violation = match at(schema, &path[path.len() - 1..]) {
                    Some(known) => walk(root, known, inner, path),
                    None if schema["properties"].is_object() || is_closed(schema) => {
                        Some(unknown_key(root, schema, key, path))
                    }
                    None => None,
                };
                if violation.is_some() {
                    return violation;
                }
                path.pop();
            }
            missing_key(schema, map, path)
        }
        Value::Array(items) if schema["items"].is_object() => {
            for (i, item) in items.iter().enumerate() {
                path.push(PathStep::Index(i));
                let violation = walk(root, &schema["items"], item, path);
                if violation.is_some() {
                    return violation;
                }
                path.pop();
            }
            None
        }
        _ => None,
    }
}

fn is_closed(schema: &Value) -> bool {
    schema["additionalProperties"] == Value::Bool(false)
}

fn missing_key(
    schema: &Value,
    map: &serde_json::Map<String, Value>,
    path: &[PathStep],
) -> Option<Violation> {
    let required = schema["required"].as_array().into_iter().flatten();
    let missing = required
        .filter_map(Value::as_str)
        .find(|k| !map.contains_key(*k))?;
    Some(Violation {
        path: path.to_vec(),
        what: format!("`{missing}` is missing"),
        hint: None,
    })
}

/// Whether a single value (not what is in it) is one that the schema allows.
fn fits(schema: &Value, value: &Value) -> bool {
    if let Some(options) = options(schema) {
        return options.iter().any(|o| fits(o, value));
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.contains(value);
    }
    if let Some(word) = schema.get("const") {
        return word == value;
    }
    let named = match &schema["type"] {
        Value::String(one) => is_a(schema, one, value),
        Value::Array(several) => several
            .iter()
            .filter_map(Value::as_str)
            .any(|t| is_a(schema, t, value)),
        _ => true,
    };
    named && in_range(schema, value)
}

fn is_a(schema: &Value, kind: &str, value: &Value) -> bool {
    match kind {
        "integer" => match schema["format"].as_str() {
            Some("uint32") => value.as_u64().is_some_and(|n| n <= u64::from(u32::MAX)),
            Some("uint64") => value.is_u64(),
            _ => value.is_i64() || value.is_u64(),
        },
        other => other == kind_of(value) || (other == "number" && value.is_number()),
    }
}

fn is_too_large(schema: &Value, value: &Value) -> bool {
    schema["format"] == "uint32" && value.as_u64().is_some_and(|n| n > u64::from(u32::MAX))
}

fn in_range(schema: &Value, value: &Value) -> bool {
    let Some(n) = value.as_f64() else { return true };
    let bound = |name: &str| schema[name].as_f64();
    bound("minimum").is_none_or(|min| n >= min) && bound("maximum").is_none_or(|max| n <= max)
}

/// JSON Schema's word for a value's type.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn wrong_value(schema: &Value, value: &Value, path: &[PathStep]) -> Violation {
    let words = words(schema);
    let close = value.as_str().and_then(|v| nearest(v, &words));
    let what = match schema["x-error"].as_str() {
        Some(text) if !in_range(schema, value) => text.to_owned(),
        _ if is_too_large(schema, value) => format!("{value} is too large"),
        _ => format!("expected {}, found {}", expected(schema), found(value)),
    };
    Violation {
        path: path.to_vec(),
        what,
        hint: close.map(|word| format!("did you mean \"{word}\"?")),
    }
}

/// The words that a schema allows, if it allows only words.
fn words(schema: &Value) -> Vec<String> {
    let inner = options(schema).into_iter().flatten().flat_map(words);
    let direct = schema["enum"].as_array().into_iter().flatten();
    let direct = direct.chain(schema.get("const"));
    direct
        .filter_map(|v| v.as_str().map(str::to_owned))
        .chain(inner)
        .collect()
}

fn expected(schema: &Value) -> String {
    if let Some(text) = schema["x-expected"].as_str() {
        return text.to_owned();
    }
    let words = words(schema);
    if !words.is_empty() {
        let quoted: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
        return quoted.join(" or ");
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => vec!["a value"],
    };
    let names = kinds.iter().map(|kind| match *kind {
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "text",
        "array" => "a list",
        "object" => "a map of keys",
        other => other,
    });
    names.collect::<Vec<_>>().join(" or ")
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(is) => is.to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("{text:?}"),
        Value::String(_) => "a long text".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a map".into(),
    }
}

fn unknown_key(root: &Value, schema: &Value, key: &str, path: &[PathStep]) -> Violation {
    let here: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|p| p.keys().cloned())
        .collect();
    let hint = match (nearest(key, &here), elsewhere(root, key)) {
        (Some(near), _) => {
            let mut meant = path[..path.len() - 1].to_vec();
            meant.push(PathStep::Key(near.clone()));
            Some(format!("did you mean `{}`?", dotted(&meant)))
        }
        (None, Some(there)) => Some(format!("did you mean `{there}`?")),
        (None, None) if here.is_empty() => Some("no key belongs here in this version".into()),
        (None, None) => Some(format!("known keys: {}", here.join(", "))),
    };
    Violation {
        path: path.to_vec(),
        what: "unknown key".into(),
        hint,
    }
}

/// A key of that name, or nearly, at another place.
fn elsewhere(root: &Value, key: &str) -> Option<String> {
    let all: Vec<String> = keys(root).into_iter().map(|(k, _)| k).collect();
    let last: Vec<String> = all
        .iter()
        .map(|k| k.rsplit('.').next().unwrap_or(k).to_owned())
        .collect();
    let near = nearest(key, &last)?;
    let index = last.iter().position(|l| *l == near)?;
    all.get(index).cloned()
}

/// Similar enough to be a slip: at most a third of the letters differ.
const SIMILARITY_MIN: f64 = 0.66;

pub(super) fn nearest(given: &str, words: &[String]) -> Option<String> {
    if given.len() > 100 {
        return None;
    }
    let given = given.to_lowercase().replace('-', "_");
    words
        .iter()
        .map(|w| {
            let plain = w.to_lowercase();
            (strsim::normalized_damerau_levenshtein(&given, &plain), w)
        })
        .filter(|(score, _)| *score >= SIMILARITY_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, w)| w.clone())
}
