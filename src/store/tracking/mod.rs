//! Files and git operations of tracked projects.

pub(super) mod doers;
pub(super) mod git;
pub(super) mod tracked;
