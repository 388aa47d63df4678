//! A value against a JSON Schema: the first key that doesn't belong, the first value of a wrong
//! type. Knows the part of JSON Schema that our wire types produce; refuses to know the keys.

use super::position::{Step, dotted};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key.
    pub path: Vec<Step>,
    /// What is wrong with it.
    pub what: String,
    /// What was probably meant.
    pub hint: Option<String>,
}

/// The JSON Schema of a wire type, without references, so that it can be walked.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// The first fault in file order, or `None`.
pub fn check(root: &Value, value: &Value) -> Option<Fault> {
    let mut path = Vec::new();
    walk(root, root, value, &mut path)
}

/// The schema of a path's value; `None` for paths that the schema doesn't have.
pub fn at<'a>(root: &'a Value, path: &[Step]) -> Option<&'a Value> {
    path.iter().try_fold(root, |schema, step| match step {
        Step::Key(key) => match &schema["properties"][key.as_str()] {
            Value::Null => Some(&schema["additionalProperties"]).filter(|s| s.is_object()),
            found => Some(found),
        },
        Step::Index(_) => Some(&schema["items"]).filter(|s| s.is_object()),
    })
}

/// Every key of a schema, dotted, maps before what is in them: `(key, its schema)`. Keys of free
/// maps are `*`, items of lists are `[]`.
pub fn keys(root: &Value) -> Vec<(String, &Value)> {
    let mut out = Vec::new();
    list_keys(root, "", &mut out);
    out
}

fn list_keys<'a>(schema: &'a Value, prefix: &str, out: &mut Vec<(String, &'a Value)>) {
    let below = |name: &str| match prefix.is_empty() {
        true => name.to_owned(),
        false => format!("{prefix}.{name}"),
    };
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        out.push((below(name), inner));
        list_keys(inner, &below(name), out);
    }
    for option in options(schema).into_iter().flatten() {
        list_keys(option, prefix, out);
    }
    if schema["additionalProperties"].is_object() {
        list_keys(&schema["additionalProperties"], &below("*"), out);
    }
    if schema["items"]["properties"].is_object() {
        list_keys(&schema["items"], &format!("{prefix}[]"), out);
    }
}

fn walk(root: &Value, schema: &Value, value: &Value, path: &mut Vec<Step>) -> Option<Fault> {
    if !fits(schema, value) {
        return Some(wrong_value(schema, value, path));
    }
    let fitting = options(schema).and_then(|all| all.iter().find(|o| fits(o, value)));
    let schema = fitting.unwrap_or(schema);
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                path.push(Step::Key(key.clone()));
                let fault = match at(schema, &path[path.len() - 1..]) {
                    Some(known) => walk(root, known, inner, path),
                    None if schema["properties"].is_object() || is_closed(schema) => {
                        Some(unknown_key(root, schema, key, path))
                    }
                    None => None,
                };
                if fault.is_some() {
                    return fault;
                }
                path.pop();
            }
            missing_key(schema, map, path)
        }
        Value::Array(items) if schema["items"].is_object() => {
            for (i, item) in items.iter().enumerate() {
                path.push(Step::Index(i));
                let fault = walk(root, &schema["items"], item, path);
                if fault.is_some() {
                    return fault;
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
    path: &[Step],
) -> Option<Fault> {
    let required = schema["required"].as_array().into_iter().flatten();
    let missing = required
        .filter_map(Value::as_str)
        .find(|k| !map.contains_key(*k))?;
    Some(Fault {
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

fn options(schema: &Value) -> Option<&Vec<Value>> {
    schema["anyOf"]
        .as_array()
        .or_else(|| schema["oneOf"].as_array())
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

fn wrong_value(schema: &Value, value: &Value, path: &[Step]) -> Fault {
    let words = words(schema);
    let close = value.as_str().and_then(|v| nearest(v, &words));
    let what = match schema["x-error"].as_str() {
        Some(text) if !in_range(schema, value) => text.to_owned(),
        _ if is_too_large(schema, value) => format!("{value} is too large"),
        _ => format!("expected {}, found {}", expected(schema), found(value)),
    };
    Fault {
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

fn unknown_key(root: &Value, schema: &Value, key: &str, path: &[Step]) -> Fault {
    let here: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|p| p.keys().cloned())
        .collect();
    let hint = match (nearest(key, &here), elsewhere(root, key)) {
        (Some(near), _) => {
            let mut meant = path[..path.len() - 1].to_vec();
            meant.push(Step::Key(near.clone()));
            Some(format!("did you mean `{}`?", dotted(&meant)))
        }
        (None, Some(there)) => Some(format!("did you mean `{there}`?")),
        (None, None) if here.is_empty() => Some("no key belongs here in this version".into()),
        (None, None) => Some(format!("keys here: {}", here.join(", "))),
    };
    Fault {
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

fn nearest(given: &str, words: &[String]) -> Option<String> {
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
