//! Graphiti's MCP server in memory, with its contract and its faults (graphiti § 3), and the rules of
//! delivering to it, one by one.

use super::graphiti::{Mind, World, says, start};
use super::graphiti_rules::{desk, outbound_episodes};
use super::server::{Asked, Reply, Server};
use super::sinks::{keeps_its_promises, outbound, receipts};
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use crate::model::delivery::{
    DeliveryError, DeliveryOutcome, DeliveryProgress, Landed, OutboundEpisode, State,
};
use crate::stages::upload::{Enrichment, RetryOptions, Sink, upload};
use serde_json::{Value, json};

impl Mind {
    /// What is asked for over streamable HTTP.
    pub(super) fn route_mcp(&mut self, asked: &Asked) -> Reply {
        let session = header(asked, "mcp-session-id");
        let is_open = session.is_some_and(|id| self.sessions.contains(id));
        let accepts = header(asked, "accept").unwrap_or_default();
        match (asked.line.as_str(), &asked.body["method"]) {
            ("DELETE /mcp", _) => {
                self.sessions.remove(session.unwrap_or_default());
                says(200, Value::Null)
            }
            ("POST /mcp", _) if !accepts.contains("text/event-stream") => says(406, json!({})),
            ("POST /mcp", method) if method == "initialize" => self.welcome(asked),
            ("POST /mcp", _) if session.is_none() => says(400, json!({})),
            ("POST /mcp", _) if !is_open => says(404, json!({})),
            ("POST /mcp", method) if method == "notifications/initialized" => says(202, json!("")),
            ("POST /mcp", method) if method == "tools/list" => self.tells(asked, &tools()),
            ("POST /mcp", _) => {
                let result = self.tool(&asked.body["params"]);
                self.tells(asked, &result)
            }
            _ => says(404, json!({"detail": "Not Found"})),
        }
    }

    fn welcome(&mut self, asked: &Asked) -> Reply {
        const IDS: [&str; 2] = [
            "mcp-session-id: s0\r\ncontent-type: application/json\r\n",
            "mcp-session-id: s1\r\ncontent-type: application/json\r\n",
        ];
        let nth = self.dice.roll(2) as usize;
        self.sessions.insert(format!("s{nth}"));
        let result = json!({"protocolVersion": "2025-03-26", "capabilities": {}});
        let text = answer(asked, &result).to_string();
        Reply::Says(200, IDS[nth], text)
    }

    /// As JSON, or as an event behind others.
    fn tells(&mut self, asked: &Asked, result: &Value) -> Reply {
        let text = answer(asked, result).to_string();
        if self.dice.one_in(2) {
            return Reply::Says(200, "content-type: application/json\r\n", text);
        }
        let told = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}});
        let stream = format!(
            ": ping\r\n\r\nid: 1\r\ndata: \r\n\r\nevent: message\r\ndata: {told}\r\n\r\n\
             event: message\r\ndata: {text}\r\n\r\n"
        );
        Reply::Says(200, "content-type: text/event-stream\r\n", stream)
    }

    fn tool(&mut self, call: &Value) -> Value {
        let with = &call["arguments"];
        let text = |key: &str| with[key].as_str().unwrap().to_owned();
        match call["name"].as_str().unwrap() {
            "add_memory" => {
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
                assert!(text("group_id").chars().all(plain));
                let job = json!({
                    "name": with["name"], "timestamp": with["reference_time"],
                    "source_description": with["source_description"], "uuid": with["uuid"],
                });
                self.queue.push_back((text("group_id"), job));
                gives(json!({"message": "queued"}))
            }
            "get_episodes" => {
                let many = with["max_episodes"].as_u64().unwrap() as usize;
                let group = with["group_ids"][0].as_str().unwrap();
                let mut listed = self.listing(group, usize::MAX);
                let episodes = listed.as_array_mut().unwrap();
                episodes.sort_by_key(|episode| episode["uuid"].to_string());
                for episode in episodes.iter_mut() {
                    episode.as_object_mut().unwrap().remove("valid_at");
                }
                episodes.truncate(many);
                gives(json!({"message": "found", "episodes": episodes}))
            }
            "delete_episode" => match self.remove(&text("uuid")) {
                true => gives(json!({"message": "deleted"})),
                false => gives(json!({"error": "node not found"})),
            },
            _ => json!({"content": [], "isError": true}),
        }
    }
}

fn header<'a>(asked: &'a Asked, name: &str) -> Option<&'a str> {
    let mut headers = asked.headers.iter();
    headers.find_map(|header| header.strip_prefix(name)?.strip_prefix(": "))
}

fn answer(asked: &Asked, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result})
}

