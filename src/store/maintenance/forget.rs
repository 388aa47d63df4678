//! The way out: what a person wants gone, by session, by time, by memory; and taking that back. How a
//! session's words go is in `tombstones`.

use crate::model::checkpoint::COPY;
use crate::model::resume_state::{ChunkResumeState, FilterResumeState, ResumeState};
use crate::model::time::Time;
use crate::model::tombstone::{Selection, Tombstones};
use crate::store::error::failed;
use crate::store::ingest::prepare::Row;
use crate::store::ingest::records;
use crate::store::ingest::sessions::{refresh, scrub_summaries};
use crate::store::maintenance::redact::rewrite;
use crate::store::pending_tasks::{Task, after_removal};
use crate::store::removal::{forget_memories, remove, remove_summary};
use crate::store::search::episodes::found_in;
use crate::store::tombstones::{
    ASKED, BY_TIME, Doomed, Forgotten, NOT_FORGOTTEN, clear_files, doomed, gone, keep_out, number,
};
use crate::store::tracking::git::forget_operations_before;
use crate::store::tracking::tracked::forget_files;
use crate::store::{Result, Store};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use rustc_hash::FxHashSet;

impl Store {
    /// Removes everything that is selected: episodes, their words, titles, and what the checkpoints
    /// carry; with `dry`, only says what that would be. Unknown sessions are passed over.
    ///
    /// What stays: tombstones, so that later runs don't bring it back; checkpoints and ledgers, so
    /// that logs aren't read again; hashes of record ids, so that copies of records in other logs
    /// stay out too. The free pages hold the text until [`Store::finish`], of this or any later
    /// run, has compacted the file.
    ///
    /// Of sessions that a time cuts in two, titles, links and branches go too: nobody knows from
    /// which side they are.
    pub fn forget(&mut self, selection: &Selection, at: Time, dry: bool) -> Result<Forgotten> {
        self.writable()?;
        self.dirty |= !dry;
        let forgotten = self
            .forget_all(selection, at, dry)
            .map_err(failed("forgetting"));
        self.names.clear();
        forgotten
    }

    fn forget_all(
        &mut self,
        selection: &Selection,
        at: Time,
        dry: bool,
    ) -> rusqlite::Result<Forgotten> {
        let tx = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut forgotten = Forgotten::default();
        for session in &selection.sessions {
            keep_out(&tx, session, ASKED, at, &mut forgotten)?;
        }
        for (namespace, before) in &selection.before {
            forget_before(&tx, namespace, *before, at, &mut forgotten)?;
        }
        for id in &selection.memories {
            forgotten.memories += forget_memories(&tx, "m.id = ?1", &[&id.as_bytes()])?;
        }
        if let Some(group) = &selection.group {
            forget_messages(&tx, group, &mut forgotten)?;
        }
        if forgotten.memories > 0 {
            after_removal(&tx)?;
        }
        scrub_summaries(&tx)?;
        for session in &selection.sessions {
            forgotten.kin.extend(kin(&tx, session)?);
        }
        match dry {
            true => tx.rollback()?,
            false => tx.commit()?,
        }
        Ok(forgotten)
    }

    /// Everything that is to stay out.
    pub fn tombstones(&self) -> Result<Tombstones> {
        let read = || -> rusqlite::Result<Tombstones> {
            Ok(Tombstones {
                sessions: self
                    .db
                    .prepare("SELECT session FROM forgotten")?
                    .query_map([], |row| row.get(0))?
                    .collect::<rusqlite::Result<_>>()?,
                before: self
                    .db
                    .prepare("SELECT namespace, before FROM forgotten_before ORDER BY namespace")?
                    .query_map([], |row| Ok((row.get(0)?, Time(row.get(1)?))))?
                    .collect::<rusqlite::Result<_>>()?,
            })
        };
        read().map_err(failed("reading tombstones"))
    }

