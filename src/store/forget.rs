//! The way out: sessions that a person wants gone, and giving the room back.
//! Knows every table that holds what a session said; refuses to keep a trace of it but its id.

use super::fault::failed;
use super::pack::pack_json;
use super::write::remove;
use super::{Result, Store};
use crate::model::carry::Carry;
use crate::model::ledger::Ledger;
use crate::model::session::SessionFacts;
use crate::model::time::Time;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Episodes removed.
    pub episodes: u64,
    /// UTF-8 bytes of their texts.
    pub body_bytes: u64,
    /// Log files that are passed over from now on.
    pub files: u64,
}

/// What compacting gained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes on disk before.
    pub before: u64,
    /// Bytes on disk after.
    pub after: u64,
}

impl Store {
    /// Removes everything that the session with exactly this id said: episodes, their words,
    /// titles, and what the checkpoints carry. `None` when the store doesn't know it.
    ///
    /// What stays: a tombstone, so that later runs don't bring it back; checkpoints and ledgers,
    /// so that its logs aren't read again; hashes of record ids, so that copies of its records in
    /// other logs stay out too. The free pages still hold the text until [`Store::compact`].
    pub fn forget(&mut self, session: &str, at: Time) -> Result<Option<Forgotten>> {
        self.writable()?;
        self.dirty = true;
        let forgotten = forget_one(&mut self.db, session, at).map_err(failed("forgetting"));
        self.names.clear();
        forgotten
    }

    /// Ids of the forgotten sessions, in order.
    pub fn forgotten(&self) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare("SELECT session FROM forgotten ORDER BY session")?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading tombstones"))
    }

    /// Merges the index into one segment, rewrites the file without free pages, cuts the
    /// write-ahead log. Needs as much free disk as the store has; seconds per GB.
    pub fn compact(&mut self) -> Result<Compacted> {
        self.writable()?;
        let before = self.bytes_on_disk();
        self.db
            .execute_batch("INSERT INTO words (words) VALUES ('optimize'); VACUUM;")
            .map_err(failed("compacting"))?;
        self.truncate_log()?;
        let after = self.bytes_on_disk();
        Ok(Compacted { before, after })
    }
}

/// A person wanted this session gone.
pub(super) fn is_forgotten(db: &Connection, session: &str) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM forgotten WHERE session = ?1")?
        .exists([session])
}

fn forget_one(db: &mut Connection, session: &str, at: Time) -> rusqlite::Result<Option<Forgotten>> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known: Vec<i64> = tx
        .prepare("SELECT n FROM session WHERE id = ?1")?
        .query_map([session], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let Some(n) = known.first().copied() else {
        return Ok(None);
    };
    tx.execute(
        "INSERT OR IGNORE INTO forgotten (session, at) VALUES (?1, ?2)",
        params![session, at.0],
    )?;
    let forgotten = remove_episodes(&tx, n)?;
    clear_files(&tx, n)?;
    tx.execute(
        "UPDATE session SET summary = NULL, title = NULL, branch = NULL, facts = ?2 WHERE n = ?1",
        params![n, pack_json(&SessionFacts::default())],
    )?;
    tx.execute(
        "DELETE FROM name WHERE n NOT IN (SELECT path FROM episode_path
             UNION SELECT tool FROM episode_tool UNION SELECT made_by FROM episode
             UNION SELECT graph FROM episode)",
        [],
    )?;
    tx.commit()?;
    Ok(Some(forgotten))
}

fn remove_episodes(tx: &Transaction<'_>, session: i64) -> rusqlite::Result<Forgotten> {
    let episodes: Vec<(i64, u64)> = tx
        .prepare("SELECT n, body_bytes FROM episode WHERE session = ?1")?
        .query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (n, _) in &episodes {
        remove(tx, *n)?;
    }
    let files = "SELECT count(*) FROM file WHERE session = ?1";
    Ok(Forgotten {
        episodes: episodes.len() as u64,
        body_bytes: episodes.iter().map(|(_, bytes)| bytes).sum(),
        files: tx.query_row(files, [session], |row| row.get(0))?,
    })
}

/// Carry and facts hold words; ledgers don't.
fn clear_files(tx: &Transaction<'_>, session: i64) -> rusqlite::Result<()> {
    type State = super::pack::Json<(Ledger, SessionFacts)>;
    let folds: Vec<(i64, State, State)> = tx
        .prepare(
            "SELECT fold.file, sealed, tail FROM fold JOIN file ON file.n = fold.file
             WHERE file.session = ?1",
        )?
        .query_map([session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (file, sealed, tail) in folds {
        let without_facts = |state: State| pack_json(&(state.0.0, SessionFacts::default()));
        let carry = pack_json(&Carry::default());
        tx.execute(
            "UPDATE fold SET (carry, sealed, tail) = (?2, ?3, ?4) WHERE file = ?1",
            params![file, carry, without_facts(sealed), without_facts(tail)],
        )?;
        tx.execute("DELETE FROM summary WHERE file = ?1", [file])?;
    }
    Ok(())
}
