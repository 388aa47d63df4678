//! What Gemini CLI does to its logs.

use super::super::lines::{Pen, Writer, record};
use super::super::log::after_line;
use super::Disk;

impl Disk<'_> {
    pub(super) fn start_gemini(&mut self) {
        let nth = self.logs.len();
        let session = format!("{nth:08}-3333-4333-8333-333333333333");
        let folder = ".gemini/tmp/-ada-shop/chats";
        let below = format!("{folder}/session-2026-03-02T10-00-{nth:08}.jsonl");
        let log = self.add(below, Writer::Gemini, session, None);
        self.logs[log].begins = 1;
        self.turn(log);
    }

    /// A chat begins with its head.
    pub(super) fn gemini_begins(&mut self, log: usize) {
        if self.logs[log].writer == Writer::Gemini && self.logs[log].content.is_empty() {
            let head = self.line(log, Pen::gemini_head);
            self.logs[log].content = head;
        }
    }

    /// Bytes that stay whatever is cut: without its head nothing in a chat says whose it is.
    pub(super) fn head(&self, log: usize) -> usize {
        let log = &self.logs[log];
        usize::from(log.writer == Writer::Gemini) * after_line(&log.content)
    }

    /// All messages once more, in one line, under their ids.
    pub(super) fn gemini_history(&mut self, log: usize) {
        let is_message = |line: &String| record(line).is_some_and(|id| id.starts_with("g-"));
        let mut messages = self.logs[log].lines();
        messages.retain(is_message);
        self.write(log, |_| Pen::gemini_history(&messages));
        self.turn(log);
    }
}
