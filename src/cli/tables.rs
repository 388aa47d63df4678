//! What work is judged by in this home besides the embedded tables: the user's own, and the cache
//! of classified tools. Knows files; refuses to know what a tool is for.

use super::ctx::Ctx;
use crate::config::{Home, edit};
use crate::model::error::Error;
use crate::model::time::Time;
use crate::pipeline::enrich::Learned;
use crate::rules::classify::Classifier;
use crate::rules::tool_cache::ToolCache;
use crate::rules::user::{Kind, UserTables};
use anyhow::{Context, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Counts by the user's own tables; what was learned of tools doesn't change what is counted.
///
/// # Errors
/// When a table is wrong (file and line).
pub fn counter(home: &Home) -> Result<Classifier> {
    Ok(Classifier::new(ToolCache::default(), own(home)?))
}

fn own(home: &Home) -> Result<UserTables> {
    let mut tables = UserTables::default();
    for (kind, name) in Kind::ALL {
        let file = home.tables().join(name);
        match fs::read_to_string(&file) {
            Ok(text) => tables.add(kind, &file, &text)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::usage(format!("{}: {error}", file.display())).into()),
        }
    }
    Ok(tables)
}

/// Judges by the user's own tables and by what was learned before. A file that is no cache is told
/// and left as it is.
pub fn classifier(cache: &Path, ctx: &mut Ctx) -> Result<Classifier> {
    match learned(cache, ctx)? {
        Some(classifier) => Ok(classifier),
        None => counter(&ctx.home),
    }
}

/// The same; `None` where the file is no cache, so that nothing could be kept in it.
pub fn learned(cache: &Path, ctx: &mut Ctx) -> Result<Option<Classifier>> {
    match read(cache)? {
        Read::Cache(cache) => Ok(Some(Classifier::new(cache, own(&ctx.home)?))),
        Read::Malformed => {
            ctx.out.warn(malformed(cache))?;
            Ok(None)
        }
    }
}

/// Adds what was learned to the cache file as it is now, whoever wrote it meanwhile. A file that is
/// no cache stays as it is, and what was learned is lost.
pub fn keep(file: &Path, now: Time, learned: &Learned, ctx: &mut Ctx) -> Result<()> {
    let Read::Cache(mut cache) = read(file)? else {
        return ctx.out.warn(malformed(file));
    };
    learned.remember(&mut cache, now);
    edit::write(file, &cache.print())?;
    Ok(())
}

/// A cache file's content.
enum Read {
    Cache(ToolCache),
    Malformed,
}

/// What a person is told of a file that is no cache.
fn malformed(file: &Path) -> String {
    format!(
        "{}: is no cache of tools; it is not used and not changed: move it away",
        file.display()
    )
}

/// Absent: nothing is known yet.
fn read(file: &Path) -> Result<Read> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(ToolCache::parse(&text).map_or(Read::Malformed, Read::Cache)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Read::Cache(ToolCache::default())),
        Err(error) if error.kind() == ErrorKind::InvalidData => Ok(Read::Malformed),
        Err(error) => Err(error).with_context(|| file.display().to_string()),
    }
}
