//! From logs to sinks as a person sees it: what a run delivers, what it leaves alone, what waits.

use super::falkor::Falkor;
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::model::time::Time;
use crate::store::{Access, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// With the fixture sessions, consent, and these sinks.
fn desk(sinks: &Value) -> Desk {
    let desk = Desk::enabled();
    configure(&desk, json!({ "sinks": sinks }));
    desk
}

pub(super) fn configure(desk: &Desk, more: Value) {
    let mut settings = json!({
        "version": "2.0.0",
        "session_tracking": {"enabled": true},
        "graphiti": {"enabled": true, "consent": true},
    });
    for (key, value) in more.as_object().unwrap() {
        settings[key] = value.clone();
    }
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
}

pub(super) fn done(ran: Ran) -> Ran {
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    ran
}

/// Ids of the lines in the export, with how often each stands there.
fn exported(desk: &Desk) -> BTreeMap<String, u32> {
    let mut ids = BTreeMap::new();
    let Ok(files) = fs::read_dir(desk.path("out")) else {
        return ids;
    };
    for file in files {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let key = format!("{} {}", line["id"], line["revision"]);
            *ids.entry(key).or_default() += 1;
        }
    }
    ids
}

pub(super) fn sink_of(document: &Value) -> Value {
    document["sinks"][0].clone()
}

fn export() -> Value {
    json!({"export": {"kind": "jsonl", "path": "~/out"}})
}

#[test]
fn a_run_delivers_what_is_sealed_or_settled_once() {
    let desk = desk(&export());
    let first = done(desk.run("sessionmill backfill --json")).json();
    let delivered = sink_of(&first)["delivered"].as_u64().unwrap();
    assert!(delivered > 5, "{first}");
    let ids = exported(&desk);
    assert_eq!(ids.len() as u64, delivered);
    assert!(ids.values().all(|n| *n == 1), "{ids:?}");
    let again = done(desk.run("sessionmill backfill --json")).json();
    assert_eq!(sink_of(&again)["delivered"], 0);
    assert_eq!(exported(&desk), ids);
    let verified = done(desk.run("sessionmill deliver verify --json")).json();
    assert_eq!(sink_of(&verified)["landed"], delivered);
}

#[test]
fn what_grows_is_delivered_again_in_its_new_revision() {
    let desk = desk(&export());
    done(desk.run("sessionmill backfill"));
    let before = exported(&desk);
    let log = ".claude/projects/-home-ada-notes/6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e004.jsonl";
    let text = fs::read_to_string(desk.path(log)).unwrap();
    let last = text
        .lines()
        .rfind(|l| l.contains("\"type\":\"assistant\""))
        .unwrap();
    let mut more: Value = serde_json::from_str(last).unwrap();
    more["uuid"] = "99999999-9999-4999-8999-999999999999".into();
    more["message"]["id"] = "msg_more".into();
    desk.write(log, &format!("{text}{more}\n"));
    let ran = done(desk.run("sessionmill backfill --json")).json();
    // the chunk that grew, and the page of its session
    assert_eq!(sink_of(&ran)["delivered"], 2, "{ran}");
    assert_eq!(exported(&desk).len(), before.len() + 2);
    done(desk.run("sessionmill deliver verify"));
}

#[test]
fn a_sink_that_is_new_gets_history_only_when_asked() {
    let desk = desk(&json!({}));
    done(desk.run("sessionmill backfill"));
    configure(&desk, json!({"sinks": export()}));
    let ran = done(desk.run("sessionmill backfill --json")).json();
    assert_eq!(sink_of(&ran)["delivered"], 0);
    let status = done(desk.run("sessionmill deliver status")).stdout;
    let hint = "sessionmill deliver run export --history";
    assert!(status.contains(hint), "{status}");
    let ran = done(desk.run("sessionmill deliver run export --max 2 --history --json")).json();
    assert_eq!(sink_of(&ran)["delivered"], 2);
    let waiting = sink_of(&ran)["waiting"].as_u64().unwrap();
    let ran = done(desk.run("sessionmill deliver run --json")).json();
    assert_eq!(sink_of(&ran)["delivered"], waiting);
    assert!(exported(&desk).values().all(|n| *n == 1));
}

