//! Graphiti's REST server as it is (GRAPHITI.md § 2): what can be asked of it, and whose fault it is
//! when it doesn't do that. Its `202` means no more than that a list in its memory is longer now.

use crate::model::consent::{Endpoint, Permit};
use crate::model::delivery::{Fault, Parcel};
use crate::model::error::Error;
use crate::model::time::Time;
use crate::net::http::{Http, Trouble, Verb};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use uuid::Uuid;

/// Gives the permit for an endpoint, as the consents are at that moment.
pub type Permits = Box<dyn Fn(&Endpoint) -> Result<Permit, Error>>;

/// One server.
pub struct Server {
    http: Http,
    endpoint: Endpoint,
    /// Asked before each request: waiting for a queue takes long, and a consent may be taken back.
    permits: Permits,
    /// Sent as a bearer token, for a proxy before it: the server itself asks for none.
    token: Option<String>,
}

/// An episode as a group's listing tells it; without its content.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Listed {
    /// Its id there.
    pub uuid: String,
    /// As it was posted; empty where it is longer than any of ours.
    #[serde(default, deserialize_with = "name_of_ours")]
    pub name: String,
    /// When it happened.
    #[serde(default)]
    pub valid_at: Option<String>,
}

/// Bytes of a name; ours have a hundred or so.
const NAME_BYTES_MAX: usize = 64 << 10;

fn name_of_ours<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    Ok(Some(name)
        .filter(|name| name.len() <= NAME_BYTES_MAX)
        .unwrap_or_default())
}

/// A message as it is posted.
pub(super) struct Message<'a> {
    /// What names it there.
    pub name: &'a str,
    /// Its words; empty for a node that is there: Graphiti takes the node's.
    pub content: &'a str,
    /// Where it is from.
    pub source_description: &'a str,
    /// When it happened: what is read with it happened before.
    pub at: Time,
    /// A node's that is there: it is worked through. Anything else ends the server's worker.
    pub node: Option<Uuid>,
}

impl Server {
    /// The server at this endpoint, as long as it is permitted.
    pub fn new(http: Http, endpoint: Endpoint, permits: Permits, token: Option<String>) -> Server {
        Server {
            http,
            endpoint,
            permits,
            token,
        }
    }

    /// It answers. That its worker lives is more than it can say.
    pub(super) fn healthcheck(&self) -> Result<(), Fault> {
        self.ask::<IgnoredAny>((Verb::Get, "/healthcheck"), None)?
            .map(|_| ())
            .map_err(|trouble| self.fault(trouble))
    }

    /// Puts messages of one group at the end of its queue.
    pub(super) fn post(&self, group: &str, messages: &[Message<'_>]) -> Result<(), Fault> {
        let messages: Vec<Value> = messages.iter().map(message).collect();
        let body = json!({"group_id": group, "messages": messages});
        let posted = self.ask::<IgnoredAny>((Verb::Post, "/messages"), Some(&body))?;
        posted.map(|_| ()).map_err(|trouble| match trouble {
            Trouble::Status(400 | 413 | 422, _) => Fault::Batch(format!("the server {trouble}")),
            trouble => self.fault(trouble),
        })
    }

    /// The last `last_n` episodes of a group, as they happened.
    pub(super) fn episodes(&self, group: &str, last_n: u64) -> Result<Vec<Listed>, Fault> {
        let path = format!("/episodes/{group}?last_n={last_n}");
        self.ask((Verb::Get, &path), None)?
            .map_err(|trouble| self.fault(trouble))
    }

    /// Removes an episode, where the server looks at the right graph. Whether it did, only another
    /// listing says.
    pub(super) fn delete(&self, uuid: &str) -> Result<(), Fault> {
        // what a server says is not taken for a path
        let Ok(uuid) = uuid.parse::<Uuid>() else {
            return Ok(());
        };
        match self.ask::<IgnoredAny>((Verb::Delete, &format!("/episode/{uuid}")), None)? {
            // who may not remove anything keeps it
            Ok(_) | Err(Trouble::Status(403..=405 | 501, _)) => Ok(()),
            Err(trouble) => Err(self.fault(trouble)),
        }
    }

    /// Everybody still agrees that this server is asked.
    pub(super) fn permitted(&self) -> Result<Permit, Fault> {
        (self.permits)(&self.endpoint).map_err(|error| Fault::Setup(error.message))
    }

    /// The inner error is what the server did; the outer one, that it is asked for nothing.
    fn ask<T: serde::de::DeserializeOwned>(
        &self,
        request: (Verb, &str),
        body: Option<&Value>,
    ) -> Result<Result<T, Trouble>, Fault> {
        let permit = self.permitted()?;
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let headers = bearer.as_deref().map(|bearer| ("authorization", bearer));
        let headers = headers.as_slice();
        Ok(self.http.once(&permit, request, headers, body))
    }

    fn fault(&self, trouble: Trouble) -> Fault {
        let reason = format!("{}: {trouble}", self.endpoint);
        match trouble {
            Trouble::Status(_, wait) if trouble.may_pass() => Fault::Away(reason, wait),
            Trouble::Status(401 | 403, _) => Fault::Setup(format!(
                "{reason}: the token is missing or wrong (token_env)"
            )),
            Trouble::Status(..) | Trouble::Odd(_) => {
                Fault::Setup(format!("{reason}: is it Graphiti's REST server?"))
            }
            Trouble::NoAnswer(_) => Fault::Away(reason, None),
        }
    }
}

/// The words before an episode's own: `sessionmill(system): …`.
const ROLE: (&str, &str) = ("sessionmill", "system");

fn message(message: &Message<'_>) -> Value {
    let mut body = json!({
        "name": message.name,
        "content": message.content.replace('\0', ""),
        "role": ROLE.0,
        "role_type": ROLE.1,
        "timestamp": message.at.rfc3339_millis(),
        "source_description": message.source_description,
    });
    if let Some(node) = message.node {
        body["uuid"] = node.to_string().into();
    }
    body
}

impl<'a> Message<'a> {
    /// An episode under this name.
    pub(super) fn of(parcel: &'a Parcel, name: &'a str) -> Message<'a> {
        Message {
            name,
            content: &parcel.content,
            source_description: &parcel.source_description,
            at: parcel.valid_at,
            node: None,
        }
    }
}
