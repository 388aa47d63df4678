//! Files of tracked projects: the catalogue of what was seen, and episodes with what they tell of a
//! file.

use crate::model::episode::Episode;
use crate::model::file::{FileFacts, Hashes, Known};
use crate::model::git::FileOperation;
use crate::model::source::Stat;
use crate::model::time::Time;
use crate::store::columns::int;
use crate::store::compression::{Json, pack_json};
use crate::store::damaged_rows::sound_or_none;
use crate::store::error::failed;
use crate::store::ingest::prepare::Row as EpisodeRow;
use crate::store::ingest::without_log::{NO_FILE, Project, session_without_log};
use crate::store::ingest::write::EpisodeWriter;
use crate::store::ingest::write::{Stamp, Stored};
use crate::store::pending_tasks::after_removal;
use crate::store::removal::remove;
use crate::store::search::episodes::found_in;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, Row, params};
use rustc_hash::FxHashMap;
use uuid::Uuid;

/// `episode.made_by`.
const MADE_BY: &str = "files";

/// The session without a log that these episodes stand in is called so, with the namespace behind it.
const SESSION: &str = "files";

/// A tracked project as the store has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackedRow {
    /// Its number; 0: no look saw it yet.
    pub n: i64,
    /// Since when it is not looked at.
    pub paused_at: Option<Time>,
    /// When a look last found news.
    pub changed_at: Option<Time>,
    /// Git operations up to this number were there before the last look that found news.
    pub told_to: i64,
}

/// What becomes of the episode that had a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Supersede {
    /// It goes.
    Remove(Uuid),
    /// It stays, and says since when it is not so any more, and why.
    Invalid {
        /// Which one.
        episode: Uuid,
        /// Since when.
        at: Time,
        /// In a few words.
        why: String,
    },
}

/// All that a change of one file does, ready to be written.
#[derive(Clone, Debug, Default)]
pub struct FileUnit {
    /// Its row, with the print; `None`: it has none any more.
    pub known: Option<(Known, u64)>,
    /// Whose row.
    pub path: Vec<u8>,
    /// Where it was before: that row goes.
    pub previous: Option<Vec<u8>>,
    /// Done before anything is written.
    pub supersedes: Option<Supersede>,
    episodes: Vec<(EpisodeRow, Vec<u8>, FileFacts)>,
}

impl FileUnit {
    /// A file's row alone; `None`: it has none any more.
    pub fn of(path: &[u8], known: Option<(Known, u64)>) -> FileUnit {
        FileUnit {
            known,
            path: path.to_vec(),
            ..FileUnit::default()
        }
    }

    /// Adds an episode that tells of the file at `path`. Does everything that needs no store.
    pub fn tell(&mut self, episode: Episode, path: &[u8], facts: FileFacts) {
        let row = EpisodeRow::new(episode, true);
        self.episodes.push((row, path.to_vec(), facts));
    }
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFailure {
    /// Which one.
    pub path: Vec<u8>,
    /// What `stat` said.
    pub print: u64,
    /// The first time.
    pub at: Time,
    /// Never content.
    pub reason: String,
}

impl Store {
    /// What is known of the project at this root.
    pub fn tracked_project(&self, root: &str) -> Result<TrackedRow> {
        let row = self
            .db
            .query_row(
                "SELECT n, paused_at, changed_at, told_to FROM tracked_project WHERE root = ?1",
                [root],
                |row| {
                    Ok(TrackedRow {
                        n: row.get(0)?,
                        paused_at: row.get::<_, Option<i64>>(1)?.map(Time),
                        changed_at: row.get::<_, Option<i64>>(2)?.map(Time),
                        told_to: row.get(3)?,
                    })
                },
            )
            .optional();
        let row = row.map_err(failed("reading a tracked project"))?;
        Ok(row.unwrap_or_default())
    }

