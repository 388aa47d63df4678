//! Episodes on their way out, whole, with where they came from.
//! Knows rows; refuses to rank or to filter by words.

use crate::model::batch::Delta;
use crate::model::episode::Episode;
use crate::model::source::Agent;
use crate::model::spending::{ModelUsage, Spending};
use crate::model::tally::ToolTally;
use crate::model::time::Time;
use crate::store::columns::{AGENT, agent, exchanges, hash, source, tally, time, usage};
use crate::store::compression::Unpacked;
use crate::store::damaged_rows::sound;
use crate::store::error::failed;
use crate::store::search::sessions::{Conditions, SEVERAL, several};
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, Row, ToSql};
use std::sync::LazyLock;
use uuid::Uuid;

/// A stored episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Everything that was stored of it.
    pub episode: Episode,
    /// The session's id.
    pub session: String,
    /// Whose log it was cut from; of a git operation or a file, who did it.
    pub agent: Agent,
    /// The session's, 16 hex digits.
    pub namespace: String,
    /// The session's project.
    pub project_path: String,
    /// The machine that read it first.
    pub host: String,
    /// The log that it was cut from, where it was last seen; empty where it was cut from none.
    pub path: String,
    /// The session's last branch.
    pub branch: Option<String>,
    /// The hash of what is delivered of it.
    pub revision: u64,
    /// The version of the rules and settings that made it.
    pub made_by: String,
    /// The group that it is delivered to.
    pub group: String,
    /// When it was first stored.
    pub indexed_at: Time,
}

/// The name of an episode's group, of one that is written with `{namespace}`.
macro_rules! group_of {
    ($written:literal) => {
        concat!(
            "(SELECT n FROM name WHERE text = replace(",
            $written,
            ", '{namespace}', (SELECT s.namespace FROM session s WHERE s.n = episode.session)))"
        )
    };
}

/// Episodes of a group; memories have the groups of their scopes.
const OF_GROUP: &str = concat!(
    "graph = ",
    group_of!("?1"),
    " AND source NOT IN ('text', 'message')"
);

impl Store {
    /// The group of the chunk or summary that was stored last, as it is written: with `{namespace}` where it is
    /// its project's own. `None` where there is none.
    pub fn last_group(&self) -> Result<Option<String>> {
        self.db
            .query_row(
                "SELECT replace(g.text, s.namespace, '{namespace}')
                 FROM (SELECT graph, session FROM episode WHERE file <> 0 ORDER BY n DESC LIMIT 1) e
                 JOIN name g ON g.n = e.graph JOIN session s ON s.n = e.session",
                [],
                |row| row.get(0),
            )
            .optional()
            .map_err(failed("reading the group"))
    }

