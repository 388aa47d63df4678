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
        "show aaaa --full",
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
    let text = desk.run("sessionmill show aaaa --full").stdout;
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

/// The first record is in the project's root, the others are in a folder of it.
fn record_of(
    cwd: &str,
    nth: u32,
    kind: &str,
    content: serde_json::Value,
    result: serde_json::Value,
) -> String {
    let folder = if nth == 1 { "" } else { "/web" };
    let line = json!({"type": kind, "sessionId": "cccc", "cwd": format!("{cwd}{folder}"),
        "gitBranch": "main", "uuid": format!("00000000-0000-4000-8000-{nth:012}"),
        "timestamp": format!("2026-05-20T10:{nth:02}:00.000Z"), "toolUseResult": result,
        "message": {"id": format!("m{nth}"), "role": kind, "content": content}});
    format!("{line}\n")
}

/// A session whose words, calls, results and titles all name paths, with something of everything that
/// summaries are made of.
fn full_log(cwd: &str) -> String {
    let record = |nth, kind: &str, content, result| record_of(cwd, nth, kind, content, result);
    let text = |nth: u32, kind: &str, text: &str| {
        record(
            nth,
            kind,
            json!([{"type": "text", "text": text}]),
            json!(null),
        )
    };
    let call = |nth: u32,
                tool: &str,
                input: serde_json::Value,
                output: &str,
                failed: bool,
                facts: serde_json::Value| {
        let id = format!("t{nth}");
        let ask = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        let answer = json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]);
        record(nth, "assistant", ask, json!(null)) + &record(nth + 1, "user", answer, facts)
    };
    let question = format!("Where shall {cwd}/conf go?");
    let answers =
        json!({"questions": [], "answers": {(question.clone()): format!("below {cwd}/etc")}});
    let edit = |nth: u32, path: &str, old: &str, new: &str| {
        call(
            nth,
            "Edit",
            json!({"file_path": format!("{cwd}/{path}"), "old_string": old, "new_string": new}),
            &format!("The file {cwd}/{path} has been updated."),
            false,
            json!(null),
        )
    };
    let cargo = |nth: u32, failed: bool| {
        let output = match failed {
            true => format!("Exit code 101\nrunning 4 tests\ntest a ... FAILED\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\nerror: {cwd}/src/b.rs:3"),
            false => "running 4 tests\n\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out".to_owned(),
        };
        call(
            nth,
            "Bash",
            json!({"command": format!("cd {cwd} && cargo test --manifest-path {cwd}/Cargo.toml")}),
            &output,
            failed,
            json!(null),
        )
    };
    [
        text(1, "user", &format!("Move the settings out of {cwd}/web/src/a.rs, and mend the tests in {cwd}")),
        text(2, "assistant", &format!("I look at {cwd}/src first.")),
        cargo(3, true),
        edit(5, "src/b.rs", "a", "b\nc"),
        cargo(7, false),
        edit(9, "config.toml", "root = \"/x\"\n", &format!("root = \"{cwd}/data\"\n")),
        edit(11, "web/config.toml", "port = 1\n", "port = 2\n"),
        call(13, "AskUserQuestion", json!({"questions": [{"question": question, "options": []}]}), "answered", false, answers),
        text(15, "user", &format!("Let's keep one folder instead of two because it is shared. It is {cwd}/etc.")),
        text(16, "assistant", &format!("Done. {cwd}/etc it is, see /home/alice/notes.")),
        // still open when the first run comes
        record(17, "assistant", json!([{"type": "tool_use", "id": "t17", "name": "Edit", "input":
            {"file_path": format!("{cwd}/src/late.rs"), "old_string": "a", "new_string": "b"}}]), json!(null)),
        json!({"type": "custom-title", "customTitle": format!("Settings of {cwd}"), "sessionId": "cccc"}).to_string() + "\n",
        json!({"type": "queue-operation", "operation": "enqueue", "sessionId": "cccc",
            "timestamp": "2026-05-20T10:18:00.000Z", "content": format!("then look at {cwd}/queue")}).to_string() + "\n",
    ]
    .concat()
}

