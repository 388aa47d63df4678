//! One record of each kind that is not known, without anything that it says: what a person can send to
//! us. Reads it again from its log; the store keeps no record.

use crate::host::read::{Content, LogReader};
use crate::json::prose::blanked;
use crate::json::skim::Skimmer;
use crate::model::source::SourceFile;
use crate::store::UnknownRow;
use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

/// One kind of record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriftSample {
    /// Its name.
    pub name: String,
    /// How often it was met.
    pub count: u64,
    /// Words in all of them.
    pub words: u64,
    /// The first of them, blanked; `None`: its log is gone, or the line is another now.
    pub record: Option<Value>,
}

/// A sample of each of `unknown`, from those of `files` that are still there. Reads each log up to the
/// line.
pub fn samples(unknown: &[UnknownRow], files: &[SourceFile]) -> Vec<DriftSample> {
    let sample = |row: &UnknownRow| DriftSample {
        name: row.kind.clone(),
        count: row.count,
        words: row.words,
        record: record(row, files),
    };
    unknown.iter().map(sample).collect()
}

fn record(row: &UnknownRow, files: &[SourceFile]) -> Option<Value> {
    let of_row =
        |file: &&SourceFile| *file.key == *row.path || file.path().to_str() == Some(&row.path);
    let line = line(files.iter().find(of_row)?, row.place.line).ok()??;
    let value = serde_json::from_slice(&line).ok()?;
    Some(blanked(&value))
}

/// A line of a log, counted from 1; where it is a long one, as it is read: reduced.
fn line(file: &SourceFile, number: u64) -> Result<Option<Vec<u8>>> {
    let mut reader = LogReader::open(file, 0, 0, Content::default())?;
    let mut skimmer = Skimmer::default();
    while let Some(block) = reader.next_block(&mut skimmer)? {
        let block = reader.block(block, &mut skimmer);
        let ahead = usize::try_from(number.saturating_sub(block.line + 1))?;
        let found = block.bytes.split(|byte| *byte == b'\n').nth(ahead);
        if let Some(line) = found.filter(|line| !line.is_empty()) {
            return Ok(Some(line.to_vec()));
        }
    }
    Ok(None)
}
