//! What was made of episodes in a sink's graph, as it was counted there when something was worked through
//! last: a small file for each sink, beside the store, by which costs are estimated.

use super::alarms::file_name;
use crate::config::{Home, edit};
use crate::model::error::Error;
use crate::model::extraction::GraphCounts;
use std::fs;
use std::path::PathBuf;

/// Of this sink; nothing where nobody counted yet.
pub fn of(sink: &str, home: &Home) -> GraphCounts {
    let text = fs::read(path(sink, home)).ok();
    let counts = text.and_then(|text| serde_json::from_slice(&text).ok());
    counts.unwrap_or_default()
}

/// Keeps what was counted now; `worked`: episodes of this run and the milliseconds that they took.
///
/// # Errors
/// When our folder can't be written.
pub fn keep(
    sink: &str,
    counted: GraphCounts,
    worked: (u64, u64),
    home: &Home,
) -> Result<(), Error> {
    let before = of(sink, home);
    let counts = GraphCounts {
        worked: before.worked + worked.0,
        worked_ms: before.worked_ms + worked.1,
        ..counted
    };
    if counts == before {
        return Ok(());
    }
    let text = serde_json::to_string(&counts).unwrap_or_default();
    edit::write(&path(sink, home), &text).map(drop)
}

fn path(sink: &str, home: &Home) -> PathBuf {
    home.graphs().join(file_name(sink))
}
