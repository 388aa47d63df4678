//! What an import came to.

/// What was taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sessions that weren't here.
    pub sessions: u64,
    /// Sessions that were here, of which the other one knew more.
    pub grown: u64,
    /// Sessions that both have, and of which nothing is new.
    pub known: u64,
    /// Episodes that weren't here.
    pub episodes: u64,
    /// Episodes that were here, and went on there.
    pub changed: u64,
    /// Memories that weren't here.
    pub memories: u64,
    /// Git operations that weren't here.
    pub operations: u64,
    /// Sessions that were forgotten here: they stay out.
    pub kept_out: u64,
    /// Ids of sessions that were forgotten there and are here.
    pub forgotten_there: Vec<String>,
    /// Texts there are masked by other rules than here: they have to be masked again.
    pub is_to_be_masked: bool,
}

impl Imported {
    /// Everything was here already.
    pub fn is_nothing(&self) -> bool {
        self.sessions + self.grown + self.episodes + self.changed + self.memories + self.operations
            == 0
    }
}
