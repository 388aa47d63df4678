//! What logs say is shown, delivered and answered without what acts where it is shown: a log with escape
//! sequences, C1 controls, marks of direction and tags wherever a log has words, and every way out.

use crate::cli::Exit;
use crate::model::inert::is_live;
use crate::model::time::Time;
use crate::tests::delivery::configure;
use crate::tests::places::ask_from;
use crate::tests::world::Desk;
use serde_json::{Value, json};
use std::path::Path;

/// Sets a terminal's title, clears it, colours it, links, writes the clipboard, turns the writing, hides words.
const LIVE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31m\u{9b}2J\u{1b}]8;;http://x.example\u{1b}\\here\u{1b}]8;;\u{1b}\\\u{1b}]52;c;ZXZpbA==\u{7}\u{9d}52;c;eA==\u{9c}\u{202e}txt\u{2066}\u{200f}\u{200b}\u{2060}\u{feff}\u{e0041}\u{e0101}\u{8}\u{7f}";

/// Our own colours.
const COLOURS: [&str; 8] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[1;35m",
    "\u{1b}[1;31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[36m",
];

fn row(nth: u32, kind: &str, message: Value, more: Value) -> String {
    let mut row = json!({
        "type": kind, "uuid": format!("00000000-0000-4000-8000-{nth:012}"),
        "sessionId": format!("evil{LIVE}"), "timestamp": format!("2026-05-31T10:{nth:02}:00.000Z"),
        "cwd": "/w", "gitBranch": format!("main\u{202e}{nth}"), "version": "2.1.0", "message": message,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        row[key] = value.clone();
    }
    format!("{row}\n")
}

fn call_of(id: u32, tool: &str, input: Value) -> Value {
    json!({"role": "assistant", "id": format!("m{id}"), "model": format!("claude{LIVE}"), "content": [
        {"type": "text", "text": format!("I decided to use redis {LIVE} because it is fast.")},
        {"type": "tool_use", "id": format!("c{id}"), "name": tool, "input": input}]})
}

fn result_of(id: u32) -> Value {
    json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": format!("c{id}"), "is_error": true,
         "content": format!("error: redis{LIVE} failed")}]})
}

fn desk() -> Desk {
    let desk = Desk::enabled();
    configure(
        &desk,
        json!({"sinks": {
            "vault": {"kind": "markdown", "path": "~/vault"},
            "lines": {"kind": "jsonl", "path": "~/lines"},
        }}),
    );
    let said = format!("Let's use redis for sessions {LIVE} instead of cookies.");
    let log = row(
        1,
        "user",
        json!({"role": "user", "content": said}),
        json!({}),
    ) + &row(
        2,
        "assistant",
        call_of(2, "Bash", json!({"command": format!("redis{LIVE} --x")})),
        json!({}),
    ) + &row(3, "user", result_of(2), json!({}))
        + &row(
            4,
            "assistant",
            call_of(4, &format!("T{LIVE}"), json!({"a": LIVE})),
            json!({}),
        )
        + &row(5, "user", result_of(4), json!({}))
        + &row(
            6,
            "assistant",
            call_of(
                6,
                "Edit",
                json!({"file_path": format!("/w/re{LIVE}dis.rs")}),
            ),
            json!({}),
        )
        + &row(7, "user", result_of(6), json!({}))
        + &row(
            8,
            "summary",
            Value::Null,
            json!({"summary": format!("title redis {LIVE}"),
            "leafUuid": "00000000-0000-4000-8000-000000000001"}),
        )
        + &format!("{{\"type\":\"kind{}\"}}\n", "\\u001b[2J\\u202e");
    desk.write(
        &format!(".claude/projects/-w/evil{}.jsonl", "\u{1b}[2J\u{202e}"),
        &log,
    );
    desk
}

fn is_inert(text: &str, of: &str) {
    let at = text.find(is_live);
    let near = at.map(|at| text[at..].chars().take(40).collect::<String>());
    assert_eq!(near, None, "{of} lets out {near:?}");
}

const COMMANDS: [&str; 26] = [
    "run --all",
    "search redis",
    "sessions",
    "show evil",
    "recall redis sessions cookies",
    "recap --since 30d",
    "why redis",
    "insights",
    "status",
    "status --drift",
    "stats",
    "deliver status",
    "doctor",
    "plan",
    "store dump",
    "deliver dead list",
    "memories list",
    "show nothing\u{1b}[2J",
    "config show",
    "recap --since 30d --markdown",
    "stats --cost",
    "stats --activity",
    "forget evil --dry-run",
    "resume evil --print",
    "schedule status",
    "consent list",
];

