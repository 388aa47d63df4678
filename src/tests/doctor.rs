//! `doctor` as people see it: every finding names its command, and the command mends it.

use super::damage::difference;
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::store::{Access, Store};
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Severity, code and command of each finding.
fn findings(ran: &Ran) -> Vec<(String, String, String)> {
    let word = |f: &serde_json::Value, key: &str| f[key].as_str().unwrap_or_default().to_owned();
    let all = ran.json()["findings"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    all.iter()
        .map(|f| (word(f, "severity"), word(f, "code"), word(f, "command")))
        .collect()
}

fn codes(desk: &Desk) -> Vec<String> {
    let ran = desk.run("sessionmill doctor --json");
    findings(&ran)
        .into_iter()
        .map(|(_, code, _)| code)
        .collect()
}

/// A desk whose store has everything, with a timer that runs.
fn well() -> Desk {
    let desk = Desk::enabled();
    desk.program("systemctl", "exit 0");
    assert_eq!(desk.run("sessionmill backfill").exit, Exit::Done);
    assert_eq!(desk.run("sessionmill schedule install").exit, Exit::Done);
    desk
}

fn store(desk: &Desk) -> std::path::PathBuf {
    desk.path(".graphiti/sessionmill.db")
}

fn age(file: &Path, desk: &Desk, days: u64) {
    let now = Duration::from_millis(u64::try_from(desk.now.0).unwrap());
    let at = UNIX_EPOCH + now - Duration::from_secs(days * 86_400);
    let file = fs::File::options().append(true).open(file).unwrap();
    file.set_modified(at).unwrap();
}

#[test]
fn a_sound_installation_has_no_findings() {
    let ran = well().run("sessionmill doctor");
    assert_eq!(ran.shown(), "exit 0\n--- stdout\nno problems found\n");
}

#[test]
fn notes_alone_are_a_success() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    let ran = desk.run("sessionmill doctor --json");
    let (note, command) = ("note".to_owned(), "sessionmill schedule install".to_owned());
    assert_eq!(
        findings(&ran),
        [(note, "not-scheduled".to_owned(), command)]
    );
    assert_eq!(ran.exit, Exit::Done);
}

#[test]
fn a_new_machine_is_told_to_say_yes() {
    let ran = Desk::with_fixtures().run("sessionmill doctor");
    assert_eq!(ran.exit, Exit::Partial);
    assert!(
        ran.stdout.contains("warning not-enabled"),
        "{}",
        ran.shown()
    );
    assert!(
        ran.stdout.contains("\n  sessionmill init\n"),
        "{}",
        ran.shown()
    );
}

#[test]
fn settings_that_cannot_be_understood_are_a_finding_and_no_failure() {
    let desk = well();
    desk.write(
        ".graphiti/graphiti.config.json",
        "{\"session_traking\": {}}",
    );
    let ran = desk.run("sessionmill doctor");
    assert_eq!(ran.exit, Exit::Partial);
    assert!(
        ran.stdout.starts_with("error settings: "),
        "{}",
        ran.shown()
    );
    assert!(ran.stdout.contains("session_tracking"), "{}", ran.shown());
}

#[test]
fn a_timer_that_does_not_get_through_is_a_finding() {
    let mut desk = well();
    desk.now.0 += 2 * 3_600_000;
    assert_eq!(codes(&desk), ["run-overdue"]);
    desk.run("sessionmill run");
    assert!(codes(&desk).is_empty());
}

#[test]
fn what_a_killed_command_left_is_named_once_it_is_old() {
    let desk = well();
    desk.write(".graphiti/.graphiti.config.json.4711", "{");
    assert!(codes(&desk).is_empty());
    age(&desk.path(".graphiti/.graphiti.config.json.4711"), &desk, 1);
    assert_eq!(codes(&desk), ["temporary-files"]);
}

/// Every kind of command that opens the store.
const OPENING: [&str; 9] = [
    "run",
    "search jwt",
    "sessions",
    "status",
    "stats",
    "plan",
    "store compact",
    "forget x",
    "show x",
];

/// A way to break the file, what every command then says, and the finding's name.
type Damage = (&'static str, &'static str, fn(Vec<u8>) -> Vec<u8>);

