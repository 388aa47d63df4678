//! Neo4j, or another server that speaks Bolt: one database, in which a group is a property. Knows its
//! dialect of Cypher and its codes; what is written, and in which order, is `episodic`'s, and how it
//! gets there is `bolt`'s.
//!
//! Our nodes bear a label of our own besides Graphiti's, which leaves labels alone, and ids are unique
//! under that label: Graphiti's own indices get in no way of that, and nobody can make a twin.

use super::bolt::{Bolt, BoltError};
use super::cypher::Value;
use super::database::Login;
use super::episodic::Episodic;
use super::graph::Graph;
use crate::model::consent::{Endpoint, Permit};
use crate::model::delivery::DeliveryError;
use std::io;

/// A row of an answer.
type Row = Vec<Value>;
/// Attempts at a query that got in the way of another one.
const ATTEMPTS_MAX: u32 = 3;

/// Episodes in a Neo4j.
pub type Neo4j = Episodic<Neo4jServer>;

/// A server and one of its databases. Connects when it is first needed.
pub struct Neo4jServer {
    endpoint: Endpoint,
    login: Login,
    connection: Option<Bolt>,
    is_ready: bool,
}

impl Episodic<Neo4jServer> {
    /// At the server that the permit is for, and at no other: what a cluster says of its members is
    /// not asked for. A path names the database.
    ///
    /// # Errors
    /// `DeliveryError::Misconfigured` where the endpoint is no server of this kind.
    pub fn new(permit: &Permit, login: &Login) -> Result<Neo4j, DeliveryError> {
        let endpoint = permit.endpoint().clone();
        let wrong = |what: &str| Err(DeliveryError::Misconfigured(format!("{endpoint}: {what}")));
        if !["bolt", "bolt+s", "neo4j", "neo4j+s"].contains(&endpoint.scheme()) {
            return wrong("write bolt://, bolt+s://, neo4j:// or neo4j+s://");
        }
        if endpoint.path().matches('/').count() > 1 {
            return wrong("the path is the name of a database");
        }
        Ok(Episodic::at(Neo4jServer {
            endpoint,
            login: login.clone(),
            connection: None,
            is_ready: false,
        }))
    }
}

impl Neo4jServer {
    fn connection(&mut self) -> Result<&mut Bolt, BoltError> {
        if self.connection.is_none() {
            self.connection = Some(Bolt::open(&self.endpoint, &self.login)?);
        }
        let none = || BoltError::Broken(io::ErrorKind::NotConnected.into());
        self.connection.as_mut().ok_or_else(none)
    }

    fn ask(&mut self, query: &str, params: &Value) -> Result<Vec<Row>, BoltError> {
        let database = self.endpoint.path().trim_start_matches('/').to_owned();
        let database = Some(database.as_str()).filter(|name| !name.is_empty());
        let asked = self
            .connection()
            .and_then(|bolt| bolt.query(database, query, params));
        if asked.is_err() {
            // what is left of the answer must not be taken for the next one
            self.connection = None;
        }
        asked
    }

    /// A query that got in the way of another one is asked again.
    fn ask_again(&mut self, query: &str, params: &Value) -> Result<Vec<Row>, DeliveryError> {
        let mut attempt = 1;
        loop {
            match self.ask(query, params) {
                Err(BoltError::Refused(code)) if is_collision(&code) && attempt < ATTEMPTS_MAX => {
                    attempt += 1;
                }
                asked => return asked.map_err(fault),
            }
        }
    }
}

impl Graph for Neo4jServer {
    const LABELS: &'static str = "Episodic:Sessionmill";

    fn check(&mut self) -> Result<String, DeliveryError> {
        self.ask("RETURN 1", &no_params()).map_err(fault)?;
        let server = self.connection().map_err(fault)?.server().to_owned();
        Ok(match self.endpoint.path() {
            "" => server,
            database => format!("{server}, database {}", database.trim_start_matches('/')),
        })
    }

