//! `doctor` finds all that stops a run, and nothing else: each file of a home is broken in turn.

use super::world::Desk;
use crate::cli::Exit;
use crate::config::CONSENT_TEXT;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A file that somebody writes or this program makes, and a sound text for it.
const FILES: [(&str, &str); 12] = [
    (".graphiti/graphiti.config.json", SETTINGS),
    (".graphiti/tracking-config.json", r#"{"version": "1.0.0"}"#),
    (".graphiti/rules/secrets.yaml", "off: []\n"),
    (".graphiti/rules/markers.yaml", ""),
    (".graphiti/rules/keywords.yaml", ""),
    (".graphiti/rules/commands.yaml", ""),
    (".graphiti/rules/tools.yaml", ""),
    (".graphiti/rules/paths.yaml", ""),
    (
        ".graphiti/pipelines/nightly.yaml",
        "steps: [ingest, enrich]\n",
    ),
    (".graphiti/redact.key", "0123456789abcdef0123456789abcdef"),
    (".graphiti/env", "MODEL_KEY=k\n"),
    (".graphiti/prompts/session_summary.md", ""),
];

const MODEL: &str = "http://127.0.0.1:1";

const SETTINGS: &str = r#"{
    "version": "2.0.0", "session_tracking": {"enabled": true},
    "llm": {"endpoint": "http://127.0.0.1:1", "model": "m", "key_env": "MODEL_KEY"}
}"#;

type Damage = fn(&Desk, &str);

/// Ways to break a file.
const DAMAGES: [(&str, Damage); 5] = [
    ("nonsense", |desk, file| desk.write(file, "{[nonsense: \"")),
    ("an unknown key", |desk, file| {
        desk.write(file, "{\"nobody_knows_this\": 1}");
    }),
    ("no UTF-8", |desk, file| {
        fs::write(desk.path(file), [0xff, 0xfe, b'\n']).unwrap();
    }),
    ("a folder in its place", |desk, file| {
        fs::remove_file(desk.path(file)).unwrap();
        fs::create_dir(desk.path(file)).unwrap();
    }),
    ("gone", |desk, file| {
        fs::remove_file(desk.path(file)).unwrap();
    }),
];

/// A home in which every file is there and sound.
fn whole(has_store: bool) -> Desk {
    // without logs: what is asked here is whether a run begins
    let desk = Desk::new();
    let enabled = desk.run(&format!("sessionmill enable --confirm \"{CONSENT_TEXT}\""));
    assert_eq!(enabled.exit, Exit::Done, "{}", enabled.shown());
    for (file, text) in FILES {
        if !text.is_empty() {
            desk.write(file, text);
        }
    }
    let secret = fs::Permissions::from_mode(0o600);
    fs::set_permissions(desk.path(".graphiti/env"), secret).unwrap();
    let text = format!("I understand this sends what my session logs say to {MODEL}");
    let agreed = desk.run(&format!(
        "sessionmill consent give {MODEL} --confirm \"{text}\""
    ));
    assert_eq!(agreed.exit, Exit::Done, "{}", agreed.shown());
    if !has_store {
        fs::remove_file(desk.path(".graphiti/sessionmill.db")).unwrap();
    }
    desk
}

/// What `doctor` says stops runs.
fn told(desk: &Desk) -> Vec<String> {
    let found = desk.run("sessionmill doctor --json").json();
    let all = found["findings"].as_array().cloned().unwrap_or_default();
    let stops = |code: &str| code == "run-refused" || code == "settings";
    all.iter()
        .filter(|one| stops(one["code"].as_str().unwrap_or_default()))
        .map(|one| one["reason"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Whether a run refuses.
fn refuses(desk: &Desk) -> bool {
    let ran = desk.run("sessionmill run");
    let by_usage = ran.exit == Exit::Usage;
    assert!(by_usage || ran.exit != Exit::Failed, "{}", ran.shown());
    by_usage
}

#[test]
fn doctor_says_so_exactly_where_a_run_refuses() {
    let (mut refused, mut asked) = (0, 0);
    for (file, sound) in FILES {
        for (what, damage) in DAMAGES {
            let desk = whole(true);
            if sound.is_empty() {
                desk.write(file, "");
            }
            damage(&desk, file);
            let (refuses, told) = (refuses(&desk), told(&desk));
            assert_eq!(refuses, !told.is_empty(), "{file}, {what}: {told:?}");
            refused += u32::from(refuses);
            asked += 1;
            let name = file.rsplit('/').next().unwrap_or_default();
            let names_it = told.iter().any(|told| told.contains(name));
            // without the file of keys it is the key that is missing
            let is_missing = what == "gone" || file.ends_with("env");
            assert!(
                !refuses || names_it || is_missing,
                "{file}, {what}: {told:?}"
            );
        }
    }
    assert!(refused > asked / 2, "{refused} of {asked}");
}

#[test]
fn what_stops_one_pipeline_or_the_first_run_of_all_is_found_too() {
    let desk = whole(false);
    assert!(refuses(&desk), "nobody agreed to the model");
    fs::remove_file(desk.path(".graphiti/sessionmill.db")).unwrap();
    assert_eq!(told(&desk).len(), 1, "without a store too");
    let desk = whole(true);
    assert!(told(&desk).is_empty());
    desk.write(".graphiti/pipelines/mine.yaml", "steps: [ingest, paint]\n");
    assert_eq!(desk.run("sessionmill run mine").exit, Exit::Usage);
    let told = told(&desk);
    assert!(told[0].starts_with("run mine stops: "), "{told:?}");
    assert!(!refuses(&desk), "the others run");
}
