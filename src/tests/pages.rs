//! Sessions in one page, as episodes: when they are written, replaced, delivered and taken away.

use super::forget::{desk, said};
use super::world::Desk;
use crate::cli::Exit;
use crate::model::time::Time;
use crate::store::{Access, Found, Store};
use serde_json::{Value, json};
use std::fs;

/// Writes a session of one prompt and its answer for each word.
fn put(desk: &Desk, session: &str, first: u32, words: &[&str]) {
    let said = |(nth, word): (u32, &&str)| {
        let at = first + 2 * nth;
        said(session, "/w/shop", at, "user", &format!("please {word} it"))
            + &said(
                session,
                "/w/shop",
                at + 1,
                "assistant",
                &format!("{word} it is"),
            )
    };
    let text: String = (0..).zip(words).map(said).collect();
    desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &text);
}

fn configure(desk: &Desk, more: &Value) {
    let mut settings = json!({"version": "2.0.0", "session_tracking": {"enabled": true}});
    for (key, value) in more.as_object().into_iter().flatten() {
        settings[key] = value.clone();
    }
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
}

fn done(desk: &Desk, line: &str) -> Value {
    let ran = desk.run(&format!("sessionmill {line} --json"));
    assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
    ran.json()
}

fn page(desk: &Desk, session: &str) -> Option<Found> {
    let store = Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadOnly).unwrap();
    store.summary(session).unwrap()
}

#[test]
fn a_session_gets_its_page_when_it_rests_and_another_text_when_it_goes_on() {
    let mut desk = desk();
    put(&desk, "aaaa", 1, &["mend"]);
    desk.now = Time::parse("2026-05-20T10:05:00Z").unwrap();
    assert_eq!(done(&desk, "run")["summaries_written"], 0);
    assert_eq!(page(&desk, "aaaa"), None);
    desk.now = Time::parse("2026-05-20T11:00:00Z").unwrap();
    assert_eq!(
        done(&desk, "run")["summaries_written"],
        1,
        "without news in the log"
    );
    let first = page(&desk, "aaaa").unwrap();
    assert!(first.episode.text.contains("## Objective\nmend it"));
    assert_eq!(first.episode.message_count, 2);
    let before = fs::read(desk.path(".graphiti/sessionmill.db")).unwrap();
    assert_eq!(done(&desk, "run")["summaries_written"], 0);
    assert!(before == fs::read(desk.path(".graphiti/sessionmill.db")).unwrap());
    put(&desk, "aaaa", 1, &["mend", "paint"]);
    assert_eq!(done(&desk, "run")["summaries_written"], 1);
    let second = page(&desk, "aaaa").unwrap();
    assert_eq!(first.episode.id, second.episode.id);
    assert_ne!(first.revision, second.revision);
    assert_eq!(second.episode.message_count, 4);
}

#[test]
fn a_page_is_found_and_counts_nothing_of_its_own() {
    let desk = desk();
    put(&desk, "aaaa", 1, &["zebrafish"]);
    let before = {
        done(&desk, "run --steps ingest,report");
        (done(&desk, "stats"), done(&desk, "sessions"))
    };
    done(&desk, "run");
    assert_eq!(before, (done(&desk, "stats"), done(&desk, "sessions")));
    let found = done(&desk, "search zebrafish --source session_summary");
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert_eq!(
        found["hits"][0]["activity"],
        done(&desk, "sessions")["sessions"][0]["activity"]
    );
    let ran = desk.run("sessionmill search zebrafish --source session_summary --all-parts");
    assert!(
        ran.stdout.contains(" · claude · summary · "),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_page_forgets_with_its_session_and_is_written_anew_of_what_is_left() {
    let desk = desk();
    configure(
        &desk,
        &json!({"sinks": {"vault": {"kind": "markdown", "path": "~/vault"}}}),
    );
    put(&desk, "aaaa", 1, &["zebrafish", "platypus"]);
    let log = ".claude/projects/-w/aaaa.jsonl";
    let later = said("aaaa", "/w/shop", 30, "user", "please keep this").replace("05-20T", "05-22T");
    desk.write(log, &(fs::read_to_string(desk.path(log)).unwrap() + &later));
    put(&desk, "bbbb", 40, &["walrus"]);
    done(&desk, "run");
    let vault = || {
        let files = walkdir::WalkDir::new(desk.path("vault"))
            .into_iter()
            .flatten();
        let files = files.filter(|entry| entry.file_type().is_file());
        let texts = files.map(|entry| fs::read_to_string(entry.path()).unwrap());
        texts.collect::<String>()
    };
    assert_eq!(vault().matches("# Session Summary").count(), 2);
    done(&desk, "forget --before 2026-05-21 --project /w/shop --yes");
    assert_eq!(page(&desk, "aaaa"), None);
    done(&desk, "run");
    let left = page(&desk, "aaaa").unwrap().episode.text;
    assert!(
        left.contains("please keep this") && !left.contains("zebrafish"),
        "{left}"
    );
    assert!(!vault().contains("zebrafish") && !vault().contains("walrus"));
    assert_eq!(vault().matches("# Session Summary").count(), 1);
}

#[test]
fn a_sink_that_did_not_ask_for_history_gets_no_pages_of_it() {
    let desk = desk();
    put(&desk, "aaaa", 1, &["zebrafish"]);
    desk.run("sessionmill run --steps ingest");
    configure(
        &desk,
        &json!({"sinks": {"export": {"kind": "jsonl", "path": "~/out"}}}),
    );
    let ran = done(&desk, "run");
    assert_eq!(
        (&ran["summaries_written"], &ran["sinks"][0]["delivered"]),
        (&json!(1), &json!(0))
    );
    put(&desk, "aaaa", 1, &["zebrafish", "platypus"]);
    let ran = done(&desk, "run");
    // the chunk that grew, and the page
    assert_eq!(ran["sinks"][0]["delivered"], 2, "{ran}");
}

#[test]
fn a_page_outlives_the_texts_that_only_a_sink_keeps() {
    let desk = desk();
    let sinks = json!({"export": {"kind": "jsonl", "path": "~/out"}});
    configure(
        &desk,
        &json!({"sinks": sinks, "upload": {"keep_local": false}}),
    );
    let log = ".claude/projects/-w/aaaa.jsonl";
    let on = |nth: u32| {
        let text = said("aaaa", "/w/shop", nth, "user", "go on");
        text.replace("05-20T", &format!("05-{nth}T"))
    };
    desk.write(log, &(on(21) + &on(22)));
    done(&desk, "run");
    let first = page(&desk, "aaaa").unwrap();
    desk.write(log, &(on(21) + &on(22) + &on(23)));
    let ran = done(&desk, "run");
    assert_eq!(
        ran["summaries_written"], 0,
        "half of a session is no session"
    );
    assert_eq!(ran["sinks"][0]["delivered"], 1, "{ran}");
    assert_eq!(page(&desk, "aaaa").unwrap().revision, first.revision);
}