#[test]
fn what_is_forgotten_here_is_removed_there() {
    let desk = desk(&json!({"vault": {"kind": "markdown", "path": "~/vault"}}));
    done(desk.run("sessionmill backfill"));
    let words = |desk: &Desk| {
        let files = walkdir::WalkDir::new(desk.path("vault"))
            .into_iter()
            .flatten();
        let files = files.filter(|e| e.file_type().is_file());
        files
            .map(|e| fs::read_to_string(e.path()).unwrap())
            .collect::<String>()
    };
    let session = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e004";
    let short = format!("# Session {},", &session[..8]);
    let notes = |desk: &Desk| {
        let path = walkdir::WalkDir::new(desk.path("vault"))
            .into_iter()
            .flatten();
        path.filter(|e| e.path().to_string_lossy().contains(session))
            .count()
    };
    assert!(words(&desk).contains(&short));
    assert_eq!(notes(&desk), 1);
    let forgot = done(desk.run(&format!("sessionmill forget {session} --yes")));
    assert!(
        forgot.stderr.contains("sessionmill deliver run vault"),
        "{}",
        forgot.shown()
    );
    let ran = done(desk.run("sessionmill deliver run --json")).json();
    assert!(sink_of(&ran)["forgotten"].as_u64().unwrap() > 0, "{ran}");
    assert_eq!(notes(&desk), 0);
    done(desk.run("sessionmill deliver verify"));
}

#[test]
fn what_a_sink_has_that_nobody_names_any_more_is_said() {
    let desk = desk(&json!({"vault": {"kind": "markdown", "path": "~/vault"}}));
    done(desk.run("sessionmill backfill"));
    configure(&desk, json!({}));
    let session = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e004";
    let forgot = done(desk.run(&format!("sessionmill forget {session} --json"))).json();
    let left = &forgot["left_at_sinks"][0];
    assert_eq!(left["sink"], "vault");
    assert_eq!(left["configured"], false);
    assert!(left["episodes"].as_u64().unwrap() > 0, "{forgot}");
}

#[test]
fn texts_are_left_to_the_sinks_where_nobody_wants_them_here() {
    let desk = desk(&export());
    let found = |words: &str| desk.run(&format!("sessionmill search {words}")).exit == Exit::Done;
    done(desk.run("sessionmill backfill"));
    assert!(found("dynamodb"));
    configure(
        &desk,
        json!({"sinks": export(), "upload": {"keep_local": false}}),
    );
    let ran = done(desk.run("sessionmill run"));
    let says = "is now stored by the sinks only";
    assert!(ran.stderr.contains(says), "{}", ran.shown());
    assert!(!found("dynamodb") && found("terraform"), "titles stay");
    let short = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e002";
    let shown = done(desk.run(&format!("sessionmill show {short}"))).stdout;
    assert!(shown.contains("stored by the sinks only"), "{shown}");
    done(desk.run("sessionmill doctor --deep"));
    done(desk.run("sessionmill deliver verify"));
    let ran = done(desk.run("sessionmill run"));
    assert!(!ran.stderr.contains(says), "{}", ran.shown());

    let two = json!({"export": export()["export"], "late": {"kind": "jsonl", "path": "~/late"}});
    configure(&desk, json!({"sinks": two}));
    let late = done(desk.run("sessionmill deliver run late --history --json")).json();
    assert_eq!(sink_of(&late)["delivered"], 0, "nothing empty is sent");

    let file = fs::read_dir(desk.path("out")).unwrap().next().unwrap();
    let file = file.unwrap().path();
    let before = exported(&desk);
    fs::remove_file(&file).unwrap();
    let verified = desk.run("sessionmill deliver verify export --requeue");
    assert_eq!(verified.exit, Exit::Partial, "{}", verified.shown());
    assert!(verified.stderr.contains("run --rebuild --all"));
    done(desk.run("sessionmill run --rebuild --all"));
    assert_eq!(exported(&desk), before, "the logs had the texts");
    assert!(found("dynamodb"));
}

