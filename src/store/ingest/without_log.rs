//! Sessions that have no log: each project has one for its memories, one for its git operations and
//! one for its files.

use crate::model::session::SessionFacts;
use crate::store::compression::pack_json;
use rusqlite::{Connection, params};

/// A project, as an episode without a log needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// 16 hex digits.
    pub namespace: String,
    /// Its root.
    pub path: String,
    /// This machine.
    pub host: String,
}

/// `session.standing` of a session that has no log.
const NO_LOG: i64 = -1;

/// `episode.file` of an episode that was cut from no log.
pub(crate) const NO_FILE: i64 = 0;

/// A project's session for what was cut from no log. The column has to name an agent; nobody reads it.
pub(crate) fn session_without_log(
    db: &Connection,
    what: &str,
    project: &Project,
) -> rusqlite::Result<i64> {
    let id = format!("{what}-{}", project.namespace);
    db.prepare_cached(
        "INSERT OR IGNORE INTO session (id, agent, namespace, project_path, host, file, standing, facts)
         VALUES (?1, 'claude', ?2, ?3, ?4, '', ?5, ?6)",
    )?
    .execute(params![
        id,
        project.namespace,
        project.path,
        project.host,
        NO_LOG,
        pack_json(&SessionFacts::default())
    ])?;
    db.query_row("SELECT n FROM session WHERE id = ?1", [id], |row| {
        row.get(0)
    })
}
