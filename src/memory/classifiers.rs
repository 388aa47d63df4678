//! What work is judged by in this home besides the embedded tables: the user's own, and the cache of
//! classified tools.

use crate::config::Home;
use crate::model::error::{Error, ErrorKind};
use crate::rules::classify::Classifier;
use crate::rules::tool_cache::ToolCache;
use crate::rules::user::{Kind, UserTables};
use std::fs;
use std::io;
use std::path::Path;

/// Counts by the user's own tables; what was learned of tools doesn't change what is counted.
///
/// # Errors
/// When a table is wrong (file and line).
pub fn counter(home: &Home) -> Result<Classifier, Error> {
    Ok(Classifier::new(ToolCache::default(), own(home)?))
}

/// Judges by the user's own tables and by what was learned before; `None` where the cache's file is
/// no cache.
///
/// # Errors
/// As [`counter`], and when the file can't be read.
pub fn learned(cache: &Path, home: &Home) -> Result<Option<Classifier>, Error> {
    match read(cache)? {
        Some(cache) => Ok(Some(Classifier::new(cache, own(home)?))),
        None => Ok(None),
    }
}

/// A cache file's content. An absent one: nothing is known yet; `None`: it is no cache.
///
/// # Errors
/// When it can't be read.
pub fn read(file: &Path) -> Result<Option<ToolCache>, Error> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(ToolCache::parse(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(ToolCache::default())),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        Err(error) => {
            let message = format!("{}: {error}", file.display());
            Err(Error::new(ErrorKind::Failed, message))
        }
    }
}

fn own(home: &Home) -> Result<UserTables, Error> {
    let mut tables = UserTables::default();
    for (kind, name) in Kind::ALL {
        let file = home.tables().join(name);
        match fs::read_to_string(&file) {
            Ok(text) => tables.add(kind, &file, &text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::usage(format!("{}: {error}", file.display()))),
        }
    }
    Ok(tables)
}
