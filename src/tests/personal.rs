//! `redact.personal: mask`: no user's name in what is stored of sessions' words, delivered or told to
//! agents, while everything that goes by where a session ran goes on.

use super::delivery::{configure, done};
use super::forget::{desk, said};
use super::world::Desk;
use crate::cli::Exit;
use crate::store::{Access, Store};
use serde_json::json;
use std::fs;

const CWD: &str = "/home/alice/shop";
const LOG: &str = ".claude/projects/-w/aaaa.jsonl";

fn log() -> String {
    let edit = json!([{"type": "tool_use", "id": "t1", "name": "Write",
        "input": {"file_path": format!("{CWD}/src/a.rs"), "content": "x"}}]);
    let written = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]);
    let record = |kind: &str, nth: u32, content: serde_json::Value| {
        let line = json!({"type": kind, "sessionId": "aaaa", "cwd": CWD,
            "uuid": format!("00000000-0000-4000-8000-{nth:012}"),
            "timestamp": format!("2026-05-31T10:{nth:02}:00.000Z"),
            "message": {"id": format!("m{nth}"), "role": kind, "content": content}});
        format!("{line}\n")
    };
    said(
        "aaaa",
        CWD,
        1,
        "user",
        &format!("paint {CWD}/src/a.rs like a zebrafish"),
    ) + &record("assistant", 2, edit)
        + &record("user", 3, written)
        + &said(
            "aaaa",
            CWD,
            4,
            "assistant",
            "the zebrafish is painted, alice@example.org",
        )
}

fn world() -> Desk {
    let desk = desk();
    configure(
        &desk,
        json!({
            "redact": {"personal": "mask"},
            "sinks": {"export": {"kind": "jsonl", "path": "~/out"}},
        }),
    );
    desk.write(LOG, &log());
    done(desk.run("sessionmill run --all"));
    desk
}

fn found(desk: &Desk, line: &str) -> String {
    desk.run(&format!("sessionmill {line}")).stdout
}

#[test]
fn neither_sinks_nor_agents_are_told_a_name() {
    let desk = world();
    let out: String = fs::read_dir(desk.path("out"))
        .unwrap()
        .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert!(out.contains("~/shop") && out.contains("zebrafish"), "{out}");
    assert!(!out.contains("alice"), "{out}");
    let block = found(&desk, &format!("recall --project {CWD} zebrafish"));
    assert!(
        block.contains("zebrafish") && !block.contains("alice"),
        "{block}"
    );
}

#[test]
fn a_project_is_found_by_where_it_is() {
    let desk = world();
    for line in ["search zebrafish", "sessions", "recap --since 60d"] {
        let told = found(&desk, &format!("{line} --project {CWD} --json"));
        assert!(told.contains("aaaa"), "{line}: {told}");
    }
    let shown = found(&desk, "show aaaa -v");
    assert!(shown.contains(&format!("cd {CWD} &&")), "{shown}");
    let told = done(desk.run("sessionmill show aaaa --json")).json();
    assert_eq!(
        told["summary"]["files_modified"][0]["what"]["path"], "src/a.rs",
        "{told}"
    );
}

#[test]
fn what_was_masked_by_earlier_versions_is_shut_out_too() {
    let desk = world();
    let path = desk.path(".graphiti/sessionmill.db");
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    let masked = "UPDATE session SET (cwd, project_path) =
        ('/home/[redacted:user:0109]/shop', '/home/[redacted:user:0109]/shop')";
    store.tamper(masked);
    store.finish().unwrap();
    done(desk.run(&format!("sessionmill disable --project {CWD}")));
    desk.write(
        LOG,
        &(log() + &said("aaaa", CWD, 9, "user", "a narwhal too")),
    );
    let ran = desk.run("sessionmill run --all");
    assert!(ran.shown().contains("left out: 1"), "{}", ran.shown());
    assert_eq!(desk.run("sessionmill search narwhal").exit, Exit::Failed);
}

#[test]
fn who_is_shut_out_afterwards_stays_out() {
    let exclude: fn(&Desk) = |desk| {
        done(desk.run(&format!("sessionmill disable --project {CWD}")));
    };
    let distrust: fn(&Desk) = |desk| {
        let told = json!({"projects": {CWD: {"hasTrustDialogAccepted": false}}});
        desk.write(".claude.json", &told.to_string());
    };
    for shut_out in [exclude, distrust] {
        let desk = world();
        shut_out(&desk);
        desk.write(
            LOG,
            &(log() + &said("aaaa", CWD, 9, "user", "a narwhal too")),
        );
        for line in ["run --all", "run --all --rebuild"] {
            let ran = desk.run(&format!("sessionmill {line}"));
            assert!(ran.shown().contains("left out"), "{line}: {}", ran.shown());
        }
        let ran = desk.run("sessionmill search narwhal --allow-untrusted");
        assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
    }
}
