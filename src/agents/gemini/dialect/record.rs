//! One line on its way to entries: what its entries share, and what the next line will know.

use crate::agents::prompts::Prompts;
use crate::json::text::is_name;
use crate::model::entry::{Context, Entry, EntryKind, Identity, Message};
use crate::model::source::Span;
use crate::model::time::Time;
use crate::stages::parse::ParseState;
use std::sync::Arc;

/// One line on its way to entries.
pub(super) struct Record<'s> {
    pub(super) place: Span,
    pub(super) time: Option<Time>,
    pub(super) state: &'s mut ParseState,
    pub(super) out: &'s mut Vec<Entry>,
}

impl Record<'_> {
    pub(super) fn cwd(&mut self, path: &str) {
        if is_name(path) && self.state.context.cwd.is_none() {
            self.sticky(|context| context.cwd = Some(path.to_owned()));
        }
    }

    pub(super) fn prompts(&self) -> Prompts {
        let known = self.state.context.dialect.get::<Prompts>();
        known.cloned().unwrap_or_default()
    }

    /// Changes what may be applied twice; before the line's entries are pushed.
    pub(super) fn sticky(&mut self, change: impl FnOnce(&mut Context)) {
        change(Arc::make_mut(&mut self.state.context));
    }

    /// From the next line on.
    pub(super) fn remember(&mut self, prompts: Prompts) {
        if prompts != self.prompts() {
            self.sticky(|context| context.dialect = prompts.into());
        }
    }

    pub(super) fn push(&mut self, id: Identity, what: EntryKind) {
        self.push_of(id, what, None);
    }

    pub(super) fn push_of(&mut self, id: Identity, what: EntryKind, message: Option<Message>) {
        self.out.push(Entry {
            place: self.place,
            nth: 0, // `lines` numbers the entries of a line
            id,
            time: self.time,
            context: self.state.context.clone(),
            message,
            what,
        });
    }

    /// The identity of the line's last entry: what is beside a record is no record of its own.
    pub(super) fn last(&self) -> Identity {
        let last = self.out.last().filter(|entry| entry.place == self.place);
        last.map_or(Identity::None, |entry| entry.id)
    }

    pub(super) fn noise(&mut self, reason: &'static str) {
        self.push(Identity::None, EntryKind::Noise(reason.into()));
    }
}
