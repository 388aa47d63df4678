//! The rules of delivering to Graphiti, one by one, against its server in memory: what is asked for,
//! how often, in which order, and whose fault what goes wrong is.

use super::faults::{EPISODES, HOUR_MS, many_episodes, stored};
use super::graphiti::{Mind, World, attempt, start};
use super::server::{Asked, Reply, Server};
use super::sinks::{ODD, outbound, receipts};
use super::world::Desk;
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use crate::model::delivery::{
    DeliveryError, DeliveryOutcome, DeliveryProgress, Landed, OutboundEpisode, State,
};
use crate::model::time::Time;
use crate::stages::upload::{Enrichment, Sink};
use crate::store::{Access, Store};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn world() -> World {
    World::new(Mind::new(0))
}

pub(super) fn outbound_episodes(many: u128) -> Vec<OutboundEpisode> {
    let one = |n| OutboundEpisode {
        group: "desk__global".into(),
        ..outbound(n, &format!("word {n}"))
    };
    (0..many).map(one).collect()
}

fn posts(asked: &[Asked]) -> Vec<&Asked> {
    let is_post = |asked: &&Asked| asked.line == "POST /messages";
    asked.iter().filter(is_post).collect()
}

pub(super) fn messages(asked: &[Asked]) -> Vec<Value> {
    let bodies = posts(asked)
        .into_iter()
        .map(|post| post.body["messages"].clone());
    let all = bodies.flat_map(|list| list.as_array().unwrap().clone());
    let is_ours = |m: &Value| !m["name"].as_str().unwrap().starts_with("canary");
    all.filter(is_ours).collect()
}

#[test]
fn an_episode_is_posted_as_the_server_wants_it() {
    let world = world();
    let mut sink = world.server_sink(start());
    let odd: Vec<OutboundEpisode> = (0..).zip(ODD).map(|(n, text)| outbound(n, text)).collect();
    assert_eq!(sink.deliver(&odd).unwrap(), vec![DeliveryOutcome::Seen; 8]);
    let asked = world.server.asked();
    let canary = &posts(&asked)[0].body;
    assert_eq!(
        canary["group_id"], "sessionmill_canary",
        "it is tried out first"
    );
    let groups: Vec<&Value> = posts(&asked)
        .iter()
        .map(|post| &post.body["group_id"])
        .collect();
    assert_eq!(
        groups[1..3],
        ["desk_two__global", "desk__global"],
        "in order, by group"
    );
    let sent = messages(&asked);
    assert_eq!(sent.len(), 8);
    for (sent, outbound) in sent.iter().zip(&odd) {
        let keys: Vec<&String> = sent.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "name",
                "content",
                "role",
                "role_type",
                "timestamp",
                "source_description"
            ]
        );
        assert_eq!(sent["content"], outbound.content.replace('\0', ""));
        assert_eq!(sent["timestamp"], outbound.valid_at.rfc3339_millis());
        let name = format!(
            "{} [{} {:016x}]",
            outbound.name, outbound.id, outbound.revision
        );
        assert_eq!(sent["name"], name);
    }
}

#[test]
fn what_is_there_is_not_posted_again_by_whomever_it_was_posted() {
    let world = world();
    let all = outbound_episodes(12);
    world.server_sink(start()).deliver(&all[..7]).unwrap();
    world.server.asked();
    let mut other = world.server_sink(start());
    assert_eq!(
        other.deliver(&all).unwrap(),
        vec![DeliveryOutcome::Seen; 12]
    );
    let asked = world.server.asked();
    assert_eq!(messages(&asked).len(), 5);
    let canaries = posts(&asked).len() - 1;
    assert_eq!(canaries, 0, "the listing shows that it works");
    assert!(world.mind().named().values().all(|n| *n == 1));
    let asked = receipts(&other, &all);
    assert_eq!(other.verify(&asked).unwrap(), vec![Landed::Once; 12]);
}

