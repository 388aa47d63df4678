//! The server for agents, as agents meet it: the real program at the other end of two pipes, or of a
//! socket.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start processes and speak with them"
)]

mod client;
mod http;
mod meaning;
mod official;
mod tracking;

use client::{Client, Home};
use serde_json::{Value, json};

const SHOP: &str = "/home/ada/shop-api";
const SHOP_NAMESPACE: &str = "0d2640ea";
/// Of the shop.
const SESSION: &str = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e002";
const NOTES_NAMESPACE: &str = "bc892435";
/// Of the notes.
const OTHER_SESSION: &str = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e004";

/// The namespaces that an answer names.
fn namespaces(text: &str) -> Vec<&str> {
    let named = text.match_indices("[namespace: ");
    let mut all: Vec<&str> = named
        .map(|(at, mark)| &text[at + mark.len()..][..8])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn cursor(text: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once("\nmore: cursor=")?;
    rest.split_whitespace().next().map(str::to_owned)
}

#[test]
fn every_tool_answers_briefly_and_names_where_it_is_from() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[]);
    let tools = client.ask("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let arguments = match name {
            "search_memory_nodes" => json!({"query": "session store"}),
            "search_sessions" => json!({"query": "redis"}),
            "get_session" => json!({"session": SESSION}),
            "why" => json!({"question": "why redis?"}),
            "recall" => json!({"question": "which session store?", "project": SHOP}),
            "add_memory" => json!({"name": "Owls", "episode_body": "Owls hoot.", "project": SHOP}),
            "promote" => json!({"kind": "lesson", "text": "Owls sleep.", "project": SHOP}),
            name if tracking::TOOLS.contains(&name) => continue,
            _ => json!({}),
        };
        let text = client.call(name, arguments).unwrap();
        assert!(text.len() <= 4_096, "{name}: {} bytes", text.len());
        let wants = match name {
            "session_tracking_status" => "remembered: ",
            "recall" => "</graphiti_memory>",
            "add_memory" | "promote" => "kept: memory ",
            _ => "[namespace: ",
        };
        assert!(text.contains(wants), "{name}: {text}");
    }
    let said = client.leave();
    assert_eq!(said.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&said.stderr), "");
}

