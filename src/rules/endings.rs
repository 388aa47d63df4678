//! How outputs that state no exit code say that a call went wrong. Knows the table; refuses to
//! guess from anything but an output's first words (D28).

use super::table;
use crate::model::entry::CallStatus;
use serde::Deserialize;
use std::sync::LazyLock;

/// How a call ended, judged by the first words of its output; absent when they say nothing.
pub fn of(output: &str) -> Option<CallStatus> {
    let head = &output[..output.floor_char_boundary(200)];
    ROWS.iter()
        .find(|row| match (&row.starts, &row.within) {
            (Some(starts), _) => head.starts_with(starts.as_str()),
            (None, Some(within)) => head.contains(within.as_str()),
            (None, None) => false,
        })
        .map(|row| row.status)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    starts: Option<String>,
    within: Option<String>,
    status: CallStatus,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check it"))]
    sample: String,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| table::rows(table::embedded!("endings")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_recognises_its_sample() {
        for row in ROWS.iter() {
            assert_eq!(of(&row.sample), Some(row.status), "{}", row.sample);
        }
    }

    #[test]
    fn ordinary_output_says_nothing() {
        for output in ["", "0 failed, no errors", "ok", "Plan updated"] {
            assert_eq!(of(output), None, "{output}");
        }
        let late = format!("{} rejected by user", "x".repeat(300));
        assert_eq!(of(&late), None);
    }
}
