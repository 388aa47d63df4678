//! Sessions, listed and found by id; and the conditions by which they and their episodes are chosen.

use crate::model::activity::ExchangeTally;
use crate::model::error::Error;
use crate::model::namespace::NAMESPACE_DIGITS;
use crate::model::session::{Session, SessionFacts, SessionLength, Stretch};
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::columns::{agent, exchanges};
use crate::store::compression::Json;
use crate::store::damaged_rows::{sound, sound_or_none};
use crate::store::error::failed;
use crate::store::tombstones::NOT_FORGOTTEN;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, Row, ToSql};

/// Which sessions to list. The default is all of them but the forgotten ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Prefixes of namespaces; `None`: all, empty: none.
    pub namespaces: Option<Vec<String>>,
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

impl SessionRow {
    /// The title, where somebody or something gave one: none that is only the first prompt's beginning.
    pub fn given_title(&self) -> Option<&str> {
        let first = self.session.facts.first_prompt.as_deref();
        self.title.as_deref().filter(|title| first != Some(title))
    }
}

/// Ids that begin so: a range of the index, and within it those that do.
pub(in crate::store) const BEGINS: &str =
    "s.id >= {} AND s.id <= {} || char(1114111) AND substr(s.id, 1, length({})) = {}";

impl Store {
    /// How many sessions the filter lets through, whatever its limit.
    pub fn count_sessions(&self, filter: &SessionFilter) -> Result<u64> {
        let (conditions, values) = filter.conditions();
        let sql = format!("SELECT count(*) FROM session s WHERE {conditions}");
        let read = || -> rusqlite::Result<u64> {
            let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
            self.db
                .prepare_cached(&sql)?
                .query_row(values.as_slice(), |row| row.get(0))
        };
        read().map_err(failed("counting sessions"))
    }

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
            let rows = select.query_map(values.as_slice(), session_row)?;
            rows.filter_map(sound).collect()
        };
        read().map_err(failed("listing sessions"))
    }

    /// The session with this id, or the only one whose id begins so, found by the index; `None` when there is none.
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
        one(self.sessions_where(BEGINS, id, namespaces)?, id)
    }

    /// The same, and of the whole id of a sub-agent the session that it worked for: its log is part of that.
    pub fn session_with_agents(
        &self,
        id: &str,
        namespaces: Option<&[String]>,
    ) -> Result<Option<SessionRow>> {
        let agents = "s.n IN (SELECT session FROM episode WHERE stream = {})";
        match self.session_among(id, namespaces)? {
            None => one(self.sessions_where(agents, id, namespaces)?, id),
            found => Ok(found),
        }
    }

    /// The session with exactly this id, found by the index.
    pub(crate) fn session_of_id(&self, id: &str) -> Result<Option<SessionRow>> {
        Ok(self.sessions_where("s.id = {}", id, None)?.pop())
    }

    /// At most a few of which a condition with the id holds.
    fn sessions_where(
        &self,
        condition: &str,
        id: &str,
        namespaces: Option<&[String]>,
    ) -> Result<Vec<SessionRow>> {
        if id.is_empty() {
            return Ok(Vec::new());
        }
        let mut all = Conditions::default();
        all.add(condition, id.to_owned());
        all.add_plain("s.standing >= 0".into());
        all.projects(namespaces);
        let read = || -> rusqlite::Result<Vec<SessionRow>> {
            let sql = format!("{SELECT} WHERE {} ORDER BY s.id LIMIT {SEVERAL}", all.sql());
            let values: Vec<&dyn ToSql> = all.values.iter().map(AsRef::as_ref).collect();
            let mut select = self.db.prepare_cached(&sql)?;
            let rows = select.query_map(values.as_slice(), session_row)?;
            rows.filter_map(sound).collect()
        };
        read().map_err(failed("reading a session"))
    }

    /// How long the session with exactly this id took; `None` where its log has no times.
    pub fn length(&self, session: &str) -> Result<Option<SessionLength>> {
        let read = || -> rusqlite::Result<Vec<Stretch>> {
            let mut select = self.db.prepare_cached(
                "SELECT e.stream, e.valid_at, coalesce(e.ended_at, e.valid_at), a.exchanges
                 FROM episode e JOIN session s ON s.n = e.session LEFT JOIN activity a ON a.episode = e.n
                 WHERE s.id = ?1 AND e.source = 'session' AND e.valid_at IS NOT NULL",
            )?;
            let stretch = |row: &Row<'_>| {
                Ok(Stretch {
                    stream: row.get(0)?,
                    from: Time(row.get(1)?),
                    to: Time(row.get(2)?),
                    work: ExchangeTally::work_of(&exchanges(row, 3, 0)?),
                })
            };
            select.query_map([session], stretch)?.collect()
        };
        let stretches = read().map_err(failed("reading when a session was at work"))?;
        Ok(SessionLength::of(&stretches))
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

/// The session that has exactly this id, or whose id alone begins so.
fn one(mut found: Vec<SessionRow>, id: &str) -> Result<Option<SessionRow>> {
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
        .hinted(format!("use a longer prefix: {}", ids.join(", ")))
}

impl SessionFilter {
    /// Conditions on `s`, and the values for their holes from `?1` on.
    pub(crate) fn conditions(&self) -> (String, Vec<Box<dyn ToSql>>) {
        let mut all = Conditions::default();
        all.add_plain(NOT_FORGOTTEN.into());
        all.projects(self.namespaces.as_deref());
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

    /// Namespaces by their beginnings.
    pub(crate) fn projects(&mut self, namespaces: Option<&[String]>) {
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
            facts: facts(row, 8)?,
        },
        title: row.get(9)?,
        episodes: row.get(10)?,
        sealed: row.get(11)?,
        body_bytes: row.get(12)?,
        files: row.get(13)?,
    })
}

/// Nothing of the session's row is other than it should be; so too where there is none.
pub(crate) fn check(db: &Connection, n: i64) -> rusqlite::Result<()> {
    let sql = format!("{SELECT} WHERE s.n = ?1");
    let read = db.prepare_cached(&sql)?.query_row([n], session_row);
    read.optional().map(drop)
}

/// A column that holds a session's facts; none where it can't be read.
pub(crate) fn facts(row: &Row<'_>, column: usize) -> rusqlite::Result<SessionFacts> {
    let facts = sound_or_none(row.get::<_, Json<SessionFacts>>(column))?;
    Ok(facts.map(|Json(facts)| facts).unwrap_or_default())
}
