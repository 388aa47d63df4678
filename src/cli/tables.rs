//! What work is judged by in this home, as commands say it. Knows what a person is told of a cache
//! that is none; `memory::tables` has the files.

use super::ctx::Ctx;
use crate::config::edit;
use crate::memory::tables;
use crate::model::time::Time;
use crate::pipeline::steps::enrich::tools::Learned;
use crate::rules::classify::Classifier;
use anyhow::Result;
use std::path::Path;

pub use tables::counter;

/// Judges by the user's own tables and by what was learned before. A file that is no cache is told
/// and left as it is.
pub fn classifier(cache: &Path, ctx: &mut Ctx) -> Result<Classifier> {
    match learned(cache, ctx)? {
        Some(classifier) => Ok(classifier),
        None => Ok(counter(&ctx.home)?),
    }
}

/// The same; `None` where the file is no cache, so that nothing could be kept in it.
pub fn learned(cache: &Path, ctx: &mut Ctx) -> Result<Option<Classifier>> {
    let learned = tables::learned(cache, &ctx.home)?;
    if learned.is_none() {
        ctx.out.warn(malformed(cache))?;
    }
    Ok(learned)
}

/// Adds what was learned to the cache file as it is now, whoever wrote it meanwhile. A file that is
/// no cache stays as it is, and what was learned is lost.
pub fn keep(file: &Path, now: Time, learned: &Learned, ctx: &mut Ctx) -> Result<()> {
    let Some(mut cache) = tables::read(file)? else {
        return ctx.out.warn(malformed(file));
    };
    learned.remember(&mut cache, now);
    edit::write(file, &cache.print())?;
    Ok(())
}

/// What a person is told of a file that is no cache.
fn malformed(file: &Path) -> String {
    format!(
        "{}: is no cache of tools; it is not used and not changed: move it away",
        file.display()
    )
}