    /// The namespaces of all sessions, that of the session that ended last first.
    pub fn latest_namespaces(&self) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare(
                    "SELECT namespace FROM session GROUP BY namespace
                     ORDER BY max(coalesce(ended, started, 0)) DESC, namespace",
                )?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("reading which projects there are"))
    }

    /// How many episodes have this group (as it is written), without what people promoted.
    pub fn in_group(&self, group: &str) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM episode WHERE {OF_GROUP}");
        let count = self.db.query_row(&sql, [group], |row| row.get(0));
        count.map_err(failed("reading a group"))
    }

    /// Gives them another group (as it is written, both): what sinks have of them is to be removed there, and is
    /// due again. Gives how many they are.
    pub fn regroup(&mut self, from: &str, to: &str) -> Result<u64> {
        let episodes = self.in_group(from)?;
        self.write_transaction("moving a group", |tx| {
            let moved = format!("SELECT id FROM episode WHERE {OF_GROUP}");
            tx.execute(
                &format!(
                    "UPDATE delivery SET state = 'gone' WHERE id IN ({moved})
                     AND state IN ('sent', 'seen', 'enriched', 'unverified')"
                ),
                [from],
            )?;
            tx.execute(
                &format!("UPDATE sink SET clean_to = 0 WHERE EXISTS ({moved})"),
                [from],
            )?;
            tx.execute(
                "INSERT OR IGNORE INTO name (text)
                 SELECT DISTINCT replace(?1, '{namespace}', namespace) FROM session",
                [to],
            )?;
            let to_group = group_of!("?2");
            let sql = format!("UPDATE episode SET graph = {to_group} WHERE {OF_GROUP}");
            tx.execute(&sql, [from, to]).map(drop)
        })?;
        self.names.clear();
        Ok(episodes)
    }

    /// The chunks of the session with exactly this id: main log first, then sub-agents', parts
    /// in order. Empty when there is none.
    pub fn episodes(&self, session: &str) -> Result<Vec<Found>> {
        self.found(
            "s.id = ?1 AND e.source = 'session'
             ORDER BY e.stream, e.part, e.valid_at, e.byte_from, e.id",
            &[&session],
        )
        .map_err(failed("reading episodes"))
    }

    /// Episodes of a session's main log, the last ones first, at most so many.
    pub fn latest(&self, session: &str, limit: Option<u32>) -> Result<Vec<Found>> {
        let limit = limit.map_or(-1, i64::from);
        self.found(
            "s.id = ?1 AND e.stream IS NULL AND e.source = 'session'
             ORDER BY e.ended_at DESC, e.part DESC, e.byte_from DESC LIMIT ?2",
            &[&session, &limit],
        )
        .map_err(failed("reading the last episodes"))
    }

    /// The episode with this id, or the only one whose id begins with these hex digits (dashes
    /// are ignored); `None` when there is none. A beginning that several share is an error of
    /// kind `Usage`.
    pub fn episode(&self, id: &str) -> Result<Option<Found>> {
        self.episode_among(id, None)
    }

    /// The same among the episodes of namespaces that begin so; others are as absent as what was never
    /// there, also where an id is too short.
    pub fn episode_among(&self, id: &str, namespaces: Option<&[String]>) -> Result<Option<Found>> {
        let Some((first, last)) = id_range(id) else {
            return Ok(None);
        };
        let mut all = Conditions::default();
        all.add("e.id >= {}", first.to_vec());
        all.add("e.id <= {}", last.to_vec());
        all.projects(namespaces);
        let values: Vec<&dyn ToSql> = all.values.iter().map(AsRef::as_ref).collect();
        let mut found = self
            .found(
                &format!("{} ORDER BY e.id LIMIT {SEVERAL}", all.sql()),
                &values,
            )
            .map_err(failed("reading an episode"))?;
        match found.len() {
            0 | 1 => Ok(found.pop()),
            _ => Err(several(
                "episode",
                id,
                found.iter().map(|f| f.episode.id.to_string()),
            )),
        }
    }

    pub(crate) fn found(
        &self,
        condition: &str,
        values: &[&dyn ToSql],
    ) -> rusqlite::Result<Vec<Found>> {
        found_in(&self.db, condition, values)
    }
}

