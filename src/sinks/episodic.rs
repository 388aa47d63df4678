//! Episodes in a graph database, in Graphiti's own schema: an `Episodic` node per episode under our
//! id, so that Graphiti reads them as its own (graphiti § 4, § 5). Knows what is written in which
//! order and what counts as delivered; how a database is reached is [`Graph`]'s.
//!
//! Writing is a `MERGE` on the id: doing it again changes nothing. A batch counts as delivered once
//! its nodes were read back in the revision that was sent.

use super::cypher::Value;
use super::database::Database;
use super::derived;
use super::graph::{Graph, IDS_MAX, these};
use super::group;
use super::saga;
use crate::model::delivery::{
    DeliveryError, DeliveryOutcome, DeliveryProgress, Landed, OutboundEpisode, Receipt, Traces,
};
use crate::model::extraction::GraphCounts;
use crate::stages::upload::Sink;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Text of one query. Servers keep a query and its parameters in memory several times over.
const QUERY_BYTES_MAX: usize = 1 << 20;
/// The property that says that Graphiti hasn't worked through a node: its final `SET n = {…}` wipes
/// what it doesn't know.
const MARK: &str = "sessionmill_pending";

/// A node, as it is read back.
struct Node {
    /// It bears the mark.
    is_marked: bool,
    /// Ends with the revision.
    description: String,
}

/// Nodes by id: one, unless somebody made twins.
type Nodes = BTreeMap<Uuid, Vec<Node>>;

/// A sink that writes to graphs.
pub struct Episodic<G> {
    graph: G,
    /// What is new bears the mark of what Graphiti has to work through.
    marks: bool,
    /// Sessions are told as sagas.
    sagas: bool,
    /// What was made of what was removed.
    traces: Traces,
}

impl<G: Graph> Episodic<G> {
    /// A sink at this database.
    pub fn at(graph: G) -> Episodic<G> {
        Episodic {
            graph,
            marks: false,
            sagas: false,
            traces: Traces::default(),
        }
    }

    /// The same; `marks`: as the database of a Graphiti server that is to work through what is new.
    pub fn marking(mut self, marks: bool) -> Episodic<G> {
        self.marks = marks;
        self
    }

    /// The same; `sagas`: sessions are told as sagas.
    pub fn with_sagas(mut self, sagas: bool) -> Episodic<G> {
        self.sagas = sagas;
        self
    }

    /// What stands in a graph of these.
    fn read_back(&mut self, graph: &str, ids: &[Uuid]) -> Result<Nodes, DeliveryError> {
        let mut found = Nodes::new();
        if !self.graph.has_graph(graph)? {
            return Ok(found);
        }
        for ids in ids.chunks(IDS_MAX) {
            let lines = self
                .graph
                .lines(graph, THESE, &node_line(), &these(graph, ids))?;
            for (id, node) in lines.iter().filter_map(|line| node(line)) {
                found.entry(id).or_default().push(node);
            }
        }
        Ok(found)
    }

    /// What all these receipts have there, graph by graph.
    fn held(&mut self, receipts: &[Receipt]) -> Result<Nodes, DeliveryError> {
        let mut found = Nodes::new();
        for (graph, ids) in by_graph(receipts) {
            found.extend(self.read_back(graph, &ids)?);
        }
        Ok(found)
    }

    /// The ones of these that are new. The others get the mark where nothing was made of them, and
    /// their sagas.
    fn mark<'a>(
        &mut self,
        graph: &str,
        outbound_episodes: &[&'a OutboundEpisode],
    ) -> Result<Vec<&'a OutboundEpisode>, DeliveryError> {
        let ids: Vec<Uuid> = outbound_episodes
            .iter()
            .map(|outbound| outbound.id)
            .collect();
        let found = self.read_back(graph, &ids)?;
        let is_there =
            |p: &&OutboundEpisode| landed(found.get(&p.id), p.revision) != Landed::Missing;
        let (there, new): (Vec<&OutboundEpisode>, Vec<&OutboundEpisode>) =
            outbound_episodes.iter().partition(|p| is_there(p));
        // what was made of an older text of theirs is not of the new one
        let is_older = |p: &&&OutboundEpisode| found.contains_key(&p.id);
        let older: Vec<Uuid> = new.iter().filter(is_older).map(|p| p.id).collect();
        for ids in older.chunks(IDS_MAX) {
            derived::unmake(&mut self.graph, graph, ids)?;
        }
        for there in there.chunks(IDS_MAX) {
            let ids: Vec<Uuid> = there.iter().map(|outbound| outbound.id).collect();
            let query = format!("{THESE} AND NOT (n)-[:MENTIONS]->() SET n.{MARK} = true");
            self.graph.run(graph, &query, &these(graph, &ids))?;
            if self.sagas {
                saga::give(&mut self.graph, graph, there)?;
            }
        }
        Ok(new)
    }

    fn write(
        &mut self,
        graph: &str,
        outbound_episodes: &[&OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        self.graph.ensure(graph)?;
        let new = match self.marks {
            true => self.mark(graph, outbound_episodes)?,
            false => outbound_episodes.to_vec(),
        };
        let merge = merge(G::LABELS, self.marks, self.sagas);
        let mut rest = new.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |outbound: &&&OutboundEpisode| {
                bytes += outbound.content.len();
                bytes <= QUERY_BYTES_MAX
            };
            // one that is over the limit goes alone, or it would wait for ever
            let many = rest.iter().take_while(fits).count().clamp(1, IDS_MAX);
            let (now, later) = rest.split_at(many);
            let rows = now.iter().map(|outbound| row(graph, outbound, self.sagas));
            let rows = Value::map([("rows", Value::List(rows.collect()))]);
            self.graph.run(graph, &merge, &rows)?;
            rest = later;
        }
        if self.sagas {
            saga::mend(
                &mut self.graph,
                graph,
                &saga::of_parcels(graph, outbound_episodes),
            )?;
        }
        let ids: Vec<Uuid> = outbound_episodes
            .iter()
            .map(|outbound| outbound.id)
            .collect();
        // only what was read back has arrived
        let found = self.read_back(graph, &ids)?;
        let outcome = |outbound: &&OutboundEpisode| match landed(
            found.get(&outbound.id),
            outbound.revision,
        ) {
            Landed::Once | Landed::Beside => DeliveryOutcome::Seen,
            Landed::Missing | Landed::Unknown => {
                DeliveryOutcome::Failed("it was not read back".into())
            }
            Landed::Twice => DeliveryOutcome::Failed("it was read back more than once".into()),
        };
        Ok(outbound_episodes.iter().map(outcome).collect())
    }
}

