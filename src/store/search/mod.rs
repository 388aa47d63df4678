//! What is read back: words, queries, hits, episodes and sessions.

pub(super) mod candidates;
pub(super) mod echo;
pub(super) mod embeddings;
pub(super) mod episode_text;
pub(super) mod episodes;
pub(super) mod evidence;
pub(super) mod file_versions;
pub(super) mod overview;
pub(super) mod pattern;
pub(super) mod query;
pub(super) mod sessions;
pub(super) mod short_ids;
pub(super) mod snippet;
pub(super) mod spelling;
pub(super) mod unicode_fold;
pub(super) mod usage;
pub(super) mod vector_packs;
pub mod words;