/// Whole episodes, by a condition on `e`, `s` and `f` with these values.
pub(crate) fn found_in(
    db: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> rusqlite::Result<Vec<Found>> {
    let rows = nameless(db, condition, values)?;
    rows.into_iter()
        .map(|(n, mut found)| {
            add_names(db, n, &mut found.episode)?;
            Ok(found)
        })
        .collect()
}

/// The same with their row numbers, without tools and paths.
pub(crate) fn nameless(
    db: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> rusqlite::Result<Vec<(i64, Found)>> {
    let sql = format!("{} WHERE {condition}", *SELECT);
    let mut select = db.prepare_cached(&sql)?;
    select
        .query_map(values, |row| Ok((row.get(0)?, found(row)?)))?
        .filter_map(sound)
        .collect()
}

/// Nothing of the episode's row is other than it should be; so too where there is none.
pub(crate) fn check(db: &Connection, n: i64) -> rusqlite::Result<()> {
    let sql = format!("{} WHERE e.n = ?1", *SELECT);
    let read = db.prepare_cached(&sql)?.query_row([n], found);
    read.optional().map(drop)
}

fn add_names(db: &Connection, n: i64, episode: &mut Episode) -> rusqlite::Result<()> {
    episode.files = db
        .prepare_cached(
            "SELECT text FROM episode_path JOIN name ON name.n = path WHERE episode = ?1",
        )?
        .query_map([n], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    episode.tally.tools = db
        .prepare_cached(
            "SELECT text, calls, failed FROM episode_tool JOIN name ON name.n = tool
             WHERE episode = ?1",
        )?
        .query_map([n], |row| {
            let (calls, failed) = (row.get(1)?, row.get(2)?);
            Ok((row.get(0)?, ToolTally { calls, failed }))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let used = db
        .prepare_cached(
            "SELECT text, half_hour, input_tokens, output_tokens, cache_read, cache_write, cache_write_1h
             FROM episode_usage JOIN name ON name.n = model WHERE episode = ?1",
        )?
        .query_map([n], |row| {
            Ok(ModelUsage {
                model: row.get(0)?,
                half_hour: row.get(1)?,
                usage: usage(row, 2)?,
            })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    episode.tally.usage.cache_write_1h = used.iter().map(|row| row.usage.cache_write_1h).sum();
    episode.tally.spending = Spending::of(used);
    Ok(())
}

/// First and last id that begin with these hex digits; `None` when they aren't.
fn id_range(typed: &str) -> Option<([u8; 16], [u8; 16])> {
    let digits: String = typed.chars().filter(|c| *c != '-').collect();
    let hex =
        !digits.is_empty() && digits.len() <= 32 && digits.chars().all(|c| c.is_ascii_hexdigit());
    let fill = |with: &str| {
        let all = format!("{digits}{}", with.repeat(32 - digits.len()));
        u128::from_str_radix(&all, 16).ok().map(u128::to_be_bytes)
    };
    if hex { fill("0").zip(fill("f")) } else { None }
}

static SELECT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT e.n, e.id, e.source, e.stream, e.part, e.sealed, e.pending_calls,
    e.title, b.text, e.valid_at, e.ended_at, e.byte_from, e.byte_to, e.line_from, e.line_to,
    e.message_count, e.duration_minutes, e.completed_tasks, e.files_modified,
    s.id, {AGENT}, s.namespace, s.project_path, s.host, coalesce(f.path, f.key, ''),
    e.revision, m.text, g.text, e.indexed_at,
    e.read_bytes, e.records, e.prompts, e.messages, e.calls, e.failures, e.refusals, e.user_bytes,
    e.agent_bytes, e.digest_bytes, e.output_bytes, e.input_tokens, e.output_tokens, e.cache_read,
    e.cache_write, (SELECT exchanges FROM activity a WHERE a.episode = e.n), s.branch
    FROM episode e JOIN session s ON s.n = e.session LEFT JOIN file f ON f.n = e.file
    JOIN body b ON b.episode = e.n JOIN name m ON m.n = e.made_by JOIN name g ON g.n = e.graph"
    )
});

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        episode: Episode {
            id: Uuid::from_bytes(row.get(1)?),
            source: source(row, 2)?,
            stream: row.get(3)?,
            part: row.get(4)?,
            sealed: row.get(5)?,
            pending_calls: row.get(6)?,
            title: row.get(7)?,
            text: row.get::<_, Unpacked>(8)?.0,
            valid_at: time(row, 9)?,
            ended_at: time(row, 10)?,
            bytes: Delta {
                from: row.get(11)?,
                to: row.get(12)?,
            },
            lines: (row.get(13)?, row.get(14)?),
            message_count: row.get(15)?,
            duration_minutes: row.get(16)?,
            completed_tasks: row.get(17)?,
            files_modified: row.get(18)?,
            files: Default::default(),
            tally: tally(row, 29)?,
            outline: Vec::new(),
            exchanges: exchanges(row, 44, row.get(13)?)?,
        },
        session: row.get(19)?,
        agent: agent(row, 20)?,
        namespace: row.get(21)?,
        project_path: row.get(22)?,
        host: row.get(23)?,
        path: row.get(24)?,
        branch: row.get(45)?,
        revision: hash(row, 25)?,
        made_by: row.get(26)?,
        group: row.get(27)?,
        indexed_at: Time(row.get(28)?),
    })
}