    /// Paths and prints of a project's catalogue.
    pub fn tracked_prints(&self, project: i64) -> Result<FxHashMap<Box<[u8]>, u64>> {
        let read = || -> rusqlite::Result<FxHashMap<Box<[u8]>, u64>> {
            let mut select = self
                .db
                .prepare_cached("SELECT path, print FROM tracked_file WHERE project = ?1")?;
            let mut rows = select.query([project])?;
            let mut all = FxHashMap::default();
            while let Some(row) = rows.next()? {
                let path = row.get_ref(0)?.as_blob()?.into();
                all.insert(path, row.get::<_, i64>(1)? as u64);
            }
            Ok(all)
        };
        read().map_err(failed("reading the files of a project"))
    }

    /// A file as the catalogue has it.
    pub fn tracked_file(&self, project: i64, path: &[u8]) -> Result<Option<Known>> {
        let sql = format!("SELECT {KNOWN} FROM tracked_file WHERE project = ?1 AND path = ?2");
        let read = || -> rusqlite::Result<Option<Known>> {
            let mut select = self.db.prepare_cached(&sql)?;
            select.query_row(params![project, path], known).optional()
        };
        read().map_err(failed("reading a file of a project"))
    }

    /// All files of a catalogue, by path.
    pub fn tracked_files(&self, project: i64) -> Result<Vec<(Vec<u8>, Known)>> {
        let sql =
            format!("SELECT {KNOWN}, path FROM tracked_file WHERE project = ?1 ORDER BY path");
        let read = || -> rusqlite::Result<Vec<(Vec<u8>, Known)>> {
            let mut select = self.db.prepare_cached(&sql)?;
            let rows = select.query_map([project], |row| Ok((row.get(7)?, known(row)?)))?;
            rows.collect()
        };
        read().map_err(failed("reading the files of a project"))
    }

    /// How many files a catalogue has.
    pub fn count_tracked(&self, project: i64) -> Result<u64> {
        let sql = "SELECT count(*) FROM tracked_file WHERE project = ?1";
        self.db
            .query_row(sql, [project], |row| row.get(0))
            .map_err(failed("counting the files of a project"))
    }

    /// The last episode with the content of a file, and what it tells; `None`: there is none.
    pub fn last_content(&self, project: i64, path: &[u8]) -> Result<Option<(Uuid, FileFacts)>> {
        let read = || -> rusqlite::Result<Option<(Uuid, FileFacts)>> {
            let last = self
                .db
                .prepare_cached(
                    "SELECT episode, facts FROM tracked_episode
                     WHERE project = ?1 AND path = ?2 AND operation IN ('create', 'update')
                     ORDER BY at DESC, n DESC LIMIT 1",
                )?
                .query_row(params![project, path], |row| {
                    let Json(facts) = row.get(1)?;
                    Ok((Uuid::from_bytes(row.get(0)?), facts))
                });
            Ok(sound_or_none(last.optional())?.flatten())
        };
        read().map_err(failed("reading what a file was"))
    }

    /// What an episode tells of a file; `None`: it tells of none.
    pub fn file_facts(&self, episode: Uuid) -> Result<Option<FileFacts>> {
        self.db
            .prepare_cached("SELECT facts FROM tracked_episode WHERE episode = ?1")
            .and_then(|mut select| {
                let facts = select.query_row([episode.as_bytes()], |row| row.get(0));
                let facts = sound_or_none(facts.optional())?.flatten();
                Ok(facts.map(|Json(facts)| facts))
            })
            .map_err(failed("reading what an episode tells"))
    }

    /// Files of a project that could not be read, by path.
    pub fn file_failures(&self, project: i64) -> Result<Vec<FileFailure>> {
        let read = || -> rusqlite::Result<Vec<FileFailure>> {
            self.db
                .prepare_cached(
                    "SELECT path, print, at, reason FROM tracked_failure
                     WHERE project = ?1 ORDER BY path",
                )?
                .query_map([project], |row| {
                    Ok(FileFailure {
                        path: row.get(0)?,
                        print: row.get::<_, i64>(1)? as u64,
                        at: Time(row.get(2)?),
                        reason: row.get(3)?,
                    })
                })?
                .collect()
        };
        read().map_err(failed("reading what could not be read"))
    }

