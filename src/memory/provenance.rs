//! Where an answer comes from, in the words of 000-061: every result shows them.
//! Knows the wording; refuses to print.

use crate::store::Hit;

/// Hex digits of a namespace that are shown (D10).
const SHOWN_DIGITS: usize = 8;

/// `[namespace: a1b2c3d4, path: /home/me/app]`; without the path where
/// `include_project_path` is off.
pub fn provenance(hit: &Hit, include_project_path: bool) -> String {
    let shown = hit.namespace.get(..SHOWN_DIGITS).unwrap_or(&hit.namespace);
    if include_project_path {
        format!("[namespace: {shown}, path: {}]", hit.project_path)
    } else {
        format!("[namespace: {shown}]")
    }
}
