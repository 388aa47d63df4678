//! The sink `neo4j`: against a script that speaks Bolt 5 here, and in `make test-graph` against a real
//! server that speaks Bolt 4, with the real graphiti-core as the one who reads what was delivered.

use super::arcade::{Arcade, DATABASE, PASSWORD, login};
use super::forget::{desk, said as typed};
use super::graph::{deliver, graphiti_at, outbound_episodes};
use super::graphiti_real::StandIn;
use super::sinks::{
    ODD, keeps_its_promises, marks_what_is_to_be_done, of_two_sessions, outbound, permit,
    reads_sagas, receipts, tells_sagas,
};
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::model::consent::{Endpoint, endpoint_text};
use crate::model::delivery::{DeliveryError, DeliveryOutcome, Landed};
use crate::model::time::Time;
use crate::sinks::cypher::Value as Cypher;
use crate::sinks::database::Login;
use crate::sinks::neo4j::Neo4j;
use crate::stages::upload::Sink;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

fn neo4j(endpoint: &Endpoint, login: &Login) -> Neo4j {
    Neo4j::new(&permit(endpoint), login).unwrap()
}

/// A server that says these bytes to each connection in turn, and gives what it was told, when all
/// were served.
fn script(says: Vec<Vec<u8>>) -> (Endpoint, std::thread::JoinHandle<Vec<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = |(mut stream, _): (TcpStream, _), says: Vec<u8>| {
        let (mut told, mut handshake) = (Vec::new(), [0; 20]);
        stream.read_exact(&mut handshake).unwrap();
        stream.write_all(&says).unwrap();
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut told);
        told
    };
    let told = std::thread::spawn(move || {
        let turns = says.into_iter();
        turns
            .map(|says| serve(listener.accept().unwrap(), says))
            .collect()
    });
    (format!("neo4j://{address}/memory").parse().unwrap(), told)
}

const BOLT_5_4: [u8; 4] = [0, 0, 4, 5];

/// A message of one chunk after a sign of life: its tag and its one field.
fn said(tag: u8, field: &[u8]) -> Vec<u8> {
    let length = field.len() as u8 + 2;
    [&[0, 0, 0, length, 0xb1, tag], field, &[0, 0]].concat()
}

fn failure(code: &str) -> Vec<u8> {
    let text = |text: &str| [&[0xd0, text.len() as u8], text.as_bytes()].concat();
    let field = [
        vec![0xa2],
        text("code"),
        text(code),
        text("message"),
        text("hunter2"),
    ];
    said(0x7f, &field.concat())
}

fn success() -> Vec<u8> {
    said(0x70, &[0xa0])
}

#[test]
fn bolt_5_logs_on_after_hello_and_asks_the_database_that_the_path_names() {
    let server = b"\xa1\x86server\x8cNeo4j/5.26.0";
    let row = said(0x71, &[0x91, 0x01]);
    let says = [
        BOLT_5_4.to_vec(),
        said(0x70, server),
        success(),
        success(),
        row,
        success(),
    ];
    let (endpoint, told) = script(vec![says.concat()]);
    let mut sink = neo4j(&endpoint, &login());
    assert_eq!(sink.check(), Ok("Neo4j/5.26.0, database memory".into()));
    drop(sink);
    let told = String::from_utf8_lossy(&told.join().unwrap()[0]).into_owned();
    let at = |text: &str| {
        told.find(text)
            .unwrap_or_else(|| panic!("{text}: {told:?}"))
    };
    assert!(at("bolt_agent") < at("routing"), "of HELLO");
    assert!(at("routing") < at("swordfish"), "of LOGON");
    assert!(at("swordfish") < at("RETURN 1"));
    assert!(at("RETURN 1") < at("memory"));
}

#[test]
fn bolt_4_is_told_the_password_with_hello() {
    let says = [vec![0, 0, 4, 4], success(), success(), success()];
    let (endpoint, told) = script(vec![says.concat()]);
    assert!(neo4j(&endpoint, &login()).check().is_ok());
    let told = String::from_utf8_lossy(&told.join().unwrap()[0]).into_owned();
    let at = |text: &str| {
        told.find(text)
            .unwrap_or_else(|| panic!("{text}: {told:?}"))
    };
    assert!(at("routing") < at("swordfish"));
    assert!(at("swordfish") < at("RETURN 1"));
    assert!(!told.contains("bolt_agent"), "{told:?}");
}

