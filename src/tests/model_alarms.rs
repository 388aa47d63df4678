//! A model that goes on failing is an alarm as a sink is: for `run`, `run -q`, `status`, `doctor` and the
//! webhook.

use super::server::{Asked, Reply, Server};
use super::world::Desk;
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const HOUR_MS: i64 = 3_600_000;

/// Longer than a run waits.
fn busy() -> Reply {
    Reply::Says(429, "retry-after: 61\r\n", String::new())
}

/// What a model says that works: a summary, or vectors.
fn fine(asked: &Asked) -> Reply {
    let input = asked.body["input"].as_array();
    let body = match input {
        Some(texts) => {
            let vectors = texts.iter().enumerate();
            let vectors = vectors.map(|(n, _)| json!({"index": n, "embedding": [1.0, 0.5]}));
            json!({"data": vectors.collect::<Vec<Value>>()})
        }
        None => json!({"choices": [{"message": {"content": "{\"objective\": \"Mend it.\"}"},
            "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}),
    };
    Reply::Says(200, "", body.to_string())
}

/// A model whose answers a test can change.
fn model(first: Option<Reply>) -> (Server, Arc<Mutex<Option<Reply>>>) {
    let mood = Arc::new(Mutex::new(first));
    let told = Arc::clone(&mood);
    let server = Server::answering(move |asked| {
        let mood = told.lock().expect("one test");
        mood.clone().unwrap_or_else(|| fine(asked))
    });
    (server, mood)
}

fn agree(desk: &Desk, endpoint: &str) {
    let text = endpoint_text(&endpoint.parse().expect("an endpoint"));
    let line = format!("sessionmill consent give {endpoint} --confirm \"{text}\"");
    assert_eq!(desk.run(&line).exit, Exit::Done);
}

/// A desk with logs, this model as `kind`, and a webhook.
fn desk(kind: &str, model: &Server, hook: &Server) -> Desk {
    let desk = Desk::enabled();
    let mut settings = json!({
        "version": "2.0.0",
        "session_tracking": {"enabled": true, "auto_summarize": true, "resilience": {"notifications":
            {"notification_method": "webhook", "webhook_url": hook.endpoint}}},
    });
    settings[kind] = json!({"endpoint": model.endpoint, "model": "m"});
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    agree(&desk, &model.endpoint);
    agree(&desk, &hook.endpoint);
    desk
}

/// Kind, what the alarm calls it, and the command that it names.
const MODELS: [(&str, &str, &str); 2] = [
    ("llm", "language model m", "sessionmill run --ask-again"),
    ("embeddings", "embedding model m", "sessionmill run"),
];

#[test]
fn a_model_that_is_away_is_told_of_after_a_day_everywhere_and_once_a_day_where_nobody_looks() {
    for (kind, who, hint) in MODELS {
        let (server, mood) = model(Some(busy()));
        let hook = Server::new(vec![Reply::Says(200, "", "ok".into())]);
        let mut desk = desk(kind, &server, &hook);
        let first = desk.run("sessionmill backfill --quiet");
        let said = (first.exit, first.stderr.as_str());
        assert_eq!(said, (Exit::Done, ""), "{kind}: {}", first.shown());
        let fails = format!("{who} fails since 2026-06-01 12:00 (");
        let status = desk.run("sessionmill status").stdout;
        assert!(status.contains(&fails), "from the first on: {status}");
        assert!(status.contains(" wait): "), "{status}");
        let doctor = desk.run("sessionmill doctor").stdout;
        assert!(doctor.contains(&fails), "{doctor}");
        assert!(hook.asked().is_empty());
        let mut lines = 0;
        for _ in 0..48 {
            desk.now = Time(desk.now.0 + HOUR_MS);
            let ran = desk.run("sessionmill run --quiet");
            let is_told = ran.exit == Exit::Partial;
            assert_eq!(is_told, desk.now.0 >= day_after(), "{}", ran.shown());
            lines += ran.stderr.lines().count();
        }
        assert_eq!(lines, 2, "{kind}: two days");
        let told = hook.asked();
        assert_eq!(told.len(), 1, "{kind}: once");
        assert_eq!(told[0].body["event"], "alarm_begins");
        let ran = desk.run("sessionmill run");
        assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
        assert!(ran.stderr.contains(&fails), "{}", ran.shown());
        assert!(ran.stderr.contains("429"), "{}", ran.shown());
        assert!(ran.stderr.contains(hint), "{}", ran.shown());
        let status = desk.run("sessionmill status").stdout;
        assert!(!status.contains("failed permanently"), "{status}");
        *mood.lock().expect("one test") = None;
        desk.now = Time(desk.now.0 + 7 * HOUR_MS);
        let ran = desk.run("sessionmill run");
        assert_eq!(ran.exit, Exit::Done, "{kind}: {}", ran.shown());
        assert_eq!(hook.asked()[0].body["event"], "alarm_ends");
        let status = desk.run("sessionmill status").stdout;
        assert!(!status.contains("fails since"), "{status}");
    }
}

/// A day after the tests begin.
fn day_after() -> i64 {
    Time::parse("2026-06-02T12:00:00Z").expect("a time").0
}

#[test]
fn a_key_that_is_refused_is_told_of_at_once() {
    for (kind, who, _) in MODELS {
        let (server, _) = model(Some(Reply::Says(401, "", "{}".into())));
        let hook = Server::new(vec![Reply::Says(200, "", "ok".into())]);
        let desk = desk(kind, &server, &hook);
        let ran = desk.run("sessionmill backfill --quiet");
        assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.shown());
        assert!(
            ran.stderr.contains(&format!("{who} fails since")),
            "{}",
            ran.shown()
        );
        assert!(
            ran.stderr.contains("sessionmill config show"),
            "{}",
            ran.shown()
        );
        assert_eq!(hook.asked().len(), 1);
    }
}
