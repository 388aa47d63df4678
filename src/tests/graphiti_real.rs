//! Deliveries to the real graphiti-core behind stand-ins for its servers, on a real FalkorDB, with a stub
//! language model that fails on command. `make test-graph` runs these.

use super::falkor::Falkor;
use super::forget::said;
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Sessions of a test.
const SESSIONS: u32 = 30;
/// Each has one, and its page is one.
const EPISODES: u32 = 2 * SESSIONS;
/// Runs after which a test gives up.
const RUNS_MAX: u32 = 60;

/// What requests get instead of an answer, one run after the other; `null`: an answer. `half`: it is
/// done, and the answer breaks off.
const ODDITIES: [&str; 6] = [
    "[]",
    r#"[null, "half", null, 500]"#,
    r#"[null, null, null, "reset"]"#,
    r#"[429]"#,
    r#"["half", "half"]"#,
    r#"[null, null, "hang"]"#,
];

/// One of the stand-ins; it dies with this value.
pub(super) struct StandIn {
    child: Child,
    pub(super) port: u16,
}

impl StandIn {
    /// `None`: graphiti-core isn't installed.
    pub(super) fn start(words: &[&str]) -> Option<StandIn> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut child = Command::new(root.join("target/graph/bin/python"))
            .arg(root.join("scripts/graphiti-stand-in"))
            .args(words)
            .env("GRAPH_PASSWORD", super::arcade::PASSWORD)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        let told = child.stdout.take().expect("a pipe");
        BufReader::new(told).read_line(&mut line).expect("a line");
        match line.trim().parse() {
            Ok(port) => Some(StandIn { child, port }),
            Err(_) => {
                eprintln!("graphiti-core can't be had here: passed over");
                let _ = child.wait();
                None
            }
        }
    }

    fn ask(&self, request: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("an answer");
        serde_json::from_str(body).expect("JSON")
    }

    pub(super) fn command(&self, what: &Value) {
        self.ask("POST /command", &what.to_string());
    }

    pub(super) fn count(&self, what: &str) -> Value {
        self.ask("GET /count", "")[what].clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A home with sessions, and a Graphiti with all that it needs.
pub(super) struct Scene {
    pub(super) desk: Desk,
    pub(super) falkor: Falkor,
    pub(super) llm: StandIn,
    pub(super) server: StandIn,
    of: ServerOf,
    pub(super) restarts: u32,
    /// Runs that said so.
    told_to_restart: u32,
}

/// Which of Graphiti's servers.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ServerOf {
    Rest,
    /// With its `FALKORDB_DATABASE`.
    Mcp(&'static str),
}

use ServerOf::{Mcp, Rest};

impl Scene {
    /// `None`: a part can't be had.
    fn new(of: ServerOf, has_database: bool, more: &Value) -> Option<Scene> {
        let sessions = (0..SESSIONS).map(|nth| {
            let words = format!("why does Fox{} follow Owl{} nr{nth}z", nth % 7, nth % 5);
            (format!("session-{nth:03}"), words)
        });
        Scene::with(of, has_database, more, Falkor::start(), sessions)
    }

    /// With these sessions, by id.
    pub(super) fn with(
        of: ServerOf,
        has_database: bool,
        more: &Value,
        falkor: Falkor,
        sessions: impl Iterator<Item = (String, String)>,
    ) -> Option<Scene> {
        let llm = StandIn::start(&["llm", "0"])?;
        let server = server(of, 0, &falkor, &llm)?;
        let desk = super::forget::desk();
        for (nth, (session, words)) in (0..).zip(sessions) {
            let text = said(&session, "/w/shop", nth, "user", &words);
            desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &text);
        }
        let url = format!("http://127.0.0.1:{}", server.port);
        let kind = if of == Rest {
            "graphiti"
        } else {
            "graphiti-mcp"
        };
        let mut memory = json!({"kind": kind, "url": url, "stall": "5s", "window": 10});
        let mut endpoints = vec![url];
        if has_database {
            let database = falkor.endpoint().to_string();
            memory["database"] = database.clone().into();
            memory["sagas"] = true.into();
            endpoints.push(database);
        }
        let mut settings = json!({
            "version": "2.0.0",
            "session_tracking": {"enabled": true},
            "graphiti": {"enabled": true, "consent": true},
            "sinks": {"memory": memory},
        });
        for (key, value) in more.as_object().expect("an object") {
            settings[key] = value.clone();
        }
        desk.write(".graphiti/graphiti.config.json", &settings.to_string());
        let refused = desk.run("sessionmill run");
        assert_eq!(refused.exit, Exit::Partial, "{}", refused.shown());
        for endpoint in &endpoints {
            let text = endpoint_text(&endpoint.parse().expect("an endpoint"));
            done(desk.run(&format!(
                "sessionmill consent give {endpoint} --confirm \"{text}\""
            )));
        }
        Some(Scene {
            desk,
            falkor,
            llm,
            server,
            of,
            restarts: 0,
            told_to_restart: 0,
        })
    }

    /// As somebody does who was told to: the queue is gone.
    pub(super) fn restart(&mut self) {
        let port = self.server.port;
        let _ = self.server.child.kill();
        let _ = self.server.child.wait();
        let server = server(self.of, port, &self.falkor, &self.llm);
        self.server = server.expect("it started before");
        self.restarts += 1;
    }

    pub(super) fn run(&mut self, line: &str) -> Value {
        self.desk.now = Time(self.desk.now.0 + 7_300_000);
        let ran = self.desk.run(&format!("sessionmill {line} --json"));
        let said = ran.json()["sinks"][0].clone();
        let fault = said["fault"].as_str().unwrap_or_default();
        self.told_to_restart += u32::from(fault.contains("restart the server"));
        said
    }

    /// Nothing goes wrong any more, and what a busy machine does slowly is waited for.
    pub(super) fn calm_down(&self) {
        let calm = json!({"dies_at": -1, "requests": []});
        self.server.command(&calm);
        let file = ".graphiti/graphiti.config.json";
        let settings = std::fs::read_to_string(self.desk.path(file)).expect("a file");
        let mut settings: Value = serde_json::from_str(&settings).expect("JSON");
        settings["sinks"]["memory"]["stall"] = "2m".into();
        self.desk.write(file, &settings.to_string());
    }

    /// Runs until nothing is left, under deaths of the worker and restarts; gives the last report.
    fn run_through(&mut self, first: &str) -> Value {
        let mut said = self.run(first);
        for nth in 0..RUNS_MAX {
            let left = ["waiting", "to_enrich", "failed"];
            let is_through = left.iter().all(|key| said[key] == 0);
            if self.server.count("is_dead") == true {
                self.restart();
            }
            if is_through {
                self.calm_down();
                return said;
            }
            if let Some(wrong) = ODDITIES.get(nth as usize) {
                let requests: Value = serde_json::from_str(wrong).expect("JSON");
                let what = json!({"dies_at": 3 + 4 * nth, "requests": requests});
                self.server.command(&what);
            }
            said = self.run("deliver run memory --history");
        }
        panic!("still not through: {said}");
    }

    /// The only number that a query gives.
    pub(super) fn number(&self, query: &str) -> u64 {
        let told = self.falkor.redis(&["GRAPH.QUERY", "desk__global", query]);
        let (_, rest) = told.split_once("int(").unwrap_or_else(|| panic!("{told}"));
        let (number, _) = rest.split_once(')').expect("a number");
        number.parse().expect("a number")
    }

    /// Nothing lost, nothing twice: nodes, ids, keys in names, what was made of them.
    fn assert_whole(&self, nodes: u64) {
        for (query, wants) in [
            ("MATCH (n:Episodic) RETURN count(n)", nodes),
            ("MATCH (n:Episodic) RETURN count(DISTINCT n.uuid)", nodes),
            ("MATCH (n:Episodic) RETURN count(DISTINCT n.name)", nodes),
            ("MATCH (n:Episodic) RETURN count(n.sessionmill_pending)", 0),
            (
                "MATCH (n:Episodic)-[m:MENTIONS]->(e) WITH n, e, count(m) AS c \
                 WHERE c > 1 RETURN count(*)",
                0,
            ),
        ] {
            assert_eq!(self.number(query), wants, "{query}");
        }
        let mentioning = "MATCH (n:Episodic)-[:MENTIONS]->() RETURN count(DISTINCT n.uuid)";
        assert_eq!(self.number(mentioning), nodes);
    }
}

