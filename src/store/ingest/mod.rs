//! What a run writes: commits with their checkpoints, record ids, accounts and episodes.

pub(super) mod account;
pub(super) mod activity;
pub(super) mod commit;
pub(super) mod directives;
pub(super) mod episode_items;
pub(super) mod files;
pub(super) mod forks;
pub(super) mod prepare;
pub(super) mod records;
pub(super) mod sessions;
pub(super) mod usage;
pub(super) mod whole_texts;
pub(super) mod without_log;
pub(super) mod write;
