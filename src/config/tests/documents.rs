//! Fixtures, schema, docs, and arbitrary bytes.

use super::super::document::Document;
use super::super::file_kind::SETTINGS;
use super::super::schema::keys;
use super::super::validate::violation;
use super::super::{Setting, load, schema, tracking_schema};
use super::{World, compare, ext, fixtures, role};
use crate::agents::registry;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

#[test]
fn every_invalid_file_is_refused_with_its_text() {
    let mut wrong = Vec::new();
    for fixture in fixtures("invalid") {
        let world = World::new();
        world.put(&role(&fixture), fs::read(&fixture).unwrap());
        compare(&fixture, "stderr", &world.error(), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_nested_too_deeply_is_refused_before_the_yaml_library_reads_it() {
    let error = |name: &str, text: &str| {
        let refused = Document::parse(Path::new(name), text.as_bytes());
        refused.expect_err(name).message
    };
    let deep = format!("{}1{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    assert!(error("a.json", &deep).ends_with("a.json:1: recursion limit exceeded"));
    assert!(error("a.yaml", &deep).ends_with("a.yaml:1: is nested too deeply"));
    let list = format!("a:\n{}1\n", "- ".repeat(50_000));
    assert!(error("a.yaml", &list).ends_with("a.yaml:2: is nested too deeply"));
    let wide = format!("a: [{}[1]]\n", "[1], ".repeat(1_000));
    assert!(Document::parse(Path::new("a.yaml"), wide.as_bytes()).is_ok());
}

#[test]
fn every_valid_file_means_what_its_sibling_says() {
    let mut wrong = Vec::new();
    for fixture in fixtures("valid") {
        let world = World::new();
        world.put(&role(&fixture), fs::read(&fixture).unwrap());
        let loaded = world.load();
        let written = loaded
            .settings
            .iter()
            .filter(|s| s.origin.to_string() != "default");
        let line = |s: &Setting| format!("{} = {} ({})\n", s.key, s.value, s.origin);
        let mut text: String = written.map(line).collect();
        for root in &loaded.config.roots {
            text += &format!("root: {} {}\n", root.agent.as_str(), root.path.display());
        }
        for pattern in loaded.config.excluded.patterns() {
            text += &format!("excluded: {pattern}\n");
        }
        for namespace in loaded.config.trusted_namespaces.iter().flatten() {
            text += &format!("trusted: {namespace}\n");
        }
        for note in &loaded.notes {
            text += &format!("note: {note}\n");
        }
        for warning in &loaded.warnings {
            text += &format!("warning: {warning}\n");
        }
        compare(&fixture, "shown", &world.plain(&text), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_fixture_lacks_its_file() {
    for (kind, sibling) in [("valid", "shown"), ("invalid", "stderr")] {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures/config")
            .join(kind);
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if ext(&path) == sibling {
                assert!(path.with_extension("").exists(), "{}", path.display());
            }
        }
    }
}

#[test]
fn valid_files_fit_the_printed_schema_and_structural_faults_dont() {
    for fixture in fixtures("valid") {
        let schema = if role(&fixture).starts_with("tracking") {
            tracking_schema()
        } else {
            schema()
        };
        let mut document = Document::load(&fixture).unwrap().unwrap();
        SETTINGS.pass_over(&mut document.value);
        assert_eq!(
            violation(&schema, &document.value),
            None,
            "{}",
            fixture.display()
        );
    }
    let faults = fixtures("invalid").into_iter().filter(|f| {
        let name = f.file_name().unwrap_or_default().to_string_lossy();
        name.contains("-instead-of-") || name.starts_with("unknown-key")
    });
    let mut refused = 0;
    for fixture in faults {
        let document = Document::load(&fixture).unwrap().unwrap();
        let fault = violation(&schema(), &document.value);
        // `yes` is text: whatever has a type is a fault of the schema, not only of the program.
        assert!(fault.is_some(), "{}", fixture.display());
        refused += 1;
    }
    assert!(refused >= 8, "only {refused} faults were tried");
}

#[test]
fn every_key_of_the_schema_has_a_description_and_every_optional_one_its_default() {
    for root in [schema(), tracking_schema()] {
        for (key, inner) in keys(&root) {
            let free = key.ends_with('*');
            assert!(
                free || inner["description"].is_string(),
                "{key} has no description"
            );
            let in_list = key.contains("[]") || key.contains('*');
            assert!(
                in_list || inner.get("default").is_some(),
                "{key} has no default"
            );
        }
    }
}

#[test]
fn the_docs_name_every_key() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let text = fs::read_to_string(file).unwrap();
    let missing: Vec<String> = [schema(), tracking_schema()]
        .iter()
        .flat_map(keys)
        .map(|(key, _)| key)
        // The older shape repeats the keys of `session_tracking`; lists of named maps are shown whole.
        .filter(|key| !key.starts_with("global.session_tracking."))
        .filter(|key| !key.ends_with('*'))
        .filter(|key| !text.contains(&format!("`{key}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/configuration.md lacks {missing:?}"
    );
}

#[test]
fn the_docs_show_no_key_that_does_not_exist_and_the_right_default() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let text = fs::read_to_string(file).unwrap();
    let (config, tracking) = (schema(), tracking_schema());
    let known: Vec<_> = keys(&config).into_iter().chain(keys(&tracking)).collect();
    let mut rows = 0;
    let tables = text
        .split("\n\n")
        .filter_map(|part| part.split_once("| key | default |"));
    let lines = tables.flat_map(|(_, rows)| rows.lines());
    for line in lines.filter(|l| l.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let key = cells[0].trim_matches('`');
        let (_, inner) = known
            .iter()
            .find(|(k, _)| k == key)
            .unwrap_or_else(|| panic!("{key} is no key"));
        if let Some(default) = inner.get("default") {
            let plain = !inner["properties"].is_object();
            assert!(
                !plain || cells[1] == format!("`{default}`"),
                "{key}: {} is not {default}",
                cells[1]
            );
        }
        let no_effect = inner["x-effect"].as_str();
        assert!(
            no_effect.is_none_or(|e| line.contains(e)),
            "{key} should say {no_effect:?}"
        );
        rows += 1;
    }
    assert!(rows > 60, "only {rows} rows were understood");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_bytes_make_loading_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), yaml: bool) {
        let name = if yaml { "x.yaml" } else { "x.json" };
        let _ = Document::parse(Path::new(name), &bytes);
    }

    #[test]
    fn no_plausible_text_makes_loading_panic(text in "[-{}\\[\\]:,\"'&*!|>?#~ \n\t0-9a-e_.\\\\]{0,80}", yaml: bool) {
        let world = World::new();
        let name = if yaml { "graphiti.config.yaml" } else { "graphiti.config.json" };
        world.put(name, &text);
        let _ = load(&world.env, registry::log_folders);
    }

    #[test]
    fn no_damaged_byte_of_a_real_file_makes_loading_panic(which: usize, at: usize, byte: u8) {
        let all = fixtures("valid");
        let fixture = &all[which % all.len()];
        let mut bytes = fs::read(fixture).unwrap();
        let length = bytes.len();
        bytes[at % length] = byte;
        let world = World::new();
        world.put(&role(fixture), &bytes);
        let _ = load(&world.env, registry::log_folders);
    }
}
