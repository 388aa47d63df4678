//! Floor 1: HTTP, and who is asked by it: language models, embeddings, an MCP server. Whatever connects takes
//! a `Permit`, the proof of a person's consent. Sinks reach their databases by themselves, with a permit too.

pub mod embeddings;
mod events;
pub mod http;
pub mod llm;
pub mod mcp;
mod texts;