#[test]
fn garbage_is_answered_and_the_next_question_too() {
    let home = Home::new(json!({}));
    let mut client = Client::silent(&home, &[]);
    client.line("not even json");
    assert_eq!(client.odd()["error"]["code"], -32_700);
    client.line("[1, 2]");
    assert_eq!(client.odd()["error"]["code"], -32_600);
    client.line(&format!("{{\"x\": \"{}\"}}", "y".repeat(5 << 20)));
    assert_eq!(client.odd()["error"]["code"], -32_700);
    let hello = json!({"protocolVersion": "2099-01-01", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    assert!(client.ask("initialize", hello)["result"]["protocolVersion"].is_string());
    for (method, params) in [
        ("tools/call", json!({"name": "rm_rf"})),
        ("tools/call", json!({"nothing": 1})),
        ("resources/read", json!({"uri": "file:///etc/passwd"})),
        ("resources/read", json!({"uri": "session://"})),
        ("no/such/method", json!({})),
    ] {
        let answer = client.ask(method, params.clone());
        assert!(
            answer["error"]["code"].is_i64(),
            "{method} {params}: {answer}"
        );
    }
    for (tool, arguments) in [
        ("search_memory_nodes", json!({})),
        ("search_memory_nodes", json!({"query": 5})),
        (
            "search_memory_nodes",
            json!({"query": "x", "filepath": "/etc/passwd"}),
        ),
        (
            "search_memory_nodes",
            json!({"query": "x", "cursor": "1.2"}),
        ),
        (
            "search_memory_nodes",
            json!({"query": "x", "project_namespaces": ["not-a-hash!"]}),
        ),
        (
            "search_memory_nodes",
            json!({"query": "x", "include_sources": ["rumour"]}),
        ),
        ("get_session", json!({"session": "zzzz"})),
        ("get_session", json!({"session": ""})),
        ("get_session", json!({"session": SESSION, "cursor": "page"})),
        (
            "get_session",
            json!({"session": SESSION, "cursor": "0123.4"}),
        ),
        ("recent", json!({"project": "shop"})),
        ("why", json!({"question": "why did we do that?"})),
    ] {
        let answer = client.call(tool, arguments.clone());
        assert!(answer.is_err(), "{tool} {arguments}: {answer:?}");
    }
    assert!(client.call("recent", json!({})).is_ok());
    assert_eq!(client.leave().status.code(), Some(0));
}

#[test]
fn without_a_store_it_says_what_to_do() {
    let home = Home::empty(json!({}));
    let mut client = Client::new(&home, &[]);
    let told = client.call("recent", json!({})).unwrap_err();
    assert!(told.contains("hint: sessionmill run"), "{told}");
    let told = client.call("session_tracking_status", json!({})).unwrap();
    assert!(told.contains("remembered: 0 sessions"), "{told}");
}

/// 000-026, 000-080, 000-105, D14.
#[test]
fn isolation_shows_the_clients_project_or_nothing() {
    let home = Home::new(json!({"cross_project_search": false}));
    let search = || json!({"query": "the", "max_nodes": 50, "max_bytes": 60_000});
    let mut lost = Client::new(&home, &[]);
    for tool in ["search_memory_nodes", "search_sessions"] {
        let told = lost.call(tool, json!({"query": "redis"})).unwrap_err();
        assert!(told.contains("cross_project_search"), "{told}");
    }
    assert!(lost.call("recent", json!({})).is_err());
    assert!(
        lost.call("get_session", json!({"session": SESSION}))
            .is_err()
    );
    assert!(lost.ask("resources/list", json!({}))["error"].is_object());
    let uri = format!("session://{SESSION}");
    assert!(lost.ask("resources/read", json!({"uri": uri}))["error"].is_object());
    let named = lost.call("recent", json!({"project": SHOP})).unwrap();
    assert_eq!(namespaces(&named), [SHOP_NAMESPACE]);
    let mut at_home = Client::new(&home, &[SHOP]);
    for (tool, arguments) in [
        ("search_memory_nodes", search()),
        ("search_sessions", json!({"max_sessions": 50})),
        ("recent", json!({})),
        ("why", json!({"question": "redis"})),
        ("get_session", json!({"session": SESSION})),
    ] {
        let told = at_home.call(tool, arguments).unwrap();
        assert_eq!(namespaces(&told), [SHOP_NAMESPACE], "{tool}: {told}");
    }
    let absent = at_home.call("get_session", json!({"session": OTHER_SESSION}));
    assert!(absent.unwrap_err().contains("there is no session"));
    let list = at_home.ask("resources/list", json!({}));
    assert_eq!(namespaces(&list.to_string()), [SHOP_NAMESPACE]);
    // 000-079: what is asked for by name wins
    let mut asked = search();
    asked["project_namespaces"] = json!([NOTES_NAMESPACE]);
    let told = at_home.call("search_memory_nodes", asked).unwrap();
    assert_eq!(namespaces(&told), [NOTES_NAMESPACE]);
}

/// 000-081, 000-106.
#[test]
fn an_allow_list_shows_what_it_lists() {
    let home = Home::new(json!({"trusted_namespaces": [NOTES_NAMESPACE]}));
    let mut client = Client::new(&home, &[SHOP]);
    let told = client
        .call("search_sessions", json!({"max_sessions": 50}))
        .unwrap();
    assert_eq!(namespaces(&told), [NOTES_NAMESPACE]);
    assert!(
        client
            .call("get_session", json!({"session": SESSION}))
            .is_err()
    );
    assert!(
        client
            .call("get_session", json!({"session": OTHER_SESSION}))
            .is_ok()
    );
}

/// Runs git in a repository of the home; gives what it prints.
fn git(home: &Home, line: &str) -> String {
    let out = std::process::Command::new("git")
        .args([
            "-C",
            "app",
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.org",
        ])
        .args(line.split(' '))
        .current_dir(home.path())
        .env("HOME", home.path())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // all within one second, as a script's commands are
        .env("GIT_COMMITTER_DATE", "2026-06-01T09:00:00Z")
        .output()
        .unwrap();
    assert!(out.status.success(), "git {line}: {out:?}");
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

#[test]
fn what_became_of_a_commit_a_branch_and_a_file() {
    let home = Home::empty(json!({}));
    let on = r#"{"version": "1.0", "defaults": {"enabled": true}}"#;
    home.write(".graphiti/tracking-config.json", on);
    home.write("app/a", "1\n");
    git(&home, "init -q -b main");
    git(&home, "add -A");
    git(&home, "commit -q -m first");
    home.write("app/src/cache.py", "2\n");
    git(&home, "add -A");
    git(&home, "commit -q -m cache");
    let lost = git(&home, "rev-parse HEAD");
    git(&home, "reset -q --hard HEAD~1");
    let app = home.path().join("app").display().to_string();
    let prompt = json!({"type": "user", "uuid": "6f1c5b80-0000-4000-8000-000000000001",
        "parentUuid": null, "sessionId": "6f1c5b80-0000-4000-8000-0000000000aa", "cwd": app,
        "version": "2.0.1", "timestamp": "2026-06-01T09:00:00.000Z",
        "message": {"role": "user", "content": "hello"}});
    let log = ".claude/projects/-app/6f1c5b80-0000-4000-8000-0000000000aa.jsonl";
    home.write(log, &format!("{prompt}\n"));
    assert_eq!(home.run("run --quiet").status.code(), Some(0));
    let mut client = Client::new(&home, &[&app]);
    for asked in [
        json!({"commit": lost}),
        json!({"commit": lost[..8].to_uppercase()}),
        json!({"branch": "main"}),
        json!({"file": "./cache.py"}),
    ] {
        let told = client.call("why", asked.clone()).unwrap();
        let first = format!("undid: reset on main ({}..", &lost[..12]);
        assert!(told.starts_with(&first), "{asked}: {told}");
        assert!(
            told.contains("src/cache.py") && told.contains("[namespace: "),
            "{told}"
        );
    }
    let told = client.call("why", json!({"commit": "0123456"})).unwrap();
    assert!(
        told.starts_with("no session and no git operation"),
        "{told}"
    );
    for wrong in [
        json!({"commit": "no hash"}),
        json!({"commit": lost, "branch": "main"}),
        json!({"file": "a", "question": "why a?"}),
        json!({}),
    ] {
        assert!(client.call("why", wrong.clone()).is_err(), "{wrong}");
    }
    // isolation holds for git too
    let elsewhere = json!({"commit": lost, "project_namespaces": ["ffffffff"]});
    let told = client.call("why", elsewhere).unwrap();
    assert!(
        told.starts_with("no session and no git operation"),
        "{told}"
    );
}

#[test]
fn a_commit_is_found_where_a_session_names_it() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[SHOP]);
    let told = client.call("why", json!({"commit": "9d1c2e7"})).unwrap();
    assert!(
        told.contains("told: 9d1c2e7 Compare JWT expiry in seconds"),
        "{told}"
    );
    assert!(
        told.contains(&format!("[namespace: {SHOP_NAMESPACE}")),
        "{told}"
    );
}

#[test]
fn hidden_paths_stay_hidden() {
    let home = Home::new(json!({"include_project_path": false}));
    let mut client = Client::new(&home, &[SHOP]);
    let mut told = String::new();
    for (tool, arguments) in [
        ("search_memory_nodes", json!({"query": "redis"})),
        ("search_sessions", json!({})),
        ("recent", json!({})),
        ("why", json!({"question": "redis"})),
        ("session_tracking_status", json!({})),
    ] {
        told += &client.call(tool, arguments).unwrap();
    }
    told += &client.ask("resources/list", json!({})).to_string();
    assert!(told.contains("[namespace: 0d2640ea]"), "{told}");
    let logs = home.path().join(".claude").display().to_string();
    assert!(
        !told.contains(", path: ") && !told.contains(&logs),
        "{told}"
    );
    assert!(!told.contains(&format!("project: {SHOP}")), "{told}");
}

#[test]
fn cursors_read_a_session_to_its_end() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[]);
    let shown = home.run(&format!("show {SESSION} --json"));
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let episodes = shown["episodes"].as_array().unwrap();
    let wants: String = episodes
        .iter()
        .map(|e| e["text"].as_str().unwrap())
        .collect();
    let (mut told, mut pieces) = (String::new(), 0);
    let mut at = None;
    loop {
        let arguments = json!({"session": SESSION, "max_bytes": 600, "cursor": at});
        let text = client.call("get_session", arguments).unwrap();
        assert!(text.len() <= 600, "{}", text.len());
        let is_page = at.as_ref().is_none_or(|at: &String| at.starts_with("page"));
        at = cursor(&text);
        let (body, _) = text.rsplit_once("\nmore: cursor=").unwrap_or((&text, ""));
        if is_page {
            continue;
        }
        pieces += 1;
        for line in body
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("--- "))
        {
            told.push_str(line);
        }
        if at.is_none() {
            break;
        }
    }
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(letters(&told), letters(&wants));
    assert!(pieces > 1);
}

