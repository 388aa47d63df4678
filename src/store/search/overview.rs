//! Sums and summaries of many sessions at once, for who looks over all of them.

use crate::model::source::Agent;
use crate::model::tally::ToolTally;
use crate::store::columns::agent;
use crate::store::compression::Unpacked;
use crate::store::error::failed;
use crate::store::search::sessions::SessionFilter;
use crate::store::{Result, Store};
use rusqlite::{Row, ToSql};

/// What one session did in one half hour, by when its episodes began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// The session's id.
    pub session: String,
    /// Since 1970, UTC; `None`: its log has no times.
    pub half_hour: Option<i64>,
    /// People's prompts.
    pub prompts: u64,
    /// Assistant messages.
    pub messages: u64,
    /// Tool calls.
    pub calls: u64,
    /// Failed ones.
    pub failures: u64,
}

/// Calls of a tool in a project.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectTool {
    /// 16 hex digits.
    pub namespace: String,
    /// The project.
    pub project_path: String,
    /// Whose logs.
    pub agent: Agent,
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// Calls and failures.
    pub tally: ToolTally,
}

impl Store {
    /// What the sessions that `filter` lets through did, half hour by half hour; in no particular order.
    pub fn workload(&self, filter: &SessionFilter) -> Result<Vec<Workload>> {
        let read = |row: &Row<'_>| {
            Ok(Workload {
                session: row.get(0)?,
                half_hour: row.get(1)?,
                prompts: row.get(2)?,
                messages: row.get(3)?,
                calls: row.get(4)?,
                failures: row.get(5)?,
            })
        };
        self.overview(WORKLOAD, "GROUP BY s.n, e.valid_at / 1800000", filter, read)
    }

    /// Calls by project, agent and tool.
    pub fn project_tools(&self, filter: &SessionFilter) -> Result<Vec<ProjectTool>> {
        let read = |row: &Row<'_>| {
            Ok(ProjectTool {
                namespace: row.get(0)?,
                project_path: row.get(1)?,
                agent: agent(row, 2)?,
                tool: row.get(3)?,
                tally: ToolTally {
                    calls: row.get(4)?,
                    failed: row.get(5)?,
                },
            })
        };
        let groups = "GROUP BY s.project_path, s.namespace, s.agent, t.tool";
        self.overview(TOOLS, groups, filter, read)
    }

    /// The stored summaries as Markdown: (session id, text). Sessions whose summary isn't written yet have
    /// none.
    pub fn summary_texts(&self, filter: &SessionFilter) -> Result<Vec<(String, String)>> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, Unpacked>(1)?.0));
        self.overview(SUMMARIES, "ORDER BY s.id", filter, read)
    }

    fn overview<T>(
        &self,
        select: &str,
        groups: &str,
        filter: &SessionFilter,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let (conditions, values) = filter.conditions();
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        let sql = format!("{select} AND {conditions} {groups}");
        let all = || -> rusqlite::Result<Vec<T>> {
            let mut select = self.db.prepare(&sql)?;
            let rows = select.query_map(values.as_slice(), read)?;
            rows.collect()
        };
        all().map_err(failed("looking over the sessions"))
    }
}

const WORKLOAD: &str =
    "SELECT s.id, e.valid_at / 1800000, sum(e.prompts), sum(e.messages), sum(e.calls),
        sum(e.failures)
    FROM episode e JOIN session s ON s.n = e.session WHERE e.source = 'session'";

const TOOLS: &str =
    "SELECT s.namespace, s.project_path, s.agent, name.text, sum(t.calls), sum(t.failed)
    FROM episode_tool t JOIN episode e ON e.n = t.episode JOIN session s ON s.n = e.session
    JOIN name ON name.n = t.tool WHERE 1";

const SUMMARIES: &str = "SELECT s.id, b.text FROM episode e JOIN session s ON s.n = e.session
    JOIN body b ON b.episode = e.n WHERE e.source = 'session_summary'";
