//! What Graphiti made of episodes: facts, entities, summaries. When episodes go, what nothing else supports
//! goes with them, as by Graphiti's own `remove_episode`; what others support too stays, without them.
//! Knows Graphiti's schema; refuses to know how a database is reached, and asks no model.

use super::cypher::Value;
use super::graph::{Graph, these};
use crate::model::delivery::{DeliveryError, Traces};
use uuid::Uuid;

const THEIR_ENTITIES: &str = "MATCH (n:Episodic)-[:MENTIONS]->(e:Entity) \
                              WHERE n.uuid IN $ids AND n.group_id = $group WITH DISTINCT e";
const FACTS: &str = "MATCH (a:Entity)-[f:RELATES_TO]->(b:Entity) WHERE f.group_id = $group \
                     AND any(id IN f.episodes WHERE id IN $ids)";
const ALONE: &str = "all(id IN f.episodes WHERE id IN $ids)";
/// Entities that nothing else mentions and no fact of others connects.
const ORPHANS: &str = "OPTIONAL MATCH (o:Episodic)-[:MENTIONS]->(e) WHERE NOT o.uuid IN $ids \
                       WITH e, count(o) AS others \
                       OPTIONAL MATCH (e)-[f:RELATES_TO]-(:Entity) \
                       WITH e, others, count(f) AS facts WHERE others = 0 AND facts = 0";
/// What a summary is made of where no model is asked, as Graphiti does it for short ones: the facts.
const SUMMARY_MAX: usize = 2_000;

/// Removes what was made of these episodes of a graph alone; the episodes themselves stay, and mention
/// nothing any more.
///
/// # Errors
/// As [`Graph::run`].
pub fn unmake(
    db: &mut impl Graph,
    graph: &str,
    episodes: &[Uuid],
) -> Result<Traces, DeliveryError> {
    let asked = these(graph, episodes);
    let mut traces = Traces::default();
    let is_made = count(
        db,
        graph,
        &format!("{THEIR_ENTITIES} WITH count(e) AS n"),
        &asked,
    )?;
    if is_made == 0 {
        return Ok(traces);
    }
    traces.emptied = empty_summaries(db, graph, &asked)?;
    let of = |which: &str| format!("{FACTS} AND {which} WITH count(DISTINCT f.uuid) AS n");
    traces.facts = count(db, graph, &of(ALONE), &asked)?;
    traces.facts_shared = count(db, graph, &of(&format!("NOT {ALONE}")), &asked)?;
    db.run(graph, &format!("{FACTS} AND {ALONE} DELETE f"), &asked)?;
    let shared = format!("{FACTS} SET f.episodes = [id IN f.episodes WHERE NOT id IN $ids]");
    db.run(graph, &shared, &asked)?;
    let orphans = format!("{THEIR_ENTITIES} {ORPHANS}");
    traces.entities = count(db, graph, &format!("{orphans} WITH count(e) AS n"), &asked)?;
    db.run(graph, &format!("{orphans} DETACH DELETE e"), &asked)?;
    traces.summaries = rebuild_summaries(db, graph, &asked)?;
    let unmention = "MATCH (n:Episodic)-[m:MENTIONS]->(:Entity) \
                     WHERE n.uuid IN $ids AND n.group_id = $group DELETE m";
    db.run(graph, unmention, &asked)?;
    let edges = "MATCH (n:Episodic) WHERE n.uuid IN $ids AND n.group_id = $group \
                 SET n.entity_edges = []";
    db.run(graph, edges, &asked)?;
    Ok(traces)
}

/// Of the entities that others mention too: nobody can say what of a summary came from whom.
fn rebuild_summaries(
    db: &mut impl Graph,
    graph: &str,
    asked: &Value,
) -> Result<u64, DeliveryError> {
    let told = format!("{THEIR_ENTITIES} WHERE coalesce(e.summary, '') <> ''");
    let many = count(db, graph, &format!("{told} WITH count(e) AS n"), asked)?;
    if many > 0 {
        let rebuild = format!(
            "{told} OPTIONAL MATCH (e)-[f:RELATES_TO]-(:Entity) \
             WITH e, collect(DISTINCT f.fact) AS facts \
             SET e.summary = left(reduce(s = '', fact IN facts | \
             s + CASE WHEN s = '' THEN '' ELSE ' ' END + fact), {SUMMARY_MAX})"
        );
        db.run(graph, &rebuild, asked)?;
    }
    Ok(many)
}

/// Of communities that these entities belong to, and of sagas that tell these episodes.
fn empty_summaries(db: &mut impl Graph, graph: &str, asked: &Value) -> Result<u64, DeliveryError> {
    let communities = format!(
        "{THEIR_ENTITIES} MATCH (s:Community)-[:HAS_MEMBER]->(e) \
         WITH DISTINCT s WHERE coalesce(s.summary, '') <> ''"
    );
    let sagas = "MATCH (s:Saga)-[:HAS_EPISODE]->(n:Episodic) WHERE n.uuid IN $ids \
                 AND n.group_id = $group WITH DISTINCT s WHERE coalesce(s.summary, '') <> ''";
    let mut many = 0;
    for summarized in [communities.as_str(), sagas] {
        let found = count(
            db,
            graph,
            &format!("{summarized} WITH count(s) AS n"),
            asked,
        )?;
        if found > 0 {
            db.run(graph, &format!("{summarized} SET s.summary = ''"), asked)?;
        }
        many += found;
    }
    Ok(many)
}

/// The number `n` of a query without its `RETURN`.
fn count(
    db: &mut impl Graph,
    graph: &str,
    query: &str,
    asked: &Value,
) -> Result<u64, DeliveryError> {
    let told = db.lines(graph, query, "toString(n)", asked)?;
    let number = told.first().and_then(|line| line.parse().ok());
    Ok(number.unwrap_or_default())
}
