//! FalkorDB, in Graphiti's own schema: an `Episodic` node per episode under our id, one graph per
//! group, so that Graphiti reads them as its own (GRAPHITI.md §§ 4, 8 A).
//!
//! Writing is a `MERGE` on the id: doing it again changes nothing. A batch counts as delivered once
//! its nodes were read back in the revision that was sent.

use super::database::Database;
use super::{cypher, group};
use crate::model::consent::Permit;
use crate::model::delivery::{Fault, Landed, Outcome, Parcel, Progress, Receipt};
use crate::model::time::Time;
use crate::stages::upload::Sink;
use chrono::SecondsFormat;
use redis::{
    Client, Connection, ConnectionAddr, ErrorKind, IntoConnectionInfo, RedisConnectionInfo,
    RedisError, Value, cmd,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use uuid::Uuid;

/// Until the server accepts a connection.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Until it answers a query.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// Text of one query. The server keeps a query and its parameters in memory several times over.
const QUERY_BYTES_MAX: usize = 1 << 20;
/// Ids of one query.
const IDS_MAX: usize = 500;

/// Who logs in; both empty where nobody has to.
#[derive(Clone, Default)]
pub struct Login {
    /// `None`: the default user.
    pub user: Option<String>,
    /// Never shown.
    pub password: Option<String>,
}

/// A server. Connects when it is first needed.
pub struct FalkorDb {
    client: Client,
    connection: Option<Connection>,
    /// Graphs whose indices are there.
    indexed: BTreeSet<String>,
    /// What is new bears the mark of what Graphiti has to work through.
    marks: bool,
}

/// A node, as it is read back.
struct Node {
    /// It bears the mark.
    is_marked: bool,
    /// Ends with the revision.
    description: String,
}

/// Nodes by id: one, unless somebody made twins.
type Nodes = BTreeMap<Uuid, Vec<Node>>;

impl FalkorDb {
    /// The server that the permit is for.
    ///
    /// # Errors
    /// `Fault::Setup` where the endpoint is no server of this kind.
    pub fn new(permit: &Permit, login: &Login) -> Result<FalkorDb, Fault> {
        let endpoint = permit.endpoint();
        let wrong = |what: &str| Fault::Setup(format!("{endpoint}: {what}"));
        let (host, port) = host_and_port(endpoint.authority());
        let addr = match endpoint.scheme() {
            _ if !endpoint.path().is_empty() => return Err(wrong("no path belongs here")),
            "redis" => ConnectionAddr::Tcp(host, port),
            "rediss" => ConnectionAddr::TcpTls {
                host,
                port,
                insecure: false,
                tls_params: None,
            },
            _ => return Err(wrong("write redis:// or rediss://")),
        };
        let mut settings = RedisConnectionInfo::default();
        if let Some(user) = &login.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &login.password {
            settings = settings.set_password(password);
        }
        let info = addr
            .into_connection_info()
            .map(|info| info.set_redis_settings(settings));
        let client = info
            .and_then(Client::open)
            .map_err(|_| wrong("the settings of the connection don't fit"))?;
        Ok(FalkorDb {
            client,
            connection: None,
            indexed: BTreeSet::new(),
            marks: false,
        })
    }

    /// The same as the database of a Graphiti server that is to work through what is new.
    pub fn marking(mut self) -> FalkorDb {
        self.marks = true;
        self
    }

    fn connection(&mut self) -> Result<&mut Connection, Fault> {
        if self.connection.is_none() {
            let open = || {
                let connection = self.client.get_connection_with_timeout(CONNECT_MAX)?;
                connection.set_read_timeout(Some(ANSWER_MAX))?;
                connection.set_write_timeout(Some(ANSWER_MAX))?;
                Ok(connection)
            };
            self.connection = Some(open().map_err(fault)?);
        }
        self.connection
            .as_mut()
            .ok_or_else(|| Fault::Away("no connection".into(), None))
    }

    /// Runs a query; gives its rows, each a list of texts.
    fn query(&mut self, graph: &str, query: &str) -> Result<Vec<Vec<String>>, Fault> {
        let asked = cmd("GRAPH.QUERY")
            .arg(graph)
            .arg(query)
            .query::<Value>(self.connection()?);
        match asked {
            Ok(reply) => Ok(rows(reply)),
            Err(error) => {
                // what is left of the answer must not be taken for the next one
                self.connection = None;
                Err(fault(error))
            }
        }
    }

    fn has_graph(&mut self, graph: &str) -> Result<bool, Fault> {
        let asked = cmd("EXISTS").arg(graph).query::<bool>(self.connection()?);
        asked.map_err(|error| {
            self.connection = None;
            fault(error)
        })
    }

    /// Range first, then full-text: Graphiti finds both in place.
    fn ensure_indices(&mut self, graph: &str) -> Result<(), Fault> {
        if self.indexed.contains(graph) {
            return Ok(());
        }
        for query in [RANGE_INDEX.to_owned(), full_text_index()] {
            match self.query(graph, &query) {
                // the server's way of saying that it is there
                Ok(_) | Err(Fault::Batch(_)) => {}
                Err(fault) => return Err(fault),
            }
        }
        self.indexed.insert(graph.to_owned());
        Ok(())
    }

    /// What stands in a graph of these.
    fn read_back(&mut self, graph: &str, ids: &[Uuid]) -> Result<Nodes, Fault> {
        let mut found = Nodes::new();
        if !self.has_graph(graph)? {
            return Ok(found);
        }
        for ids in ids.chunks(IDS_MAX) {
            let query = format!(
                "CYPHER ids={} MATCH (n:Episodic) WHERE n.uuid IN $ids \
                 RETURN string.join(collect(n.uuid + ' ' + \
                 CASE WHEN n.{MARK} IS NULL THEN '' ELSE '{MARK}' END + ' ' + \
                 coalesce(n.source_description, '')), '\n')",
                id_list(ids)
            );
            // one row: servers may be told to return no more than a few
            for line in self.query(graph, &query)?.concat().concat().lines() {
                if let [id, mark, description] = line.splitn(3, ' ').collect::<Vec<_>>()[..]
                    && let Ok(id) = id.parse()
                {
                    found.entry(id).or_default().push(Node {
                        is_marked: !mark.is_empty(),
                        description: description.to_owned(),
                    });
                }
            }
        }
        Ok(found)
    }

    /// What all these receipts have there, graph by graph.
    fn held(&mut self, receipts: &[Receipt]) -> Result<Nodes, Fault> {
        let mut graphs: BTreeMap<&str, Vec<Uuid>> = BTreeMap::new();
        for receipt in receipts {
            graphs.entry(&receipt.place).or_default().push(receipt.id);
        }
        let mut found = Nodes::new();
        for (graph, ids) in graphs {
            found.extend(self.read_back(graph, &ids)?);
        }
        Ok(found)
    }

    /// The ones of these that are new. The others get the mark where nothing was made of them.
    fn mark(&mut self, graph: &str, parcels: &[&Parcel]) -> Result<Vec<usize>, Fault> {
        let ids: Vec<Uuid> = parcels.iter().map(|parcel| parcel.id).collect();
        let found = self.read_back(graph, &ids)?;
        let is_there = |p: &Parcel| landed(found.get(&p.id), p.revision) != Landed::Missing;
        let (there, new): (Vec<usize>, Vec<usize>) =
            (0..parcels.len()).partition(|nth| is_there(parcels[*nth]));
        let there: Vec<Uuid> = there.into_iter().map(|nth| ids[nth]).collect();
        for ids in there.chunks(IDS_MAX) {
            let query = format!(
                "CYPHER ids={} MATCH (n:Episodic) WHERE n.uuid IN $ids \
                 AND NOT (n)-[:MENTIONS]->() SET n.{MARK} = true",
                id_list(ids)
            );
            self.query(graph, &query)?;
        }
        Ok(new)
    }

    fn write(&mut self, graph: &str, parcels: &[&Parcel]) -> Result<Vec<Outcome>, Fault> {
        self.ensure_indices(graph)?;
        let new = match self.marks {
            true => self.mark(graph, parcels)?,
            false => (0..parcels.len()).collect(),
        };
        let new: Vec<&Parcel> = new.into_iter().map(|nth| parcels[nth]).collect();
        let mut rest = new.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |parcel: &&&Parcel| {
                bytes += parcel.content.len();
                bytes <= QUERY_BYTES_MAX
            };
            let many = rest.iter().take_while(fits).count().clamp(1, IDS_MAX);
            let (now, later) = rest.split_at(many);
            self.query(graph, &merge(graph, now, self.marks))?;
            rest = later;
        }
        let ids: Vec<Uuid> = parcels.iter().map(|parcel| parcel.id).collect();
        let found = self.read_back(graph, &ids)?;
        let outcome = |parcel: &&Parcel| match landed(found.get(&parcel.id), parcel.revision) {
            Landed::Once | Landed::Beside => Outcome::Seen,
            Landed::Missing | Landed::Unknown => Outcome::Failed("it was not read back".into()),
            Landed::Twice => Outcome::Failed("it was read back more than once".into()),
        };
        Ok(parcels.iter().map(outcome).collect())
    }
}

