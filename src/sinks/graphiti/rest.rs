//! Graphiti's REST server as it is (graphiti § 2). Its `202` means no more than that a list in its
//! memory is longer now.

use super::graphiti_server::{ALL, key_of};
use super::server::{self, GraphitiServer, ListedEpisode, Permits, PostedMessage};
use crate::model::consent::{Endpoint, Permit};
use crate::model::delivery::DeliveryError;
use crate::model::graph::GraphFact;
use crate::net::http::{Http, HttpError, Verb};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

/// One server.
pub struct Rest {
    http: Http,
    endpoint: Endpoint,
    /// Asked before each request: waiting for a queue takes long, and a consent may be taken back.
    permits: Permits,
    /// Sent as a bearer token, for a proxy before it: the server itself asks for none.
    token: Option<String>,
}

/// The group of canaries. All groups have one queue, so one of any group is behind all of them.
const CANARY_GROUP: &str = "sessionmill_canary";

/// Why a request came to nothing.
enum RequestError {
    /// It was never sent: nobody permits it.
    Denied(DeliveryError),
    /// What the server did instead, or the way to it.
    Http(HttpError),
}

impl Rest {
    /// The server at this endpoint, as long as it is permitted.
    pub fn new(http: Http, endpoint: Endpoint, permits: Permits, token: Option<String>) -> Rest {
        Rest {
            http,
            endpoint,
            permits,
            token,
        }
    }

    fn ask<T: serde::de::DeserializeOwned>(
        &self,
        request: (Verb, &str),
        body: Option<&Value>,
    ) -> Result<T, RequestError> {
        let permit = self.permitted().map_err(RequestError::Denied)?;
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let headers = bearer.as_deref().map(|bearer| ("authorization", bearer));
        let headers = headers.as_slice();
        let answer = self.http.once(&permit, request, headers, body);
        answer.map_err(RequestError::Http)
    }

    /// What the server takes for true about these words in a group, the best first.
    ///
    /// # Errors
    /// Why it can't be asked, or what it did instead.
    pub fn facts(
        &self,
        words: &str,
        group: &str,
        facts_max: u32,
    ) -> Result<Vec<GraphFact>, DeliveryError> {
        #[derive(Deserialize)]
        struct Found {
            facts: Vec<GraphFact>,
        }
        let body = json!({"query": words, "group_ids": [group], "max_facts": facts_max});
        self.ask::<Found>((Verb::Post, "/search"), Some(&body))
            .map(|found| found.facts)
            .map_err(|error| self.fault(error))
    }

    /// Episodes of ours in a group, by the ids that the server gave them.
    ///
    /// # Errors
    /// As [`Rest::facts`].
    pub fn names(&self, group: &str) -> Result<BTreeMap<String, Uuid>, DeliveryError> {
        let listed = self.episodes(group, ALL)?.into_iter();
        let ours = listed.filter_map(|episode| Some((key_of(&episode.name)?.0, episode.uuid)));
        Ok(ours.map(|(id, uuid)| (uuid, id)).collect())
    }

    fn fault(&self, error: RequestError) -> DeliveryError {
        match error {
            RequestError::Denied(error) => error,
            RequestError::Http(error) => {
                server::fault(&self.endpoint, error, "Graphiti's REST server")
            }
        }
    }
}

impl GraphitiServer for Rest {
    fn check(&self) -> Result<(), DeliveryError> {
        self.ask::<IgnoredAny>((Verb::Get, "/healthcheck"), None)
            .map(|_| ())
            .map_err(|error| self.fault(error))
    }

    fn post_max(&self) -> usize {
        usize::MAX
    }

    fn post(&self, group: &str, messages: &[PostedMessage<'_>]) -> Result<(), DeliveryError> {
        let messages: Vec<Value> = messages.iter().map(message).collect();
        let body = json!({"group_id": group, "messages": messages});
        let posted = self.ask::<IgnoredAny>((Verb::Post, "/messages"), Some(&body));
        posted.map(|_| ()).map_err(|error| match error {
            RequestError::Http(error @ HttpError::Status(400 | 413 | 422, _)) => {
                DeliveryError::BatchRejected(format!("the server {error}"))
            }
            error => self.fault(error),
        })
    }

    fn episodes(&self, group: &str, newest: u64) -> Result<Vec<ListedEpisode>, DeliveryError> {
        let path = format!("/episodes/{group}?last_n={newest}");
        self.ask((Verb::Get, &path), None)
            .map_err(|error| self.fault(error))
    }

    fn delete(&self, uuid: &str) -> Result<(), DeliveryError> {
        // what a server says is not taken for a path
        let Ok(uuid) = uuid.parse::<Uuid>() else {
            return Ok(());
        };
        match self.ask::<IgnoredAny>((Verb::Delete, &format!("/episode/{uuid}")), None) {
            // who may not remove anything keeps it
            Ok(_) | Err(RequestError::Http(HttpError::Status(403..=405 | 501, _))) => Ok(()),
            Err(error) => Err(self.fault(error)),
        }
    }

    fn permitted(&self) -> Result<Permit, DeliveryError> {
        (self.permits)(&self.endpoint).map_err(|error| DeliveryError::Misconfigured(error.message))
    }

    fn common_queue(&self) -> Option<&'static str> {
        Some(CANARY_GROUP)
    }

    fn unverifiable(&self) -> &'static str {
        "graphiti-core before 0.29 on FalkorDB"
    }
}

/// Who speaks: the server writes it before an episode's words, and has its model take the name of the
/// speaker for an entity. Several speak in an episode, and are named in it: no name stands here.
const ROLE_TYPE: &str = "user";

fn message(message: &PostedMessage<'_>) -> Value {
    let mut body = json!({
        "name": message.name,
        "content": message.content.replace('\0', ""),
        "role": null,
        "role_type": ROLE_TYPE,
        "timestamp": message.at.rfc3339_millis(),
        "source_description": message.source_description,
    });
    if let Some(node) = message.node {
        body["uuid"] = node.to_string().into();
    }
    body
}
