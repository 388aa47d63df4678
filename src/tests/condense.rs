//! Long messages, condensed by a language model (D61): each once, within the budget, and nothing is
//! delivered before. The model is a real server on loopback; the clock is the test's.

use super::forget::{desk, holds, said};
use super::server::{Asked, Reply, Server};
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::fs;

const LOG: &str = ".claude/projects/-w/aaaa.jsonl";
const PROJECT: &str = "shop";

/// A long text in which a word stands.
fn long(word: &str) -> String {
    format!(
        "{word} {}to the very end",
        "and then some more words ".repeat(100)
    )
}

/// A record of the session in its project.
fn record(desk: &Desk, nth: u32, kind: &str, text: &str) -> String {
    said(
        "aaaa",
        &desk.path(PROJECT).to_string_lossy(),
        nth,
        kind,
        text,
    )
}

/// A prompt and an answer that are long, and two that are short.
fn log(desk: &Desk) -> String {
    record(desk, 1, "user", &long("zebrafish"))
        + &record(desk, 2, "assistant", &long("walrus"))
        + &record(desk, 3, "user", "please go on")
        + &record(desk, 4, "assistant", "It is done.")
}

/// How many messages a question is about.
fn asked_about(asked: &Asked) -> usize {
    question(asked).matches("# Message ").count()
}

fn question(asked: &Asked) -> String {
    asked.body["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn says(text: &str) -> Reply {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 100}});
    Reply::Says(200, "", body.to_string())
}

/// Says what each message is about.
fn condenses(asked: &Asked) -> Reply {
    let question = question(asked);
    let words = ["zebrafish", "walrus", "ocelot", "heron", "lynx"];
    let (messages, _) = question.split_once("# Answer").unwrap_or((&question, ""));
    let each = messages.split("# Message ").skip(1).zip(1..);
    let said = each.map(|(message, nth)| {
        // where it was said stands before
        let said = message.rsplit("BEGIN ").next().unwrap_or(message);
        let said = said.split("END ").next().unwrap_or(said);
        let word = words.iter().find(|word| said.contains(*word));
        let word = word.unwrap_or(&"nothing");
        (
            nth.to_string(),
            json!(format!("All about the {word}, in short.")),
        )
    });
    says(&Value::Object(said.collect()).to_string())
}

fn busy(_: &Asked) -> Reply {
    Reply::Says(429, "retry-after: 61\r\n", String::new())
}

fn templates() -> Value {
    json!({"user_messages": "default-user-messages.md", "agent_messages": "default-agent-messages.md"})
}

fn configure(desk: &Desk, endpoint: Option<&str>, filter: &Value, tracking: Value, llm: Value) {
    let mut settings = json!({
        "session_tracking": {"enabled": true, "filter": filter},
        "sinks": {"export": {"kind": "jsonl", "path": "~/out"}},
    });
    for (key, value) in tracking.as_object().into_iter().flatten() {
        settings["session_tracking"][key] = value.clone();
    }
    if let Some(endpoint) = endpoint {
        settings["llm"] = json!({"endpoint": endpoint, "model": "m", "timeout_s": 1});
        for (key, value) in llm.as_object().into_iter().flatten() {
            settings["llm"][key] = value.clone();
        }
    }
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
}

/// A desk a day after the session, with a model that was agreed to.
fn asking(
    reply: impl FnMut(&Asked) -> Reply + Send + 'static,
    filter: &Value,
    more: [Value; 2],
) -> (Desk, Server) {
    let (mut desk, server) = (desk(), Server::answering(reply));
    desk.now = Time::parse("2026-05-21T12:00:00Z").unwrap();
    let [tracking, llm] = more;
    configure(&desk, Some(&server.endpoint), filter, tracking, llm);
    let text = endpoint_text(&server.endpoint.parse().unwrap());
    run(
        &desk,
        &format!("consent give {} --confirm \"{text}\"", server.endpoint),
    );
    desk.write(LOG, &log(&desk));
    (desk, server)
}

const NOTHING: [Value; 2] = [Value::Null, Value::Null];

fn run(desk: &Desk, line: &str) -> Ran {
    let ran = desk.run(&format!("sessionmill {line}"));
    assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
    ran
}

fn delivered(ran: &Ran) -> Value {
    ran.json()["sinks"][0]["delivered"].clone()
}

fn text(desk: &Desk) -> String {
    run(desk, "show aaaa --full").stdout
}

/// Everything that the sink got.
fn sent(desk: &Desk) -> String {
    let files = fs::read_dir(desk.path("out")).into_iter().flatten();
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap_or_default());
    texts.collect()
}

