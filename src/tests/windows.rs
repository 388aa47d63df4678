//! No log is passed over because it grew old between two runs; what is left out for its age is said once.

use super::world::Desk;
use crate::cli::Exit;
use crate::config::CONSENT_TEXT;
use crate::model::time::Time;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

const DAY_MS: i64 = 86_400_000;

/// A log of one prompt, written `days` ago, and its path.
fn log(desk: &Desk, name: &str, days: i64) -> PathBuf {
    let below = format!(".claude/projects/-w-shop/{name}.jsonl");
    let at = Time(desk.now.0 - days * DAY_MS);
    let time = at.utc().format("%Y-%m-%dT%H:%M:%SZ");
    let line = |uuid: &str, parent: &str, kind: &str, text: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}-{name}","parentUuid":{parent},"sessionId":"{name}","cwd":"/w/shop","timestamp":"{time}","message":{{"role":"{kind}","content":"{text}"}}}}"#
        )
    };
    let asked = line("a", "null", "user", &format!("paint the {name} shed"));
    let said = line("b", &format!("\"a-{name}\""), "assistant", "It is painted.");
    desk.write(&below, &format!("{asked}\n{said}\n"));
    let path = desk.path(&below);
    let millis = u64::try_from(at.0).expect("after the epoch");
    let file = File::options().write(true).open(&path).expect("a log");
    file.set_modified(UNIX_EPOCH + Duration::from_millis(millis))
        .expect("a time");
    path
}

fn home() -> Desk {
    let desk = Desk::new();
    desk.write(
        ".graphiti/graphiti.config.json",
        r#"{"session_tracking": {"enabled": true}}"#,
    );
    desk
}

fn finds(desk: &Desk, word: &str) -> bool {
    !desk
        .run(&format!("sessionmill search {word} --json"))
        .json()["hits"]
        .as_array()
        .expect("hits")
        .is_empty()
}

#[test]
fn a_laptop_that_slept_for_eight_days_loses_nothing() {
    let mut desk = home();
    log(&desk, "red", 1);
    assert_eq!(desk.run("sessionmill run").exit, Exit::Done);
    // written right after the run, read three weeks later
    for days in [8, 21] {
        let name = format!("late{days}");
        log(&desk, &name, 0);
        desk.now = Time(desk.now.0 + days * DAY_MS);
        let ran = desk.run("sessionmill run");
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        assert!(finds(&desk, &name), "{days}: {}", ran.shown());
    }
}

#[test]
fn what_the_first_run_leaves_out_is_said_once_and_when_nothing_is_found() {
    let desk = home();
    log(&desk, "red", 1);
    log(&desk, "old", 30);
    let first = desk.run("sessionmill run");
    assert!(
        first
            .stdout
            .contains("1 log older than 7 days was never read"),
        "{}",
        first.shown()
    );
    let again = desk.run("sessionmill run");
    assert!(
        !again.stdout.contains("older than 7 days"),
        "{}",
        again.shown()
    );
    let searched = desk.run("sessionmill search unheard");
    assert!(
        searched
            .stderr
            .contains("1 log older than 7 days was never read: sessionmill backfill"),
        "{}",
        searched.shown()
    );
    log(&desk, "older", 40);
    let more = desk.run("sessionmill run");
    assert!(
        more.stdout
            .contains("2 logs older than 7 days were never read"),
        "{}",
        more.shown()
    );
    assert_eq!(desk.run("sessionmill backfill").exit, Exit::Done);
    let searched = desk.run("sessionmill search unheard");
    assert!(
        !searched.stderr.contains("never read"),
        "{}",
        searched.shown()
    );
}