/// As FastMCP gives what a tool gives.
fn gives(result: Value) -> Value {
    let text = result.to_string();
    json!({
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"result": result},
        "isError": false,
    })
}

fn tools() -> Value {
    let add = json!({"episode_body": {"type": "string"}, "reference_time": {}});
    json!({"tools": [
        {"name": "add_memory", "inputSchema": {"properties": add}},
        {"name": "get_episodes", "inputSchema": {}},
    ]})
}

fn world() -> World {
    let mind = Mind::new(5);
    let world = World::new(mind);
    world.mind().is_mcp = true;
    world.mind().deletes = true;
    world
}

/// The calls of a tool, as it was called.
fn calls(asked: &[Asked], tool: &str) -> Vec<Value> {
    let params = asked.iter().map(|asked| &asked.body["params"]);
    let of_tool = params.filter(|params| params["name"] == tool);
    of_tool.map(|params| params["arguments"].clone()).collect()
}

/// What was posted, without canaries.
fn posted(asked: &[Asked]) -> Vec<Value> {
    let mut calls = calls(asked, "add_memory");
    calls.retain(|call| call["name"].as_str().unwrap().ends_with(']') || !call["uuid"].is_null());
    calls
}

/// In two groups, one after the other.
fn of_two_groups(many: u128) -> Vec<OutboundEpisode> {
    (0..many)
        .map(|n| outbound(n, &format!("word {n}")))
        .collect()
}

fn once_each(world: &World) {
    assert!(world.mind().named().values().all(|n| *n == 1));
    let is_canary = |name: &str| name.starts_with("canary");
    let canaries = world
        .mind()
        .nodes
        .iter()
        .filter(|n| is_canary(&n.name))
        .count();
    assert_eq!(canaries, 0);
}

#[test]
fn graphiti_over_mcp_keeps_its_promises() {
    keeps_its_promises(&mut world().server_sink(start()));
}

#[test]
fn an_episode_is_added_as_the_server_wants_it() {
    let world = world();
    let all = of_two_groups(9);
    let mut sink = world.server_sink(start());
    assert_eq!(sink.deliver(&all).unwrap(), vec![DeliveryOutcome::Seen; 9]);
    drop(sink);
    let asked = world.server.asked();
    let methods: Vec<&Value> = asked.iter().map(|asked| &asked.body["method"]).collect();
    assert_eq!(methods[..2], ["initialize", "notifications/initialized"]);
    assert_eq!(asked.last().unwrap().line, "DELETE /mcp");
    assert_eq!(header(&asked[0], "mcp-session-id"), None);
    for asked in &asked[1..] {
        assert!(header(asked, "mcp-session-id").is_some());
        assert_eq!(header(asked, "mcp-protocol-version"), Some("2025-03-26"));
    }
    // each group is tried out, in its own queue, before anything is put there
    let added = calls(&asked, "add_memory");
    let names = |group: &str| -> Vec<&str> {
        let of_group = added.iter().filter(|call| call["group_id"] == group);
        of_group
            .map(|call| call["name"].as_str().unwrap())
            .collect()
    };
    for group in ["desk__global", "desk_two__global"] {
        let canaries = names(group)
            .iter()
            .filter(|name| name.starts_with("canary"))
            .count();
        assert!(
            canaries == 1 && names(group)[0].starts_with("canary"),
            "{group}"
        );
    }
    for outbound in &all {
        let name = format!(
            "{} [{} {:016x}]",
            outbound.name, outbound.id, outbound.revision
        );
        let call = added.iter().find(|call| call["name"] == name).unwrap();
        let wanted = json!({
            "name": name,
            "episode_body": outbound.content,
            "group_id": outbound.group.replace('-', "_"),
            "source": "text",
            "source_description": outbound.source_description,
            "reference_time": outbound.valid_at.rfc3339_millis(),
            "previous_episode_uuids": [],
        });
        assert_eq!(*call, wanted);
    }
    once_each(&world);
}

#[test]
fn what_a_worker_loses_is_told_from_what_comes_after_it() {
    let world = world();
    (world.mind().poison, world.mind().survives) = (Some("Session 4,".into()), true);
    let all = outbound_episodes(9);
    let mut sink = world.server_sink(start());
    let outcomes = sink.deliver(&all).unwrap();
    let lost = DeliveryOutcome::Failed("the server took it and lost it".into());
    for (nth, outcome) in outcomes.iter().enumerate() {
        let wanted = if nth == 4 {
            &lost
        } else {
            &DeliveryOutcome::Seen
        };
        assert_eq!(outcome, wanted, "{nth}");
    }
    world.mind().poison = None;
    assert_eq!(sink.deliver(&all).unwrap(), vec![DeliveryOutcome::Seen; 9]);
    once_each(&world);
    assert_eq!(posted(&world.server.asked()).len(), 10);
}

