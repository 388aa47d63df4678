//! Sessions: merged from what their files say, listed, found by id.
//! Knows whose word counts; refuses to know episodes.

use crate::model::checkpoint::{COPY, short_id};
use crate::model::error::Error;
use crate::model::ledger::Ledger;
use crate::model::namespace::NAMESPACE_DIGITS;
use crate::model::session::{Session, SessionFacts};
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::compression::{Json, pack_json};
use crate::store::error::failed;
use crate::store::ingest::files::agent;
use crate::store::ingest::records::{self, unpack};
use crate::store::maintenance::compact;
use crate::store::maintenance::forget::NOT_FORGOTTEN;
use crate::store::memory::summaries::{remove_summary, set_unsummarised};
use crate::store::pending_tasks::Task;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, TransactionBehavior, params};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Which sessions to list. The default is all of them but the forgotten ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Prefixes of namespaces; `None`: all, empty: none.
    pub namespaces: Option<Vec<String>>,
    /// This project path, or one below it.
    pub project: Option<String>,
    /// Whose logs.
    pub agent: Option<Agent>,
    /// Ended at or after.
    pub since: Option<Time>,
    /// Started before.
    pub until: Option<Time>,
    /// At most so many, the latest first; `None`: all.
    pub limit: Option<u32>,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// With the facts of all its files.
    pub session: Session,
    /// The title to show: a person's, the agent's, a summary's, else the first prompt.
    pub title: Option<String>,
    /// Its episodes, open ones included.
    pub episodes: u64,
    /// Of these, the ones that a boundary has closed.
    pub sealed: u64,
    /// UTF-8 bytes of their texts.
    pub body_bytes: u64,
    /// Its files, sub-agents' included.
    pub files: u64,
}

impl Store {
    /// Sessions, the latest first, ties by id.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
        let (conditions, values) = filter.conditions();
        let sql = format!(
            "{SELECT} WHERE {conditions} ORDER BY s.ended DESC, s.id LIMIT {}",
            filter.limit.map_or(-1, i64::from)
        );
        let read = || -> rusqlite::Result<Vec<SessionRow>> {
            let mut select = self.db.prepare_cached(&sql)?;
            let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
            select.query_map(values.as_slice(), session_row)?.collect()
        };
        read().map_err(failed("listing sessions"))
    }

    /// The session with this id, or the only one whose id begins so; `None` when there is none.
    /// A beginning that several share is an error of kind `Usage`.
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>> {
        self.session_among(id, None)
    }

    /// The same among the sessions of namespaces that begin so; others are as absent as what was never
    /// there, also where an id is too short.
    pub fn session_among(
        &self,
        id: &str,
        namespaces: Option<&[String]>,
    ) -> Result<Option<SessionRow>> {
        let mut all = Conditions::default();
        all.add("substr(s.id, 1, length({})) = {}", id.to_owned());
        all.add_plain("s.standing >= 0".into());
        all.projects(namespaces, None);
        let read = || -> rusqlite::Result<Vec<SessionRow>> {
            let sql = format!("{SELECT} WHERE {} ORDER BY s.id LIMIT {SEVERAL}", all.sql());
            let values: Vec<&dyn ToSql> = all.values.iter().map(AsRef::as_ref).collect();
            let mut select = self.db.prepare_cached(&sql)?;
            select.query_map(values.as_slice(), session_row)?.collect()
        };
        let mut found = read().map_err(failed("reading a session"))?;
        if id.is_empty() {
            return Ok(None);
        }
        if let Some(exact) = found.iter().position(|row| row.session.id == id) {
            return Ok(Some(found.swap_remove(exact)));
        }
        match found.len() {
            0 | 1 => Ok(found.pop()),
            _ => Err(several(
                "session",
                id,
                found.iter().map(|row| row.session.id.clone()),
            )),
        }
    }

    /// Project paths of the namespaces that begin so (000-071): (namespace, path), by path.
    pub fn projects(&self, namespace_prefix: &str) -> Result<Vec<(String, String)>> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            self.db
                .prepare_cached(
                    "SELECT DISTINCT namespace, project_path FROM session
                     WHERE substr(namespace, 1, length(?1)) = ?1 ORDER BY project_path, namespace",
                )?
                .query_map([namespace_prefix], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        read().map_err(failed("listing projects"))
    }
}

