//! Secrets planted in every place of a log, and looked for in every byte of what a run leaves behind.

use super::home::Home;
use crate::model::item::apart;
use crate::pipeline::doctor::canary::{PLACES, SESSION, call, log, user};
use crate::rules::secrets::samples::{Planted, planted};
use crate::rules::secrets::{Redactor, UserRules};
use crate::store::Access;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

const LOG: &str = ".claude/projects/-p/00000000-0000-4000-8000-000000000001.jsonl";

/// Everything that a run left behind: the bytes of every file, and the packed texts unpacked.
fn left_behind(home: &Home) -> String {
    let mut all = home.store(Access::ReadOnly).unwrap().dump().unwrap();
    let state = walkdir::WalkDir::new(home.path().join(".graphiti")).into_iter();
    for file in state.flatten().filter(|entry| entry.file_type().is_file()) {
        all.push_str(&String::from_utf8_lossy(
            &std::fs::read(file.path()).unwrap(),
        ));
    }
    all
}

#[test]
fn every_format_is_masked_in_every_place_and_every_byte() {
    let mut leaks = Vec::new();
    let mut formats = 0;
    for (n, (place, around, lines)) in PLACES.iter().enumerate() {
        let home = Home::new(None).unwrap();
        let mut secrets = planted(100_000 * n as u64);
        secrets.retain(|secret| around.suits(secret));
        formats = formats.max(secrets.len());
        let all: Vec<Value> = secrets
            .iter()
            .flat_map(|secret| lines(&secret.text))
            .collect();
        home.put(LOG, log(&all).as_bytes()).unwrap();
        home.run().unwrap();
        let left = left_behind(&home);
        for Planted {
            rule, text, pieces, ..
        } in &secrets
        {
            for piece in pieces.iter().filter(|piece| left.contains(piece.as_str())) {
                leaks.push(format!("{place}: {rule}: {piece} of {text}"));
            }
        }
    }
    assert!(formats >= 150, "{formats}");
    assert!(
        leaks.is_empty(),
        "{} leaks:\n{}",
        leaks.len(),
        leaks.join("\n")
    );
}

#[test]
fn the_canary_finds_nothing_and_would_find_what_is_there() {
    let desk = super::world::Desk::enabled();
    let told = desk.run("sessionmill doctor --canary --json").json();
    let canary = &told["canary"];
    assert_eq!(canary["found"], json!([]), "{canary}");
    assert_eq!(canary["places"], PLACES.len());
    assert!(canary["rules"].as_u64() > Some(60), "{canary}");
    // A rule that is switched off lets its secrets through, and that is seen.
    desk.write(".graphiti/rules/secrets.yaml", "off: [one-time-code]\n");
    let ran = desk.run("sessionmill doctor --canary");
    assert_eq!(ran.exit, crate::cli::Exit::Partial, "{}", ran.shown());
    assert!(
        ran.stdout.contains("found: one-time-code in prompt"),
        "{}",
        ran.shown()
    );
}

