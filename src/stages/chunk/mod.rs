//! Cuts exchanges into episodes: a fold over each stream.
//!
//! Knows the boundaries (architecture § 6): a number of exchanges, a gap before a prompt, a budget
//! of bytes. Doesn't know what the records were (`filter`), what time it is, or when an open
//! episode is settled (the store's business).
//!
//! A boundary depends only on items up to the one that triggers it; nothing that comes later
//! changes a sealed episode. Memory per stream: the open episode and one item.

mod cut;
mod episode;
mod open;
mod piece;
mod tail;

pub use tail::Tail;

use crate::model::batch::Batch;
use crate::model::episode::Episode;
use crate::model::exchange::{Exchange, ItemKind};
use crate::model::policy::ChunkOptions;
use crate::model::resume_state::ResumeState;
use open::Open;
use std::collections::BTreeMap;

/// The state of one file's folds.
#[derive(Clone, Debug, Default)]
pub struct ChunkState {
    /// One per stream that is not done; `None` is the session's main log.
    streams: BTreeMap<Option<String>, Open>,
    /// Sub-agents told inside the main log that are done, with the offset of the prompt that says
    /// so; kept while the main log's open tail starts before it, to be passed over when read again.
    done: BTreeMap<Option<String>, u64>,
}

impl ChunkState {
    /// Reads on from a checkpoint; `ResumeState::default()` starts afresh.
    pub fn resume(resume_state: &ResumeState) -> ChunkState {
        let streams = resume_state.streams.iter();
        ChunkState {
            streams: streams
                .map(|s| (s.stream.clone(), Open::resume(s)))
                .collect(),
            done: BTreeMap::new(),
        }
    }
}

/// Adds items to the open episodes and returns those that a boundary has sealed, in that order.
///
/// No text is longer than `max_tokens` (4 bytes each), provided that this is at least 16 tokens:
/// below, a piece of a cut record still holds one character besides its label. The same items give
/// the same episodes however they are cut into batches.
pub fn chunk(
    batch: Batch<Exchange>,
    options: &ChunkOptions,
    state: &mut ChunkState,
) -> Batch<Episode> {
    batch.map(|exchanges| {
        let mut sealed = Vec::new();
        for exchange in exchanges {
            let Exchange { stream, items, .. } = exchange;
            for item in items {
                if stream.is_none() && item.kind == ItemKind::Prompt {
                    finish_sidechains(item.place.offset, state, &mut sealed);
                }
                if !state.streams.contains_key(&stream) {
                    state.streams.insert(stream.clone(), Open::default());
                }
                if let Some(open) = state.streams.get_mut(&stream) {
                    open.add(item, &stream, options, &mut sealed);
                }
            }
        }
        sealed
    })
}

/// A prompt in the main log says that the sub-agents told inside it are done. One that is told on
/// after it starts afresh, with part 1: its state would have to be carried for ever otherwise.
fn finish_sidechains(offset: u64, state: &mut ChunkState, sealed: &mut Vec<Episode>) {
    let main_start = state.streams.get(&None).and_then(Open::start);
    let low = main_start.map_or(offset, |item| item.place.offset);
    let ChunkState { streams, done } = state;
    streams.retain(|stream, open| {
        if stream.is_none() || open.from > offset {
            return true;
        }
        open.seal_all(stream, sealed);
        done.insert(stream.clone(), offset);
        false
    });
    done.retain(|_, at| *at > low);
}
