//! sessionmill: session logs of coding agents in, searchable and attributable memory out.
//!
//! `docs/architecture.md` is the plan: the rooms, the way of one line through them, what always
//! holds. Reading order is floor order. A module uses lower floors; architecture § 3 has the two
//! exceptions:
//!
//! | floor | modules | what it knows |
//! | --- | --- | --- |
//! | 0 | [`model`] | what flows: plain values |
//! | 1 | [`rules`], [`json`], [`config`], [`host`], [`net`], [`store`] | judgement as tables; raw JSON; settings; the machine, read-only; the only HTTP client; the only SQL |
//! | 2 | [`stages`], [`insight`], [`tables`], [`tracking`] | the verbs, pure: discover, parse, filter, score, chunk, upload; what a session amounts to; its rows for SQL; files and git |
//! | 3 | [`agents`], [`sinks`], [`memory`] | one folder per agent; one per destination; reading back |
//! | 4 | [`pipeline`] | where it all meets: a run and its steps |
//! | 5 | [`mcp`], [`cli`] | the face for agents, the only async; the face for people |

// Tests may ask for the folders that they read; `.clippy.toml` binds everything else.
#![cfg_attr(any(test, fuzzing), allow(clippy::disallowed_methods))]

pub mod agents;
pub mod cli;
pub mod config;
pub mod host;
pub mod insight;
pub mod json;
pub mod mcp;
pub mod memory;
pub mod model;
pub mod net;
pub mod pipeline;
pub mod rules;
pub mod sinks;
pub mod stages;
pub mod store;
pub mod tables;
pub mod tracking;

#[cfg(fuzzing)]
#[path = "tests/hostile/mod.rs"]
pub mod hostile;

#[cfg(test)]
mod tests;