/// The property that says that Graphiti hasn't worked through a node: its final `SET n = {…}` wipes
/// what it doesn't know.
const MARK: &str = "sessionmill_pending";

const RANGE_INDEX: &str =
    "CREATE INDEX FOR (n:Episodic) ON (n.uuid, n.group_id, n.created_at, n.valid_at)";

fn full_text_index() -> String {
    let mut words = String::new();
    cypher::list(&mut words, &group::STOPWORDS, |out, word| {
        cypher::string(out, word)
    });
    format!(
        "CALL db.idx.fulltext.createNodeIndex({{label: 'Episodic', stopwords: {words}}}, \
         'content', 'source', 'source_description', 'group_id')"
    )
}

/// A node of ours keeps what Graphiti adds to it; what we send of it is replaced.
fn merge(graph: &str, parcels: &[&Parcel], marks: bool) -> String {
    let mut rows = String::new();
    cypher::list(&mut rows, parcels, |out, parcel| {
        cypher::map(
            out,
            &[
                ("uuid", &parcel.id.to_string()),
                ("name", &parcel.name),
                ("group_id", graph),
                ("source", "text"),
                ("source_description", &parcel.source_description),
                ("content", &parcel.content),
                ("created_at", &isoformat(parcel.created_at)),
                ("valid_at", &isoformat(parcel.valid_at)),
            ],
        );
    });
    let mark = match marks {
        true => format!(", n.{MARK} = true"),
        false => String::new(),
    };
    format!(
        "CYPHER rows={rows} UNWIND $rows AS r MERGE (n:Episodic {{uuid: r.uuid}}) \
         ON CREATE SET n = r, n.entity_edges = []{mark} \
         ON MATCH SET n.name = r.name, n.source_description = r.source_description, \
         n.content = r.content, n.valid_at = r.valid_at{mark}"
    )
}

