//! What can be asked of a Graphiti server, however it is spoken to, and whose fault it is when it
//! doesn't do that. That it took something means no more than that a list in its memory is longer now.

use crate::model::consent::{Endpoint, Permit};
use crate::model::delivery::{DeliveryError, OutboundEpisode};
use crate::model::error::Error;
use crate::model::time::Time;
use crate::net::http::HttpError;
use serde::Deserialize;
use uuid::Uuid;

/// A server.
pub trait GraphitiServer {
    /// It answers. That its worker lives is more than it can say.
    ///
    /// # Errors
    /// Why it doesn't.
    fn check(&self) -> Result<(), DeliveryError>;

    /// Episodes of one request.
    fn post_max(&self) -> usize;

    /// Puts messages of one group at the end of its queue.
    ///
    /// # Errors
    /// Why none of them stands there, or nobody knows.
    fn post(&self, group: &str, messages: &[PostedMessage<'_>]) -> Result<(), DeliveryError>;

    /// Episodes of a group: the `newest` ones at least, as they happened.
    ///
    /// # Errors
    /// Why it can't be asked.
    fn episodes(&self, group: &str, newest: u64) -> Result<Vec<ListedEpisode>, DeliveryError>;

    /// Removes an episode, where the server looks at the right graph. Whether it did, only another
    /// listing says.
    ///
    /// # Errors
    /// Why it can't be asked.
    fn delete(&self, uuid: &str) -> Result<(), DeliveryError>;

    /// Everybody still agrees that this server is asked.
    ///
    /// # Errors
    /// `DeliveryError::Misconfigured`: somebody doesn't.
    fn permitted(&self) -> Result<Permit, DeliveryError>;

    /// The group whose episodes come after all of any group, where all have one queue; `None`: each
    /// has its own.
    fn common_queue(&self) -> Option<&'static str>;

    /// What else it may be where nothing is ever read back.
    fn unverifiable(&self) -> &'static str;
}

/// Gives the permit for an endpoint, as the consents are at that moment.
pub type Permits = Box<dyn Fn(&Endpoint) -> Result<Permit, Error>>;

/// An episode as a group's listing tells it; without its content.
#[derive(Clone, Debug, Deserialize)]
pub struct ListedEpisode {
    /// Its id there.
    pub uuid: String,
    /// As it was posted; empty where it is longer than any of ours.
    #[serde(default, deserialize_with = "name_of_ours")]
    pub name: String,
    /// When it happened; `None`: it isn't told.
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
pub struct PostedMessage<'a> {
    /// What names it there.
    pub name: &'a str,
    /// Its words; empty for a node that is there: Graphiti takes the node's.
    pub content: &'a str,
    /// Where it is from.
    pub source_description: &'a str,
    /// When it happened: what is read with it happened before.
    pub at: Time,
    /// A node's that is there: it is worked through. Anything else is lost, or ends the server's
    /// worker.
    pub node: Option<Uuid>,
}

impl<'a> PostedMessage<'a> {
    /// An episode under this name.
    pub(super) fn of(outbound: &'a OutboundEpisode, name: &'a str) -> PostedMessage<'a> {
        PostedMessage {
            name,
            content: &outbound.content,
            source_description: &outbound.source_description,
            at: outbound.valid_at,
            node: None,
        }
    }
}

/// What an endpoint's error says of it; `what` it should be.
pub(super) fn fault(endpoint: &Endpoint, error: HttpError, what: &str) -> DeliveryError {
    let reason = format!("{endpoint}: {error}");
    match error {
        HttpError::Status(_, wait) if error.may_pass() => DeliveryError::Unavailable(reason, wait),
        HttpError::Status(401 | 403, _) => DeliveryError::Misconfigured(format!(
            "{reason}: the token is missing or wrong (token_env)"
        )),
        HttpError::Status(..) | HttpError::Odd(_) => {
            DeliveryError::Misconfigured(format!("{reason}: is it {what}?"))
        }
        HttpError::NoAnswer(_) | HttpError::Late => DeliveryError::Unavailable(reason, None),
    }
}
