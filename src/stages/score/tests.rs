//! Golden vectors, and that counts merge in any order.

use super::*;
use crate::model::activity::{ActivityVector, MIXED};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn golden() -> Option<Value> {
    let dir = std::env::var("GOLDEN_DIR").unwrap_or_else(|_| "../shared/golden".into());
    let path = format!("{dir}/activity_vectors.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).expect("JSON")),
        Err(_) => {
            eprintln!("passed over: no {path}");
            None
        }
    }
}

fn vector(case: &Value) -> ActivityVector {
    let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
    if let Some(values) = case.get("values") {
        return ActivityVector::from_values(|d| values.get(d.as_str()).map_or(0.0, number))
            .expect("values in range");
    }
    let signals = case["signals"].as_object().expect("signals");
    let named: BTreeMap<String, f64> = signals
        .iter()
        .map(|(name, v)| (name.clone(), number(v)))
        .collect();
    ActivityVector::from_signals(&Signals::from(named))
}

#[test]
fn the_documents_vectors() {
    let Some(golden) = golden() else { return };
    for case in golden["cases"].as_array().expect("cases") {
        let (found, wants) = (vector(case), &case["want"]);
        for dimension in Dimension::ALL {
            let want = wants["vector"][dimension.as_str()]
                .as_f64()
                .expect("a number");
            assert!((found.get(dimension) - want).abs() < 1e-9, "{}", case["id"]);
        }
        let dominant: Vec<&str> = found
            .dominant()
            .into_iter()
            .map(Dimension::as_str)
            .collect();
        assert_eq!(
            serde_json::json!(dominant),
            wants["dominant"],
            "{}",
            case["id"]
        );
        let primary = found.primary().map_or(MIXED, Dimension::as_str);
        assert_eq!(primary, wants["primary"], "{}", case["id"]);
        assert_eq!(found.profile(), wants["profile"], "{}", case["id"]);
    }
}

fn tally() -> impl Strategy<Value = ActivityTally> {
    let names = || proptest::sample::select(vec!["Read", "$ test", "$ ?zzz pr", "fix", "add", "x"]);
    let counts =
        move || proptest::collection::btree_map(names().prop_map(String::from), 1..9u64, 0..4);
    let category = proptest::sample::select(Dimension::ALL.to_vec());
    let files = proptest::collection::btree_set(0..9u64, 1..4);
    let files = proptest::collection::btree_map(category, files, 0..3);
    (counts(), counts(), 0..5u64, files).prop_map(|(keywords, tools, errors, files)| {
        let files: BTreeMap<Dimension, BTreeSet<u64>> = files;
        ActivityTally {
            keywords,
            tools,
            errors,
            files,
        }
    })
}

fn sum(parts: &[&ActivityTally]) -> ActivityTally {
    let mut sum = ActivityTally::default();
    parts.iter().for_each(|part| sum.merge(part));
    sum
}

proptest! {
    #[test]
    fn merging_is_associative_and_commutative(a in tally(), b in tally(), c in tally()) {
        let whole = sum(&[&a, &b, &c]);
        prop_assert_eq!(&sum(&[&c, &a, &b]), &whole);
        prop_assert_eq!(&sum(&[&a, &sum(&[&b, &c])]), &whole);
        let classifier = Classifier::default();
        let found = ActivityVector::from_signals(&signals(&whole, &classifier));
        let again = ActivityVector::from_signals(&signals(&sum(&[&b, &c, &a]), &classifier));
        prop_assert_eq!(found, again);
        for dimension in Dimension::ALL {
            prop_assert!((0.0..=1.0).contains(&found.get(dimension)));
        }
    }
}