/// Ids that are read to name those that begin alike: one more than are named.
pub(crate) const SEVERAL: usize = 7;

/// An id's beginning that isn't enough.
pub(crate) fn several(what: &str, given: &str, ids: impl Iterator<Item = String>) -> Error {
    let mut ids: Vec<String> = ids.collect();
    let plural = match what.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{what}s"),
    };
    if ids.len() == SEVERAL {
        ids[SEVERAL - 1] = "…".to_owned();
    }
    Error::usage(format!("several {plural} begin with {given}"))
        .hinted(format!("type more of it: {}", ids.join(", ")))
}

impl SessionFilter {
    /// Conditions on `s`, and the values for their holes from `?1` on.
    pub(crate) fn conditions(&self) -> (String, Vec<Box<dyn ToSql>>) {
        let mut all = Conditions::default();
        all.add_plain(NOT_FORGOTTEN.into());
        all.projects(self.namespaces.as_deref(), self.project.as_deref());
        if let Some(agent) = self.agent {
            all.add("s.agent = {}", agent.as_str());
        }
        if let Some(since) = self.since {
            all.add("s.ended >= {}", since.0);
        }
        if let Some(until) = self.until {
            all.add("s.started < {}", until.0);
        }
        (all.sql(), all.values)
    }
}

/// SQL conditions with their values, numbered in the order in which they are added.
#[derive(Default)]
pub(crate) struct Conditions {
    sql: Vec<String>,
    pub(crate) values: Vec<Box<dyn ToSql>>,
}

impl Conditions {
    /// Adds a value; gives its hole.
    pub(crate) fn hole(&mut self, value: impl ToSql + 'static) -> String {
        self.values.push(Box::new(value));
        format!("?{}", self.values.len())
    }

    /// Adds a condition in which `{}` stands for the value.
    pub(crate) fn add(&mut self, condition: &str, value: impl ToSql + 'static) {
        let hole = self.hole(value);
        self.sql.push(condition.replace("{}", &hole));
    }

    /// There is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.sql.is_empty()
    }

    /// Adds a condition whose holes are numbered already.
    pub(crate) fn add_plain(&mut self, condition: String) {
        self.sql.push(condition);
    }

    /// Namespaces by their beginnings, and a project path with everything below it.
    pub(crate) fn projects(&mut self, namespaces: Option<&[String]>, project: Option<&str>) {
        if let Some(namespaces) = namespaces {
            let (whole, begun): (Vec<&String>, Vec<&String>) = namespaces
                .iter()
                .partition(|prefix| prefix.len() == NAMESPACE_DIGITS);
            let mut any: Vec<String> = begun
                .into_iter()
                .map(|prefix| {
                    let hole = self.hole(prefix.clone());
                    format!("substr(s.namespace, 1, length({hole})) = {hole}")
                })
                .collect();
            let whole: Vec<String> = whole.into_iter().map(|n| self.hole(n.clone())).collect();
            if !whole.is_empty() {
                any.push(format!("s.namespace IN ({})", whole.join(", ")));
            }
            let any = any.join(" OR ");
            self.sql.push(if any.is_empty() {
                "0".into()
            } else {
                format!("({any})")
            });
        }
        if let Some(project) = project {
            let below = format!("{}/", project.trim_end_matches('/'));
            let hole = self.hole(project.to_string());
            self.add(
                &format!(
                    "(s.project_path = {hole} OR substr(s.project_path, 1, length({{}})) = {{}})"
                ),
                below,
            );
        }
    }

    /// All of them, joined.
    pub(crate) fn sql(&self) -> String {
        if self.sql.is_empty() {
            "1".into()
        } else {
            self.sql.join(" AND ")
        }
    }
}

const SELECT: &str = "SELECT s.id, s.agent, s.namespace, s.project_path, s.cwd, s.branch, s.host,
    s.file, s.facts, s.title,
    (SELECT count(*) FROM episode e WHERE e.session = s.n AND e.source = 'session'),
    (SELECT coalesce(sum(sealed), 0) FROM episode e
        WHERE e.session = s.n AND e.source = 'session'),
    (SELECT coalesce(sum(body_bytes), 0) FROM episode e
        WHERE e.session = s.n AND e.source = 'session'),
    (SELECT count(*) FROM file f WHERE f.session = s.n)
    FROM session s";