#[test]
fn what_is_missing_at_a_sink_is_noticed_and_waits_again_when_asked() {
    let desk = desk(&export());
    done(desk.run("sessionmill backfill"));
    let file = fs::read_dir(desk.path("out"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    let without_first: String = text.split_inclusive('\n').skip(1).collect();
    fs::write(file.path(), &without_first).unwrap();
    let verified = desk.run("sessionmill deliver verify --json");
    assert_eq!(verified.exit, Exit::Partial);
    assert_eq!(sink_of(&verified.json())["missing"], 1);
    let verified = desk.run("sessionmill deliver verify --requeue");
    assert_eq!(verified.exit, Exit::Partial);
    let ran = done(desk.run("sessionmill deliver run --json")).json();
    assert_eq!(sink_of(&ran)["delivered"], 1);
    done(desk.run("sessionmill deliver verify"));
    // a twin is noticed as well
    fs::write(
        desk.path("out/episodes-000099.jsonl"),
        text.lines().last().unwrap(),
    )
    .unwrap();
    let verified = desk.run("sessionmill deliver verify --json");
    assert_eq!(sink_of(&verified.json())["twice"], 1);
    assert_eq!(verified.exit, Exit::Partial);
}

#[test]
fn a_crash_between_sending_and_noting_sends_nothing_twice() {
    let desk = desk(&export());
    done(desk.run("sessionmill backfill"));
    let before = exported(&desk);
    // as if the program had died before it noted the outcome
    let died = || {
        let store = Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadWrite).unwrap();
        store.tamper("UPDATE delivery SET state = 'sent'; UPDATE sink SET clean_to = 0;");
    };
    died();
    let ran = done(desk.run("sessionmill deliver run --json")).json();
    assert_eq!(
        sink_of(&ran)["found"].as_u64().unwrap(),
        before.len() as u64
    );
    assert_eq!(sink_of(&ran)["delivered"], 0);
    assert_eq!(exported(&desk), before);
    // and if it had died before it sent anything
    fs::remove_dir_all(desk.path("out")).unwrap();
    died();
    let ran = done(desk.run("sessionmill deliver run --json")).json();
    assert_eq!(
        sink_of(&ran)["delivered"].as_u64().unwrap(),
        before.len() as u64
    );
    assert_eq!(exported(&desk), before);
}

#[test]
fn a_sink_that_is_away_is_paused_and_nothing_is_lost() {
    let mut desk = desk(&json!({"vault": {"kind": "markdown", "path": "~/file/vault"}}));
    desk.write("file", "in the way");
    let ran = done(desk.run("sessionmill backfill"));
    assert!(ran.stdout.contains("sink vault: "), "{}", ran.shown());
    assert!(ran.stdout.contains("paused until"), "{}", ran.shown());
    let waiting = sink_of(&done(desk.run("sessionmill run --json")).json())["waiting"].clone();
    assert!(waiting.as_u64().unwrap() > 5);
    fs::remove_file(desk.path("file")).unwrap();
    // still paused
    let ran = done(desk.run("sessionmill run --json")).json();
    assert_eq!(sink_of(&ran)["delivered"], 0);
    desk.now = Time(desk.now.0 + 301_000);
    let ran = done(desk.run("sessionmill run --json")).json();
    let sink = sink_of(&ran);
    let arrived = sink["delivered"].as_u64().unwrap() + sink["found"].as_u64().unwrap();
    assert_eq!(arrived, waiting.as_u64().unwrap());
    done(desk.run("sessionmill deliver verify"));
}

#[test]
fn a_project_that_stays_here_and_a_user_who_keeps_all_here_deliver_nothing() {
    let desk = desk(&export());
    configure(
        &desk,
        json!({"sinks": export(), "session_tracking": {"enabled": true, "store_in_graph": false}}),
    );
    let ran = done(desk.run("sessionmill backfill --json")).json();
    assert_eq!(ran["sinks"], json!([]));
    assert_eq!(exported(&desk).len(), 0);
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    for (sinks, says) in [
        (json!({"g": {"kind": "falkordb"}}), "`url` is missing"),
        (
            json!({"g": {"kind": "falkordb", "url": "http://h"}}),
            "redis://",
        ),
        (
            json!({"g": {"kind": "neo4j", "url": "redis://h"}}),
            "bolt+s://",
        ),
        (json!({"g": {"kind": "jsonl"}}), "`path` is missing"),
        (
            json!({"g": {"kind": "jsonl", "path": "out"}}),
            "must be absolute",
        ),
        (
            json!({"G": {"kind": "jsonl", "path": "/out"}}),
            "letters a-z",
        ),
        (
            json!({"g": {"kind": "jsonl", "path": "/o", "url": "redis://h"}}),
            "does not apply to this kind",
        ),
        (
            json!({"g": {"kind": "graph", "path": "/o"}}),
            "graphiti.config.json",
        ),
    ] {
        let desk = desk(&sinks);
        let ran = desk.run("sessionmill run");
        assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
        assert!(ran.stderr.contains(says), "{}", ran.shown());
    }
}

#[test]
fn nothing_is_sent_to_a_server_that_nobody_agreed_to() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    for (kind, scheme) in [("falkordb", "redis"), ("neo4j", "neo4j")] {
        let url = format!("{scheme}://{address}");
        let desk = desk(&json!({"graph": {"kind": kind, "url": url}}));
        asks_for_consent(&desk, &url);
    }
    assert!(listener.accept().is_err(), "somebody connected");
}

