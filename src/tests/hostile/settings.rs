//! The settings file of a cloned repository is a stranger's: whatever it is, commands go on with one
//! warning, its project stays closed until it is repaired, and others don't notice.

use crate::cli::Exit;
use crate::tests::forget::{desk, said};
use crate::tests::places::ask_from;
use crate::tests::world::Desk;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

/// Its name, and what puts it there.
type Attack = (&'static str, fn(&Desk));

/// What a stranger may put where a project's settings are looked for.
const ATTACKS: [Attack; 10] = [
    ("unknown key", |desk| {
        put(desk, r#"{"session_tracking": {"nobody_knows": 1}}"#)
    }),
    ("wrong type", |desk| put(desk, r#"{"session_tracking": 7}"#)),
    ("deep", |desk| {
        put(
            desk,
            &format!("{}{}", "{\"a\":".repeat(50_000), "}".repeat(50_000)),
        )
    }),
    ("large", |desk| {
        put(desk, &format!("{{\"a\":\"{}\"}}", "x".repeat(10 << 20)))
    }),
    ("nonsense", |desk| put(desk, "{[nonsense \u{1b}[2J")),
    ("folder", |desk| fs::create_dir(desk.path(FILE)).unwrap()),
    ("pipe", |desk| {
        let made = Command::new("mkfifo").arg(desk.path(FILE)).status();
        assert!(made.is_ok_and(|status| status.success()), "no fifo");
    }),
    ("endless device", |desk| {
        symlink("/dev/zero", desk.path(FILE)).unwrap()
    }),
    ("link to nowhere", |desk| {
        symlink("/nowhere", desk.path(FILE)).unwrap()
    }),
    ("link to itself", |desk| {
        symlink(desk.path(FILE), desk.path(FILE)).unwrap()
    }),
];

/// Commands about all projects, asked for in the folder of one that is closed.
const COMMANDS: [&str; 18] = [
    "status",
    "search goodword",
    "sessions",
    "show good",
    "resume good --print",
    "browse --plain goodword",
    "recap",
    "why redis",
    "insights",
    "stats",
    "stats --cost",
    "stats --activity",
    "report --html report.html --sessions pages",
    "plan",
    "memories list",
    "schedule status",
    "man pages",
    "completion bash",
];

const FILE: &str = "evil/graphiti.config.json";

fn put(desk: &Desk, text: &str) {
    fs::write(desk.path(FILE), text).unwrap();
}

/// Two projects with a session each, one of which a stranger wrote settings for.
fn projects(attack: fn(&Desk)) -> Desk {
    let desk = desk();
    for (nth, name) in [(10, "evil"), (20, "good")] {
        fs::create_dir_all(desk.path(&format!("{name}/.git"))).unwrap();
        let cwd = desk.path(name).display().to_string();
        let log = said(
            name,
            &cwd,
            nth,
            "user",
            &format!("Let's use redis for {name}word."),
        ) + &said(
            name,
            &cwd,
            nth + 1,
            "assistant",
            &format!("Redis for {name}word it is."),
        );
        desk.write(&format!(".claude/projects/-w{nth}/{name}.jsonl"), &log);
    }
    attack(&desk);
    desk
}

#[test]
fn whatever_it_is_commands_go_on_with_a_warning_and_its_project_is_closed() {
    let mut sound = projects(|_| {});
    sound.cwd = Some(sound.path("evil"));
    sound.run("sessionmill run --all");
    let exits = COMMANDS.map(|command| sound.run(&format!("sessionmill {command}")).exit);
    assert!(exits.iter().all(|exit| *exit != Exit::Usage), "{exits:?}");
    for (name, attack) in ATTACKS {
        let mut desk = projects(attack);
        desk.cwd = Some(desk.path("evil"));
        let ran = desk.run("sessionmill run --all");
        assert_eq!(ran.exit, Exit::Done, "{name}: {}", ran.shown());
        let warnings = ran.stderr.matches("warning: ").count();
        assert_eq!(warnings, 1, "{name}: {}", ran.shown());
        assert!(ran.stderr.contains("is skipped"), "{name}: {}", ran.shown());
        assert!(ran.stderr.len() < 1_000, "{name}: {}", ran.shown());
        for (command, exit) in COMMANDS.iter().zip(exits) {
            let ran = desk.run(&format!("sessionmill {command}"));
            assert_eq!(ran.exit, exit, "{name}, {command}: {}", ran.shown());
            assert!(!ran.stdout.contains("evilword"), "{name}, {command}");
        }
        let dump = desk.run("sessionmill store dump").stdout;
        assert!(!dump.contains("evilword"), "{name} was read");
        assert!(dump.contains("goodword"), "{name} stops another project");
    }
}

#[test]
fn what_was_stored_before_is_not_given_until_it_is_repaired() {
    let mut desk = projects(|_| {});
    assert_eq!(desk.run("sessionmill run --all").exit, Exit::Done);
    let asked = |desk: &Desk| {
        let question = json!({"question": "redis for evilword", "query": "evilword"});
        let search = json!({"query": question["query"]});
        let recalled = json!({"question": question["question"]});
        let dir = desk.path("evil");
        [("search_memory_nodes", search), ("recall", recalled)]
            .map(|(name, arguments)| ask_from(desk, &dir, name, arguments))
    };
    desk.cwd = Some(desk.path("evil"));
    assert!(
        asked(&desk)
            .iter()
            .all(|told| told.as_ref().is_ok_and(|t| t.contains("evilword")))
    );
    put(&desk, "{");
    for told in asked(&desk) {
        let error = told.unwrap_err();
        assert!(error.message.contains("is skipped"), "{}", error.message);
    }
    desk.piped = json!({"hook_event_name": "UserPromptSubmit", "cwd": desk.path("evil"),
        "prompt": "redis for evilword"})
    .to_string();
    let hook = desk.run("sessionmill recall --hook claude");
    assert_eq!(
        (hook.exit, hook.stdout.as_str()),
        (Exit::Done, ""),
        "{}",
        hook.stderr
    );
    fs::remove_file(desk.path(FILE)).unwrap();
    assert!(asked(&desk).iter().all(Result::is_ok));
}

#[test]
fn a_file_of_the_persons_own_is_an_error() {
    let desk = projects(|_| {});
    desk.write(".graphiti/graphiti.config.json", r#"{"nobody_knows": 1}"#);
    let ran = desk.run("sessionmill run --all");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
}
