//! FalkorDB: one graph per group. Knows its protocol and its dialect of Cypher; what is written, and in
//! which order, is `episodic`'s.

use super::cypher::{self, Value};
use super::database::Login;
use super::episodic::Episodic;
use super::graph::Graph;
use super::group;
use crate::model::consent::Permit;
use crate::model::delivery::DeliveryError;
use redis::{
    Client, Connection, ConnectionAddr, ErrorKind, IntoConnectionInfo, RedisConnectionInfo,
    RedisError, Value as Reply, cmd,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// Until the server accepts a connection.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Until it answers a query.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Episodes in a FalkorDB.
pub type FalkorDb = Episodic<FalkorServer>;

/// A server. Connects when it is first needed.
pub struct FalkorServer {
    client: Client,
    connection: Option<Connection>,
    /// Graphs whose indices are there.
    indexed: BTreeSet<String>,
}

impl Episodic<FalkorServer> {
    /// At the server that the permit is for.
    ///
    /// # Errors
    /// `DeliveryError::Misconfigured` where the endpoint is no server of this kind.
    pub fn new(permit: &Permit, login: &Login) -> Result<FalkorDb, DeliveryError> {
        Ok(Episodic::at(FalkorServer::new(permit, login)?))
    }
}

impl FalkorServer {
    fn new(permit: &Permit, login: &Login) -> Result<FalkorServer, DeliveryError> {
        let endpoint = permit.endpoint();
        let wrong = |what: &str| DeliveryError::Misconfigured(format!("{endpoint}: {what}"));
        let (host, port) = (endpoint.host().to_owned(), endpoint.port());
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
        Ok(FalkorServer {
            client,
            connection: None,
            indexed: BTreeSet::new(),
        })
    }

    fn connection(&mut self) -> Result<&mut Connection, DeliveryError> {
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
            .ok_or_else(|| DeliveryError::Unavailable("no connection".into(), None))
    }

    /// Runs a query; gives the first cell of its first row.
    fn query(&mut self, graph: &str, query: &str, params: &Value) -> Result<String, DeliveryError> {
        let asked = cmd("GRAPH.QUERY")
            .arg(graph)
            .arg(with(params, query))
            .query::<Reply>(self.connection()?);
        match asked {
            Ok(reply) => Ok(cell(reply).unwrap_or_default()),
            Err(error) => {
                // what is left of the answer must not be taken for the next one
                self.connection = None;
                Err(fault(error))
            }
        }
    }
}

impl Graph for FalkorServer {
    const LABELS: &'static str = "Episodic";

    fn check(&mut self) -> Result<String, DeliveryError> {
        let listed = cmd("GRAPH.LIST").query::<Vec<String>>(self.connection()?);
        let graphs = listed.map_err(|error| match fault(error) {
            DeliveryError::BatchRejected(_) => DeliveryError::Misconfigured(NO_GRAPHS.into()),
            other => other,
        })?;
        Ok(format!("{} graphs", graphs.len()))
    }

    fn has_graph(&mut self, graph: &str) -> Result<bool, DeliveryError> {
        let asked = cmd("EXISTS").arg(graph).query::<bool>(self.connection()?);
        asked.map_err(|error| {
            self.connection = None;
            fault(error)
        })
    }

    fn drop_graph(&mut self, graph: &str) -> Result<(), DeliveryError> {
        let left = self.query(graph, "MATCH (n) RETURN toString(count(n))", &Value::Null)?;
        if left == "0" {
            let dropped = cmd("GRAPH.DELETE")
                .arg(graph)
                .query::<Reply>(self.connection()?);
            dropped.map_err(fault)?;
            self.indexed.remove(graph);
        }
        Ok(())
    }

    /// Range first, then full-text: Graphiti finds both in place.
    fn ensure(&mut self, graph: &str) -> Result<(), DeliveryError> {
        if self.indexed.contains(graph) {
            return Ok(());
        }
        for query in [RANGE_INDEX.into(), SAGA_INDEX.into(), full_text_index()] {
            match self.query(graph, &query, &Value::Null) {
                // the server's way of saying that it is there
                Ok(_) | Err(DeliveryError::BatchRejected(_)) => {}
                Err(fault) => return Err(fault),
            }
        }
        self.indexed.insert(graph.to_owned());
        Ok(())
    }

    fn run(&mut self, graph: &str, query: &str, params: &Value) -> Result<(), DeliveryError> {
        self.query(graph, query, params).map(|_| ())
    }

    /// All in one row: servers may be told to return no more than a few.
    fn lines(
        &mut self,
        graph: &str,
        matches: &str,
        line: &str,
        params: &Value,
    ) -> Result<Vec<String>, DeliveryError> {
        let query = format!("{matches} RETURN string.join(collect({line}), '\n')");
        let answer = self.query(graph, &query, params)?;
        Ok(answer.lines().map(str::to_owned).collect())
    }
}

/// A query with its parameters before it.
fn with(params: &Value, query: &str) -> String {
    let mut out = String::new();
    if let Value::Map(pairs) = params {
        out.push_str("CYPHER");
        for (name, value) in pairs {
            out.push(' ');
            out.push_str(name);
            out.push('=');
            cypher::literal(&mut out, value);
        }
        out.push(' ');
    }
    out.push_str(query);
    out
}

const RANGE_INDEX: &str =
    "CREATE INDEX FOR (n:Episodic) ON (n.uuid, n.group_id, n.created_at, n.valid_at)";

const SAGA_INDEX: &str = "CREATE INDEX FOR (n:Saga) ON (n.uuid, n.group_id, n.name)";

fn full_text_index() -> String {
    let mut words = String::new();
    let stopwords = group::STOPWORDS.map(Value::text).to_vec();
    cypher::literal(&mut words, &Value::List(stopwords));
    format!(
        "CALL db.idx.fulltext.createNodeIndex({{label: 'Episodic', stopwords: {words}}}, \
         'content', 'source', 'source_description', 'group_id')"
    )
}

/// The first cell of `[header, rows, statistics]`; none where nothing is returned.
fn cell(reply: Reply) -> Option<String> {
    let first = |reply: Reply| match reply {
        Reply::Array(parts) => parts.into_iter().next(),
        _ => None,
    };
    let rows = match reply {
        Reply::Array(parts) if parts.len() == 3 => parts.into_iter().nth(1),
        _ => None,
    };
    match first(first(rows?)?)? {
        Reply::BulkString(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Reply::SimpleString(text) => Some(text),
        _ => None,
    }
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
fn fault(error: RedisError) -> DeliveryError {
    let code = error.code().unwrap_or_default().to_owned();
    let said = format!("{code} {}", error.detail().unwrap_or_default());
    let begins = |with: &[&str]| with.iter().any(|begin| said.starts_with(begin));
    let refused = matches!(error.kind(), ErrorKind::AuthenticationFailed);
    match code.as_str() {
        _ if said.starts_with("ERR unknown command") => {
            DeliveryError::Misconfigured(NO_GRAPHS.into())
        }
        "WRONGTYPE" => {
            DeliveryError::Misconfigured("something that is not a graph has its name".into())
        }
        _ if begins(&BUSY) => {
            DeliveryError::Unavailable(format!("the server is busy: {code}"), None)
        }
        _ if begins(&SETUP) => DeliveryError::Misconfigured(format!("the server says {code}")),
        _ if refused => DeliveryError::Misconfigured("the server refuses the login".into()),
        _ if begins(&QUERY) => {
            DeliveryError::BatchRejected(format!("the server refused the query: {code}"))
        }
        _ if error.is_timeout() => DeliveryError::Unavailable("no answer in time".into(), None),
        _ if error.is_connection_refusal() => {
            DeliveryError::Unavailable("connection refused".into(), None)
        }
        _ if error.is_io_error() || error.is_connection_dropped() => {
            DeliveryError::Unavailable("the connection broke".into(), None)
        }
        "" => DeliveryError::Unavailable("its answer means nothing here".into(), None),
        code => DeliveryError::Unavailable(format!("the server says {code}"), None),
    }
}