#[test]
fn lists_go_on_where_they_ended_and_end() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[]);
    let (mut seen, mut at) = (Vec::new(), Value::Null);
    loop {
        let arguments = json!({"max_sessions": 3, "max_bytes": 512, "cursor": at});
        let text = client.call("search_sessions", arguments).unwrap();
        assert!(text.len() <= 512);
        let places = text.lines().filter(|line| line.starts_with("[namespace"));
        let ids = places.filter_map(|line| line.split_once(" session "));
        seen.extend(ids.map(|(_, rest)| rest.split(',').next().unwrap().to_owned()));
        match cursor(&text) {
            Some(next) => at = json!(next),
            None => break,
        }
    }
    let all = home.run("sessions --json -n 0");
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    let ids = all["sessions"].as_array().unwrap().iter();
    let ids: Vec<String> = ids.map(|s| s["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(seen, ids);
}

/// D62: a group is a filter.
#[test]
fn groups_are_a_filter() {
    let home = Home::new(json!({"group_id": "ours__global"}));
    let mut client = Client::new(&home, &[]);
    let mut found = |group: &str| {
        let arguments = json!({"query": "redis", "group_ids": [group]});
        client.call("search_memory_nodes", arguments).unwrap() != "nothing found\n"
    };
    assert!(found("ours__global"));
    assert!(!found("theirs__global"));
}

#[test]
fn a_cancelled_question_is_let_go_of() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[]);
    let arguments = json!({"name": "search_memory_nodes", "arguments": {"query": "redis"}});
    let asked: Vec<u64> = (0..20)
        .map(|_| client.send("tools/call", arguments.clone()))
        .collect();
    for id in &asked {
        let params = json!({"requestId": id, "reason": "changed my mind"});
        let told = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        client.line(&told.to_string());
    }
    let late = client.send("tools/call", arguments);
    assert_eq!(client.answer(late)["result"]["isError"], false);
    let answered = asked.iter().filter(|id| client.has_answered(**id)).count();
    assert!(answered < asked.len(), "all of them were answered");
}