#[test]
fn a_server_that_forgot_its_sessions_gets_another_and_nothing_twice() {
    let world = world();
    let mut sink = world.server_sink(start());
    let all = outbound_episodes(9);
    sink.deliver(&all[..5]).unwrap();
    world.mind().restart();
    world.server.asked();
    assert_eq!(sink.deliver(&all).unwrap(), vec![DeliveryOutcome::Seen; 9]);
    let asked = world.server.asked();
    let opened = asked.iter().filter(|a| a.body["method"] == "initialize");
    // the first was refused with the session, and was added in the other
    assert_eq!((opened.count(), posted(&asked).len()), (1, 1 + 4));
    once_each(&world);
}

#[test]
fn a_node_is_worked_through_where_its_database_is_beside_it() {
    let world = world();
    let mut sink = world.enriched(start());
    let mut all = of_two_groups(9);
    all.iter_mut()
        .for_each(|p| p.group = p.group.replace('-', "_"));
    let asked = receipts(&sink, &all);
    assert_eq!(sink.deliver(&all).unwrap(), vec![DeliveryOutcome::Seen; 9]);
    Enrichment::settle(&mut sink, &asked).unwrap();
    assert_eq!(sink.enrich(&all).unwrap(), vec![DeliveryOutcome::Seen; 9]);
    assert_eq!(
        sink.progress(&asked).unwrap(),
        vec![DeliveryProgress::Done; 9]
    );
    let ids: Vec<Value> = posted(&world.server.asked())
        .into_iter()
        .map(|c| c["uuid"].clone())
        .collect();
    assert_eq!(ids.len(), 9);
    assert_eq!(world.mind().strangers, 0);
    assert!(world.mind().nodes.iter().all(|node| node.worked == 1));
    once_each(&world);
}

fn retry() -> RetryOptions {
    RetryOptions {
        max_retries: 5,
        delays_ms: vec![1_000],
    }
}

#[test]
fn one_that_is_too_long_for_the_server_is_a_dead_letter_alone() {
    let world = world();
    let mut all = outbound_episodes(8);
    all[2].content = "x".repeat(4 << 20);
    let done = upload(
        &all,
        &mut world.server_sink(start()),
        &retry(),
        start(),
        &mut || true,
    );
    assert_eq!(done.fault, None);
    let states = done.deliveries.iter().map(|d| (d.id, d.state));
    for (id, state) in states {
        let wanted = if id == all[2].id {
            State::Dead
        } else {
            State::Seen
        };
        assert_eq!(state, wanted);
    }
    assert_eq!(done.deliveries.len(), 8);
    once_each(&world);
    assert_eq!(posted(&world.server.asked()).len(), 7);
}

#[test]
fn a_server_that_shows_nothing_gets_nothing_unless_one_insists() {
    let world = world();
    world.mind().is_blind = true;
    let all = outbound_episodes(3);
    let fault = world.server_sink(start()).deliver(&all).unwrap_err();
    let reason = fault.reason();
    assert!(matches!(fault, DeliveryError::Unavailable(..)), "{fault:?}");
    assert!(
        reason.contains("unverifiable") && reason.contains("FALKORDB_DATABASE"),
        "{reason}"
    );
    assert_eq!(posted(&world.server.asked()).len(), 0);
    let mut insists = crate::sinks::graphiti::graphiti_server::GraphitiServerSink::new(
        world.graphiti(None),
        world.poll(),
        12,
        true,
        start(),
    );
    assert_eq!(
        insists.deliver(&all).unwrap(),
        vec![DeliveryOutcome::Unverified; 3]
    );
    let asked = receipts(&insists, &all);
    assert_eq!(insists.verify(&asked).unwrap(), vec![Landed::Unknown; 3]);
    assert_eq!(posted(&world.server.asked()).len(), 3);
}

/// What a sink says of an episode where the server answers so to a call of this tool.
fn fault_at(tool: &'static str, reply: impl Fn(&Asked) -> Reply + Send + 'static) -> DeliveryError {
    let world = world();
    let mind = std::sync::Arc::clone(&world.mind);
    let server = Server::answering(move |asked| {
        let is_it = asked.body["params"]["name"] == tool || asked.body["method"] == tool;
        match is_it {
            true => reply(asked),
            false => mind.lock().unwrap().answer(asked),
        }
    });
    let world = World { server, ..world };
    world
        .server_sink(start())
        .deliver(&outbound_episodes(2))
        .unwrap_err()
}