fn session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        session: Session {
            id: row.get(0)?,
            agent: agent(row, 1)?,
            namespace: row.get(2)?,
            project_path: row.get(3)?,
            cwd: row.get(4)?,
            branch: row.get(5)?,
            host: row.get(6)?,
            file: row.get(7)?,
            facts: row.get::<_, Json<SessionFacts>>(8)?.0,
        },
        title: row.get(9)?,
        episodes: row.get(10)?,
        sealed: row.get(11)?,
        body_bytes: row.get(12)?,
        files: row.get(13)?,
    })
}

/// Adds or completes a session; gives `session.n`.
///
/// Host, namespace and project are the first ingest's, except that a log which knows the project
/// better (`standing`) corrects one that knew it worse.
pub(crate) fn upsert(db: &Connection, session: &Session, standing: u8) -> rusqlite::Result<i64> {
    let known: Option<(i64, u8)> = db
        .prepare_cached("SELECT n, standing FROM session WHERE id = ?1")?
        .query_row([&session.id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let values = params![
        session.id,
        session.agent.as_str(),
        session.namespace,
        session.project_path,
        session.cwd,
        session.file,
        standing,
        session.host,
    ];
    match known {
        None => db
            .prepare_cached(
                "INSERT INTO session (id, agent, namespace, project_path, cwd, file, standing, host,
                     facts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '{}')",
            )?
            .insert(values),
        Some((n, held)) if held < standing => {
            db.prepare_cached(
                "UPDATE session SET (agent, namespace, project_path, cwd, file, standing)
                     = (?2, ?3, ?4, ?5, ?6, ?7) WHERE id = ?1",
            )?
            .execute(&values[..7])?;
            Ok(n)
        }
        Some((n, _)) => Ok(n),
    }
}

/// Derives a session's title, times and facts from its files. A session that nothing belongs to
/// any more (its log was too short to tell whose it is) goes.
pub(crate) fn refresh(db: &Connection, session: i64) -> rusqlite::Result<()> {
    let is_empty = db
        .prepare_cached(
            "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM file WHERE session = ?1) AND NOT EXISTS
                 (SELECT 1 FROM episode WHERE session = ?1 AND source = 'session')",
        )?
        .exists([session])?;
    if is_empty {
        remove_summary(db, session)?;
        return db
            .prepare_cached("DELETE FROM session WHERE n = ?1")?
            .execute([session])
            .map(drop);
    }
    set_unsummarised(db, session)?;
    let facts = merged_facts(db, session)?;
    let summary: Option<String> = db
        .prepare_cached("SELECT summary FROM session WHERE n = ?1")?
        .query_row([session], |row| row.get(0))?;
    let title = facts
        .custom_title
        .as_ref()
        .or(facts.ai_title.as_ref())
        .or(summary.as_ref())
        .or(facts.first_prompt.as_ref());
    let values = params![
        session,
        title,
        facts.branch,
        facts.started.map(|t| t.0),
        facts.ended.map(|t| t.0),
        pack_json(&facts),
    ];
    db.prepare_cached(
        "UPDATE session SET (title, branch, started, ended, facts) = (?2, ?3, ?4, ?5, ?6)
         WHERE n = ?1
             AND (title, branch, started, ended, facts) IS NOT (?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(values)?;
    Ok(())
}

/// Main logs in the order of their start, then sub-agents', whose titles and versions say
/// nothing about the session unless no main log is left.
fn merged_facts(db: &Connection, session: i64) -> rusqlite::Result<SessionFacts> {
    type State = Json<(Ledger, SessionFacts)>;
    let mut select = db.prepare_cached(
        "SELECT file.key, file.stream IS NOT NULL, sealed, tail
         FROM file JOIN fold ON fold.file = file.n WHERE file.session = ?1",
    )?;
    let mut files = select
        .query_map([session], |row| {
            let Json((_, mut facts)) = row.get::<_, State>(2)?;
            facts.merge(&row.get::<_, State>(3)?.0.1);
            Ok((row.get::<_, bool>(1)?, facts, row.get::<_, String>(0)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    files.sort_by(|a, b| (a.0, a.1.started, &a.2).cmp(&(b.0, b.1.started, &b.2)));
    let mut merged = SessionFacts::default();
    let mut main = false;
    for (stream, mut facts, _) in files {
        main |= !stream;
        if stream && main {
            (facts.custom_title, facts.ai_title, facts.first_prompt) = (None, None, None);
            (facts.version, facts.branch) = (None, None);
            (facts.forked_from, facts.parent) = (None, None);
        }
        merged.merge(&facts);
    }
    Ok(merged)
}

/// Gives the titles that files told by a record's id to the sessions that own the records. Reads
/// all record ids (8 bytes each), but only where that is due and a log tells such titles. Whether
/// it was due.
pub(crate) fn attribute_summaries(db: &mut Connection) -> rusqlite::Result<bool> {
    if !Task::Titles.is_due(db)? {
        return Ok(false);
    }
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if scrub_summaries(&tx)? {
        compact::due(&tx)?;
    }
    Task::Titles.clear(&tx)?;
    let told: FxHashMap<u64, String> = tx
        .prepare_cached("SELECT leaf, text FROM summary ORDER BY leaf, text")?
        .query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if told.is_empty() {
        return tx.commit().map(|()| true);
    }
    let mut titles = BTreeMap::new();
    {
        let mut select = tx.prepare_cached(
            "SELECT file.session, file.stream IS NULL, file.key, block, ids
             FROM record JOIN file ON file.n = record.file",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let ids = row.get_ref(4)?.as_blob()?;
            for (nth, id) in unpack(ids).enumerate() {
                let Some(text) = told.get(&id) else { continue };
                let (session, main): (i64, bool) = (row.get(0)?, row.get(1)?);
                let (key, block): (String, i64) = (row.get(2)?, row.get(3)?);
                // sub-agents' count least
                let place = (session, main, Reverse(key), block == 0, block, nth);
                titles.insert(place, text);
            }
        }
    }
    // The last title of a session's own last record stands.
    let last = titles
        .into_iter()
        .map(|((session, ..), text)| (session, text));
    for (session, text) in BTreeMap::from_iter(last) {
        let changed = tx
            .prepare_cached("UPDATE session SET summary = ?2 WHERE n = ?1 AND summary IS NOT ?2")?
            .execute(params![session, text])?;
        if changed > 0 {
            refresh(&tx, session)?;
        }
    }
    tx.commit().map(|()| true)
}

/// Takes out the titles that other sessions' logs give to records of forgotten ones; whether there
/// were any. Reads record ids of forgotten sessions only, and only where logs tell such titles.
pub(crate) fn scrub_summaries(tx: &Connection) -> rusqlite::Result<bool> {
    let told: Vec<(i64, i64)> = tx
        .prepare_cached("SELECT leaf, file FROM summary")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if told.is_empty() {
        return Ok(false);
    }
    let forgotten: Vec<i64> = tx
        .prepare_cached("SELECT n FROM session WHERE id IN (SELECT session FROM forgotten)")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut theirs = FxHashSet::default();
    for session in forgotten {
        let ids = records::of_session(tx, session)?;
        theirs.extend(ids.into_iter().filter(|id| id & COPY == 0));
    }
    let files: BTreeSet<i64> = told
        .iter()
        .filter(|(leaf, _)| theirs.contains(&(*leaf as u64)))
        .map(|(_, file)| *file)
        .collect();
    for file in &files {
        scrub_file(tx, *file, &theirs)?;
    }
    Ok(!files.is_empty())
}

/// The same for what one file tells.
fn scrub_file(tx: &Connection, file: i64, theirs: &FxHashSet<u64>) -> rusqlite::Result<()> {
    type State = Json<(Ledger, SessionFacts)>;
    let (session, Json(mut sealed), Json(mut tail)): (i64, State, State) = tx.query_row(
        "SELECT file.session, sealed, tail FROM fold JOIN file ON file.n = fold.file
         WHERE fold.file = ?1",
        [file],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    for (_, facts) in [&mut sealed, &mut tail] {
        let stays = |leaf: &Uuid| !theirs.contains(&short_id(*leaf));
        facts.summaries.retain(|(leaf, _)| stays(leaf));
    }
    tx.execute(
        "UPDATE fold SET (sealed, tail) = (?2, ?3) WHERE file = ?1",
        params![file, pack_json(&sealed), pack_json(&tail)],
    )?;
    let mut delete = tx.prepare_cached("DELETE FROM summary WHERE file = ?1 AND leaf = ?2")?;
    for leaf in theirs {
        delete.execute(params![file, *leaf as i64])?;
    }
    refresh(tx, session)
}