#[test]
fn long_messages_are_condensed_once_and_nothing_is_delivered_before() {
    let (desk, server) = asking(condenses, &templates(), NOTHING);
    let ran = run(&desk, "run --steps ingest,upload,report --json");
    assert_eq!(delivered(&ran), 0, "{}", ran.shown());
    let planned = run(&desk, "plan --json").json();
    assert_eq!(planned["messages"]["messages"], 2, "{planned}");
    let planned = run(&desk, "plan").stdout;
    assert!(
        planned.contains("to condense 2 long messages in the store"),
        "{planned}"
    );
    assert!(text(&desk).contains("to the very end") && server.asked().is_empty());

    let ran = run(&desk, "run --json");
    let asked = server.asked();
    assert_eq!(
        (asked.len(), asked_about(&asked[0])),
        (1, 2),
        "in one question"
    );
    assert!(question(&asked[0]).contains("Summarize this user message in 1 paragraph or less"));
    assert_eq!(ran.json()["messages_condensed"], 2);
    assert_eq!(ran.json()["llm_tokens"], 1_000);
    assert_eq!(delivered(&ran), 2, "the chunk and the summary");
    let shown = text(&desk);
    for words in [
        "User (condensed): All about the zebrafish, in short.",
        "Agent (condensed): All about the walrus, in short.",
        "User: please go on",
        "Agent: It is done.",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("to the very end") && !sent(&desk).contains("to the very end"));
    let found = |word: &str| {
        desk.run(&format!("sessionmill search {word} --json"))
            .json()["hits"]
            .to_string()
    };
    assert!(found("short").contains("aaaa") && !found("very").contains("aaaa"));

    // again is nothing, and so is reading all of it again
    let store = || fs::read(desk.path(".graphiti/sessionmill.db")).unwrap();
    let before = store();
    run(&desk, "run");
    assert!(before == store());
    let again = run(&desk, "run --rebuild --all --json");
    assert_eq!((delivered(&again), server.asked().len()), (json!(0), 0));
    assert_eq!(text(&desk), shown);

    // what is said later doesn't touch it
    let more = record(&desk, 5, "user", &long("ocelot"));
    desk.write(LOG, &(log(&desk) + &more));
    run(&desk, "run");
    let asked = server.asked();
    assert_eq!((asked.len(), asked_about(&asked[0])), (1, 1));
    assert!(question(&asked[0]).contains("\nocelot and then"));
    assert!(
        text(&desk).contains("All about the ocelot")
            && text(&desk).contains("All about the zebrafish")
    );
}

#[test]
fn a_model_that_is_away_is_asked_again_and_then_messages_stay_in_full() {
    let resilience =
        json!({"resilience": {"retry_queue": {"max_retries": 1, "retry_delays_seconds": [300]}}});
    let (mut desk, server) = asking(busy, &templates(), [resilience, Value::Null]);
    let ran = desk.run("sessionmill run --json");
    assert_eq!(
        (server.asked().len(), delivered(&ran)),
        (1, json!(0)),
        "{}",
        ran.shown()
    );
    assert!(
        ran.stderr.contains("wait to be condensed"),
        "{}",
        ran.shown()
    );
    run(&desk, "run");
    assert!(server.asked().is_empty(), "too early");
    desk.now = Time(desk.now.0 + 301_000);
    let ran = run(&desk, "run --json");
    assert_eq!(
        (server.asked().len(), delivered(&ran)),
        (1, json!(2)),
        "{}",
        ran.shown()
    );
    assert!(text(&desk).contains("to the very end") && sent(&desk).contains("to the very end"));
    run(&desk, "run");
    assert!(server.asked().is_empty(), "given up");
    run(&desk, "run --ask-again");
    assert_eq!(server.asked().len(), 1, "until somebody asks for it");
}

