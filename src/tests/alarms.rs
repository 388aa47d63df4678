//! A sink that goes on failing is never silent: what stops it stops nothing else, and whoever looks, or
//! doesn't, is told.

use super::graphiti::Mind;
use super::server::{Reply, Server};
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use crate::model::time::Time;
use serde_json::{Value, json};

const DAY_MS: i64 = 86_400_000;

/// Nobody listens there.
const CLOSED: &str = "http://127.0.0.1:1";

fn agree(desk: &Desk, endpoint: &str) {
    let text = endpoint_text(&endpoint.parse().expect("an endpoint"));
    let said = desk.run(&format!(
        "sessionmill consent give {endpoint} --confirm \"{text}\""
    ));
    assert_eq!(said.exit, Exit::Done, "{}", said.shown());
}

fn configure(desk: &Desk, sinks: Value, notifications: Value) {
    let settings = json!({
        "version": "2.0.0",
        "session_tracking": {"enabled": true, "resilience": {"notifications": notifications}},
        "graphiti": {"enabled": true, "consent": true},
        "sinks": sinks,
    });
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
}

fn graph(url: &str) -> Value {
    json!({"graph": {"kind": "graphiti", "url": url}})
}

/// What each place says of a sink that fails for good: `run`, `run -q`, `status`, `doctor`.
fn is_told_everywhere(desk: &Desk, reason: &str, hint: &str) {
    let says = |ran: &Ran, text: &str| {
        let line = text.lines().find(|line| line.contains("sink graph"));
        let line = line.unwrap_or_else(|| panic!("nothing of the sink: {}", ran.shown()));
        assert!(line.contains(reason), "{line}");
        assert!(text.contains(hint), "{}", ran.shown());
    };
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
    says(&ran, &ran.stderr);
    let status = desk.run("sessionmill status");
    says(&status, &status.stdout);
    let doctor = desk.run("sessionmill doctor");
    says(&doctor, &format!("{}{}", doctor.stdout, doctor.stderr));
    let alarms = desk.run("sessionmill status --json").json()["alarms"].clone();
    assert_eq!(alarms[0]["who"], "sink graph", "{alarms}");
}

#[test]
fn a_missing_consent_stops_its_sink_and_nothing_else() {
    let desk = Desk::enabled();
    let mut sinks = graph(CLOSED);
    sinks["export"] = json!({"kind": "jsonl", "path": "~/out"});
    configure(&desk, sinks, json!({}));
    let ran = desk.run("sessionmill backfill --json");
    assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
    let done = ran.json();
    assert!(
        done["episodes_new"].as_u64().expect("a number") > 0,
        "{done}"
    );
    let of = |name: &str| {
        let all = done["sinks"].as_array().expect("sinks");
        let sink = all.iter().find(|sink| sink["sink"] == name);
        sink.expect("a sink").clone()
    };
    assert!(of("export")["delivered"].as_u64().expect("a number") > 0);
    assert_eq!(of("graph")["delivered"], 0);
    assert!(of("graph")["waiting"].as_u64().expect("a number") > 0);
    let hint = format!("sessionmill consent give {CLOSED}");
    is_told_everywhere(&desk, "without your consent", &hint);
    let status = desk.run("sessionmill deliver status").stdout;
    assert!(status.contains(&hint), "{status}");
    // somebody who asks for that very sink is refused
    let asked = desk.run("sessionmill deliver run graph");
    assert_eq!(asked.exit, Exit::Usage, "{}", asked.shown());
}

