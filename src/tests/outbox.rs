//! What is due after anything that happens to episodes and sinks, and that a run without news writes
//! nothing, however the sinks are.

use super::forget::{desk, said};
use super::world::Desk;
use crate::cli::Exit;
use crate::model::time::Time;
use crate::store::{Access, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

fn configure(desk: &Desk, sinks: &Value) {
    let settings = json!({
        "version": "2.0.0", "session_tracking": {"enabled": true}, "sinks": sinks,
    });
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
}

fn export() -> Value {
    json!({"export": {"kind": "jsonl", "path": "~/out"}})
}

/// Writes a session of one prompt for each word.
fn put(desk: &Desk, session: &str, first: u32, words: &[&str]) {
    let said = |(nth, word): (u32, &&str)| said(session, "/w/shop", nth, "user", word);
    let text: String = (first..).zip(words).map(said).collect();
    desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &text);
}

/// Without summaries: these tests count chunks.
fn run(desk: &Desk, line: &str) -> Value {
    let steps = match line.starts_with("run") {
        true => "--steps ingest,upload,report",
        false => "",
    };
    let ran = desk.run(&format!("sessionmill {line} {steps} --json"));
    let sink = ran.json()["sinks"][0].clone();
    let wants = match sink["alarm"].is_null() {
        true => Exit::Done,
        false => Exit::Partial,
    };
    assert_eq!(ran.exit, wants, "{line}: {}", ran.shown());
    sink
}

fn tamper(desk: &Desk, sql: &str) {
    let path = desk.path(".graphiti/sessionmill.db");
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    store.tamper(sql);
    store.finish().unwrap();
}

/// How often each session stands in the export.
fn exported(desk: &Desk) -> BTreeMap<String, u32> {
    let mut sessions = BTreeMap::new();
    for file in fs::read_dir(desk.path("out")).into_iter().flatten() {
        for line in fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let session = line["session"].as_str().unwrap().to_owned();
            *sessions.entry(session).or_default() += 1;
        }
    }
    sessions
}

fn told(counts: &[(&str, u32)]) -> BTreeMap<String, u32> {
    counts.iter().map(|(s, n)| ((*s).to_owned(), *n)).collect()
}

