//! Episodes on their way in: rows, words, tools and paths, and the open ones that are no more.
//! Knows which of its tables a change concerns; refuses to judge whether the change is right.

use crate::model::namespace::{OWN_NAMESPACE, group_of};
use crate::model::time::Time;
use crate::store::columns::int;
use crate::store::ingest::activity;
use crate::store::ingest::episode_items;
use crate::store::ingest::prepare::{Prepared, Row};
use crate::store::ingest::usage;
use crate::store::ingest::whole_texts;
use crate::store::removal::{number, remove};
use crate::store::search::words::IndexText;
use rusqlite::{Connection, OptionalExtension, ToSql, params};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use uuid::Uuid;

/// What a transaction changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Episodes that the store didn't have.
    pub new: u64,
    /// Episodes that it had otherwise.
    pub changed: u64,
    /// Open episodes that are no more.
    pub removed: u64,
    /// UTF-8 bytes of text in `new` and `changed`.
    pub body_bytes: u64,
}

impl Stored {
    /// Adds what another transaction changed.
    pub fn merge(&mut self, other: Stored) {
        self.new += other.new;
        self.changed += other.changed;
        self.removed += other.removed;
        self.body_bytes += other.body_bytes;
    }
}

/// What is the same for all episodes of a run.
pub(crate) struct Stamp<'a> {
    pub(crate) indexed_at: Time,
    /// As it is written: [`group_of`] makes an episode's of it.
    pub(crate) group: &'a str,
}

/// Names kept at hand. More: a run's memory; fewer: more lookups.
const NAMES_MAX: usize = 50_000;

/// Writes the episodes of one transaction.
pub(crate) struct EpisodeWriter<'a> {
    db: &'a Connection,
    names: &'a mut FxHashMap<String, i64>,
    stamp: &'a Stamp<'a>,
    /// Episodes whose words the index doesn't have yet.
    unindexed: BTreeMap<i64, &'a Row>,
    /// What was changed so far.
    stored: Stored,
}

