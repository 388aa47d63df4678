//! The step `enrich`: what models and rules add to what is stored.

pub mod embeddings;
pub mod llm_summary;
pub mod session_summary;
pub mod tools;