    /// Notes what could not be read, and takes out what could be now.
    pub fn put_failures(
        &mut self,
        root: &str,
        failures: &[FileFailure],
        better: &[Vec<u8>],
    ) -> Result<()> {
        if failures.is_empty() && better.is_empty() {
            return Ok(());
        }
        self.write_transaction("noting what could not be read", |tx| {
            let n = project_row(tx, root)?;
            for path in better {
                tx.prepare_cached("DELETE FROM tracked_failure WHERE project = ?1 AND path = ?2")?
                    .execute(params![n, path])?;
            }
            for failure in failures {
                tx.prepare_cached(
                    "INSERT OR REPLACE INTO tracked_failure VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![
                    n,
                    failure.path,
                    failure.print as i64,
                    failure.at.0,
                    failure.reason
                ])?;
            }
            Ok(())
        })
    }

    /// Stores what became of some files, in one transaction.
    pub fn put_files(
        &mut self,
        project: &Project,
        group: &str,
        units: &[FileUnit],
        at: Time,
    ) -> Result<Stored> {
        let mut names = std::mem::take(&mut self.names);
        let mut stored = Stored::default();
        let put = self.write_transaction("storing files", |tx| {
            let stamp = Stamp {
                indexed_at: at,
                group,
            };
            stored = put_all(tx, &mut names, project, &stamp, units)?;
            Ok(())
        });
        self.names.clear();
        put.map(|()| stored)
    }

    /// A look is over that found news.
    pub fn looked(&mut self, root: &str, at: Time, told_to: i64) -> Result<()> {
        self.write_transaction("noting a look", |tx| {
            let n = project_row(tx, root)?;
            tx.execute(
                "UPDATE tracked_project SET (changed_at, told_to) = (?2, ?3) WHERE n = ?1",
                params![n, at.0, told_to],
            )
            .map(drop)
        })
    }

    /// Stops looking at a project, or goes on with it; `false`: so it was.
    pub fn pause_project(&mut self, root: &str, paused_at: Option<Time>) -> Result<bool> {
        let is_paused = self.tracked_project(root)?.paused_at.is_some();
        if is_paused == paused_at.is_some() {
            return Ok(false);
        }
        self.write_transaction("pausing a project", |tx| {
            let n = project_row(tx, root)?;
            tx.execute(
                "UPDATE tracked_project SET paused_at = ?2 WHERE n = ?1",
                params![n, paused_at.map(|at| at.0)],
            )
            .map(drop)
        })?;
        Ok(true)
    }

    /// Takes a project out of the catalogue; with `forgets`, its episodes too. Gives how many went.
    pub fn remove_tracked(&mut self, root: &str, forgets: bool) -> Result<u64> {
        let row = self.tracked_project(root)?;
        let mut gone = 0;
        self.write_transaction("removing a project's files", |tx| {
            for table in ["tracked_file", "tracked_failure"] {
                tx.execute(&format!("DELETE FROM {table} WHERE project = ?1"), [row.n])?;
            }
            if forgets {
                gone = forget_files(tx, "t.project = ?1", &[&row.n])?;
                gone += forget_written(tx, root)?;
                tx.execute("DELETE FROM tracked_project WHERE n = ?1", [row.n])?;
            }
            Ok(())
        })?;
        Ok(gone)
    }

    /// The number of the git operation that was stored last.
    pub fn last_operation(&self) -> Result<i64> {
        let sql = "SELECT coalesce(max(n), 0) FROM git_operation";
        self.db
            .query_row(sql, [], |row| row.get(0))
            .map_err(failed("reading git operations"))
    }

    /// Episodes of files that the sink with this number has still to get, at most so many.
    pub fn files_waiting(&self, sink: i64, limit: u64) -> Result<u64> {
        self.db
            .query_row(
                "SELECT count(*) FROM (SELECT 1 FROM tracked_episode t JOIN episode e ON e.id = t.episode
                 WHERE e.n > (SELECT clean_to FROM sink WHERE n = ?1) AND NOT EXISTS (
                     SELECT 1 FROM delivery d WHERE d.id = e.id AND d.sink = ?1
                       AND d.revision = e.revision
                       AND d.state NOT IN ('gone', 'kept', 'queued', 'sent'))
                 LIMIT ?2)",
                params![sink, int(limit)],
                |row| row.get(0),
            )
            .map_err(failed("counting what waits"))
    }
}

