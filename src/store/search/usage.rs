//! Tokens that sessions used, by model and half hour. Knows no price.

use crate::model::source::Agent;
use crate::model::spending::{ModelUsage, Spending};
use crate::model::time::Time;
use crate::model::usage::Usage;
use crate::store::columns::{agent, usage};
use crate::store::error::failed;
use crate::store::search::sessions::SessionFilter;
use crate::store::{Result, Store};
use rusqlite::ToSql;
use std::collections::BTreeMap;

/// What one session used, sub-agents' logs included.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionUsage {
    /// Its id.
    pub session: String,
    /// Whose log.
    pub agent: Agent,
    /// 16 hex digits.
    pub namespace: String,
    /// The project.
    pub project_path: String,
    /// When it began, as far as its log says.
    pub started: Option<Time>,
    /// By model and half hour.
    pub spending: Spending,
    /// Of its tokens, those whose model and time aren't stored: an older program stored them, or the log
    /// names no time.
    pub unrecorded: Usage,
}

impl Store {
    /// What each session that `filter` lets through used, records that several logs hold counted once; by
    /// session id. Sessions that used nothing are left out.
    pub fn usage(&self, filter: &SessionFilter) -> Result<Vec<SessionUsage>> {
        let (conditions, values) = filter.conditions();
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        let read = || -> rusqlite::Result<Vec<SessionUsage>> {
            let mut spent = self.used_by_session(&conditions, &values)?;
            let sql = format!("{TOTALS} WHERE {conditions} AND e.source = 'session' GROUP BY s.n");
            let mut select = self.db.prepare(&sql)?;
            let rows = select.query_map(values.as_slice(), |row| {
                let rows = spent.remove(&row.get::<_, i64>(0)?).unwrap_or_default();
                let spending = Spending::of(rows);
                let all = spending.rows().iter().map(|row| row.usage);
                let told = all.fold(Usage::default(), Usage::plus);
                Ok(SessionUsage {
                    session: row.get(1)?,
                    agent: agent(row, 2)?,
                    namespace: row.get(3)?,
                    project_path: row.get(4)?,
                    started: row.get::<_, Option<i64>>(5)?.map(Time),
                    unrecorded: usage(row, 6)?.minus(told),
                    spending,
                })
            })?;
            let mut all = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            all.retain(|row| !row.spending.is_empty() || row.unrecorded != Usage::default());
            all.sort_by(|a, b| a.session.cmp(&b.session));
            Ok(all)
        };
        read().map_err(failed("summing up tokens"))
    }

    /// By `session.n`.
    fn used_by_session(
        &self,
        conditions: &str,
        values: &[&dyn ToSql],
    ) -> rusqlite::Result<BTreeMap<i64, Vec<ModelUsage>>> {
        let mut spent: BTreeMap<i64, Vec<ModelUsage>> = BTreeMap::new();
        let sql = format!("{SPENT} WHERE {conditions}");
        let mut select = self.db.prepare(&sql)?;
        let mut rows = select.query(values)?;
        while let Some(row) = rows.next()? {
            let used = ModelUsage {
                model: row.get(1)?,
                half_hour: row.get(2)?,
                usage: usage(row, 3)?,
            };
            spent.entry(row.get(0)?).or_default().push(used);
        }
        Ok(spent)
    }
}

const TOTALS: &str = "SELECT s.n, s.id, s.agent, s.namespace, s.project_path, s.started,
        sum(e.input_tokens), sum(e.output_tokens), sum(e.cache_read), sum(e.cache_write), 0
    FROM episode e JOIN session s ON s.n = e.session";

const SPENT: &str =
    "SELECT s.n, name.text, u.half_hour, u.input_tokens, u.output_tokens, u.cache_read,
        u.cache_write, u.cache_write_1h
    FROM episode_usage u JOIN episode e ON e.n = u.episode JOIN session s ON s.n = e.session
    JOIN name ON name.n = u.model";
