//! Floor 1: the machine, read-only. Files, git's own files, the host's name; and the one place
//! where other programs are started.

pub mod content;
pub mod decompress;
pub mod files;
pub mod git;
pub mod git_preflight;

pub mod identity;
pub mod interrupt;
mod object_id;
pub mod patch;
pub mod process;
pub mod reachability;
pub mod read;
pub mod reflog;
pub mod repository;
pub mod tree;
pub mod watch;
pub mod worktree;
pub mod writable;