#[test]
fn a_hundred_questions_at_once_while_a_run_writes() {
    let home = Home::new(json!({}));
    let prompt = |n: u32| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8001-{n:012x}\",\
             \"sessionId\":\"aaaaaaaa-0000-4000-8000-00000000cccc\",\"cwd\":\"{SHOP}\",\
             \"timestamp\":\"2026-03-20T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\
             \"content\":\"{}\"}}}}\n",
            "why does the cart forget its owls ".repeat(20)
        )
    };
    let log: String = (0..4_000).map(prompt).collect();
    home.write(
        ".claude/projects/-home-ada-shop-api/aaaaaaaa-0000-4000-8000-00000000cccc.jsonl",
        &log,
    );
    let mut client = Client::new(&home, &[]);
    let run = home.command("run --quiet").spawn().unwrap();
    let ask = |n: u64, client: &mut Client| {
        let (name, arguments) = match n % 4 {
            0 => ("search_memory_nodes", json!({"query": "redis OR owls"})),
            1 => ("search_sessions", json!({})),
            2 => ("get_session", json!({"session": SESSION})),
            _ => ("why", json!({"question": "redis"})),
        };
        client.send("tools/call", json!({"name": name, "arguments": arguments}))
    };
    let asked: Vec<u64> = (0..100).map(|n| ask(n, &mut client)).collect();
    for id in asked {
        let answer = client.answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(0));
    let owls = client
        .call("search_memory_nodes", json!({"query": "owls"}))
        .unwrap();
    assert!(owls.contains("owls"), "what the run wrote is found: {owls}");
}

