//! Projects and sessions by what names their groups.

use crate::model::scope::MemoryScope;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::columns::agent;
use crate::store::error::failed;
use crate::store::ingest::without_log::Project;
use crate::store::{Result, Store};
use rusqlite::{OptionalExtension, params};

/// A project that a run met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownWorkspace {
    /// Of its root.
    pub namespace: String,
    /// Its root, as sessions are stored with it.
    pub path: String,
    /// What names its group.
    pub key: String,
    /// What it is known by again; empty: nothing.
    pub first_commit: String,
}

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
                    // from one namespace to the next: projects are few, sessions are many
                    "WITH RECURSIVE n(namespace) AS (
                         SELECT min(namespace) FROM session
                         UNION ALL
                         SELECT (SELECT min(namespace) FROM session s WHERE s.namespace > n.namespace)
                             FROM n WHERE n.namespace IS NOT NULL)
                     SELECT namespace, (SELECT project_path FROM session s
                             WHERE s.namespace = n.namespace ORDER BY project_path LIMIT 1)
                         FROM n
                     WHERE namespace IS NOT NULL
                         AND namespace NOT IN (SELECT namespace FROM workspace)",
                )?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        read().map_err(failed("listing projects"))
    }

    /// Projects of which nobody looked what they are known by again, each with the project's path.
    pub fn projects_without_first_commit(&self) -> Result<Vec<(String, String)>> {
        let all = self.known("w.first_commit IS NULL")?.into_iter();
        Ok(all.map(|one| (one.namespace, one.path)).collect())
    }

    /// All projects that a run met and that sessions are stored of, by namespace.
    pub fn known_workspaces(&self) -> Result<Vec<KnownWorkspace>> {
        self.known("1")
    }

    fn known(&self, condition: &str) -> Result<Vec<KnownWorkspace>> {
        // sessions are read of those that are asked for only: their rows are large
        let sql = format!(
            "SELECT w.namespace,
                 (SELECT min(project_path) FROM session s WHERE s.namespace = w.namespace),
                 w.key, coalesce(w.first_commit, '')
             FROM workspace w
             WHERE {condition} AND EXISTS
                 (SELECT 1 FROM session s WHERE s.namespace = w.namespace)
             ORDER BY w.namespace"
        );
        let read = || -> rusqlite::Result<Vec<KnownWorkspace>> {
            let row = |row: &rusqlite::Row<'_>| {
                Ok(KnownWorkspace {
                    namespace: row.get(0)?,
                    path: row.get(1)?,
                    key: row.get(2)?,
                    first_commit: row.get(3)?,
                })
            };
            self.db.prepare(&sql)?.query_map([], row)?.collect()
        };
        read().map_err(failed("reading workspaces"))
    }

    /// Notes what a project is known by again; empty: nothing.
    pub fn set_first_commit(&mut self, namespace: &str, commit: &str) -> Result<()> {
        self.write_transaction("noting a first commit", |tx| {
            tx.execute(
                "UPDATE workspace SET first_commit = ?2 WHERE namespace = ?1",
                [namespace, commit],
            )
            .map(drop)
        })
    }

    /// Roots that projects were stored with, and where these projects are now.
    pub fn moves(&self) -> Result<Vec<(String, String)>> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            self.db
                .prepare_cached("SELECT path, root FROM moved_project ORDER BY path")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        read().map_err(failed("reading where projects are"))
    }

    /// What is stored under `path` counts to the project at `root`; so does what moved to `path` before. Back
    /// where it was, it counts to itself.
    pub fn move_project(&mut self, path: &str, root: &str, at: Time) -> Result<()> {
        self.write_transaction("noting where a project is", |tx| {
            tx.execute(
                "UPDATE moved_project SET root = ?2 WHERE root = ?1",
                [path, root],
            )?;
            tx.execute(
                "DELETE FROM moved_project WHERE path = root OR path = ?1",
                [root],
            )?;
            tx.execute(
                "INSERT OR REPLACE INTO moved_project (path, root, at) VALUES (?1, ?2, ?3)",
                params![path, root, at.0],
            )
            .map(drop)
        })
    }

    /// What is stored under `path` counts to its own project again.
    pub fn undo_move(&mut self, path: &str) -> Result<()> {
        self.write_transaction("taking a move back", |tx| {
            tx.execute("DELETE FROM moved_project WHERE path = ?1", [path])
                .map(drop)
        })
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