#[test]
fn what_answers_wrongly_is_told_by_what_it_does_and_never_by_what_it_says() {
    let refused = |code: &str| [BOLT_5_4.to_vec(), success(), failure(code)].concat();
    let (setup, away) = ("setup", "away");
    for (says, whose, reason) in [
        (
            b"HTTP/1.1 400 Bad Request".to_vec(),
            setup,
            "it doesn't speak Bolt",
        ),
        (
            vec![0; 4],
            setup,
            "it supports no version of Bolt that we do",
        ),
        (vec![], away, "the connection broke"),
        (BOLT_5_4.to_vec(), away, "the connection broke"),
        (
            [&BOLT_5_4[..], &[0, 1, 7, 0, 0]].concat(),
            setup,
            "its answer is not Bolt",
        ),
        (
            refused("Neo.ClientError.Security.Unauthorized"),
            setup,
            "the server says ClientError.Security.Unauthorized",
        ),
        (
            refused("Neo.TransientError.General.DatabaseUnavailable"),
            away,
            "the server says TransientError.General.DatabaseUnavailable",
        ),
    ] {
        let (endpoint, told) = script(vec![says]);
        let fault = neo4j(&endpoint, &login()).check().unwrap_err();
        assert_eq!(fault.reason(), reason);
        assert_eq!(
            matches!(fault, DeliveryError::Misconfigured(_)),
            whose == setup,
            "{reason}"
        );
        told.join().unwrap();
    }
}

#[test]
fn a_refusal_that_nobody_knows_pauses_the_sink_and_one_of_a_value_is_its_episodes() {
    let hello = [BOLT_5_4.to_vec(), success(), success()].concat();
    let answer = [success(), success()].concat();
    let delivered = |code: &str| {
        // the constraint and the indices are there already; then it is written
        let exists = failure("Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists");
        let there = vec![[hello.clone(), exists].concat(); 8];
        let constraint = [
            hello.clone(),
            answer.clone(),
            failure("Neo.ClientError.Schema.X"),
        ]
        .concat();
        let writes = [hello.clone(), failure(code)].concat();
        let (endpoint, told) =
            script([vec![constraint], there[1..].to_vec(), vec![writes]].concat());
        let fault = neo4j(&endpoint, &login())
            .deliver(&[outbound(1, "x")])
            .unwrap_err();
        told.join().unwrap();
        fault
    };
    let unknown = delivered("Neo.ClientError.Statement.SomethingNew");
    assert!(
        matches!(unknown, DeliveryError::Unavailable(..)),
        "{unknown:?}"
    );
    let of_a_value = delivered("Neo.ClientError.Statement.TypeError");
    assert!(
        matches!(of_a_value, DeliveryError::BatchRejected(_)),
        "{of_a_value:?}"
    );
}

#[test]
fn a_query_that_got_in_the_way_of_another_is_asked_again() {
    let hello = [BOLT_5_4.to_vec(), success(), success()].concat();
    let deadlock = failure("Neo.TransientError.Transaction.DeadlockDetected");
    let collides = [hello.clone(), deadlock].concat();
    let answers = [hello, success(), success()].concat();
    let verified = |turns: Vec<Vec<u8>>| {
        let (endpoint, told) = script(turns);
        let asked = receipts(&neo4j(&endpoint, &login()), &[outbound(1, "x")]);
        let verified = neo4j(&endpoint, &login()).verify(&asked);
        let told = told.join().unwrap();
        let asks = |told: &&Vec<u8>| String::from_utf8_lossy(told).contains("MATCH");
        (verified, told.iter().filter(asks).count())
    };
    assert_eq!(
        verified(vec![collides.clone(), collides.clone(), answers]),
        (Ok(vec![Landed::Missing]), 3)
    );
    let (given_up, asked) = verified(vec![collides; 3]);
    assert!(
        matches!(given_up, Err(DeliveryError::Unavailable(..))),
        "{given_up:?}"
    );
    assert_eq!(asked, 3, "and not for ever");
}

