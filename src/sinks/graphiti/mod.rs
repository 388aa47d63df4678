//! A Graphiti server, over REST or MCP, with the protocol that survives it (graphiti § 5).
//!
//! Where its database is reached too, [`enriched`]: episodes are written there, and the server is only
//! asked to work through them. Else [`graphiti_server`]: they are posted under a name that tells them again.
//! Both wait for the server's queue in the one way that is sure: [`queue`].

pub mod enriched;
pub mod graphiti_server;
pub mod mcp;
pub mod queue;
pub mod rest;
pub mod server;

use crate::model::delivery::DeliveryError;
use crate::model::time::Time;
use server::{GraphitiServer, PostedMessage};
use std::sync::atomic::{AtomicU64, Ordering};

/// A canary's words. Nothing to take from them.
const CANARY_CONTENT: &str = "ok";
/// What tells a canary from an episode.
const CANARY_DESCRIPTION: &str = "looks whether the server works";

/// A name that no canary had before.
fn canary_name(now: Time) -> String {
    static NTH: AtomicU64 = AtomicU64::new(0);
    let nth = NTH.fetch_add(1, Ordering::Relaxed);
    format!("canary {} {} {nth}", now.0, std::process::id())
}

/// A canary, ours or another's, that nobody waits for any more.
fn is_left_canary(name: &str, now: Time) -> bool {
    const WAITED_FOR_MS: i64 = 86_400_000;
    let posted = name
        .strip_prefix("canary ")
        .and_then(|rest| rest.split(' ').next());
    posted
        .and_then(|at| at.parse::<i64>().ok())
        .is_some_and(|at| at < now.0.saturating_sub(WAITED_FOR_MS))
}

fn post_canary(
    server: &dyn GraphitiServer,
    group: &str,
    name: &str,
    now: Time,
) -> Result<(), DeliveryError> {
    let message = PostedMessage {
        name,
        content: CANARY_CONTENT,
        source_description: CANARY_DESCRIPTION,
        at: now,
        node: None,
    };
    server.post(group, &[message])
}

/// Neighbours with equal keys, in order: a queue takes one group at a time.
fn runs<T, K: PartialEq>(items: &[T], key: impl Fn(&T) -> K) -> impl Iterator<Item = &[T]> {
    items.chunk_by(move |a, b| key(a) == key(b))
}