#[test]
fn who_is_refused_is_told_at_once_and_one_line_a_day_where_nobody_looks() {
    let refuses = Server::new(vec![Reply::Says(401, "", "{}".into())]);
    let mut desk = Desk::enabled();
    configure(&desk, graph(&refuses.endpoint), json!({}));
    agree(&desk, &refuses.endpoint);
    let quiet = desk.run("sessionmill backfill --quiet");
    assert_eq!(quiet.exit, Exit::Partial, "{}", quiet.shown());
    assert_eq!(quiet.stderr.lines().count(), 1, "{}", quiet.shown());
    assert!(
        quiet.stderr.contains("sink graph fails since"),
        "{}",
        quiet.shown()
    );
    is_told_everywhere(&desk, "401", "sessionmill deliver check graph");
    let mut lines = 0;
    for _ in 0..24 {
        desk.now = Time(desk.now.0 + DAY_MS / 12);
        let ran = desk.run("sessionmill run --quiet");
        assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
        lines += ran.stderr.lines().count();
    }
    assert_eq!(lines, 2, "two days");
}

#[test]
fn a_sink_that_is_away_is_an_alarm_after_a_day_and_none_when_it_is_back() {
    let mut desk = Desk::enabled();
    let hook = Server::new(vec![Reply::Says(200, "", "ok".into())]);
    let webhook = json!({"notification_method": "webhook", "webhook_url": hook.endpoint});
    configure(&desk, graph(CLOSED), webhook.clone());
    agree(&desk, CLOSED);
    agree(&desk, &hook.endpoint);
    let first = desk.run("sessionmill backfill --quiet");
    assert_eq!(
        (first.exit, first.stderr.as_str()),
        (Exit::Done, ""),
        "{}",
        first.shown()
    );
    let status = desk.run("sessionmill status").stdout;
    assert!(
        status.contains("sink graph fails since"),
        "from the first time on: {status}"
    );
    assert!(hook.asked().is_empty());
    desk.now = Time(desk.now.0 + DAY_MS + 1);
    is_told_everywhere(&desk, "127.0.0.1:1", "sessionmill deliver check graph");
    let told = hook.asked();
    assert_eq!(told.len(), 1, "once");
    assert_eq!(told[0].body["event"], "alarm_begins");
    // the sink is somewhere else by now, and well
    let mut mind = Mind::new(0);
    let well = Server::answering(move |asked| mind.answer(asked));
    configure(&desk, graph(&well.endpoint), webhook);
    agree(&desk, &well.endpoint);
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let told = hook.asked();
    assert_eq!(told.len(), 1, "{}", ran.shown());
    assert_eq!(told[0].body["event"], "alarm_ends");
    let status = desk.run("sessionmill status").stdout;
    assert!(!status.contains("sink graph fails"), "{status}");
}

#[test]
fn what_was_given_up_is_an_alarm_until_somebody_settles_it() {
    let mut mind = Mind::new(0);
    let picky = Server::answering(move |asked| {
        match asked.line.starts_with("POST") && asked.text.contains("terraform") {
            true => Reply::Says(422, "", json!({"detail": []}).to_string()),
            false => mind.answer(asked),
        }
    });
    let desk = Desk::enabled();
    configure(&desk, graph(&picky.endpoint), json!({}));
    agree(&desk, &picky.endpoint);
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
    is_told_everywhere(&desk, "failed permanently", "sessionmill deliver dead list");
    assert_eq!(
        desk.run("sessionmill deliver dead drop --all").exit,
        Exit::Done
    );
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
}

#[test]
fn what_waits_is_one_number_everywhere() {
    let desk = Desk::enabled();
    configure(&desk, graph(CLOSED), json!({}));
    agree(&desk, CLOSED);
    let ran = desk.run("sessionmill backfill --json").json();
    let waiting = ran["sinks"][0]["waiting"].clone();
    assert!(waiting.as_u64().expect("a number") > 0, "{ran}");
    for line in ["deliver status", "plan"] {
        let told = desk.run(&format!("sessionmill {line} --json")).json();
        assert_eq!(told["sinks"][0]["waiting"], waiting, "{line}: {told}");
    }
    let alarms = desk.run("sessionmill status --json").json()["alarms"].clone();
    assert_eq!(alarms[0]["waiting"], waiting, "{alarms}");
    let verified = desk.run("sessionmill deliver verify");
    let says = "sink graph: nothing to verify, nothing was delivered yet\n";
    assert_eq!(verified.stdout, says, "{}", verified.shown());
}
