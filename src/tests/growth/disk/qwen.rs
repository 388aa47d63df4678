//! What Qwen Code does to its logs.

use super::super::lines::{Pen, Writer};
use super::Disk;

impl Disk<'_> {
    pub(super) fn start_qwen(&mut self) {
        let session = format!("44444444-4444-4444-8444-{:012}", self.logs.len());
        let below = format!(".qwen/projects/-home-ada-shop/chats/{session}.jsonl");
        let log = self.add(below, Writer::Qwen, session, None);
        self.turn(log);
    }

    /// It says that it sums up what was said, and goes on.
    pub(super) fn qwen_compaction(&mut self, log: usize) {
        self.write(log, Pen::qwen_compaction);
        self.turn(log);
    }
}
