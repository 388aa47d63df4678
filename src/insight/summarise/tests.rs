//! What the tests of this folder read: the golden cases.

use crate::model::activity::ActivityVector;
use serde_json::Value;

/// A golden file, where there is one.
pub fn golden(name: &str) -> Option<Value> {
    let dir = std::env::var("GOLDEN_DIR").unwrap_or_else(|_| "../shared/golden".into());
    let path = format!("{dir}/{name}.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).expect("JSON")),
        Err(_) => {
            eprintln!("passed over: no {path}");
            None
        }
    }
}

/// A vector by its named values.
pub fn vector(named: &Value) -> ActivityVector {
    let value = |name: &str| named.get(name).and_then(Value::as_f64).unwrap_or_default();
    ActivityVector::from_values(|d| value(d.as_str())).expect("values in range")
}
