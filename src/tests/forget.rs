//! What is forgotten is gone from every byte, and nothing brings it back: no run, no rebuild, no
//! fork, no copy of the log, no crash between removing and compacting.

use super::world::Desk;
use crate::cli::Exit;
use crate::model::time::Time;
use crate::model::tombstone::Selection;
use crate::store::{Access, Store};
use std::fs;
use std::path::Path;

/// A line of Claude's: `nth` makes its id and its minute.
pub(super) fn said(session: &str, cwd: &str, nth: u32, kind: &str, text: &str) -> String {
    line(session, cwd, nth, kind, text, "2026-05-20")
}

fn line(session: &str, cwd: &str, nth: u32, kind: &str, text: &str, day: &str) -> String {
    let record = serde_json::json!({
        "type": kind,
        "uuid": format!("00000000-0000-4000-8000-{nth:012}"),
        "sessionId": session,
        "cwd": cwd,
        "timestamp": format!("{day}T10:{:02}:00.000Z", nth % 60),
        "message": {"id": format!("m{nth}"), "role": kind, "content": [{"type": "text", "text": text}]},
    });
    format!("{record}\n")
}

/// One exchange for each word, in `cwd`; the first one's prompt is the line `first`.
pub(super) fn exchanges(session: &str, cwd: &Path, first: u32, words: &[&str]) -> String {
    let cwd = cwd.display().to_string();
    let numbered = (first..).step_by(2).zip(words);
    numbered
        .map(|(nth, word)| exchange(session, &cwd, nth, word))
        .collect()
}

/// Two lines: a prompt and its answer.
fn exchange(session: &str, cwd: &str, nth: u32, word: &str) -> String {
    said(session, cwd, nth, "user", &format!("please {word} it"))
        + &said(session, cwd, nth + 1, "assistant", &format!("{word} it is"))
}

fn put(desk: &Desk, name: &str, text: &str) {
    desk.write(&format!(".claude/projects/-w/{name}.jsonl"), text);
}

fn run(desk: &Desk, line: &str) {
    let ran = desk.run(&format!("sessionmill {line}"));
    assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
}

/// Whether any file of the store's folder has these bytes.
pub(super) fn holds(desk: &Desk, word: &str) -> bool {
    fn below(folder: &Path, word: &[u8]) -> bool {
        fs::read_dir(folder).unwrap().any(|entry| {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => below(&path, word),
                false => memchr::memmem::find(&fs::read(&path).unwrap(), word).is_some(),
            }
        })
    }
    below(&desk.path(".graphiti"), word.as_bytes())
}

/// A desk without the fixtures that has said yes.
pub(super) fn desk() -> Desk {
    let desk = Desk::new();
    let text = crate::config::CONSENT_TEXT;
    run(&desk, &format!("enable --confirm '{text}'"));
    desk
}

fn store(desk: &Desk) -> Store {
    Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadWrite).unwrap()
}

#[test]
fn whichever_way_it_is_said_the_words_are_gone_from_every_byte() {
    for (line, gone, stays) in [
        ("aaaa", "zebrafish", "platypus"),
        ("--session aaaa", "zebrafish", "platypus"),
        ("--project /w/shop --yes", "zebrafish", "platypus"),
        ("--match zebrafish --yes", "zebrafish", "platypus"),
        (
            "--match it --project /w/shop --yes",
            "zebrafish",
            "platypus",
        ),
        (
            "--before 2026-05-21 --project /w/shop --yes",
            "zebrafish",
            "platypus",
        ),
        ("--group desk__global --yes", "zebrafish", "nothing at all"),
        ("--before 2026-05-21 --yes", "platypus", "nothing at all"),
    ] {
        let desk = desk();
        put(&desk, "aaaa", &exchange("aaaa", "/w/shop", 1, "zebrafish"));
        put(&desk, "bbbb", &exchange("bbbb", "/w/home", 11, "platypus"));
        run(&desk, "run");
        assert!(holds(&desk, "zebrafish") && holds(&desk, "platypus"));
        let before = desk.run("sessionmill store dump").stdout;
        run(&desk, &format!("forget {line} --dry-run"));
        assert_eq!(desk.run("sessionmill store dump").stdout, before);
        let told = desk.run(&format!("sessionmill forget {line}"));
        assert!(told.stdout.contains(" episode"), "{}", told.shown());
        assert!(!told.stdout.contains("0 sessions"), "{}", told.shown());
        assert!(!holds(&desk, gone), "{line}");
        if line == "aaaa" {
            let again = desk.run("sessionmill forget aaaa");
            assert!(
                again.stderr.contains("forgotten before"),
                "{}",
                again.shown()
            );
        }
        assert!(stays == "nothing at all" || holds(&desk, stays), "{line}");
        // Nothing brings it back.
        let more = exchange("aaaa", "/w/shop", 1, "zebrafish");
        put(
            &desk,
            "aaaa",
            &(more.clone() + &said("aaaa", "/w/shop", 3, "user", "zebrafish!")),
        );
        put(&desk, "copy-of-aaaa", &more);
        match gone {
            "zebrafish" if !line.contains("before") => {}
            _ => put(&desk, "aaaa", &more),
        }
        for again in ["run", "run --all --rebuild", "run --all --rebuild"] {
            run(&desk, again);
            assert!(!holds(&desk, gone), "{line}, {again}");
        }
    }
}

