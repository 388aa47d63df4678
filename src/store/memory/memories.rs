//! What people curated: kept as episodes of their own, in a session of their project that has no log.
//! Knows rows and their states; refuses to judge what may be kept and where it is delivered.

use crate::model::episode::{Episode, EpisodeSource};
use crate::model::memory::{MemoryKind, MemoryOrigin};
use crate::model::scope::MemoryScope;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::columns::agent;
use crate::store::error::failed;
use crate::store::ingest::prepare::Row as EpisodeRow;
use crate::store::ingest::without_log::{NO_FILE, Project, session_without_log};
use crate::store::ingest::write::EpisodeWriter;
use crate::store::ingest::write::Stamp;
use crate::store::pending_tasks::after_removal;
use crate::store::removal::remove_memory;
use crate::store::search::episodes::found_in;
use crate::store::search::sessions::{SEVERAL, several};
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

/// `episode.made_by`.
const MADE_BY: &str = "memory";

/// A memory to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curated {
    /// The episode's.
    pub id: Uuid,
    /// What it is.
    pub kind: MemoryKind,
    /// How far it reaches.
    pub scope: MemoryScope,
    /// Who curated it.
    pub origin: MemoryOrigin,
    /// The session that it was said in, where there is one.
    pub session: Option<String>,
    /// Where the work tree was.
    pub git: Option<String>,
    /// One line.
    pub title: String,
    /// Its words.
    pub text: String,
    /// The group that it is delivered to.
    pub group: String,
    /// When it was said.
    pub at: Time,
}

/// What became of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryState {
    /// Nobody judged it yet.
    Said,
    /// It is an episode.
    Kept,
    /// Somebody took it back; its words are gone.
    Undone,
    /// It may not be kept; its words are gone.
    Refused,
    /// It went with the session that it was said in.
    Forgotten,
}

impl MemoryState {
    const ALL: [MemoryState; 5] = [
        MemoryState::Said,
        MemoryState::Kept,
        MemoryState::Undone,
        MemoryState::Refused,
        MemoryState::Forgotten,
    ];

    /// The word used in the store and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            MemoryState::Said => "said",
            MemoryState::Kept => "kept",
            MemoryState::Undone => "undone",
            MemoryState::Refused => "refused",
            MemoryState::Forgotten => "forgotten",
        }
    }
}

/// A memory as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    /// The episode's.
    pub id: Uuid,
    /// What it is.
    pub kind: MemoryKind,
    /// How far it reaches; a refused one's as it was written.
    pub scope: String,
    /// Who curated it.
    pub origin: MemoryOrigin,
    /// What became of it.
    pub state: MemoryState,
    /// The session that it was said in.
    pub session: Option<String>,
    /// Why it was refused. Never content.
    pub reason: Option<String>,
    /// Where the work tree was.
    pub git: Option<String>,
    /// When it was said.
    pub at: Time,
    /// When its words changed last.
    pub edited: Option<Time>,
    /// Of a kept one: its words and where they are.
    pub kept: Option<KeptWords>,
}

/// The words of a kept memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWords {
    /// One line.
    pub title: String,
    /// All of it.
    pub text: String,
    /// The group that it is delivered to.
    pub group: String,
    /// The project that it was said in.
    pub namespace: String,
    /// Its root.
    pub project_path: String,
    /// The hash of what is delivered.
    pub revision: u64,
}

/// A directive that waits to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The memory's id.
    pub id: Uuid,
    /// What it is.
    pub kind: MemoryKind,
    /// As it was written, where nobody knows it; else a scope's word.
    pub scope: String,
    /// The prompt names the scope; otherwise it follows from the words.
    pub is_marked: bool,
    /// Its words.
    pub text: String,
    /// When it was said.
    pub at: Time,
    /// The session, with whose log it is.
    pub session: (Agent, String),
    /// The session's project.
    pub project: Project,
}

impl Store {
    /// Keeps a memory, in one transaction; one with this id that is there already stays as it is.
    /// `false`: it was there, or was taken back.
    pub fn keep_memory(&mut self, memory: &Curated, project: &Project) -> Result<bool> {
        let known = self.memory_state(memory.id)?;
        if known.is_some_and(|state| state != MemoryState::Said) {
            return Ok(false);
        }
        let episode = Episode {
            id: memory.id,
            source: EpisodeSource::Text,
            part: 1,
            sealed: true,
            title: memory.title.clone(),
            text: memory.text.clone(),
            valid_at: Some(memory.at),
            ended_at: Some(memory.at),
            ..Episode::default()
        };
        let mut names = std::mem::take(&mut self.names);
        let row = EpisodeRow::new(episode, true);
        let kept = self.write_transaction("keeping a memory", |tx| {
            put(
                tx,
                &mut names,
                project,
                &row,
                &stamp(&memory.group, memory.at),
            )?;
            tx.prepare_cached(
                "INSERT INTO memory (id, kind, scope, origin, state, session, git, at)
                 VALUES (?1, ?2, ?3, ?4, 'kept', ?5, ?6, ?7)
                 ON CONFLICT DO UPDATE SET
                     (scope, state, text, reason, git) = (?3, 'kept', NULL, NULL, ?6)",
            )?
            .execute(params![
                memory.id.as_bytes(),
                memory.kind.as_str(),
                memory.scope.as_str(),
                memory.origin.as_str(),
                memory.session,
                memory.git,
                memory.at.0
            ])
            .map(drop)
        });
        // a transaction that failed took its names back
        self.names.clear();
        kept.map(|()| true)
    }

