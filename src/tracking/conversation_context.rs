//! What was said in a project before a moment, from the stored sessions. Stored items have line numbers
//! and no times, so the times are read again from the logs.

use super::line_times::time_of;
use crate::host::{git, read};
use crate::model::error::Error;
use crate::model::exchange::ItemKind;
use crate::model::item::apart;
use crate::model::time::Time;
use crate::store::{Found, Store};
use crate::tracking::reasons::{Conversation, Utterance};
use std::path::Path;

/// Longer ago is about something else.
pub(super) const LONG_AGO_MS: i64 = 24 * 3_600_000;
/// Episodes that hold the last exchanges of the sessions that were at work.
const EPISODES_MAX: u32 = 8;
/// Times count whole seconds in reflogs.
const SECOND_MS: i64 = 999;
/// A command's result is logged within so long.
const RESULT_MS: i64 = 15_000;
/// A log's part that is read for its times. Longer: it counts as said before.
const PART_BYTES_MAX: u64 = 64 << 20;

/// How much has to be known of what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What was said before, and what after.
    Order,
    /// And when each line was.
    Times,
}

/// What was said in a project, or below it, around `at`; not in another repository that lies in it. Reads
/// parts of the logs that it was said in, for the times of their lines.
///
/// # Errors
/// When the store can't be read.
pub fn around(
    store: &Store,
    project: &str,
    at: Time,
    detail: Detail,
) -> Result<Conversation, Error> {
    let until = Time(at.0 + SECOND_MS);
    let since = Time(at.0 - LONG_AGO_MS);
    let mut chunks = store.chunks_around(project, until, since, EPISODES_MAX)?;
    chunks.retain(|found| git::is_of(Path::new(project), Path::new(&found.project_path)));
    chunks.sort_by_key(|found| (found.episode.valid_at, found.episode.part));
    let mut said_around = Conversation::default();
    for found in &chunks {
        let times = Times::of(found, until, detail);
        let last = times.last_line(until);
        let near = times.last_line(Time(at.0 + RESULT_MS));
        let marks = &found.episode.outline;
        let texts = apart(&found.episode.text, marks).unwrap_or_default();
        for (mark, text) in marks.iter().zip(texts) {
            let said = Utterance {
                kind: mark.kind,
                text: text.to_owned(),
                session: found.session.clone(),
                episode: found.episode.id,
                line: mark.line,
                at: times.of_line(mark.line),
            };
            if mark.line <= near && (mark.line <= last || mark.kind == ItemKind::Digest) {
                said_around.near.push(said.clone());
            }
            if mark.line <= last {
                said_around.before.push(said);
            }
        }
    }
    Ok(said_around)
}

/// When each line of an episode's part of the log was written; empty: nobody knows, all of it was before.
struct Times(Vec<(u64, Time)>);

impl Times {
    fn of(found: &Found, until: Time, detail: Detail) -> Times {
        let episode = &found.episode;
        let is_before = episode.ended_at.is_none_or(|ended| ended <= until);
        let is_needed = !is_before || detail == Detail::Times;
        let bytes = episode.bytes;
        if !is_needed || bytes.to.saturating_sub(bytes.from) > PART_BYTES_MAX {
            return Times(Vec::new());
        }
        let part = read::part(Path::new(&found.path), bytes.from, bytes.to);
        let part = part.unwrap_or_default();
        let lines = part.split(|byte| *byte == b'\n').zip(episode.lines.0..);
        let timed = lines.filter_map(|(line, number)| Some((number, time_of(line)?)));
        Times(timed.collect())
    }

    /// When a line was written.
    fn of_line(&self, line: u64) -> Option<Time> {
        let nth = self.0.binary_search_by_key(&line, |(line, _)| *line).ok()?;
        Some(self.0[nth].1)
    }

    /// The last line that was written by then.
    fn last_line(&self, until: Time) -> u64 {
        let after = self.0.iter().find(|(_, time)| *time > until);
        after.map_or(u64::MAX, |(line, _)| line.saturating_sub(1))
    }
}
