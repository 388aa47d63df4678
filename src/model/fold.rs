//! The filter's state while a run reads on: per stream what links its records. Knows how it comes
//! out of a stored one, but not the rules that change it (`stages::filter` has them).
//!
//! It is here because `filter` changes it and `chunk` writes it into what is stored at its boundary.

use super::resume_state::{FilterResumeState, PendingCall, ResumeState};
use super::spending::Spending;
use super::usage::Usage;
use super::work_time::WorkTime;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The filter's state for one file: a fold per stream.
#[derive(Clone, Debug, Default)]
pub struct FilterState {
    /// `None` is the session's main log.
    pub streams: BTreeMap<Option<String>, StreamFold>,
}

/// Where the filter stands in one stream.
#[derive(Clone, Debug, Default)]
pub struct StreamFold {
    /// Records before this offset are passed over: what came of them is sealed.
    pub from: u64,
    /// Shared with the items that were emitted since it last changed.
    pub state: Arc<FilterResumeState>,
    /// The record that is being read.
    pub record: RecordFold,
}

/// Where the filter stands in one record.
#[derive(Clone, Debug, Default)]
pub struct RecordFold {
    /// Its line's offset; `None` before the first record.
    pub offset: Option<u64>,
    /// Items that it gave so far.
    pub items: u16,
    /// The stream's state before it. Only meaningful where the record gives items.
    pub before: Arc<FilterResumeState>,
}

impl FilterState {
    /// Reads on from a checkpoint; `ResumeState::default()` starts afresh.
    pub fn resume(state: &ResumeState) -> FilterState {
        let streams = state.streams.iter().map(|stored| {
            let fold = StreamFold {
                from: stored.from,
                state: Arc::new(stored.filter.clone()),
                record: RecordFold::default(),
            };
            (stored.stream.clone(), fold)
        });
        FilterState {
            streams: streams.collect(),
        }
    }

    /// The state of a stream after the last record; `None` where it has none.
    pub fn state(&self, stream: &Option<String>) -> Option<&FilterResumeState> {
        self.streams.get(stream).map(|fold| &*fold.state)
    }
}

impl FilterResumeState {
    /// Calls of its own that no prompt has given up.
    pub fn waiting(&self) -> u32 {
        self.waiting_calls().count() as u32
    }

    /// Those.
    pub fn waiting_calls(&self) -> impl Iterator<Item = &PendingCall> {
        let waits = |call: &&Arc<PendingCall>| !call.given_up && !call.copied;
        self.calls.iter().filter(waits).map(|call| &**call)
    }

    /// Takes what was counted since the last item: messages, tokens, tokens by model and time, time at work.
    pub fn take_counts(&mut self) -> (u32, Usage, Spending, WorkTime) {
        (
            std::mem::take(&mut self.messages),
            std::mem::take(&mut self.usage),
            std::mem::take(&mut self.spending),
            std::mem::take(&mut self.work),
        )
    }
}
