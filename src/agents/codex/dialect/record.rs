//! One line on its way to entries: its place, its identity, and what its entries share.

use super::state::{self, RecordLinks};
use crate::json::fields::Fields;
use crate::model::entry::{Context, Entry, EntryKind, Identity, Message};
use crate::model::source::Span;
use crate::model::time::Time;
use crate::stages::parse::ParseState;
use std::borrow::Cow;
use std::sync::Arc;
use uuid::Uuid;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128_with_seed};

/// Namespace of record ids (UUIDv5).
const RECORDS: Uuid = Uuid::from_u128(0x8f1c_52a0_6d3b_5e47_9a90_2c7d_41b6_e0f3);

/// One line on its way to entries.
pub(super) struct Record<'s> {
    pub(super) state: &'s mut ParseState,
    pub(super) place: Span,
    pub(super) time: Option<Time>,
    pub(super) out: &'s mut Vec<Entry>,
    pub(super) id: Identity,
    pub(super) nth: u16,
}

impl Record<'_> {
    /// Gives the record its identity: its call where it has one, else its payload; of the thread
    /// that it was first written in, or that the file's name states.
    pub(super) fn identify(&mut self, kind: &str, inner: &str, payload: &Fields<'_>, raw: &str) {
        let context = &self.state.context;
        let thread = context.origin.as_deref().or(own_thread(context));
        let thread = thread.or(context.session.as_deref());
        let thread = thread
            .or(self.state.file.fallback_session.as_deref())
            .unwrap_or_default();
        let call = payload.raw("call_id").filter(|id| id.len() > 2);
        self.id = identity(thread, (kind, inner), call, raw);
    }

    /// Adds an entry to the line's.
    pub(super) fn push(&mut self, what: EntryKind) {
        self.push_with(what, None);
    }

    pub(super) fn push_with(&mut self, what: EntryKind, message: Option<Message>) {
        self.out.push(Entry {
            place: self.place,
            nth: self.nth,
            id: self.id,
            time: self.time,
            context: self.state.context.clone(),
            message,
            what,
        });
        self.nth = self.nth.saturating_add(1);
    }

    pub(super) fn noise(&mut self, reason: &'static str) {
        self.push(EntryKind::Noise(Cow::Borrowed(reason)));
    }

    pub(super) fn recorded_elsewhere(&mut self) {
        self.noise("recorded twice");
    }

    pub(super) fn links(&self) -> Option<&RecordLinks> {
        state::links(&self.state.context)
    }

    /// Changes the values that may be applied twice; before the line's entries are pushed.
    pub(super) fn sticky(&mut self, change: impl FnOnce(&mut Context)) {
        change(Arc::make_mut(&mut self.state.context));
    }

    /// Changes the values that link records; after the line's entries were pushed.
    pub(super) fn amend(&mut self, change: impl FnOnce(&mut RecordLinks)) {
        change(state::links_mut(Arc::make_mut(&mut self.state.context)));
    }

    /// A message that began on this line.
    pub(super) fn group(&self) -> u64 {
        let thread = own_thread(&self.state.context).unwrap_or_default();
        xxh3_64_with_seed(thread.as_bytes(), self.place.offset).max(1)
    }
}

/// UUIDv5 of the thread, the kind, and the call id, else the payload as it is written.
pub(super) fn identity(
    thread: &str,
    kind: (&str, &str),
    call: Option<&str>,
    raw: &str,
) -> Identity {
    let seed = xxh3_64_with_seed(kind.1.as_bytes(), xxh3_64(thread.as_bytes()))
        ^ xxh3_64(kind.0.as_bytes()).rotate_left(1 + u32::from(call.is_some()));
    let hash = xxh3_128_with_seed(call.unwrap_or(raw).as_bytes(), seed);
    Identity::Nth(Uuid::new_v5(&RECORDS, &hash.to_be_bytes()))
}

/// The id of the thread that the file is of.
pub(super) fn own_thread(context: &Context) -> Option<&str> {
    state::links(context)?.chain.first().map(String::as_str)
}
