//! Another machine's store taken in, by the rules of this home.

use super::context::RunContext;
use super::leftovers::discard;
use super::steps::ingest::redact_stored;
use crate::memory::redaction_setup;
use crate::model::tombstone::Selection;
use crate::store::{Imported, Store};
use anyhow::{Context, Result};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Takes in what the store at `from` has and ours doesn't; what was forgotten here stays forgotten, and
/// what came is masked by this home's rules. Doing it again changes nothing. The caller holds the run's lock.
///
/// # Errors
/// When the other file is no store that this version reads, or ours can't be written.
pub fn import(store: &mut Store, from: &Path, cx: &RunContext<'_>) -> Result<Imported> {
    discard(cx.home)?;
    let scratch = cx.home.import();
    DirBuilder::new()
        .mode(0o700)
        .create(&scratch)
        .with_context(|| format!("make {}", scratch.display()))?;
    let imported = store.import(from, &scratch);
    discard(cx.home)?;
    let imported = imported?;
    if !imported.is_nothing() {
        // sessions that a time cuts in two
        let before = store.tombstones()?.before;
        if !before.is_empty() {
            let selection = Selection {
                before,
                ..Selection::default()
            };
            store.forget(&selection, cx.now, false)?;
        }
    }
    if imported.is_to_be_masked {
        let redaction = redaction_setup::load(&cx.loaded.config, cx.home)?;
        redact_stored(store, &redaction.redactor)?;
    }
    store.finish()?;
    Ok(imported)
}