#[test]
#[ignore = "needs ArcadeDB: make test-graph"]
fn neo4j_keeps_its_promises() {
    let Some(server) = Arcade::start() else {
        return;
    };
    keeps_its_promises(&mut neo4j(&server.endpoint("bolt"), &login()));
    keeps_its_promises(&mut neo4j(&server.endpoint("neo4j"), &login()));
    assert_eq!(server.query("MATCH (n) RETURN n").len(), 0);
}

#[test]
#[ignore = "needs ArcadeDB: make test-graph"]
fn neo4j_marks_what_graphiti_has_to_work_through() {
    let Some(server) = Arcade::start() else {
        return;
    };
    let sink = || neo4j(&server.endpoint("bolt"), &login());
    let mut marking = sink().marking(true);
    keeps_its_promises(&mut marking);
    marks_what_is_to_be_done(&mut sink(), &mut marking, &|query| {
        server.query(query);
    });
}

#[test]
#[ignore = "needs ArcadeDB: make test-graph"]
fn neo4j_tells_sessions_as_sagas() {
    let Some(server) = Arcade::start() else {
        return;
    };
    let endpoint = server.endpoint("bolt");
    let mut sink = neo4j(&endpoint, &login()).with_sagas(true);
    keeps_its_promises(&mut sink);
    assert_eq!(server.query("MATCH (n) RETURN n").len(), 0);
    // what was there without them gets them
    let sink = || neo4j(&endpoint, &login());
    sink().deliver(&of_two_sessions()).unwrap();
    tells_sagas(&mut sink().marking(true).with_sagas(true), &|query| {
        format!("{:?}", server.query(query))
    });
    let read = graphiti_at(endpoint.as_str(), PASSWORD, &["--saga", "long"]);
    if let Some(read) = read {
        reads_sagas(&read);
    }
}

#[test]
#[ignore = "needs ArcadeDB: make test-graph"]
fn neo4j_lets_nobody_make_a_twin_of_an_episode_and_tells_one_that_is_none_of_ours() {
    let Some(server) = Arcade::start() else {
        return;
    };
    let mut sink = neo4j(&server.endpoint("bolt"), &login());
    let outbound_episodes = [outbound(1, "once")];
    let asked = receipts(&sink, &outbound_episodes);
    sink.deliver(&outbound_episodes).unwrap();
    let twin = |labels: &str| {
        let (id, graph) = (outbound_episodes[0].id, &asked[0].place);
        let query = format!("CREATE (n:{labels} {{uuid: '{id}', group_id: '{graph}'}})");
        let mut bolt = crate::sinks::bolt::Bolt::open(&server.endpoint("bolt"), &login()).unwrap();
        let made = bolt.query(Some(DATABASE), &query, &Cypher::Map(Vec::new()));
        made.map_err(|trouble| format!("{trouble:?}"))
    };
    let refused = twin("Episodic:Sessionmill").unwrap_err();
    assert!(refused.contains("ConstraintValidationFailed"), "{refused}");
    assert_eq!(sink.verify(&asked).unwrap(), [Landed::Once]);
    twin("Episodic").unwrap();
    assert_eq!(sink.verify(&asked).unwrap(), [Landed::Twice]);
    // one of another group is none
    server.query("MATCH (n:Episodic) WHERE n.name IS NULL SET n.group_id = 'other'");
    assert_eq!(sink.verify(&asked).unwrap(), [Landed::Once]);
}

#[test]
#[ignore = "needs ArcadeDB: make test-graph"]
fn neo4j_says_whose_fault_it_is() {
    let Some(server) = Arcade::start() else {
        return;
    };
    let at = |text: String| text.parse::<Endpoint>().unwrap();
    let wrong = Login {
        password: Some("sworddance".into()),
        ..login()
    };
    let (port, http) = (server.port(), server.http_port());
    for (endpoint, login) in [
        (server.endpoint("bolt"), &wrong),
        (server.endpoint("bolt"), &Login::default()),
        (at(format!("bolt://127.0.0.1:{port}/elsewhere")), &login()),
        (at(format!("bolt://127.0.0.1:{http}/{DATABASE}")), &login()),
    ] {
        let mut sink = neo4j(&endpoint, login);
        let fault = sink.deliver(&[outbound(1, "x")]).unwrap_err();
        assert!(
            matches!(fault, DeliveryError::Misconfigured(_)),
            "{endpoint}: {fault:?}"
        );
    }
    // one that speaks no TLS
    let fault = neo4j(&server.endpoint("bolt+s"), &login()).check();
    assert!(fault.is_err(), "{fault:?}");
    let mut sink = neo4j(&server.endpoint("bolt"), &login());
    assert_eq!(
        sink.deliver(&[outbound(1, "x")]),
        Ok(vec![DeliveryOutcome::Seen])
    );
    drop(server);
    for _ in 0..2 {
        let away = sink.deliver(&[outbound(1, "x")]);
        assert!(
            matches!(away, Err(DeliveryError::Unavailable(..))),
            "{away:?}"
        );
    }
}

