//! Files and how far they are in the store: the checkpoints' rows, read and written.

use crate::model::checkpoint::{Checkpoint, Fingerprints, LastSeen};
use crate::model::error::{Error, ErrorKind};
use crate::model::fork::Course;
use crate::model::ledger::{Ledger, REJECTS_MAX, Reject};
use crate::model::resume_state::ResumeState;
use crate::model::session::SessionFacts;
use crate::model::source::Stat;
use crate::store::columns::{agent, hash, int};
use crate::store::compression::{Json, Packed, pack_json};
use crate::store::damaged_rows::sound_or_none;
use crate::store::error::failed;
use crate::store::ingest::prepare::tie_name;
use crate::store::pending_tasks::Task;
use crate::store::{Prepared, Result, Store};
use rusqlite::{Connection, OptionalExtension, Row, params};
use rustc_hash::FxHashSet;
use std::collections::btree_map::{BTreeMap, Entry};

impl Store {
    /// All checkpoints, by key. One pass over a small table: a few ms for thousands of files.
    pub fn checkpoints(&self) -> Result<Vec<Checkpoint>> {
        let read = || -> rusqlite::Result<Vec<Checkpoint>> {
            let sql = format!("{SELECT} ORDER BY f.key");
            let mut select = self.db.prepare_cached(&sql)?;
            select.query_map([], checkpoint)?.collect()
        };
        read().map_err(failed("reading checkpoints"))
    }

    /// How all files were when they were last read, in no order: by key each row would be looked up. One pass
    /// over one small table: a µs or two a file.
    pub fn last_seen(&self) -> Result<Vec<LastSeen>> {
        let read = || -> rusqlite::Result<Vec<LastSeen>> {
            let count = self
                .db
                .query_row("SELECT count(*) FROM file", [], |row| row.get(0))?;
            // a list that doubles needs three times its last size while it is copied
            let mut all = Vec::with_capacity(count);
            let mut select = self.db.prepare_cached(
                "SELECT key, agent, size, mtime_ns, ctime_ns, device, inode,
                     path LIKE '%.zst', offset, line, read_to FROM file",
            )?;
            for seen in select.query_map([], last_seen)? {
                all.push(seen?);
            }
            Ok(all)
        };
        read().map_err(failed("reading checkpoints"))
    }

    /// One file's checkpoint; `None` when the store doesn't know the key.
    pub fn checkpoint(&self, key: &str) -> Result<Option<Checkpoint>> {
        let sql = format!("{SELECT} WHERE f.key = ?1");
        let read = || {
            self.db
                .prepare_cached(&sql)?
                .query_row([key], checkpoint)
                .optional()
        };
        read().map_err(failed("reading a checkpoint"))
    }

    /// The folds' state at a file's checkpoint; `None` when the store doesn't know the key, or when that
    /// or what was counted of the file can't be read.
    pub fn resume_state(&self, key: &str) -> Result<Option<ResumeState>> {
        let read = || -> rusqlite::Result<Option<ResumeState>> {
            let state = self
                .db
                .prepare_cached(
                    "SELECT carry, sealed, tail FROM fold JOIN file ON file.n = fold.file
                     WHERE file.key = ?1",
                )?
                .query_row([key], |row| {
                    let Json(state) = row.get::<_, Json<ResumeState>>(0)?;
                    row.get::<_, Json<State>>(1)?;
                    row.get::<_, Json<State>>(2).map(|_| state)
                });
            Ok(sound_or_none(state.optional())?.flatten())
        };
        read().map_err(failed("reading a carry"))
    }

