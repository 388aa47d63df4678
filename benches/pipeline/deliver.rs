//! What delivering costs: how many episodes a second each sink takes, which part of a run that is, and
//! how near the graph comes to a bare write of the same bytes. Needs `FALKORDB_BIN` for the graph
//! (`scripts/graph-parts`); without it, it says so.

use crate::Scale;
use crate::child;
use crate::falkor::Falkor;
use crate::homes::Home;
use crate::table::{Figure, judged, told};
use serde_json::{Value, json};
use sessionmill::model::consent::{Consent, Endpoint, Permit, endpoint_text};
use sessionmill::model::delivery::{DeliveryOutcome, OutboundEpisode};
use sessionmill::model::time::Time;
use sessionmill::sinks::database::Login;
use sessionmill::sinks::falkordb::FalkorDb;
use sessionmill::stages::upload::Sink;
use std::fs;
use std::io;
use std::time::Instant;
use uuid::Uuid;

/// Episodes of one batch, as the program hands them over.
const BATCH: usize = 250;
/// Of the graph alone, a second.
const GRAPH_RATE: f64 = 8_000.0;

/// Everything that a home's store holds goes to each sink; `run_s` is what it took to fill the
/// store.
pub fn measure(
    scale: &Scale,
    home: &Home,
    run_s: f64,
    figures: &mut Vec<Figure>,
) -> io::Result<()> {
    for kind in ["jsonl", "markdown"] {
        let sink = json!({"kind": kind, "path": format!("~/{kind}")});
        figures.push(delivery(kind, home, &sink, run_s)?);
    }
    if std::env::var_os("FALKORDB_BIN").is_none() {
        let none = "no server: FALKORDB_BIN=$(scripts/graph-parts) make bench";
        figures.push(told("deliver to falkordb", none.into()));
        return Ok(());
    }
    let server = Falkor::start();
    let endpoint = server.endpoint();
    let text = endpoint_text(&endpoint);
    let words = ["consent", "give", endpoint.as_str(), "--confirm", &text];
    child::run(&home.root, &words)?;
    let sink = json!({"kind": "falkordb", "url": endpoint.as_str()});
    figures.push(delivery("falkordb", home, &sink, run_s)?);
    graph(scale, figures)
}

/// A run that delivers everything to one new sink, and what part that is of one that does it all.
fn delivery(kind: &str, home: &Home, sink: &Value, run_s: f64) -> io::Result<Figure> {
    let file = home.root.join(".graphiti/graphiti.config.json");
    let mut settings: Value = serde_json::from_slice(&fs::read(&file)?)?;
    settings["graphiti"] = json!({"enabled": true, "consent": true});
    settings["sinks"] = json!({ kind: sink });
    fs::write(&file, settings.to_string())?;
    let delivers = child::run(&home.root, &["deliver", "run", "--history", "--json"])?;
    let report: Value = serde_json::from_str(&delivers.stdout)?;
    let report = &report["sinks"][0];
    let episodes = report["delivered"].as_u64().unwrap_or(0);
    let left = (&report["waiting"], &report["failed"], &report["dead"]);
    let none = Value::from(0);
    assert!(episodes > 0 && left == (&none, &none, &none), "{report}");
    let again = child::run(&home.root, &["deliver", "run", "--json"])?;
    let again: Value = serde_json::from_str(&again.stdout)?;
    assert_eq!(
        again["sinks"][0]["delivered"], 0,
        "a second one delivers nothing"
    );
    let wall_s = delivers.wall.as_secs_f64();
    let share = wall_s / (wall_s + run_s);
    let rate = episodes as f64 / wall_s;
    Ok(told(
        &format!("deliver to {kind}"),
        format!(
            "{rate:.0} episodes/s ({episodes}), {:.0}% of a run with it",
            share * 100.0
        ),
    ))
}

/// The sink alone, with episodes of 2 kB, beside pipelined writes of the same contents.
fn graph(scale: &Scale, figures: &mut Vec<Figure>) -> io::Result<()> {
    let server = Falkor::start();
    let all: Vec<OutboundEpisode> = (0..scale.episodes).map(outbound).collect();
    let mut sink = FalkorDb::new(&permit(&server.endpoint())?, &Login::default())
        .map_err(|fault| io::Error::other(fault.reason().to_owned()))?;
    let mut rate = || -> io::Result<f64> {
        let begun = Instant::now();
        for batch in all.chunks(BATCH) {
            let outcomes = sink
                .deliver(batch)
                .map_err(|fault| io::Error::other(fault.reason().to_owned()))?;
            assert!(
                outcomes == vec![DeliveryOutcome::Seen; batch.len()],
                "{outcomes:?}"
            );
        }
        Ok(all.len() as f64 / begun.elapsed().as_secs_f64())
    };
    let (new, again) = (rate()?, rate()?);
    let bare = all.len() as f64 / bare_writes(&server, &all)?;
    let text = format!("{new:.0} episodes/s, again {again:.0}");
    figures.push(judged(
        "falkordb alone, 2 kB each",
        text,
        "≥ 8000 /s",
        new >= GRAPH_RATE,
    ));
    let text = format!("{bare:.0} /s: {:.0} × the graph", bare / new);
    figures.push(told("bare SET of the same, pipelined", text));
    Ok(())
}

/// The seconds that it takes to put these contents there as plain values.
fn bare_writes(server: &Falkor, all: &[OutboundEpisode]) -> io::Result<f64> {
    let client = redis::Client::open(server.endpoint().as_str()).map_err(io::Error::other)?;
    let mut connection = client.get_connection().map_err(io::Error::other)?;
    let begun = Instant::now();
    for batch in all.chunks(BATCH) {
        let mut pipe = redis::pipe();
        for outbound in batch {
            pipe.set(outbound.id.to_string(), &outbound.content)
                .ignore();
        }
        pipe.query::<()>(&mut connection)
            .map_err(io::Error::other)?;
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn permit(endpoint: &Endpoint) -> io::Result<Permit> {
    let agreed = Consent {
        scope: endpoint.to_string(),
        given: true,
        text: String::new(),
        version: String::new(),
        at: Time(0),
    };
    Permit::of(endpoint, &[agreed]).map_err(io::Error::other)
}

fn outbound(nth: usize) -> OutboundEpisode {
    let words = "why does the cart forget its owls and what would a fox say ";
    OutboundEpisode {
        id: Uuid::from_u128(0x1000 + nth as u128),
        revision: 1,
        group: "bench".into(),
        name: format!("Session {nth}, part 1"),
        content: format!("{nth} {words}").repeat(31),
        source_description: format!("[a1b2c3d4] Session, part 1, revision {:016x}", 1),
        session: format!("session-{}", nth / 2),
        namespace: "a1b2c3d4e5f60718".into(),
        project: "shop".into(),
        valid_at: Time(1_780_000_000_000 + nth as i64 * 61_003),
        created_at: Time(1_780_000_000_000),
        attempts: 0,
    }
}