#[test]
fn a_changed_episode_takes_the_place_of_the_one_before_where_the_server_can() {
    for deletes in [true, false] {
        let world = world();
        world.mind().deletes = deletes;
        let mut sink = world.server_sink(start());
        let all = outbound_episodes(3);
        sink.deliver(&all).unwrap();
        let changed = OutboundEpisode {
            revision: 7,
            ..all[1].clone()
        };
        let (outcome, landed, kept) = match deletes {
            true => (DeliveryOutcome::Seen, Landed::Once, 0),
            false => (DeliveryOutcome::Beside, Landed::Beside, 2),
        };
        let changed = std::slice::from_ref(&changed);
        world.server.asked();
        assert_eq!(sink.deliver(changed).unwrap(), [outcome]);
        let sent = messages(&world.server.asked());
        let name = sent[0]["name"].as_str().unwrap();
        assert!(deletes || name.contains(" (newer revision) ["), "{name}");
        let asked = receipts(&sink, changed);
        assert_eq!(sink.verify(&asked).unwrap(), [landed]);
        let asked = [receipts(&sink, &all[..1]), asked].concat();
        assert_eq!(sink.forget(&asked).unwrap().len(), kept);
    }
}

#[test]
fn a_node_is_posted_only_after_it_was_seen_and_once() {
    let world = world();
    let mut sink = world.enriched(start());
    let all = outbound_episodes(20);
    let asked = receipts(&sink, &all);
    assert_eq!(sink.deliver(&all).unwrap(), vec![DeliveryOutcome::Seen; 20]);
    assert_eq!(world.server.asked().len(), 0, "the database has them");
    assert_eq!(
        sink.progress(&asked).unwrap(),
        vec![DeliveryProgress::Waits; 20]
    );
    assert_eq!(
        sink.enrich(&all[..12]).unwrap(),
        vec![DeliveryOutcome::Seen; 12]
    );
    let ids: Vec<String> = all[..12]
        .iter()
        .map(|outbound| outbound.id.to_string())
        .collect();
    let sent = messages(&world.server.asked());
    let sent: Vec<&str> = sent.iter().map(|m| m["uuid"].as_str().unwrap()).collect();
    assert_eq!(sent, ids);
    assert_eq!(world.mind().strangers, 0);
}

#[test]
fn an_episode_that_ends_the_worker_is_given_up_and_the_others_arrive() {
    let desk = many_episodes();
    for (has_database, survives) in [(true, false), (true, true), (false, false), (false, true)] {
        let path = desk.path(&format!("{has_database}-{survives}.db"));
        std::fs::copy(desk.path(".graphiti/sessionmill.db"), &path).unwrap();
        let world = world();
        world.mind().poison = Some("word 42".into());
        world.mind().survives = survives;
        let mut now = start();
        for _ in 0..20 {
            world.mind().restart();
            let mut sink = world.sink(has_database, now);
            attempt(&path, &world, sink.as_mut(), now).unwrap();
            now = Time(now.0 + 3 * HOUR_MS);
        }
        let mut store = Store::open(&path, Access::ReadWrite).unwrap();
        let dead = store.dead_letters(None).unwrap();
        let reasons: Vec<&str> = dead.iter().map(|letter| letter.error.as_str()).collect();
        let reason = match survives {
            true => "the server took it and lost it",
            false => "the server's worker stopped at it",
        };
        assert_eq!(reasons, [reason], "database: {has_database}");
        let n = store.known_sink("graphiti", "").unwrap().unwrap().n;
        let standing = store.sink_status(n).unwrap().states;
        let (done, bad) = match has_database {
            true => (State::Enriched, State::Seen),
            false => (State::Seen, State::Dead),
        };
        assert_eq!(standing[done.as_str()], EPISODES - 1);
        assert_eq!(standing[bad.as_str()], 1);
        // the reason is gone: it is tried again when asked
        store.settle_dead(None, &[], true, now).unwrap();
        drop(store);
        world.mind().poison = None;
        world.mind().restart();
        let mut sink = world.sink(has_database, now);
        attempt(&path, &world, sink.as_mut(), now).unwrap();
        assert_eq!(world.mind().strangers, 0);
        if has_database {
            assert!(world.mind().nodes.iter().all(|node| node.worked == 1));
        } else {
            assert_eq!(world.mind().named().len(), stored(&path).len());
            assert!(world.mind().named().values().all(|n| *n == 1));
        }
    }
}