/// How many of each kind there are, and of what kinds the items are.
fn counted(desk: &Desk) -> serde_json::Value {
    use crate::store::{Access, Store};
    let store = Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadOnly).unwrap();
    let (episodes, _) = store.chunks("cccc", u64::MAX).unwrap();
    let items = episodes.iter().flat_map(|found| {
        let marks = &found.episode.outline;
        let texts =
            crate::model::item::apart(&found.episode.text, marks).expect("items make up the text");
        let label = |text: &str| text.split([' ', ':']).next().unwrap_or_default().to_owned();
        texts
            .into_iter()
            .zip(marks)
            .map(move |(text, mark)| (mark.line, mark.findings.len(), label(text)))
    });
    let items: Vec<_> = items.collect();
    let shown = desk.run("sessionmill show cccc --json").json();
    let summary = shown["summary"].as_object().expect("a summary");
    let many = |value: &serde_json::Value| value.as_array().map_or(1, Vec::len);
    let fields: std::collections::BTreeMap<_, _> =
        summary.iter().map(|(k, v)| (k, many(v))).collect();
    json!({"items": items, "summary": fields, "page": store.summary("cccc").unwrap().is_some()})
}

/// Every value of every table, unpacked, with the columns in which a path has to be.
fn clear(desk: &Desk, word: &str) -> Vec<String> {
    let known = ["project_path=", "cwd=", "path=", "key=", "file="];
    let dump = desk.run("sessionmill store dump").stdout;
    let mut found = Vec::new();
    let mut table = "";
    for line in dump.lines() {
        table = line.strip_prefix("# ").unwrap_or(table);
        let place = |field: &&str| known.iter().any(|known| field.starts_with(known));
        let fields = line.split(' ').filter(|field| field.contains(word));
        let is_place = ["session", "file", "record", "fold", "tie"].contains(&table);
        found.extend(
            fields
                .filter(|f| !(is_place && place(f)))
                .map(|f| format!("{table}: {f}")),
        );
    }
    let db = rusqlite::Connection::open(desk.path(".graphiti/sessionmill.db")).unwrap();
    db.execute_batch("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'words', 'row')")
        .unwrap();
    let mut select = db
        .prepare("SELECT term FROM temp.terms WHERE term LIKE '%alice%'")
        .unwrap();
    let terms = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
    found.extend(terms.map(|term| format!("the index: {}", term.unwrap())));
    found
}

#[test]
fn what_survives_is_complete_and_no_table_has_a_path_in_clear() {
    let of = |hides: bool| {
        let desk = desk();
        let settings =
            json!({"session_tracking": {"enabled": true, "include_project_path": !hides}});
        desk.write(".graphiti/graphiti.config.json", &settings.to_string());
        desk.write(".claude/projects/-w/cccc.jsonl", &full_log(CWD));
        desk.run("sessionmill run");
        let at_rest = counted(&desk);
        let found = clear(&desk, "alice");
        assert_eq!(found.is_empty(), hides, "{found:#?}");
        // the open call is answered in a later run
        let answer = json!({"type": "user", "sessionId": "cccc", "cwd": format!("{CWD}/web"),
            "uuid": "00000000-0000-4000-8000-000000000019", "timestamp": "2026-05-20T10:19:00.000Z",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t17",
                "content": format!("The file {CWD}/src/late.rs has been updated.")}]}});
        desk.write(
            ".claude/projects/-w/cccc.jsonl",
            &format!("{}{answer}\n", full_log(CWD)),
        );
        desk.run("sessionmill run");
        assert_eq!(clear(&desk, "alice").is_empty(), hides);
        let summary = desk.run("sessionmill show cccc --json").json()["summary"].clone();
        (at_rest, counted(&desk), summary)
    };
    let (shown, hidden) = (of(false), of(true));
    assert_eq!(shown.0, hidden.0);
    assert_eq!(shown.1, hidden.1);
    assert!(shown.1["page"] == true, "{}", shown.1);
    for field in [
        "decisions",
        "errors_resolved",
        "config_changes",
        "files_modified",
        "tests",
        "objective",
    ] {
        assert!(!shown.2[field].is_null(), "{field}: {}", shown.2);
    }
    let paths = |summary: &serde_json::Value| summary["files_modified"].to_string();
    assert!(paths(&hidden.2).contains("\"src/late.rs\""), "{}", hidden.2);
    assert!(
        paths(&hidden.2).contains("\"web/config.toml\""),
        "{}",
        hidden.2
    );
}
