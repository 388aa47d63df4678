//! A log as its writer sees it: what was written, what still has to be, what it once was.

use super::lines::Writer;

/// One log as its writer sees it.
#[derive(Clone)]
pub struct Log {
    /// Below HOME, without `.zst`.
    pub below: String,
    pub writer: Writer,
    pub session: String,
    pub stream: Option<String>,
    /// Decompressed.
    pub content: Vec<u8>,
    pub exists: bool,
    pub compressed: bool,
    pub forked: bool,
    /// Lines that it begins with and that belong to another: nobody writes between them.
    pub begins: usize,
    /// The first records that it had when runs came by.
    met: Vec<String>,
    /// The first record that it had when it was forked.
    forked_at: Option<String>,
    /// Both copies are there until something else happens.
    pub twin: bool,
    /// What a writer that was interrupted still has to write.
    pub rest: Vec<u8>,
    /// Older contents, for whoever restores a copy.
    pub old: Vec<Vec<u8>>,
}

impl Log {
    pub fn new(below: String, writer: Writer, session: String, stream: Option<String>) -> Log {
        Log {
            below,
            writer,
            session,
            stream,
            content: Vec::new(),
            exists: false,
            compressed: false,
            forked: false,
            begins: 0,
            met: Vec::new(),
            forked_at: None,
            twin: false,
            rest: Vec::new(),
            old: Vec::new(),
        }
    }

    /// Where its bytes are, below HOME.
    pub fn place(&self) -> String {
        let end = if self.compressed { ".zst" } else { "" };
        format!("{}{end}", self.below)
    }

    /// Its bytes on disk.
    pub fn bytes(&self) -> Vec<u8> {
        match self.compressed {
            true => zstd::encode_all(&*self.content, 1).expect("a frame"),
            false => self.content.clone(),
        }
    }

    /// Its lines, the last one whole or not.
    pub fn lines(&self) -> Vec<String> {
        lines(&self.content)
    }

    /// Logs that share a history are known by the record that they begin with.
    fn first_record(&self) -> Option<String> {
        self.lines().into_iter().find(|line| line.contains("uuid"))
    }

    /// A run comes by.
    pub fn meet(&mut self) {
        self.met.extend(self.first_record());
    }

    /// Another log begins with a copy of its history.
    pub fn fork(&mut self) {
        self.forked_at = self.first_record();
    }

    /// Runs saw it begin with another record than its fork does: none of them knows the fork for
    /// one, until one sees what both begin with.
    pub fn waits_for_a_run(&self) -> bool {
        let first = self.forked_at.as_ref();
        !self.met.is_empty() && first.is_some_and(|first| !self.met.contains(first))
    }
}

/// The lines of a content, the last one whole or not.
pub fn lines(content: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(content);
    text.lines().map(str::to_owned).collect()
}

/// Where the last line begins.
pub fn last_line(content: &[u8]) -> usize {
    let body = &content[..content.len().saturating_sub(1)];
    memchr::memrchr(b'\n', body).map_or(0, |at| at + 1)
}

/// Where the second line begins.
pub fn after_line(content: &[u8]) -> usize {
    memchr::memchr(b'\n', content).map_or(0, |at| at + 1)
}