const DAMAGES: [Damage; 4] = [
    ("store-empty", "is empty", |_| Vec::new()),
    ("store-foreign", "is not a store", |whole| {
        vec![b'x'; whole.len()]
    }),
    ("store-truncated", "is cut short", |whole| {
        whole[..whole.len() - 9_000].to_vec()
    }),
    ("store-damaged", "is damaged", |mut whole| {
        whole[100..4_000].fill(0xff);
        whole
    }),
];

#[test]
fn every_command_names_the_damage_and_the_next_command_and_leaves_the_file_alone() {
    for (code, what, damage) in DAMAGES {
        let desk = well();
        let broken = damage(fs::read(store(&desk)).unwrap());
        fs::write(store(&desk), &broken).unwrap();
        for line in OPENING {
            let ran = desk.run(&format!("sessionmill {line}"));
            assert_eq!(ran.exit, Exit::Failed, "{code}, {line}: {}", ran.shown());
            let hint = "hint: sessionmill doctor --repair\n";
            let told = [what, "sessionmill.db", hint];
            assert!(
                told.iter().all(|t| ran.stderr.contains(t)),
                "{line}: {}",
                ran.shown()
            );
        }
        let now = fs::read(store(&desk)).unwrap();
        assert!(now == broken, "{code}: it was written to");
        let examined = desk.run("sessionmill doctor --json");
        assert_eq!(examined.exit, Exit::Partial);
        assert_eq!(findings(&examined)[0].1, code);
    }
}

#[test]
fn a_repair_sets_the_file_aside_and_tells_everything_again_that_logs_tell() {
    for (code, _, damage) in DAMAGES {
        let desk = well();
        let counts = |desk: &Desk| {
            let status = desk.run("sessionmill status --json").json();
            ["sessions", "episodes", "ledger", "body_bytes", "files"].map(|key| status[key].clone())
        };
        let before = counts(&desk);
        let broken = damage(fs::read(store(&desk)).unwrap());
        fs::write(store(&desk), &broken).unwrap();
        desk.write(
            ".graphiti/sessionmill.db.new",
            "what an earlier repair left",
        );
        let repaired = desk.run("sessionmill doctor --repair");
        assert_eq!(repaired.exit, Exit::Done, "{code}: {}", repaired.shown());
        let aside = desk.path(".graphiti/sessionmill.db.damaged-20260601T120000Z");
        assert!(
            fs::read(aside).unwrap() == broken,
            "{code}: it was not set aside whole"
        );
        assert!(!desk.path(".graphiti/sessionmill.db.new").exists());
        assert_eq!(counts(&desk), before, "{code}: {}", repaired.shown());
        assert!(codes(&desk).is_empty(), "{code}");
        assert_eq!(desk.run("sessionmill run --json").json()["files_read"], 0);
        assert_eq!(desk.run("sessionmill search token expiry").exit, Exit::Done);
    }
}

#[test]
fn a_newer_store_is_refused_politely() {
    let desk = well();
    let mut bytes = fs::read(store(&desk)).unwrap();
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(store(&desk), &bytes).unwrap();
    for line in ["run", "search jwt", "doctor --repair"] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!(ran.exit, Exit::Failed, "{line}: {}", ran.shown());
        assert!(
            ran.stderr.contains("written by a newer version"),
            "{}",
            ran.shown()
        );
        assert!(ran.stderr.contains("schema 99"), "{}", ran.shown());
    }
    assert_eq!(codes(&desk), ["store-newer"]);
    assert!(fs::read(store(&desk)).unwrap() == bytes);
}

#[test]
fn a_repair_keeps_what_only_the_store_has() {
    let desk = well();
    let episodes = |desk: &Desk| desk.run("sessionmill status --json").json()["episodes"].clone();
    let before = episodes(&desk);
    desk.run("sessionmill forget session-042");
    let dump = desk.run("sessionmill store dump").stdout;
    // Every log of Claude Code is gone, and a page of the store is, which holds no row of ours.
    fs::remove_dir_all(desk.path(".claude/projects")).unwrap();
    let mut bytes = fs::read(store(&desk)).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    let index = words_page(&store(&desk));
    bytes[(index - 1) * page..index * page].fill(0xa5);
    fs::write(store(&desk), &bytes).unwrap();
    let ran = desk.run("sessionmill doctor --repair");
    assert!(ran.stdout.contains("rebuilt the"), "{}", ran.shown());
    assert_eq!(
        desk.run("sessionmill store dump").stdout,
        dump,
        "{}",
        ran.shown()
    );
    assert_ne!(before, serde_json::Value::Null);
    assert_eq!(desk.run("sessionmill search token expiry").exit, Exit::Done);
}

