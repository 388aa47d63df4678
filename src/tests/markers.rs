//! What people mark stays out, whenever runs come, and whoever else says the same words.

use super::forget::{desk, holds, said};
use super::world::Desk;
use crate::cli::Exit;
use std::fs;

const MARKER: &str = "oh, and DO NOT INDEX\nTHIS CHAT please";

fn log(name: &str) -> String {
    format!(".claude/projects/-w/{name}.jsonl")
}

fn run(desk: &Desk, line: &str) {
    let ran = desk.run(&format!("sessionmill {line}"));
    assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
}

fn dump(desk: &Desk) -> String {
    desk.run("sessionmill store dump").stdout
}

/// A prompt that was typed while the agent worked, as it joins the queue and as it leaves it.
fn queued(session: &str, text: &str) -> String {
    let enqueue = serde_json::json!({"type": "queue-operation", "operation": "enqueue",
        "content": text, "sessionId": session, "timestamp": "2026-05-20T10:30:00.000Z"});
    let remove = serde_json::json!({"type": "queue-operation", "operation": "remove",
        "sessionId": session, "timestamp": "2026-05-20T10:31:00.000Z"});
    format!("{enqueue}\n{remove}\n")
}

/// Prompts with a marker at the line `marked`, or without one.
fn lines(session: &str, marked: Option<usize>) -> Vec<String> {
    let mut lines: Vec<String> = (0..24)
        .map(|n| {
            let kind = if n % 2 == 0 { "user" } else { "assistant" };
            said(
                session,
                "/w/shop",
                2 * n,
                kind,
                &format!("zebrafish number {n}"),
            )
        })
        .collect();
    if let Some(at) = marked {
        lines.insert(at, said(session, "/w/shop", 201, "user", MARKER));
    }
    lines
}

#[test]
fn a_marked_session_is_out_whenever_runs_came() {
    for marked in [0, 1, 13, 24] {
        let all = lines("aaaa", Some(marked));
        let cold = desk();
        cold.write(&log("aaaa"), &all.concat());
        run(&cold, "run");
        let grown = desk();
        for end in [3, 14, 20, all.len()] {
            grown.write(&log("aaaa"), &all[..end].concat());
            run(&grown, "run");
            // While the marker is not there yet, the words are.
            assert_eq!(holds(&grown, "zebrafish"), marked >= end, "{marked} {end}");
        }
        assert_eq!(dump(&grown), dump(&cold), "marked at {marked}");
        assert!(!holds(&cold, "zebrafish") && !holds(&cold, "NOT INDEX"));
        let status = cold.run("sessionmill status --json").json();
        assert_eq!(
            (&status["forgotten"], &status["kept_out"]),
            (&1.into(), &1.into())
        );
        let account = cold.run("sessionmill status --ledger aaaa").stdout;
        assert!(account.contains("marked private"), "{account}");
        for again in ["run --all --rebuild", "forget --undo", "run"] {
            run(&cold, again);
            assert!(!holds(&cold, "zebrafish"), "{again}");
        }
        assert_eq!(cold.run("sessionmill run --json").json()["bytes_read"], 0);
    }
}

#[test]
fn only_people_mark() {
    let desk = desk();
    let answer = said("aaaa", "/w/shop", 2, "assistant", MARKER);
    let tool = serde_json::json!({"type": "user", "uuid": "00000000-0000-4000-8000-000000000003",
        "sessionId": "aaaa", "cwd": "/w/shop", "timestamp": "2026-05-20T10:03:00.000Z",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
            "content": "DO NOT INDEX THIS CHAT <private>x"}]}});
    let text = said("aaaa", "/w/shop", 1, "user", "zebrafish") + &answer + &format!("{tool}\n");
    desk.write(
        &log("aaaa"),
        &(text + &said("aaaa", "/w/shop", 4, "assistant", "<private>platypus")),
    );
    run(&desk, "run");
    assert!(holds(&desk, "zebrafish") && holds(&desk, "platypus"));
    let queue = queued("aaaa", MARKER);
    let path = desk.path(&log("aaaa"));
    let grown = fs::read_to_string(&path).unwrap() + &queue;
    fs::write(&path, grown).unwrap();
    run(&desk, "run");
    assert!(!holds(&desk, "zebrafish"));
}

