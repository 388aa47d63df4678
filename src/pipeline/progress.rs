//! What a run says while it goes on: how far it is, and what it met. The pipeline calls these traits,
//! the command line prints.

use anyhow::Result;

/// Called from worker threads while a run goes on; every method is cheap and none may fail.
pub trait Progress: Sync {
    /// The plan is made: so many bytes in so many files are to be read. Called before anything else, by
    /// a repair a second time for the logs; not at all when nothing is to be read.
    fn total(&self, bytes: u64, files: u64);

    /// So many more bytes of log are read and parsed. Their sum may end below the total when a
    /// file shrinks, and above it when one grows.
    fn advance(&self, bytes: u64);

    /// A file is in the store, or was given up.
    fn file_done(&self);

    /// The run is over, well or not.
    fn finish(&self);
}

/// Takes what a run has to say to people besides its report, in the order in which it happens.
///
/// # Errors
/// Where nobody can be told any more; the run ends.
pub trait Notices {
    /// Something deserves attention though the run goes on.
    fn warn(&mut self, text: &str) -> Result<()>;

    /// A remark.
    fn note(&mut self, text: &str) -> Result<()>;

    /// Somebody looks on while it happens.
    fn is_watched(&self) -> bool;
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn total(&self, _bytes: u64, _files: u64) {}
    fn advance(&self, _bytes: u64) {}
    fn file_done(&self) {}
    fn finish(&self) {}
}

impl Notices for Silent {
    fn warn(&mut self, _text: &str) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, _text: &str) -> Result<()> {
        Ok(())
    }

    fn is_watched(&self) -> bool {
        false
    }
}
