//! Sessions as Graphiti's sagas: a `Saga` per session and group, called like the session, with
//! `HAS_EPISODE` to each of its episodes and `NEXT_EPISODE` from each to the one that came after it.
//! Knows their ids, which are ours, and leaves alone what Graphiti adds to them.

use super::cypher::Value;
use super::graph::{Graph, IDS_MAX, these};
use crate::model::delivery::{DeliveryError, OutboundEpisode};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// The namespace of what has no id in the store.
const IDS: Uuid = Uuid::from_u128(0x7d0b_6f0e_55a1_5c5e_9f0c_3f6e_21a4_8b17);

/// Follows a `MERGE` of the episode `n` from `row`: its saga, and that it has it.
pub const MERGE: &str = " WITH n, row MERGE (s:Saga {uuid: row.saga.uuid}) ON CREATE SET s = row.saga \
                         MERGE (s)-[h:HAS_EPISODE {uuid: row.has}]->(n) \
                         ON CREATE SET h.group_id = row.saga.group_id, h.created_at = row.saga.created_at";

/// Gives these, which are there, their sagas.
///
/// # Errors
/// As [`Graph::run`].
pub fn give(
    db: &mut impl Graph,
    graph: &str,
    outbound_episodes: &[&OutboundEpisode],
) -> Result<(), DeliveryError> {
    let query = format!("UNWIND $rows AS row MATCH (n:Episodic {{uuid: row.uuid}}){MERGE}");
    let row = |outbound: &&OutboundEpisode| {
        let [saga, has] = of_row(graph, outbound);
        Value::map([("uuid", Value::text(outbound.id.to_string())), saga, has])
    };
    let rows = Value::List(outbound_episodes.iter().map(row).collect());
    db.run(graph, &query, &Value::map([("rows", rows)]))
}

/// The saga of a session.
fn saga_id(graph: &str, session: &str) -> Uuid {
    Uuid::new_v5(&IDS, format!("saga {graph} {session}").as_bytes())
}

fn edge_id(from: &str, to: &str) -> String {
    Uuid::new_v5(&IDS, format!("edge {from} {to}").as_bytes()).to_string()
}