#[test]
fn a_marker_in_a_fork_keeps_the_fork_out_and_its_origin_in() {
    let (own, fork) = (lines("aaaa", None), lines("ffff", None));
    for together in [true, false] {
        let desk = desk();
        desk.write(&log("aaaa"), &own.concat());
        if !together {
            run(&desk, "run");
        }
        let more = said("ffff", "/w/shop", 301, "user", "platypus")
            + &said("ffff", "/w/shop", 303, "user", MARKER);
        desk.write(&log("ffff"), &(fork.concat() + &more));
        for again in ["run", "run --all --rebuild"] {
            run(&desk, again);
            assert!(
                holds(&desk, "zebrafish") && !holds(&desk, "platypus"),
                "{together} {again}"
            );
        }
        // A fork of a marked chat goes on with it.
        let marked = lines("mmmm", Some(5))
            .concat()
            .replace("000000000", "777777777");
        desk.write(&log("mmmm"), &marked);
        let child = said("kkkk", "/w/shop", 401, "user", "axolotl");
        desk.write(&log("kkkk"), &(marked.replace("mmmm", "kkkk") + &child));
        run(&desk, "run");
        assert!(!holds(&desk, "axolotl"));
    }
}

#[test]
fn a_private_passage_is_out_and_the_rest_is_in() {
    let said = |nth, text: &str| said("aaaa", "/w/shop", nth, "user", text);
    let all = [
        said(1, "<private>zebrafish</private> is the title"),
        said(2, "before <Private>zebrafish\n\nzebrafish"),
        queued("aaaa", "while <private>zebrafish</private> works"),
        said(3, "platypus <private>zebrafish</private> axolotl"),
    ];
    let cold = desk();
    cold.write(&log("aaaa"), &all.concat());
    run(&cold, "run");
    let grown = desk();
    for end in 1..=all.len() {
        grown.write(&log("aaaa"), &all[..end].concat());
        run(&grown, "run");
    }
    assert_eq!(dump(&grown), dump(&cold));
    assert!(!holds(&cold, "zebrafish"));
    for word in [
        "platypus [private] axolotl",
        "[private] is the title",
        "while [private] works",
    ] {
        assert!(dump(&cold).contains(word), "{word}: {}", dump(&cold));
    }
}

/// What stands for a slash command quotes what was typed behind it.
#[test]
fn a_private_passage_of_a_command_is_out_of_what_it_stands_for() {
    let typed = "<private>zebrafish now. Zebrafish swims</private> platypus";
    let line = |nth: u8, content: String| {
        serde_json::json!({"type": "user", "uuid": format!("00000000-0000-4000-8000-00000000000{nth}"),
            "timestamp": format!("2026-05-20T10:00:0{nth}.000Z"), "sessionId": "aaaa", "cwd": "/w/shop",
            "message": {"role": "user", "content": content}})
    };
    let command =
        format!("<command-name>/mend</command-name>\n<command-args>{typed}</command-args>");
    let command = line(1, command);
    let mut text = line(2, format!("Mend the broken {typed} carts of the shop."));
    text["parentUuid"] = command["uuid"].clone();
    text["isMeta"] = true.into();
    let desk = desk();
    desk.write(&log("aaaa"), &format!("{command}\n{text}\n"));
    run(&desk, "run");
    let dump = dump(&desk);
    assert!(!dump.to_lowercase().contains("zebrafish"), "{dump}");
    let stands = "the command stands for: Mend the broken [private] platypus carts of the shop";
    assert!(dump.contains(stands), "{dump}");
}

#[test]
fn ones_own_markers_count_and_wrong_ones_stop_the_run() {
    let desk = desk();
    desk.write(
        ".graphiti/rules/markers.yaml",
        "session:\n  - phrase: off the record\n",
    );
    desk.write(
        &log("aaaa"),
        &said("aaaa", "/w/shop", 1, "user", "Off the record: zebrafish"),
    );
    run(&desk, "run");
    assert!(!holds(&desk, "zebrafish"));
    desk.write(".graphiti/rules/markers.yaml", "session: off the record\n");
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(ran.stderr.contains("markers.yaml:1"), "{}", ran.shown());
}
