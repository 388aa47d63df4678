//! What people curated and what sessions were about.

pub(super) mod memories;
pub(super) mod summaries;
pub(super) mod telling;
pub(super) mod workspaces;
