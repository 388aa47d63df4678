//! What a delivery believes, and whom: slowness is no loss, a receipt is one place's, what nobody can
//! say is not said, and one refusal keeps nothing from the others.

use super::delivery::{configure, done, sink_of};
use super::faults::{EPISODES, HOUR_MS, many_episodes, stored};
use super::graphiti::{Mind, World, attempt, start};
use super::graphiti_rules::{desk, messages, outbound_episodes, world};
use super::server::{Reply, Server};
use super::sinks::receipts;
use super::world::Desk;
use crate::cli::Exit;
use crate::model::consent::{Consent, endpoint_text};
use crate::model::delivery::DeliveryOutcome;
use crate::model::time::Time;
use crate::pipeline::steps::upload::smoke::smoke;
use crate::stages::upload::Sink;
use crate::store::{Access, Store};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn tamper(path: &Path, sql: &str) {
    let mut store = Store::open(path, Access::ReadWrite).unwrap();
    store.tamper(sql);
    store.finish().unwrap();
}

/// A server that showed something before and does nothing now, and a store whose first episodes
/// were posted to it and didn't come.
fn stuck(desk: &Desk, episodes: u64) -> (World, PathBuf) {
    let path = desk.path(".graphiti/sessionmill.db");
    tamper(&path, &format!("DELETE FROM episode WHERE n > {episodes}"));
    let world = world();
    let others = world
        .server_sink(start())
        .deliver(&outbound_episodes(3))
        .unwrap();
    assert_eq!(others, vec![DeliveryOutcome::Seen; 3]);
    world.mind().is_dead = true;
    let ran = attempt(&path, &world, world.sink(false, start()).as_mut(), start()).unwrap();
    assert!(ran.fault.is_some() && ran.delivered == 0, "{ran:?}");
    (world, path)
}

/// The worker does all that it has.
fn drain(world: &World) {
    let mut sink = world.server_sink(start());
    for _ in 0..1_000 {
        sink.check().unwrap();
    }
}

fn later(hours: i64) -> Time {
    Time(start().0 + hours * HOUR_MS)
}

#[test]
fn what_was_merely_slow_is_there_once() {
    // tried again by itself, and by a person after it was given up
    for is_replayed in [false, true] {
        let desk = many_episodes();
        let (world, path) = stuck(&desk, 1);
        if is_replayed {
            tamper(&path, "UPDATE delivery SET state = 'dead', next_at = NULL");
            let mut store = Store::open(&path, Access::ReadWrite).unwrap();
            assert_eq!(store.settle_dead(None, &[], true, later(1)).unwrap(), 1);
        }
        world.mind().is_dead = false;
        let mut sink = world.sink(false, later(3));
        let ran = attempt(&path, &world, sink.as_mut(), later(3)).unwrap();
        assert_eq!((ran.delivered, ran.fault), (1, None));
        drain(&world);
        assert_eq!(world.mind().named().len(), 3 + 1);
        let twice = world.mind().named().into_iter().find(|(_, n)| *n > 1);
        assert_eq!(twice, None, "replayed: {is_replayed}");
    }
}

#[test]
fn a_queue_that_goes_on_slowly_is_waited_for_however_long_it_is() {
    let desk = many_episodes();
    let (world, path) = stuck(&desk, 12);
    {
        let mut mind = world.mind();
        (mind.is_dead, mind.pace) = (false, 10);
    }
    let mut sink = world.sink(false, later(3));
    let ran = attempt(&path, &world, sink.as_mut(), later(3)).unwrap();
    assert_eq!((ran.found + ran.delivered, ran.fault), (12, None));
    assert!(world.mind().named().values().all(|n| *n == 1));
}

/// A server that does this with what is posted, and takes the consent to itself back when it is.
fn fickle(home: &Desk, reply: fn() -> Reply) -> Server {
    let path = home.path(".graphiti/sessionmill.db");
    Server::answering(move |asked| {
        let is_post = asked.line.starts_with("POST");
        if is_post {
            let host = asked.headers.iter().find_map(|h| h.strip_prefix("host: "));
            let mut store = Store::open(&path, Access::ReadWrite).unwrap();
            let taken_back = Consent {
                scope: format!("http://{}", host.unwrap()),
                given: false,
                text: String::new(),
                version: String::new(),
                at: start(),
            };
            store.record_consent(&taken_back).unwrap();
        }
        let listed = json!([{"uuid": "x", "name": "somebody else's"}]);
        match is_post {
            true => reply(),
            false => Reply::Says(200, "", listed.to_string()),
        }
    })
}

fn agree(desk: &Desk, endpoint: &str) {
    let text = endpoint_text(&endpoint.parse().unwrap());
    done(desk.run(&format!(
        "sessionmill consent give {endpoint} --confirm \"{text}\""
    )));
}