fn server(of: ServerOf, port: u16, falkor: &Falkor, llm: &StandIn) -> Option<StandIn> {
    let ports = [port, falkor.port(), llm.port].map(|port| port.to_string());
    match of {
        Rest => StandIn::start(&["server", &ports[0], &ports[1], &ports[2]]),
        Mcp(graph) => StandIn::start(&["mcp", &ports[0], &ports[1], &ports[2], graph]),
    }
}

pub(super) fn done(ran: Ran) -> Ran {
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    ran
}

/// A node goes, another gets a twin: each is seen.
fn mutations_are_seen(scene: &mut Scene) {
    let whole = done(scene.desk.run("sessionmill deliver verify --json"));
    assert_eq!(whole.json()["sinks"][0]["landed"], EPISODES);
    let graph = |scene: &Scene, query: &str| {
        scene.falkor.redis(&["GRAPH.QUERY", "desk__global", query]);
    };
    // this server tells two nodes under one id as one
    let id = match scene.of {
        Mcp(graph) if graph != "default_db" => ", m.uuid = 'another'",
        _ => "",
    };
    graph(
        scene,
        &format!("MATCH (n:Episodic) WITH n LIMIT 1 CREATE (m:Episodic) SET m = n{id}"),
    );
    graph(
        scene,
        "MATCH (n:Episodic) WITH n.name AS k, collect(n) AS all WHERE size(all) > 1 \
        FOREACH (n IN all[1..] | SET n.copy = true)",
    );
    let verified = scene.desk.run("sessionmill deliver verify --json");
    assert_eq!(verified.exit, Exit::Partial, "{}", verified.shown());
    let seen = verified.json()["sinks"][0].clone();
    assert_eq!(
        (&seen["twice"], &seen["missing"]),
        (&json!(1), &json!(0)),
        "{seen}"
    );
    graph(
        scene,
        "MATCH (n:Episodic) WHERE n.copy = true DETACH DELETE n",
    );
    done(scene.desk.run("sessionmill deliver verify"));
    graph(scene, "MATCH (n:Episodic) WITH n LIMIT 1 DETACH DELETE n");
    let verified = scene
        .desk
        .run("sessionmill deliver verify --json --requeue");
    assert_eq!(verified.exit, Exit::Partial, "{}", verified.shown());
    assert_eq!(verified.json()["sinks"][0]["missing"], 1);
    scene.run_through("deliver run");
    scene.assert_whole(EPISODES.into());
    done(scene.desk.run("sessionmill deliver verify"));
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn graphiti_with_its_database_gets_every_episode_once_and_works_through_it_once() {
    let Some(mut scene) = Scene::new(Rest, true, &json!({})) else {
        return;
    };
    // four that fail a few times, which ends the worker
    let fails = json!({"nr3z": 1, "nr17z": 2, "nr18z": 1, "nr29z": 1});
    scene.llm.command(&json!({"fails": fails}));
    let first = scene.run("backfill");
    assert_eq!(
        first["delivered"], EPISODES,
        "stored before anything is made of it: {first}"
    );
    scene.run_through("deliver run");
    let restarts = (scene.restarts, scene.told_to_restart);
    assert!(restarts.0 >= 4 && restarts.1 >= 2, "{restarts:?}");
    scene.assert_whole(EPISODES.into());
    mutations_are_seen(&mut scene);
    let told = "MATCH (:Saga)-[h:HAS_EPISODE]->(n:Episodic) RETURN count(h)";
    assert_eq!(
        scene.number(told),
        u64::from(EPISODES),
        "Graphiti left them"
    );
    let status = done(scene.desk.run("sessionmill deliver status --json")).json();
    assert_eq!(status["sinks"][0]["states"], json!({"enriched": EPISODES}));
    done(
        scene
            .desk
            .run("sessionmill forget --before 2026-06-01 --yes"),
    );
    let forgot = scene.run("deliver run");
    assert_eq!(
        (&forgot["forgotten"], &forgot["kept"]),
        (&json!(EPISODES), &json!(0))
    );
    assert_eq!(scene.number("MATCH (n:Episodic) RETURN count(n)"), 0);
    assert_eq!(scene.number("MATCH (n:Saga) RETURN count(n)"), 0);
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn graphiti_alone_gets_every_episode_once_by_its_name() {
    let Some(mut scene) = Scene::new(Rest, false, &json!({})) else {
        return;
    };
    let fails = json!({"nr3z": 1, "nr17z": 2, "nr18z": 1, "nr29z": 1});
    scene.llm.command(&json!({"fails": fails}));
    scene.run_through("backfill");
    let restarts = (scene.restarts, scene.told_to_restart);
    assert!(restarts.0 >= 4 && restarts.1 >= 2, "{restarts:?}");
    scene.assert_whole(EPISODES.into());
    mutations_are_seen(&mut scene);
    // its own deletes look at another graph: that is said
    done(scene.desk.run("sessionmill forget session-007 --yes"));
    let forgot = scene.run("deliver run");
    assert_eq!(
        (&forgot["forgotten"], &forgot["kept"]),
        (&json!(0), &json!(2))
    );
    let again = scene.run("deliver run");
    assert_eq!(
        (&again["forgotten"], &again["kept"]),
        (&json!(0), &json!(0)),
        "asked once"
    );
    assert_eq!(
        scene.number("MATCH (n:Episodic) RETURN count(n)"),
        u64::from(EPISODES)
    );
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn graphiti_alone_removes_what_it_can_where_its_graph_is_the_groups() {
    let more = json!({"session_tracking": {"enabled": true, "group_id": "default_db"}});
    let Some(mut scene) = Scene::new(Rest, false, &more) else {
        return;
    };
    scene.calm_down();
    let ran = scene.run("backfill");
    assert_eq!(ran["delivered"], EPISODES, "{ran}");
    done(
        scene
            .desk
            .run("sessionmill forget --before 2026-06-01 --yes"),
    );
    let forgot = scene.run("deliver run");
    assert_eq!(
        (&forgot["forgotten"], &forgot["kept"]),
        (&json!(EPISODES), &json!(0))
    );
    let left = "MATCH (n:Episodic) RETURN count(n)";
    let left = scene.falkor.redis(&["GRAPH.QUERY", "default_db", left]);
    assert!(left.contains("int(0)"), "{left}");
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn graphiti_that_shows_nothing_is_refused_unless_one_insists() {
    let Some(mut scene) = Scene::new(Rest, false, &json!({})) else {
        return;
    };
    scene.server.command(&json!({"is_blind": true}));
    let refused = scene.run("backfill");
    assert_eq!(
        (&refused["delivered"], &refused["waiting"]),
        (&json!(0), &json!(EPISODES))
    );
    let fault = refused["fault"].as_str().expect("a fault");
    assert!(
        fault.contains("unverifiable") && fault.contains("--unverified"),
        "{fault}"
    );
    assert_eq!(scene.server.count("posted"), 1, "the canary alone");
    let posted = scene.run("deliver run memory --unverified");
    assert_eq!(posted["unverified"], EPISODES, "{posted}");
    let verified = scene.desk.run("sessionmill deliver verify --json");
    assert_eq!(verified.exit, Exit::Partial);
    assert_eq!(verified.json()["sinks"][0]["unverified"], EPISODES);
    let again = scene.run("deliver run memory --unverified");
    assert_eq!(again["unverified"], 0, "posted once");
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn graphiti_stays_within_a_budget_and_a_model_that_is_away_kills_nothing() {
    let more = json!({"upload": {"max_usd_per_run": 0.05}});
    let Some(mut scene) = Scene::new(Rest, true, &more) else {
        return;
    };
    let planned = done(scene.desk.run("sessionmill plan nightly --json")).json();
    assert!(planned["sinks"].is_array());
    let first = scene.run("backfill");
    assert_eq!(first["stopped"], "budget", "{first}");
    let (enriched, usd) = (first["enriched"].as_u64(), first["usd"].as_f64());
    assert!(enriched > Some(3) && enriched < Some(59), "{first}");
    assert!(usd <= Some(0.05), "{first}");
    // no answer for a weekend: its canary fails, and no episode is blamed
    scene.llm.command(&json!({"fails": {"*": 1_000_000}}));
    for _ in 0..8 {
        scene.restart();
        let away = scene.run("deliver run");
        assert_eq!(
            (&away["enriched"], &away["dead"]),
            (&json!(0), &json!(0)),
            "{away}"
        );
    }
    scene.llm.command(&json!({"fails": {}}));
    scene.restart();
    scene.run_through("deliver run");
    scene.assert_whole(EPISODES.into());
}

#[test]
#[ignore = "needs FalkorDB, graphiti-core and the MCP SDK: make test-graph"]
fn graphiti_over_mcp_with_its_database_works_through_every_episode_once() {
    let Some(mut scene) = Scene::new(Mcp("default_db"), true, &json!({})) else {
        return;
    };
    let fails = json!({"nr3z": 1, "nr17z": 2, "nr18z": 1, "nr29z": 1});
    scene.llm.command(&json!({"fails": fails}));
    scene.server.command(&json!({"dies_at": 17}));
    let first = scene.run("backfill");
    assert_eq!(first["delivered"], EPISODES, "{first}");
    scene.run_through("deliver run");
    assert!(scene.restarts >= 1 && scene.told_to_restart >= 1);
    scene.assert_whole(EPISODES.into());
    mutations_are_seen(&mut scene);
}

#[test]
#[ignore = "needs FalkorDB, graphiti-core and the MCP SDK: make test-graph"]
fn graphiti_over_mcp_gets_every_episode_once_by_its_name_and_removes_it() {
    let Some(mut scene) = Scene::new(Mcp("desk__global"), false, &json!({})) else {
        return;
    };
    let fails = json!({"nr3z": 1, "nr17z": 2, "nr18z": 1, "nr29z": 1});
    scene.llm.command(&json!({"fails": fails}));
    scene.server.command(&json!({"dies_at": 17}));
    scene.run_through("backfill");
    assert!(scene.restarts >= 1 && scene.told_to_restart >= 1);
    scene.assert_whole(EPISODES.into());
    mutations_are_seen(&mut scene);
    done(
        scene
            .desk
            .run("sessionmill forget --before 2026-06-01 --yes"),
    );
    let forgot = scene.run("deliver run");
    assert_eq!(
        (&forgot["forgotten"], &forgot["kept"]),
        (&json!(EPISODES), &json!(0))
    );
    // with what was made of them
    assert_eq!(scene.number("MATCH (n) RETURN count(n)"), 0);
}

#[test]
#[ignore = "needs FalkorDB, graphiti-core and the MCP SDK: make test-graph"]
fn graphiti_over_mcp_that_looks_at_another_graph_is_refused() {
    let Some(mut scene) = Scene::new(Mcp("default_db"), false, &json!({})) else {
        return;
    };
    let refused = scene.run("backfill");
    assert_eq!(
        (&refused["delivered"], &refused["waiting"]),
        (&json!(0), &json!(EPISODES))
    );
    let fault = refused["fault"].as_str().expect("a fault");
    assert!(fault.contains("FALKORDB_DATABASE"), "{fault}");
    assert_eq!(scene.server.count("posted"), 1, "the canary alone");
}