    /// Ids of the sessions of which tombstones of times leave nothing; not of those that have one of their own.
    pub fn forgotten_by_time(&self) -> Result<Vec<String>> {
        let sql = format!("SELECT s.id FROM session s WHERE {BY_TIME} ORDER BY s.id");
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut select = self.db.prepare(&sql)?;
            select.query_map([], |row| row.get(0))?.collect()
        };
        read().map_err(failed("reading tombstones"))
    }

    /// Whether a session that has a log is kept out, or what a tombstone left of it is nothing.
    pub fn is_forgotten(&self, session: &str) -> Result<bool> {
        let sql = format!(
            "SELECT 1 FROM session s WHERE s.id = ?1 AND s.standing >= 0 AND NOT ({NOT_FORGOTTEN})"
        );
        let read = || self.db.prepare_cached(&sql)?.exists([session]);
        read().map_err(failed("reading tombstones"))
    }

    /// Where the logs of a session were when they were last seen.
    pub fn logs_of(&self, session: &str) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare(
                    "SELECT coalesce(file.path, file.key) FROM file
                     JOIN session ON session.n = file.session WHERE session.id = ?1",
                )?
                .query_map([session], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading a session's logs"))
    }

    /// Ids of the sessions with an episode in this group.
    pub fn sessions_of_group(&self, group: &str) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare(
                    "SELECT DISTINCT s.id FROM episode e JOIN session s ON s.n = e.session
                     JOIN name g ON g.n = e.graph
                     WHERE g.text = ?1 AND s.standing >= 0 ORDER BY s.id",
                )?
                .query_map([group], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading a group"))
    }

    /// Takes tombstones back: those of these sessions, and with a time (the present) all that name one; other
    /// sessions of which these left nothing get tombstones of their own. The sessions' logs are unknown
    /// afterwards, so that the next run reads them as new ones.
    pub fn remember(&mut self, sessions: &[String], times: Option<Time>) -> Result<()> {
        self.writable()?;
        self.dirty = true;
        let tx = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed("beginning a transaction"))?;
        let write = || -> rusqlite::Result<()> {
            for session in sessions {
                unknow(&tx, session)?;
            }
            if let Some(at) = times {
                let lost = format!(
                    "INSERT OR IGNORE INTO forgotten (session, reason, at)
                     SELECT s.id, ?1, ?2 FROM session s WHERE {BY_TIME}"
                );
                tx.execute(&lost, params![ASKED, at.0])?;
                tx.execute("DELETE FROM forgotten_before", [])?;
            }
            Ok(())
        };
        write()
            .and_then(|()| tx.commit())
            .map_err(failed("taking a tombstone back"))
    }
}

