//! When a line of a log was written, whichever agent wrote it.

use crate::model::time::Time;
use serde::Deserialize;

#[derive(Deserialize)]
struct Stamped {
    timestamp: Option<String>,
}

/// The time that a line says; `None`: it says none, or is no record.
pub(super) fn time_of(line: &[u8]) -> Option<Time> {
    let stamped: Stamped = serde_json::from_slice(line).ok()?;
    Time::parse(&stamped.timestamp?)
}