#[test]
fn a_consent_that_is_taken_back_ends_a_batch_that_is_under_way() {
    let refuses = || Reply::Says(422, "", String::new());
    let takes = || Reply::Says(202, "", "{}".into());
    for reply in [refuses as fn() -> Reply, takes] {
        let desk = Desk::enabled();
        let server = fickle(&desk, reply);
        let memory = json!({"kind": "graphiti", "url": server.endpoint, "stall": "2s"});
        configure(&desk, json!({"sinks": {"memory": memory}}));
        agree(&desk, &server.endpoint);
        let ran = desk.run("sessionmill backfill");
        assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
        assert!(ran.stderr.contains("consent give"), "{}", ran.shown());
        let asked = server.asked();
        let posted = asked.iter().position(|a| a.line.starts_with("POST"));
        assert_eq!(posted.unwrap() + 1, asked.len(), "{asked:?}");
    }
}

/// Lines in the files of a folder.
fn lines(desk: &Desk, folder: &str) -> usize {
    let files = std::fs::read_dir(desk.path(folder)).into_iter().flatten();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    texts.map(|text| text.lines().count()).sum()
}

#[test]
fn a_receipt_of_one_place_says_nothing_of_another() {
    let desk = Desk::enabled();
    let at = |path: &str| {
        let sinks = json!({"export": {"kind": "jsonl", "path": path}});
        configure(&desk, json!({ "sinks": sinks }));
    };
    at("~/old");
    done(desk.run("sessionmill backfill"));
    let all = lines(&desk, "old");
    assert!(all > 5);
    at("~/new");
    // nobody was there yet
    let verified = done(desk.run("sessionmill deliver verify --json")).json();
    assert_eq!(sink_of(&verified)["landed"], 0);
    let status = done(desk.run("sessionmill deliver status")).stdout;
    assert!(status.contains("deliver run export --history"), "{status}");
    let ran = done(desk.run("sessionmill run --json")).json();
    assert_eq!(sink_of(&ran)["delivered"], 0);
    let status = done(desk.run("sessionmill deliver status")).stdout;
    assert!(status.contains(&format!("{all} older")), "{status}");
    assert!(status.contains(&format!("{all} stay at jsonl")), "{status}");
    done(desk.run("sessionmill deliver run export --history"));
    assert_eq!((lines(&desk, "old"), lines(&desk, "new")), (all, all));
    // what is forgotten goes from where the sink is, and is said to stay where it was
    let session = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e004";
    let forgot = done(desk.run(&format!("sessionmill forget {session} --json"))).json();
    let left = forgot["left_at_sinks"].as_array().unwrap();
    let named: Vec<(bool, bool)> = left
        .iter()
        .map(|left| {
            let sink = left["sink"].as_str().unwrap();
            (sink.contains("jsonl"), left["configured"] == true)
        })
        .collect();
    assert_eq!(named, [(false, true), (true, false)], "{forgot}");
    done(desk.run("sessionmill deliver run"));
    let rest = lines(&desk, "new");
    assert!(rest < all && lines(&desk, "old") == all);
    // where it was before, its receipts are worth something again
    at("~/old");
    let ran = done(desk.run("sessionmill deliver run --json")).json();
    let (delivered, forgotten) = (&sink_of(&ran)["delivered"], &sink_of(&ran)["forgotten"]);
    assert_eq!((delivered, forgotten), (&json!(0), &json!(all - rest)));
    assert_eq!(lines(&desk, "old"), rest);
    let verified = done(desk.run("sessionmill deliver verify --json")).json();
    assert_eq!(sink_of(&verified)["landed"], rest);
}

/// A server that lists nothing, agreed to.
fn blind() -> (World, Desk) {
    let world = World::new(Mind::new(0));
    world.mind().is_blind = true;
    let desk = desk(&world.server, json!({"stall": "2s"}));
    agree(&desk, &world.server.endpoint);
    done(desk.run("sessionmill run --steps ingest,report"));
    (world, desk)
}