impl<'a> EpisodeWriter<'a> {
    pub(crate) fn new(
        db: &'a Connection,
        names: &'a mut FxHashMap<String, i64>,
        stamp: &'a Stamp<'a>,
    ) -> EpisodeWriter<'a> {
        EpisodeWriter {
            db,
            names,
            stamp,
            unindexed: BTreeMap::new(),
            stored: Stored::default(),
        }
    }

    /// Inserts or replaces the commit's episodes, then removes the file's open ones that aren't
    /// among them. New words wait for [`EpisodeWriter::finish`].
    pub(crate) fn write(
        &mut self,
        session: i64,
        file: i64,
        commit: &'a Prepared,
    ) -> rusqlite::Result<()> {
        let rows = &commit.rows;
        for row in rows {
            self.upsert(session, file, row, &commit.made_by)?;
        }
        let open: Vec<(i64, [u8; 16])> = self
            .db
            .prepare_cached("SELECT n, id FROM episode WHERE file = ?1 AND sealed = 0")?
            .query_map([file], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        if open.is_empty() {
            return Ok(());
        }
        let current: FxHashSet<[u8; 16]> =
            rows.iter().map(|row| row.episode.id.into_bytes()).collect();
        for (n, _) in open.iter().filter(|(_, id)| !current.contains(id)) {
            self.remove(*n)?;
        }
        Ok(())
    }

    /// A rebuild of the file begins: its episodes go at its end unless they are told again. A
    /// crash in between leaves old ones beside new ones until the next run reads the file on.
    pub(crate) fn expect_again(&self, file: i64) -> rusqlite::Result<()> {
        self.db
            .prepare_cached("UPDATE episode SET stale = 1 WHERE file = ?1 AND source = 'session'")?
            .execute([file])?;
        Ok(())
    }

    /// Removes the episodes that a rebuild of the file didn't tell again.
    pub(crate) fn remove_stale(&mut self, file: i64) -> rusqlite::Result<()> {
        let stale: Vec<i64> = self
            .db
            .prepare_cached("SELECT n FROM episode WHERE file = ?1 AND stale = 1")?
            .query_map([file], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for n in stale {
            self.remove(n)?;
        }
        Ok(())
    }

    /// Makes what was written findable. The index gathers words in memory and writes a segment of
    /// its own whenever a statement of another table asks for a savepoint: an insert with a trigger
    /// does. So the words of a transaction go in one after the other, at its end.
    pub(crate) fn finish(self) -> rusqlite::Result<Stored> {
        for (n, row) in self.unindexed {
            index(self.db, n, &row.title_words, &row.index)?;
        }
        Ok(self.stored)
    }

    /// Removes the episode with this id, where there is one.
    pub(crate) fn remove_id(&mut self, id: Uuid) -> rusqlite::Result<()> {
        number(self.db, id)?.map_or(Ok(()), |n| self.remove(n))
    }

    fn remove(&mut self, n: i64) -> rusqlite::Result<()> {
        self.unindexed.remove(&n);
        self.stored.removed += 1;
        remove(self.db, n)
    }

    pub(crate) fn upsert(
        &mut self,
        session: i64,
        file: i64,
        row: &'a Row,
        made_by: &str,
    ) -> rusqlite::Result<()> {
        let e = &row.episode;
        let t = &e.tally;
        let id: &[u8] = e.id.as_bytes();
        let made_by = name(self.db, self.names, made_by)?;
        let group = self.group(session)?;
        // what a model condensed of the same text stays
        let stays = whole_texts::condensed(self.db, row)?;
        let (revision, body_bytes) = stays.unwrap_or((row.revision, int(row.body_bytes)));
        // In the order of COLUMNS.
        let values: [&dyn ToSql; COLUMNS.len()] = [
            &id,
            &session,
            &file,
            &e.source.as_str(),
            &e.stream,
            &e.part,
            &row.sealed,
            &e.pending_calls,
            &e.title,
            &e.valid_at.map(|t| t.0),
            &e.ended_at.map(|t| t.0),
            &int(e.bytes.from),
            &int(e.bytes.to),
            &int(e.lines.0),
            &int(e.lines.1),
            &int(e.message_count),
            &int(e.duration_minutes),
            &int(e.completed_tasks),
            &int(e.files_modified),
            &revision,
            &made_by,
            &body_bytes,
            &int(t.read_bytes),
            &int(t.records),
            &int(t.prompts),
            &int(t.messages),
            &int(t.calls),
            &int(t.failures),
            &int(t.refusals),
            &int(t.user_bytes),
            &int(t.agent_bytes),
            &int(t.digest_bytes),
            &int(t.output_bytes),
            &int(t.usage.input),
            &int(t.usage.output),
            &int(t.usage.cache_read),
            &int(t.usage.cache_write),
            &group,
            &self.stamp.indexed_at.0,
        ];
        self.upsert_values(row, &values, stays.is_some())
    }

    /// The number of the group's name.
    fn group(&mut self, session: i64) -> rusqlite::Result<i64> {
        let written = self.stamp.group;
        if !written.contains(OWN_NAMESPACE) {
            return name(self.db, self.names, written);
        }
        let namespace: String = self
            .db
            .prepare_cached("SELECT namespace FROM session WHERE n = ?1")?
            .query_row([session], |row| row.get(0))?;
        name(self.db, self.names, &group_of(written, &namespace))
    }

    /// `stays`: the text that is stored, with its items.
    fn upsert_values(
        &mut self,
        row: &'a Row,
        values: &[&dyn ToSql; COLUMNS.len()],
        stays: bool,
    ) -> rusqlite::Result<()> {
        let known: Option<(i64, i64, bool)> = self
            .db
            .prepare_cached(
                // one without a text is what a damaged file left of it
                "SELECT e.n, e.revision, coalesce(b.text, '') = ''
                 FROM episode e LEFT JOIN body b ON b.episode = e.n WHERE e.id = ?1",
            )?
            .query_row([values[0]], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        let Some((n, revision, was_left)) = known else {
            let n = self.db.prepare_cached(&INSERT)?.insert(values.as_slice())?;
            self.write_parts(n, row)?;
            episode_items::write(self.db, n, &row.outline)?;
            whole_texts::note(self.db, n, row)?;
            self.write_words(n, row)?;
            self.stored.new += 1;
            return Ok(());
        };
        let settable = &values[..COLUMNS.len() - FIXED];
        let changed = self.db.prepare_cached(&UPDATE)?.execute(settable)?;
        self.db
            .prepare_cached("UPDATE episode SET stale = 0 WHERE n = ?1 AND stale = 1")?
            .execute([n])?;
        let (tools, paths) = self.write_parts(n, row)?;
        keep_only(self.db, "episode_tool", "tool", n, &tools)?;
        keep_only(self.db, "episode_path", "path", n, &paths)?;
        if !stays {
            episode_items::write(self.db, n, &row.outline)?;
            whole_texts::note(self.db, n, row)?;
        }
        if !stays && (revision != row.revision || was_left) {
            self.db
                .prepare_cached("DELETE FROM words WHERE rowid = ?1")?
                .execute([n])?;
            self.write_words(n, row)?;
        }
        self.stored.changed += changed as u64;
        Ok(())
    }

    /// The text, and the words of title and text.
    fn write_words(&mut self, n: i64, row: &'a Row) -> rusqlite::Result<()> {
        self.db
            .prepare_cached("INSERT OR REPLACE INTO body (episode, text) VALUES (?1, ?2)")?
            .execute(params![n, row.body])?;
        self.unindexed.insert(n, row);
        self.stored.body_bytes += row.body_bytes;
        Ok(())
    }

    /// What is counted, tools and paths; gives the names that the episode has now.
    fn write_parts(&mut self, n: i64, row: &Row) -> rusqlite::Result<(Names, Names)> {
        activity::write(self.db, n, &row.activity)?;
        let (db, names) = (self.db, &mut *self.names);
        usage::write(db, n, &row.spending, |text| name(db, names, text))?;
        let mut tools = Names::default();
        for (tool, tally) in &row.tools {
            let tool = name(self.db, self.names, tool)?;
            tools.insert(tool);
            self.db
                .prepare_cached(
                    "INSERT INTO episode_tool (episode, tool, calls, failed)
                     VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO UPDATE SET (calls, failed) = (excluded.calls, excluded.failed)
                     WHERE (calls, failed) IS NOT (excluded.calls, excluded.failed)",
                )?
                .execute(params![n, tool, int(tally.calls), int(tally.failed)])?;
        }
        let mut paths = Names::default();
        for path in &row.episode.files {
            let path = name(self.db, self.names, path)?;
            paths.insert(path);
            self.db
                .prepare_cached(
                    "INSERT OR IGNORE INTO episode_path (episode, path) VALUES (?1, ?2)",
                )?
                .execute([n, path])?;
        }
        Ok((tools, paths))
    }
}

/// Makes an episode findable that isn't yet.
pub(crate) fn index(
    db: &Connection,
    n: i64,
    title_words: &str,
    text: &IndexText,
) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO words (rowid, title, text, glued) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![n, title_words, text.words, text.glued])?;
    Ok(())
}

