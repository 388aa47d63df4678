//! What was done to repositories: operations with their episodes, and how far each history was
//! read.

use crate::model::episode::Episode;
use crate::model::git::{AFTER_MS, GitOperation, HistoryCursor, short_hash};
use crate::model::time::Time;
use crate::store::compression::{Json, pack_json};
use crate::store::damaged_rows::{sound, sound_or_none};
use crate::store::error::failed;
use crate::store::ingest::episode_items;
use crate::store::ingest::prepare::Row as EpisodeRow;
use crate::store::ingest::without_log::{NO_FILE, Project, session_without_log};
use crate::store::ingest::write::EpisodeWriter;
use crate::store::ingest::write::{Stamp, Stored};
use crate::store::removal::remove_operation_episode;
use crate::store::search::episodes::{Found, nameless};
use crate::store::search::pattern::{Pattern, Term};
use crate::store::tombstones::NOT_FORGOTTEN;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use uuid::Uuid;

/// `episode.made_by`.
const MADE_BY: &str = "git";

/// The session without a log that operations stand in is called so, with the namespace behind it.
const SESSION: &str = "git";

/// Operations of the projects that the namespaces in `?1` begin (null: all), of this project, below it,
/// or around it.
const REACHED: &str = "(?1 = 'null' OR EXISTS (SELECT 1 FROM json_each(?1) p
         WHERE substr(s.namespace, 1, length(p.value)) = p.value))";

/// An operation with the episodes that tell it.
#[derive(Clone, Debug)]
pub struct GitUnit {
    /// `git_batch_id`.
    pub id: Uuid,
    /// What was done.
    pub git: GitOperation,
    /// Each with the sessions whose words it has.
    pub episodes: Vec<(Episode, BTreeSet<String>)>,
}

/// A stored operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRow {
    /// `git_batch_id`.
    pub id: Uuid,
    /// Whose repository.
    pub project: Project,
    /// What was done.
    pub git: GitOperation,
}

impl Store {
    /// How far the history of a work tree was read; `None`: no run saw it.
    pub fn git_seen(&self, tree: &str) -> Result<Option<HistoryCursor>> {
        let seen = self
            .db
            .prepare_cached("SELECT seen FROM git_tree WHERE tree = ?1")
            .and_then(|mut select| {
                let row = select.query_row([tree], |row| row.get::<_, Json<HistoryCursor>>(0));
                row.optional()
            });
        let seen = sound_or_none(seen).map_err(failed("reading how far a repository was read"))?;
        Ok(seen.flatten().map(|Json(seen)| seen))
    }

    /// Stores what a run learned of a work tree, in one transaction: operations with their episodes,
    /// and how far it was read. One that is stored already takes what is told now.
    pub fn put_operations(
        &mut self,
        project: &Project,
        group: &str,
        units: Vec<GitUnit>,
        tree: Option<(&str, &HistoryCursor)>,
        at: Time,
    ) -> Result<Stored> {
        let mut names = std::mem::take(&mut self.names);
        let units: Vec<Prepared> = units.into_iter().map(Prepared::of).collect();
        let mut stored = Stored::default();
        let put = self.write_transaction("storing git operations", |tx| {
            let stamp = Stamp {
                indexed_at: at,
                group,
            };
            stored = put_all(tx, &mut names, project, &stamp, &units)?;
            if let Some((tree, seen)) = tree {
                tx.execute(
                    "INSERT INTO git_tree (tree, seen) VALUES (?1, ?2)
                     ON CONFLICT DO UPDATE SET seen = excluded.seen",
                    params![tree, pack_json(seen)],
                )?;
            }
            Ok(())
        });
        self.names.clear();
        put.map(|()| stored)
    }

    /// Operations of the projects that these namespaces begin (`None`: all), the latest first. Reads all
    /// of them.
    pub fn operations(&self, namespaces: Option<&[String]>) -> Result<Vec<GitRow>> {
        let prefixes = serde_json::to_string(&namespaces).unwrap_or_default();
        git_rows(&self.db, REACHED, &[&prefixes]).map_err(failed("reading git operations"))
    }