#[test]
fn what_nobody_can_say_is_not_said() {
    let (world, desk) = blind();
    let all = desk.run("sessionmill deliver run --unverified");
    assert_eq!(all.exit, Exit::Usage, "it is said of one sink");
    let command = "sessionmill deliver run memory --unverified --history --json";
    let ran = sink_of(&done(desk.run(command)).json());
    let posted = ran["unverified"].as_u64().unwrap();
    assert!(posted > 5, "{ran}");
    assert_eq!(messages(&world.server.asked()).len() as u64, posted);
    // as if it had died before it noted what became of them
    let path = desk.path(".graphiti/sessionmill.db");
    tamper(&path, "UPDATE delivery SET state = 'sent'");
    let ran = sink_of(&done(desk.run(command)).json());
    assert_eq!(ran["unverified"], posted, "{ran}");
    assert_eq!(messages(&world.server.asked()).len(), 0, "posted again");
    // nor whether it was removed
    let session = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e004";
    let forgot = done(desk.run(&format!("sessionmill forget {session} --json"))).json();
    let kept = forgot["left_at_sinks"][0]["kept"].as_u64().unwrap();
    assert!(kept > 0, "{forgot}");
    let path = desk.path(".graphiti/sessionmill.db");
    tamper(
        &path,
        "UPDATE delivery SET state = 'gone' WHERE state = 'kept'",
    );
    let ran = sink_of(&done(desk.run(command)).json());
    assert_eq!((&ran["kept"], &ran["forgotten"]), (&json!(kept), &json!(0)));
}

#[test]
fn what_a_server_lists_is_not_posted_again_though_nobody_waits_for_it() {
    let (world, desk) = blind();
    let command = "sessionmill deliver run memory --history --json --unverified";
    let posted = sink_of(&done(desk.run(command)).json())["unverified"].clone();
    drain(&world);
    world.mind().is_blind = false;
    tamper(
        &desk.path(".graphiti/sessionmill.db"),
        "DELETE FROM delivery; UPDATE sink SET clean_to = 0",
    );
    world.server.asked();
    let ran = sink_of(&done(desk.run(command)).json());
    assert_eq!(
        (&ran["delivered"], &ran["unverified"]),
        (&posted, &json!(0))
    );
    assert_eq!(messages(&world.server.asked()).len(), 0);
}

/// A database that answers every query with this error.
fn refusing(error: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let reader = BufReader::new(stream.try_clone().unwrap());
            std::thread::spawn(move || {
                commands(reader, |command| {
                    let answer = match command {
                        b"GRAPH.QUERY" => format!("-{error}\r\n"),
                        b"EXISTS" => ":1\r\n".to_owned(),
                        _ => "+OK\r\n".to_owned(),
                    };
                    stream.write_all(answer.as_bytes()).is_ok()
                })
            });
        }
    });
    url
}

/// The first word of each command, as long as somebody wants it.
fn commands(mut from: impl BufRead, mut each: impl FnMut(&[u8]) -> bool) -> Option<()> {
    let number = |from: &mut dyn BufRead| {
        let mut line = String::new();
        from.read_line(&mut line).ok()?;
        line.get(1..)?.trim().parse::<usize>().ok()
    };
    loop {
        let mut words = Vec::new();
        for _ in 0..number(&mut from)? {
            let mut word = vec![0; number(&mut from)? + 2];
            from.read_exact(&mut word).ok()?;
            word.truncate(word.len() - 2);
            words.push(word);
        }
        if !each(words.first()?) {
            return None;
        }
    }
}

#[test]
fn what_a_database_says_to_everybody_is_no_episodes_fault() {
    for (error, is_dead) in [
        ("Max pending queries exceeded", false),
        ("Query timed out", false),
        ("NOREPLICAS Not enough good replicas to write.", false),
        ("MOVED 3999 127.0.0.1:6381", false),
        ("ERR max number of clients reached", false),
        (
            "OOM command not allowed when used memory > 'maxmemory'.",
            false,
        ),
        ("Something that nobody has heard of", false),
        ("errMsg: Invalid input line: 1", true),
        ("Query's mem consumption exceeded capacity", true),
    ] {
        let url = refusing(error);
        let desk = Desk::enabled();
        let sinks = json!({"graph": {"kind": "falkordb", "url": url}});
        configure(&desk, json!({ "sinks": sinks }));
        agree(&desk, &url);
        let ran = desk.run("sessionmill backfill --json");
        let sink = sink_of(&ran.json());
        assert_eq!(
            sink["dead"].as_u64().unwrap() > 0,
            is_dead,
            "{error}: {sink}"
        );
        assert_eq!(sink["fault"].is_null(), is_dead, "{error}: {sink}");
        assert_eq!(sink["waiting"].as_u64().unwrap() > 0, !is_dead, "{sink}");
    }
}

#[test]
fn what_stood_in_the_database_before_is_worked_through_though_nobody_noted_it() {
    let desk = many_episodes();
    let path = desk.path(".graphiti/sessionmill.db");
    let world = world();
    attempt(&path, &world, world.sink(true, start()).as_mut(), start()).unwrap();
    // as if another sink had written them, and this one had died before it marked them
    for node in &mut world.mind().nodes {
        node.worked = 0;
    }
    tamper(&path, "UPDATE delivery SET state = 'sent', asked = NULL");
    let mut sink = world.sink(true, later(1));
    let ran = attempt(&path, &world, sink.as_mut(), later(1)).unwrap();
    assert_eq!((ran.enriched, ran.fault), (EPISODES, None));
    let mind = world.mind();
    let mut ours = mind.nodes.iter().filter(|n| n.name.starts_with("Session"));
    assert!(ours.all(|node| node.worked == 1 && !node.is_marked));
}