    /// Keys of the files that have one of these names, or share one with a file that does, and so
    /// on; each with its names. By key.
    pub fn tied(
        &self,
        ties: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Vec<(String, Vec<String>)>> {
        let mut waiting: Vec<i64> = ties.into_iter().map(|tie| tie_name(tie.as_ref())).collect();
        let mut asked: FxHashSet<i64> = waiting.iter().copied().collect();
        let mut found = BTreeMap::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut select = self.db.prepare_cached(
                "SELECT key, ties FROM tie JOIN file ON file.n = tie.file WHERE tie.name = ?1",
            )?;
            while let Some(name) = waiting.pop() {
                let mut rows = select.query([name])?;
                while let Some(row) = rows.next()? {
                    let key: String = row.get(0)?;
                    if let Entry::Vacant(new) = found.entry(key) {
                        let ties = new.insert(names(row, 1)?);
                        let names = ties.iter().map(|tie| tie_name(tie));
                        waiting.extend(names.filter(|name| asked.insert(*name)));
                    }
                }
            }
            Ok(())
        };
        read().map_err(failed("reading a family"))?;
        Ok(found.into_iter().collect())
    }

    /// A file's content was found unchanged under another `stat` or path (touched, moved,
    /// compressed): later runs take it as known. Unknown keys are passed over; a key that is
    /// taken already keeps its file.
    pub fn relocate(&mut self, key: &str, new_key: &str, path: &str, stat: Stat) -> Result<()> {
        self.writable()?;
        let path = (path != new_key).then_some(path);
        let before = self.db.total_changes();
        self.db
            .execute(
                "UPDATE OR IGNORE file SET key = ?2, path = ?3, size = ?4, mtime_ns = ?5,
                     ctime_ns = ?6, device = ?7, inode = ?8
                 WHERE key = ?1 AND (key, path, size, mtime_ns, ctime_ns, device, inode)
                     IS NOT (?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    key,
                    new_key,
                    path,
                    int(stat.size),
                    stat.mtime_ns,
                    stat.ctime_ns,
                    stat.device as i64,
                    stat.inode as i64
                ],
            )
            .map_err(failed("storing a file's place"))?;
        if self.db.total_changes() != before {
            self.dirty = true;
            Task::Titles
                .set(&self.db)
                .map_err(failed("storing a file's place"))?;
        }
        Ok(())
    }
}

fn last_seen(row: &Row<'_>) -> rusqlite::Result<LastSeen> {
    Ok(LastSeen {
        key: row.get(0)?,
        agent: agent(row, 1)?,
        stat: stat(row, 2)?,
        compressed: row.get::<_, Option<bool>>(7)?.unwrap_or(false),
        offset: row.get(8)?,
        line: row.get(9)?,
        read_to: row.get(10)?,
    })
}

/// The five columns of a stat from `first` on.
fn stat(row: &Row<'_>, first: usize) -> rusqlite::Result<Stat> {
    Ok(Stat {
        size: row.get(first)?,
        mtime_ns: row.get(first + 1)?,
        ctime_ns: row.get(first + 2)?,
        device: hash(row, first + 3)?,
        inode: hash(row, first + 4)?,
    })
}

const SELECT: &str = "SELECT f.key, f.path, f.agent, f.size, f.mtime_ns, f.ctime_ns, f.device,
    f.inode, f.generation, f.offset, f.line, f.read_to, f.head_print, f.head_bytes, f.tail_print, s.id,
    f.stream, f.ties, f.content, f.content_to FROM file f JOIN session s ON s.n = f.session";

fn checkpoint(row: &Row<'_>) -> rusqlite::Result<Checkpoint> {
    let key: String = row.get(0)?;
    let path: Option<String> = row.get(1)?;
    Ok(Checkpoint {
        path: path.unwrap_or_else(|| key.clone()),
        key,
        agent: agent(row, 2)?,
        stat: stat(row, 3)?,
        generation: row.get(8)?,
        offset: row.get(9)?,
        line: row.get(10)?,
        read_to: row.get(11)?,
        fingerprints: Fingerprints {
            head: hash(row, 12)?,
            head_bytes: row.get(13)?,
            tail: hash(row, 14)?,
            content: row.get(18)?,
            content_to: row.get(19)?,
        },
        session: row.get(15)?,
        stream: row.get(16)?,
        ties: names(row, 17)?,
    })
}

