//! A real FalkorDB under more than it likes, and the real graphiti-core as the one who reads what was
//! delivered. `make test-graph` runs these.

use super::delivery::{configure, done};
use super::falkor::Falkor;
use super::forget::desk;
use super::memory_rows::{agree, talk};
use super::sinks::{ODD, falkordb, outbound, receipts};
use super::world::Desk;
use crate::model::delivery::{DeliveryError, DeliveryOutcome, Landed, OutboundEpisode};
use crate::model::namespace::namespace;
use crate::model::time::Time;
use crate::sinks::database::Login;
use crate::stages::upload::Sink;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Of one group, one after the other, with these contents.
pub(super) fn outbound_episodes(
    contents: impl IntoIterator<Item = String>,
) -> Vec<OutboundEpisode> {
    let one = |(n, content): (u128, String)| {
        let mut outbound = outbound(n, &content);
        outbound.group = "desk__global".into();
        outbound.valid_at = Time(1_780_000_000_000 + n as i64 * 61_003);
        outbound
    };
    (0..).zip(contents).map(one).collect()
}

pub(super) fn deliver(sink: &mut dyn Sink, outbound_episodes: &[OutboundEpisode]) {
    for batch in outbound_episodes.chunks(250) {
        let outcomes = sink.deliver(batch).unwrap();
        let unseen = outcomes.iter().find(|o| **o != DeliveryOutcome::Seen);
        assert_eq!((unseen, outcomes.len()), (None, batch.len()));
    }
}

/// What graphiti-core reads; `None` where it isn't installed.
fn graphiti(server: &Falkor, words: &[&str]) -> Option<Vec<Value>> {
    graphiti_at(&server.port().to_string(), "", words)
}

