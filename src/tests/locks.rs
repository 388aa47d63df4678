//! A run that waits for a graph keeps nobody from reading, forgetting or looking; who holds what is named.

use super::graphiti::Mind;
use super::server::{Reply, Server};
use super::world::Desk;
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use crate::pipeline::lock::{Lock, is_held};
use serde_json::json;
use std::sync::{Arc, Mutex};

fn configure(desk: &Desk, endpoint: &str) {
    let settings = json!({
        "version": "2.0.0", "session_tracking": {"enabled": true},
        "graphiti": {"enabled": true, "consent": true},
        "sinks": {"memory": {"kind": "graphiti", "url": endpoint, "stall": "2s"}},
    });
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    let text = endpoint_text(&endpoint.parse().expect("an endpoint"));
    let line = format!("sessionmill consent give {endpoint} --confirm \"{text}\"");
    assert_eq!(desk.run(&line).exit, Exit::Done);
}

#[test]
fn while_a_graph_is_waited_for_the_store_is_free() {
    let desk = Desk::enabled();
    let locks = [
        ".graphiti/sessionmill.lock",
        ".graphiti/sessionmill.deliver.lock",
    ];
    let locks = locks.map(|below| desk.path(below));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (held, mut mind) = (Arc::clone(&seen), Mind::new(0));
    let server = Server::answering(move |asked| {
        let is_held = locks.each_ref().map(|lock| is_held(lock));
        held.lock().expect("one server").push(is_held);
        mind.answer(asked)
    });
    configure(&desk, &server.endpoint);
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let seen = seen.lock().expect("one test").clone();
    assert!(seen.len() > 2, "{seen:?}");
    assert!(seen.iter().all(|held| *held == [false, true]), "{seen:?}");
}

#[test]
fn who_reads_forgets_and_looks_goes_on_and_who_delivers_is_told_by_whom_it_is_done() {
    let refuses = Server::new(vec![Reply::Says(500, "", String::new())]);
    let desk = Desk::enabled();
    assert_eq!(desk.run("sessionmill backfill").exit, Exit::Done);
    configure(&desk, &refuses.endpoint);
    let path = desk.path(".graphiti/sessionmill.deliver.lock");
    let what = "the delivery of run nightly";
    let delivery = Lock::take_for(what, &path).expect("a lock");
    let by = format!("{what} (process {})", std::process::id());
    for line in ["run", "plan", "deliver run --dry-run --history"] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
        let is_told = ran.stderr.contains(&by);
        assert_eq!(is_told, line == "run", "{line}: {}", ran.shown());
    }
    for line in ["forget session-042 --dry-run", "forget session-042"] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
    }
    assert!(refuses.asked().is_empty());
    let busy = desk.run("sessionmill deliver run");
    assert_eq!(busy.exit, Exit::Busy, "{}", busy.shown());
    assert!(busy.stderr.contains(&by), "{}", busy.shown());
    drop(delivery);
    let reads = Lock::take_for("run nightly", &desk.path(".graphiti/sessionmill.lock"));
    let busy = desk.run("sessionmill forget session-042");
    assert_eq!(busy.exit, Exit::Busy, "{}", busy.shown());
    assert!(
        busy.stderr.contains("run nightly (process "),
        "{}",
        busy.shown()
    );
    drop(reads);
}