/// Nothing of the file's row is other than it should be; so too where there is none.
pub(crate) fn check(db: &Connection, n: i64) -> rusqlite::Result<()> {
    let sql = format!("{SELECT} WHERE f.n = ?1");
    let read = db.prepare_cached(&sql)?.query_row([n], checkpoint);
    read.optional().map(drop)
}

/// A column with a name on each line.
fn names(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let names = row.get_ref(column)?.as_str()?.lines();
    Ok(names.map(str::to_string).collect())
}

/// What a commit is to a file's checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// The store didn't know the file.
    First,
    /// The offset moved on: the commit's increments are news.
    Onward,
    /// Only the open tail is told anew: there are no increments.
    Tail,
    /// A new generation: its account starts afresh, what was stored stays.
    Renewed,
}

/// What the store knows of a file before a commit.
#[derive(Debug, Default)]
pub(crate) struct Known {
    n: Option<i64>,
    generation: u32,
    offset: u64,
    /// `session.n`.
    pub(crate) session: Option<i64>,
    ties: String,
}

impl Known {
    pub(crate) fn of(db: &Connection, key: &str) -> rusqlite::Result<Known> {
        let known = db
            .prepare_cached("SELECT n, generation, offset, session, ties FROM file WHERE key = ?1")?
            .query_row([key], |row| {
                Ok(Known {
                    n: row.get(0)?,
                    generation: row.get(1)?,
                    offset: row.get(2)?,
                    session: row.get(3)?,
                    ties: row.get(4)?,
                })
            })
            .optional()?;
        Ok(known.unwrap_or_default())
    }

    /// What `next` is to it; an error when it goes backwards.
    pub(crate) fn step(&self, next: &Checkpoint) -> Result<Move> {
        if self.n.is_none() {
            return Ok(Move::First);
        }
        let (has, wants) = (
            (self.generation, self.offset),
            (next.generation, next.offset),
        );
        match has.0.cmp(&wants.0).then(has.1.cmp(&wants.1)) {
            _ if has.0 < wants.0 => Ok(Move::Renewed),
            std::cmp::Ordering::Less => Ok(Move::Onward),
            std::cmp::Ordering::Equal => Ok(Move::Tail),
            std::cmp::Ordering::Greater => Err(Error::new(
                ErrorKind::Failed,
                format!("the checkpoint of {} would go backwards", next.path),
            )
            .hinted("sessionmill run")),
        }
    }

    /// Writes the checkpoint's row and ties; gives `file.n`.
    pub(crate) fn write(
        &self,
        db: &Connection,
        commit: &Prepared,
        session: i64,
    ) -> rusqlite::Result<i64> {
        let c = &commit.checkpoint;
        let values = params![
            c.key,
            (c.path != c.key).then_some(&c.path),
            c.agent.as_str(),
            session,
            c.stream,
            int(c.stat.size),
            c.stat.mtime_ns,
            c.stat.ctime_ns,
            c.stat.device as i64,
            c.stat.inode as i64,
            c.generation,
            int(c.offset),
            int(c.line),
            int(c.read_to),
            c.fingerprints.head as i64,
            int(c.fingerprints.head_bytes),
            c.fingerprints.tail as i64,
            c.ties.join("\n"),
            c.fingerprints.content,
            int(c.fingerprints.content_to),
        ];
        if let Some(n) = self.n {
            db.prepare_cached(UPDATE)?.execute(values)?;
            self.write_ties(db, n, commit)?;
            return Ok(n);
        }
        let n = db.prepare_cached(INSERT)?.insert(values)?;
        self.write_ties(db, n, commit)?;
        Ok(n)
    }

    fn write_ties(&self, db: &Connection, n: i64, commit: &Prepared) -> rusqlite::Result<()> {
        let unchanged = self.ties == commit.checkpoint.ties.join("\n");
        if self.n.is_some() && !unchanged {
            // the log was too short to tell when it was first read
            db.prepare_cached("DELETE FROM tie WHERE file = ?1")?
                .execute([n])?;
        }
        let mut insert =
            db.prepare_cached("INSERT OR IGNORE INTO tie (name, file) VALUES (?1, ?2)")?;
        for tie in &commit.ties {
            insert.execute([*tie, n])?;
        }
        Ok(())
    }

