//! Graphiti's MCP server as it is (graphiti § 3): a queue in memory for each group, whose worker
//! loses what goes wrong and goes on, and `add_memory`, which says that all is well whatever comes.

use super::server::{self, GraphitiServer, ListedEpisode, Permits, PostedMessage};
use crate::model::consent::{Endpoint, Permit};
use crate::model::delivery::DeliveryError;
use crate::net::http::{Http, HttpError};
use crate::net::mcp::{Failure, McpClient};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use std::cell::Cell;

/// One server.
pub struct GraphitiMcp {
    client: McpClient,
    endpoint: Endpoint,
    /// Asked before each request: waiting for a queue takes long, and a consent may be taken back.
    permits: Permits,
    /// It has the tools that are called.
    is_known: Cell<bool>,
    /// It answered the last time.
    answers: Cell<bool>,
}

/// What it answers 413 to; the arguments are most of it.
const BODY_BYTES_MAX: usize = (4 << 20) - (1 << 10);
/// Episodes of a group that are asked for: all that a listing of no particular order may have.
const ALL: u64 = 1_000_000_000;

/// What its tools give; their errors are told as anything else is.
#[derive(Deserialize)]
struct ToolAnswer {
    error: Option<IgnoredAny>,
    #[serde(default)]
    episodes: Vec<ListedEpisode>,
}

impl GraphitiMcp {
    /// The server at this endpoint, as long as it is permitted.
    pub fn new(
        http: Http,
        endpoint: Endpoint,
        permits: Permits,
        token: Option<&str>,
    ) -> GraphitiMcp {
        GraphitiMcp {
            client: McpClient::new(http, token),
            endpoint,
            permits,
            is_known: Cell::new(false),
            answers: Cell::new(false),
        }
    }

    /// What a tool answers, which may be that it failed. An error: it wasn't called, or nobody knows.
    fn answer(&self, tool: &str, arguments: &Value) -> Result<ToolAnswer, DeliveryError> {
        self.ask(|permit| self.client.call(permit, tool, arguments))
    }

    /// What a tool answers that did what it was called for.
    fn call(&self, tool: &str, arguments: &Value) -> Result<ToolAnswer, DeliveryError> {
        let answer = self.answer(tool, arguments)?;
        match answer.error {
            None => Ok(answer),
            // its words may be the database's, or repeat what was sent
            Some(_) => Err(DeliveryError::Unavailable(
                format!("{}: {tool} says that it failed: see its log", self.endpoint),
                None,
            )),
        }
    }

    fn ask<T: DeserializeOwned>(
        &self,
        call: impl Fn(&Permit) -> Result<T, Failure>,
    ) -> Result<T, DeliveryError> {
        let permit = self.permitted()?;
        let answer = call(&permit);
        self.answers.set(answer.is_ok());
        answer.map_err(|failure| match failure {
            Failure::Http(error @ HttpError::Status(413, _)) => {
                DeliveryError::BatchRejected(format!("the server {error}"))
            }
            Failure::Http(error) => server::fault(&self.endpoint, error, WHAT),
            Failure::Refused => {
                DeliveryError::Misconfigured(format!("{}: {failure}: is it {WHAT}?", self.endpoint))
            }
        })
    }
}

const WHAT: &str = "Graphiti's MCP server";

impl GraphitiServer for GraphitiMcp {
    /// It has the tools, and `add_memory` takes the time of an episode: older ones take any argument,
    /// and would note the time of their work.
    fn check(&self) -> Result<(), DeliveryError> {
        let listed: Value = self.ask(|permit| self.client.tools(permit))?;
        let empty = Vec::new();
        let tools = listed["tools"].as_array().unwrap_or(&empty);
        let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name);
        let takes = |argument: &str| {
            let add = tool("add_memory")?;
            add["inputSchema"]["properties"].get(argument)
        };
        let says = |what: &str| {
            Err(DeliveryError::Misconfigured(format!(
                "{}: {what}",
                self.endpoint
            )))
        };
        if tool("get_episodes").is_none() || takes("episode_body").is_none() {
            return says("it has no add_memory and get_episodes: is it Graphiti's MCP server?");
        }
        if takes("reference_time").is_none() {
            return says("its add_memory takes no reference_time: a newer server is needed");
        }
        self.is_known.set(true);
        Ok(())
    }

    fn post_max(&self) -> usize {
        1
    }

    fn post(&self, group: &str, messages: &[PostedMessage<'_>]) -> Result<(), DeliveryError> {
        if !self.is_known.get() {
            self.check()?;
        }
        for message in messages {
            let arguments = arguments(group, message);
            if arguments.to_string().len() > BODY_BYTES_MAX {
                let reason = "it is longer than the 4 MiB that the server takes";
                return Err(DeliveryError::BatchRejected(reason.into()));
            }
            self.call("add_memory", &arguments)?;
        }
        Ok(())
    }

    /// In no particular order, so always all of them.
    fn episodes(&self, group: &str, _: u64) -> Result<Vec<ListedEpisode>, DeliveryError> {
        let arguments = json!({"group_ids": [group], "max_episodes": ALL});
        Ok(self.call("get_episodes", &arguments)?.episodes)
    }

    fn delete(&self, uuid: &str) -> Result<(), DeliveryError> {
        // one that isn't in the graph that it looks at is an error, too
        self.answer("delete_episode", &json!({"uuid": uuid}))
            .map(|_| ())
    }

    fn permitted(&self) -> Result<Permit, DeliveryError> {
        (self.permits)(&self.endpoint).map_err(|error| DeliveryError::Misconfigured(error.message))
    }

    fn common_queue(&self) -> Option<&'static str> {
        None
    }

    fn unverifiable(&self) -> &'static str {
        "on FalkorDB it lists one group alone: set its FALKORDB_DATABASE to the group's name"
    }
}

impl Drop for GraphitiMcp {
    /// Sessions that nobody ends stay in its memory.
    fn drop(&mut self) {
        if let (true, Ok(permit)) = (self.answers.get(), self.permitted()) {
            self.client.end(&permit);
        }
    }
}

/// What `add_memory` is called with. The episodes before it are not to be read with it: it is long
/// enough, and on FalkorDB they would be the newest of all time.
fn arguments(group: &str, message: &PostedMessage<'_>) -> Value {
    let mut arguments = json!({
        "name": message.name,
        "episode_body": message.content.replace('\0', ""),
        "group_id": group,
        "source": "text",
        "source_description": message.source_description,
        "reference_time": message.at.rfc3339_millis(),
        "previous_episode_uuids": [],
    });
    if let Some(node) = message.node {
        arguments["uuid"] = node.to_string().into();
    }
    arguments
}
