//! Errors that someone branches on: a kind, a message that names the thing, the next command to type.

use std::fmt;

/// What went wrong, coarse enough to choose an exit code by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Wrong usage or configuration: exit 2.
    Usage,
    /// Another run holds the lock: exit 75.
    Busy,
    /// The store is foreign, cut short, newer than this program, or can't be reached: exit 1.
    Store,
    /// What the store holds contradicts itself: exit 1.
    Damaged,
    /// Anything else: exit 1.
    Failed,
}

/// Messages are lower-case, without a full stop, name the thing, and never quote a log's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What to branch on.
    pub kind: ErrorKind,
    /// What happened to what.
    pub message: String,
    /// A command or an edit that mends it.
    pub hint: Option<String>,
}

impl Error {
    /// An error of `kind` without a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// Wrong usage or configuration.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// The same error with the next thing to do.
    #[must_use]
    pub fn hinted(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
