//! `include_project_path: false`: no path of the project and no user's name in what is stored of
//! its sessions and shown of them, whoever says so.

use super::forget::{desk, said};
use super::world::Desk;
use serde_json::json;

const CWD: &str = "/home/alice/shop";

/// A prompt, an answer and calls that name paths in every way.
fn log(cwd: &str) -> String {
    let call = |nth: u32, tool: &str, input: serde_json::Value| {
        let id = format!("t{nth}");
        let record = |kind: &str, nth: u32, content: serde_json::Value| {
            let line = json!({"type": kind, "sessionId": "aaaa", "cwd": cwd,
                "uuid": format!("00000000-0000-4000-8000-{nth:012}"),
                "timestamp": format!("2026-05-20T10:{nth:02}:00.000Z"),
                "message": {"id": format!("m{nth}"), "role": kind, "content": content}});
            format!("{line}\n")
        };
        let ask = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        let answer = json!([{"type": "tool_result", "tool_use_id": id,
            "content": format!("Exit code 1\nerror: {cwd}/src/b.rs"), "is_error": true}]);
        record("assistant", nth, ask) + &record("user", nth + 1, answer)
    };
    said(
        "aaaa",
        cwd,
        1,
        "user",
        &format!("look at {cwd}/src/a.rs zebrafish"),
    ) + &said(
        "aaaa",
        cwd,
        2,
        "assistant",
        &format!("in {cwd} and /home/alice/.ssh"),
    ) + &call(3, "Read", json!({"file_path": format!("{cwd}/src/a.rs")}))
        + &call(5, "Read", json!({"file_path": "/home/alice/other/c.rs"}))
        + &call(
            7,
            "Bash",
            json!({"command": format!("cat {cwd}/x /Users/alice/y")}),
        )
}

fn shown(desk: &Desk) -> String {
    let lines = [
        "search zebrafish",
        "search zebrafish --json",
        "sessions",
        "sessions --json",
        "show aaaa",
        "show aaaa --json",
        "stats",
        "stats --json",
    ];
    lines
        .map(|line| desk.run(&format!("sessionmill {line}")).stdout)
        .concat()
}

/// What a sink would get of the episodes.
fn stored(desk: &Desk) -> String {
    let dump = desk.run("sessionmill store dump").stdout;
    let tables = dump.split("# ").filter(|table| {
        ["episode\n", "body\n", "episode_path\n", "summary\n"]
            .iter()
            .any(|name| table.starts_with(name))
    });
    let columns = |line: &str| !line.trim_start().starts_with("file=");
    tables
        .flat_map(str::lines)
        .filter(|l| columns(l))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn neither_path_nor_name_is_shown_or_delivered() {
    let desk = desk();
    desk.write(".claude/projects/-w/aaaa.jsonl", &log(CWD));
    let off = r#"{"session_tracking": {"enabled": true, "include_project_path": false}}"#;
    let on = r#"{"session_tracking": {"enabled": true}}"#;
    desk.write(".graphiti/graphiti.config.json", on);
    desk.run("sessionmill run");
    assert!(shown(&desk).contains("alice") && stored(&desk).contains("alice"));
    // What is stored already is not shown from now on, and hidden when it is told again.
    desk.write(".graphiti/graphiti.config.json", off);
    let json = desk.run("sessionmill sessions --json").json();
    assert!(json["sessions"][0]["project_path"].is_null(), "{json}");
    desk.run("sessionmill run --all --rebuild");
    assert!(!shown(&desk).contains("alice"), "{}", shown(&desk));
    assert!(!stored(&desk).contains("alice"), "{}", stored(&desk));
    let text = desk.run("sessionmill show aaaa").stdout;
    for word in [
        "look at src/a.rs",
        "in . and ~/.ssh",
        "Read(src/a.rs)",
        "~/other/c.rs",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_project_may_hide_its_own_place() {
    let desk = desk();
    let (shop, blog) = (desk.path("shop"), desk.path("blog"));
    let own = r#"{"session_tracking": {"include_project_path": false}}"#;
    desk.write("shop/graphiti.config.json", own);
    desk.write("blog/a.txt", "");
    desk.write(
        ".claude/projects/-w/aaaa.jsonl",
        &log(&shop.to_string_lossy()),
    );
    let other = log(&blog.to_string_lossy())
        .replace("aaaa", "bbbb")
        .replace("0000-4000", "1111-4000");
    desk.write(".claude/projects/-v/bbbb.jsonl", &other);
    desk.run("sessionmill run");
    let shown = shown(&desk);
    assert!(
        !shown.contains("~/shop") && shown.contains("~/blog"),
        "{shown}"
    );
    assert!(!stored(&desk).contains("~/shop/"), "{}", stored(&desk));
    assert!(stored(&desk).contains("~/blog/"), "{}", stored(&desk));
}