fn id_list(ids: &[Uuid]) -> String {
    let mut list = String::new();
    cypher::list(&mut list, ids, |out, id| {
        cypher::string(out, &id.to_string())
    });
    list
}

/// As Python writes it: times are compared as texts there.
fn isoformat(time: Time) -> String {
    let precision = match time.0.rem_euclid(1_000) {
        0 => SecondsFormat::Secs,
        _ => SecondsFormat::Micros,
    };
    time.utc().to_rfc3339_opts(precision, false)
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

fn host_and_port(authority: &str) -> (String, u16) {
    const PORT: u16 = 6379;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().unwrap_or(PORT)),
        _ => (authority, PORT),
    };
    (host.trim_matches(['[', ']']).to_owned(), port)
}

/// The rows of `[header, rows, statistics]`; none where nothing is returned.
fn rows(reply: Value) -> Vec<Vec<String>> {
    let text = |value: Value| match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Value::SimpleString(text) => text,
        Value::Int(number) => number.to_string(),
        _ => String::new(),
    };
    let Value::Array(parts) = reply else {
        return Vec::new();
    };
    let mut parts = parts.into_iter();
    let (Some(_), Some(Value::Array(rows)), Some(_)) = (parts.next(), parts.next(), parts.next())
    else {
        return Vec::new();
    };
    rows.into_iter()
        .map(|row| match row {
            Value::Array(cells) => cells.into_iter().map(text).collect(),
            other => vec![text(other)],
        })
        .collect()
}

const NO_GRAPHS: &str = "this server has no graphs: is it FalkorDB?";

/// How messages begin that a server has for everybody who comes now.
const BUSY: [&str; 12] = [
    "Max pending queries exceeded",
    "Query timed out",
    "ERR max number of clients",
    "LOADING",
    "BUSY",
    "OOM",
    "READONLY",
    "MASTERDOWN",
    "NOREPLICAS",
    "TRYAGAIN",
    "CLUSTERDOWN",
    "MISCONF",
];

/// The same of a server that is another one than the settings say.
const SETUP: [&str; 5] = ["NOAUTH", "WRONGPASS", "NOPERM", "MOVED", "ASK"];

/// The same of a query that it will never run.
const QUERY: [&str; 9] = [
    "errMsg:",
    "Invalid input",
    "Type mismatch",
    "Unknown function",
    "Property values can only",
    "Query's mem consumption exceeded",
    "unique constraint violation",
    "mandatory constraint violation",
    // asking for an index again
    "Attribute '",
];

/// Whose fault it is; what nobody knows is no episode's. The server's own words may repeat a query:
/// only the first of them is told.
fn fault(error: RedisError) -> Fault {
    let code = error.code().unwrap_or_default().to_owned();
    let said = format!("{code} {}", error.detail().unwrap_or_default());
    let begins = |with: &[&str]| with.iter().any(|begin| said.starts_with(begin));
    let refused = matches!(error.kind(), ErrorKind::AuthenticationFailed);
    match code.as_str() {
        _ if said.starts_with("ERR unknown command") => Fault::Setup(NO_GRAPHS.into()),
        "WRONGTYPE" => Fault::Setup("something that is no graph has the name of one".into()),
        _ if begins(&BUSY) => Fault::Away(format!("the server is busy: {code}"), None),
        _ if begins(&SETUP) => Fault::Setup(format!("the server says {code}")),
        _ if refused => Fault::Setup("the server refuses the login".into()),
        _ if begins(&QUERY) => Fault::Batch(format!("the server refused the query: {code}")),
        _ if error.is_timeout() => Fault::Away("no answer in time".into(), None),
        _ if error.is_connection_refusal() => Fault::Away("connection refused".into(), None),
        _ if error.is_io_error() || error.is_connection_dropped() => {
            Fault::Away("the connection broke".into(), None)
        }
        "" => Fault::Away("its answer means nothing here".into(), None),
        code => Fault::Away(format!("the server says {code}"), None),
    }
}

