//! A client of MCP servers over streamable HTTP: a session, and calls of tools in it, one at a time.
//! Knows sessions, versions and the two ways in which a server answers; refuses to know what tools do.

use super::http::{Answer, Http, HttpError, Verb};
use crate::model::consent::Permit;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::fmt;

/// The version of the protocol that is asked for. Older servers answer with theirs.
const VERSION: &str = "2025-06-18";
/// What is asked where an endpoint names no path.
const PATH: &str = "/mcp";
/// What an answer may be.
const ACCEPT: &str = "application/json, text/event-stream";

/// A server, with a session as long as it knows it.
pub struct McpClient {
    http: Http,
    /// Sent with every request.
    bearer: Option<String>,
    session: RefCell<Option<Session>>,
    asked: Cell<u64>,
}

#[derive(Clone)]
struct Session {
    /// `None`: the server keeps none.
    id: Option<String>,
    version: String,
}

/// Why a call came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It didn't arrive, or the answer didn't.
    Http(HttpError),
    /// The server refuses the call, or the tool its arguments. Their words may repeat what was sent.
    Refused,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Http(error) => error.fmt(f),
            Failure::Refused => f.write_str("refuses the call"),
        }
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Failure {
        Failure::Http(error)
    }
}

/// An answer, or something that a server says meanwhile.
#[derive(Deserialize)]
struct Message<T> {
    id: Option<Value>,
    method: Option<IgnoredAny>,
    result: Option<T>,
}

#[derive(Deserialize)]
struct Welcome {
    #[serde(rename = "protocolVersion")]
    version: String,
}

/// What a tool gives. Its `content` is the same once more, for models.
#[derive(Deserialize)]
struct Given<T> {
    #[serde(rename = "isError", default)]
    is_error: bool,
    #[serde(rename = "structuredContent")]
    content: Option<Wrapped<T>>,
}

#[derive(Deserialize)]
struct Wrapped<T> {
    result: T,
}

impl McpClient {
    /// A server; nothing is connected yet. `token` is sent as a bearer token.
    pub fn new(http: Http, token: Option<&str>) -> McpClient {
        McpClient {
            http,
            bearer: token.map(|token| format!("Bearer {token}")),
            session: RefCell::default(),
            asked: Cell::default(),
        }
    }

    /// The tools that there are, as the server describes them.
    ///
    /// # Errors
    /// As [`McpClient::call`].
    pub fn tools(&self, permit: &Permit) -> Result<Value, Failure> {
        self.request(permit, "tools/list", &json!({}))
    }

    /// Calls a tool once; gives what it gives, which has to be structured. Where the server has lost
    /// the session, it did nothing: another one is opened, and it is called in that.
    ///
    /// # Errors
    /// Why there is no answer: it may have been called or not. A tool's own errors are its to tell.
    pub fn call<T: DeserializeOwned>(
        &self,
        permit: &Permit,
        tool: &str,
        arguments: &Value,
    ) -> Result<T, Failure> {
        let params = json!({"name": tool, "arguments": arguments});
        let given: Given<T> = self.request(permit, "tools/call", &params)?;
        match given.content {
            _ if given.is_error => Err(Failure::Refused),
            Some(content) => Ok(content.result),
            None => Err(HttpError::Odd("what it answers has no structure".into()).into()),
        }
    }

    /// Lets the server forget the session. Whether it did is of no interest.
    pub fn end(&self, permit: &Permit) {
        if let Some(session) = self.session.take().filter(|session| session.id.is_some()) {
            let _ = self.send(permit, Verb::Delete, Some(&session), None);
        }
    }

    fn request<T: DeserializeOwned>(
        &self,
        permit: &Permit,
        method: &str,
        params: &Value,
    ) -> Result<T, Failure> {
        let session = self.session(permit)?;
        match self.ask(permit, Some(&session), method, params) {
            Err(Failure::Http(HttpError::Status(404, _))) => {
                self.session.take();
                let session = self.session(permit)?;
                self.ask(permit, Some(&session), method, params)
            }
            asked => asked,
        }
    }

    /// The session, opened where there is none.
    fn session(&self, permit: &Permit) -> Result<Session, Failure> {
        if let Some(session) = &*self.session.borrow() {
            return Ok(session.clone());
        }
        let hello = json!({
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "sessionmill", "version": env!("CARGO_PKG_VERSION")},
        });
        let (id, body) = self.body("initialize", &hello);
        let answer = self.send(permit, Verb::Post, None, Some(&body))?;
        let session_id = answer.header("mcp-session-id").map(str::to_owned);
        let welcome: Welcome = result(answer, id)?;
        let session = Session {
            id: session_id,
            version: welcome.version,
        };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.send(permit, Verb::Post, Some(&session), Some(&ready))?;
        self.session.replace(Some(session.clone()));
        Ok(session)
    }

    fn ask<T: DeserializeOwned>(
        &self,
        permit: &Permit,
        session: Option<&Session>,
        method: &str,
        params: &Value,
    ) -> Result<T, Failure> {
        let (id, body) = self.body(method, params);
        result(self.send(permit, Verb::Post, session, Some(&body))?, id)
    }

    /// A request with its number.
    fn body(&self, method: &str, params: &Value) -> (u64, Value) {
        let id = self.asked.get() + 1;
        self.asked.set(id);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        (id, body)
    }

    fn send(
        &self,
        permit: &Permit,
        verb: Verb,
        session: Option<&Session>,
        body: Option<&Value>,
    ) -> Result<Answer, HttpError> {
        let mut headers = vec![("accept", ACCEPT)];
        headers.extend(
            self.bearer
                .as_deref()
                .map(|bearer| ("authorization", bearer)),
        );
        if let Some(Session { id, version }) = session {
            headers.push(("mcp-protocol-version", version));
            headers.extend(id.as_deref().map(|id| ("mcp-session-id", id)));
        }
        let path = match permit.endpoint().path() {
            "" => PATH,
            _ => "",
        };
        self.http.answer(permit, (verb, path), &headers, body)
    }
}

/// What was asked for under this number.
fn result<T: DeserializeOwned>(answer: Answer, id: u64) -> Result<T, Failure> {
    let is_it = |message: &Message<T>| {
        message.method.is_none() && message.id.as_ref().and_then(Value::as_u64) == Some(id)
    };
    let message = answer.find(is_it)?;
    message.result.ok_or(Failure::Refused)
}