    /// As [`Store::operations`], of those that name a commit that begins so, as their summaries do. The index finds them;
    /// no other one is read.
    pub fn operations_naming(
        &self,
        commit: &str,
        namespaces: Option<&[String]>,
    ) -> Result<Vec<GitRow>> {
        let Some(pattern) = Pattern::new(&Term {
            text: short_hash(commit).to_owned(),
            prefix: true,
            ..Term::default()
        }) else {
            return Ok(Vec::new());
        };
        // a summary that is to be written again is in no index
        let condition = format!(
            "o.n IN (SELECT told.n FROM words CROSS JOIN episode e ON e.n = words.rowid
                 CROSS JOIN git_operation told ON told.id = e.id WHERE words MATCH ?2
                 UNION ALL SELECT n FROM git_operation WHERE untold = 1)
             AND {REACHED}"
        );
        let prefixes = serde_json::to_string(&namespaces).unwrap_or_default();
        let values: [&dyn ToSql; 2] = [&prefixes, &pattern.expression()];
        git_rows(&self.db, &condition, &values).map_err(failed("reading git operations"))
    }

    /// Operations with a higher number, the latest first.
    pub fn operations_after(&self, n: i64) -> Result<Vec<GitRow>> {
        git_rows(&self.db, "o.n > ?1", &[&n]).map_err(failed("reading git operations"))
    }

    /// Operations of the repository with this namespace from a time to another one, both included, the
    /// latest first.
    pub fn operations_between(
        &self,
        namespace: &str,
        since: Time,
        until: Time,
    ) -> Result<Vec<GitRow>> {
        let session = format!("{SESSION}-{namespace}");
        git_rows(
            &self.db,
            "s.id = ?1 AND o.session = s.n AND o.at BETWEEN ?2 AND ?3",
            &[&session, &since.0, &until.0],
        )
        .map_err(failed("reading git operations"))
    }

    /// The latest operations of the repository with this namespace since a time whose verdict may change, at most
    /// so many, in order.
    pub fn open_operations(&self, namespace: &str, since: Time, limit: u32) -> Result<Vec<GitRow>> {
        let session = format!("{SESSION}-{namespace}");
        let condition = "s.id = ?1 AND o.session = s.n AND o.open = 1 AND o.at >= ?2";
        let mut rows = git_rows_of(&self.db, condition, limit, &[&session, &since.0])
            .map_err(failed("reading git operations"))?;
        rows.reverse();
        Ok(rows)
    }

    /// Operations of the repository with this namespace from a time on, at most so many, in order.
    pub fn operations_from(&self, namespace: &str, since: Time, limit: u32) -> Result<Vec<GitRow>> {
        let session = format!("{SESSION}-{namespace}");
        let condition = "o.n IN (SELECT l.n FROM session g JOIN git_operation l ON l.session = g.n
             WHERE g.id = ?1 AND l.at >= ?2 ORDER BY l.at, l.n LIMIT ?3)";
        let values: [&dyn ToSql; 3] = [&session, &since.0, &limit];
        let rows = git_rows(&self.db, condition, &values);
        let mut rows = rows.map_err(failed("reading git operations"))?;
        rows.reverse();
        Ok(rows)
    }

    /// Operations of all repositories at a time. Reads every operation's time.
    pub fn operations_at(&self, at: Time) -> Result<Vec<GitRow>> {
        git_rows(&self.db, "o.at = ?1", &[&at.0]).map_err(failed("reading git operations"))
    }

    /// The operation with this id.
    pub fn operation(&self, id: Uuid) -> Result<Option<GitRow>> {
        git_rows(&self.db, "o.id = ?1", &[id.as_bytes()])
            .map(|mut rows| rows.pop())
            .map_err(failed("reading a git operation"))
    }

    /// Git operations of this namespace are stored, or were.
    pub fn has_operations(&self, namespace: &str) -> Result<bool> {
        self.db
            .prepare_cached("SELECT 1 FROM session WHERE id = ?1")
            .and_then(|mut select| select.exists([format!("{SESSION}-{namespace}")]))
            .map_err(failed("reading git operations"))
    }

    /// Work trees that couldn't be read when they were looked at last, with why: (folder of its HEAD,
    /// reason), by folder.
    pub fn unread_trees(&self) -> Result<Vec<(String, String)>> {
        let read = || -> rusqlite::Result<Vec<(String, Json<HistoryCursor>)>> {
            let mut select = self
                .db
                .prepare_cached("SELECT tree, seen FROM git_tree ORDER BY tree")?;
            select
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .filter_map(sound)
                .collect()
        };
        let all = read().map_err(failed("reading which repositories can't be read"))?;
        let unread = all.into_iter();
        Ok(unread
            .filter_map(|(tree, Json(seen))| Some((tree, seen.problem?)))
            .collect())
    }

    /// How far the histories of the work trees in a folder were read, by the folders of their HEADs.
    pub fn trees_below(&self, folder: &str) -> Result<Vec<(String, HistoryCursor)>> {
        let read = || -> rusqlite::Result<Vec<(String, HistoryCursor)>> {
            let mut select = self.db.prepare_cached(
                "SELECT tree, seen FROM git_tree WHERE substr(tree, 1, length(?1)) = ?1 ORDER BY tree",
            )?;
            let row = |row: &Row<'_>| {
                let Json(seen) = row.get(1)?;
                Ok((row.get(0)?, seen))
            };
            let rows = select.query_map([format!("{folder}/")], row)?;
            rows.filter_map(sound).collect()
        };
        read().map_err(failed("reading how far work trees were read"))
    }

    /// Operations whose summary is to be written again.
    pub fn operations_to_rewrite(&self) -> Result<Vec<GitRow>> {
        git_rows(&self.db, "o.untold = 1", &[]).map_err(failed("reading git operations"))
    }

    /// The operation that an episode tells of.
    pub fn operation_of(&self, episode: Uuid) -> Result<Option<Uuid>> {
        self.db
            .query_row(
                "SELECT operation FROM git_episode WHERE episode = ?1",
                [episode.as_bytes()],
                |row| row.get(0).map(Uuid::from_bytes),
            )
            .optional()
            .map_err(failed("reading an operation"))
    }

    /// Chunks of main logs of a project, and of those below it, that began before a time and went on
    /// until another or longer, with their items, the latest first, at most so many.
    pub fn chunks_around(
        &self,
        project: &str,
        until: Time,
        since: Time,
        limit: u32,
    ) -> Result<Vec<Found>> {
        let below = format!("{project}/");
        let values: [&dyn ToSql; 5] = [&until.0, &since.0, &limit, &project, &below];
        let is_there = "e.stream IS NULL
             AND (s.project_path = ?4 OR substr(s.project_path, 1, length(?5)) = ?5)";
        self.at_work(is_there, &values)
            .map_err(failed("reading what was said before an operation"))
    }

    /// As [`Store::chunks_around`], of exactly this namespace, sub-agents' logs too.
    pub fn chunks_at_work(
        &self,
        namespace: &str,
        until: Time,
        since: Time,
        limit: u32,
    ) -> Result<Vec<Found>> {
        let values: [&dyn ToSql; 4] = [&until.0, &since.0, &limit, &namespace];
        self.at_work("s.namespace = ?4", &values)
            .map_err(failed("reading who was at work"))
    }

    fn at_work(&self, is_there: &str, values: &[&dyn ToSql]) -> rusqlite::Result<Vec<Found>> {
        // by session: the episodes of a long git history, which have a session of their own, are not walked
        let condition = format!(
            "e.session IN (SELECT n FROM session WHERE standing >= 0)
             AND e.source = 'session' AND {is_there}
             AND e.valid_at <= ?1 AND coalesce(e.ended_at, e.valid_at) >= ?2
             ORDER BY coalesce(e.ended_at, e.valid_at) DESC, e.id LIMIT ?3"
        );
        let with_items = |(n, mut found): (i64, Found)| {
            found.episode.outline = episode_items::read(&self.db, n)?;
            Ok(found)
        };
        let found = nameless(&self.db, &condition, values)?;
        found.into_iter().map(with_items).collect()
    }
}

