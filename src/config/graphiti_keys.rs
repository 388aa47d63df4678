//! Which keys of a shared settings file are Graphiti's own (D69), as a table (`graphiti_keys.yaml`). Knows their
//! names, and nothing of what they mean.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    versions: Vec<FileVersion>,
    heeded: BTreeSet<String>,
    #[cfg(test)]
    samples: Samples,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileVersion {
    #[expect(dead_code, reason = "for whoever reads the table")]
    version: String,
    keys: Vec<String>,
    #[serde(default)]
    shared: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg(test)]
struct Samples {
    passed: Vec<String>,
    refused: Vec<String>,
}

#[expect(clippy::expect_used, reason = "embedded, and read by a test")]
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    #[cfg(test)]
    let table = serde_yaml::from_str(include_str!("graphiti_keys.yaml"));
    // as `build.rs` wrote it: without samples, and read in a tenth of the time
    #[cfg(not(test))]
    let table = serde_json::from_str(include_str!(concat!(
        env!("OUT_DIR"),
        "/config/graphiti_keys.json"
    )));
    table.expect("the embedded table")
});

/// Takes Graphiti's own keys out of what a file says; gives their names.
pub fn take_out(settings: &mut Value) -> Vec<String> {
    let Value::Object(top) = settings else {
        return Vec::new();
    };
    let mut taken = Vec::new();
    for version in &TABLE.versions {
        let own = version.keys.iter().filter(|key| take(top, key));
        taken.extend(own.cloned());
        for (section, keys) in &version.shared {
            let Some(Value::Object(inner)) = top.get_mut(section) else {
                continue;
            };
            let own = keys.iter().filter(|key| take(inner, key));
            taken.extend(own.map(|key| format!("{section}.{key}")));
        }
    }
    taken
}

fn take(map: &mut Map<String, Value>, key: &str) -> bool {
    let is_theirs = map.get(key).is_some_and(|value| !is_heeded(value));
    is_theirs && map.shift_remove(key).is_some()
}

/// Somewhere in it stands what we would have to heed.
fn is_heeded(value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            let mut all = map.iter();
            all.any(|(key, inner)| TABLE.heeded.contains(key) || is_heeded(inner))
        }
        Value::Array(items) => items.iter().any(is_heeded),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema::schema_of;
    use crate::config::validate::violation;
    use crate::config::wire::WireConfig;

    #[test]
    fn samples_are_what_the_table_says() {
        let schema = schema_of::<WireConfig>();
        let is_passed = |sample: &String| {
            let mut settings: Value = serde_json::from_str(sample).unwrap();
            take_out(&mut settings);
            violation(&schema, &settings).is_none()
        };
        for sample in &TABLE.samples.passed {
            assert!(is_passed(sample), "{sample}");
        }
        for sample in &TABLE.samples.refused {
            assert!(!is_passed(sample), "{sample}");
        }
    }

    #[test]
    fn no_key_of_ours_is_passed_over() {
        let schema = schema_of::<WireConfig>();
        let ours = serde_json::to_value(WireConfig::default()).unwrap();
        assert!(violation(&schema, &ours).is_none());
        assert_eq!(take_out(&mut ours.clone()), Vec::<String>::new());
    }
}
