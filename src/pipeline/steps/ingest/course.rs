//! How a log goes on, line by line, and what the fold has to know of records that are copies.
//! Knows which lines tell where a fork begins; not which session is one (`model::fork`).

use crate::model::entry::{Copied, Entry, EntryKind, Identity};
use crate::model::fork::ToldTurn;
use crate::model::session::SessionFacts;
use crate::model::time::Time;
use serde_json::Value;

/// What some lines of a log say of how it goes on.
#[derive(Debug, Default)]
pub(super) struct LineCourse {
    /// The first time that is stated.
    begun: Option<Time>,
    /// The prompt that a turn begins with.
    prompt: Option<(u64, Time)>,
    /// The last time that something was said.
    said: Option<Time>,
    /// The session that the records were copied from, where they say so.
    copied_from: Option<String>,
}

impl LineCourse {
    /// A turn begins.
    pub(super) fn turns(&self) -> bool {
        self.prompt.is_some()
    }

    /// `id`: of a record that the log didn't have before.
    pub(super) fn learn(&mut self, entry: &Entry, id: Option<u64>) {
        self.begun = self.begun.or(entry.time);
        let (Identity::Own(_), Some(id)) = (entry.id, id) else {
            return;
        };
        if self.copied_from.is_none() {
            self.copied_from.clone_from(&entry.context.origin);
        }
        if entry.context.stream.is_some() || !is_said(&entry.what) {
            return;
        }
        self.said = self.said.max(entry.time);
        if matches!(entry.what, EntryKind::Prompt { .. }) {
            self.prompt = self.prompt.or(entry.time.map(|time| (id, time)));
        }
    }

    /// Takes over what the next line says; no turn begins with it.
    pub(super) fn join(&mut self, next: LineCourse) {
        self.begun = self.begun.or(next.begun);
        self.said = self.said.max(next.said);
        self.copied_from = self.copied_from.take().or(next.copied_from);
    }

    pub(super) fn tell(&self, facts: &mut SessionFacts) {
        let course = &mut facts.course;
        course.begun = course.begun.or(self.begun);
        let said = self.prompt.map(|(_, at)| at).max(self.said);
        if let Some(end) = said {
            let (id, at) = self.prompt.unwrap_or((0, end));
            course.go_on(ToldTurn { id, at, end });
        }
        if self.copied_from.is_some() {
            facts.forked_from.clone_from(&self.copied_from);
        }
    }
}

fn is_said(what: &EntryKind) -> bool {
    matches!(
        what,
        EntryKind::Prompt { .. } | EntryKind::Said(_) | EntryKind::Call(_) | EntryKind::Result(_)
    )
}

/// What links the log's own records to one that is stored elsewhere; `None`: nothing does. `mute`:
/// without its words.
pub(super) fn copy(mut entry: Entry, mute: bool) -> Option<Entry> {
    let copied = match entry.what {
        EntryKind::Call(mut call) => {
            if mute {
                call.input = Value::Null;
            }
            Copied::Call(call)
        }
        EntryKind::Result(result) => Copied::Result(result.call),
        EntryKind::Prompt { .. } => Copied::Prompt,
        _ => return None,
    };
    (entry.what, entry.message) = (EntryKind::Copied(copied), None);
    Some(entry)
}
