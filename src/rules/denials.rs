//! Who kept a call from running, as a table (`denials.yaml`).

use super::table;
use crate::model::entry::Denial;
use serde::Deserialize;
use std::sync::LazyLock;

/// Who denied a call: by the kind that the log states, else by how its result's text begins; `None` where
/// neither says that it was denied.
pub fn of(kind: Option<&str>, text: &str) -> Option<Denial> {
    let text = text.trim_start();
    let fits = |row: &&Row| match (kind, &row.kind, &row.starts) {
        (Some(kind), Some(within), _) => kind.contains(within.as_str()),
        (None, None, Some(starts)) => text.starts_with(starts.as_str()),
        _ => false,
    };
    let by = ROWS.iter().find(fits).map(|row| row.by);
    by.or(kind.map(|_| Denial::Other))
}

/// A call's result, or its digest, says that nobody has permitted it yet (Claude Code without a person who could).
pub fn awaits_permission(text: &str) -> bool {
    text.contains("haven't granted")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    kind: Option<String>,
    starts: Option<String>,
    by: Denial,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check it"))]
    sample: String,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| table::rows(table::embedded!("denials")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_recognises_its_sample() {
        for row in ROWS.iter() {
            let (kind, text) = match row.kind {
                Some(_) => (Some(row.sample.as_str()), ""),
                None => (None, row.sample.as_str()),
            };
            assert_eq!(of(kind, text), Some(row.by), "{}", row.sample);
        }
    }

    #[test]
    fn a_kind_that_is_not_known_is_nobodys_and_an_error_is_no_denial() {
        assert_eq!(of(Some("something-new"), ""), Some(Denial::Other));
        assert_eq!(of(None, "Exit code 1\nPermission denied"), None);
        assert!(awaits_permission(
            "failed: permission to write, but you haven't granted it yet"
        ));
        assert!(!awaits_permission("failed: permission denied"));
        let both = of(Some("permission-rule"), "The user doesn't want to proceed");
        assert_eq!(both, Some(Denial::Rule));
    }
}
