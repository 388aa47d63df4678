//! The one way in: a slice of commits in one transaction, and what closes a run.
//! Knows the order of the steps and when a step has nothing to do; the rows themselves are
//! written by `files`, `records`, `sessions` and `write`.

use crate::model::error::{Error, ErrorKind};
use crate::model::time::Time;
use crate::store::error::failed;
use crate::store::ingest::files;
use crate::store::ingest::files::{Known, Move};
use crate::store::ingest::records;
use crate::store::ingest::write::{EpisodeWriter, Stamp, Stored};
use crate::store::ingest::{directives, sessions};
use crate::store::pending_tasks::{Task, judge_again};
use crate::store::tombstones;
use crate::store::{Access, Prepared, Result, Store};
use rusqlite::{Connection, TransactionBehavior};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Episodes of one run after which the index is merged into one segment: some hundredths of such a run, and
/// half of what a word costs in a large store. Fewer: a first run of usual size gets slower by a tenth.
const MERGED_FROM: u64 = 50_000;

impl Store {
    /// Stores a slice of commits in one transaction, in the given order: all of it or, on an
    /// error or a crash, nothing.
    ///
    /// Storing what is stored already writes nothing. `indexed_at` and `group` are taken at an
    /// episode's first insert only. A commit that would move a checkpoint of the same generation
    /// backwards is an error (of kind `Failed`). A session that was forgotten gets its
    /// checkpoint and no content.
    ///
    /// Larger slices are cheaper: each transaction adds a segment to the index. A few MB of
    /// [`Prepared::bytes`] are enough.
    pub fn commit(
        &mut self,
        commits: &[Prepared],
        indexed_at: Time,
        group: &str,
    ) -> Result<Stored> {
        self.writable()?;
        let stamp = Stamp { indexed_at, group };
        let before = self.db.total_changes();
        let tx = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed("beginning a transaction"))?;
        let outcome = write_all(&tx, &mut self.names, commits, &stamp)
            .and_then(|stored| tx.commit().map_err(failed("committing")).map(|()| stored));
        if outcome.is_err() {
            // The transaction took its names back.
            self.names.clear();
        }
        self.dirty |= self.db.total_changes() != before;
        self.indexed += outcome.as_ref().map_or(0, |stored| stored.new);
        outcome
    }

    /// Closes a run: gives late titles to their sessions, folds the write-ahead log into the
    /// file, and compacts it where something was removed for good, by this run or one that died.
    /// Cheap, and without a write, when nothing was written since opening.
    pub fn finish(&mut self) -> Result<()> {
        self.dirty |=
            sessions::attribute_summaries(&mut self.db).map_err(failed("giving titles"))?;
        self.add_checksums()?;
        if std::mem::take(&mut self.indexed) >= MERGED_FROM {
            self.merge_words()?;
        }
        if self.is_compaction_due()? {
            self.compact()?;
        } else if self.dirty {
            // not cut: that waits for the disk, and the last one to leave removes it
            self.fold_log("PASSIVE")?;
        }
        self.dirty = false;
        Ok(())
    }

    /// Folds the write-ahead log into the file and cuts it to nothing; `false` where a reader is
    /// at work that still needs it.
    pub(crate) fn truncate_log(&self) -> Result<bool> {
        self.fold_log("TRUNCATE")
    }

    fn fold_log(&self, how: &str) -> Result<bool> {
        let sql = format!("PRAGMA wal_checkpoint({how})");
        self.db
            .query_row(&sql, [], |row| row.get(0))
            .map(|busy: i64| busy == 0)
            .map_err(failed("folding the log"))
    }

    /// Does `write` in one transaction: all of it or nothing. `doing` names it in errors.
    pub(crate) fn write_transaction<T>(
        &mut self,
        doing: &str,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.writable()?;
        let before = self.db.total_changes();
        let outcome = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|tx| {
                let written = write(&tx)?;
                tx.commit().map(|()| written)
            });
        self.dirty |= self.db.total_changes() != before;
        outcome.map_err(failed(doing))
    }

    /// An error where the store was opened for reading.
    pub(crate) fn writable(&self) -> Result<()> {
        match self.access {
            Access::ReadWrite => Ok(()),
            Access::ReadOnly => Err(Error::new(
                ErrorKind::Failed,
                "the store was opened for reading",
            )),
        }
    }
}

/// Everything of one transaction. Ends with the sessions that were touched, once each.
pub(crate) fn write_all(
    db: &Connection,
    names: &mut FxHashMap<String, i64>,
    commits: &[Prepared],
    stamp: &Stamp<'_>,
) -> Result<Stored> {
    let mut writer = EpisodeWriter::new(db, names, stamp);
    let mut touched = BTreeSet::new();
    for commit in commits {
        write_one(db, &mut writer, commit, stamp.indexed_at, &mut touched)?;
    }
    sessions::refresh_all(db, &touched).map_err(failed("storing sessions"))?;
    writer.finish().map_err(failed("storing words"))
}

fn write_one<'a>(
    db: &Connection,
    writer: &mut EpisodeWriter<'a>,
    commit: &'a Prepared,
    at: Time,
    touched: &mut BTreeSet<i64>,
) -> Result<()> {
    let known = Known::of(db, &commit.checkpoint.key).map_err(failed("reading checkpoints"))?;
    let moved = match commit.rebuild {
        true => Move::First,
        false => known.step(&commit.checkpoint)?,
    };
    let mut write = || -> rusqlite::Result<()> {
        let session = sessions::upsert(db, &commit.session, commit.standing)?;
        if commit.keeps_out {
            tombstones::keep_out_marked(db, &commit.session.id, at)?;
        }
        let forgotten = tombstones::reason(db, &commit.session.id)?;
        let file = known.write(db, commit, session)?;
        let moves_over = known.session.is_some_and(|old| old != session);
        let begins_anew = commit.rebuild || moved == Move::Renewed;
        if moves_over || begins_anew || records::are_titled(db, file, commit, moved)? {
            Task::Titles.set(db)?;
        }
        if moved == Move::Renewed {
            // Nobody will tell these again; what a run saw stays.
            known.keep_open_tail(db)?;
        }
        if commit.rebuild {
            files::clear_account(db, file)?;
            writer.expect_again(file)?;
        }
        records::write(db, file, commit, moved)?;
        known.write_account(db, file, commit, moved, forgotten)?;
        if forgotten.is_none() {
            writer.write(session, file, commit)?;
            if let Some(times) = commit.times() {
                judge_again(db, &commit.session.project_path, times)?;
            }
            directives::note_said(db, &commit.session.id, &commit.said, at)?;
        }
        if commit.reaches_the_end() {
            writer.remove_stale(file)?;
        }
        touched.insert(session);
        touched.extend(known.session.filter(|old| *old != session));
        Ok(())
    };
    write().map_err(failed("storing"))
}