    /// Keeps a message to a group about itself, once for each group and content (D35); `false`: the
    /// group was told. It is an episode that no words find.
    pub fn keep_message(
        &mut self,
        id: Uuid,
        group: &str,
        text: &str,
        project: &Project,
        at: Time,
    ) -> Result<bool> {
        if self.is_kept(id)? {
            return Ok(false);
        }
        let episode = Episode {
            id,
            source: EpisodeSource::Message,
            part: 1,
            sealed: true,
            text: text.to_owned(),
            valid_at: Some(at),
            ended_at: Some(at),
            ..Episode::default()
        };
        let mut row = EpisodeRow::new(episode, true);
        row.index = Default::default();
        let mut names = std::mem::take(&mut self.names);
        let kept = self.write_transaction("keeping a message", |tx| {
            put(tx, &mut names, project, &row, &stamp(group, at))
        });
        self.names.clear();
        kept.map(|()| true)
    }

    fn is_kept(&self, id: Uuid) -> Result<bool> {
        let mut select = self
            .db
            .prepare_cached("SELECT 1 FROM episode WHERE id = ?1")
            .map_err(failed("reading an episode"))?;
        select
            .exists([id.as_bytes()])
            .map_err(failed("reading an episode"))
    }

    /// Notes that a directive may not be kept, and why (never content); its words go.
    pub fn refuse_memory(&mut self, id: Uuid, reason: &str) -> Result<()> {
        self.write_transaction("refusing a memory", |tx| {
            tx.execute(
                "UPDATE memory SET (state, reason, text) = ('refused', ?2, NULL) WHERE id = ?1",
                params![id.as_bytes(), reason],
            )?;
            after_removal(tx)
        })
    }

    /// Directives that nobody judged yet, in the order in which they were said.
    pub fn said(&self) -> Result<Vec<Waiting>> {
        let read = || -> rusqlite::Result<Vec<Waiting>> {
            self.db
                .prepare_cached(
                    "SELECT m.id, m.kind, m.scope, m.text, m.at, s.agent, s.id, s.namespace,
                         s.project_path, s.host, m.reason IS NOT NULL
                     FROM memory m JOIN session s ON s.id = m.session
                     WHERE m.state = 'said' ORDER BY m.at, m.id",
                )?
                .query_map([], |row| {
                    Ok(Waiting {
                        id: Uuid::from_bytes(row.get(0)?),
                        kind: kind(row, 1)?,
                        scope: row.get(2)?,
                        is_marked: row.get(10)?,
                        text: row.get(3)?,
                        at: Time(row.get(4)?),
                        session: (agent(row, 5)?, row.get(6)?),
                        project: Project {
                            namespace: row.get(7)?,
                            path: row.get(8)?,
                            host: row.get(9)?,
                        },
                    })
                })?
                .collect()
        };
        read().map_err(failed("reading directives"))
    }

    /// Gives a kept memory other words: a new revision of the same id.
    pub fn edit_memory(&mut self, id: Uuid, title: &str, text: &str, at: Time) -> Result<()> {
        let found = found_in(&self.db, "e.id = ?1", &[&id.as_bytes().as_slice()]);
        let Some(found) = found.map_err(failed("reading a memory"))?.pop() else {
            return Ok(());
        };
        let project = Project {
            namespace: found.namespace,
            path: found.project_path,
            host: found.host,
        };
        let episode = Episode {
            title: title.to_owned(),
            text: text.to_owned(),
            valid_at: Some(at),
            ended_at: Some(at),
            ..found.episode
        };
        let row = EpisodeRow::new(episode, true);
        let mut names = std::mem::take(&mut self.names);
        let edited = self.write_transaction("editing a memory", |tx| {
            put(tx, &mut names, &project, &row, &stamp(&found.group, at))?;
            tx.execute(
                "UPDATE memory SET edited = ?2 WHERE id = ?1",
                params![id.as_bytes(), at.0],
            )?;
            after_removal(tx)
        });
        self.names.clear();
        edited
    }

    /// Takes a memory back: its words go, sinks are asked to forget it, and reading its prompt again
    /// doesn't bring it back.
    pub fn undo_memory(&mut self, id: Uuid) -> Result<()> {
        self.write_transaction("taking a memory back", |tx| {
            remove_memory(tx, id, MemoryState::Undone.as_str())?;
            after_removal(tx)
        })
    }