#[test]
fn no_command_lets_out_what_drives_a_terminal() {
    let mut desk = desk();
    let ran = desk.run("sessionmill run --all");
    assert_ne!(ran.exit, Exit::Usage, "{}", ran.shown());
    let shown = desk.run("sessionmill search redis").stdout;
    assert!(shown.contains("owned") && shown.contains("txt"), "{shown}");
    for command in COMMANDS {
        for columns in [None, Some(240)] {
            desk.columns = columns;
            desk.pipes_errors = columns.is_none();
            let ran = desk.run(&format!("sessionmill {command}"));
            let plain = |text: &str| {
                COLOURS
                    .iter()
                    .fold(text.to_owned(), |t, code| t.replace(code, ""))
            };
            is_inert(&plain(&ran.stdout), command);
            is_inert(&plain(&ran.stderr), command);
        }
        desk.columns = None;
        let ran = desk.run(&format!("sessionmill {command} --json"));
        is_inert(&ran.stdout, command);
        is_inert(&ran.stderr, command);
        if !ran.stdout.is_empty() {
            ran.json();
        }
    }
}

/// Pages for a browser, and what is told a line at a time; what is drawn is `browse`'s, what is completed
/// `tests/completion.rs`.
#[test]
fn no_page_and_no_line_of_browse_lets_it_out() {
    let mut desk = desk();
    desk.run("sessionmill run --all");
    for (command, files) in [
        ("show evil --html session.html", "session.html"),
        ("recap --since 30d --html recap.html", "recap.html"),
        ("report --html report.html --sessions pages", "report.html"),
    ] {
        let ran = desk.run(&format!("sessionmill {command}"));
        assert_eq!(ran.exit, Exit::Done, "{command}: {}", ran.shown());
        let page = std::fs::read_to_string(desk.path(files)).expect(files);
        assert!(page.contains("redis"), "{command}");
        is_inert(&page, command);
        // an escape that a browser would make one again
        for again in ["&#27;", "&#x1b;", "&#x202e;", "&#8238;"] {
            assert!(!page.to_lowercase().contains(again), "{command}: {again}");
        }
    }
    let pages = files_below(&desk.path("pages"));
    assert!(!pages.is_empty());
    for (name, page) in pages {
        is_inert(&page, &name);
        is_inert(&name, &name);
    }
    desk.answers = Some("redis\n1\ncommand 1\nq\n".to_owned());
    let heard = desk.run("sessionmill browse --plain");
    assert!(heard.stdout.contains("redis"), "{}", heard.shown());
    is_inert(&heard.stdout, "browse --plain");
    is_inert(&heard.stderr, "browse --plain");
}

#[test]
fn no_hook_tool_or_sink_lets_out_what_drives_a_terminal() {
    let mut desk = desk();
    desk.run("sessionmill run --all");
    desk.now = Time(desk.now.0 + 86_400_000);
    let delivered = desk.run("sessionmill deliver run");
    assert_ne!(delivered.exit, Exit::Usage, "{}", delivered.shown());
    for folder in ["vault", "lines", ".graphiti/logs"] {
        let files = files_below(&desk.path(folder));
        assert!(!files.is_empty() || folder.contains("logs"), "no {folder}");
        for (name, text) in files {
            is_inert(&text, &name);
            is_inert(&name, &name);
        }
    }
    for event in ["SessionStart", "UserPromptSubmit"] {
        let prompt = "why did we choose redis for sessions instead of cookies";
        desk.piped = json!({"hook_event_name": event, "cwd": "/w", "prompt": prompt}).to_string();
        let ran = desk.run("sessionmill recall --hook claude");
        is_inert(&ran.stdout, event);
        if !ran.stdout.is_empty() {
            let block = ran.json()["hookSpecificOutput"]["additionalContext"].clone();
            is_inert(block.as_str().unwrap(), event);
        }
    }
    for (tool, arguments) in [
        ("search_memory_nodes", json!({"query": "redis"})),
        ("search_sessions", json!({"query": "redis"})),
        ("search_sessions", json!({})),
        ("get_session", json!({"session": "evil"})),
        ("why", json!({"question": "redis"})),
        ("recent", json!({})),
        ("recall", json!({"question": "redis sessions cookies"})),
    ] {
        let told = answer(&desk, tool, arguments);
        is_inert(&told, tool);
    }
}

fn answer(desk: &Desk, name: &str, arguments: Value) -> String {
    let told = ask_from(desk, Path::new("/w"), name, arguments);
    told.unwrap_or_else(|error| error.message)
}

fn files_below(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => all.extend(files_below(&entry.path())),
            false => all.push((
                entry.file_name().to_string_lossy().into_owned(),
                std::fs::read_to_string(entry.path()).unwrap(),
            )),
        }
    }
    all
}