fn asks_for_consent(desk: &Desk, url: &str) {
    for command in [
        "run",
        "backfill",
        "deliver run",
        "deliver check",
        "deliver verify",
    ] {
        let ran = desk.run(&format!("sessionmill {command}"));
        assert_ne!(ran.exit, Exit::Done, "{}", ran.shown());
        assert!(
            ran.stderr.contains(&format!("consent give {url}")),
            "{}",
            ran.shown()
        );
    }
}

fn graph(desk: &Desk, server: &Falkor) {
    let endpoint = server.endpoint();
    configure(
        desk,
        json!({"sinks": {"graph": {"kind": "falkordb", "url": endpoint.as_str()}}}),
    );
    let text = crate::model::consent::endpoint_text(&endpoint);
    done(desk.run(&format!(
        "sessionmill consent give {endpoint} --confirm \"{text}\""
    )));
}

fn count(server: &Falkor) -> String {
    server.redis(&[
        "GRAPH.QUERY",
        "desk__global",
        "MATCH (n:Episodic) RETURN count(n), count(DISTINCT n.uuid)",
    ])
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn a_graph_gets_every_episode_once_whatever_happens_to_the_server() {
    let mut desk = Desk::enabled();
    let server = Falkor::start();
    graph(&desk, &server);
    done(desk.run("sessionmill deliver check --smoke"));
    let ran = done(desk.run("sessionmill backfill --json")).json();
    let delivered = sink_of(&ran)["delivered"].as_u64().unwrap();
    let whole = format!("int({delivered}), int({delivered})");
    assert!(count(&server).contains(&whole), "{}", count(&server));
    done(desk.run("sessionmill deliver verify"));
    // the server loses everything
    let port = server.port();
    drop(server);
    let away = desk.run("sessionmill deliver verify");
    assert_eq!(away.exit, Exit::Failed, "{}", away.shown());
    let server = Falkor::start_at(port);
    let lost = desk.run("sessionmill deliver verify --requeue");
    assert_eq!(lost.exit, Exit::Partial, "{}", lost.shown());
    desk.now = Time(desk.now.0 + 3_600_000);
    let ran = done(desk.run("sessionmill run --json")).json();
    assert_eq!(sink_of(&ran)["delivered"], delivered);
    assert!(count(&server).contains(&whole), "{}", count(&server));
    // a node goes, another gets a twin
    server.redis(&[
        "GRAPH.QUERY",
        "desk__global",
        "MATCH (n:Episodic) WITH n LIMIT 1 DELETE n",
    ]);
    let verified = desk.run("sessionmill deliver verify --json");
    assert_eq!(sink_of(&verified.json())["missing"], 1);
    done(desk.run("sessionmill forget --before 2026-06-01 --yes"));
    done(desk.run("sessionmill deliver run"));
    assert!(
        count(&server).contains("int(0), int(0)"),
        "{}",
        count(&server)
    );
}

#[test]
fn what_is_to_stay_here_is_not_delivered_by_hand_either() {
    let desk = desk(&export());
    configure(
        &desk,
        json!({
            "session_tracking": {"enabled": true, "store_in_graph": false},
            "sinks": export(),
        }),
    );
    done(desk.run("sessionmill run"));
    let ran = desk.run("sessionmill deliver run --history");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(ran.stderr.contains("store_in_graph"), "{}", ran.shown());
    assert!(exported(&desk).is_empty());
    let status = done(desk.run("sessionmill deliver status --json")).json();
    assert!(
        status["sinks"][0]["off"]
            .to_string()
            .contains("store_in_graph"),
        "{status}"
    );
}
