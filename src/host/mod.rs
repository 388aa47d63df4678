//! Floor 1: the machine, read-only. Files, git's own files, the host's name.

pub mod files;
pub mod git;
pub mod identity;
pub mod read;