#[test]
fn what_is_kept_is_found_and_what_may_not_be_kept_is_refused_without_a_word_of_it() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[SHOP]);
    let kept = json!({"kind": "decision", "text": "Zebrafish tests run nightly."});
    let first = client.call("promote", kept.clone()).unwrap();
    assert!(first.starts_with("kept: memory "), "{first}");
    let again = client.call("promote", kept).unwrap();
    assert!(again.contains("kept already"), "{again}");
    let found = client.call("search_memory_nodes", json!({"query": "zebrafish"}));
    assert!(
        found.as_ref().unwrap().contains("Zebrafish tests"),
        "{found:?}"
    );
    assert_eq!(namespaces(&found.unwrap()), [SHOP_NAMESPACE]);
    let question = json!({"question": "when do zebrafish tests run?"});
    let told = client.call("recall", question.clone()).unwrap();
    assert!(told.contains("Zebrafish tests run nightly."), "{told}");
    let key = ["AKIA", "Q3EGRIPXWBEXAMPL"].concat();
    for (tool, arguments) in [
        (
            "promote",
            json!({"kind": "lesson", "text": format!("The key is {key}")}),
        ),
        (
            "add_memory",
            json!({"name": "key", "episode_body": format!("aws {key}")}),
        ),
        (
            "add_memory",
            json!({"name": "x", "episode_body": "y", "filepath": "/etc/passwd"}),
        ),
        ("promote", json!({"kind": "rumour", "text": "x"})),
        ("promote", json!({"kind": "lesson", "text": " "})),
        (
            "promote",
            json!({"kind": "lesson", "text": "x", "scope": "global"}),
        ),
        (
            "promote",
            json!({"kind": "lesson", "text": "x", "scope": "session"}),
        ),
    ] {
        let refused = client.call(tool, arguments.clone()).unwrap_err();
        assert!(!refused.contains(&key), "{tool} {arguments}: {refused}");
    }
    // a project that an agent was told not to trust neither gives nor takes (D63)
    let trust = json!({"projects": {SHOP: {"hasTrustDialogAccepted": false}}});
    home.write(".claude.json", &trust.to_string());
    assert!(
        client
            .call("recall", question)
            .unwrap_err()
            .contains("not trusted")
    );
    let late = json!({"kind": "lesson", "text": "Owls hoot."});
    assert!(
        client
            .call("promote", late)
            .unwrap_err()
            .contains("not trusted")
    );
}

/// D63: whenever it was told so.
#[test]
fn a_project_that_is_not_trusted_any_more_is_as_absent_as_what_never_was() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[]);
    let all = json!({"query": "the", "max_nodes": 100, "max_bytes": 60_000});
    let told = client.call("search_memory_nodes", all.clone()).unwrap();
    assert!(namespaces(&told).contains(&SHOP_NAMESPACE), "{told}");
    let trust = json!({"projects": {SHOP: {"hasTrustDialogAccepted": false}}});
    home.write(".claude.json", &trust.to_string());
    for (tool, arguments) in [
        ("search_memory_nodes", all),
        (
            "search_sessions",
            json!({"max_sessions": 100, "max_bytes": 60_000}),
        ),
        ("recent", json!({"max_nodes": 100, "max_bytes": 60_000})),
    ] {
        let told = client.call(tool, arguments).unwrap();
        let seen = namespaces(&told);
        assert!(!seen.contains(&SHOP_NAMESPACE), "{tool}: {told}");
        assert!(seen.contains(&NOTES_NAMESPACE), "{tool}: {told}");
    }
    let list = client.ask("resources/list", json!({})).to_string();
    assert!(!namespaces(&list).contains(&SHOP_NAMESPACE), "{list}");
    for id in [SESSION, &SESSION[..SESSION.len() - 1]] {
        let told = client.call("get_session", json!({"session": id}));
        let told = told.unwrap_or_else(|error| error);
        assert!(!told.contains(SHOP), "{id}: {told}");
    }
    let told = client.call(
        "why",
        json!({"question": "redis", "project_namespaces": [SHOP]}),
    );
    assert!(told.unwrap_err().contains("not to trust"));
    home.write(".claude.json", "{");
    assert!(client.call("recent", json!({})).is_err(), "it fails closed");
}

/// An id that is too short names no session that the client may not see.
#[test]
fn what_begins_like_hidden_sessions_does_not_name_them() {
    let home = Home::new(json!({"cross_project_search": false}));
    let mut client = Client::new(&home, &[SHOP]);
    let told = client.call("get_session", json!({"session": "6b1f0a34"}));
    let told = told.unwrap_err();
    assert!(
        told.contains(SESSION) && !told.contains(OTHER_SESSION),
        "{told}"
    );
}