fn by_graph(receipts: &[Receipt]) -> BTreeMap<&str, Vec<Uuid>> {
    let mut graphs: BTreeMap<&str, Vec<Uuid>> = BTreeMap::new();
    for receipt in receipts {
        graphs.entry(&receipt.place).or_default().push(receipt.id);
    }
    graphs
}

/// The nodes that [`these`] are.
const THESE: &str = "MATCH (n:Episodic) WHERE n.uuid IN $ids AND n.group_id = $group";

/// What a node is read back as.
fn node_line() -> String {
    format!(
        "n.uuid + ' ' + CASE WHEN n.{MARK} IS NULL THEN '' ELSE '{MARK}' END + ' ' + \
         coalesce(n.source_description, '')"
    )
}

fn node(line: &str) -> Option<(Uuid, Node)> {
    let mut parts = line.splitn(3, ' ');
    let id = parts.next()?.parse().ok()?;
    let node = Node {
        is_marked: !parts.next()?.is_empty(),
        description: parts.next()?.to_owned(),
    };
    Some((id, node))
}

fn row(graph: &str, outbound: &OutboundEpisode, sagas: bool) -> Value {
    let node = Value::map([
        ("uuid", Value::text(outbound.id.to_string())),
        ("name", Value::text(&outbound.name)),
        ("group_id", Value::text(graph)),
        ("source", Value::text("text")),
        (
            "source_description",
            Value::text(&outbound.source_description),
        ),
        ("content", Value::text(&outbound.content)),
        ("created_at", Value::Time(outbound.created_at)),
        ("valid_at", Value::Time(outbound.valid_at)),
    ]);
    match saga::of_row(graph, outbound) {
        [saga, has] if sagas => Value::map([("node", node), saga, has]),
        _ => Value::map([("node", node)]),
    }
}

/// A node of ours keeps what Graphiti adds to it; what we send of it is replaced.
fn merge(labels: &str, marks: bool, sagas: bool) -> String {
    let mark = match marks {
        true => format!(", n.{MARK} = true"),
        false => String::new(),
    };
    let saga = if sagas { saga::MERGE } else { "" };
    format!(
        "UNWIND $rows AS row WITH row, row.node AS r MERGE (n:{labels} {{uuid: r.uuid}}) \
         ON CREATE SET n = r, n.entity_edges = []{mark} \
         ON MATCH SET n.name = r.name, n.group_id = r.group_id, \
         n.source_description = r.source_description, \
         n.content = r.content, n.valid_at = r.valid_at{mark}{saga}"
    )
}

/// Of the nodes with one id; ours are described with the revision at the end.
fn landed(found: Option<&Vec<Node>>, revision: u64) -> Landed {
    let ours = format!("{revision:016x}");
    match found.map(Vec::as_slice) {
        Some([one]) if one.description.ends_with(&ours) => Landed::Once,
        Some([]) | Some([_]) | None => Landed::Missing,
        Some(_) => Landed::Twice,
    }
}

impl<G: Graph> Sink for Episodic<G> {
    fn replaces(&self) -> bool {
        true
    }

    fn place(&self, outbound: &OutboundEpisode) -> String {
        group::graph_name(&outbound.group)
    }

    fn tells_apart(&self, groups: &[String]) -> Result<(), DeliveryError> {
        group::check_distinct(groups)
    }

    fn check(&mut self) -> Result<String, DeliveryError> {
        self.graph.check()
    }

