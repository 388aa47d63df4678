//! What the protocol asks for: every tool answers, garbage is answered too, and many questions at once.

use super::client::Client;
use super::home::{Home, prompt};
use super::tracking;
use super::{SESSION, SHOP, SHOP_NAMESPACE, namespaces};
use serde_json::{Value, json};

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
            name => {
                assert!(
                    !tracking::TOOLS.contains(&name),
                    "{name}: no file is tracked"
                );
                json!({})
            }
        };
        let text = client.call(name, arguments).unwrap();
        assert!(text.len() <= 4_096, "{name}: {} bytes", text.len());
        let wants = match name {
            "session_tracking_status" => "remembered: ",
            "recall" => "</graphiti_memory>",
            "add_memory" | "promote" => "saved: memory ",
            _ => "[namespace: ",
        };
        assert!(text.contains(wants), "{name}: {text}");
    }
    let said = client.leave();
    assert_eq!(said.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&said.stderr), "");
}

#[test]
fn every_tool_of_sessions_takes_a_project() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[]);
    for (tool, mut arguments) in [
        (
            "search_memory_nodes",
            json!({"query": "session store redis"}),
        ),
        ("search_sessions", json!({"query": "redis"})),
        ("get_session", json!({"session": SESSION})),
        ("why", json!({"question": "why redis?"})),
        ("recent", json!({})),
        ("session_tracking_status", json!({})),
    ] {
        arguments["project"] = json!(SHOP);
        let text = client.call(tool, arguments).unwrap();
        assert!(text.contains(SHOP), "{tool}: {text}");
    }
}

/// A passage doesn't stop a line before the answer.
#[test]
fn a_passage_goes_on_to_what_was_said_of_it() {
    let home = Home::empty(json!({}));
    let asked = "Could we queue failed requests in Redis?";
    let undone = "Actually this won't work with our serverless setup, roll the Redis queue back.";
    let said = [asked, "Try it on a branch first.", undone];
    let log = said.iter().zip(1..);
    let log: String = log
        .map(|(said, minute)| prompt("s", SHOP, minute, said))
        .collect();
    home.write(".claude/projects/-p/s.jsonl", &log);
    assert_eq!(home.run("run --quiet").status.code(), Some(0));
    let mut client = Client::new(&home, &[]);
    for (tool, most) in [
        ("search_memory_nodes", "max_nodes"),
        ("search_sessions", "max_sessions"),
    ] {
        let asked = json!({"query": "queue failed requests in redis", most: 1});
        let text = client.call(tool, asked).unwrap();
        assert!(text.contains(undone), "{tool}: {text}");
    }
}

/// Who may read nothing yet is told what the user can type.
#[test]
fn without_a_store_the_next_step_depends_on_consent() {
    for (enabled, wants) in [
        (true, "sessionmill run"),
        (false, "if the user agrees: sessionmill init"),
    ] {
        let home = Home::empty(json!({}));
        home.configure(&json!({"session_tracking": {"enabled": enabled}}));
        let mut client = Client::new(&home, &[]);
        for (tool, arguments) in [
            ("recent", json!({})),
            (
                "recall",
                json!({"question": "which store?", "project": SHOP}),
            ),
        ] {
            let refused = client.call(tool, arguments).unwrap_err();
            assert!(
                refused.ends_with(&format!("hint: {wants}")),
                "{tool}: {refused}"
            );
        }
    }
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
        (
            "get_session",
            json!({"session": SESSION, "cursor": "summary"}),
        ),
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
    let session = "aaaaaaaa-0000-4000-8000-00000000cccc";
    let words = "why does the cart forget its owls ".repeat(20);
    let log: String = (0..4_000)
        .map(|n| prompt(session, SHOP, n, &words))
        .collect();
    let folder = ".claude/projects/-home-ada-shop-api";
    home.write(&format!("{folder}/{session}.jsonl"), &log);
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