/// An agent has neither our options nor our commands.
#[test]
fn what_an_agent_is_told_to_do_it_can_do() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[SHOP]);
    for (tool, arguments) in [
        ("promote", json!({"kind": "lesson", "text": " "})),
        ("promote", json!({"kind": "rumour", "text": "x"})),
        ("search_memory_nodes", json!({"query": ""})),
        ("search_memory_nodes", json!({"query": "\"not closed"})),
        ("search_memory_nodes", json!({"query": "colour:red"})),
        ("get_session", json!({"session": "zzzz"})),
        ("why", json!({"question": "why?"})),
    ] {
        let told = client.call(tool, arguments.clone()).unwrap_err();
        let is_ours = told.contains("--") || told.contains("sessionmill ");
        assert!(!is_ours, "{tool} {arguments}: {told}");
    }
    let kept = json!({"kind": "lesson", "text": "Zebrafish sleep."});
    let kept = client.call("promote", kept).unwrap();
    let id = kept.split_whitespace().nth(2).unwrap();
    for (tool, arguments) in [
        ("search_memory_nodes", json!({"query": "zebrafish"})),
        ("recent", json!({})),
    ] {
        let told = client.call(tool, arguments).unwrap();
        assert!(told.contains(&format!(" memory {id}")), "{tool}: {told}");
        assert!(!told.contains("session memories-"), "{tool}: {told}");
    }
}

/// The newest revision has no handshake and lets no server ask for roots: the project is the tool's, or
/// nobody knows it.
#[test]
fn clients_of_the_newest_revision_name_their_project() {
    let home = Home::new(json!({"cross_project_search": false}));
    let mut client = Client::silent(&home, &[SHOP]);
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    });
    let mut ask = |method: &str, mut params: Value| {
        params["_meta"] = about.clone();
        client.ask(method, params)["result"].clone()
    };
    let known = ask("server/discover", json!({}));
    let versions = known["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{known}");
    let lost = ask("tools/call", json!({"name": "recent", "arguments": {}}));
    assert_eq!(lost["isError"], true, "{lost}");
    let named = json!({"name": "recent", "arguments": {"project": SHOP}});
    let named = ask("tools/call", named)["content"][0]["text"].to_string();
    assert_eq!(namespaces(&named), [SHOP_NAMESPACE]);
}

#[test]
fn agents_are_told_and_told_no_more() {
    let home = Home::empty(json!({}));
    let claude = "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"git\": {\"command\": \"git-mcp\"}\n  }\n}\n";
    let codex = "# mine\nmodel = \"gpt-5\"\n";
    let claude_file = home.write(".claude.json", claude);
    let codex_file = home.write(".codex/config.toml", codex);
    let read = |file: &std::path::Path| std::fs::read_to_string(file).unwrap();
    let dry = home.run("mcp install --agent claude --agent codex --dry-run");
    let told = String::from_utf8_lossy(&dry.stdout).into_owned();
    assert!(
        told.contains("+[mcp_servers.sessionmill]") && told.contains("+    \"sessionmill\""),
        "{told}"
    );
    assert_eq!(
        (read(&claude_file), read(&codex_file)),
        (claude.into(), codex.into())
    );
    for _ in 0..2 {
        let ran = home.run("mcp install --agent claude --agent codex");
        assert_eq!(ran.status.code(), Some(0));
    }
    let entry: Value = serde_json::from_str(&read(&claude_file)).unwrap();
    let entry = &entry["mcpServers"]["sessionmill"];
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_sessionmill"));
    assert_eq!(entry["args"], json!(["mcp"]));
    let status = home.run("mcp status --json");
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    for agent in status["agents"].as_array().unwrap() {
        assert_eq!(
            agent["program"],
            env!("CARGO_BIN_EXE_sessionmill"),
            "{agent}"
        );
    }
    assert_eq!(home.run("mcp remove").status.code(), Some(0));
    assert_eq!(
        (read(&claude_file), read(&codex_file)),
        (claude.into(), codex.into())
    );
    home.write(".codex/config.toml", "model = sk-secret");
    let refused = home.run("mcp install --agent codex");
    assert_eq!(refused.status.code(), Some(2));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        told.contains("it was not touched") && !told.contains("sk-secret"),
        "{told}"
    );
}
