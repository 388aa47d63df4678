//! Another machine's store taken in: what both have counts once. Knows all tables of both; above
//! `maintenance`.
//!
//! The other file is copied first and migrated as a copy: it stays as it is. All of it is one transaction.
//! Logs of the other machine are named `HOST:PATH`, because a path means another file here. What is about
//! that machine alone stays there: consents, switches, sinks and what they got, what was spent, the files of
//! tracked projects.

mod episodes;
mod files;
mod other_sessions;
mod others;
mod taken;

use crate::model::error::{Error, ErrorKind};
use crate::store::error::failed;
use crate::store::ingest::sessions::refresh_all;
use crate::store::pending_tasks::{Task, set_unsummarised};
use crate::store::schema::open::clear;
use crate::store::{Access, DatabaseState, Result, Store};
use rusqlite::{Connection, params};
use std::collections::BTreeSet;
use std::path::Path;

pub use taken::Imported;

impl Store {
    /// Takes in what the store at `from` has and this one doesn't. `scratch`: a folder for a copy of it, which is
    /// removed again. Doing it again changes nothing.
    ///
    /// # Errors
    /// When the other file is no store, damaged, or of a newer version; then nothing is changed.
    pub fn import(&mut self, from: &Path, scratch: &Path) -> Result<Imported> {
        self.writable()?;
        let copy = scratch.join("other.db");
        copy_of(from, &copy)?;
        let imported = self.import_copy(&copy);
        let removed = clear(&copy).map_err(|error| {
            let message = format!("{} can't be removed: {}", copy.display(), error.kind());
            Error::new(ErrorKind::Store, message)
        });
        self.names.clear();
        imported.and_then(|imported| removed.map(|()| imported))
    }

    /// Whether a file is a store that can be taken in.
    ///
    /// # Errors
    /// Why it isn't: absent, no store, or a newer version's.
    pub fn importable(from: &Path) -> Result<()> {
        match DatabaseState::of(from)? {
            DatabaseState::Current | DatabaseState::Older(_) => Ok(()),
            state => {
                let missing = || {
                    Error::usage(format!("there is no {}", from.display())).hinted(
                        "sessionmill store path   (prints where the other database is, on its machine)",
                    )
                };
                Err(match state {
                    DatabaseState::Missing => missing(),
                    state => state.fault(from).unwrap_or_else(missing),
                })
            }
        }
    }

    fn import_copy(&mut self, copy: &Path) -> Result<Imported> {
        let name = copy.to_string_lossy();
        self.db
            .execute("ATTACH ?1 AS other", [&*name])
            .map_err(failed("opening the other store"))?;
        let mut imported = Imported::default();
        let done = self.write_transaction("taking in another store", |tx| {
            imported = take_in(tx)?;
            Ok(())
        });
        self.indexed += imported.episodes;
        let detached = self.db.execute_batch("DETACH other");
        done?;
        detached.map_err(failed("closing the other store"))?;
        Ok(imported)
    }
}

/// A copy of a store that others may be writing to, of this version's schema.
fn copy_of(from: &Path, copy: &Path) -> Result<()> {
    clear(copy).map_err(|error| {
        let message = format!("{}: {}", copy.display(), error.kind());
        Error::new(ErrorKind::Store, message)
    })?;
    Store::importable(from)?;
    let other = Store::connect(from, Access::ReadOnly)?;
    other
        .db
        .pragma_update(None, "query_only", false)
        .and_then(|()| {
            other
                .db
                .execute("VACUUM INTO ?1", [&*copy.to_string_lossy()])
        })
        .map_err(failed("copying the other store"))?;
    drop(other);
    // migrates it
    Store::open(copy, Access::ReadWrite).map(drop)
}

fn take_in(tx: &Connection) -> rusqlite::Result<Imported> {
    let mut imported = Imported::default();
    other_sessions::begin(tx)?;
    let sessions = other_sessions::to_take(tx, &mut imported)?;
    let mut touched = BTreeSet::new();
    for session in &sessions {
        if session.has_own_log && !episodes::is_further(tx, session)? {
            imported.known += 1;
            continue;
        }
        let before = (imported.episodes, imported.changed);
        let n = other_sessions::put(tx, session)?;
        let files_changed = files::put(tx, session, n)?;
        episodes::put(tx, session, n, &mut imported)?;
        let is_news = files_changed || before != (imported.episodes, imported.changed);
        match (session.ours, is_news) {
            (None, _) => imported.sessions += 1,
            (Some(_), true) => imported.grown += 1,
            (Some(_), false) => imported.known += 1,
        }
        if session.ours.is_none() || is_news {
            touched.insert(n);
            other_sessions::put_summary(tx, session, n)?;
        }
        if session.has_own_log && is_news {
            set_unsummarised(tx, n)?;
        }
    }
    others::put(tx, &mut imported)?;
    if !touched.is_empty() {
        refresh_all(tx, &touched)?;
        Task::Titles.set(tx)?;
    }
    imported.is_to_be_masked = !imported.is_nothing() && {
        let differs =
            "SELECT (SELECT version FROM redaction) IS NOT (SELECT version FROM other.redaction)";
        tx.query_row(differs, params![], |row| row.get(0))?
    };
    if imported.is_to_be_masked {
        // whatever happens now, the next run masks
        tx.execute("DELETE FROM redaction", [])?;
    }
    other_sessions::end(tx)?;
    Ok(imported)
}