const KNOWN: &str = "size, mtime_ns, inode, sha256, blob, episode, operation";

fn known(row: &Row<'_>) -> rusqlite::Result<Known> {
    let sha256: Option<String> = row.get(3)?;
    let operation: Option<String> = row.get(6)?;
    Ok(Known {
        stat: Stat {
            size: row.get(0)?,
            mtime_ns: row.get(1)?,
            inode: row.get::<_, i64>(2)? as u64,
            ..Stat::default()
        },
        hashes: match sha256 {
            Some(sha256) => Some(Hashes {
                sha256,
                blob: row.get(4)?,
            }),
            None => None,
        },
        episode: row.get::<_, Option<[u8; 16]>>(5)?.map(Uuid::from_bytes),
        operation: operation.as_deref().and_then(FileOperation::parse),
    })
}

fn project_row(db: &Connection, root: &str) -> rusqlite::Result<i64> {
    db.prepare_cached("INSERT OR IGNORE INTO tracked_project (root) VALUES (?1)")?
        .execute([root])?;
    db.prepare_cached("SELECT n FROM tracked_project WHERE root = ?1")?
        .query_row([root], |row| row.get(0))
}

fn put_all(
    db: &Connection,
    names: &mut FxHashMap<String, i64>,
    project: &Project,
    stamp: &Stamp<'_>,
    units: &[FileUnit],
) -> rusqlite::Result<Stored> {
    let n = project_row(db, &project.path)?;
    let session = session_without_log(db, SESSION, project)?;
    let invalid: Vec<Option<(EpisodeRow, FileFacts)>> = units
        .iter()
        .map(|unit| invalid(db, unit.supersedes.as_ref()))
        .collect::<rusqlite::Result<_>>()?;
    let mut writer = EpisodeWriter::new(db, names, stamp);
    for (unit, invalid) in units.iter().zip(&invalid) {
        if let Some(Supersede::Remove(id)) = unit.supersedes
            && is_ours(db, id)?
        {
            writer.remove_id(id)?;
            db.prepare_cached("DELETE FROM tracked_episode WHERE episode = ?1")?
                .execute([id.as_bytes()])?;
        }
        if let Some((row, facts)) = invalid {
            writer.upsert(session, NO_FILE, row, MADE_BY)?;
            db.prepare_cached(
                "UPDATE tracked_episode SET (facts, invalid_at) = (?2, ?3) WHERE episode = ?1",
            )?
            .execute(params![
                row.episode.id.as_bytes(),
                pack_json(facts),
                facts.invalid_at.map(|at| at.0)
            ])?;
        }
        for (row, path, facts) in &unit.episodes {
            writer.upsert(session, NO_FILE, row, MADE_BY)?;
            put_facts(db, n, row, path, facts)?;
        }
        put_known(db, n, unit)?;
    }
    writer.finish()
}

/// What git did stays told, whatever came after it.
fn is_ours(db: &Connection, id: Uuid) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM episode WHERE id = ?1 AND source = 'filesystem_watch'")?
        .exists([id.as_bytes()])
}

fn put_facts(
    db: &Connection,
    project: i64,
    row: &EpisodeRow,
    path: &[u8],
    facts: &FileFacts,
) -> rusqlite::Result<()> {
    let episode = &row.episode;
    db.prepare_cached(
        "INSERT INTO tracked_episode (episode, project, path, operation, at, facts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (episode) DO UPDATE SET
             (project, path, operation, at, facts, invalid_at) = (?2, ?3, ?4, ?5, ?6, NULL)",
    )?
    .execute(params![
        episode.id.as_bytes(),
        project,
        path,
        facts.operation.map_or("update", FileOperation::as_str),
        episode.valid_at.unwrap_or_default().0,
        pack_json(facts)
    ])?;
    if let Some(batch) = facts.git_batch_id {
        db.prepare_cached(
            "INSERT OR IGNORE INTO git_episode (episode, operation) VALUES (?1, ?2)",
        )?
        .execute(params![episode.id.as_bytes(), batch.as_bytes()])?;
    }
    Ok(())
}

