//! Graphiti's REST server, with the protocol that survives it (GRAPHITI.md § 8).
//!
//! Where its database is reached too, [`enriched`]: episodes are written there, and the server is only
//! asked to work through them. Else [`by_name`]: they are posted under a name that tells them again.
//! Both wait for the server's queue in the one way that is sure: [`queue`].

pub mod by_name;
pub mod enriched;
pub mod queue;
pub mod server;

use crate::model::delivery::Fault;
use crate::model::time::Time;
use server::{Message, Server};
use std::sync::atomic::{AtomicU64, Ordering};

/// The group of canaries. All groups have one queue, so one of any group is behind all of them.
const CANARY_GROUP: &str = "sessionmill_canary";
/// A canary's words. Nothing to take from them.
const CANARY_CONTENT: &str = "ok";

/// A name that no canary had before.
fn canary_name(now: Time) -> String {
    static NTH: AtomicU64 = AtomicU64::new(0);
    let nth = NTH.fetch_add(1, Ordering::Relaxed);
    format!("canary {} {} {nth}", now.0, std::process::id())
}

fn post_canary(server: &Server, name: &str, now: Time) -> Result<(), Fault> {
    let message = Message {
        name,
        content: CANARY_CONTENT,
        source_description: "looks whether the server works",
        at: now,
        node: None,
    };
    server.post(CANARY_GROUP, &[message])
}

/// Neighbours with equal keys, in order: a queue takes one group at a time.
fn runs<T, K: PartialEq>(items: &[T], key: impl Fn(&T) -> K) -> impl Iterator<Item = &[T]> {
    items.chunk_by(move |a, b| key(a) == key(b))
}
