//! What went in and what came out, summed by agent and project.
//! Knows sums of episodes and files; refuses to judge them.

use crate::model::source::Agent;
use crate::model::tally::{Tally, ToolTally};
use crate::store::columns::{agent, tally};
use crate::store::error::failed;
use crate::store::search::sessions::SessionFilter;
use crate::store::{Result, Store};
use rusqlite::{Row, ToSql};
use std::collections::BTreeMap;

/// Sums per agent and project, and of all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// By project path, then agent.
    pub rows: Vec<StatsRow>,
    /// Calls and failures per tool, of all rows.
    pub tools: BTreeMap<String, ToolTally>,
}

/// The sums of one agent in one project.
#[derive(Clone, Debug, PartialEq)]
pub struct StatsRow {
    /// Whose logs.
    pub agent: Agent,
    /// 16 hex digits.
    pub namespace: String,
    /// The project.
    pub project_path: String,
    /// Sessions.
    pub sessions: u64,
    /// Logs of these, sub-agents' included.
    pub files: u64,
    /// Bytes of log that were read, decompressed: what went in.
    pub log_bytes: u64,
    /// Episodes.
    pub episodes: u64,
    /// UTF-8 bytes of their texts: what came out.
    pub body_bytes: u64,
    /// What was counted for the episodes; `tools` is empty, see [`Stats::tools`].
    pub tally: Tally,
}

impl Store {
    /// The sums over the sessions that `filter` lets through (its limit is ignored).
    pub fn stats(&self, filter: &SessionFilter) -> Result<Stats> {
        let (conditions, values) = filter.conditions();
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        let read = || -> rusqlite::Result<Stats> {
            let sql = format!("{SUMS} WHERE {conditions} {GROUPS}");
            let rows = self
                .db
                .prepare(&sql)?
                .query_map(values.as_slice(), stats_row)?
                .collect::<rusqlite::Result<_>>()?;
            let sql = format!("{TOOLS} WHERE {conditions} GROUP BY t.tool");
            let tools = self
                .db
                .prepare(&sql)?
                .query_map(values.as_slice(), |row| {
                    let (calls, failed) = (row.get(1)?, row.get(2)?);
                    Ok((row.get(0)?, ToolTally { calls, failed }))
                })?
                .collect::<rusqlite::Result<_>>()?;
            Ok(Stats { rows, tools })
        };
        read().map_err(failed("summing up"))
    }
}

const SUMS: &str = "
    WITH logs AS (
        SELECT session, count(*) AS files, sum(read_to) AS bytes FROM file GROUP BY session
    ), texts AS (
        SELECT session, count(*) AS episodes, sum(body_bytes) AS bytes,
            sum(read_bytes) AS a, sum(records) AS b, sum(prompts) AS c, sum(messages) AS d,
            sum(calls) AS e, sum(failures) AS f, sum(refusals) AS g, sum(user_bytes) AS h,
            sum(agent_bytes) AS i, sum(digest_bytes) AS j, sum(output_bytes) AS k,
            sum(input_tokens) AS l, sum(output_tokens) AS m, sum(cache_read) AS n,
            sum(cache_write) AS o
        FROM episode WHERE source = 'session' GROUP BY session
    )
    SELECT s.agent, s.namespace, s.project_path, count(*), coalesce(sum(logs.files), 0),
        coalesce(sum(logs.bytes), 0), coalesce(sum(episodes), 0), coalesce(sum(texts.bytes), 0),
        coalesce(sum(a), 0), coalesce(sum(b), 0), coalesce(sum(c), 0),
        coalesce(sum(d), 0), coalesce(sum(e), 0), coalesce(sum(f), 0), coalesce(sum(g), 0),
        coalesce(sum(h), 0), coalesce(sum(i), 0), coalesce(sum(j), 0), coalesce(sum(k), 0),
        coalesce(sum(l), 0), coalesce(sum(m), 0), coalesce(sum(texts.n), 0), coalesce(sum(o), 0)
    FROM session s LEFT JOIN logs ON logs.session = s.n LEFT JOIN texts ON texts.session = s.n";

const GROUPS: &str = "GROUP BY s.project_path, s.namespace, s.agent
    ORDER BY s.project_path, s.agent, s.namespace";

const TOOLS: &str = "SELECT name.text, sum(t.calls), sum(t.failed)
    FROM episode_tool t JOIN name ON name.n = t.tool JOIN episode e ON e.n = t.episode
    JOIN session s ON s.n = e.session";

fn stats_row(row: &Row<'_>) -> rusqlite::Result<StatsRow> {
    Ok(StatsRow {
        agent: agent(row, 0)?,
        namespace: row.get(1)?,
        project_path: row.get(2)?,
        sessions: row.get(3)?,
        files: row.get(4)?,
        log_bytes: row.get(5)?,
        episodes: row.get(6)?,
        body_bytes: row.get(7)?,
        tally: tally(row, 8)?,
    })
}