/// Where nothing is that old, nothing is asked; the time counts for logs that are read later.
#[test]
fn a_time_before_everything_is_remembered_without_a_question() {
    let desk = desk();
    put(&desk, "aaaa", &exchange("aaaa", "/w/shop", 1, "zebrafish"));
    run(&desk, "run");
    let none = "no stored session or memory began before 2026-01-01 00:00\n";
    let dry = desk.run("sessionmill forget --before 2026-01-01 --dry-run");
    assert_eq!((dry.exit, dry.stdout.as_str()), (Exit::Done, none));
    assert_eq!(dry.stderr, "");
    let kept = desk.run("sessionmill forget --before 2026-01-01");
    assert_eq!((kept.exit, kept.stdout.as_str()), (Exit::Done, none));
    assert_eq!(
        kept.stderr,
        "later runs leave out what began before then; to undo: sessionmill forget --undo\n"
    );
    assert!(holds(&desk, "zebrafish"));
}

#[test]
fn what_was_forgotten_by_time_is_counted_and_comes_back() {
    let desk = desk();
    put(&desk, "aaaa", &exchange("aaaa", "/w/shop", 1, "zebrafish"));
    put(&desk, "bbbb", &exchange("bbbb", "/w/home", 11, "platypus"));
    run(&desk, "run");
    let dry = desk.run("sessionmill forget --before 2026-05-22 --dry-run");
    for part in [
        "aaaa  2026-05-20  shop  please zebrafish it\n",
        "bbbb  2026-05-20  home  please platypus it\n",
        "would forget 2 sessions, ",
    ] {
        assert!(dry.stdout.contains(part), "{part}: {}", dry.shown());
    }
    let forgot = desk.run("sessionmill forget --before 2026-05-22 --yes --json");
    assert_eq!(
        forgot.json()["session_ids"],
        serde_json::json!(["aaaa", "bbbb"])
    );
    let status = desk.run("sessionmill status");
    assert!(
        status.stdout.contains("; 2 sessions forgotten"),
        "{}",
        status.shown()
    );
    fs::remove_file(desk.path(".claude/projects/-w/bbbb.jsonl")).unwrap();
    let back = desk.run("sessionmill forget --undo");
    let wants = "1 session can be read again\n1 session can't be restored: the logs are gone\n";
    assert!(back.stdout.contains(wants), "{}", back.shown());
    let listed = desk.run("sessionmill sessions");
    assert!(!listed.stdout.contains("(no title)"), "{}", listed.shown());
    let status = desk.run("sessionmill status");
    assert!(
        status.stdout.contains("; 1 session forgotten"),
        "{}",
        status.shown()
    );
    run(&desk, "backfill");
    assert!(holds(&desk, "zebrafish") && !holds(&desk, "platypus"));
}

