//! Who did what git and files tell: an agent where its log has the very call, a person where no log has it,
//! else nobody knows.

use super::git::Site;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, UNIX_EPOCH};

/// Role, operation, agent and link of what git did to `main`, the first ones first.
fn told(site: &Site) -> Vec<String> {
    let document = site.ask("why --branch main -n 50");
    let all = document["operations"].as_array().unwrap().iter().rev();
    let text = |o: &Value, key: &str| o[key].as_str().unwrap_or("-").to_owned();
    all.map(|o| {
        format!(
            "{} {} {}",
            text(o, "operation"),
            text(o, "agent"),
            text(o, "session_by")
        )
    })
    .collect()
}

/// Everything that happens in one story, seen by a run after each step, or only at the end.
fn story(runs_between: bool) -> Vec<String> {
    let mut site = Site::new();
    let run = |site: &mut Site| {
        if runs_between {
            site.run();
        }
    };
    // before any session was there
    site.commit("README.md", "app\n", "first");
    run(&mut site);
    site.now += 3_600;
    site.user("Add a parser");
    site.write("src/parser.rs", "1\n");
    site.git("add -A");
    site.agent_git("commit -m \"A parser\"");
    run(&mut site);
    // a person in a terminal, while the session waits
    site.commit("notes.txt", "n\n", "Notes of mine");
    site.git("reset -q --hard HEAD~1");
    run(&mut site);
    site.user("take the parser out again");
    site.agent_git("reset --hard HEAD~1");
    run(&mut site);
    // a script of the agent's commits something: nobody can tell
    let call = "toolu_script";
    let script = json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "make release"}}]);
    site.record("assistant", &json!({"id": "msg_script", "role": "assistant", "model": "claude-sonnet-4-5", "content": script}));
    site.commit("VERSION", "2\n", "Release 2");
    site.now -= 5;
    let result = json!([{"type": "tool_result", "tool_use_id": call, "content": "released"}]);
    site.record("user", &json!({"role": "user", "content": result}));
    site.agent("Released.");
    run(&mut site);
    // hours later nobody is at work
    site.now += 5 * 3_600;
    site.commit("notes.txt", "n2\n", "More notes");
    site.run();
    told(&site)
}

#[test]
fn an_operation_is_whose_log_has_it() {
    let wants = [
        "commit unknown -",
        "commit claude hash",
        "commit person branch",
        "reset person branch",
        "reset --hard claude command",
        "commit unknown branch",
        "commit person -",
    ];
    // the log of this test has no branch: what ties is the time
    let wants = wants.map(|line| line.replace("branch", "time"));
    let modes = |told: Vec<String>| -> Vec<String> {
        told.iter()
            .map(|line| line.replace("reset --hard person", "reset person"))
            .collect()
    };
    assert_eq!(modes(story(false)), wants);
    assert_eq!(modes(story(true)), wants, "whenever the runs came");
}

#[test]
fn filters_and_documents_have_who_did_it() {
    let mut site = Site::new();
    site.user("Add a parser");
    site.write("src/parser.rs", "1\n");
    site.git("add -A");
    site.agent_git("commit -m \"A parser\"");
    site.commit("notes.txt", "parser\n", "Notes on the parser");
    site.agent_git("reset --hard HEAD~1");
    site.run();
    let found = |agent: &str| -> Vec<String> {
        let found = site.ask(&format!("search --agent {agent} --source git_metadata"));
        let hits = found["hits"].as_array().unwrap().iter();
        let mut titles: Vec<String> = hits
            .map(|hit| {
                assert_eq!(hit["agent"], *agent, "{hit}");
                hit["title"].as_str().unwrap().to_owned()
            })
            .collect();
        titles.sort();
        titles
    };
    assert_eq!(found("person"), ["commit on main"]);
    assert_eq!(found("claude"), ["commit on main", "reset --hard on main"]);
    assert_eq!(found("codex"), Vec::<String>::new());
    let by_field = site.ask("search agent:person --source git_metadata");
    assert_eq!(by_field["hits"].as_array().unwrap().len(), 1);
    // what git wrote is the operation's doer's, too
    let written = site.ask("search --source git_bulk_update -n 50");
    let agents = written["hits"].as_array().unwrap().iter();
    assert!(
        agents.clone().all(|hit| hit["agent"] == "claude"),
        "{written}"
    );
    assert!(agents.count() > 0);
    let why = |agent: &str| {
        let document = site.ask(&format!("why --branch main --agent {agent}"));
        document["operations"].as_array().unwrap().len()
    };
    assert_eq!((why("claude"), why("person"), why("codex")), (2, 1, 0));
    let ran = site
        .desk
        .run("sessionmill why --branch main --agent person");
    assert!(
        ran.stdout.contains("by a person, while session "),
        "{}",
        ran.shown()
    );
    let ran = site.desk.run("sessionmill search --agent somebody");
    assert!(
        ran.stderr
            .contains("write claude, codex, gemini, qwen, opencode, person or unknown"),
        "{}",
        ran.shown()
    );
}