    /// The constraint has to be there; what Graphiti searches with may be refused.
    fn ensure(&mut self, _: &str) -> Result<(), DeliveryError> {
        if self.is_ready {
            return Ok(());
        }
        self.ask(CONSTRAINT, &no_params())
            .map_err(|error| match error {
                BoltError::Refused(code) if is_of_a_statement(&code) => {
                    DeliveryError::Misconfigured(format!(
                        "no constraint can be made: the server says {code}"
                    ))
                }
                other => fault(other),
            })?;
        for index in INDICES {
            match self.ask(index, &no_params()) {
                Err(BoltError::Refused(code)) if is_of_a_statement(&code) => {}
                asked => asked.map(|_| ()).map_err(fault)?,
            }
        }
        self.is_ready = true;
        Ok(())
    }

    fn run(&mut self, _: &str, query: &str, params: &Value) -> Result<(), DeliveryError> {
        self.ask_again(query, params).map(|_| ())
    }

    fn lines(
        &mut self,
        _: &str,
        matches: &str,
        line: &str,
        params: &Value,
    ) -> Result<Vec<String>, DeliveryError> {
        let rows = self.ask_again(&format!("{matches} RETURN {line}"), params)?;
        let cells = rows.into_iter().flatten();
        let texts = cells.filter_map(|cell| cell.as_text().map(str::to_owned));
        Ok(texts.collect())
    }
}

fn no_params() -> Value {
    Value::Map(Vec::new())
}

const CONSTRAINT: &str = "CREATE CONSTRAINT sessionmill_episode_id IF NOT EXISTS \
                          FOR (n:Sessionmill) REQUIRE n.uuid IS UNIQUE";

/// Graphiti's, under its names.
const INDICES: [&str; 8] = [
    "CREATE INDEX episode_uuid IF NOT EXISTS FOR (n:Episodic) ON (n.uuid)",
    "CREATE INDEX episode_group_id IF NOT EXISTS FOR (n:Episodic) ON (n.group_id)",
    "CREATE INDEX created_at_episodic_index IF NOT EXISTS FOR (n:Episodic) ON (n.created_at)",
    "CREATE INDEX valid_at_episodic_index IF NOT EXISTS FOR (n:Episodic) ON (n.valid_at)",
    "CREATE INDEX saga_uuid IF NOT EXISTS FOR (n:Saga) ON (n.uuid)",
    "CREATE INDEX saga_group_id IF NOT EXISTS FOR (n:Saga) ON (n.group_id)",
    "CREATE INDEX saga_name IF NOT EXISTS FOR (n:Saga) ON (n.name)",
    "CREATE FULLTEXT INDEX episode_content IF NOT EXISTS FOR (e:Episodic) \
     ON EACH [e.content, e.source, e.source_description, e.group_id]",
];

/// Two transactions wanted the same nodes; one of them was let through.
fn is_collision(code: &str) -> bool {
    code.starts_with("Neo.TransientError.Transaction.")
}

/// Whose fault it is.
fn fault(error: BoltError) -> DeliveryError {
    match error {
        BoltError::Broken(error) => broken(&error),
        BoltError::Odd(what) => DeliveryError::Misconfigured(what.into()),
        BoltError::Refused(code) => refused(&code),
    }
}

fn broken(error: &io::Error) -> DeliveryError {
    use io::ErrorKind::{ConnectionRefused, TimedOut, WouldBlock};
    let inner = error.get_ref();
    if let Some(tls) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return DeliveryError::Misconfigured(format!("TLS: {tls}").to_lowercase());
    }
    let what = match error.kind() {
        ConnectionRefused => "connection refused",
        TimedOut | WouldBlock => "no answer in time",
        _ => "the connection broke",
    };
    DeliveryError::Unavailable(what.into(), None)
}

/// It refuses what it was asked, as it was asked: to make an index again, or one that it has not.
fn is_of_a_statement(code: &str) -> bool {
    const CATEGORIES: [&str; 3] = ["Statement", "Schema", "Procedure"];
    let mut parts = code.split('.').skip(1);
    parts.next() == Some("ClientError") && parts.next().is_some_and(|of| CATEGORIES.contains(&of))
}

