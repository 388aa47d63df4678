//! The exit codes, each with its sentence. Knows which code an error deserves.

use crate::model::error::{Error, ErrorKind};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: it did what was asked, or the reader of our output went away.
    Done,
    /// 1: it failed, `search` found nothing, or `run --check` found a difference.
    Failed,
    /// 2: the command line or the configuration is wrong; nothing was done.
    Usage,
    /// 3: some files could not be read, and everything else is committed; or `doctor` found a
    /// warning or an error.
    Partial,
    /// 75: another run holds the lock; it does the work.
    Busy,
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Partial => 3,
            Exit::Busy => 75,
        }
    }

    /// The code that an error deserves: of the first typed error in its chain, else 1.
    pub fn of(error: &anyhow::Error) -> Exit {
        match typed(error).map(|e| e.kind) {
            Some(ErrorKind::Usage) => Exit::Usage,
            Some(ErrorKind::Busy) => Exit::Busy,
            Some(ErrorKind::Store | ErrorKind::Damaged | ErrorKind::Failed) | None => Exit::Failed,
        }
    }
}

/// The first typed error in the chain.
pub fn typed(error: &anyhow::Error) -> Option<&Error> {
    error.chain().find_map(|cause| cause.downcast_ref())
}

/// An error in a warning, with what to type, where that is known.
pub fn with_hint(error: &anyhow::Error) -> String {
    match typed(error).and_then(|typed| typed.hint.as_deref()) {
        Some(hint) => format!("{error:#}; hint: {hint}"),
        None => format!("{error:#}"),
    }
}

/// Whether writing failed because the reader went away, which is success (`… | head`).
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn context_does_not_hide_the_kind() {
        let busy = Err::<(), _>(Error::new(ErrorKind::Busy, "another run holds the lock"))
            .context("run nightly")
            .unwrap_err();
        assert_eq!(Exit::of(&busy).code(), 75);
        assert_eq!(Exit::of(&anyhow::anyhow!("disk full")), Exit::Failed);
        assert_eq!(Exit::of(&Error::usage("no such key").into()).code(), 2);
    }
}