fn put_known(db: &Connection, project: i64, unit: &FileUnit) -> rusqlite::Result<()> {
    let delete = |path: &[u8]| {
        db.prepare_cached("DELETE FROM tracked_file WHERE project = ?1 AND path = ?2")?
            .execute(params![project, path])
    };
    if let Some(previous) = &unit.previous {
        delete(previous)?;
    }
    let Some((known, print)) = &unit.known else {
        return delete(&unit.path).map(drop);
    };
    let hashes = known.hashes.as_ref();
    db.prepare_cached(
        "INSERT OR REPLACE INTO tracked_file VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        project,
        unit.path,
        *print as i64,
        int(known.stat.size),
        known.stat.mtime_ns,
        known.stat.inode as i64,
        hashes.map(|hashes| &hashes.sha256),
        hashes.map(|hashes| &hashes.blob),
        known.episode.as_ref().map(Uuid::as_bytes),
        known.operation.map(FileOperation::as_str)
    ])
    .map(drop)
}

/// The episode that is to be marked, marked; `None`: none, it is gone, or it was marked before.
fn invalid(
    db: &Connection,
    supersedes: Option<&Supersede>,
) -> rusqlite::Result<Option<(EpisodeRow, FileFacts)>> {
    let Some(Supersede::Invalid { episode, at, why }) = supersedes else {
        return Ok(None);
    };
    let found = found_in(db, "e.id = ?1", &[&episode.as_bytes().as_slice()])?.pop();
    let facts = db
        .prepare_cached("SELECT facts FROM tracked_episode WHERE episode = ?1")?
        .query_row([episode.as_bytes()], |row| row.get::<_, Json<FileFacts>>(0))
        .optional();
    let facts = sound_or_none(facts)?.flatten();
    let Some((found, Json(mut facts))) = found.zip(facts) else {
        return Ok(None);
    };
    if facts.invalid_at.is_some() {
        return Ok(None);
    }
    facts.invalid_at = Some(*at);
    let mut episode = found.episode;
    episode.text = format!(
        "(not valid since {}: {why})\n\n{}",
        at.rfc3339(),
        episode.text
    );
    episode.ended_at = Some(*at);
    Ok(Some((EpisodeRow::new(episode, true), facts)))
}

/// Removes what is told of files that git wrote in the repository at this root, or in one below it that is no
/// tracked project of its own: it may have their content. Gives how many.
fn forget_written(db: &Connection, root: &str) -> rusqlite::Result<u64> {
    let gone: Vec<([u8; 16], i64)> = db
        .prepare_cached(
            "SELECT e.id, e.n FROM episode e JOIN session s ON s.n = e.session
             WHERE e.source = 'git_bulk_update'
               AND (s.project_path = ?1 OR substr(s.project_path, 1, length(?1) + 1) = ?1 || '/')
               AND NOT EXISTS (
                   SELECT 1 FROM tracked_project p WHERE length(p.root) > length(?1)
                     AND (s.project_path = p.root
                          OR substr(s.project_path, 1, length(p.root) + 1) = p.root || '/'))",
        )?
        .query_map([root], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    forget_all(db, &gone)
}

/// Removes the episodes of files that a condition on `t` (its rows) and `s` (their sessions) names;
/// gives how many. The catalogue keeps what it saw, so that they don't come back.
pub(crate) fn forget_files(
    db: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<u64> {
    let sql = format!(
        "SELECT t.episode, e.n FROM tracked_episode t JOIN episode e ON e.id = t.episode
         JOIN session s ON s.n = e.session WHERE {condition}"
    );
    let gone: Vec<([u8; 16], i64)> = db
        .prepare_cached(&sql)?
        .query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    forget_all(db, &gone)
}

fn forget_all(db: &Connection, gone: &[([u8; 16], i64)]) -> rusqlite::Result<u64> {
    for (id, n) in gone {
        remove(db, *n)?;
        for table in ["tracked_episode", "git_episode"] {
            db.prepare_cached(&format!("DELETE FROM {table} WHERE episode = ?1"))?
                .execute([id])?;
        }
    }
    if !gone.is_empty() {
        after_removal(db)?;
    }
    Ok(gone.len() as u64)
}
