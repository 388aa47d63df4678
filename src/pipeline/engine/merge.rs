//! Lines of many processes become one: each once, in one order, whatever order they came in.
//!
//! Merging is associative, commutative and idempotent: what is the same is there once; where two lines claim the
//! same place, the one with the greater hash stays. Lines wait in an unnamed file; memory holds where each is.

use super::line::{self, EndLine, EpisodeLine, HeaderLine, LedgerLine, Line, LineStep, kind};
use crate::model::ledger::Ledger;
use crate::model::tally::Tally;
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fs::File;
use std::io::{BufRead, Write};
use std::os::unix::fs::FileExt;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_128;

/// Where a line belongs among the others. The order of the declaration is the order of the output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// A part of a commit, or what comes before the commits of its run.
    Of(LineStep, Part),
    Tally(u64, String),
    Problem(u64, String, String),
}

/// The parts of a commit; its own line is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Moved,
    Episode(u64),
    Reject(u64),
    Ledger,
    Commit,
}

/// A line that waits.
#[derive(Clone, Copy, Debug)]
struct Slot {
    at: u64,
    bytes: usize,
    hash: u128,
    /// Of an episode.
    id: Option<Uuid>,
    /// Of an episode: a boundary follows.
    sealed: bool,
}

/// The sums of all lines; printed last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Total {
    /// Files that were read.
    pub files: u64,
    /// Different episodes.
    pub episodes: u64,
    /// Refused records.
    pub rejects: u64,
    /// Files that could not be read, or may not.
    pub problems: u64,
    /// Content bytes read.
    pub read_bytes: u64,
    /// The account of all lines.
    pub ledger: Ledger,
    /// All counters.
    pub tally: Tally,
}

/// Gathers lines.
pub struct Merge {
    file: File,
    written: u64,
    places: BTreeMap<Place, Slot>,
}

/// A line of a log may be long, a line of ours holds an episode at most.
const LINE_BYTES_MAX: usize = 64 << 20;

impl Merge {
    /// With nothing in it.
    ///
    /// # Errors
    /// When no temporary file can be made.
    pub fn begin() -> Result<Merge> {
        Ok(Merge {
            file: tempfile::tempfile().context("make a temporary file")?,
            written: 0,
            places: BTreeMap::new(),
        })
    }

