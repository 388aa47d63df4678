//! The documents' fallback rules for tools that have no digest of their own (SPEC 001-040..050).

use serde_json::{Map, Value};

/// Strings over 100 characters and lists over 5 items cut, as the documents print it.
pub fn summarise_input(input: &Value) -> Value {
    let Some(map) = input.as_object() else {
        return Value::Object(Map::new());
    };
    let cut = map.iter().map(|(key, value)| {
        let value = match value {
            Value::String(s) if s.chars().count() > 100 => {
                let head: String = s.chars().take(100).collect();
                Value::String(format!("{head}... ({} chars)", s.chars().count()))
            }
            Value::Array(list) if list.len() > 5 => {
                let mut head = list[..5].to_vec();
                head.push(Value::String(format!("... ({} items)", list.len())));
                Value::Array(head)
            }
            other => other.clone(),
        };
        (key.clone(), value)
    });
    Value::Object(cut.collect())
}

/// `k=v, k2=v2`, values as Python prints them.
pub fn params(input: &Value) -> String {
    let Some(map) = input.as_object() else {
        return String::new();
    };
    let pairs: Vec<String> = map
        .iter()
        .map(|(key, value)| match value {
            Value::String(s) => format!("{key}={s}"),
            Value::Null => format!("{key}=None"),
            Value::Bool(b) => format!("{key}={}", if *b { "True" } else { "False" }),
            other => format!("{key}={other}"),
        })
        .collect();
    pairs.join(", ")
}

/// One phrase for an output.
pub fn summarise_output(output: Option<&Value>) -> String {
    match output {
        None | Some(Value::Null) => "No output".into(),
        Some(Value::Object(map)) => {
            let keys: Vec<String> = map.keys().take(5).map(|k| format!("'{k}'")).collect();
            format!("Dict with {} keys: [{}]", map.len(), keys.join(", "))
        }
        Some(Value::Array(list)) => format!("List with {} items", list.len()),
        Some(Value::String(s)) => format!("Output ({} lines)", s.matches('\n').count() + 1),
        Some(Value::Bool(_)) => "bool".into(),
        Some(Value::Number(n)) if n.is_f64() => "float".into(),
        Some(Value::Number(_)) => "int".into(),
    }
}
