//! What hooks and servers have in common: entries of ours among those of others.

use crate::model::error::Error;

/// A text without entries of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// `None`: there was nothing but what we wrote, and no file before.
    pub text: Option<String>,
    /// Names of entries that somebody changed by hand: they stay, but where they are to go too.
    pub left: Vec<String>,
}

/// What stays as it is, because it isn't understood.
pub fn untouched(error: Error) -> Error {
    error.hinted("fix the file, then try again; it was not changed")
}
