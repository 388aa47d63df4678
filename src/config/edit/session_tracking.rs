//! Switching session tracking on and off, for all projects or for one.

use super::keys::{Edited, set};
use crate::config::exclude::literal;
use crate::config::file_kind::SETTINGS;
use crate::config::position::path;
use crate::model::error::Error;
use serde_json::Value;
use std::path::Path;

/// Sets `session_tracking.enabled` in the user's file (`enable`, `disable`), creating the file
/// (0600, its folder 0700) where there is none. Atomic: a crash leaves the old file or the new.
///
/// # Errors
/// The file can't be read, understood, edited in place, or written; nothing is changed then.
pub fn set_enabled(file: &Path, enabled: bool) -> Result<Edited, Error> {
    let wanted = |_: &Value| (path("session_tracking.enabled"), Value::Bool(enabled));
    set(&SETTINGS, file, wanted, &|_| Ok(()))
}

/// Adds a folder to `session_tracking.excluded_paths` or takes it away (`disable --project`,
/// `enable --project`). Otherwise as [`set_enabled`].
///
/// # Errors
/// As [`set_enabled`].
pub fn set_excluded(file: &Path, folder: &str, excluded: bool) -> Result<Edited, Error> {
    let folder = &literal(folder);
    let wanted = |value: &Value| {
        let list = value["session_tracking"]["excluded_paths"].as_array();
        let mut list = list.cloned().unwrap_or_default();
        list.retain(|item| item.as_str() != Some(folder));
        if excluded {
            list.insert(0, folder.as_str().into());
        }
        (path("session_tracking.excluded_paths"), list.into())
    };
    set(&SETTINGS, file, wanted, &|_| Ok(()))
}
