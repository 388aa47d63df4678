//! What commands that were killed left in our folder.

use crate::config::Home;
use anyhow::{Context, Result};
use std::fs;
use std::io::ErrorKind;

/// Removes the copy that an import left which was killed.
///
/// # Errors
/// When it can't be removed.
pub fn discard(home: &Home) -> Result<()> {
    let scratch = home.import();
    match fs::remove_dir_all(&scratch) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.with_context(|| format!("remove {}", scratch.display())),
    }
}