/// The same of any database, by the address that `scripts/graphiti-reads` takes.
pub(super) fn graphiti_at(place: &str, password: &str, words: &[&str]) -> Option<Vec<Value>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ran = Command::new(root.join("target/graph/bin/python"))
        .arg(root.join("scripts/graphiti-reads"))
        .args([place, "desk__global"])
        .args(words)
        .env("GRAPH_PASSWORD", password)
        .output();
    let Some(ran) = ran.ok().filter(|ran| ran.status.code() != Some(69)) else {
        eprintln!("graphiti-core can't be had here: passed over");
        return None;
    };
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{told}");
    let lines = std::str::from_utf8(&ran.stdout).unwrap().lines();
    Some(lines.map(|l| serde_json::from_str(l).unwrap()).collect())
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn graphiti_reads_what_was_delivered_as_its_own_in_order() {
    let server = Falkor::start();
    let odd = ODD.iter().map(|text| (*text).to_owned());
    let more = (0..1_200).map(|n| format!("what a zebrafish does, number {n}"));
    let all = outbound_episodes(odd.chain(more));
    deliver(&mut falkordb(&server, &Login::default()), &all);
    let Some(read) = graphiti(&server, &[]) else {
        return;
    };
    assert_eq!(read.len(), all.len());
    for (read, sent) in read.iter().zip(&all) {
        assert_eq!(read["uuid"], sent.id.to_string());
        assert_eq!(read["name"], sent.name);
        assert_eq!(read["content"], sent.content.replace('\0', ""));
        assert_eq!(read["source"], "text");
        assert_eq!(read["source_description"], sent.source_description);
        let at = read["valid_at"].as_f64().unwrap() * 1_000.0;
        assert_eq!(at.round() as i64, sent.valid_at.0);
    }
    let found = graphiti(&server, &["zebrafish"]).unwrap();
    assert_eq!(found.len(), 100);
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn a_graph_takes_large_and_many_episodes() {
    let server = Falkor::start();
    let mut sink = falkordb(&server, &Login::default());
    let large = |n| format!("{n} \"quoted\" \\ ü\n").repeat(150_000);
    let all = outbound_episodes(
        (0..3)
            .map(large)
            .chain((0..5_000).map(|n| format!("word {n}"))),
    );
    assert!(all[0].content.len() > 2_000_000);
    // it may be told to answer with few rows
    server.redis(&["GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "100"]);
    deliver(&mut sink, &all);
    let asked = receipts(&sink, &all);
    assert_eq!(sink.verify(&asked).unwrap(), vec![Landed::Once; all.len()]);
    sink.forget(&asked).unwrap();
    let gone = vec![Landed::Missing; all.len()];
    assert_eq!(sink.verify(&asked).unwrap(), gone);
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn what_gets_another_group_leaves_the_graph_that_had_it() {
    let server = Falkor::start();
    let mut desk = desk();
    let endpoint = format!("redis://127.0.0.1:{}", server.port());
    let goes_to = |desk: &Desk, group: &str| {
        let tracking = json!({"enabled": true, "group_id": group});
        let sinks = json!({"brain": {"kind": "falkordb", "url": endpoint}});
        configure(desk, json!({"session_tracking": tracking, "sinks": sinks}));
    };
    let run = |desk: &mut Desk| {
        desk.now = Time(desk.now.0 + 86_400_000);
        done(desk.run("sessionmill run --all"));
    };
    let count = |group: &str| -> String {
        server.redis(&[
            "GRAPH.QUERY",
            group,
            "MATCH (e:Episodic) RETURN count(e) + 1000",
        ])
    };
    goes_to(&desk, "mine");
    agree(&desk, &endpoint);
    talk(&desk, "/w/shop", "aaaa1", &["alpha it"]);
    talk(&desk, "/w/blog", "bbbb2", &["beta it"]);
    run(&mut desk);
    assert!(count("mine").contains("1004"), "{}", count("mine"));
    goes_to(&desk, "mine_{namespace}");
    done(desk.run("sessionmill deliver regroup mine"));
    run(&mut desk);
    assert!(count("mine").contains("1000"), "{}", count("mine"));
    for project in ["/w/shop", "/w/blog"] {
        let own = format!("mine_{}", namespace(project));
        assert!(count(&own).contains("1002"), "{}", count(&own));
    }
    done(desk.run("sessionmill deliver verify"));
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn falkordb_blames_no_episode_for_what_somebody_put_in_its_place() {
    let server = Falkor::start();
    server.redis(&["SET", "desk__global", "not a graph"]);
    let mut sink = falkordb(&server, &Login::default());
    let all = outbound_episodes(["one".into(), "two".into()]);
    let fault = sink.deliver(&all);
    assert!(
        matches!(fault, Err(DeliveryError::Misconfigured(_))),
        "{fault:?}"
    );
    let plain = Falkor::start_plain();
    let mut sink = falkordb(&plain, &Login::default());
    let fault = sink.deliver(&all);
    assert!(
        matches!(fault, Err(DeliveryError::Misconfigured(_))),
        "{fault:?}"
    );
    assert!(matches!(sink.check(), Err(DeliveryError::Misconfigured(_))));
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn a_graph_that_dies_and_comes_back_empty_gets_all_of_it() {
    let all = outbound_episodes((0..1_000).map(|n| format!("word {n} ").repeat(200)));
    for die_after_ms in [0, 5, 20, 60] {
        let server = Falkor::start();
        let port = server.port();
        let mut sink = falkordb(&server, &Login::default());
        sink.deliver(&all[..1]).unwrap();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(die_after_ms));
            drop(server);
        });
        let died = sink.deliver(&all);
        killer.join().unwrap();
        assert!(
            matches!(died, Ok(_) | Err(DeliveryError::Unavailable(..))),
            "{die_after_ms} ms"
        );
        let _server = Falkor::start_at(port);
        // a connection that broke says so once
        let asked = receipts(&sink, &all);
        let landed = sink.verify(&asked).or_else(|_| sink.verify(&asked));
        assert_eq!(landed.unwrap(), vec![Landed::Missing; all.len()]);
        let mut sink = falkordb(&_server, &Login::default());
        deliver(&mut sink, &all);
        assert_eq!(sink.verify(&asked).unwrap(), vec![Landed::Once; all.len()]);
    }
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn a_graph_that_is_slow_is_waited_for() {
    let server = Falkor::start();
    let mut sink = falkordb(&server, &Login::default());
    let all = outbound_episodes((0..200).map(|n| format!("word {n}")));
    sink.deliver(&all[..1]).unwrap();
    server.hold(true);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_secs(2));
            server.hold(false);
        });
        sink.deliver(&all)
    });
    assert_eq!(ran, Ok(vec![DeliveryOutcome::Seen; all.len()]));
}
