//! Where an answer comes from, in the words of 000-061: every result shows them.

use crate::config::Config;
use crate::rules::hidden_paths::without_homes;
use crate::store::Hit;
use std::borrow::Cow;

/// Hex digits of a namespace that are shown (D10).
const SHOWN_DIGITS: usize = 8;

/// `[namespace: a1b2c3d4, path: /home/me/app]`; without the path where
/// `include_project_path` is off.
pub fn provenance(hit: &Hit, include_project_path: bool) -> String {
    of_project(&hit.namespace, &hit.project_path, include_project_path)
}

/// The same for a project.
pub fn of_project(namespace: &str, path: &str, include_project_path: bool) -> String {
    let shown = shown_digits(namespace);
    match include_project_path {
        true => format!("[namespace: {shown}, path: {path}]"),
        false => format!("[namespace: {shown}]"),
    }
}

/// As much of a namespace as is shown.
pub fn shown_digits(namespace: &str) -> &str {
    namespace.get(..SHOWN_DIGITS).unwrap_or(namespace)
}

/// A path as others than the user may be told it: without the names of people's homes where personal
/// data is masked.
pub fn shown_path<'p>(path: &'p str, config: &Config) -> Cow<'p, str> {
    match config.masks_personal {
        true => without_homes(path),
        false => Cow::Borrowed(path),
    }
}
