//! Messages, tokens and times of a stream. Knows that one message is told over several lines and
//! that its usage grows.

use crate::model::entry::{Entry, EntryKind};
use crate::model::resume_state::FilterResumeState;
use crate::model::spending::LONG;
use crate::model::time::Time;
use crate::model::usage::Usage;

/// Larger: bigger checkpoints; smaller: a message whose lines lie far apart counts twice. Lines of
/// one message have results, progress and attachments of its own calls between them, never other
/// messages but those of parallel sub-agents.
const GROUPS_MAX: usize = 16;

/// Counts a message when its first line comes, kept or silent, and what each line adds to the
/// maximum of its usage. Words without a message are a message each; errors are none, but what they
/// cost counts.
pub(super) fn message(state: &mut FilterResumeState, entry: &Entry) {
    let is_error = matches!(entry.what, EntryKind::Failure(_));
    let Some(message) = &entry.message else {
        state.messages += u32::from(matches!(entry.what, EntryKind::Said(_)));
        return;
    };
    let stated = message.usage.unwrap_or_default();
    let known = state.groups.iter_mut().rev();
    if let Some((_, seen)) = known.into_iter().find(|(group, _)| *group == message.group) {
        let grown = seen.max(stated);
        let more = grown.minus(*seen);
        *seen = grown;
        return spent(state, entry, more);
    }
    if state.groups.len() >= GROUPS_MAX {
        state.groups.remove(0);
    }
    state.groups.push((message.group, stated));
    state.messages += u32::from(!is_error);
    spent(state, entry, stated);
}

/// Counts tokens, by model and time where there are some.
fn spent(state: &mut FilterResumeState, entry: &Entry, usage: Usage) {
    state.usage = state.usage.plus(usage);
    let message = entry.message.as_ref();
    let model = message.and_then(|message| message.model.as_deref());
    let long = message.filter(|message| message.long).zip(model);
    let long = long.map(|(_, model)| format!("{model}{LONG}"));
    if let Some(time) = entry.time.or(state.last) {
        state.spending.add(long.as_deref().or(model), time, usage);
    }
}

/// Moves on to a record's time: the last one seen, and the latest of those that gaps are measured
/// from.
pub(super) fn time(state: &mut FilterResumeState, time: Option<Time>, timed: bool) {
    state.last = time;
    if timed {
        state.latest = state.latest.max(time);
    }
}