/// Some of `name.n`.
type Names = FxHashSet<i64>;

/// `name.n` of a string; new ones are added.
fn name(db: &Connection, names: &mut FxHashMap<String, i64>, text: &str) -> rusqlite::Result<i64> {
    if let Some(n) = names.get(text) {
        return Ok(*n);
    }
    let known = db
        .prepare_cached("SELECT n FROM name WHERE text = ?1")?
        .query_row([text], |row| row.get(0))
        .optional()?;
    let n = match known {
        Some(n) => n,
        None => db
            .prepare_cached("INSERT INTO name (text) VALUES (?1)")?
            .insert([text])?,
    };
    if names.len() >= NAMES_MAX {
        names.clear();
    }
    names.insert(text.to_string(), n);
    Ok(n)
}

/// Takes out what an episode that was cut or derived anew doesn't have any more.
fn keep_only(
    db: &Connection,
    table: &str,
    column: &str,
    n: i64,
    current: &Names,
) -> rusqlite::Result<()> {
    let held: Vec<i64> = db
        .prepare_cached(&format!("SELECT {column} FROM {table} WHERE episode = ?1"))?
        .query_map([n], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for gone in held.iter().filter(|held| !current.contains(held)) {
        db.prepare_cached(&format!(
            "DELETE FROM {table} WHERE episode = ?1 AND {column} = ?2"
        ))?
        .execute([n, *gone])?;
    }
    Ok(())
}

/// Columns of `episode`; the last [`FIXED`] are set at the first insert only.
const COLUMNS: [&str; 39] = [
    "id",
    "session",
    "file",
    "source",
    "stream",
    "part",
    "sealed",
    "pending_calls",
    "title",
    "valid_at",
    "ended_at",
    "byte_from",
    "byte_to",
    "line_from",
    "line_to",
    "message_count",
    "duration_minutes",
    "completed_tasks",
    "files_modified",
    "revision",
    "made_by",
    "body_bytes",
    "read_bytes",
    "records",
    "prompts",
    "messages",
    "calls",
    "failures",
    "refusals",
    "user_bytes",
    "agent_bytes",
    "digest_bytes",
    "output_bytes",
    "input_tokens",
    "output_tokens",
    "cache_read",
    "cache_write",
    "graph",
    "indexed_at",
];

/// `graph` and `indexed_at`.
const FIXED: usize = 2;

static INSERT: LazyLock<String> = LazyLock::new(|| {
    let columns = COLUMNS.join(", ");
    format!(
        "INSERT INTO episode ({columns}) VALUES ({})",
        holes(1, COLUMNS.len())
    )
});

static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let last = COLUMNS.len() - FIXED;
    let columns = COLUMNS[1..last].join(", ");
    let holes = holes(2, last);
    format!(
        "UPDATE episode SET ({columns}) = ({holes})
         WHERE id = ?1 AND ({columns}) IS NOT ({holes})"
    )
});

fn holes(from: usize, to: usize) -> String {
    let holes: Vec<String> = (from..=to).map(|i| format!("?{i}")).collect();
    holes.join(", ")
}
