//! A client of Bolt, the protocol of Neo4j and its kin, in versions 4.1 to 4.4 and 5.0 to 5.4: logging
//! in, and one query at a time, each its own transaction. Refuses to know what is asked.

mod packstream;
mod wire;

use crate::model::consent::Endpoint;
use crate::sinks::cypher::Value;
use crate::sinks::database::Login;
use packstream::Moments;
use std::io;
use wire::Wire;

/// What opens a connection, then the versions that we speak: (range, minor, major).
const HANDSHAKE: [u8; 20] = [
    0x60, 0x60, 0xb0, 0x17, 0, 4, 4, 5, 0, 3, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0,
];

const HELLO: u8 = 0x01;
const LOGON: u8 = 0x6a;
const RUN: u8 = 0x10;
const PULL: u8 = 0x3f;
const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const FAILURE: u8 = 0x7f;

/// Why there is no answer. The connection is of no use afterwards.
#[derive(Debug)]
pub enum BoltError {
    /// The connection broke, or was none.
    Broken(io::Error),
    /// The server refuses, with this code.
    Refused(String),
    /// Who answers doesn't speak it as we do.
    Odd(&'static str),
}

impl From<io::Error> for BoltError {
    fn from(error: io::Error) -> BoltError {
        BoltError::Broken(error)
    }
}

/// A connection that was let in.
pub struct Bolt {
    wire: Wire,
    moments: Moments,
    server: String,
}

impl Bolt {
    /// Connects and logs in.
    ///
    /// # Errors
    /// Why not.
    pub fn open(endpoint: &Endpoint, login: &Login) -> Result<Bolt, BoltError> {
        let is_safe = endpoint.scheme().ends_with("+s");
        let mut wire = Wire::open(endpoint.host(), endpoint.port(), is_safe)?;
        let mut answer = [0; 4];
        wire.exchange(&HANDSHAKE, &mut answer)?;
        let version = match answer {
            [0, 0, minor, major @ (4 | 5)] => (major, minor),
            [0, 0, 0, 0] => {
                return Err(BoltError::Odd("it supports no version of Bolt that we do"));
            }
            _ => return Err(BoltError::Odd("it doesn't speak Bolt")),
        };
        let mut bolt = Bolt {
            wire,
            moments: match version {
                (4, _) => Moments::Local,
                _ => Moments::Utc,
            },
            server: String::new(),
        };
        bolt.log_in(version, endpoint, login)?;
        Ok(bolt)
    }

    /// What the server calls itself: `Neo4j/5.26.0`.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Runs a query in a database, the user's own where none is named, as one transaction.
    ///
    /// # Errors
    /// Why there are no rows; nothing was written, unless the connection broke.
    pub fn query(
        &mut self,
        database: Option<&str>,
        query: &str,
        params: &Value,
    ) -> Result<Vec<Vec<Value>>, BoltError> {
        let database = database.map(|name| ("db".to_owned(), Value::text(name)));
        let extra = Value::Map(database.into_iter().collect());
        let all = Value::map([("n", Value::Int(-1))]);
        let run = self.message(RUN, &[&Value::text(query), params, &extra]);
        let pull = self.message(PULL, &[&all]);
        self.wire.send(&[run, pull])?;
        self.success()?;
        let mut rows = Vec::new();
        loop {
            match self.receive()? {
                (SUCCESS, _) => return Ok(rows),
                (RECORD, Value::List(row)) => rows.push(row),
                (tag, answer) => return Err(refusal(tag, &answer)),
            }
        }
    }

    fn log_in(
        &mut self,
        version: (u8, u8),
        endpoint: &Endpoint,
        login: &Login,
    ) -> Result<(), BoltError> {
        let agent = concat!("sessionmill/", env!("CARGO_PKG_VERSION"));
        let mut hello = vec![("user_agent".to_owned(), Value::text(agent))];
        if version >= (5, 3) {
            let product = Value::map([("product", Value::text(agent))]);
            hello.push(("bolt_agent".to_owned(), product));
        }
        if endpoint.scheme().starts_with("neo4j") {
            // a member of a cluster passes on what another one has to do
            let address = format!("{}:{}", endpoint.host(), endpoint.port());
            let routing = Value::map([("address", Value::text(address))]);
            hello.push(("routing".to_owned(), routing));
        }
        let logs_on = version >= (5, 1);
        if !logs_on {
            hello.extend(credentials(login));
        }
        let mut messages = vec![self.message(HELLO, &[&Value::Map(hello)])];
        if logs_on {
            messages.push(self.message(LOGON, &[&Value::Map(credentials(login))]));
        }
        self.wire.send(&messages)?;
        let answer = self.success()?;
        self.server = text_of(&answer, "server").unwrap_or("no name").to_owned();
        if logs_on {
            self.success()?;
        }
        Ok(())
    }

    fn message(&self, tag: u8, fields: &[&Value]) -> Vec<u8> {
        let mut out = vec![0xb0 + fields.len() as u8, tag];
        for field in fields {
            packstream::write(&mut out, field, self.moments);
        }
        out
    }

    fn receive(&mut self) -> Result<(u8, Value), BoltError> {
        let bytes = self.wire.receive()?;
        let (tag, fields) =
            packstream::message(&bytes).ok_or(BoltError::Odd("its answer is not Bolt"))?;
        let first = fields.into_iter().next();
        Ok((tag, first.unwrap_or(Value::Null)))
    }

    fn success(&mut self) -> Result<Value, BoltError> {
        match self.receive()? {
            (SUCCESS, answer) => Ok(answer),
            (tag, answer) => Err(refusal(tag, &answer)),
        }
    }
}

/// Of a failure only its code is told: the words may repeat a query.
fn refusal(tag: u8, answer: &Value) -> BoltError {
    let code = text_of(answer, "neo4j_code").or_else(|| text_of(answer, "code"));
    match (tag, code) {
        (FAILURE, Some(code)) => BoltError::Refused(code.to_owned()),
        _ => BoltError::Odd("it answers something else"),
    }
}

fn text_of<'a>(map: &'a Value, key: &str) -> Option<&'a str> {
    match map {
        Value::Map(pairs) => pairs.iter().find(|(k, _)| k == key)?.1.as_text(),
        _ => None,
    }
}

fn credentials(login: &Login) -> Vec<(String, Value)> {
    let pair = |key: &str, value: &str| (key.to_owned(), Value::text(value));
    match &login.password {
        None => vec![pair("scheme", "none")],
        Some(password) => vec![
            pair("scheme", "basic"),
            pair("principal", login.user.as_deref().unwrap_or("neo4j")),
            pair("credentials", password),
        ],
    }
}