    /// The open episodes of the generation before are not told again: they stay as they are.
    pub(crate) fn keep_open_tail(&self, db: &Connection) -> rusqlite::Result<()> {
        db.prepare_cached("UPDATE episode SET sealed = 1 WHERE file = ?1 AND sealed = 0")?
            .execute([self.n])?;
        Ok(())
    }

    /// Writes resume state, ledgers, facts, rejects and unknown kinds.
    pub(crate) fn write_account(
        &self,
        db: &Connection,
        file: i64,
        commit: &Prepared,
        moved: Move,
        forgotten: Option<&'static str>,
    ) -> rusqlite::Result<()> {
        let sealed = match moved {
            Move::First => None,
            Move::Tail => Some(stored_state(db, file)?),
            Move::Onward | Move::Renewed => Some(self.merged_state(db, file, commit, moved)?),
        };
        let sealed = sealed.as_ref().unwrap_or(&commit.sealed_state);
        if let Some(reason) = forgotten {
            // resume state and facts hold words; ledgers don't
            let nothing = pack_json(&ResumeState::default());
            let sealed = withheld(sealed, reason)?;
            let tail = withheld(&commit.tail_state, reason)?;
            db.prepare_cached(FOLD)?
                .execute(params![file, nothing, sealed, tail])?;
        } else {
            let values = params![file, commit.resume_state, sealed, commit.tail_state];
            db.prepare_cached(FOLD)?.execute(values)?;
            let mut insert = db.prepare_cached(
                "INSERT OR IGNORE INTO summary (leaf, file, text) VALUES (?1, ?2, ?3)",
            )?;
            let mut inserted = 0;
            for (leaf, text) in &commit.summaries {
                inserted += insert.execute(params![leaf, file, text])?;
            }
            // the records that these are titles of may be in a file that is read later
            if inserted > 0 {
                Task::Titles.set(db)?;
            }
        }
        if moved == Move::Renewed {
            db.prepare_cached("DELETE FROM reject WHERE file = ?1")?
                .execute([file])?;
            db.prepare_cached("DELETE FROM unknown_kind WHERE file = ?1")?
                .execute([file])?;
        }
        self.drop_rejects(db, file, &commit.rejects)?;
        write_oddities(db, file, commit)
    }