    fn deliver(
        &mut self,
        batch: &[OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let mut graphs: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (nth, outbound) in batch.iter().enumerate() {
            graphs.entry(self.place(outbound)).or_default().push(nth);
        }
        let mut outcomes = vec![DeliveryOutcome::Seen; batch.len()];
        for (graph, members) in graphs {
            let outbound_episodes: Vec<&OutboundEpisode> =
                members.iter().map(|nth| &batch[*nth]).collect();
            for (nth, outcome) in members
                .into_iter()
                .zip(self.write(&graph, &outbound_episodes)?)
            {
                outcomes[nth] = outcome;
            }
        }
        Ok(outcomes)
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        let found = self.held(receipts)?;
        let landed = |receipt: &Receipt| landed(found.get(&receipt.id), receipt.revision);
        Ok(receipts.iter().map(landed).collect())
    }

    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        for (graph, ids) in by_graph(receipts) {
            if !self.graph.has_graph(graph)? {
                continue;
            }
            for ids in ids.chunks(IDS_MAX) {
                let sagas = saga::of_episodes(&mut self.graph, graph, ids)?;
                let traces = derived::unmake(&mut self.graph, graph, ids)?;
                self.traces.join(&traces);
                let query = format!("{THESE} DETACH DELETE n");
                self.graph.run(graph, &query, &these(graph, ids))?;
                saga::mend(&mut self.graph, graph, &sagas)?;
            }
        }
        Ok(Vec::new())
    }

    fn traces(&mut self) -> Traces {
        std::mem::take(&mut self.traces)
    }

    fn remove_place(&mut self, place: &str) -> Result<(), DeliveryError> {
        match self.graph.has_graph(place)? {
            true => self.graph.drop_graph(place),
            false => Ok(()),
        }
    }
}

impl<G: Graph> Database for Episodic<G> {
    fn progress(&mut self, receipts: &[Receipt]) -> Result<Vec<DeliveryProgress>, DeliveryError> {
        let found = self.held(receipts)?;
        let progress = |receipt: &Receipt| {
            let nodes = found.get(&receipt.id);
            let is_marked = nodes.is_some_and(|nodes| nodes.iter().any(|node| node.is_marked));
            match landed(nodes, receipt.revision) {
                Landed::Missing => DeliveryProgress::Missing,
                _ if is_marked => DeliveryProgress::Waits,
                _ => DeliveryProgress::Done,
            }
        };
        Ok(receipts.iter().map(progress).collect())
    }

    fn counts(&mut self, graph: &str) -> Result<GraphCounts, DeliveryError> {
        const QUERY: &str = "MATCH (n:Episodic)-[:MENTIONS]->(e:Entity) WHERE n.group_id = $group \
                             WITH n, count(DISTINCT e) AS its \
                             WITH count(n) AS episodes, sum(its) AS mentions, \
                             sum(size(coalesce(n.entity_edges, []))) AS facts";
        const LINE: &str = "toString(episodes) + ' ' + toString(toInteger(mentions)) + ' ' \
                            + toString(toInteger(facts))";
        if !self.graph.has_graph(graph)? {
            return Ok(GraphCounts::default());
        }
        let asked = Value::map([("group", Value::text(graph))]);
        let found = self.graph.lines(graph, QUERY, LINE, &asked)?;
        let mut numbers = found.iter().flat_map(|line| line.split(' '));
        let mut next = || numbers.next()?.parse().ok();
        Ok(GraphCounts {
            episodes: next().unwrap_or_default(),
            mentions: next().unwrap_or_default(),
            facts: next().unwrap_or_default(),
            ..GraphCounts::default()
        })
    }

    fn has(&mut self, graph: &str, name: &str) -> Result<bool, DeliveryError> {
        const QUERY: &str = "MATCH (n:Episodic) WHERE n.group_id = $group AND n.name = $name";
        if !self.graph.has_graph(graph)? {
            return Ok(false);
        }
        let asked = Value::map([("group", Value::text(graph)), ("name", Value::text(name))]);
        let found = self.graph.lines(graph, QUERY, "n.uuid", &asked)?;
        Ok(!found.is_empty())
    }

    fn remove_described(&mut self, graph: &str, description: &str) -> Result<(), DeliveryError> {
        if self.graph.has_graph(graph)? {
            let (group, description) = (Value::text(graph), Value::text(description));
            let asked = Value::map([("group", group), ("description", description)]);
            let described = "MATCH (n:Episodic) WHERE n.group_id = $group \
                             AND n.source_description = $description";
            let found = self.graph.lines(graph, described, "n.uuid", &asked)?;
            let ids: Vec<Uuid> = found.iter().filter_map(|id| id.parse().ok()).collect();
            derived::unmake(&mut self.graph, graph, &ids)?;
            self.graph
                .run(graph, &format!("{described} DETACH DELETE n"), &asked)?;
        }
        Ok(())
    }

    fn empty(&mut self, graph: &str) -> Result<(), DeliveryError> {
        if self.graph.has_graph(graph)? {
            let asked = Value::map([("group", Value::text(graph))]);
            let query = "MATCH (n) WHERE n.group_id = $group DETACH DELETE n";
            self.graph.run(graph, query, &asked)?;
        }
        Ok(())
    }
}
