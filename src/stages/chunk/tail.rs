//! The open tail: what is stored of a file besides its sealed episodes, and where the next run
//! reads on. Knows how the folds' states become the state to resume from.

use super::ChunkState;
use super::episode;
use super::open::Open;
use crate::model::entry::Context;
use crate::model::episode::Episode;
use crate::model::fold::FilterState;
use crate::model::resume_state::{ResumeState, StreamEnd, StreamResumeState};
use std::collections::BTreeSet;

/// The state of a file after some of its records.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    /// Where reading starts again: the first record of the open tail, else the end.
    pub from: u64,
    /// Lines before `from`.
    pub line: u64,
    /// The folds' state at `from`.
    pub resume_state: ResumeState,
    /// One per stream that has told something since its last boundary.
    pub open: Vec<Episode>,
}

impl ChunkState {
    /// Open episodes, and where the open tail starts. `end` = (offset, lines) of the last newline
    /// that was read; `context` is the parser's state there, `there` the filter's, and `now` the
    /// filter's after a last line without a newline, which will be read again.
    ///
    /// Handing `resume_state` back to the parser, `FilterState::resume` and `ChunkState::resume`, and
    /// feeding every record from `from` on gives the same episodes as going on would have.
    pub fn tail(
        &self,
        end: (u64, u64),
        context: &Context,
        there: &FilterState,
        now: &FilterState,
    ) -> Tail {
        let mut tail = Tail {
            from: end.0,
            line: end.1,
            ..Tail::default()
        };
        tail.resume_state.context = context.clone();
        for start in self.streams.values().filter_map(Open::start) {
            if start.place.offset < tail.from {
                tail.from = start.place.offset;
                tail.line = start.place.line.saturating_sub(1);
                tail.resume_state.context = Context::clone(&start.resume.context);
            }
        }
        let names: BTreeSet<_> = self.streams.keys().chain(now.streams.keys()).collect();
        for stream in names {
            let open = self.streams.get(stream);
            let mut stored = stream_state(stream, open, end.0, there);
            if let Some((episode, after)) = open_episode(stream, open, now) {
                stored.end = Some(Box::new(after));
                tail.open.push(episode);
            }
            tail.resume_state.streams.push(stored);
        }
        // these are sealed: where the main log's tail is read again, they are passed over
        let again = |(stream, at): &(&Option<String>, &u64)| {
            **at > tail.from
                && tail
                    .resume_state
                    .streams
                    .iter()
                    .all(|s| s.stream != **stream)
        };
        let done = self.done.iter().filter(again);
        let done: Vec<_> = done
            .map(|(stream, at)| StreamResumeState {
                stream: stream.clone(),
                from: *at,
                ..StreamResumeState::default()
            })
            .collect();
        tail.resume_state.streams.extend(done);
        tail
    }
}

fn stream_state(
    stream: &Option<String>,
    open: Option<&Open>,
    end: u64,
    filter: &FilterState,
) -> StreamResumeState {
    let fold = filter.streams.get(stream);
    let mut chunk = open.map(|o| o.base.clone()).unwrap_or_default();
    let first = open.and_then(|o| o.pieces.first());
    chunk.first = first.map(|piece| piece.item.id);
    if let Some(piece) = first {
        chunk.skip_items = piece.item.nth;
        chunk.skip_bytes = piece.skip as u64;
    }
    // A stream whose tail lies beyond the end has not been reached yet in this reading.
    let reached = [open.map(|o| o.from), fold.map(|f| f.from), Some(end)];
    StreamResumeState {
        stream: stream.clone(),
        from: match first {
            Some(piece) => piece.item.place.offset,
            None => reached.into_iter().flatten().max().unwrap_or(end),
        },
        filter: match first {
            Some(piece) => (*piece.item.resume.filter).clone(),
            None => fold.map(|f| (*f.state).clone()).unwrap_or_default(),
        },
        chunk,
        end: None,
    }
}

/// With the calls that still wait, and with what was counted since its last item; and the stream's
/// state after it.
fn open_episode(
    stream: &Option<String>,
    open: Option<&Open>,
    filter: &FilterState,
) -> Option<(Episode, StreamEnd)> {
    let open = open.filter(|o| !o.pieces.is_empty())?;
    let mut after = open.base.clone();
    episode::advance(&mut after, &open.pieces);
    let mut episode = episode::of(stream, &after, &open.pieces, false);
    let mut state = filter.state(stream).cloned().unwrap_or_default();
    let (messages, usage, spending, work) = state.take_counts();
    episode.pending_calls = state.waiting();
    episode.message_count += u64::from(messages);
    episode.tally.messages += u64::from(messages);
    episode.tally.usage = episode.tally.usage.plus(usage);
    episode.tally.spending.merge(&spending);
    if let Some(exchange) = episode.exchanges.last_mut() {
        exchange.add_work(work);
    }
    after.message_count = episode.message_count;
    after.parts += 1;
    (after.inside, after.first) = (false, None);
    let end = StreamEnd {
        filter: state,
        chunk: after,
    };
    Some((episode, end))
}
