//! JSON Schema made of the wire types, and the way through it. Knows the part of JSON Schema that they
//! produce.

use super::position::PathStep;
use serde_json::Value;

#[cfg(test)]
use schemars::{JsonSchema, generate::SchemaSettings};

/// The JSON Schema of a wire type, without references, so that it can be walked.
#[cfg(test)]
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// The schema of a path's value; `None` for paths that the schema doesn't have.
pub fn at<'a>(root: &'a Value, path: &[PathStep]) -> Option<&'a Value> {
    path.iter().try_fold(root, |schema, step| match step {
        PathStep::Key(key) => match &schema["properties"][key.as_str()] {
            Value::Null => Some(&schema["additionalProperties"]).filter(|s| s.is_object()),
            found => Some(found),
        },
        PathStep::Index(_) => Some(&schema["items"]).filter(|s| s.is_object()),
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
    let below = |name: &str| {
        if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}.{name}")
        }
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

/// What a value may be, where a schema gives it a choice.
pub fn options(schema: &Value) -> Option<&Vec<Value>> {
    schema["anyOf"]
        .as_array()
        .or_else(|| schema["oneOf"].as_array())
}
