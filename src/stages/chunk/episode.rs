//! An episode from its pieces. Knows the layout of the body (001-051..056), what is counted, and
//! how ids are made.

use super::piece::Piece;
use crate::model::activity::ExchangeTally;
use crate::model::batch::Delta;
use crate::model::entry::CallStatus;
use crate::model::episode::{Episode, EpisodeSource};
use crate::model::exchange::{Item, ItemKind, LEFT_OUT, is_idle_title};
use crate::model::finding::Finding;
use crate::model::item::{Mark, between};
use crate::model::resume_state::ChunkResumeState;
use crate::model::tally::Tally;
use crate::model::time::Time;
use crate::model::work_time::WorkTime;
use std::collections::BTreeSet;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

/// Of episode ids: UUIDv5 in this namespace of the 16 bytes of the first record's id; where the
/// episode starts inside that record, followed by the item's number (2 bytes, big-endian) and the
/// bytes of it that stand in earlier parts (8 bytes, big-endian). The value is UUIDv5 (URL) of
/// `urn:sessionmill:episode`. Changing it delivers everything again under new ids.
const EPISODE_IDS: Uuid = Uuid::from_u128(0x3c59_7e1c_f757_581a_9288_b302_b7e3_2cfa);

const MINUTE_MS: i64 = 60_000;

/// The episode that these pieces make; `after` is the stream's state behind them, except that its
/// `parts` doesn't count this one. Empty only where `pieces` are.
pub(super) fn of(
    stream: &Option<String>,
    after: &ChunkResumeState,
    pieces: &[Piece],
    sealed: bool,
) -> Episode {
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
        return Episode::default();
    };
    let (from, to) = (first.item.place, last.item.place);
    Episode {
        id: id(first),
        source: EpisodeSource::Session,
        stream: stream.clone(),
        part: after.parts + 1,
        sealed,
        pending_calls: 0,
        title: after.title.clone().unwrap_or_default(),
        text: body(pieces),
        valid_at: first.item.time,
        ended_at: pieces.iter().filter_map(|p| p.item.time).max(),
        bytes: Delta {
            from: from.offset,
            to: to.offset + to.bytes,
        },
        lines: (from.line, to.line),
        message_count: after.message_count,
        duration_minutes: minutes(after.started, after.ended),
        completed_tasks: after.completed.len() as u64,
        files_modified: after.modified.len() as u64,
        files: files(pieces),
        tally: tally(pieces),
        exchanges: exchanges(pieces),
        outline: pieces.iter().map(mark).collect(),
    }
}

/// Moves a stream's state past some pieces; leaves `parts` alone.
pub(super) fn advance(state: &mut ChunkResumeState, pieces: &[Piece]) {
    for Piece { item, skip, title } in pieces {
        let said = matches!(item.kind, ItemKind::Prompt | ItemKind::Aside) && *skip == 0;
        state.message_count += u64::from(item.messages) + u64::from(said);
        state.started = state.started.or(item.time);
        state.ended = state.ended.max(item.time);
        if title.is_some() && state.title.as_deref().is_none_or(is_idle_title) {
            state.title.clone_from(title);
        }
        if let Some(tool) = &item.tool {
            let hashes = |names: &[String]| names.iter().map(|n| xxh3_64(n.as_bytes())).collect();
            let completed: Vec<u64> = hashes(&tool.completed);
            let modified: Vec<u64> = hashes(&tool.modified);
            state.completed.extend(completed);
            state.modified.extend(modified);
        }
    }
}

/// Of [`body`].
pub(super) fn body_bytes(pieces: &[Piece]) -> usize {
    let texts: usize = pieces.iter().map(|p| p.item.text.len()).sum();
    let gaps = pieces
        .windows(2)
        .map(|p| between(p[0].item.kind, p[1].item.kind));
    texts + gaps.map(str::len).sum::<usize>()
}