#[test]
fn a_log_that_could_not_be_read_stays_due() {
    let mut desk = home();
    log(&desk, "blue", 1);
    // whoever runs the tests may read everything, but follows no link to itself
    let (folder, aside) = (desk.path(".claude/projects"), desk.path("aside"));
    fs::rename(&folder, &aside).expect("another name");
    std::os::unix::fs::symlink(&folder, &folder).expect("a link");
    let first = desk.run("sessionmill run");
    assert_eq!(first.exit, Exit::Partial, "{}", first.shown());
    fs::remove_file(&folder).expect("a link");
    fs::rename(&aside, &folder).expect("its name");
    desk.now = Time(desk.now.0 + 9 * DAY_MS);
    let ran = desk.run("sessionmill run");
    assert!(finds(&desk, "blue"), "{}", ran.shown());
}

#[test]
fn a_window_that_somebody_names_counts_for_itself_only() {
    let mut desk = home();
    log(&desk, "red", 1);
    desk.run("sessionmill run");
    log(&desk, "blue", 0);
    desk.now = Time(desk.now.0 + 9 * DAY_MS);
    desk.run("sessionmill run --since 1d");
    assert!(!finds(&desk, "blue"));
    desk.now = Time(desk.now.0 + DAY_MS);
    desk.run("sessionmill run");
    assert!(finds(&desk, "blue"));
}

#[test]
fn what_was_written_while_tracking_was_off_is_no_backlog() {
    let enable = format!("sessionmill enable --confirm \"{CONSENT_TEXT}\"");
    let mut desk = home();
    log(&desk, "red", 1);
    desk.run("sessionmill run");
    assert_eq!(desk.run("sessionmill disable").exit, Exit::Done);
    log(&desk, "secret", 0);
    desk.now = Time(desk.now.0 + 30 * DAY_MS);
    log(&desk, "recent", 1);
    let on = desk.run(&enable);
    assert_eq!(on.exit, Exit::Done, "{}", on.shown());
    let ran = desk.run("sessionmill run");
    assert!(finds(&desk, "recent"), "{}", ran.shown());
    assert!(!finds(&desk, "secret"), "{}", ran.shown());
    assert!(ran.stdout.contains("never read"), "{}", ran.shown());
    // it was on already: nothing begins anew
    log(&desk, "late", 0);
    desk.now = Time(desk.now.0 + 30 * DAY_MS);
    desk.run(&enable);
    let ran = desk.run("sessionmill run");
    assert!(finds(&desk, "late"), "{}", ran.shown());
}

#[test]
fn logs_that_are_swept_unread_are_told_with_the_days_by_status_and_in_a_runs_last_line() {
    let mut desk = home();
    log(&desk, "new", 0);
    log(&desk, "old", 10);
    log(&desk, "older", 28);
    let line = "Claude Code deletes 2 logs that were never read, from 2026-06-03 to 2026-06-21 \
                (sessionmill backfill)";
    let last = |text: &str| text.lines().last().unwrap_or_default().to_owned();
    // what the next run takes, and stays for weeks, is nothing to speak of
    let status = desk.run("sessionmill status");
    assert!(
        status.stdout.lines().any(|said| said == line),
        "{}",
        status.shown()
    );
    for _ in 0..2 {
        let ran = desk.run("sessionmill run");
        assert_eq!(last(&ran.stdout), line, "{}", ran.shown());
    }
    let swept = desk.run("sessionmill run --json").json()["deleted_unread"].clone();
    assert_eq!(swept[0]["logs"], 2, "{swept}");
    assert_eq!(
        desk.run("sessionmill status --json").json()["deleted_unread"],
        swept
    );
    // nobody runs it for a month: what it would take goes too
    log(&desk, "late", 0);
    desk.now = Time(desk.now.0 + 25 * DAY_MS);
    let status = desk.run("sessionmill status").stdout;
    let line = "deletes 3 logs that were never read, from 2026-06-26 to 2026-07-01 (";
    assert!(status.contains(line), "{status}");
    desk.write(".claude/settings.json", r#"{"cleanupPeriodDays": 99}"#);
    let status = desk.run("sessionmill status").stdout;
    assert!(status.contains("from 2026-08-11 to 2026-08-29"), "{status}");
    assert_eq!(desk.run("sessionmill backfill").exit, Exit::Done);
    let ran = desk.run("sessionmill run");
    assert!(!ran.stdout.contains("deletes"), "{}", ran.shown());
}
