//! Asking a language model about unknown tools: a real server, both shapes, every fault; and that
//! without consent no byte leaves.

use super::server::{Reply, Server, agreed};
use super::world::Desk;
use crate::cli::Exit;
use crate::model::consent::{Endpoint, Permit, endpoint_text};
use crate::net::http::{Http, HttpOptions};
use crate::net::llm::{ApiStyle, Llm};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::rc::Rc;

const SESSION: &str = "0b0b0b0b-0000-4000-8000-0000000000e1";
const LOG: &str = ".claude/projects/-home-ada-x/0b0b0b0b-0000-4000-8000-0000000000e1.jsonl";
const CACHE: &str = ".graphiti/tool_classification_cache.json";

/// What a model says of both tools.
fn said() -> String {
    json!({"classifications": [
        {"tool_name": "mcp__zorp__frobnicate", "intent": "modify", "domain": "documentation",
         "confidence": 0.9, "reasoning": "x", "activity_signals": {"documenting": 1.0}},
        {"tool_name": "Bash(acme frobnicate)", "intent": "configure", "domain": "process",
         "confidence": 0.8, "reasoning": "x", "activity_signals": {"configuring": 0.1}},
    ]})
    .to_string()
}

fn openai(text: &str) -> String {
    json!({"choices": [{"message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 5}})
    .to_string()
}

fn anthropic(text: &str) -> String {
    json!({"content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 7, "output_tokens": 5}})
    .to_string()
}

/// A desk with one session that uses two unknown tools, and a model at `server`.
fn desk(server: &str, shape: &str) -> Desk {
    let desk = Desk::new();
    let record = |n: u32, more: Value| {
        let mut record = json!({"uuid": format!("0b0b0b0b-0000-4000-8000-{n:012}"),
            "sessionId": SESSION, "cwd": "/home/ada/x",
            "timestamp": format!("2026-05-31T10:00:{n:02}.000Z")});
        let record_map = record.as_object_mut().expect("an object");
        record_map.extend(more.as_object().expect("an object").clone());
        record.to_string() + "\n"
    };
    let call = |name: &str, input: Value, id: &str| {
        json!({"type": "assistant", "message": {"id": format!("m{id}"), "role": "assistant",
            "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
    };
    let result = |id: &str| {
        json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "secret output"}]}})
    };
    let prompt =
        json!({"type": "user", "message": {"role": "user", "content": "go on, private words"}});
    let log = [
        record(1, prompt),
        record(
            2,
            call("mcp__zorp__frobnicate", json!({"q": "private value"}), "t1"),
        ),
        record(3, result("t1")),
        record(
            4,
            call(
                "Bash",
                json!({"command": "acme frobnicate --private | tail"}),
                "t2",
            ),
        ),
        record(5, result("t2")),
    ];
    desk.write(LOG, &log.concat());
    let settings = json!({"session_tracking": {"enabled": true},
        "llm": {"endpoint": server, "shape": shape, "model": "m", "key_env": "LLM_KEY",
            "timeout_s": 1}});
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    desk.write(".graphiti/env", "# keys\nLLM_KEY=from-the-file\n");
    mode(&desk, 0o600);
    desk
}

fn mode(desk: &Desk, mode: u32) {
    let mode = fs::Permissions::from_mode(mode);
    fs::set_permissions(desk.path(".graphiti/env"), mode).unwrap();
}

fn agree(desk: &Desk, server: &str) {
    let endpoint: Endpoint = server.parse().unwrap();
    let words = endpoint_text(&endpoint);
    let ran = desk.run(&format!(
        "sessionmill consent give {server} --confirm \"{words}\""
    ));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
}

fn activity(desk: &Desk) -> Value {
    let json = desk.run("sessionmill sessions --json").json();
    json["sessions"][0]["activity"].clone()
}

#[test]
fn one_call_teaches_all_unknown_tools_and_the_second_run_asks_nothing() {
    for (shape, path, key, says) in [
        (
            "openai",
            "/chat/completions",
            "authorization: bearer from-the-file",
            openai(&said()),
        ),
        (
            "anthropic",
            "/v1/messages",
            "x-api-key: from-the-file",
            anthropic(&said()),
        ),
    ] {
        let server = Server::new(vec![Reply::Says(200, "", says)]);
        let desk = desk(&server.endpoint, shape);
        agree(&desk, &server.endpoint);
        desk.run("sessionmill run --steps ingest,report");
        assert_eq!(activity(&desk)["primary"], "mixed");
        let planned = desk.run("sessionmill plan").stdout;
        assert!(planned.contains("2 unknown tools"), "{planned}");
        assert_eq!(server.asked().len(), 0);

        let ran = desk.run("sessionmill run --json").json();
        assert_eq!(
            (&ran["tools_asked"], &ran["tools_learned"]),
            (&json!(2), &json!(2))
        );
        assert_eq!(ran["llm_tokens"], 12);
        assert_eq!(ran["bytes_read"], 0, "no log is read again");
        assert_eq!(ran["episodes_changed"], 0, "nothing is delivered again");
        let asked = server.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].line, format!("POST {path}"));
        assert!(
            asked[0].headers.iter().any(|h| h == key),
            "{:?}",
            asked[0].headers
        );
        assert!(!asked[0].text.contains("private"), "{}", asked[0].text);
        assert_eq!(asked[0].body["model"], "m");
        assert_eq!(activity(&desk)["primary"], "documenting");

        let again = desk.run("sessionmill run --json").json();
        assert_eq!(again["tools_asked"], 0);
        assert_eq!(server.asked().len(), 0);
        let mode = fs::metadata(desk.path(CACHE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn without_consent_no_connection_is_made_and_the_command_is_named() {
    let server = Server::new(vec![Reply::Says(200, "", openai(&said()))]);
    let desk = desk(&server.endpoint, "openai");
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    let command = format!("hint: sessionmill consent give {}", server.endpoint);
    assert!(ran.stderr.contains(&command), "{}", ran.shown());
    assert!(server.asked().is_empty());
    agree(&desk, &server.endpoint);
    desk.run(&format!("sessionmill consent revoke {}", server.endpoint));
    assert_eq!(desk.run("sessionmill run").exit, Exit::Usage);
    assert!(server.asked().is_empty());
}

#[test]
fn a_model_that_fails_holds_nothing_up() {
    for (replies, says, asks_again) in [
        (vec![Reply::Says(400, "", "x".into())], "answers 400", true),
        (
            vec![Reply::Says(200, "", "{\"cho".into())],
            "the answer is not JSON",
            true,
        ),
        (
            vec![Reply::Says(200, "", "{\"other\": 1}".into())],
            "the answer has no text",
            true,
        ),
        (
            vec![Reply::Says(200, "", openai("I can't."))],
            "could not be classified",
            false,
        ),
        (
            vec![Reply::Says(
                307,
                "location: http://127.0.0.1:1/\r\n",
                "".into(),
            )],
            "answers 307",
            true,
        ),
    ] {
        let server = Server::new(replies);
        let desk = desk(&server.endpoint, "openai");
        agree(&desk, &server.endpoint);
        let ran = desk.run("sessionmill run");
        // time mends a question that is refused, and no address that is wrong
        let exit = match says {
            "answers 400" | "could not be classified" => Exit::Done,
            _ => Exit::Partial,
        };
        assert_eq!(ran.exit, exit, "{}", ran.shown());
        assert!(ran.stderr.contains(says), "{says}: {}", ran.shown());
        assert_eq!(server.asked().len(), 1);
        assert_eq!(activity(&desk)["primary"], "mixed");
        desk.run("sessionmill run");
        assert_eq!(!server.asked().is_empty(), asks_again, "{says}");
    }
}

#[test]
fn a_cache_that_is_none_is_told_and_stays_as_it_is() {
    let server = Server::new(vec![Reply::Says(200, "", openai(&said()))]);
    let desk = desk(&server.endpoint, "openai");
    agree(&desk, &server.endpoint);
    desk.write(CACHE, "{broken");
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Done);
    assert!(
        ran.stderr.contains("is not a tool cache"),
        "{}",
        ran.shown()
    );
    assert_eq!(fs::read_to_string(desk.path(CACHE)).unwrap(), "{broken");
    assert!(server.asked().is_empty(), "the answer could not be kept");
}

#[test]
fn what_other_tools_learned_is_used_and_kept() {
    let server = Server::new(vec![Reply::Says(200, "", openai(&said()))]);
    let desk = desk(&server.endpoint, "openai");
    agree(&desk, &server.endpoint);
    let row = json!({"tool_name": "mcp__zorp__frobnicate", "tool_params": null, "theirs": 1,
        "intent": "read", "domain": "code", "confidence": 0.9, "reasoning": "theirs",
        "activity_signals": {"reviewing": 1.0}});
    let theirs = json!({"exact": {}, "pattern": {"mcp__zorp__frobnicate": row}, "version": 3});
    desk.write(CACHE, &theirs.to_string());
    let ran = desk.run("sessionmill run --json").json();
    assert_eq!(ran["tools_asked"], 1);
    let kept: Value = serde_json::from_str(&fs::read_to_string(desk.path(CACHE)).unwrap()).unwrap();
    assert_eq!(kept["version"], 3);
    assert_eq!(kept["pattern"]["mcp__zorp__frobnicate"], row);
    assert_eq!(
        kept["pattern"]["Bash(acme frobnicate)"]["intent"],
        "configure"
    );
    assert_eq!(activity(&desk)["primary"], "reviewing");
    // passed over, the cache is as good as none: nothing is known of either tool, and both are asked about
    let line = "sessionmill sessions --json --no-tool-cache";
    let without = desk.run(line).json()["sessions"][0]["activity"].clone();
    assert_eq!(without["primary"], "mixed");
    let explained = desk
        .run(&format!("sessionmill show {SESSION} --explain"))
        .stdout;
    let wants = "  0.58  commands and tools: mcp__zorp__frobnicate (1)\n";
    assert!(explained.starts_with("reviewing (1.0)\n"), "{explained}");
    assert!(explained.contains(wants), "{explained}");
    let again = desk.run("sessionmill run --json --no-tool-cache").json();
    assert_eq!(again["tools_asked"], 2);
}

#[test]
fn a_key_that_others_may_read_or_that_is_missing_is_refused_before_the_run() {
    let server = Server::new(vec![Reply::Says(200, "", openai(&said()))]);
    let desk = desk(&server.endpoint, "openai");
    agree(&desk, &server.endpoint);
    mode(&desk, 0o644);
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.stderr.contains("hint: chmod 600"), "{}", ran.shown());
    fs::remove_file(desk.path(".graphiti/env")).unwrap();
    let ran = desk.run("sessionmill run");
    assert!(ran.stderr.contains("LLM_KEY is not set"), "{}", ran.shown());
    assert!(server.asked().is_empty());
}

/// Asks once, with waits that are only noted.
fn ask(endpoint: &str, timeout_ms: u64) -> (Result<String, String>, Vec<u64>) {
    let endpoint: Endpoint = endpoint.parse().unwrap();
    let permit = Permit::of(&endpoint, &[agreed(&endpoint)]).unwrap();
    let waits = Rc::new(RefCell::new(Vec::new()));
    let noted = Rc::clone(&waits);
    let options = HttpOptions {
        timeout_ms,
        ..HttpOptions::default()
    };
    let sleep = Box::new(move |ms| noted.borrow_mut().push(ms));
    let llm = Llm {
        http: Http::with_sleep(&options, sleep).unwrap(),
        shape: ApiStyle::OpenAi,
        model: "m".into(),
        key: None,
    };
    let answer = llm.ask(&permit, "p", 10);
    let waited = waits.borrow().clone();
    (answer.map(|a| a.text).map_err(|e| e.to_string()), waited)
}

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    let fine = || Reply::Says(200, "", openai("fine"));
    let busy = |headers| Reply::Says(429, headers, String::new());
    let broken = || Reply::Says(503, "", String::new());
    for (replies, wants, waits) in [
        (
            vec![busy("retry-after: 7\r\n"), fine()],
            Ok("fine"),
            vec![7_000],
        ),
        (
            vec![broken(), broken(), fine()],
            Ok("fine"),
            vec![500, 1_000],
        ),
        (vec![Reply::Cut("{".into()), fine()], Ok("fine"), vec![500]),
        (vec![broken()], Err("answers 503"), vec![500, 1_000, 2_000]),
        (
            vec![busy("retry-after: 3600\r\n")],
            Err("answers 429"),
            vec![],
        ),
    ] {
        let server = Server::new(replies);
        let (answer, waited) = ask(&server.endpoint, 5_000);
        match (answer, wants) {
            (Ok(text), Ok(wants)) => assert_eq!(text, wants),
            (Err(said), Err(wants)) => assert_eq!(said, format!("{}: {wants}", server.endpoint)),
            (answer, wants) => panic!("{answer:?}, wanted {wants:?}"),
        }
        assert_eq!(waited, waits);
        assert_eq!(server.asked().len(), waits.len() + 1);
    }
}

#[test]
fn a_server_that_hangs_or_is_not_there_is_given_up() {
    let server = Server::new(vec![Reply::Hangs]);
    let (answer, waits) = ask(&server.endpoint, 100);
    assert!(answer.unwrap_err().ends_with("no answer in time"));
    assert_eq!((waits.len(), server.asked().len()), (0, 1));
    let (answer, waits) = ask("http://127.0.0.1:1", 1_000);
    assert!(answer.unwrap_err().contains("connection refused"));
    assert_eq!(waits, [500, 1_000, 2_000]);
}
