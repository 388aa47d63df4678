//! `search --graph` against a server that answers, lies, breaks off, refuses and hangs: whose facts are
//! shown, and that nothing is asked before everybody agreed.

use super::delivery::configure;
use super::server::{Asked, Reply, Server, agreed};
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::model::consent::{Endpoint, endpoint_text};
use crate::model::delivery::DeliveryError;
use crate::model::namespace::namespace;
use crate::net::http::{Http, HttpOptions};
use crate::sinks::graphiti::rest::Rest;
use crate::store::{Access, Store};
use serde_json::{Value, json};

const SHOP: &str = "/home/ada/shop-api";

/// The fixture sessions are stored; the server is a sink, with consent.
fn desk(server: &Server) -> Desk {
    let desk = stored();
    ask_it(&desk, server, json!({}));
    agree(&desk, server);
    desk
}

fn stored() -> Desk {
    let desk = Desk::enabled();
    let ran = desk.run("sessionmill run --all");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    desk
}

fn ask_it(desk: &Desk, server: &Server, tracking: Value) {
    let mut tracking = tracking;
    tracking["enabled"] = json!(true);
    let sink = json!({"kind": "graphiti", "url": server.endpoint});
    configure(
        desk,
        json!({"session_tracking": tracking, "sinks": {"brain": sink}}),
    );
}

fn agree(desk: &Desk, server: &Server) {
    let endpoint: Endpoint = server.endpoint.parse().unwrap();
    let text = endpoint_text(&endpoint);
    let ran = desk.run(&format!(
        "sessionmill consent give {endpoint} --confirm \"{text}\""
    ));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
}

/// An episode of a project.
fn episode(desk: &Desk, project: &str) -> String {
    let ran = desk.run(&format!("sessionmill search --project {project} --json"));
    let id = &ran.json()["hits"][0]["episode"];
    id.as_str().expect("an episode").to_owned()
}

fn fact(words: &str, episodes: &[&str]) -> Value {
    json!({"uuid": "u", "name": "USES", "fact": words, "valid_at": "2026-03-04T10:00:00Z",
        "invalid_at": null, "expired_at": null, "episodes": episodes})
}

fn says(facts: &[Value]) -> Reply {
    Reply::Says(200, "", json!({"facts": facts}).to_string())
}

fn search(desk: &Desk, more: &str) -> Ran {
    desk.run(&format!("sessionmill search --graph redis {more}"))
}

#[test]
fn facts_name_the_sessions_that_tell_them_and_say_when_they_ended() {
    let desk = stored();
    let shop = episode(&desk, SHOP);
    let mut old = fact("Sessions live in a dict.", &[&shop]);
    old["invalid_at"] = json!("2026-03-05T00:00:00Z");
    let new = fact("Sessions live\n in \u{1b}[31mRedis.", &[&shop]);
    let server = Server::new(vec![says(&[new, old])]);
    ask_it(&desk, &server, json!({}));
    agree(&desk, &server);
    let ran = search(&desk, "");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "Sessions live in  [31mRedis.");
    assert_eq!(lines[1], "  true since 2026-03-04");
    assert!(lines[2].starts_with("  shop-api "));
    assert_eq!(
        lines[4],
        "Sessions live in a dict. (superseded since 2026-03-05)"
    );
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].line, "POST /search");
    assert_eq!(asked[0].body["query"], "redis");
    assert_eq!(asked[0].body["group_ids"], json!(["desk__global"]));
    let facts = search(&desk, "--json").json()["facts"].clone();
    assert_eq!(facts[1]["superseded"], true);
    assert_eq!(facts[0]["sources"][0]["episode"], shop);
}

#[test]
fn where_each_project_has_its_own_group_those_that_may_answer_are_asked_in_turn() {
    let desk = stored();
    let server = Server::answering(|asked: &Asked| {
        let group = asked.body["group_ids"][0].as_str().unwrap_or_default();
        let facts: Vec<Value> = ["first", "second"]
            .iter()
            .map(|n| fact(&format!("{group} {n}"), &[]))
            .collect();
        says(&facts)
    });
    ask_it(&desk, &server, json!({"group_id": "g_{namespace}"}));
    agree(&desk, &server);
    let shop = format!("g_{}", namespace(SHOP));
    let ran = search(&desk, &format!("--json --project {SHOP} --allow-untrusted"));
    assert_eq!(
        groups_asked(&server),
        std::slice::from_ref(&shop),
        "{}",
        ran.shown()
    );
    let ran = search(&desk, "--json --limit 9");
    let asked = groups_asked(&server);
    assert!(asked.len() > 2, "{}", ran.shown());
    assert!(asked[1..].contains(&shop));
    let shown = ran.json()["facts"].clone();
    let told: Vec<&str> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["fact"].as_str().unwrap())
        .collect();
    assert!(
        told[0].ends_with("first") && told[1].ends_with("first"),
        "{told:?}"
    );
    assert!(told.iter().any(|fact| fact.ends_with("second")), "{told:?}");
}