impl Sink for FalkorDb {
    fn replaces(&self) -> bool {
        true
    }

    fn place(&self, parcel: &Parcel) -> String {
        group::graph_name(&parcel.group)
    }

    fn tells_apart(&self, groups: &[String]) -> Result<(), Fault> {
        group::tell_apart(groups)
    }

    fn check(&mut self) -> Result<String, Fault> {
        let listed = cmd("GRAPH.LIST").query::<Vec<String>>(self.connection()?);
        let graphs = listed.map_err(|error| match fault(error) {
            Fault::Batch(_) => Fault::Setup(NO_GRAPHS.into()),
            other => other,
        })?;
        Ok(format!("{} graphs", graphs.len()))
    }

    fn deliver(&mut self, batch: &[Parcel]) -> Result<Vec<Outcome>, Fault> {
        let mut graphs: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (nth, parcel) in batch.iter().enumerate() {
            graphs.entry(self.place(parcel)).or_default().push(nth);
        }
        let mut outcomes = vec![Outcome::Seen; batch.len()];
        for (graph, members) in graphs {
            let parcels: Vec<&Parcel> = members.iter().map(|nth| &batch[*nth]).collect();
            for (nth, outcome) in members.into_iter().zip(self.write(&graph, &parcels)?) {
                outcomes[nth] = outcome;
            }
        }
        Ok(outcomes)
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, Fault> {
        let found = self.held(receipts)?;
        let landed = |receipt: &Receipt| landed(found.get(&receipt.id), receipt.revision);
        Ok(receipts.iter().map(landed).collect())
    }

    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, Fault> {
        let mut graphs: BTreeMap<&str, Vec<Uuid>> = BTreeMap::new();
        for receipt in receipts {
            graphs.entry(&receipt.place).or_default().push(receipt.id);
        }
        for (graph, ids) in graphs {
            if !self.has_graph(graph)? {
                continue;
            }
            for ids in ids.chunks(IDS_MAX) {
                let query = format!(
                    "CYPHER ids={} MATCH (n:Episodic) WHERE n.uuid IN $ids DETACH DELETE n",
                    id_list(ids)
                );
                self.query(graph, &query)?;
            }
        }
        Ok(Vec::new())
    }
}

impl Database for FalkorDb {
    fn progress(&mut self, receipts: &[Receipt]) -> Result<Vec<Progress>, Fault> {
        let found = self.held(receipts)?;
        let progress = |receipt: &Receipt| {
            let nodes = found.get(&receipt.id);
            let is_marked = nodes.is_some_and(|nodes| nodes.iter().any(|node| node.is_marked));
            match landed(nodes, receipt.revision) {
                Landed::Missing => Progress::Missing,
                _ if is_marked => Progress::Waits,
                _ => Progress::Done,
            }
        };
        Ok(receipts.iter().map(progress).collect())
    }

    fn has(&mut self, graph: &str, name: &str) -> Result<bool, Fault> {
        if !self.has_graph(graph)? {
            return Ok(false);
        }
        let mut literal = String::new();
        cypher::string(&mut literal, name);
        let query = format!("MATCH (n:Episodic) WHERE n.name = {literal} RETURN count(n)");
        Ok(self.query(graph, &query)?.concat().concat() != "0")
    }

    fn empty(&mut self, graph: &str) -> Result<(), Fault> {
        if self.has_graph(graph)? {
            self.query(graph, "MATCH (n) DETACH DELETE n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_graphiti_compares_them() {
        let written = |text: &str| isoformat(Time::parse(text).unwrap());
        assert_eq!(written("2026-01-02T03:04:05Z"), "2026-01-02T03:04:05+00:00");
        assert_eq!(
            written("2026-01-02T03:04:05.120Z"),
            "2026-01-02T03:04:05.120000+00:00"
        );
    }

    #[test]
    fn hosts_and_ports_come_apart() {
        for (authority, host, port) in [
            ("localhost", "localhost", 6379),
            ("h:16379", "h", 16379),
            ("[::1]", "::1", 6379),
            ("[::1]:7000", "::1", 7000),
        ] {
            assert_eq!(host_and_port(authority), (host.to_owned(), port));
        }
    }
}