#[test]
fn one_session_is_named_and_asked_about_where_little_of_its_id_was_typed() {
    const ID: &str = "6f1c5b80-0000-4000-8000-000000000001";
    let mut desk = desk();
    put(&desk, ID, &exchange(ID, "/w/shop", 1, "zebrafish"));
    run(&desk, "run");
    desk.answers = Some("no\n".to_owned());
    let no = desk.run("sessionmill forget 6f1c");
    assert_eq!(no.exit, Exit::Usage, "{}", no.shown());
    let asks = "Type yes to forget 6f1c5b80 \"please zebrafish it\" (1 episode):";
    assert!(no.shown().contains(asks), "{}", no.shown());
    assert!(holds(&desk, "zebrafish"));
    let gone = desk.run("sessionmill forget 6f1c5b80");
    assert_eq!(gone.exit, Exit::Done, "{}", gone.shown());
    for part in [
        "\"please zebrafish it\": ",
        "to undo, while its log exists: sessionmill forget --undo 6f1c5b80 && sessionmill backfill",
    ] {
        assert!(gone.shown().contains(part), "{}", gone.shown());
    }
    run(&desk, "forget --undo 6f1c5b80");
    run(&desk, "backfill");
    assert!(holds(&desk, "zebrafish"));
}

#[test]
fn a_session_that_goes_on_keeps_what_was_said_since() {
    let desk = desk();
    let old = exchange("aaaa", "/w/shop", 1, "zebrafish");
    let new = line("aaaa", "/w/shop", 3, "user", "then platypus", "2026-05-25")
        + &line(
            "aaaa",
            "/w/shop",
            4,
            "assistant",
            "platypus done",
            "2026-05-25",
        );
    put(&desk, "aaaa", &(old.clone() + &new));
    run(&desk, "run");
    assert!(
        desk.run("sessionmill sessions")
            .stdout
            .contains("zebrafish")
    );
    run(&desk, "forget --before 2026-05-22 --yes");
    assert!(!holds(&desk, "zebrafish") && holds(&desk, "platypus"));
    let summary = desk.run("sessionmill show aaaa --json").json()["summary"].take();
    assert_eq!(summary["objective"]["what"], "platypus (shop)", "{summary}");
    let newest = line("aaaa", "/w/shop", 5, "user", "and axolotl", "2026-05-26");
    put(&desk, "aaaa", &(old.clone() + &new + &newest));
    put(
        &desk,
        "fork",
        &(old + &new + &newest).replace("aaaa", "ffff"),
    );
    for again in ["run", "run --rebuild --all", "run"] {
        run(&desk, again);
        assert!(!holds(&desk, "zebrafish"), "{again}");
        assert!(
            holds(&desk, "platypus") && holds(&desk, "axolotl"),
            "{again}"
        );
    }
    let ledger = desk.run("sessionmill status --ledger aaaa").stdout;
    assert!(ledger.contains("forgotten"), "{ledger}");
    let cold = self::desk();
    put(
        &cold,
        "aaaa",
        &fs::read_to_string(desk.path(".claude/projects/-w/aaaa.jsonl")).unwrap(),
    );
    run(&cold, "forget --before 2026-05-22 --yes");
    run(&cold, "run");
    assert!(!holds(&cold, "zebrafish") && holds(&cold, "platypus"));
}

#[test]
fn a_fork_does_not_tell_what_its_origin_had_to_forget() {
    for fork in ["0000-first-by-name", "ffff-last-by-name"] {
        let desk = desk();
        let common = exchange("aaaa", "/w/shop", 1, "zebrafish");
        put(
            &desk,
            "aaaa",
            &(common.clone() + &exchange("aaaa", "/w/shop", 3, "zebrafish")),
        );
        run(&desk, "run");
        let own = exchange(fork, "/w/shop", 21, "platypus");
        put(&desk, fork, &(common.replace("aaaa", fork) + &own));
        run(&desk, "run");
        run(&desk, "forget aaaa");
        for (again, remove) in [
            ("run --all --rebuild", false),
            ("run", true),
            ("run --all --rebuild", true),
        ] {
            if remove {
                let _ = fs::remove_file(desk.path(".claude/projects/-w/aaaa.jsonl"));
            }
            run(&desk, again);
            assert!(!holds(&desk, "zebrafish"), "{fork} {again} {remove}");
            assert!(holds(&desk, "platypus"), "{fork} {again}");
        }
    }
}

#[test]
fn whose_words_a_fork_began_with_is_named() {
    let desk = desk();
    let common = exchange("aaaa", "/w/shop", 1, "zebrafish");
    put(&desk, "aaaa", &common);
    run(&desk, "run");
    put(
        &desk,
        "ffff",
        &(common.replace("aaaa", "ffff") + &exchange("ffff", "/w/shop", 21, "axolotl")),
    );
    run(&desk, "run");
    let ran = desk.run("sessionmill forget ffff");
    assert!(
        ran.stderr.contains("sessionmill forget aaaa"),
        "{}",
        ran.shown()
    );
    assert!(!holds(&desk, "axolotl") && holds(&desk, "zebrafish"));
}