/// A page of the full-text index.
fn words_page(path: &Path) -> usize {
    let store = Store::open(path, Access::ReadOnly).unwrap();
    store.root_page("words_idx")
}

#[test]
fn logs_that_claude_code_will_delete_first_are_named_with_their_dates() {
    let desk = well();
    let log = |name: &str| format!(".claude/projects/-home-ada-late/{name}.jsonl");
    let line = r#"{"type":"user","uuid":"6b1f0a34-5c0e-4b57-9d3e-2f9a51c7aaaa","sessionId":"late","cwd":"/home/ada/late","timestamp":"2026-05-01T10:00:00.000Z","message":{"role":"user","content":"hello there"}}"#;
    desk.write(&log("late"), &format!("{line}\n"));
    assert!(codes(&desk).is_empty(), "there is time");
    age(&desk.path(&log("late")), &desk, 3);
    desk.write(".claude/settings.json", r#"{"cleanupPeriodDays": 3}"#);
    let ran = desk.run("sessionmill doctor");
    assert_eq!(ran.exit, Exit::Partial);
    assert!(
        ran.stdout
            .contains("warning deleted-soon: Claude Code deletes 1 log"),
        "{}",
        ran.shown()
    );
    assert!(
        ran.stdout.contains("the first on 2026-06-01"),
        "{}",
        ran.shown()
    );
    assert!(
        ran.stdout.contains("\n  sessionmill run\n"),
        "{}",
        ran.shown()
    );
    desk.run("sessionmill run");
    assert!(codes(&desk).is_empty(), "it is in the store");
    desk.write(&log("old"), &format!("{}\n", line.replace("aaaa", "bbbb")));
    age(&desk.path(&log("old")), &desk, 20);
    desk.write(".claude/settings.json", r#"{"cleanupPeriodDays": 30}"#);
    let ran = desk.run("sessionmill doctor");
    assert!(
        ran.stdout.contains("warning never-stored: 1 log"),
        "{}",
        ran.shown()
    );
    assert!(ran.stdout.contains("2026-06-11"), "{}", ran.shown());
    desk.run("sessionmill backfill");
    assert!(codes(&desk).is_empty(), "it is in the store");
}

#[test]
fn a_change_in_the_middle_of_a_log_that_grew_is_found_by_reading_all_of_it() {
    let desk = well();
    let log = ".claude/projects/-home-ada-late/late.jsonl";
    let line = |n: usize| {
        format!(
            r#"{{"type":"user","uuid":"6b1f0a34-5c0e-4b57-9d3e-2f9a51c7{n:04}","sessionId":"late","cwd":"/home/ada/late","timestamp":"2026-05-01T10:00:00.000Z","message":{{"role":"user","content":"hello {n:04}"}}}}"#
        ) + "\n"
    };
    let text: String = (0..100).map(line).collect();
    desk.write(log, &text);
    desk.run("sessionmill backfill");
    let changed = text.replace("hello 0050", "hullo 0050");
    desk.write(log, &format!("{changed}{}", line(100)));
    desk.run("sessionmill run --all");
    assert!(codes(&desk).is_empty(), "fingerprints don't see it");
    let deep = desk.run("sessionmill doctor --deep");
    assert_eq!(deep.exit, Exit::Partial);
    assert!(deep.stdout.contains("late.jsonl"), "{}", deep.shown());
    assert!(
        deep.stdout.contains("sessionmill run --rebuild"),
        "{}",
        deep.shown()
    );
    desk.run("sessionmill run --rebuild --all");
    assert_eq!(desk.run("sessionmill doctor --deep").exit, Exit::Done);
}

#[test]
fn a_record_of_trust_that_nobody_understands_is_told_everywhere() {
    let desk = well();
    desk.write(".claude.json", "{bad");
    let prompt = super::forget::said("9999", "/w/shop", 1, "user", "is it read?");
    desk.write(".claude/projects/-w/new.jsonl", &prompt);
    for line in ["run --all -q", "plan --all"] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!(ran.exit, Exit::Partial, "{line}: {}", ran.shown());
        let warning = "warning: ~/.claude.json: not understood at line 1";
        assert!(ran.stderr.contains(warning), "{line}: {}", ran.shown());
    }
    let found = findings(&desk.run("sessionmill doctor --json"));
    let (severity, code, command) = &found[0];
    assert_eq!((&**severity, &**code), ("error", "trust-unreadable"));
    assert!(command.ends_with(".claude.json"), "{command}");
}

#[test]
fn what_stops_every_run_is_found_with_the_command_that_mends_it() {
    let desk = well();
    let endpoint = "https://models.example.org/v1";
    let settings = serde_json::json!({
        "version": "2.0.0", "session_tracking": {"enabled": true},
        "embeddings": {"endpoint": endpoint, "model": "m"},
        "sinks": {"graph": {"kind": "falkordb", "url": "redis://graph.example.org"}},
    });
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    assert_eq!(desk.run("sessionmill run").exit, Exit::Usage);
    let ran = desk.run("sessionmill doctor --json");
    assert_eq!(ran.exit, Exit::Partial);
    let refused: Vec<_> = findings(&ran)
        .into_iter()
        .filter(|(_, code, _)| code == "run-refused")
        .collect();
    // graphs are off: nobody asks for that sink's consent
    let gives = format!("sessionmill consent give {endpoint}");
    let wants = ("error".to_owned(), "run-refused".to_owned(), gives);
    assert_eq!(refused, [wants]);
    let gives = &refused[0].2;
    let agreed = desk.run(&format!(
        "{gives} --confirm \"I understand this sends what my session logs say to {endpoint}\""
    ));
    assert_eq!(agreed.exit, Exit::Done, "{}", agreed.shown());
    assert!(!codes(&desk).contains(&"run-refused".to_owned()));
}

#[test]
fn what_was_set_aside_stays_whatever_is_repaired_in_the_same_second() {
    let desk = well();
    for nth in 0..3u8 {
        fs::write(store(&desk), [nth; 100]).unwrap();
        assert_eq!(desk.run("sessionmill doctor --repair").exit, Exit::Done);
    }
    for (nth, end) in ["", "-2", "-3"].iter().enumerate() {
        let name = format!(".graphiti/sessionmill.db.damaged-20260601T120000Z{end}");
        assert_eq!(fs::read(desk.path(&name)).unwrap(), [nth as u8; 100]);
    }
}

#[test]
fn what_was_set_aside_is_named_and_goes_when_somebody_says_so() {
    let mut desk = well();
    fs::write(store(&desk), [0xff; 9_000]).unwrap();
    assert_eq!(desk.run("sessionmill doctor --repair").exit, Exit::Done);
    let aside = desk.path(".graphiti/sessionmill.db.damaged-20260601T120000Z");
    assert!(codes(&desk).is_empty(), "it is not old");
    let forgot = desk.run("sessionmill forget 6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001");
    let warning = "warning: ~/.graphiti/sessionmill.db.damaged-20260601T120000Z (9.0 kB) from a repair may \
                   still hold forgotten text: sessionmill forget --purge-aside";
    assert!(forgot.stderr.contains(warning), "{}", forgot.shown());
    desk.now.0 += 31 * 86_400_000;
    desk.run("sessionmill run");
    let ran = desk.run("sessionmill doctor --json");
    let found = findings(&ran)
        .into_iter()
        .find(|(_, code, _)| code == "set-aside");
    let (severity, _, command) = found.expect("it is old by now");
    let purge = "sessionmill forget --purge-aside";
    assert_eq!((&*severity, &*command), ("note", purge));
    let would = desk.run(&format!("{purge} --dry-run"));
    assert!(
        would.stdout.starts_with("would remove ~/.graphiti/"),
        "{}",
        would.shown()
    );
    assert!(aside.exists());
    let purged = desk.run(purge);
    assert!(
        purged.stdout.starts_with("removed ~/.graphiti/"),
        "{}",
        purged.shown()
    );
    assert!(!aside.exists() && store(&desk).exists());
    assert_eq!(
        desk.run(purge).stdout,
        "there are no damaged stores from a repair\n"
    );
    assert!(!codes(&desk).contains(&"set-aside".to_owned()));
}

/// What flips a bit of a number, an id or a short name where only the log tells it, and the column that is named.
const SILENT: [(&str, &str); 14] = [
    (
        "UPDATE episode SET input_tokens = input_tokens + 1024 WHERE n = 2",
        "input_tokens",
    ),
    (
        "UPDATE episode SET message_count = message_count + 4 WHERE n = 1",
        "message_count",
    ),
    (
        "UPDATE episode SET ended_at = ended_at + 65536 WHERE n = 3",
        "ended_at",
    ),
    (
        "UPDATE episode SET title = 'x' || substr(title, 2) WHERE n = 1",
        "title",
    ),
    (
        "UPDATE episode SET line_to = line_to + 1 WHERE n = 4",
        "line_to",
    ),
    (
        "UPDATE episode SET id = x'ff' || substr(id, 2) WHERE n = 2",
        "id",
    ),
    (
        "UPDATE session SET started = started + 1 WHERE n = 1",
        "started",
    ),
    ("UPDATE episode_tool SET calls = calls + 8", "episode_tool"),
    (
        "UPDATE episode_usage SET output_tokens = output_tokens + 64",
        "episode_usage",
    ),
    (
        "UPDATE file SET head_print = head_print + 1 WHERE n = 1",
        "head_print",
    ),
    ("DELETE FROM episode_path", "episode_path"),
    ("DELETE FROM tie WHERE file = 1", "tie"),
    ("UPDATE tie SET name = name + 1 WHERE file = 1", "tie"),
    (
        "UPDATE episode SET title = CAST(title AS BLOB) WHERE n = 1",
        "title",
    ),
];

#[test]
fn a_flipped_bit_of_a_number_is_found_and_mended_where_the_log_tells_it() {
    let desk = well();
    let sound = fs::read(store(&desk)).unwrap();
    let dump = desk.run("sessionmill store dump").stdout;
    let deep = desk.run("sessionmill doctor --deep");
    assert_eq!(deep.stdout, "no problems found\n", "{}", deep.shown());
    for (sql, column) in SILENT {
        fs::write(store(&desk), &sound).unwrap();
        let open = Store::open(&store(&desk), Access::ReadWrite).unwrap();
        open.tamper(sql);
        drop(open);
        assert!(
            codes(&desk).is_empty(),
            "{sql}: no check of the file sees it"
        );
        let deep = desk.run("sessionmill doctor --deep --json");
        assert_eq!(deep.exit, Exit::Partial, "{sql}: {}", deep.shown());
        let found = findings(&deep);
        let (.., command) = found
            .iter()
            .find(|(_, code, _)| code == "store-differs")
            .unwrap();
        assert!(deep.stdout.contains(column), "{sql}: {}", deep.shown());
        let after = fs::read(store(&desk)).unwrap();
        assert_ne!(after, sound, "looking mends nothing");
        let mended = desk.run(command);
        assert_eq!(mended.exit, Exit::Done, "{sql}: {}", mended.shown());
        desk.run("sessionmill run");
        let again = desk.run("sessionmill store dump").stdout;
        assert!(again == dump, "{sql}: {}", difference(&dump, &again));
        let left = fs::read_dir(desk.path(".graphiti")).unwrap();
        let left = left.filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().contains(".new")
        });
        assert_eq!(left.count(), 0);
    }
}

#[test]
fn what_a_deep_look_cannot_compare_is_a_note() {
    let desk = well();
    let log = desk.path(".claude/projects/-home-ada-infra");
    let log = fs::read_dir(log).unwrap().next().unwrap().unwrap().path();
    let mut text = fs::read_to_string(&log).unwrap();
    text.push('\n');
    fs::write(&log, text).unwrap();
    let deep = desk.run("sessionmill doctor --deep");
    let said = "note not-compared: not compared with the logs: 1 session that changed";
    assert!(deep.stdout.contains(said), "{}", deep.shown());
    assert_eq!(deep.exit, Exit::Done);
    let lock = crate::pipeline::lock::Lock::take(&desk.path(".graphiti/sessionmill.lock")).unwrap();
    let deep = desk.run("sessionmill doctor --deep");
    let said = "the store was not compared with the logs: another run holds the lock";
    assert!(deep.stdout.contains(said), "{}", deep.shown());
    drop(lock);
}
