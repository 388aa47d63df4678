//! Logs that stand in a database: their lines are written as the agent's events, each as a row.

use crate::agents::registry;
use crate::config::Env;
use crate::model::source::Agent;
use crate::store::execute;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// As far as they are read.
pub const TABLES: [&str; 4] = [
    "CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
        version TEXT, time_created INTEGER, time_updated INTEGER)",
    "CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
        time_updated INTEGER, data TEXT)",
    "CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
        time_created INTEGER, time_updated INTEGER, data TEXT)",
    "CREATE TABLE IF NOT EXISTS event (id TEXT PRIMARY KEY, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT)",
];

/// Where an agent's logs lie below HOME.
pub fn folder(agent: Agent) -> String {
    let env = Env {
        home: PathBuf::from("/h"),
        ..Env::default()
    };
    let folder = registry::log_folders(agent, &env).swap_remove(0);
    let below = folder.strip_prefix("/h").unwrap_or(&folder);
    // settings may stand beside logs
    let first = below.iter().next().unwrap_or_default().to_string_lossy();
    format!("{first}/")
}

/// The log is as the whole lines of `content` say, in a database with others. A line that is being written is not
/// there yet.
pub fn write(database: &Path, log: &str, content: &[u8]) -> Result<()> {
    std::fs::create_dir_all(database.parent().context("a path below HOME")?)?;
    let ends = memchr::memrchr(b'\n', content).map_or(0, |at| at + 1);
    let (parent, session) = match log.rsplit_once('/') {
        Some((parent, session)) => (parent, session),
        None => ("", log),
    };
    let owned = |values: &[&str]| values.iter().map(ToString::to_string).collect();
    let mut statements: Vec<(&str, Vec<String>)> =
        TABLES.iter().map(|table| (*table, Vec::new())).collect();
    statements.push((
        "DELETE FROM event WHERE aggregate_id = ?1",
        owned(&[session]),
    ));
    let lines = content[..ends].split(|byte| *byte == b'\n');
    for (seq, line) in lines.filter(|line| !line.is_empty()).enumerate() {
        let event: Value = serde_json::from_slice(line)?;
        let kind = event["type"].as_str().context("an event's type")?;
        let (id, data) = (format!("evt_{session}_{seq}"), event["data"].to_string());
        statements.push((
            "INSERT INTO event VALUES (?1, ?2, CAST(?3 AS INTEGER), ?4, ?5)",
            owned(&[&id, session, &seq.to_string(), kind, &data]),
        ));
    }
    statements.push((
        "INSERT OR REPLACE INTO session SELECT ?1, nullif(?2, ''), '/home/ada', 'old', '1', 1, 1
         WHERE EXISTS (SELECT 1 FROM event WHERE aggregate_id = ?1)",
        owned(&[session, parent]),
    ));
    execute(database, &statements);
    Ok(())
}
