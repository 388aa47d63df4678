//! Golden vectors, and that counts merge in any order.

use super::*;
use crate::model::activity::{Activity, ActivityVector, MIN_STRENGTH, MIXED};
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
    let kinds = || {
        let kind = proptest::sample::select(Dimension::ALL.to_vec());
        proptest::collection::btree_map(kind, 1..99u64, 0..3)
    };
    let source = proptest::sample::select(vec![
        Said::Asked,
        Said::Announced,
        Said::Planned,
        Said::Reported,
        Said::Committed,
    ]);
    let said = proptest::collection::btree_map(source, kinds(), 0..4);
    let changed = (said, kinds(), (0..99u64, 0..99u64));
    let counted = (counts(), counts(), 0..5u64, files);
    (counted, changed).prop_map(|((keywords, tools, errors, files), (said, lines, code))| {
        let files: BTreeMap<Dimension, BTreeSet<u64>> = files;
        ActivityTally {
            keywords,
            tools,
            errors,
            files,
            said,
            lines,
            code,
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

/// A record as `filter` hands it on.
fn item(kind: ItemKind, text: &str, tool: Option<ToolUse>) -> Item {
    Item {
        place: Default::default(),
        nth: 0,
        id: uuid::Uuid::nil(),
        time: None,
        kind,
        text: text.to_owned(),
        tool,
        activity: ActivityTally::default(),
        messages: 0,
        usage: Default::default(),
        spending: Default::default(),
        work: Default::default(),
        quiet_since: None,
        resume: Default::default(),
    }
}

fn asked(text: &str) -> Item {
    item(ItemKind::Prompt, &format!("User: {text}"), None)
}

fn told(text: &str) -> Item {
    item(ItemKind::Agent, &format!("Agent: {text}"), None)
}

fn edited(path: &str, added: u64, removed: u64) -> Item {
    let tool = ToolUse {
        name: "Edit".into(),
        files: vec![path.into()],
        modified: vec![path.into()],
        findings: vec![Finding::Changed {
            path: path.into(),
            added,
            removed,
        }],
        ..ToolUse::default()
    };
    let text = format!("Action: Edit({path}) → +{added} −{removed}");
    item(ItemKind::Digest, &text, Some(tool))
}

fn committed(subject: &str) -> Item {
    let tool = ToolUse {
        name: "Bash".into(),
        command: "commit".into(),
        findings: vec![Finding::Commit {
            hash: String::new(),
            subject: subject.into(),
            again: false,
            size: None,
        }],
        ..ToolUse::default()
    };
    item(ItemKind::Digest, "Action: Bash(git commit)", Some(tool))
}

fn counted(mut items: Vec<Item>) -> ActivityTally {
    let classifier = Classifier::default();
    items.iter_mut().for_each(|item| count(item, &classifier));
    items.iter().map(|item| &item.activity).sum()
}

fn activity(items: Vec<Item>) -> Activity {
    let signals = signals(&counted(items), &Classifier::default());
    Activity::of(signals, MIN_STRENGTH)
}

#[test]
fn one_word_is_no_kind_of_work() {
    for text in [
        "thanks, that makes sense",
        "ok, package it up nicely",
        "good, all settings then",
        "yes",
    ] {
        let found = activity(vec![asked(text), told("You're welcome.")]);
        assert_eq!(found.primary, None, "{text}: {}", found.profile());
        assert_eq!(found.profile(), "mixed activity", "{text}");
    }
}

/// The same edits and test runs each time; what was asked and said tells them apart.
#[test]
fn building_fixing_and_refactoring_are_told_apart() {
    let session = |ask: &str, report: &str, added, removed| {
        let edits = (0..3).map(|n| edited(&format!("/p/src/cart{n}.rs"), added, removed));
        let mut items = vec![asked(ask)];
        items.extend(edits);
        items.push(told(report));
        activity(items).primary
    };
    for (ask, report, added, removed, wants) in [
        (
            "Add a discount column to the cart",
            "Added the column.",
            60,
            2,
            Dimension::Building,
        ),
        (
            "the total is wrong when the cart is empty",
            "Fixed the total of empty carts.",
            6,
            4,
            Dimension::Fixing,
        ),
        (
            "extract the totals into a module of their own",
            "Moved the totals into `totals.rs`.",
            40,
            38,
            Dimension::Refactoring,
        ),
    ] {
        assert_eq!(session(ask, report, added, removed), Some(wants), "{ask}");
    }
}

#[test]
fn commits_tasks_and_documents_speak() {
    let docs = activity(vec![
        asked("the handbook again please"),
        edited("/p/docs/handbook.md", 80, 10),
    ]);
    assert_eq!(docs.primary, Some(Dimension::Documenting));
    let fixes = activity(vec![
        asked("go on with the list"),
        edited("/p/src/a.rs", 10, 8),
        committed("fix(cart): totals of empty carts"),
        committed("fix: rounding"),
    ]);
    assert_eq!(fixes.primary, Some(Dimension::Fixing));
    let reviewer = ToolUse {
        name: "Task".into(),
        ..ToolUse::default()
    };
    let text = "Action: Task(Review the cart module) → done";
    let tally = counted(vec![item(ItemKind::Digest, text, Some(reviewer))]);
    assert_eq!(tally.said[&Said::Planned][&Dimension::Reviewing], 1);
}

#[test]
fn what_an_older_program_counted_is_read_and_scored() {
    let old = r#"{"keywords": {"fix": 2, "bug": 1}, "tools": {"$ test": 3}, "errors": 4}"#;
    let tally: ActivityTally = serde_json::from_str(old).expect("an older row");
    let found = Activity::of(signals(&tally, &Classifier::default()), MIN_STRENGTH);
    assert_eq!(found.primary, Some(Dimension::Fixing));
    assert_eq!(
        serde_json::to_string(&ActivityTally::default()).unwrap(),
        "{}"
    );
}

#[test]
fn a_kind_of_work_is_explained_in_words() {
    let tally = counted(vec![
        asked("fix the bug in the cart"),
        asked("why is it so slow?"),
        edited("/p/src/cart.rs", 6, 2),
        told("Fixed the total."),
        committed("fix: total of empty carts"),
    ]);
    let classifier = Classifier::default();
    let found = Activity::of(signals(&tally, &classifier), MIN_STRENGTH);
    let text = explain::text(&explain::explained(&tally, &found, &classifier));
    let head: Vec<&str> = text.lines().take(1).collect();
    assert_eq!(head, ["fixing (1.0)"]);
    for words in [
        "asked for first in 1 of 2 requests",
        "the subject of 1 of 1 commit",
        "reported as done by the agent: 1 of 1 report",
        "words of people: bug, fix",
        "8 lines of code changed",
        "commands and tools: Edit (1)",
    ] {
        assert!(text.contains(words), "{words:?} is missing in\n{text}");
    }
    let nothing = ActivityTally::default();
    let none = Activity::of(signals(&nothing, &classifier), MIN_STRENGTH);
    assert!(explain::text(&explain::explained(&nothing, &none, &classifier)).starts_with("mixed"));
}
