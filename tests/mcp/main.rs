//! The server for agents, as agents meet it: the real program at the other end of two pipes, or of a
//! socket.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start processes and speak with them"
)]

mod client;
mod git;
#[path = "../home/mod.rs"]
mod home;
mod http;
mod install;
mod keeping;
mod meaning;
mod official;
mod protocol;
mod reading;
mod scope;
mod tracking;

const SHOP: &str = "/home/ada/shop-api";
const SHOP_NAMESPACE: &str = "0d2640ea";
/// Of the shop.
const SESSION: &str = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e002";
const NOTES_NAMESPACE: &str = "bc892435";
/// Of the notes.
const OTHER_SESSION: &str = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e004";

/// The namespaces that an answer names.
fn namespaces(text: &str) -> Vec<&str> {
    let named = text.match_indices("[namespace: ");
    let mut all: Vec<&str> = named
        .map(|(at, mark)| &text[at + mark.len()..][..8])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn cursor(text: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once("\nmore: cursor=")?;
    rest.split_whitespace().next().map(str::to_owned)
}
