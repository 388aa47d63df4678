//! What deliveries will cost is said before: with a full store and a sink that no run has met.

use super::graphiti_rules::world;
use super::world::Desk;
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use serde_json::{Value, json};
use std::fs;

/// A full store; then a Graphiti server is named.
fn full(endpoint: &str) -> Desk {
    let desk = Desk::enabled();
    assert_eq!(desk.run("sessionmill backfill").exit, Exit::Done);
    let settings = json!({
        "version": "2.0.0", "session_tracking": {"enabled": true},
        "graphiti": {"enabled": true, "consent": true},
        "sinks": {"memory": {"kind": "graphiti", "url": endpoint, "stall": "2s"}},
    });
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    desk
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key}: {of}"))
}

#[test]
fn a_new_sink_at_a_full_store_is_told_what_its_history_costs_before_anybody_agreed() {
    let world = world();
    let desk = full(&world.server.endpoint);
    let before = fs::read(desk.path(".graphiti/sessionmill.db")).unwrap();
    let plan = desk.run("sessionmill plan --json").json()["sinks"][0].clone();
    let history = plan["history"].clone();
    assert_eq!(
        (&plan["episodes"], &plan["waiting"]),
        (&json!(0), &json!(0))
    );
    assert!(number(&history, "episodes") > 20.0, "{history}");
    assert!(number(&history, "usd") > 0.0 && number(&history, "llm_calls") > 0.0);
    assert!(number(&history, "model_hours") > 0.0, "{history}");
    let words = desk.run("sessionmill plan").stdout;
    for says in [
        "sent only by sessionmill deliver run memory --history",
        "12.0 entities and 8.0 facts an episode (nothing was counted in its graph yet)",
        "3 s a call",
        "0.4 USD and 1.6 USD for a million tokens",
    ] {
        assert!(words.contains(says), "{says}: {words}");
    }
    // the same of the delivery itself
    let dry = desk.run("sessionmill deliver run --dry-run --history --json");
    assert_eq!(dry.exit, Exit::Done, "{}", dry.shown());
    assert_eq!(dry.json()["sinks"][0]["history"], history);
    let words = desk
        .run("sessionmill deliver run --dry-run --history")
        .stdout;
    let episodes = format!("would get {} episodes", history["episodes"]);
    assert!(words.contains(&episodes), "{words}");
    let without = desk.run("sessionmill deliver run --dry-run").stdout;
    assert!(without.contains("would get 0 episodes"), "{without}");
    assert!(
        without.contains("older episodes with --history"),
        "{without}"
    );
    assert!(world.server.asked().is_empty(), "nobody was asked");
    let after = fs::read(desk.path(".graphiti/sessionmill.db")).unwrap();
    assert!(before == after, "nothing was written");
    // and that is what is sent
    let endpoint = &world.server.endpoint;
    let text = endpoint_text(&endpoint.parse().unwrap());
    let agree = format!("sessionmill consent give {endpoint} --confirm \"{text}\"");
    assert_eq!(desk.run(&agree).exit, Exit::Done);
    let ran = desk
        .run("sessionmill deliver run memory --history --json")
        .json();
    let sent = ran["sinks"][0].clone();
    assert_eq!(sent["delivered"], history["episodes"], "{sent}");
    let (spent, planned) = (number(&sent, "usd"), number(&history, "usd"));
    assert!((spent / planned - 1.0).abs() < 0.25, "{spent} of {planned}");
    let plan = desk.run("sessionmill plan --json").json()["sinks"][0].clone();
    assert_eq!(plan["history"]["episodes"], 0, "{plan}");
}

#[test]
fn what_was_counted_in_a_graph_is_what_later_estimates_go_by() {
    let world = world();
    let desk = full(&world.server.endpoint);
    let usd = |desk: &Desk| {
        let plan = desk.run("sessionmill plan --json").json()["sinks"][0].clone();
        (number(&plan["history"], "usd"), plan["assumes"].clone())
    };
    let (assumed, _) = usd(&desk);
    let counted = json!({"episodes": 10, "mentions": 250, "facts": 160, "worked": 10,
        "worked_ms": 50_000});
    desk.write(".graphiti/graphs/memory.json", &counted.to_string());
    let (by_count, assumes) = usd(&desk);
    assert!(by_count > 1.3 * assumed, "{by_count} after {assumed}");
    assert_eq!(
        (&assumes["entities"], &assumes["facts"]),
        (&json!(25.0), &json!(16.0))
    );
    assert_eq!(assumes["seconds_per_episode"], 5.0);
    let words = desk.run("sessionmill plan").stdout;
    assert!(
        words.contains("counted in 10 episodes of its graph"),
        "{words}"
    );
}

#[test]
fn a_sink_gets_chunks_or_summaries_or_both_and_is_billed_for_that() {
    let desk = Desk::enabled();
    let configure = |content: &str| {
        let settings = json!({
            "version": "2.0.0", "session_tracking": {"enabled": true},
            "sinks": {"export": {"kind": "jsonl", "path": "~/out", "content": content}},
        });
        desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    };
    let planned = |desk: &Desk| {
        let plan = desk.run("sessionmill plan --all --json").json();
        number(&plan["sinks"][0], "episodes")
    };
    // a sink that a run has met
    configure("summaries");
    assert_eq!(
        desk.run("sessionmill run --since 2026-05-31").exit,
        Exit::Done
    );
    let sources = |desk: &Desk| {
        let mut all = String::new();
        for file in fs::read_dir(desk.path("out"))
            .into_iter()
            .flatten()
            .flatten()
        {
            all += &fs::read_to_string(file.path()).unwrap_or_default();
        }
        let is_summary = |line: &&str| {
            let episode: Value = serde_json::from_str(line).expect("a line");
            episode.to_string().contains(", summary")
        };
        let summaries = all.lines().filter(is_summary).count();
        (all.lines().count() - summaries, summaries)
    };
    let (said, told) = sources(&desk);
    assert!(said == 0 && told > 5, "{said}, {told}");
    // the summaries are there: the chunks alone are left
    let left = ["all", "chunks", "summaries"].map(|content| {
        configure(content);
        planned(&desk)
    });
    assert!(left[1] > 5.0, "{left:?}");
    assert_eq!(left, [left[1], left[1], 0.0]);
    configure("all");
    assert_eq!(desk.run("sessionmill run").exit, Exit::Done);
    let (said, again) = sources(&desk);
    assert!(said > 5 && again == told, "{said}, {again}");
    configure("some");
    assert_eq!(desk.run("sessionmill run").exit, Exit::Usage);
}
