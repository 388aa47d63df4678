//! What the tests of this folder need: golden cases and items.

use crate::insight::facts::LocatedItem;
use crate::insight::outcome::SessionItem;
use crate::model::activity::ActivityVector;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use serde_json::Value;
use uuid::Uuid;

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

/// An item of the main log, by its label.
pub fn said(text: &str) -> LocatedItem<'_> {
    found(text, &[])
}

/// The same with what was found in it.
pub fn found<'t>(text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
    let kind = match text.split(": ").next() {
        Some("User") => ItemKind::Prompt,
        Some("Agent") => ItemKind::Agent,
        Some("Action") => ItemKind::Digest,
        _ => ItemKind::Note,
    };
    LocatedItem {
        item: SessionItem {
            kind,
            text,
            findings,
        },
        main: true,
        episode: Uuid::nil(),
        line: 1,
    }
}
