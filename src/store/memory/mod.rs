//! What people curated and what sessions were about.

pub(super) mod condensed;
pub(super) mod llm_summaries;
pub(super) mod memories;
pub(super) mod spent;
pub(super) mod summaries;
pub(super) mod workspaces;
