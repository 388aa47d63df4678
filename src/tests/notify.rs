//! Whoever wants to know that episodes were given up is told: by the run's log, and by a webhook that
//! was agreed to.

use super::graphiti::Mind;
use super::server::{Reply, Server};
use super::world::Desk;
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use serde_json::{Value, json};
use std::fs;

/// A Graphiti server that refuses one episode.
fn picky() -> Server {
    let mut mind = Mind::new(0);
    Server::answering(move |asked| {
        let is_bad = asked.line.starts_with("POST") && asked.text.contains("terraform");
        match is_bad {
            true => Reply::Says(422, "", json!({"detail": []}).to_string()),
            false => mind.answer(asked),
        }
    })
}

fn agree(desk: &Desk, endpoint: &str) {
    let text = endpoint_text(&endpoint.parse().unwrap());
    let said = desk.run(&format!(
        "sessionmill consent give {endpoint} --confirm \"{text}\""
    ));
    assert_eq!(said.exit, Exit::Done, "{}", said.shown());
}

fn configure(desk: &Desk, server: &Server, notifications: Value) {
    let settings = json!({
        "version": "2.0.0",
        "session_tracking": {"enabled": true, "resilience": {"notifications": notifications}},
        "graphiti": {"enabled": true, "consent": true},
        "sinks": {"graph": {"kind": "graphiti", "url": server.endpoint}},
    });
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
}

fn logged(desk: &Desk) -> String {
    let logs = fs::read_dir(desk.path(".graphiti/logs")).unwrap();
    logs.map(|log| fs::read_to_string(log.unwrap().path()).unwrap())
        .collect()
}

#[test]
fn a_webhook_is_told_what_was_given_up_once_it_was_agreed_to() {
    let (graph, hook) = (
        picky(),
        Server::new(vec![Reply::Says(200, "", "ok".into())]),
    );
    let desk = Desk::enabled();
    let url = format!("{}/hooks/T0/B0", hook.endpoint);
    let webhook = json!({"notification_method": "webhook", "webhook_url": url});
    configure(&desk, &graph, webhook);
    agree(&desk, &graph.endpoint);
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
    assert!(
        ran.stderr.contains("the webhook could not be called")
            && ran.stderr.contains(&format!("consent give {url}")),
        "{}",
        ran.shown()
    );
    assert!(hook.asked().is_empty(), "nobody agreed to it");
    assert!(logged(&desk).contains("episodes failed permanently"));

    agree(&desk, &url);
    assert_eq!(
        desk.run("sessionmill deliver dead replay --all").exit,
        Exit::Done
    );
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
    assert!(!ran.stderr.contains("not told"), "{}", ran.shown());
    let told = hook.asked();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].line, "POST /hooks/T0/B0");
    assert_eq!(told[0].body["sinks"][0]["sink"], "graph");
    let text = told[0].body["text"].as_str().unwrap();
    assert!(text.contains("sessionmill deliver dead list"), "{text}");
    assert!(!told[0].text.contains("terraform"), "never content");
    desk.run("sessionmill run");
    assert!(hook.asked().is_empty(), "it is news once");
}

#[test]
fn a_webhook_that_fails_fails_no_run_and_nobody_need_be_told() {
    let graph = picky();
    let hook = Server::new(vec![Reply::Says(404, "", String::new())]);
    let desk = Desk::enabled();
    let webhook = json!({"notification_method": "webhook", "webhook_url": hook.endpoint});
    configure(&desk, &graph, webhook);
    agree(&desk, &graph.endpoint);
    agree(&desk, &hook.endpoint);
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
    assert!(ran.stderr.contains("404"), "{}", ran.shown());

    configure(&desk, &graph, json!({"on_permanent_failure": false}));
    desk.run("sessionmill deliver dead replay --all");
    let before = logged(&desk).matches("episodes failed permanently").count();
    desk.run("sessionmill run");
    assert_eq!(
        logged(&desk).matches("episodes failed permanently").count(),
        before
    );
}

#[test]
fn a_webhook_without_an_address_is_refused() {
    let desk = Desk::enabled();
    configure(&desk, &picky(), json!({"notification_method": "webhook"}));
    let said = desk.run("sessionmill config validate");
    assert_eq!(said.exit, Exit::Usage, "{}", said.shown());
    assert!(said.stderr.contains("webhook_url"), "{}", said.shown());
}