#[test]
fn what_is_forgotten_while_it_is_queued_ends_no_worker() {
    let desk = many_episodes();
    let path = desk.path(".graphiti/sessionmill.db");
    let world = world();
    attempt(&path, &world, world.sink(true, start()).as_mut(), start()).unwrap();
    let ids: Vec<String> = stored(&path).keys().map(ToString::to_string).collect();
    for node in &mut world.mind().nodes {
        node.is_marked = true;
    }
    for id in &ids[..5] {
        let mut mind = world.mind();
        let node = mind.nodes.iter().find(|n| n.uuid.to_string() == *id);
        let group = node.unwrap().group.clone();
        mind.queue
            .push_back((group, json!({"name": "x", "uuid": id})));
        let id = id.replace('-', "");
        drop(mind);
        tamper(
            &path,
            &format!(
                "UPDATE delivery SET state = 'seen', asked = 1 WHERE id = x'{id}';
                 DELETE FROM episode WHERE id = x'{id}'"
            ),
        );
    }
    let mut sink = world.sink(true, later(1));
    let ran = attempt(&path, &world, sink.as_mut(), later(1)).unwrap();
    assert_eq!((ran.forgotten, ran.fault), (5, None));
    drain(&world);
    assert_eq!(world.mind().strangers, 0);
    assert!(!world.mind().is_dead);
}

/// A world whose server refuses with this status whatever `refuses` says.
fn picky(status: u16, refuses: fn(&super::server::Asked) -> bool) -> World {
    let world = world();
    let mind = Arc::clone(&world.mind);
    World {
        server: Server::answering(move |asked| match refuses(asked) {
            true => Reply::Says(status, "", "{}".into()),
            false => mind.lock().unwrap().answer(asked),
        }),
        ..world
    }
}

#[test]
fn a_node_that_the_server_refuses_keeps_nothing_from_the_others() {
    let world = picky(413, |asked| {
        asked.line.starts_with("POST")
            && (asked.text.contains("word 42") || asked.text.len() > 20_000)
    });
    let desk = many_episodes();
    let path = desk.path(".graphiti/sessionmill.db");
    let mut sink = world.sink(true, start());
    let ran = attempt(&path, &world, sink.as_mut(), start()).unwrap();
    assert_eq!((ran.enriched, ran.dead, ran.fault), (EPISODES - 1, 1, None));
    assert!(world.mind().nodes.iter().all(|node| node.worked <= 1));
    let store = Store::open(&path, Access::ReadOnly).unwrap();
    let dead = store.dead_letters(None).unwrap();
    assert!(dead[0].error.contains("413"), "{dead:?}");
    // of a node that is there, its own content is taken
    let sent = messages(&world.server.asked());
    let with_words = sent
        .iter()
        .find(|m| !m["uuid"].is_null() && m["content"] != "");
    assert_eq!(with_words, None);
}

#[test]
fn a_server_that_removes_nothing_for_us_is_delivered_to_all_the_same() {
    for status in [403, 404, 405, 501] {
        let world = picky(status, |asked| asked.line.starts_with("DELETE"));
        let mut sink = world.server_sink(start());
        let all = outbound_episodes(3);
        assert_eq!(sink.deliver(&all).unwrap(), vec![DeliveryOutcome::Seen; 3]);
        let asked = receipts(&sink, &all);
        assert_eq!(sink.forget(&asked).unwrap().len(), 3, "{status}");
    }
}

#[test]
fn no_server_says_for_how_long_it_is_left_alone() {
    let desk = many_episodes();
    let path = desk.path(".graphiti/sessionmill.db");
    let world = World {
        server: Server::new(vec![Reply::Says(
            429,
            "retry-after: 99999999999\r\n",
            String::new(),
        )]),
        ..world()
    };
    let ran = attempt(&path, &world, world.sink(false, start()).as_mut(), start()).unwrap();
    assert_eq!(ran.paused_until, Some(later(2)), "the longest delay");
}

#[test]
fn a_smoke_test_believes_none_before_it() {
    let world = world();
    let posts = || messages(&world.server.asked()).len();
    for hours in 0..2 {
        let is_removed = smoke(&mut world.server_sink(later(hours)), later(hours)).unwrap();
        assert!(!is_removed, "this server keeps everything");
        assert_eq!(posts(), 1);
    }
}