#[test]
fn a_number_that_is_given_again_hides_no_episode() {
    let desk = desk();
    configure(&desk, &export());
    put(&desk, "aaaa", 1, &["one"]);
    put(&desk, "bbbb", 11, &["two"]);
    run(&desk, "run");
    desk.run("sessionmill forget bbbb --yes");
    put(&desk, "cccc", 21, &["three"]);
    let ran = run(&desk, "run");
    assert_eq!(
        (&ran["delivered"], &ran["forgotten"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(exported(&desk), told(&[("aaaa", 1), ("cccc", 1)]));
    // all of it, and everything anew
    desk.run("sessionmill forget aaaa --yes");
    desk.run("sessionmill forget cccc --yes");
    put(&desk, "dddd", 31, &["four"]);
    run(&desk, "run");
    assert_eq!(exported(&desk), told(&[("dddd", 1)]));
}

#[test]
fn an_open_episode_is_delivered_when_it_settles_when_it_grows_and_when_it_is_sealed() {
    let mut desk = desk();
    configure(&desk, &export());
    put(&desk, "aaaa", 1, &["one"]);
    desk.now = Time::parse("2026-05-20T10:02:00Z").unwrap();
    assert_eq!(run(&desk, "run")["delivered"], 0);
    desk.now = Time::parse("2026-05-20T13:00:00Z").unwrap();
    assert_eq!(run(&desk, "run")["delivered"], 1);
    put(&desk, "aaaa", 1, &["one", "more"]);
    assert_eq!(run(&desk, "run")["delivered"], 1);
    // a gap seals it and changes nothing of it
    put(&desk, "aaaa", 1, &["one", "more"]);
    let log = ".claude/projects/-w/aaaa.jsonl";
    let text = fs::read_to_string(desk.path(log)).unwrap();
    let later = said("aaaa", "/w/shop", 5, "user", "next").replace("05-20T", "05-21T");
    desk.write(log, &(text + &later));
    desk.now = Time::parse("2026-05-25T10:00:00Z").unwrap();
    assert_eq!(run(&desk, "run")["delivered"], 1);
    assert_eq!(exported(&desk), told(&[("aaaa", 3)]));
    run(&desk, "run --all --rebuild");
    assert_eq!(exported(&desk), told(&[("aaaa", 3)]));
    let verified = desk.run("sessionmill deliver verify");
    assert_eq!(verified.exit, Exit::Done, "{}", verified.shown());
}

#[test]
fn what_is_forgotten_and_wanted_back_is_there_once() {
    let desk = desk();
    configure(&desk, &export());
    put(&desk, "aaaa", 1, &["one"]);
    put(&desk, "bbbb", 11, &["two"]);
    run(&desk, "run");
    for delivers_between in [false, true] {
        desk.run("sessionmill forget aaaa --yes");
        if delivers_between {
            run(&desk, "deliver run");
            assert_eq!(exported(&desk), told(&[("bbbb", 1)]));
        }
        let undone = desk.run("sessionmill forget aaaa --undo --yes");
        assert_eq!(undone.exit, Exit::Done, "{}", undone.shown());
        run(&desk, "run --all --rebuild");
        run(&desk, "deliver run");
        assert_eq!(exported(&desk), told(&[("aaaa", 1), ("bbbb", 1)]));
    }
}

#[test]
fn a_sink_that_is_called_otherwise_tells_nothing_again() {
    let desk = desk();
    configure(&desk, &export());
    put(&desk, "aaaa", 1, &["one"]);
    run(&desk, "run");
    configure(&desk, &json!({"other": {"kind": "jsonl", "path": "~/out"}}));
    for _ in 0..2 {
        run(&desk, "deliver run --history");
        assert_eq!(exported(&desk), told(&[("aaaa", 1)]));
    }
}

#[test]
fn a_sink_that_fails_keeps_nothing_from_another() {
    let desk = desk();
    desk.write("file", "in the way");
    configure(
        &desk,
        &json!({
            "a-vault": {"kind": "markdown", "path": "~/file/vault"},
            "export": {"kind": "jsonl", "path": "~/out"},
            "vault": {"kind": "markdown", "path": "~/vault"},
        }),
    );
    put(&desk, "aaaa", 1, &["one"]);
    let ran = desk
        .run("sessionmill run --steps ingest,upload,report --json")
        .json();
    let delivered: Vec<&Value> = ran["sinks"].as_array().unwrap().iter().collect();
    let delivered: Vec<&Value> = delivered.iter().map(|s| &s["delivered"]).collect();
    assert_eq!(delivered, [0, 1, 1], "{ran}");
}

#[test]
fn a_note_whose_project_may_not_be_told_any_more_stands_at_one_place() {
    let desk = desk();
    configure(
        &desk,
        &json!({"vault": {"kind": "markdown", "path": "~/vault"}}),
    );
    put(&desk, "aaaa", 1, &["one"]);
    run(&desk, "run");
    let moved = "UPDATE delivery SET place = replace(place, 'shop', 'sold')";
    let notes = || {
        let all = walkdir::WalkDir::new(desk.path("vault"))
            .into_iter()
            .flatten();
        all.filter(|e| e.file_type().is_file()).count()
    };
    // as if it had been called otherwise
    tamper(&desk, moved);
    let folder = fs::read_dir(desk.path("vault"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let sold = folder.file_name().to_string_lossy().replace("shop", "sold");
    fs::rename(folder.path(), desk.path("vault").join(sold)).unwrap();
    put(&desk, "aaaa", 1, &["one", "more"]);
    assert_eq!(run(&desk, "run")["delivered"], 1);
    assert_eq!(notes(), 1);
    assert_eq!(fs::read_dir(desk.path("vault")).unwrap().count(), 1);
}

/// The store's file and its time.
fn file(desk: &Desk) -> (Vec<u8>, std::time::SystemTime) {
    let path = desk.path(".graphiti/sessionmill.db");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    assert!(!desk.path(".graphiti/sessionmill.db-wal").exists());
    (fs::read(path).unwrap(), time)
}

#[test]
fn a_run_without_news_writes_nothing_however_the_sinks_are() {
    let later = Time::parse("2026-07-01T00:00:00Z").unwrap().0;
    let paused = format!("UPDATE sink SET (failures, paused_until, error) = (2, {later}, 'away')");
    let retried = format!(
        "UPDATE delivery SET (state, attempts, next_at, error) = ('queued', 1, {later}, 'x')"
    );
    for (what, sql) in [
        ("all is there", ""),
        ("paused", &paused),
        (
            "paused, and something waits",
            &format!("{paused}; DELETE FROM delivery"),
        ),
        ("waiting for its retry", &retried),
        (
            "dead letters",
            "UPDATE delivery SET (state, error) = ('dead', 'no')",
        ),
        ("dropped", "UPDATE delivery SET state = 'dropped'"),
        ("never asked for", "UPDATE delivery SET state = 'before'"),
    ] {
        let desk = desk();
        configure(&desk, &export());
        put(&desk, "aaaa", 1, &["one"]);
        put(&desk, "bbbb", 11, &["two"]);
        run(&desk, "run");
        let clean = match sql {
            "" => "",
            _ => "UPDATE sink SET clean_to = 0",
        };
        tamper(&desk, &format!("{sql}; {clean}"));
        run(&desk, "run");
        let before = file(&desk);
        run(&desk, "run");
        assert!(before == file(&desk), "{what}: a run wrote");
        if !what.contains("paused") && what != "never asked for" {
            run(&desk, "deliver run --history");
            assert!(before == file(&desk), "{what}: a delivery wrote");
        }
    }
}

#[test]
fn a_project_that_is_switched_off_stays_here_and_costs_no_write() {
    let desk = desk();
    configure(&desk, &json!({}));
    put(&desk, "aaaa", 1, &["one"]);
    run(&desk, "run");
    configure(&desk, &export());
    let off = desk.run("sessionmill disable --project /w/shop");
    assert_eq!(off.exit, Exit::Done, "{}", off.shown());
    assert_eq!(run(&desk, "deliver run --history")["delivered"], 0);
    let before = file(&desk);
    run(&desk, "run");
    run(&desk, "deliver run --history");
    assert!(before == file(&desk));
    assert_eq!(exported(&desk), told(&[]));
    let on = desk.run("sessionmill enable --project /w/shop");
    assert_eq!(on.exit, Exit::Done, "{}", on.shown());
    assert_eq!(run(&desk, "deliver run")["delivered"], 1);
}

#[test]
fn a_store_without_sinks_keeps_its_history_until_it_is_asked_for() {
    for version in 1..=4 {
        let desk = Desk::enabled();
        let store = desk.path(".graphiti/sessionmill.db");
        let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/state");
        fs::remove_file(&store).unwrap();
        fs::copy(fixtures.join(format!("v{version}.db")), &store).unwrap();
        configure(&desk, &export());
        assert_eq!(run(&desk, "run")["delivered"], 0, "version {version}");
        let history = run(&desk, "deliver run --history");
        assert!(history["delivered"].as_u64().unwrap() > 5, "{history}");
        assert_eq!(history["waiting"], 0, "version {version}: {history}");
    }
}
