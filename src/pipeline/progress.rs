//! How a run says how far it is. The pipeline calls it, the command line draws it.

/// Called from worker threads while a run goes on; every method is cheap and none may fail.
pub trait Progress: Sync {
    /// The plan is made: so many bytes in so many files are to be read. Called once, before
    /// anything else; not at all when nothing is to be read.
    fn total(&self, bytes: u64, files: u64);

    /// So many more bytes of log are read and parsed. Their sum may end below the total when a
    /// file shrinks, and above it when one grows.
    fn advance(&self, bytes: u64);

    /// A file is in the store, or was given up.
    fn file_done(&self);

    /// The run is over, well or not.
    fn finish(&self);
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