#[test]
fn what_is_under_way_when_it_is_forgotten_does_not_come_back() {
    let desk = many_episodes();
    let path = desk.path(".graphiti/sessionmill.db");
    let world = world();
    let mut now = start();
    attempt(&path, &world, world.sink(true, now).as_mut(), now).unwrap();
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    // asked for, and nobody knows what came of it; then somebody wants it gone
    store
        .tamper("UPDATE delivery SET state = 'seen', asked = 1; DELETE FROM episode WHERE n <= 5;");
    store.finish().unwrap();
    drop(store);
    world.mind().is_dead = true;
    now = Time(now.0 + HOUR_MS);
    let away = attempt(&path, &world, world.sink(true, now).as_mut(), now).unwrap();
    assert!(away.fault.is_some() && away.forgotten == 0, "{away:?}");
    let left = |world: &World| {
        let mind = world.mind();
        mind.nodes
            .iter()
            .filter(|node| !node.name.starts_with("canary"))
            .count() as u64
    };
    assert_eq!(left(&world), EPISODES - 5, "removed all the same");
    world.mind().restart();
    now = Time(now.0 + HOUR_MS);
    let gone = attempt(&path, &world, world.sink(true, now).as_mut(), now).unwrap();
    assert_eq!((gone.forgotten, gone.fault), (5, None));
    assert_eq!(left(&world), EPISODES - 5);
    assert_eq!(world.mind().strangers, 0);
}

/// What a sink makes of such an answer to whatever it asks first.
fn fault(reply: Reply) -> DeliveryError {
    let world = World {
        server: Server::new(vec![reply]),
        ..world()
    };
    let mut sink = world.server_sink(start());
    sink.deliver(&outbound_episodes(1)).unwrap_err()
}

#[test]
fn every_answer_is_somebodys_fault() {
    let says = |status, headers| Reply::Says(status, headers, String::new());
    for status in [408, 425, 500, 502, 503] {
        let fault = fault(says(status, ""));
        assert!(
            matches!(&fault, DeliveryError::Unavailable(why, None) if why.contains("answers")),
            "{fault:?}"
        );
    }
    let wait = Some(Duration::from_secs(17));
    let busy = fault(says(429, "retry-after: 17\r\n"));
    assert!(
        matches!(&busy, DeliveryError::Unavailable(_, asked) if *asked == wait),
        "{busy:?}"
    );
    for status in [301, 401, 403, 404, 418] {
        let fault = fault(says(status, "location: http://127.0.0.1:1/\r\n"));
        assert!(
            matches!(&fault, DeliveryError::Misconfigured(_)),
            "{fault:?}"
        );
    }
    let cut = fault(Reply::Cut("[".into()));
    assert!(matches!(&cut, DeliveryError::Unavailable(..)), "{cut:?}");
    let odd = fault(Reply::Says(200, "", "<html>".into()));
    assert!(matches!(&odd, DeliveryError::Misconfigured(_)), "{odd:?}");
}

#[test]
fn what_the_server_refuses_is_a_dead_letter_alone() {
    let desk = many_episodes();
    let path = desk.path(".graphiti/sessionmill.db");
    let world = world();
    let mind = std::sync::Arc::clone(&world.mind);
    let picky = World {
        server: Server::answering(move |asked| {
            let is_bad = asked.line.starts_with("POST") && asked.text.contains("word 42");
            match is_bad {
                true => Reply::Says(422, "", json!({"detail": []}).to_string()),
                false => mind.lock().unwrap().answer(asked),
            }
        }),
        ..world
    };
    let done = attempt(&path, &picky, picky.sink(false, start()).as_mut(), start()).unwrap();
    assert_eq!(
        (done.delivered, done.dead, done.fault),
        (EPISODES - 1, 1, None)
    );
    assert!(picky.mind().named().values().all(|n| *n == 1));
}

#[test]
fn a_token_goes_with_every_request_and_into_no_message() {
    let server = Server::new(vec![Reply::Says(401, "", String::new())]);
    let world = World { server, ..world() };
    let rest = world.graphiti(Some("swordfish"));
    let mut sink = crate::sinks::graphiti::graphiti_server::GraphitiServerSink::new(
        rest,
        world.poll(),
        10,
        false,
        start(),
    );
    let fault = sink.check().unwrap_err();
    assert!(!format!("{fault:?}").contains("swordfish"), "{fault:?}");
    let asked = world.server.asked();
    let bearer = "authorization: bearer swordfish".to_owned();
    assert!(asked.iter().all(|asked| asked.headers.contains(&bearer)));
    assert_eq!(asked.len(), 1);
}

/// With these keys besides kind and url.
pub(super) fn desk(server: &Server, more: Value) -> Desk {
    let desk = Desk::enabled();
    let mut memory = json!({"kind": "graphiti", "url": server.endpoint});
    memory
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let settings = json!({
        "version": "2.0.0", "session_tracking": {"enabled": true},
        "graphiti": {"enabled": true, "consent": true}, "sinks": {"memory": memory},
    });
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    desk
}