#[test]
fn without_a_model_messages_stay_in_full_and_it_is_said() {
    let mut desk = desk();
    desk.now = Time::parse("2026-05-21T12:00:00Z").unwrap();
    let mut filter = templates();
    filter["tool_content"] = "own.md".into();
    configure(&desk, None, &filter, Value::Null, Value::Null);
    desk.write(LOG, &log(&desk));
    assert_eq!(delivered(&run(&desk, "run --json")), 2);
    assert!(sent(&desk).contains("to the very end"));
    let doctor = desk.run("sessionmill doctor").stdout;
    for key in ["user_messages", "agent_messages", "tool_content"] {
        assert!(
            doctor.contains(&format!("session_tracking.filter.{key} names a template")),
            "{doctor}"
        );
    }
    let shown = run(&desk, "config show").stdout;
    assert!(
        shown.contains("no language model is configured (`llm`): kept in full"),
        "{shown}"
    );
    assert!(
        shown.contains("no language model is configured (`llm`): the digest alone"),
        "{shown}"
    );
}

#[test]
fn a_model_that_is_no_more_holds_nothing_back() {
    let (desk, server) = asking(busy, &templates(), NOTHING);
    desk.run("sessionmill run");
    assert!(!sent(&desk).contains("zebrafish"));
    configure(&desk, None, &templates(), Value::Null, Value::Null);
    assert_eq!(delivered(&run(&desk, "run --json")), 2);
    assert!(sent(&desk).contains("zebrafish and then") && server.asked().len() == 1);
}

#[test]
fn the_budget_bounds_what_is_asked_and_the_rest_waits() {
    // one message takes about 500 tokens and its answer up to 600
    let llm = json!({"max_tokens_per_run": 1_600});
    let (desk, server) = asking(condenses, &templates(), [Value::Null, llm]);
    let ran = run(&desk, "run --json");
    assert_eq!(
        (
            server.asked().len(),
            ran.json()["messages_condensed"].clone()
        ),
        (1, json!(1))
    );
    assert_eq!(delivered(&ran), 0, "the other one waits");
    let ran = run(&desk, "run --json");
    assert_eq!(
        (
            server.asked().len(),
            ran.json()["messages_condensed"].clone()
        ),
        (1, json!(1))
    );
    assert_eq!(delivered(&ran), 2);

    let llm = json!({"max_tokens_per_run": 300});
    let (desk, server) = asking(condenses, &templates(), [Value::Null, llm]);
    let ran = run(&desk, "run --json");
    assert_eq!(
        (server.asked().len(), delivered(&ran)),
        (0, json!(2)),
        "no run could ever ask"
    );
    assert!(
        run(&desk, "run --rebuild --all")
            .stdout
            .contains("2 left as they are"),
        "{}",
        ran.shown()
    );
}

#[test]
fn an_answer_of_no_use_costs_its_message_and_no_other() {
    let stubborn = |asked: &Asked| match asked_about(asked) {
        1 if question(asked).contains("walrus") => says("I can't help with that."),
        1 => condenses(asked),
        _ => says("{\"1\": \"\"}"),
    };
    let (desk, server) = asking(stubborn, &templates(), NOTHING);
    let ran = run(&desk, "run --json");
    assert_eq!(server.asked().len(), 3, "both, then each alone");
    assert_eq!(
        (ran.json()["messages_condensed"].clone(), delivered(&ran)),
        (json!(1), json!(2))
    );
    let shown = text(&desk);
    assert!(
        shown.contains("All about the zebrafish") && shown.contains("Agent: walrus and then"),
        "{shown}"
    );
    run(&desk, "run");
    assert!(server.asked().is_empty());
}

/// A call with a long result, and one with a short.
fn calls(desk: &Desk) -> String {
    let cwd = desk.path(PROJECT);
    let line = |nth: u32, kind: &str, content: Value| {
        let record = json!({"type": kind, "sessionId": "aaaa", "cwd": cwd,
            "uuid": format!("00000000-0000-4000-8000-{nth:012}"),
            "timestamp": format!("2026-05-20T10:{nth:02}:00.000Z"),
            "message": {"id": format!("m{nth}"), "role": kind, "content": content}});
        format!("{record}\n")
    };
    let call = |nth: u32, output: &str| {
        let id = format!("t{nth}");
        let ask = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("cat f{nth}")}}]);
        let answer = json!([{"type": "tool_result", "tool_use_id": id, "content": output}]);
        line(nth, "assistant", ask) + &line(nth + 1, "user", answer)
    };
    record(desk, 1, "user", "look") + &call(2, &long("heron")) + &call(4, "a lynx\nand a fox")
}

