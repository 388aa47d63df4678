//! Keeps what people and agents said, and one digest per tool call: a fold over each stream.
//!
//! Knows which entries become items, in which order, and whose words they are. Doesn't know
//! dialects (`parse`), how a digest is worded ([`digest`]), or where episodes end (`chunk`).
//!
//! Cost: one map look-up per entry; one copy of the stream's small state per record that gives
//! items, so that reading can start again with any of them (`Item::resume`).

mod count;
pub mod digest;
mod emit;
mod link;
mod queue;
pub mod redact;
mod work;

pub use crate::model::fold::FilterState;
pub use link::note_begun;

use crate::model::batch::Batch;
use crate::model::entry::{Copied, Entry, EntryKind, Fact, PromptOrigin, Queue};
use crate::model::exchange::{EXPANDED, Exchange, INTERRUPTED, STOPPED};
use crate::model::fold::StreamFold;
use crate::model::policy::{FilterPolicy, Keep};
use crate::rules::secrets::Redactor;
use crate::rules::slash_commands::purpose;
use emit::{At, Label, Out};
use std::sync::Arc;

/// Sub-agents' streams inside one log that are told apart at once; records of further ones go to
/// [`CROWD`] until the next prompt of the main log. Real logs have some dozens; larger: each has a
/// state of its own in memory and in the checkpoint.
const STREAMS_MAX: usize = 512;
/// The stream of the sub-agents beyond [`STREAMS_MAX`].
const CROWD: &str = "crowd";

/// Folds whole records of one file, in file order, into pieces of exchanges, in file order.
///
/// The same records give the same items however they are cut into batches, and from whichever
/// `Item::place` reading starts again with `Item::resume` handed back (architecture § 6, "The fold").
/// Records before their stream's `StreamFold::from` are passed over. Entries that are not kept
/// vanish here; the ledger has counted them before. Texts are masked before anything is cut off them:
/// what comes out holds no secret that the rules know.
pub fn filter(
    batch: Batch<Entry>,
    policy: &FilterPolicy,
    redactor: &Redactor,
    state: &mut FilterState,
) -> Batch<Exchange> {
    batch.map(|entries| {
        let mut out = Out::new(policy, redactor);
        let mut rest = entries.into_iter();
        while let Some(entry) = rest.next() {
            step(entry, rest.as_slice(), state, &mut out);
        }
        out.exchanges
    })
}

/// One entry; `rest` are the ones after it, among them the others of its record.
fn step(mut entry: Entry, rest: &[Entry], state: &mut FilterState, out: &mut Out<'_>) {
    let links = !matches!(
        entry.what,
        EntryKind::Copied(Copied::Result(_) | Copied::Prompt)
    );
    if links && !state.streams.contains_key(&entry.context.stream) {
        if entry.context.stream.is_some() && state.streams.len() >= STREAMS_MAX {
            Arc::make_mut(&mut entry.context).stream = Some(CROWD.into());
        }
        state
            .streams
            .entry(entry.context.stream.clone())
            .or_default();
    }
    let stream = &entry.context.stream;
    let passed = |fold: &StreamFold| entry.place.offset < fold.from;
    if state.streams.get(stream).is_some_and(passed) {
        return;
    }
    if let EntryKind::Copied(copied) = entry.what {
        if let Some(fold) = state.streams.get_mut(stream) {
            link::copied(copied, entry.time, fold, out);
        }
        return;
    }
    if stream.is_none() && opens_exchange(&entry.what) {
        finish_sidechains(&entry, state, out);
    }
    let Some(fold) = state.streams.get_mut(&entry.context.stream) else {
        return;
    };
    enter_record(fold, &entry, rest);
    count::message(Arc::make_mut(&mut fold.state), &entry);
    let timed = times_the_gap(&entry);
    let step = work::step(&entry, opens_exchange(&entry.what), &fold.state);
    let mut what = std::mem::replace(&mut entry.what, EntryKind::Noise("".into()));
    redact::words(&mut what, out.redactor);
    let at = At::of(&entry, fold);
    work::count(Arc::make_mut(&mut fold.state), step, at.time);
    keep(what, &at, fold, out);
    count::time(Arc::make_mut(&mut fold.state), at.time, timed);
}

/// Notes the state before a record, where the record may give items.
fn enter_record(fold: &mut StreamFold, entry: &Entry, rest: &[Entry]) {
    let offset = entry.place.offset;
    if fold.record.offset == Some(offset) {
        return;
    }
    fold.record.offset = Some(offset);
    fold.record.items = 0;
    let mut others = rest.iter().take_while(|e| e.place.offset == offset);
    let crowded = fold.state.calls.len() + 1 + others.clone().count() > link::WAITING_MAX;
    if crowded || may_give_items(&entry.what) || others.any(|e| may_give_items(&e.what)) {
        fold.record.before = Arc::clone(&fold.state);
    }
}