    /// Takes the lines of `input` up to the end of a batch, else all of them; gives what ends the batch.
    ///
    /// # Errors
    /// When one of them can't be understood; its number is named, never its content.
    pub fn take(&mut self, input: &mut dyn BufRead) -> Result<Option<EndLine>> {
        let mut text = String::new();
        for number in 1_u64.. {
            text.clear();
            if input
                .read_line(&mut text)
                .context("reading standard input")?
                == 0
            {
                break;
            }
            let line = text.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                continue;
            }
            let end = self
                .add(line)
                .with_context(|| format!("line {number} of standard input"))?;
            if end.is_some() {
                return Ok(end);
            }
        }
        Ok(None)
    }

    /// Nothing was taken.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn add(&mut self, text: &str) -> Result<Option<EndLine>> {
        anyhow::ensure!(text.len() <= LINE_BYTES_MAX, "it is too long");
        let (mut id, mut sealed) = (None, false);
        let place = match Line::parse(text)? {
            Line::End(end) => return Ok(Some(end)),
            Line::Header(_) | Line::Total => return Ok(None),
            Line::Episode(line) => {
                (id, sealed) = (Some(line.episode.id), line.episode.sealed);
                Place::Of(line.step, Part::Episode(line.nth))
            }
            Line::Reject(line) => Place::Of(line.step, Part::Reject(line.reject.place.offset)),
            Line::Ledger(line) => Place::Of(line.step, Part::Ledger),
            Line::Commit(line) => Place::Of(line.step, Part::Commit),
            Line::Moved(line) => Place::Of(line.step, Part::Moved),
            Line::Tally(line) => Place::Tally(line.run, line.file),
            Line::Problem(line) => Place::Problem(line.run, line.file, line.reason),
        };
        let slot = Slot {
            at: self.written,
            bytes: text.len(),
            hash: xxh3_128(text.as_bytes()),
            id,
            sealed,
        };
        match self.places.entry(place) {
            Entry::Occupied(held) if held.get().hash >= slot.hash => return Ok(None),
            Entry::Occupied(mut held) => drop(held.insert(slot)),
            Entry::Vacant(new) => drop(new.insert(slot)),
        }
        self.file
            .write_all(text.as_bytes())
            .context("write a temporary file")?;
        self.written += slot.bytes as u64;
        Ok(None)
    }

    /// Only the last state of each episode: what was open and grew, or was cut anew, is taken out. For whoever
    /// reads episodes; tables need all lines.
    pub fn keep_latest(&mut self) {
        let mut last: BTreeMap<Uuid, Place> = BTreeMap::new();
        let mut ends: BTreeMap<(String, u32), LineStep> = BTreeMap::new();
        for (place, slot) in &self.places {
            let Place::Of(step, part) = place else {
                continue;
            };
            if let Some(id) = slot.id {
                last.insert(id, place.clone());
            } else if *part == Part::Commit {
                ends.insert((step.file.clone(), step.generation), step.clone());
            }
        }
        let is_current = |step: &LineStep| {
            let end = ends.get(&(step.file.clone(), step.generation));
            end.is_none_or(|end| end == step)
        };
        self.places.retain(|place, slot| match (place, slot.id) {
            (Place::Of(step, _), Some(id)) => {
                last.get(&id) == Some(place) && (slot.sealed || is_current(step))
            }
            _ => true,
        });
    }

    /// Hands out all lines in their order.
    ///
    /// # Errors
    /// When the temporary file can't be read, and those of `each`.
    pub fn for_each(&self, mut each: impl FnMut(&str) -> Result<()>) -> Result<()> {
        let mut bytes = Vec::new();
        for slot in self.places.values() {
            each(self.read(slot, &mut bytes)?)?;
        }
        Ok(())
    }

    fn read<'b>(&self, slot: &Slot, bytes: &'b mut Vec<u8>) -> Result<&'b str> {
        bytes.resize(slot.bytes, 0);
        self.file
            .read_exact_at(bytes, slot.at)
            .context("read a temporary file")?;
        Ok(std::str::from_utf8(bytes)?)
    }

    /// The sums.
    ///
    /// # Errors
    /// As [`Merge::for_each`].
    pub fn total(&self) -> Result<Total> {
        let mut total = Total::default();
        let mut files = std::collections::BTreeSet::new();
        // an episode counts as it is last
        let mut episodes: BTreeMap<Option<Uuid>, &Slot> = BTreeMap::new();
        let mut tails: BTreeMap<(String, u32), Ledger> = BTreeMap::new();
        let mut bytes = Vec::new();
        for (place, slot) in &self.places {
            match place {
                Place::Of(_, Part::Episode(_)) => drop(episodes.insert(slot.id, slot)),
                Place::Of(_, Part::Reject(_)) => total.rejects += 1,
                Place::Of(_, Part::Ledger) => {
                    let line: LedgerLine = serde_json::from_str(self.read(slot, &mut bytes)?)?;
                    total.ledger.merge(&line.ledger);
                    tails.insert((line.step.file, line.step.generation), line.tail);
                }
                Place::Of(..) => {}
                Place::Problem(..) => total.problems += 1,
                Place::Tally(_, file) => {
                    files.insert(file);
                    let line: line::TallyLine = serde_json::from_str(self.read(slot, &mut bytes)?)?;
                    total.read_bytes += line.read_bytes;
                    total.tally.merge(&line.tally);
                }
            }
        }
        for slot in episodes.values() {
            let line: EpisodeLine = serde_json::from_str(self.read(slot, &mut bytes)?)?;
            total.tally.merge(&line.episode.tally);
        }
        for tail in tails.values() {
            total.ledger.merge(tail);
        }
        (total.files, total.episodes) = (files.len() as u64, episodes.len() as u64);
        Ok(total)
    }

    /// Prints all lines, the sums last.
    ///
    /// # Errors
    /// As [`Merge::for_each`], and when `out` takes nothing.
    pub fn print(&self, out: &mut dyn Write) -> Result<()> {
        let mut bytes = Vec::new();
        line::write(&mut bytes, kind::HEADER, &HeaderLine::own())?;
        out.write_all(&bytes)?;
        self.for_each(|line| {
            out.write_all(line.as_bytes())?;
            Ok(out.write_all(b"\n")?)
        })?;
        bytes.clear();
        line::write(&mut bytes, kind::TOTAL, &self.total()?)?;
        out.write_all(&bytes)?;
        Ok(out.flush()?)
    }
}