#[test]
fn results_are_condensed_where_a_template_is_written_and_never_for_the_default() {
    let (desk, server) = asking(condenses, &json!({}), NOTHING);
    desk.write(LOG, &calls(&desk));
    run(&desk, "run");
    assert!(server.asked().is_empty() && !text(&desk).contains("to the very end"));
    for (reply, condensed) in [
        (condenses as fn(&Asked) -> Reply, true),
        (|_: &Asked| says("no"), false),
    ] {
        let filter = json!({"tool_content": "default-tool-content.md"});
        let (desk, server) = asking(reply, &filter, NOTHING);
        desk.write(LOG, &calls(&desk));
        run(&desk, "run");
        let asked = server.asked();
        assert_eq!(
            (asked.len(), asked_about(&asked[0])),
            (1, 1),
            "the short one is its digest"
        );
        assert!(question(&asked[0]).contains("Summarize this tool result"));
        let shown = text(&desk);
        assert_eq!(
            shown.contains("    All about the heron, in short."),
            condensed,
            "{shown}"
        );
        assert!(
            !shown.contains("and then some more words and then some more"),
            "{shown}"
        );
        assert!(
            shown.contains("Bash(cat f2)") && !shown.contains("and a fox\n    "),
            "{shown}"
        );
    }
}

#[test]
fn own_templates_are_used_and_wrong_ones_stop_the_run() {
    let filter = json!({"user_messages": "mine.md"});
    let (desk, server) = asking(condenses, &filter, NOTHING);
    let refused = desk.run("sessionmill run");
    assert_eq!(refused.exit, Exit::Usage, "{}", refused.shown());
    assert!(
        refused.stderr.contains("mine.md: no such template"),
        "{}",
        refused.shown()
    );
    assert!(
        desk.run("sessionmill doctor")
            .stdout
            .contains("no such template")
    );
    desk.write(".graphiti/prompts/mine.md", "In {context}: {contents}");
    let refused = desk.run("sessionmill run");
    assert!(
        refused.stderr.contains("unknown placeholder {contents}"),
        "{}",
        refused.shown()
    );
    desk.write(
        ".graphiti/prompts/mine.md",
        "Say it in brief, from {context}: {content}",
    );
    run(&desk, "run");
    let asked = server.asked();
    assert!(question(&asked[0]).contains("Say it in brief") && asked.len() == 1);
    assert!(
        text(&desk).contains("Agent: walrus and then"),
        "only people's words"
    );
    // other words around it make it another question
    desk.write(".graphiti/prompts/mine.md", "Be terse about {content}");
    run(&desk, "run --rebuild --all");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_projects_file_makes_nobody_ask_and_leaves_out_what_it_wants() {
    let (desk, server) = asking(condenses, &json!({}), NOTHING);
    let own =
        json!({"session_tracking": {"filter": {"user_messages": "default-user-messages.md"}}});
    desk.write("shop/graphiti.config.json", &own.to_string());
    assert_eq!(delivered(&run(&desk, "run --json")), 2);
    assert!(server.asked().is_empty() && text(&desk).contains("to the very end"));
    let (desk, server) = asking(condenses, &templates(), NOTHING);
    let own = json!({"session_tracking": {"filter": {"user_messages": false}}});
    desk.write("shop/graphiti.config.json", &own.to_string());
    run(&desk, "run");
    let asked = server.asked();
    assert!(asked_about(&asked[0]) == 1 && !asked[0].text.contains("zebrafish"));
}

#[test]
fn what_is_forgotten_takes_its_paragraphs_along() {
    let (desk, _server) = asking(condenses, &templates(), NOTHING);
    run(&desk, "run");
    assert!(holds(&desk, "All about the zebrafish"));
    run(&desk, "forget aaaa");
    assert!(!holds(&desk, "All about the zebrafish") && !holds(&desk, "All about the walrus"));
}

#[test]
fn a_model_summarises_a_session_after_its_messages_are_condensed() {
    let reply = |asked: &Asked| match asked_about(asked) {
        0 => says(&json!({"objective": "Teach the narwhal.", "outcome": "completed"}).to_string()),
        _ => condenses(asked),
    };
    let (desk, server) = asking(
        reply,
        &templates(),
        [json!({"auto_summarize": true}), Value::Null],
    );
    run(&desk, "run");
    let asked = server.asked();
    assert_eq!(asked.iter().map(asked_about).collect::<Vec<_>>(), [2, 0]);
    assert!(
        question(&asked[1]).contains("All about the zebrafish"),
        "{}",
        question(&asked[1])
    );
    assert!(!question(&asked[1]).contains("to the very end"));
    run(&desk, "run");
    assert!(server.asked().is_empty());
}
