//! Floor 1: the only network. Whatever connects takes a `Permit`, the proof of a person's consent.

pub mod embeddings;
mod events;
pub mod http;
pub mod llm;
pub mod mcp;
mod texts;