#[test]
fn a_codex_session_is_told_as_codex() {
    let mut site = Site::new();
    site.user("hello");
    site.commit("a", "a\n", "first");
    let id = "01a0714e-0000-7d23-9f9d-0000000000c3";
    let mut log = String::new();
    let mut at = site.now + 3_600;
    let cwd = site.repo.clone();
    let mut line = |kind: &str, payload: Value| {
        at += 1;
        let stamp = Time(at * 1_000).rfc3339_millis();
        log += &format!(
            "{}\n",
            json!({"timestamp": stamp, "type": kind, "payload": payload})
        );
    };
    line(
        "session_meta",
        json!({"id": id, "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.154.0", "source": "cli"}),
    );
    line(
        "event_msg",
        json!({"type": "user_message", "message": "Drop what is not committed"}),
    );
    line(
        "response_item",
        json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\": \"git reset --hard HEAD\"}", "call_id": "call_1"}),
    );
    site.now = at - 59;
    site.git("reset -q --hard HEAD");
    let mut line = |kind: &str, payload: Value| {
        at += 2;
        let stamp = Time(at * 1_000).rfc3339_millis();
        log += &format!(
            "{}\n",
            json!({"timestamp": stamp, "type": kind, "payload": payload})
        );
    };
    line(
        "response_item",
        json!({"type": "function_call_output", "call_id": "call_1", "output": "Process exited with code 0\nOutput:\nHEAD is now at 1234567 first"}),
    );
    line(
        "response_item",
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}),
    );
    site.desk.write(
        &format!(".codex/sessions/2026/06/01/rollout-2026-06-01T10-00-00-{id}.jsonl"),
        &log,
    );
    site.run();
    assert_eq!(told(&site)[1..], ["reset --hard codex command"]);
}

/// Writes a file so many seconds after the last record.
fn write_at(site: &Site, path: &str, text: &str, seconds: i64) {
    site.write(path, text);
    let at = u64::try_from(site.now + seconds).unwrap();
    let file = fs::File::options().write(true).open(site.repo.join(path));
    file.unwrap()
        .set_modified(UNIX_EPOCH + Duration::from_secs(at))
        .unwrap();
}

#[test]
fn a_file_is_whose_edit_wrote_it() {
    let mut site = Site::new();
    let config = json!({"version": "1.0", "projects": {"desk__app": {
        "project_root": site.repo, "enabled": true, "patterns": [{"include": "**/*.py"}]}}});
    site.desk
        .write(".graphiti/tracking-config.json", &config.to_string());
    site.user("Write a.py");
    let path = site.repo.join("a.py");
    let edit = json!([{"type": "tool_use", "id": "toolu_w", "name": "Write", "input": {"file_path": path, "content": "a = 1\n"}}]);
    site.record(
        "assistant",
        &json!({"id": "msg_w", "role": "assistant", "model": "claude-sonnet-4-5", "content": edit}),
    );
    write_at(&site, "a.py", "a = 1\n", 9);
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_w", "content": "File created successfully"}]);
    site.record("user", &json!({"role": "user", "content": result}));
    site.agent("a.py is there.");
    write_at(&site, "b.py", "b = 1\n", 30);
    write_at(&site, "old.py", "o = 1\n", -90_000);
    site.user("thanks");
    site.run();
    let found = site.ask("search --source filesystem_watch -n 50");
    let mut told: Vec<String> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| {
            format!(
                "{} {}",
                hit["title"].as_str().unwrap(),
                hit["agent"].as_str().unwrap()
            )
        })
        .collect();
    told.sort();
    assert_eq!(told, ["a.py claude", "b.py person", "old.py unknown"]);
}