#[test]
#[ignore = "needs ArcadeDB: make test-graph"]
fn graphiti_reads_from_neo4j_what_was_delivered_as_its_own_in_order() {
    let Some(server) = Arcade::start() else {
        return;
    };
    let odd = ODD.iter().map(|text| (*text).to_owned());
    let all =
        outbound_episodes(odd.chain((0..600).map(|n| format!("what a fox does, number {n}"))));
    let endpoint = server.endpoint("bolt");
    deliver(&mut neo4j(&endpoint, &login()), &all);
    let Some(read) = graphiti_at(endpoint.as_str(), PASSWORD, &[]) else {
        return;
    };
    assert_eq!(read.len(), all.len());
    for (read, sent) in read.iter().zip(&all) {
        assert_eq!(read["uuid"], sent.id.to_string());
        assert_eq!(read["name"], sent.name);
        assert_eq!(read["content"], sent.content);
        assert_eq!(read["source"], "text");
        assert_eq!(read["source_description"], sent.source_description);
        let at = read["valid_at"].as_f64().unwrap() * 1_000.0;
        assert_eq!(at.round() as i64, sent.valid_at.0);
    }
}

#[test]
#[ignore = "needs ArcadeDB: make test-graph"]
fn neo4j_takes_large_and_many_episodes_and_is_waited_for() {
    let Some(server) = Arcade::start() else {
        return;
    };
    let mut sink = neo4j(&server.endpoint("bolt"), &login());
    let large = "\"quoted\" \\ ü\n".repeat(150_000);
    let many = (0..700).map(|n| format!("word {n}"));
    let all = outbound_episodes(std::iter::once(large).chain(many));
    deliver(&mut sink, &all);
    let asked = receipts(&sink, &all);
    server.hold(true);
    let verified = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            server.hold(false);
        });
        sink.verify(&asked)
    });
    assert_eq!(verified.unwrap(), vec![Landed::Once; all.len()]);
    patiently(|| sink.forget(&asked));
    let gone = vec![Landed::Missing; all.len()];
    assert_eq!(patiently(|| sink.verify(&asked)), gone);
}

/// What is done in the end, as the next run would: this server now and then says that it can't, since
/// its own threads were at the same pages.
fn patiently<T>(mut ask: impl FnMut() -> Result<T, DeliveryError>) -> T {
    for _ in 0..5 {
        match ask() {
            Err(DeliveryError::Unavailable(..)) => std::thread::sleep(Duration::from_millis(500)),
            answer => return answer.unwrap(),
        }
    }
    ask().unwrap()
}