/// `saga` and `has` of an episode's row.
pub fn of_row(graph: &str, outbound: &OutboundEpisode) -> [(&'static str, Value); 2] {
    let saga = saga_id(graph, &outbound.session).to_string();
    let has = edge_id(&saga, &outbound.id.to_string());
    let node = Value::map([
        ("uuid", Value::Text(saga)),
        ("name", Value::text(&outbound.session)),
        ("group_id", Value::text(graph)),
        ("summary", Value::text("")),
        ("created_at", Value::Time(outbound.created_at)),
    ]);
    [("saga", node), ("has", Value::Text(has))]
}

/// The sagas of these episodes.
pub fn of_parcels(graph: &str, outbound_episodes: &[&OutboundEpisode]) -> BTreeSet<Uuid> {
    let saga = |outbound: &&OutboundEpisode| saga_id(graph, &outbound.session);
    outbound_episodes.iter().map(saga).collect()
}

/// Our sagas that have some of these episodes.
///
/// # Errors
/// As [`Graph::lines`].
pub fn of_episodes(
    db: &mut impl Graph,
    graph: &str,
    episodes: &[Uuid],
) -> Result<BTreeSet<Uuid>, DeliveryError> {
    let matches = "MATCH (s:Saga)-[:HAS_EPISODE]->(n:Episodic) \
                   WHERE n.uuid IN $ids AND n.group_id = $group WITH DISTINCT s";
    let found = db.lines(
        graph,
        matches,
        "s.uuid + ' ' + s.name",
        &these(graph, episodes),
    )?;
    let ours = |line: &String| {
        let (id, session) = line.split_once(' ')?;
        let id = id.parse().ok()?;
        (id == saga_id(graph, session)).then_some(id)
    };
    Ok(found.iter().filter_map(ours).collect())
}

/// Removes those of the sagas that have no episode, and links the episodes of the others in the order
/// in which they happened.
///
/// # Errors
/// As [`Graph::run`].
pub fn mend(db: &mut impl Graph, graph: &str, sagas: &BTreeSet<Uuid>) -> Result<(), DeliveryError> {
    const EMPTY: &str = "MATCH (s:Saga) WHERE s.uuid IN $ids AND s.group_id = $group \
                         AND NOT (s)-[:HAS_EPISODE]->() DETACH DELETE s";
    let sagas: Vec<Uuid> = sagas.iter().copied().collect();
    for sagas in sagas.chunks(IDS_MAX) {
        db.run(graph, EMPTY, &these(graph, sagas))?;
        link(db, graph, sagas)?;
    }
    Ok(())
}

fn link(db: &mut impl Graph, graph: &str, sagas: &[Uuid]) -> Result<(), DeliveryError> {
    const CUT: &str = "UNWIND $rows AS r \
                       MATCH (:Episodic {uuid: r.from})-[e:NEXT_EPISODE {uuid: r.uuid}]->(:Episodic) DELETE e";
    const TIE: &str = "UNWIND $rows AS r \
                       MATCH (a:Episodic {uuid: r.from}) MATCH (b:Episodic {uuid: r.to}) \
                       MERGE (a)-[e:NEXT_EPISODE {uuid: r.uuid}]->(b) \
                       ON CREATE SET e.group_id = r.group_id, e.created_at = b.created_at";
    const ENDS: &str = "UNWIND $rows AS r MATCH (s:Saga {uuid: r.saga}) \
                        SET s.first_episode_uuid = r.from, s.last_episode_uuid = r.to";
    let asked = these(graph, sagas);
    let wanted = db.lines(
        graph,
        "MATCH (s:Saga)-[:HAS_EPISODE]->(e:Episodic) WHERE s.uuid IN $ids AND s.group_id = $group \
         WITH DISTINCT s, e ORDER BY s.uuid, e.valid_at, e.created_at, e.uuid",
        "s.uuid + ' ' + e.uuid",
        &asked,
    )?;
    let there = db.lines(
        graph,
        "MATCH (s:Saga)-[:HAS_EPISODE]->(a:Episodic)-[e:NEXT_EPISODE]->(b:Episodic) \
         WHERE s.uuid IN $ids AND s.group_id = $group",
        "a.uuid + ' ' + b.uuid + ' ' + e.uuid",
        &asked,
    )?;
    let chains = chains(&wanted);
    let (stale, missing) = changes(&chains, &there);
    let row = |(from, to): (&str, &str)| {
        Value::map([
            ("uuid", Value::Text(edge_id(from, to))),
            ("from", Value::text(from)),
            ("to", Value::text(to)),
            ("group_id", Value::text(graph)),
        ])
    };
    let ends = chains.iter().filter_map(|(saga, chain)| {
        Some(Value::map([
            ("saga", Value::text(*saga)),
            ("from", Value::text(*chain.first()?)),
            ("to", Value::text(*chain.last()?)),
        ]))
    });
    // cut before it is tied: in between a chain has a gap, and never a fork
    for (query, rows) in [
        (CUT, stale.into_iter().map(row).collect::<Vec<_>>()),
        (TIE, missing.into_iter().map(row).collect()),
        (ENDS, ends.collect()),
    ] {
        for rows in rows.chunks(IDS_MAX) {
            db.run(
                graph,
                query,
                &Value::map([("rows", Value::List(rows.to_vec()))]),
            )?;
        }
    }
    Ok(())
}

/// Episodes of each saga in order, from lines of both.
fn chains(lines: &[String]) -> BTreeMap<&str, Vec<&str>> {
    let mut chains: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (saga, episode) in lines.iter().filter_map(|line| line.split_once(' ')) {
        chains.entry(saga).or_default().push(episode);
    }
    chains
}

/// Episodes, each with the one after it.
type Links<'a> = BTreeSet<(&'a str, &'a str)>;

/// Pairs that we linked and that are no neighbours any more, and neighbours that nobody linked.
fn changes<'a>(
    chains: &BTreeMap<&str, Vec<&'a str>>,
    there: &'a [String],
) -> (Links<'a>, Links<'a>) {
    let mut missing = Links::new();
    for chain in chains.values() {
        missing.extend(chain.windows(2).map(|pair| (pair[0], pair[1])));
    }
    let neighbours = missing.clone();
    let mut stale = Links::new();
    for line in there {
        let parts: Vec<&str> = line.splitn(3, ' ').collect();
        let [from, to, edge] = parts[..] else {
            continue;
        };
        missing.remove(&(from, to));
        if !neighbours.contains(&(from, to)) && edge == edge_id(from, to) {
            stale.insert((from, to));
        }
    }
    (stale, missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn what_comes_between_two_episodes_unties_them_and_what_is_not_ours_stays() {
        let wanted = lines("s a, s b, s c, t x");
        let chains = chains(&wanted);
        assert_eq!(chains["s"], ["a", "b", "c"]);
        let ours = edge_id("a", "c");
        let there = lines(&format!("a c {ours}, b c somebody's, c a somebody's"));
        let (stale, missing) = changes(&chains, &there);
        assert_eq!(stale.into_iter().collect::<Vec<_>>(), [("a", "c")]);
        assert_eq!(missing.into_iter().collect::<Vec<_>>(), [("a", "b")]);
    }
}