/// An operation whose episodes are ready to be written.
struct Prepared {
    id: Uuid,
    git: GitOperation,
    rows: Vec<(EpisodeRow, BTreeSet<String>)>,
}

impl Prepared {
    fn of(unit: GitUnit) -> Prepared {
        let rows = unit.episodes.into_iter();
        let rows = rows.map(|(episode, quotes)| (EpisodeRow::new(episode, true), quotes));
        Prepared {
            id: unit.id,
            git: unit.git,
            rows: rows.collect(),
        }
    }
}

fn put_all(
    db: &Connection,
    names: &mut FxHashMap<String, i64>,
    project: &Project,
    stamp: &Stamp<'_>,
    units: &[Prepared],
) -> rusqlite::Result<Stored> {
    if units.is_empty() {
        return Ok(Stored::default());
    }
    let session = session_without_log(db, SESSION, project)?;
    let mut writer = EpisodeWriter::new(db, names, stamp);
    for unit in units {
        db.prepare_cached(
            "INSERT INTO git_operation (id, session, at, deed, open) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET (deed, untold, open) = (excluded.deed, 0, excluded.open)",
        )?
        .execute(params![
            unit.id.as_bytes(),
            session,
            unit.git.operation.at.0,
            pack_json(&unit.git),
            unit.git.is_open()
        ])?;
        for (row, quotes) in &unit.rows {
            writer.upsert(session, NO_FILE, row, MADE_BY)?;
            let quotes = serde_json::to_string(quotes)
                .ok()
                .filter(|_| !quotes.is_empty());
            db.prepare_cached(
                "INSERT OR REPLACE INTO git_episode (episode, operation, quotes) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![row.episode.id.as_bytes(), unit.id.as_bytes(), quotes])?;
        }
    }
    let stored = writer.finish()?;
    for unit in units {
        for at in told_at(&unit.git) {
            summarize_again(db, &project.namespace, at)?;
        }
    }
    Ok(stored)
}

/// When what an operation made, or gave up, was made: sessions tell it.
fn told_at(git: &GitOperation) -> BTreeSet<Time> {
    let made = git.commit().map(|_| git.operation.at);
    let reverted = git.effect.reverts.iter().map(|revert| revert.commit.at);
    let left = git.effect.left.iter().map(|commit| commit.at);
    made.into_iter().chain(left).chain(reverted).collect()
}

/// Summaries of the sessions that were at work then may have a commit to tell, or what became of one.
fn summarize_again(db: &Connection, namespace: &str, at: Time) -> rusqlite::Result<()> {
    db.prepare_cached(&format!(
        "INSERT OR IGNORE INTO unsummarised (session) SELECT s.n FROM session s
         WHERE s.namespace = ?1 AND s.started <= ?2 AND s.ended >= ?3 AND {NOT_FORGOTTEN}"
    ))?
    .execute(params![namespace, at.0 + AFTER_MS, at.0 - AFTER_MS])
    .map(drop)
}

/// Removes the operations before a time, of the projects whose namespace begins so.
pub(crate) fn forget_operations_before(
    db: &Connection,
    namespace: &str,
    before: Time,
) -> rusqlite::Result<()> {
    let gone: Vec<[u8; 16]> = db
        .prepare_cached(
            "SELECT o.id FROM git_operation o JOIN session s ON s.n = o.session
             WHERE substr(s.namespace, 1, length(?1)) = ?1 AND o.at < ?2",
        )?
        .query_map(params![namespace, before.0], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for operation in gone {
        let episodes: Vec<[u8; 16]> = db
            .prepare_cached("SELECT episode FROM git_episode WHERE operation = ?1")?
            .query_map([operation], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for episode in episodes {
            remove_operation_episode(db, episode)?;
        }
        db.prepare_cached("DELETE FROM git_operation WHERE id = ?1")?
            .execute([operation])?;
    }
    Ok(())
}

/// The latest first; reflogs count whole seconds, so of one second what was stored last.
fn git_rows(
    db: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> rusqlite::Result<Vec<GitRow>> {
    git_rows_of(db, condition, u32::MAX, values)
}

/// At most so many.
fn git_rows_of(
    db: &Connection,
    condition: &str,
    limit: u32,
    values: &[&dyn ToSql],
) -> rusqlite::Result<Vec<GitRow>> {
    let sql = format!(
        "SELECT o.id, s.namespace, s.project_path, s.host, o.deed
         FROM git_operation o JOIN session s ON s.n = o.session
         WHERE {condition} ORDER BY o.at DESC, o.n DESC LIMIT {limit}"
    );
    let mut select = db.prepare_cached(&sql)?;
    let rows = select.query_map(values, git_row)?;
    rows.filter_map(sound).collect()
}

fn git_row(row: &Row<'_>) -> rusqlite::Result<GitRow> {
    let Json(git) = row.get(4)?;
    Ok(GitRow {
        id: Uuid::from_bytes(row.get(0)?),
        project: Project {
            namespace: row.get(1)?,
            path: row.get(2)?,
            host: row.get(3)?,
        },
        git,
    })
}
