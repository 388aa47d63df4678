//! Floor 0: what flows through the house. Plain values with no I/O and no foreign format in them.
//!
//! Reading order: a [`source::SourceFile`] becomes [`source::Slice`]s; `parse` turns bytes into
//! [`entry::Entry`]s; `filter` into [`exchange::Exchange`]s; `chunk` into [`episode::Episode`]s.
//! Each travels in a [`batch::Batch`] that carries the bytes it came from, what was refused, and
//! what was counted.

pub mod activity;
pub mod batch;
pub mod checkpoint;
pub mod choice;
pub mod classification;
pub mod condensing;
pub mod consent;
pub mod delivery;
pub mod dialect_state;
pub mod embedding;
pub mod entry;
pub mod episode;
pub mod error;
pub mod exchange;
pub mod extraction;
pub mod file;
pub mod file_name;
pub mod finding;
pub mod fold;
pub mod fork;
pub mod frontmatter;
pub mod git;
mod git_cursor;
mod git_kinds;
pub mod graph;
pub mod human;
pub mod inert;
pub mod item;
pub mod layout;
pub mod ledger;
pub mod llm;
pub mod memory;
pub mod namespace;
pub mod policy;
pub mod resume_state;
pub mod scope;
pub mod session;
pub mod shell;
pub mod source;
pub mod spending;
pub mod summary;
pub mod table_log;
pub mod tally;
pub mod template;
pub mod test_runs;
pub mod time;
pub mod tombstone;
pub mod usage;
pub mod work_time;
pub mod zone;