fn done(desk: &Desk, command: &str) -> Ran {
    let ran = desk.run(&format!("sessionmill {command}"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    ran
}

/// Settings with these sinks, the password where it is looked for, and consent to all of it.
fn settle(desk: &Desk, sinks: &Value, endpoints: &[&str]) {
    let settings = json!({
        "version": "2.0.0",
        "session_tracking": {"enabled": true},
        "graphiti": {"enabled": true, "consent": true},
        "sinks": sinks,
    });
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    desk.write(".graphiti/env", &format!("GRAPH_PASSWORD={PASSWORD}\n"));
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(desk.path(".graphiti/env"), mode).unwrap();
    for endpoint in endpoints {
        let text = endpoint_text(&endpoint.parse().unwrap());
        done(
            desk,
            &format!("consent give {endpoint} --confirm \"{text}\""),
        );
    }
}

#[test]
#[ignore = "needs ArcadeDB: make test-graph"]
fn neo4j_gets_every_episode_once_whatever_happens_to_the_server() {
    let Some(server) = Arcade::start() else {
        return;
    };
    let mut desk = Desk::enabled();
    let endpoint = server.endpoint("neo4j");
    let sink = json!({
        "kind": "neo4j", "url": endpoint.as_str(), "user": "root", "password_env": "GRAPH_PASSWORD"
    });
    settle(&desk, &json!({"graph": sink}), &[endpoint.as_str()]);
    let checked = done(&desk, "deliver check --smoke").stdout;
    assert!(checked.contains("database memory"), "{checked}");
    let ran = done(&desk, "backfill --json").json();
    let delivered = ran["sinks"][0]["delivered"].as_u64().unwrap();
    assert!(delivered > 5, "{ran}");
    let count = |server: &Arcade| {
        let ids = server
            .query("MATCH (n:Episodic) RETURN DISTINCT n.uuid")
            .len();
        assert_eq!(server.query("MATCH (n:Episodic) RETURN n.uuid").len(), ids);
        ids as u64
    };
    assert_eq!(count(&server), delivered);
    done(&desk, "deliver verify");
    // the server loses everything
    let port = server.port();
    drop(server);
    let away = desk.run("sessionmill deliver verify");
    assert_eq!(away.exit, Exit::Failed, "{}", away.shown());
    let server = Arcade::start_at(port).unwrap();
    let lost = desk.run("sessionmill deliver verify --requeue");
    assert_eq!(lost.exit, Exit::Partial, "{}", lost.shown());
    desk.now = Time(desk.now.0 + 3_600_000);
    let ran = done(&desk, "run --json").json();
    assert_eq!(ran["sinks"][0]["delivered"], delivered);
    assert_eq!(count(&server), delivered);
    done(&desk, "deliver verify");
}

/// Without names in what was said: this server has no full-text index to look them up in.
#[test]
#[ignore = "needs ArcadeDB: make test-graph"]
fn graphiti_works_through_what_stands_in_neo4j() {
    let Some(server) = Arcade::start() else {
        return;
    };
    let database = server.endpoint("bolt").to_string();
    let Some(llm) = StandIn::start(&["llm", "0"]) else {
        return;
    };
    let rest = StandIn::start(&["server", "0", &database, &llm.port.to_string()]);
    let url = format!(
        "http://127.0.0.1:{}",
        rest.as_ref().map_or(0, |rest| rest.port)
    );
    let mut desk = desk();
    for nth in 0..5 {
        let session = format!("session-{nth}");
        let text = typed(&session, "/w/shop", nth, "user", "why does it rain");
        desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &text);
    }
    let memory = json!({
        "kind": "graphiti", "url": url, "database": database, "stall": "10s",
        "user": "root", "password_env": "GRAPH_PASSWORD",
    });
    settle(&desk, &json!({"memory": memory}), &[&url, &database]);
    done(&desk, "run");
    desk.now = Time(desk.now.0 + 7_300_000);
    let ran = done(&desk, "deliver run --history --json").json();
    let status = done(&desk, "deliver status --json").json();
    // each session's chunk, and its page
    assert_eq!(
        status["sinks"][0]["states"]["enriched"], 10,
        "{ran}\n{status}"
    );
    let marked = "MATCH (n:Episodic) WHERE n.sessionmill_pending IS NOT NULL RETURN n.uuid";
    assert_eq!(server.query(marked).len(), 0);
    assert_eq!(
        server.query("MATCH (n:Sessionmill) RETURN n.uuid").len(),
        10
    );
    done(&desk, "deliver verify");
}

/// A figure, not a promise: `cargo test --release measure_neo4j -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn measure_neo4j() {
    let Some(server) = Arcade::start() else {
        return;
    };
    let mut sink = neo4j(&server.endpoint("bolt"), &login());
    let words = "why does the cart forget its owls and what would a fox say ";
    let all = outbound_episodes((0..20_000).map(|n| format!("{n} {words}").repeat(31)));
    for what in ["new", "again"] {
        let begun = Instant::now();
        deliver(&mut sink, &all);
        let rate = all.len() as f64 / begun.elapsed().as_secs_f64();
        let bytes = all[0].content.len();
        eprintln!("neo4j (ArcadeDB), {what}: {rate:.0} episodes of {bytes} bytes a second");
    }
}