#[test]
fn whatever_the_server_says_instead_is_no_episodes_fault() {
    let plain = |asked: &Asked, result: &Value| says(200, answer(asked, result));
    for tool in ["add_memory", "get_episodes"] {
        let error = json!({"error": "Error: 'word 1' is secret"});
        let failed = fault_at(tool, move |asked| plain(asked, &gives(error.clone())));
        let reason = failed.reason();
        assert!(
            matches!(failed, DeliveryError::Unavailable(..)),
            "{failed:?}"
        );
        assert!(
            reason.contains("says that it failed") && !reason.contains("word"),
            "{reason}"
        );
        let text = json!({"content": [{"type": "text", "text": "word 1"}], "isError": true});
        let refused = fault_at(tool, move |asked| plain(asked, &text));
        assert!(
            matches!(&refused, DeliveryError::Misconfigured(why) if !why.contains("word")),
            "{refused:?}"
        );
        let bare = fault_at(tool, move |asked| plain(asked, &json!({"content": []})));
        assert!(matches!(bare, DeliveryError::Misconfigured(_)), "{bare:?}");
        let odd = fault_at(tool, |asked| {
            says(
                200,
                json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": {"code": 1}}),
            )
        });
        assert!(matches!(odd, DeliveryError::Misconfigured(_)), "{odd:?}");
        let other = fault_at(tool, |_| {
            says(200, json!({"jsonrpc": "2.0", "id": 999, "result": {}}))
        });
        assert!(
            matches!(other, DeliveryError::Misconfigured(_)),
            "{other:?}"
        );
        let early = fault_at(tool, |_| {
            Reply::Says(
                200,
                "content-type: text/event-stream\r\n",
                ": ping\n\n".into(),
            )
        });
        assert!(matches!(early, DeliveryError::Unavailable(..)), "{early:?}");
    }
    for (status, is_away) in [
        (500, true),
        (429, true),
        (401, false),
        (404, false),
        (307, false),
    ] {
        let fault = fault_at("initialize", move |_| says(status, json!({})));
        assert_eq!(
            matches!(fault, DeliveryError::Unavailable(..)),
            is_away,
            "{status}: {fault:?}"
        );
    }
}

#[test]
fn a_server_that_would_take_any_time_for_now_is_refused() {
    let older = json!({"tools": [
        {"name": "add_memory", "inputSchema": {"properties": {"episode_body": {}}}},
        {"name": "get_episodes"},
    ]});
    let fault = fault_at("tools/list", move |asked| says(200, answer(asked, &older)));
    assert!(
        matches!(&fault, DeliveryError::Misconfigured(why) if why.contains("reference_time")),
        "{fault:?}"
    );
    let other = fault_at("tools/list", |asked| {
        says(200, answer(asked, &json!({"tools": []})))
    });
    assert!(
        matches!(&other, DeliveryError::Misconfigured(why) if why.contains("is it Graphiti's")),
        "{other:?}"
    );
}

#[test]
fn a_run_delivers_over_mcp_as_planned_and_forgets_it_there() {
    let world = world();
    let url = format!("{}/mcp", world.server.endpoint);
    let more = json!({"kind": "graphiti-mcp", "url": format!("{url}/"), "stall": "2s"});
    let desk = desk(&world.server, more);
    let done = |words: &str| {
        let ran = desk.run(&format!("sessionmill {words}"));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        ran
    };
    let refused = desk.run("sessionmill backfill");
    assert_eq!(refused.exit, Exit::Partial, "{}", refused.shown());
    assert_eq!(world.server.asked().len(), 0);
    let text = endpoint_text(&url.parse().unwrap());
    done(&format!("consent give {url} --confirm \"{text}\""));
    done("deliver check --smoke");
    let plan = done("plan backfill --json").json()["sinks"][0].clone();
    let episodes = plan["episodes"].as_u64().unwrap();
    assert_eq!(
        plan["llm_calls"],
        (episodes as f64 * 17.8).round() as u64,
        "{plan}"
    );
    let ran = done("backfill --json").json()["sinks"][0].clone();
    let delivered = ran["delivered"].as_u64().unwrap();
    assert_eq!(delivered, episodes, "{ran}");
    assert_eq!(world.mind().named().len() as u64, delivered);
    once_each(&world);
    done("deliver verify");
    done("forget --before 2026-06-01 --yes");
    let ran = done("deliver run --json").json()["sinks"][0].clone();
    assert_eq!(
        (&ran["forgotten"], &ran["kept"]),
        (&delivered.into(), &0.into())
    );
    assert_eq!(world.mind().nodes.len(), 0);
}