#[test]
fn nothing_is_sent_before_somebody_agreed_to_both_the_server_and_its_database() {
    let world = world();
    let database = "redis://127.0.0.1:1";
    let desk = desk(&world.server, json!({"database": database}));
    let agree = |endpoint: &str| {
        let text = endpoint_text(&endpoint.parse().unwrap());
        desk.run(&format!(
            "sessionmill consent give {endpoint} --confirm \"{text}\""
        ))
    };
    for endpoint in [world.server.endpoint.as_str(), database] {
        let ran = desk.run("sessionmill backfill");
        assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
        let hint = format!("consent give {endpoint}");
        assert!(ran.stderr.contains(&hint), "{}", ran.shown());
        let status = desk.run("sessionmill deliver status");
        assert!(status.stdout.contains(&hint), "{}", status.shown());
        assert_eq!(agree(endpoint).exit, Exit::Done);
    }
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(ran.stdout.contains("connection refused"), "{}", ran.shown());
    assert_eq!(world.server.asked().len(), 0);
}

#[test]
fn settings_that_fit_no_graphiti_are_refused() {
    let world = world();
    for (more, says) in [
        (
            json!({"database": "http://h"}),
            "`database` begins with redis://",
        ),
        (json!({"url": "redis://h"}), "`url` begins with http://"),
        (json!({"password_env": "P"}), "`database` is missing"),
        (json!({"sagas": true}), "`database` is missing"),
        (json!({"stall": "soon"}), "`stall` is a span of time"),
        (json!({"window": 0}), "window must be 1 to 100"),
        (json!({"path": "/x"}), "`path` does not apply"),
        (json!({"usd_per_million_input": -1}), "below zero"),
        (
            json!({"kind": "graphiti-mcp", "url": "redis://h"}),
            "`url` begins with http://",
        ),
        (
            json!({"kind": "graphiti-mcp", "password_env": "P"}),
            "`database` is missing",
        ),
    ] {
        let ran = desk(&world.server, more).run("sessionmill run");
        assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
        assert!(ran.stderr.contains(says), "{}", ran.shown());
    }
}

#[test]
fn a_plan_says_what_it_will_cost_and_a_run_keeps_to_it() {
    let world = world();
    let desk = desk(
        &world.server,
        json!({"usd_per_million_input": 100, "stall": "2s"}),
    );
    let text = endpoint_text(&world.server.endpoint.parse().unwrap());
    let agree = format!(
        "consent give {} --confirm \"{text}\"",
        world.server.endpoint
    );
    assert_eq!(desk.run(&format!("sessionmill {agree}")).exit, Exit::Done);
    let whole = desk.run("sessionmill plan backfill --json").json();
    let stored =
        whole["episodes_sealed"].as_u64().unwrap() + whole["episodes_open"].as_u64().unwrap();
    let plan = whole["sinks"][0].clone();
    assert!(whole["pages"].as_u64() > Some(0), "{whole}");
    assert_eq!(
        plan["episodes"].as_u64(),
        whole["pages"].as_u64().map(|pages| stored + pages)
    );
    let (episodes, usd) = (
        plan["episodes"].as_u64().unwrap(),
        plan["usd"].as_f64().unwrap(),
    );
    assert!(episodes > 5 && usd > episodes as f64 * 0.6, "{plan}");
    assert_eq!(plan["llm_calls"], (episodes as f64 * 17.8).round() as u64);
    let words = desk.run("sessionmill plan backfill").stdout;
    assert!(words.contains("its language model processes"), "{words}");
    let file = ".graphiti/graphiti.config.json";
    let settings = std::fs::read_to_string(desk.path(file)).unwrap();
    let mut settings: Value = serde_json::from_str(&settings).unwrap();
    settings["upload"] = json!({"max_usd_per_run": 2.5});
    desk.write(file, &settings.to_string());
    let ran = desk.run("sessionmill backfill --json").json()["sinks"][0].clone();
    assert_eq!(ran["stopped"], "budget", "{ran}");
    let (delivered, usd) = (
        ran["delivered"].as_u64().unwrap(),
        ran["usd"].as_f64().unwrap(),
    );
    assert!(delivered > 0 && usd > 0.5 && usd <= 2.5, "{ran}");
    assert_eq!(world.mind().named().len() as u64, delivered);
    let said = desk.run("sessionmill deliver run").stdout;
    assert!(said.contains("stopped at upload.max_usd_per_run"), "{said}");
}