/// Removes what a group was told of itself.
fn forget_messages(
    db: &Connection,
    group: &str,
    forgotten: &mut Forgotten,
) -> rusqlite::Result<()> {
    let told: Vec<(i64, u64)> = db
        .prepare_cached(
            "SELECT e.n, e.body_bytes FROM episode e JOIN name g ON g.n = e.graph
             WHERE e.source = 'message' AND g.text = ?1",
        )?
        .query_map([group], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (n, bytes) in &told {
        remove(db, *n)?;
        forgotten.episodes += 1;
        forgotten.body_bytes += bytes;
    }
    match told.is_empty() {
        true => Ok(()),
        false => after_removal(db),
    }
}

/// Directives go with the words around them; what a person promoted goes where its project is named.
const MEMORIES_BEFORE: &str = "m.at < ?2 AND (m.origin = 'directive' OR ?1 <> '')
    AND ?1 = substr(coalesce(
        (SELECT s.namespace FROM session s WHERE s.id = m.session),
        (SELECT s.namespace FROM episode e JOIN session s ON s.n = e.session WHERE e.id = m.id)),
        1, length(?1))";

/// Removes the episodes that began before a time, and what sessions and checkpoints tell of it.
fn forget_before(
    tx: &Transaction<'_>,
    namespace: &str,
    before: Time,
    at: Time,
    forgotten: &mut Forgotten,
) -> rusqlite::Result<()> {
    let stood = standing(tx)?;
    tx.execute(
        "INSERT INTO forgotten_before (namespace, before, at) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET before = max(before, excluded.before), at = excluded.at",
        params![namespace, before.0, at.0],
    )?;
    forgotten.memories += forget_memories(tx, MEMORIES_BEFORE, &[&namespace, &before.0])?;
    forget_operations_before(tx, namespace, before)?;
    let old = "substr(s.namespace, 1, length(?1)) = ?1 AND t.at < ?2";
    forget_files(tx, old, &[&namespace, &before.0])?;
    let sessions: Vec<(i64, String)> = tx
        .prepare(
            "SELECT n, id FROM session WHERE substr(namespace, 1, length(?1)) = ?1
             AND standing >= 0 AND (started < ?2 OR EXISTS (SELECT 1 FROM episode e
                 WHERE e.session = session.n AND e.valid_at < ?2))",
        )?
        .query_map(params![namespace, before.0], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (n, id) in sessions {
        let old = tx
            .prepare_cached(
                "SELECT n, body_bytes FROM episode
                 WHERE session = ?1 AND valid_at < ?2 AND source = 'session'",
            )?
            .query_map(params![n, before.0], doomed)?
            .collect::<rusqlite::Result<Vec<Doomed>>>()?;
        gone(tx, &old, forgotten)?;
        if !old.is_empty() {
            forgotten.touched.insert(id);
        }
        remove_summary(tx, n)?;
        untitle(tx, n)?;
        clear_files(tx, n, None, &|resume_state| {
            without_words(resume_state, before)
        })?;
        tx.execute("UPDATE session SET summary = NULL WHERE n = ?1", [n])?;
        // the end went with the facts, which hold words; it is none, and sessions are ordered by it
        let ended: Option<i64> =
            tx.query_row("SELECT ended FROM session WHERE n = ?1", [n], |r| r.get(0))?;
        refresh(tx, n)?;
        tx.execute(
            "UPDATE session SET ended = ?2 WHERE n = ?1",
            params![n, ended],
        )?;
    }
    forgotten.sessions += stood.saturating_sub(standing(tx)?);
    after_removal(tx)
}

/// Sessions that nothing keeps out.
fn standing(tx: &Transaction<'_>) -> rusqlite::Result<u64> {
    let sql = format!("SELECT count(*) FROM session s WHERE {NOT_FORGOTTEN}");
    tx.query_row(&sql, [], |row| row.get(0))
}

/// A session's first prompt is the title of all its episodes: those that are left lose it.
fn untitle(tx: &Transaction<'_>, session: i64) -> rusqlite::Result<()> {
    let left: Vec<i64> = tx
        .prepare_cached("SELECT n FROM episode WHERE session = ?1 AND title <> ''")?
        .query_map([session], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for n in left {
        for found in found_in(tx, "e.n = ?1", &[&n])? {
            let mut episode = found.episode;
            episode.title.clear();
            let sealed = episode.sealed;
            rewrite(tx, n, &Row::new(episode, sealed))?;
        }
    }
    Ok(())
}

/// The folds' state without words from before a time.
fn without_words(mut resume_state: ResumeState, before: Time) -> ResumeState {
    let filter = |state: &mut FilterResumeState| {
        state.queued.clear();
        state.calls.retain(|call| call.time >= Some(before));
    };
    let chunk = |state: &mut ChunkResumeState| state.title = None;
    for stream in &mut resume_state.streams {
        filter(&mut stream.filter);
        chunk(&mut stream.chunk);
        if let Some(end) = &mut stream.end {
            filter(&mut end.filter);
            chunk(&mut end.chunk);
        }
    }
    resume_state
}

/// Sessions that own records of which a session's logs have copies: what was said before the fork
/// is told there.
fn kin(tx: &Connection, session: &str) -> rusqlite::Result<Vec<String>> {
    let Some(n) = number(tx, session)? else {
        return Ok(Vec::new());
    };
    let mine = records::of_session(tx, n)?.into_iter();
    let copies: FxHashSet<u64> = mine
        .filter(|id| id & COPY != 0)
        .map(|id| id & !COPY)
        .collect();
    if copies.is_empty() {
        return Ok(Vec::new());
    }
    let others: Vec<(i64, String)> = tx
        .prepare(
            "SELECT DISTINCT s.n, s.id FROM tie mine JOIN file f ON f.n = mine.file
             JOIN tie theirs ON theirs.name = mine.name JOIN file o ON o.n = theirs.file
             JOIN session s ON s.n = o.session
             WHERE f.session = ?1 AND s.n <> ?1 AND s.id NOT IN (SELECT session FROM forgotten)",
        )?
        .query_map([n], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut kin = Vec::new();
    for (other, id) in others {
        if records::of_session(tx, other)?
            .iter()
            .any(|id| copies.contains(id))
        {
            kin.push(id);
        }
    }
    Ok(kin)
}

/// Takes a session's tombstone and everything that is known of its logs.
fn unknow(tx: &Connection, session: &str) -> rusqlite::Result<()> {
    tx.execute("DELETE FROM forgotten WHERE session = ?1", [session])?;
    tx.execute(
        "DELETE FROM memory WHERE session = ?1 AND state = 'forgotten'",
        [session],
    )?;
    let Some(n) = number(tx, session)? else {
        return Ok(());
    };
    for table in ["fold", "record", "tie", "reject", "unknown_kind", "summary"] {
        let sql =
            format!("DELETE FROM {table} WHERE file IN (SELECT n FROM file WHERE session = ?1)");
        tx.execute(&sql, [n])?;
    }
    tx.execute("DELETE FROM file WHERE session = ?1", [n])?;
    tx.execute("DELETE FROM session WHERE n = ?1", [n])?;
    Task::Titles.set(tx)
}