/// No half of a secret is left where a text is cut.
#[test]
fn a_cut_goes_around_secrets() {
    let token = "ghp_q8WzR3kT5mVx7Yb2Nc4Ld6Fg9Hj1Ks0PaQtEu";
    let mut leaks = Vec::new();
    let mut look = |what: String, lines: Vec<Value>| {
        let home = Home::new(None).unwrap();
        home.put(LOG, log(&lines).as_bytes()).unwrap();
        home.run().unwrap();
        let left = left_behind(&home);
        let halves = token
            .as_bytes()
            .windows(9)
            .map(|w| String::from_utf8_lossy(w).into_owned());
        leaks.extend(
            halves
                .into_iter()
                .find(|half| left.contains(half))
                .map(|half| format!("{what}: {half}")),
        );
    };
    for before in [60, 75, 90, 150, 185, 260, 290] {
        let text = format!(
            "{} {token} and more {}",
            "w ".repeat(before / 2),
            "x ".repeat(200)
        );
        look(
            format!("command {before}"),
            call("Bash", json!({"command": text}), "ok", false),
        );
        look(
            format!("argument {before}"),
            call("mcp__x__y", json!({"a": text}), "ok", false),
        );
        look(
            format!("message {before}"),
            call(
                "Bash",
                json!({"command": "x"}),
                &format!("error: {text}"),
                true,
            ),
        );
        look(format!("title {before}"), vec![user(json!(text))]);
    }
    for kib in [4, 12] {
        for before in [30, 20, 10] {
            let ends = format!(
                "{}\nerror: {token}\n{}",
                "a line\n".repeat((kib * 1024 - before) / 7),
                "end\n".repeat(5000)
            );
            look(
                format!("output {kib} KiB"),
                call("Bash", json!({"command": "x"}), &ends, true),
            );
        }
    }
    let long = format!(
        "{}{token} {}",
        "w ".repeat((1 << 19) - 9),
        "x ".repeat(5 << 20)
    );
    look("a long line".to_owned(), vec![user(json!(long))]);
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

#[test]
fn new_rules_mask_what_is_stored_and_equal_rules_read_nothing() {
    let home = Home::new(None).unwrap();
    let lines = [
        user(json!("our acme_q8wzr3kt5m is here")),
        json!({"type": "custom-title",
        "customTitle": "acme_q8wzr3kt5m", "sessionId": SESSION}),
    ];
    let queued = PLACES[14].2("acme_q8wzr3kt5m");
    let path = call(
        "Read",
        json!({"file_path": "/p/acme_q8wzr3kt5m"}),
        "ok",
        false,
    );
    let all: Vec<Value> = lines.into_iter().chain(queued).chain(path).collect();
    home.put(LOG, log(&all).as_bytes()).unwrap();
    home.run().unwrap();
    assert!(left_behind(&home).contains("acme_q8wzr3kt5m"));
    let rules = "rules: [{id: acme, name: ours, keywords: [acme_], pattern: 'acme_[a-z0-9]{10}'}]";
    let rules = UserRules::parse(Path::new("secrets.yaml"), rules).unwrap();
    let redactor = Redactor::new([0; 32], false, rules);
    let report = home.run_masked(redactor.clone()).unwrap();
    assert_eq!((report.episodes_redacted, report.files_read), (1, 0));
    let left = left_behind(&home);
    assert!(!left.contains("q8wzr3kt5m"), "still there");
    let store = home.store(Access::ReadOnly).unwrap();
    for found in store.latest(SESSION, None).unwrap() {
        let marks = store.outline(found.episode.id).unwrap();
        let items = apart(&found.episode.text, &marks).expect("the outline fits the text");
        assert!(!items.is_empty(), "{}", found.episode.text);
    }
    drop(store);
    assert!(left.contains("[redacted:acme:"));
    let bytes = std::fs::read(home.path().join(".graphiti/sessionmill.db")).unwrap();
    assert_eq!(home.run_masked(redactor).unwrap().episodes_redacted, 0);
    assert!(bytes == std::fs::read(home.path().join(".graphiti/sessionmill.db")).unwrap());
}

/// Prints what the rules mask in real logs: keys that were real have been taken out of them.
#[test]
fn false_masks_are_rarer_than_one_in_ten_thousand_lines() {
    let folder = std::env::var_os("CORPUS_DIR").map(std::path::PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let home = folder.unwrap_or(here).join("home");
    let mut err = std::io::stderr().lock();
    if !home.is_dir() {
        let _ = writeln!(err, "no corpus at {}: nothing checked", home.display());
        return;
    }
    let redactor = Redactor::default();
    let (mut lines, mut masks) = (0u64, 0u64);
    let mut seen = std::collections::BTreeSet::new();
    let mut look = |text: &str| {
        lines += text.lines().count() as u64;
        let masked = redactor.redact(text);
        for line in masked.lines().filter(|line| line.contains("[redacted:")) {
            if seen.insert(line.to_owned()) {
                masks += line.matches("[redacted:").count() as u64;
                let at = line.find("[redacted:").unwrap_or(0);
                let from = line.floor_char_boundary(at.saturating_sub(60));
                let to = line.ceil_char_boundary((at + 60).min(line.len()));
                let _ = writeln!(err, "{}", &line[from..to]);
            }
        }
    };
    for file in walkdir::WalkDir::new(home).into_iter().flatten() {
        let is_log = file.path().extension().is_some_and(|e| e == "jsonl");
        let Some(text) = is_log
            .then(|| std::fs::read_to_string(file.path()).ok())
            .flatten()
        else {
            continue;
        };
        for line in text.lines() {
            if let Ok(value) = serde_json::from_str::<Value>(line) {
                strings(&value, &mut look);
            }
        }
    }
    let _ = writeln!(err, "{masks} masks in {lines} lines");
    assert!(masks * 10_000 < lines, "{masks} masks in {lines} lines");
}

fn strings(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(list) => list.iter().for_each(|item| strings(item, look)),
        Value::Object(map) => map.values().for_each(|item| strings(item, look)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
