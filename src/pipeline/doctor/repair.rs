//! Mends the store: the full-text index from the texts, or the whole file from what can be read of
//! it and from the logs. Knows the order that loses nothing; refuses to delete the damaged file.

use crate::model::error::{Error, ErrorKind};
use crate::model::time::Time;
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::progress::Progress;
use crate::pipeline::steps::ingest::index;
use crate::pipeline::steps::ingest::report::IngestReport;
use crate::store::{Access, DatabaseState, Salvage, Salvaged, Store};
use anyhow::Result;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What was mended.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "mended", rename_all = "lowercase")]
pub enum Repaired {
    /// Nothing was wrong.
    Nothing,
    /// The full-text index was made again.
    Index {
        /// Episodes in it.
        episodes: u64,
    },
    /// The store was made again.
    Store(Box<Rebuilt>),
}

/// A store that was made again.
#[derive(Clone, Debug, Serialize)]
pub struct Rebuilt {
    /// Where the damaged file is now.
    pub aside: PathBuf,
    /// Episodes that the damaged file gave.
    pub episodes_kept: u64,
    /// Of these, ones whose text could not be read; the logs may have told them again.
    pub episodes_without_text: u64,
    /// Texts whose episode could not be read; the logs may have told them again.
    pub texts_without_episode: u64,
    /// Episodes that are gone: their text could not be read and no log tells it.
    pub episodes_lost: u64,
    /// Consents that it gave.
    pub consents: u64,
    /// Switches of tracking that it gave.
    pub switches: u64,
    /// Names of forgotten sessions that it gave.
    pub forgotten: u64,
    /// Tables of which a part could not be read.
    pub holes: Vec<String>,
    /// What the logs told again; `None`: tracking is off, and none was read.
    pub report: Option<IngestReport>,
}

/// Mends the store at `path`; the caller holds the lock. `setup` is how logs are read, `None` where
/// they may not be.
///
/// # Errors
/// Where nothing may be done (a newer version's file, a network file system, no file) or the disk
/// refuses; then everything is as before.
pub fn repair(
    path: &Path,
    setup: Option<IngestOptions<'_>>,
    now: Time,
    progress: &dyn Progress,
) -> Result<Repaired> {
    let database_state = DatabaseState::of(path)?;
    if let (false, Some(fault)) = (database_state.may_be_replaced(), database_state.fault(path)) {
        return Err(fault.into());
    }
    if database_state == DatabaseState::Current {
        let mut store = Store::open(path, Access::ReadWrite)?;
        let health = store.health()?;
        if health.faults == 0 && !health.index_is_out_of_step() {
            return Ok(Repaired::Nothing);
        }
        if health.faults == 0
            && let Ok(episodes) = store.rebuild_index()
        {
            store.finish()?;
            return Ok(Repaired::Index { episodes });
        }
    }
    if matches!(database_state, DatabaseState::Older(_)) {
        let error = Error::new(ErrorKind::Failed, "the store is of an older version");
        return Err(error.hinted("sessionmill run").into());
    }
    rebuild(path, setup, now, progress).map(|rebuilt| Repaired::Store(Box::new(rebuilt)))
}

fn rebuild(
    path: &Path,
    setup: Option<IngestOptions<'_>>,
    now: Time,
    progress: &dyn Progress,
) -> Result<Rebuilt> {
    let mut salvage = Salvage::of(path)?;
    let report = match setup {
        Some(mut setup) => {
            if !salvage.salvaged.is_whole("file") {
                // Nobody knows any more which logs it had.
                setup.discover.since = None;
            }
            Some(index(&mut salvage.store, &setup, progress)?)
        }
        None => None,
    };
    let Salvaged {
        rows,
        holes,
        without_text,
        without_row,
    } = salvage.salvaged.clone();
    let rows = |table: &str| rows.get(table).copied().unwrap_or(0);
    let mark = now.utc().format("%Y%m%dT%H%M%SZ").to_string();
    let (aside, episodes_lost) = salvage.finish(&mark)?;
    Ok(Rebuilt {
        aside,
        episodes_kept: rows("episode"),
        episodes_without_text: without_text,
        texts_without_episode: without_row,
        episodes_lost,
        consents: rows("consent"),
        switches: rows("switch"),
        forgotten: rows("forgotten"),
        holes: holes.into_keys().collect(),
        report,
    })
}