    /// Memories in the order in which they were said; `states`: only these.
    pub fn memories(&self, states: &[MemoryState]) -> Result<Vec<MemoryRow>> {
        let words: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        let words = serde_json::to_string(&words).unwrap_or_default();
        let read = || -> rusqlite::Result<Vec<MemoryRow>> {
            let sql = format!(
                "{SELECT} WHERE state IN (SELECT value FROM json_each(?1)) ORDER BY at, id"
            );
            let mut select = self.db.prepare_cached(&sql)?;
            let rows = select.query_map([words], memory_row)?;
            rows.map(|row| with_words(&self.db, row?)).collect()
        };
        read().map_err(failed("reading memories"))
    }

    /// The memory with this id, or the only one whose id begins with these hex digits; `None` when
    /// there is none. A beginning that several share is an error of kind `Usage`.
    pub fn memory(&self, id: &str) -> Result<Option<MemoryRow>> {
        let digits = id.replace('-', "").to_ascii_uppercase();
        if digits.is_empty() {
            return Ok(None);
        }
        let read = || -> rusqlite::Result<Vec<MemoryRow>> {
            let sql = format!(
                "{SELECT} WHERE substr(hex(id), 1, length(?1)) = ?1 AND state <> 'said'
                 ORDER BY id LIMIT {SEVERAL}"
            );
            let mut select = self.db.prepare_cached(&sql)?;
            let rows = select.query_map([&digits], memory_row)?;
            rows.map(|row| with_words(&self.db, row?)).collect()
        };
        let mut found = read().map_err(failed("reading a memory"))?;
        match found.len() {
            0 | 1 => Ok(found.pop()),
            _ => {
                let ids = found.iter().map(|row| row.id.to_string());
                Err(several("memory", id, ids))
            }
        }
    }

    /// A memory of this id was there and is not any more: somebody took it back, or it went with what it
    /// was said in.
    pub fn is_taken_back(&self, id: Uuid) -> Result<bool> {
        let state = self.memory_state(id)?;
        Ok(state.is_some_and(|s| matches!(s, MemoryState::Undone | MemoryState::Forgotten)))
    }

    fn memory_state(&self, id: Uuid) -> Result<Option<MemoryState>> {
        let state = self
            .db
            .query_row(
                "SELECT state FROM memory WHERE id = ?1",
                [id.as_bytes()],
                |row| state(row, 0),
            )
            .optional();
        state.map_err(failed("reading a memory"))
    }
}

fn stamp(group: &str, indexed_at: Time) -> Stamp<'_> {
    Stamp { indexed_at, group }
}

/// Writes an episode that was cut from no log.
fn put(
    db: &Connection,
    names: &mut rustc_hash::FxHashMap<String, i64>,
    project: &Project,
    row: &EpisodeRow,
    stamp: &Stamp<'_>,
) -> rusqlite::Result<()> {
    let session = session_without_log(db, "memories", project)?;
    let mut writer = EpisodeWriter::new(db, names, stamp);
    writer.upsert(session, NO_FILE, row, MADE_BY)?;
    writer.finish().map(drop)
}

const SELECT: &str =
    "SELECT id, kind, scope, origin, state, session, reason, git, at, edited FROM memory";

fn memory_row(row: &Row<'_>) -> rusqlite::Result<MemoryRow> {
    let origin = MemoryOrigin::parse(row.get_ref(3)?.as_str()?);
    Ok(MemoryRow {
        id: Uuid::from_bytes(row.get(0)?),
        kind: kind(row, 1)?,
        scope: row.get(2)?,
        origin: origin.ok_or(rusqlite::Error::InvalidQuery)?,
        state: state(row, 4)?,
        session: row.get(5)?,
        reason: row.get(6)?,
        git: row.get(7)?,
        at: Time(row.get(8)?),
        edited: row.get::<_, Option<i64>>(9)?.map(Time),
        kept: None,
    })
}

fn with_words(db: &Connection, mut row: MemoryRow) -> rusqlite::Result<MemoryRow> {
    if row.state == MemoryState::Kept {
        let found = found_in(db, "e.id = ?1", &[&row.id.as_bytes().as_slice()])?;
        row.kept = found.into_iter().next().map(|found| KeptWords {
            title: found.episode.title,
            text: found.episode.text,
            group: found.group,
            namespace: found.namespace,
            project_path: found.project_path,
            revision: found.revision,
        });
    }
    Ok(row)
}

fn kind(row: &Row<'_>, column: usize) -> rusqlite::Result<MemoryKind> {
    MemoryKind::parse(row.get_ref(column)?.as_str()?).ok_or(rusqlite::Error::InvalidQuery)
}

fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<MemoryState> {
    let word = row.get_ref(column)?.as_str()?;
    let known = MemoryState::ALL.into_iter().find(|s| s.as_str() == word);
    known.ok_or(rusqlite::Error::InvalidQuery)
}