#[test]
fn a_title_that_another_log_tells_goes_too() {
    let desk = desk();
    put(&desk, "aaaa", &exchange("aaaa", "/w/shop", 1, "zebrafish"));
    let leaf = "00000000-0000-4000-8000-000000000002";
    let summary =
        format!("{{\"type\":\"summary\",\"summary\":\"the zebrafish\",\"leafUuid\":\"{leaf}\"}}\n");
    put(
        &desk,
        "bbbb",
        &(summary + &exchange("bbbb", "/w/shop", 11, "platypus")),
    );
    run(&desk, "run");
    run(&desk, "forget aaaa");
    assert!(!holds(&desk, "zebrafish"));
    let log = desk.path(".claude/projects/-w/bbbb.jsonl");
    let more = fs::read_to_string(&log).unwrap() + &exchange("bbbb", "/w/shop", 13, "axolotl");
    fs::write(&log, more).unwrap();
    for again in ["run", "run --all --rebuild"] {
        run(&desk, again);
        assert!(!holds(&desk, "zebrafish"), "{again}");
    }
}

#[test]
fn a_kill_between_removing_and_compacting_leaves_work_that_the_next_run_does() {
    let desk = desk();
    put(&desk, "aaaa", &exchange("aaaa", "/w/shop", 1, "zebrafish"));
    put(&desk, "bbbb", &exchange("bbbb", "/w/shop", 11, "platypus"));
    run(&desk, "run");
    let selection = Selection {
        sessions: vec!["aaaa".into()],
        ..Selection::default()
    };
    let mut killed = store(&desk);
    killed.forget(&selection, Time(7), false).unwrap();
    assert!(killed.is_compaction_due().unwrap());
    drop(killed);
    assert!(holds(&desk, "zebrafish"), "the free pages still have it");
    run(&desk, "run");
    assert!(!holds(&desk, "zebrafish") && holds(&desk, "platypus"));
    assert!(!store(&desk).is_compaction_due().unwrap());
}

#[test]
fn it_can_be_taken_back_while_the_log_is_there() {
    let desk = desk();
    put(&desk, "aaaa", &exchange("aaaa", "/w/shop", 1, "zebrafish"));
    put(&desk, "bbbb", &exchange("bbbb", "/w/shop", 11, "platypus"));
    run(&desk, "run");
    let before = desk.run("sessionmill store dump").stdout;
    run(&desk, "forget --match it --yes");
    fs::remove_file(desk.path(".claude/projects/-w/bbbb.jsonl")).unwrap();
    let undone = desk.run("sessionmill forget --undo --json").json();
    assert_eq!(undone["undone"], serde_json::json!(["aaaa"]));
    assert_eq!(undone["lost"], serde_json::json!(["bbbb"]));
    run(&desk, "run");
    assert!(holds(&desk, "zebrafish") && !holds(&desk, "platypus"));
    let episode = |dump: &str| {
        let told = dump.lines().filter(|line| line.contains("zebrafish"));
        told.map(str::to_owned).collect::<Vec<_>>()
    };
    let after = desk.run("sessionmill store dump").stdout;
    assert_eq!(episode(&after), episode(&before));
}

#[test]
fn several_sessions_are_asked_about() {
    let mut desk = desk();
    put(&desk, "aaaa", &exchange("aaaa", "/w/shop", 1, "zebrafish"));
    run(&desk, "run");
    let ran = desk.run("sessionmill forget --project /w/shop");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    desk.answers = Some("no\n".into());
    assert_eq!(
        desk.run("sessionmill forget --project /w/shop").exit,
        Exit::Usage
    );
    assert!(holds(&desk, "zebrafish"));
    desk.answers = Some("yes\n".into());
    run(&desk, "forget --project /w/shop");
    assert!(!holds(&desk, "zebrafish"));
    for wrong in [
        "forget",
        "forget aaaa --before 1d",
        "forget --before 2027-01-01",
        "forget --match '-x'",
    ] {
        assert_eq!(
            desk.run(&format!("sessionmill {wrong}")).exit,
            Exit::Usage,
            "{wrong}"
        );
    }
}