fn may_give_items(what: &EntryKind) -> bool {
    match what {
        EntryKind::Prompt { .. }
        | EntryKind::Said(_)
        | EntryKind::Result(_)
        | EntryKind::Failure(_) => true,
        EntryKind::Call(_) | EntryKind::Noise(_) | EntryKind::Unknown(_) | EntryKind::Copied(_) => {
            false
        }
        EntryKind::Queue(op) => matches!(op, Queue::Remove | Queue::RemoveText(_)),
        EntryKind::Fact(fact) => note(fact).is_some(),
    }
}

/// Prompts, assistant and result entries: what a gap is measured from. Queue operations and other
/// bookkeeping don't count.
fn times_the_gap(entry: &Entry) -> bool {
    let speaks = matches!(
        entry.what,
        EntryKind::Prompt { .. }
            | EntryKind::Said(_)
            | EntryKind::Call(_)
            | EntryKind::Result(_)
            | EntryKind::Failure(_)
    );
    speaks || entry.message.is_some()
}

fn opens_exchange(what: &EntryKind) -> bool {
    match what {
        EntryKind::Prompt { text, via } => *via != PromptOrigin::Queued && !text.trim().is_empty(),
        _ => false,
    }
}

/// A prompt in the main log says that the sub-agents told inside it are done: their open calls are
/// given up and their state is dropped, so that a long log doesn't carry hundreds of them. A record
/// that still comes starts its stream afresh.
fn finish_sidechains(entry: &Entry, state: &mut FilterState, out: &mut Out<'_>) {
    let offset = entry.place.offset;
    if state.streams.len() < 2 {
        return;
    }
    state.streams.retain(|stream, fold| {
        if stream.is_none() || fold.from > offset {
            return true;
        }
        if fold.state.waiting() > 0 {
            fold.record.offset = Some(offset);
            fold.record.items = 0;
            fold.record.before = Arc::clone(&fold.state);
            let at = At::of(entry, fold).inside(stream);
            link::give_up(&at, fold, out);
        }
        false
    });
}

fn keep(what: EntryKind, at: &At<'_>, fold: &mut StreamFold, out: &mut Out<'_>) {
    match what {
        EntryKind::Prompt { text, via } => prompt(text.trim(), via, at, fold, out),
        EntryKind::Said(text) => out.agent(at, fold, text.trim()),
        EntryKind::Call(call) => link::call(call, at, fold, out),
        EntryKind::Result(result) => link::result(&result, at, fold, out),
        EntryKind::Failure(text) => out.failure(at, fold, text.trim()),
        EntryKind::Queue(op) => {
            let state = Arc::make_mut(&mut fold.state);
            let op = queue::recognised(op, out.policy);
            if let Some(text) = queue::operate(&mut state.queued, op) {
                out.aside(at, fold, &text);
            }
        }
        // a command's text is made of what somebody typed behind it
        EntryKind::Fact(Fact::Expanded(_)) if out.policy.user_messages == Keep::Out => {}
        EntryKind::Fact(fact) => {
            if let Some(text) = note(&fact) {
                out.line(at, fold, Label::NOTE, &text);
            }
        }
        EntryKind::Noise(_) | EntryKind::Unknown(_) | EntryKind::Copied(_) => {}
    }
}

fn prompt(text: &str, via: PromptOrigin, at: &At<'_>, fold: &mut StreamFold, out: &mut Out<'_>) {
    if text.is_empty() {
        return;
    }
    let queued = &mut Arc::make_mut(&mut fold.state).queued;
    let key = queue::key(text, out.policy);
    match via {
        PromptOrigin::Queued if queue::delivered(queued, &key) == queue::Delivery::Copy => {}
        PromptOrigin::Queued => out.aside(at, fold, text),
        PromptOrigin::Typed | PromptOrigin::Agent => {
            queue::typed(queued, &key);
            link::give_up(at, fold, out);
            out.prompt(at, fold, via, text);
        }
    }
}

/// What a reader of the text has to know to understand it; everything else about a session is a
/// column of it.
fn note(fact: &Fact) -> Option<String> {
    match fact {
        Fact::Compaction => Some("the history was compacted here".to_owned()),
        Fact::Stopped(how) => Some(format!("{STOPPED}{how}")),
        Fact::Interrupted => Some(INTERRUPTED.to_owned()),
        Fact::RolledBack { turns: 1 } => Some("the turn before was taken back".to_owned()),
        Fact::RolledBack { turns } => Some(format!("the {turns} turns before were taken back")),
        Fact::Expanded(text) => purpose(text).map(|purpose| format!("{EXPANDED}{purpose}")),
        _ => None,
    }
}