fn body(pieces: &[Piece]) -> String {
    let mut text = String::with_capacity(body_bytes(pieces));
    let mut last: Option<&Item> = None;
    for Piece { item, .. } in pieces {
        text.push_str(last.map_or("", |last| between(last.kind, item.kind)));
        text.push_str(&item.text);
        last = Some(item);
    }
    text
}

fn id(first: &Piece) -> Uuid {
    let mut name = first.item.id.as_bytes().to_vec();
    if first.item.nth > 0 || first.skip > 0 {
        name.extend(first.item.nth.to_be_bytes());
        name.extend((first.skip as u64).to_be_bytes());
    }
    Uuid::new_v5(&EPISODE_IDS, &name)
}

fn minutes(started: Option<Time>, ended: Option<Time>) -> u64 {
    match (started, ended) {
        (Some(started), Some(ended)) => {
            (ended.0.saturating_sub(started.0) / MINUTE_MS).max(0) as u64
        }
        _ => 0,
    }
}

fn files(pieces: &[Piece]) -> BTreeSet<String> {
    let tools = pieces.iter().filter_map(|p| p.item.tool.as_ref());
    tools.flat_map(|tool| tool.files.iter().cloned()).collect()
}

/// A prompt opens the next one; a later piece of a prompt goes on with it.
fn exchanges(pieces: &[Piece]) -> Vec<ExchangeTally> {
    let mut all: Vec<ExchangeTally> = Vec::new();
    for Piece { item, skip, .. } in pieces {
        let opens = item.kind == ItemKind::Prompt && *skip == 0;
        // what was done since the item before a prompt was not done for that
        let before = all.last_mut().filter(|_| opens);
        let is_told = before.map(|before| before.add_work(item.work)).is_some();
        if opens || all.is_empty() {
            all.push(ExchangeTally {
                line: item.place.line,
                work: Some(WorkTime::default()),
                ..ExchangeTally::default()
            });
        }
        if let Some(exchange) = all.last_mut() {
            exchange.tally.merge(&item.activity);
            exchange.add_work(if is_told {
                WorkTime::default()
            } else {
                item.work
            });
        }
    }
    all
}

fn mark(piece: &Piece) -> Mark {
    let tool = piece.item.tool.as_ref();
    let mut findings = tool.map_or_else(Vec::new, |tool| tool.findings.clone());
    let context = &piece.item.resume.context;
    if context.stream.is_some() && context.origin.is_some() {
        findings.push(Finding::Inherited);
    }
    Mark {
        kind: piece.item.kind,
        bytes: piece.item.text.len() as u64,
        line: piece.item.place.line,
        findings,
    }
}

/// The counts of these pieces alone. `read_bytes` and `records` are the reader's to count.
fn tally(pieces: &[Piece]) -> Tally {
    let mut tally = Tally::default();
    for Piece { item, skip, .. } in pieces {
        tally.messages += u64::from(item.messages);
        tally.usage = tally.usage.plus(item.usage);
        tally.spending.merge(&item.spending);
        let words = match item.words() {
            LEFT_OUT => 0,
            words => words.len() as u64,
        };
        let first = u64::from(*skip == 0);
        match item.kind {
            // A sub-agent's task is its parent agent's words.
            ItemKind::Prompt | ItemKind::Aside if item.label().starts_with("User") => {
                tally.prompts += first;
                tally.user_bytes += words;
            }
            ItemKind::Prompt | ItemKind::Aside | ItemKind::Agent => tally.agent_bytes += words,
            ItemKind::Digest => tally.digest_bytes += words,
            ItemKind::Error | ItemKind::Note => {}
        }
        if let Some(tool) = &item.tool {
            let failed = u64::from(tool.status == CallStatus::Failed);
            tally.calls += 1;
            tally.failures += failed;
            tally.refusals += u64::from(tool.status == CallStatus::Refused);
            tally.output_bytes += tool.output_bytes;
            let per_tool = tally.tools.entry(tool.name.clone()).or_default();
            per_tool.calls += 1;
            per_tool.failed += failed;
        }
    }
    tally
}