    /// Takes out refused records of the open tail that are not told again: the file was damaged
    /// there and isn't any more.
    fn drop_rejects(
        &self,
        db: &Connection,
        file: i64,
        reported: &[Reject],
    ) -> rusqlite::Result<()> {
        let held: Vec<i64> = db
            .prepare_cached("SELECT offset FROM reject WHERE file = ?1 AND offset >= ?2")?
            .query_map(params![file, int(self.offset)], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let again = |offset: &i64| reported.iter().any(|r| int(r.place.offset) == *offset);
        for gone in held.iter().filter(|offset| !again(offset)) {
            db.prepare_cached("DELETE FROM reject WHERE file = ?1 AND offset = ?2")?
                .execute([file, *gone])?;
        }
        Ok(())
    }

    /// What was before the checkpoint and what the commit adds to it.
    fn merged_state(
        &self,
        db: &Connection,
        file: i64,
        commit: &Prepared,
        moved: Move,
    ) -> rusqlite::Result<Packed> {
        let stored = stored_state(db, file)?.json().map_err(Into::into);
        let (mut ledger, mut facts): State = sound_or_none(stored)?.unwrap_or_default();
        if moved == Move::Renewed {
            // Titles and links stay, what is counted is counted anew.
            ledger = Ledger::default();
            (facts.compactions, facts.interruptions) = (0, 0);
            facts.course = Course::default();
        }
        ledger.merge(&commit.ledger);
        facts.merge(&commit.facts);
        Ok(pack_json(&(ledger, facts)))
    }
}

type State = (Ledger, SessionFacts);

fn stored_state(db: &Connection, file: i64) -> rusqlite::Result<Packed> {
    db.prepare_cached("SELECT sealed FROM fold WHERE file = ?1")?
        .query_row([file], |row| Ok(Packed::of(row.get_ref(0)?)?))
}

/// The account of a session that stays out.
fn withheld(state: &Packed, reason: &'static str) -> rusqlite::Result<Packed> {
    let stored = state.json::<State>().map_err(Into::into);
    let (mut ledger, _) = sound_or_none(stored)?.unwrap_or_default();
    ledger.withhold(reason);
    Ok(pack_json(&(ledger, SessionFacts::default())))
}

/// Places of refused lines and unknown kinds: of each, a file's first ones.
fn write_oddities(db: &Connection, file: i64, commit: &Prepared) -> rusqlite::Result<()> {
    write_rejects(db, file, &commit.rejects)?;
    let mut insert = db.prepare_cached(
        "INSERT INTO unknown_kind (kind, file, offset, bytes, line, time)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET (offset, bytes, line, time)
             = (excluded.offset, excluded.bytes, excluded.line, excluded.time)
         WHERE excluded.offset < offset",
    )?;
    for unknown in &commit.unknown {
        let place = unknown.place;
        let (offset, bytes, line) = (int(place.offset), int(place.bytes), int(place.line));
        let time = unknown.time.map(|t| t.0);
        insert.execute(params![unknown.name, file, offset, bytes, line, time])?;
    }
    Ok(())
}

fn write_rejects(db: &Connection, file: i64, rejects: &[Reject]) -> rusqlite::Result<()> {
    let Some(first) = rejects.first() else {
        return Ok(());
    };
    let before: usize = db
        .prepare_cached("SELECT count(*) FROM reject WHERE file = ?1 AND offset < ?2")?
        .query_row(params![file, int(first.place.offset)], |row| row.get(0))?;
    let mut insert = db.prepare_cached(
        "INSERT INTO reject (file, offset, bytes, line, reason) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET (bytes, line, reason)
             = (excluded.bytes, excluded.line, excluded.reason)
         WHERE (bytes, line, reason) IS NOT (excluded.bytes, excluded.line, excluded.reason)",
    )?;
    for reject in rejects.iter().take(REJECTS_MAX.saturating_sub(before)) {
        let place = reject.place;
        let (offset, bytes, line) = (int(place.offset), int(place.bytes), int(place.line));
        insert.execute(params![file, offset, bytes, line, reject.reason])?;
    }
    Ok(())
}

const INSERT: &str =
    "INSERT INTO file (key, path, agent, session, stream, size, mtime_ns, ctime_ns,
    device, inode, generation, offset, line, read_to, head_print, head_bytes, tail_print, ties,
    content, content_to)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)";

const UPDATE: &str = "UPDATE file SET (path, agent, session, stream, size, mtime_ns, ctime_ns,
    device, inode, generation, offset, line, read_to, head_print, head_bytes, tail_print, ties,
    content, content_to)
    = (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
    WHERE key = ?1 AND (path, agent, session, stream, size, mtime_ns, ctime_ns,
    device, inode, generation, offset, line, read_to, head_print, head_bytes, tail_print, ties,
    content, content_to)
    IS NOT (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)";

const FOLD: &str = "INSERT INTO fold (file, carry, sealed, tail) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT DO UPDATE SET (carry, sealed, tail)
        = (excluded.carry, excluded.sealed, excluded.tail)
    WHERE (carry, sealed, tail) IS NOT (excluded.carry, excluded.sealed, excluded.tail)";

/// Takes back what a file's account says, before it is told again (`run --rebuild`).
pub(crate) fn clear_account(db: &Connection, file: i64) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM record WHERE file = ?1",
        "DELETE FROM reject WHERE file = ?1",
        "DELETE FROM unknown_kind WHERE file = ?1",
    ] {
        db.prepare_cached(sql)?.execute([file])?;
    }
    Ok(())
}
