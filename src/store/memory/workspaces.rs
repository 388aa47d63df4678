//! Projects and sessions by what names their groups.

use crate::model::scope::MemoryScope;
use crate::model::source::Agent;
use crate::store::columns::agent;
use crate::store::error::failed;
use crate::store::ingest::without_log::Project;
use crate::store::{Result, Store};
use rusqlite::OptionalExtension;

/// Id, whose log, namespace.
pub type SessionKey = (String, Agent, String);

impl Store {
    /// The sessions that have a log: id, whose log, namespace.
    pub fn session_keys(&self) -> Result<Vec<SessionKey>> {
        let read = || -> rusqlite::Result<Vec<SessionKey>> {
            self.db
                .prepare_cached("SELECT id, agent, namespace FROM session WHERE standing >= 0")?
                .query_map([], |row| Ok((row.get(0)?, agent(row, 1)?, row.get(2)?)))?
                .collect()
        };
        read().map_err(failed("reading sessions"))
    }

    /// The sessions of which something was delivered to the groups of a scope.
    pub fn delivered_in(&self, scope: MemoryScope) -> Result<Vec<SessionKey>> {
        let suffix = format!("/{}", scope.as_str());
        let read = || -> rusqlite::Result<Vec<SessionKey>> {
            self.db
                .prepare(
                    "SELECT DISTINCT s.id, s.agent, s.namespace
                     FROM sink k JOIN delivery d ON d.sink = k.n
                     JOIN episode e ON e.id = d.id JOIN session s ON s.n = e.session
                     WHERE substr(k.name, -length(?1)) = ?1
                       AND d.state IN ('sent', 'seen', 'enriched', 'unverified')",
                )?
                .query_map([suffix], |row| {
                    Ok((row.get(0)?, agent(row, 1)?, row.get(2)?))
                })?
                .collect()
        };
        read().map_err(failed("reading what was delivered"))
    }

    /// Namespaces for whose project no workspace is noted, each with the project's path.
    pub fn projects_without_workspace(&self) -> Result<Vec<(String, String)>> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            self.db
                .prepare_cached(
                    "SELECT namespace, (SELECT project_path FROM session s
                             WHERE s.namespace = n.namespace ORDER BY project_path LIMIT 1)
                         FROM (SELECT DISTINCT namespace FROM session) n
                     WHERE namespace NOT IN (SELECT namespace FROM workspace)",
                )?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        read().map_err(failed("listing projects"))
    }

    /// The project of exactly this namespace; `None`: nothing of it is stored.
    pub fn project(&self, namespace: &str) -> Result<Option<Project>> {
        self.db
            .query_row(
                "SELECT namespace, project_path, host FROM session WHERE namespace = ?1 LIMIT 1",
                [namespace],
                |row| {
                    Ok(Project {
                        namespace: row.get(0)?,
                        path: row.get(1)?,
                        host: row.get(2)?,
                    })
                },
            )
            .optional()
            .map_err(failed("reading a project"))
    }

    /// What names a project's group; `None`: no run met the project.
    pub fn workspace(&self, namespace: &str) -> Result<Option<String>> {
        self.db
            .query_row(
                "SELECT key FROM workspace WHERE namespace = ?1",
                [namespace],
                |row| row.get(0),
            )
            .optional()
            .map_err(failed("reading a workspace"))
    }

    /// Notes what names a project's group, for good: a later word changes nothing.
    pub fn set_workspace(&mut self, namespace: &str, key: &str) -> Result<()> {
        self.write_transaction("noting a workspace", |tx| {
            tx.execute(
                "INSERT OR IGNORE INTO workspace (namespace, key) VALUES (?1, ?2)",
                [namespace, key],
            )
            .map(drop)
        })
    }

    /// All projects that a run met, by namespace, with what names their groups.
    pub fn workspaces(&self) -> Result<Vec<(String, String)>> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            self.db
                .prepare_cached("SELECT namespace, key FROM workspace ORDER BY namespace")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        read().map_err(failed("reading workspaces"))
    }
}