fn groups_asked(server: &Server) -> Vec<String> {
    let asked = server.asked();
    let of = |asked: &Asked| asked.body["group_ids"][0].as_str().map(str::to_owned);
    asked.iter().filter_map(of).collect()
}

#[test]
fn a_servers_own_ids_are_told_by_the_names_of_its_episodes() {
    let desk = stored();
    let shop = episode(&desk, SHOP);
    let theirs = "11111111-2222-4333-8444-555555555555";
    let name = format!("Session 6b1f0a34, part 1 [{shop} 000000000000002a]");
    let listed = json!([{"uuid": theirs, "name": name, "valid_at": "2026-03-04T10:00:00Z"}]);
    let told = says(&[fact("Sessions live in Redis.", &[theirs])]);
    let server = Server::answering(move |asked: &Asked| match asked.line.as_str() {
        "POST /search" => told.clone(),
        _ => Reply::Says(200, "", listed.to_string()),
    });
    ask_it(&desk, &server, json!({"cross_project_search": false}));
    agree(&desk, &server);
    let ran = search(&desk, &format!("--project {SHOP} --json"));
    assert_eq!(ran.json()["facts"][0]["sources"][0]["episode"], shop);
}

/// D18.
#[test]
fn what_another_project_or_nobody_tells_is_dropped_where_a_filter_is_on() {
    let desk = stored();
    let (shop, notes) = (episode(&desk, SHOP), episode(&desk, "/home/ada/notes"));
    let stranger = "11111111-2222-4333-8444-555555555555";
    let facts = [
        fact("of the notes", &[&notes]),
        fact("of nobody", &[]),
        fact("of a stranger", &[stranger, "../../etc"]),
        fact("of the shop", &[&notes, &shop]),
    ];
    let told = says(&facts);
    let server = Server::answering(move |asked: &Asked| match asked.line.as_str() {
        "POST /search" => told.clone(),
        _ => Reply::Says(200, "", "[]".into()),
    });
    ask_it(&desk, &server, json!({}));
    agree(&desk, &server);
    let shown = |more: &str| {
        let ran = search(&desk, &format!("{more} --json"));
        let facts = ran.json()["facts"].as_array().unwrap().clone();
        let words = facts.iter().map(|f| f["fact"].as_str().unwrap().to_owned());
        words.collect::<Vec<_>>()
    };
    assert_eq!(shown("").len(), 4);
    assert_eq!(shown("-n 2"), ["of the notes", "of nobody"]);
    let only_shop = ["of the shop".to_owned()];
    assert_eq!(shown(&format!("--project {SHOP}")), only_shop);
    assert_eq!(shown("--namespace 0d2640ea"), only_shop);
    let asked = server.asked();
    let asked = asked.iter().find(|asked| asked.body["max_facts"] == 8);
    assert!(asked.is_some(), "more is fetched than is wanted");
    ask_it(&desk, &server, json!({"trusted_namespaces": ["0d2640ea"]}));
    assert_eq!(shown(""), only_shop);
    // a project that an agent was told not to trust is shown to nobody (D63)
    ask_it(&desk, &server, json!({}));
    let trust = json!({"projects": {"/home/ada/notes": {"hasTrustDialogAccepted": false}}});
    desk.write(".claude.json", &trust.to_string());
    assert_eq!(shown(""), ["of nobody", "of a stranger", "of the shop"]);
    assert_eq!(shown("--allow-untrusted").len(), 4);
}