/// Titles of errors that come of what a query is given, and not of how we ask: of an episode.
const OF_VALUES: [&str; 7] = [
    "Schema.ConstraintValidationFailed",
    "Schema.ConstraintViolation",
    "Statement.ArgumentError",
    "Statement.ConstraintVerificationFailed",
    "Statement.IllegalTokenLength",
    "Statement.PropertyNotFound",
    "Statement.TypeError",
];

/// Codes are `Neo.<class>.<category>.<title>`. What nobody knows is no episode's fault.
fn refused(code: &str) -> DeliveryError {
    let parts: Vec<&str> = code.split('.').skip(1).collect();
    let says = || format!("the server says {}", parts.join("."));
    let is_of_values =
        |of: &str, title: &str| OF_VALUES.contains(&format!("{of}.{title}").as_str());
    match parts[..] {
        ["ClientError", "Security", "AuthorizationExpired"] => {
            DeliveryError::Unavailable(says(), None)
        }
        ["ClientError", "Security", _] => DeliveryError::Misconfigured(says()),
        ["ClientError", "Database", _] => DeliveryError::Misconfigured(says()),
        ["ClientError", "General", "ForbiddenOnReadOnlyDatabase"] => {
            DeliveryError::Misconfigured(says())
        }
        ["ClientError", "Cluster", _] => {
            let hint = "write neo4j:// for bolt://, and it passes on what another member has to do";
            DeliveryError::Unavailable(format!("{}; {hint}", says()), None)
        }
        ["ClientError", "Statement", "SyntaxError" | "SemanticError"] => {
            DeliveryError::Misconfigured(format!("{}: is it Neo4j 4.4 or later?", says()))
        }
        ["ClientError", of, title] if is_of_values(of, title) => {
            DeliveryError::BatchRejected(format!("the server refused the query: {of}.{title}"))
        }
        [] => DeliveryError::Unavailable("the server refuses and says nothing".into(), None),
        _ => DeliveryError::Unavailable(says(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_whose_fault_it_is() {
        let of = |code: &str| match refused(code) {
            DeliveryError::Unavailable(..) => "away",
            DeliveryError::BatchRejected(_) => "batch",
            DeliveryError::Misconfigured(_) => "setup",
        };
        for (code, whose) in [
            ("Neo.ClientError.Security.Unauthorized", "setup"),
            ("Neo.ClientError.Security.AuthorizationExpired", "away"),
            ("Neo.ClientError.Database.DatabaseNotFound", "setup"),
            (
                "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
                "setup",
            ),
            ("Neo.ClientError.Cluster.NotALeader", "away"),
            ("Neo.ClientError.Transaction.TransactionTimedOut", "away"),
            ("Neo.TransientError.General.DatabaseUnavailable", "away"),
            (
                "Neo.DatabaseError.Transaction.TransactionCommitFailed",
                "away",
            ),
            ("Neo.ClientError.Statement.SyntaxError", "setup"),
            ("Neo.ClientError.Statement.TypeError", "batch"),
            ("Neo.ClientError.Schema.ConstraintValidationFailed", "batch"),
            // what nobody knows kills no episode
            ("Neo.ClientError.Statement.SomethingNew", "away"),
            ("Neo.ClientError.Quota.Exceeded", "away"),
            ("Neo.ClientError", "away"),
            ("Memgraph.ClientError.MemgraphError.MemgraphError", "away"),
            ("", "away"),
        ] {
            assert_eq!(of(code), whose, "{code}");
        }
    }

    #[test]
    fn a_broken_connection_is_nobodys_fault_and_a_broken_certificate_is() {
        let fault = |error| broken(&error);
        let away = fault(io::ErrorKind::ConnectionReset.into());
        assert!(matches!(away, DeliveryError::Unavailable(..)));
        let tls = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let wrong = fault(io::Error::new(io::ErrorKind::InvalidData, tls));
        assert!(
            matches!(wrong, DeliveryError::Misconfigured(why) if why.contains("unknownissuer"))
        );
    }
}
