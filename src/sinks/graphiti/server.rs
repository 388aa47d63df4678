//! Graphiti's REST server as it is (GRAPHITI.md § 2): what can be asked of it, and whose fault it is
//! when it doesn't do that. Its `202` means no more than that a list in its memory is longer now.

use crate::model::consent::Permit;
use crate::model::delivery::{Fault, Parcel};
use crate::model::time::Time;
use crate::net::http::{Http, Trouble, Verb};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use uuid::Uuid;

/// One server.
pub struct Server {
    http: Http,
    permit: Permit,
    /// Sent as a bearer token, for a proxy before it: the server itself asks for none.
    token: Option<String>,
}

/// An episode as a group's listing tells it; without its content.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Listed {
    /// Its id there.
    pub uuid: String,
    /// As it was posted.
    #[serde(default)]
    pub name: String,
    /// When it happened.
    #[serde(default)]
    pub valid_at: Option<String>,
}

/// A message as it is posted.
pub(super) struct Message<'a> {
    /// What names it there.
    pub name: &'a str,
    /// Its words. Of a node that is there, Graphiti takes the node's.
    pub content: &'a str,
    /// Where it is from.
    pub source_description: &'a str,
    /// When it happened: what is read with it happened before.
    pub at: Time,
    /// A node's that is there: it is worked through. Anything else ends the server's worker.
    pub node: Option<Uuid>,
}

impl Server {
    /// The server that the permit is for.
    pub fn new(http: Http, permit: Permit, token: Option<String>) -> Server {
        Server {
            http,
            permit,
            token,
        }
    }

    /// It answers. That its worker lives is more than it can say.
    pub(super) fn healthcheck(&self) -> Result<(), Fault> {
        self.ask::<IgnoredAny>((Verb::Get, "/healthcheck"), None)
            .map(|_| ())
            .map_err(|trouble| self.fault(trouble))
    }

    /// Puts messages of one group at the end of its queue.
    pub(super) fn post(&self, group: &str, messages: &[Message<'_>]) -> Result<(), Fault> {
        let messages: Vec<Value> = messages.iter().map(message).collect();
        let body = json!({"group_id": group, "messages": messages});
        let posted = self.ask::<IgnoredAny>((Verb::Post, "/messages"), Some(&body));
        posted.map(|_| ()).map_err(|trouble| match trouble {
            Trouble::Status(400 | 413 | 422, _) => Fault::Batch(format!("the server {trouble}")),
            trouble => self.fault(trouble),
        })
    }

    /// The last `last_n` episodes of a group, as they happened.
    pub(super) fn episodes(&self, group: &str, last_n: u64) -> Result<Vec<Listed>, Fault> {
        let path = format!("/episodes/{group}?last_n={last_n}");
        self.ask((Verb::Get, &path), None)
            .map_err(|trouble| self.fault(trouble))
    }

    /// Removes an episode, where the server looks at the right graph. Whether it did, only another
    /// listing says.
    pub(super) fn delete(&self, uuid: &str) -> Result<(), Fault> {
        // what a server says is not taken for a path
        let Ok(uuid) = uuid.parse::<Uuid>() else {
            return Ok(());
        };
        match self.ask::<IgnoredAny>((Verb::Delete, &format!("/episode/{uuid}")), None) {
            Ok(_) | Err(Trouble::Status(404 | 405, _)) => Ok(()),
            Err(trouble) => Err(self.fault(trouble)),
        }
    }

    fn ask<T: serde::de::DeserializeOwned>(
        &self,
        request: (Verb, &str),
        body: Option<&Value>,
    ) -> Result<T, Trouble> {
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let headers = bearer.as_deref().map(|bearer| ("authorization", bearer));
        self.http
            .once(&self.permit, request, headers.as_slice(), body)
    }

    fn fault(&self, trouble: Trouble) -> Fault {
        let reason = format!("{}: {trouble}", self.permit.endpoint());
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