#[test]
fn nothing_is_asked_before_everybody_agreed_and_something_could_be_shown() {
    let server = Server::new(vec![says(&[])]);
    let desk = stored();
    ask_it(&desk, &server, json!({}));
    let refused = |more: &str, wants: &str| {
        let ran = search(&desk, more);
        assert_ne!(ran.exit, Exit::Done, "{}", ran.shown());
        assert!(ran.stderr.contains(wants), "{}", ran.shown());
    };
    refused("", "consent give http://127.0.0.1:");
    agree(&desk, &server);
    ask_it(&desk, &server, json!({"cross_project_search": false}));
    refused("", "cross_project_search");
    refused("--sink nobody", "nobody");
    configure(&desk, json!({"graphiti": {"enabled": false}}));
    refused("", "no sink");
    configure(
        &desk,
        json!({"graphiti": {"enabled": true, "consent": false},
            "sinks": {"brain": {"kind": "graphiti", "url": server.endpoint}}}),
    );
    refused("", "graphiti.consent");
    assert_eq!(server.asked().len(), 0);
    assert_eq!(desk.run("sessionmill search --graph").exit, Exit::Usage);
}

#[test]
fn whatever_the_server_says_instead_is_told_without_a_word_of_it() {
    for reply in [
        Reply::Says(500, "", "sk-secret".into()),
        Reply::Says(401, "", "sk-secret".into()),
        Reply::Says(200, "", "sk-secret".into()),
        Reply::Says(200, "", json!({"facts": "sk-secret"}).to_string()),
        Reply::Says(200, "", "{}".into()),
        Reply::Cut(json!({"facts": []}).to_string()),
    ] {
        let server = Server::new(vec![reply.clone()]);
        let ran = search(&desk(&server), "");
        assert_ne!(ran.exit, Exit::Done, "{reply:?}: {}", ran.shown());
        assert!(
            ran.stderr.contains("sink brain: "),
            "{reply:?}: {}",
            ran.shown()
        );
        assert!(ran.stderr.contains("hint: sessionmill deliver check brain"));
        assert!(!ran.shown().contains("sk-secret"), "{}", ran.shown());
    }
    let nothing = Server::new(vec![says(&[])]);
    let ran = search(&desk(&nothing), "");
    assert_eq!(
        (ran.exit, ran.stderr.as_str()),
        (Exit::Failed, "nothing found\n")
    );
}

#[test]
fn a_server_that_hangs_is_not_waited_for() {
    let server = Server::new(vec![Reply::Hangs]);
    let endpoint: Endpoint = server.endpoint.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("x.db"), Access::ReadWrite).unwrap();
    store.record_consent(&agreed(&endpoint)).unwrap();
    let http = Http::new(&HttpOptions {
        timeout_ms: 50,
        ..HttpOptions::default()
    });
    let permits = Box::new(move |endpoint: &Endpoint| store.permit(endpoint));
    let rest = Rest::new(http.unwrap(), endpoint, permits, None);
    let fault = rest.facts("redis", "desk__global", 10).unwrap_err();
    assert!(matches!(fault, DeliveryError::Unavailable(..)), "{fault:?}");
    assert_eq!(server.asked().len(), 1, "and not asked again");
}

#[test]
fn what_only_a_forgotten_session_tells_is_not_shown_before_the_graph_knows_of_it() {
    let desk = stored();
    let hit = |project: &str| {
        let ran = desk.run(&format!("sessionmill search --project {project} --json"));
        ran.json()["hits"][0].clone()
    };
    let (gone, kept) = (hit(SHOP), hit("/home/ada/notes"));
    let ids = [&gone, &kept].map(|hit| hit["episode"].as_str().expect("an id").to_owned());
    let told = says(&[
        fact("of the forgotten", &[&ids[0]]),
        fact("of both", &[&ids[0], &ids[1]]),
        fact("of nobody", &[]),
    ]);
    let server = Server::answering(move |asked: &Asked| match asked.line.as_str() {
        "POST /search" => told.clone(),
        _ => Reply::Says(200, "", "[]".into()),
    });
    let sinks = json!({
        "brain": {"kind": "graphiti", "url": server.endpoint},
        "export": {"kind": "jsonl", "path": "~/out"},
    });
    configure(
        &desk,
        json!({"session_tracking": {"enabled": true}, "sinks": sinks}),
    );
    agree(&desk, &server);
    let sent = desk.run("sessionmill deliver run export --history");
    assert_eq!(sent.exit, Exit::Done, "{}", sent.shown());
    let shown = || {
        let facts = search(&desk, "--json").json()["facts"].clone();
        let words = facts.as_array().expect("facts").iter();
        words
            .map(|f| f["fact"].as_str().expect("words").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(shown().len(), 3);
    let session = gone["session"].as_str().expect("a session");
    let forgot = desk.run(&format!("sessionmill forget {session}"));
    assert_eq!(forgot.exit, Exit::Done, "{}", forgot.shown());
    assert_eq!(shown(), ["of both", "of nobody"]);
}
