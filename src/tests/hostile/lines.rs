//! Any bytes as lines of either dialect: each line is accounted for, and what comes of it goes
//! through both folds.

use crate::agents::registry;
use crate::host::read::{LogBlock, Shape};
use crate::json::cursor;
use crate::json::skim::Skimmer;
use crate::model::batch::Batch;
use crate::model::entry::{Context, Entry};
use crate::model::policy::{ChunkOptions, FilterPolicy};
use crate::model::source::Agent;
use crate::rules::secrets::Redactor;
use crate::stages::chunk::{ChunkState, chunk};
use crate::stages::filter::{FilterState, filter};
use crate::stages::parse::{ParseState, parse};
use std::collections::BTreeSet;

/// Bytes as a log of each agent: every line gives an entry or a reject, whatever stands on it.
pub fn lines(data: &[u8]) {
    for agent in [Agent::new("claude"), Agent::new("codex")] {
        let whole = memchr::memrchr(b'\n', data).map_or(0, |at| at + 1);
        let (lines, rest) = data.split_at(whole);
        let mut state = ParseState::default();
        let batch = read(agent, &mut state, lines, Shape::Lines);
        every_line_is_told(&batch, lines);
        let batch = read(
            agent,
            &mut state,
            rest,
            Shape::Unterminated(rest.len() as u64),
        );
        let told = batch.items.len() as u64 + batch.pending;
        assert!(rest.is_empty() || told > 0, "the last line is not told");
        assert!(
            batch.rejects.is_empty(),
            "a torn end may still be completed"
        );
        assert_eq!(batch.delta.to, 0, "a checkpoint would pass the torn end");
    }
    skimmed(data);
}

/// A line of Claude Code's.
pub fn claude(data: &[u8]) {
    one_line(Agent::new("claude"), data);
}

/// A line of Codex's.
pub fn codex(data: &[u8]) {
    one_line(Agent::new("codex"), data);
}

/// Reads the line twice, so that it also meets the state that it left.
fn one_line(agent: Agent, data: &[u8]) {
    let mut line: Vec<u8> = data.to_vec();
    line.iter_mut()
        .filter(|b| **b == b'\n')
        .for_each(|b| *b = b' ');
    line.push(b'\n');
    let lines = line.repeat(2);
    let batch = read(agent, &mut ParseState::default(), &lines, Shape::Lines);
    every_line_is_told(&batch, &lines);
    let mut filtered = FilterState::default();
    let mut chunks = ChunkState::default();
    let exchanges = filter(
        batch,
        &FilterPolicy::default(),
        &Redactor::default(),
        &mut filtered,
    );
    let sealed = chunk(exchanges, &ChunkOptions::default(), &mut chunks);
    let tail = chunks.tail(
        (lines.len() as u64, 2),
        &Context::default(),
        &filtered,
        &filtered,
    );
    let resume_state = serde_json::to_string(&tail.resume_state).expect("a carry is JSON");
    let again = serde_json::from_str(&resume_state).expect("a carry is read back");
    assert_eq!(tail.resume_state, again, "a carry is what was stored");
    for episode in sealed.items.iter().chain(&tail.open) {
        assert!(!episode.text.is_empty(), "an episode tells nothing");
    }
}

fn read(agent: Agent, state: &mut ParseState, bytes: &[u8], shape: Shape) -> Batch<Entry> {
    let mut bytes = bytes.to_vec();
    let block = LogBlock {
        offset: 0,
        line: 0,
        bytes: &mut bytes,
        shape,
    };
    parse(registry::dialect(agent), state, block)
}

fn every_line_is_told(batch: &Batch<Entry>, bytes: &[u8]) {
    let count = memchr::memchr_iter(b'\n', bytes).count() as u64;
    let places = || batch.items.iter().map(|e| e.place);
    let told: BTreeSet<u64> = places()
        .chain(batch.rejects.iter().map(|r| r.place))
        .map(|p| p.line)
        .collect();
    assert!(told.into_iter().eq(1..=count), "lines are missing");
    assert!(places().is_sorted(), "entries are out of order");
    assert_eq!(batch.delta.to, bytes.len() as u64, "bytes are missing");
    for pair in batch.items.windows(2).filter(|p| p[0].place == p[1].place) {
        assert!(pair[0].nth < pair[1].nth, "two entries of a line are alike");
    }
}

/// A line that is copied while it streams by is the same value, however it is cut up.
fn skimmed(data: &[u8]) {
    let line = data.split(|b| *b == b'\n').next().unwrap_or_default();
    let copies: BTreeSet<Vec<u8>> = [1, 7, 4_096]
        .map(|piece| {
            let mut skimmer = Skimmer::default();
            skimmer.begin();
            line.chunks(piece).for_each(|bytes| skimmer.push(bytes));
            skimmer.finish().clone()
        })
        .into();
    assert_eq!(
        copies.len(),
        1,
        "the copy depends on how the line is cut up"
    );
    let copy = copies.first().expect("a copy");
    assert!(
        copy.len() <= line.len(),
        "the copy of a short line is longer"
    );
    if cursor::value_end(line) == Some(line.len()) {
        let value = serde_json::from_slice::<serde_json::Value>(line);
        let copied = serde_json::from_slice::<serde_json::Value>(copy);
        assert!(
            value.is_err() || value.ok() == copied.ok(),
            "the copy differs"
        );
    }
}
