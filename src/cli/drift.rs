//! `status --drift`: what the logs say that this version doesn't know. Names, counts and places;
//! never content.

use super::ctx::Ctx;
use super::exit::Exit;
use crate::agents::versions;
use crate::model::human::{count, table, time};
use crate::model::time::Time;
use crate::store::{StoreStatus, UnknownRow, VersionRow};
use anyhow::Result;
use serde_json::{Value, json};

/// One name.
struct Row {
    name: String,
    /// Records, or of a version sessions.
    count: u64,
    first: Option<Time>,
    path: String,
    line: Option<u64>,
}

/// Prints the table.
pub fn run(ctx: &mut Ctx) -> Result<Exit> {
    let rows = rows(&ctx.reader()?.status()?);
    if ctx.out.json {
        let rows = rows.iter().map(|row| {
            json!({
                "name": row.name,
                "count": row.count,
                "first_seen": row.first.map(Time::rfc3339_millis),
                "path": row.path,
                "line": row.line,
            })
        });
        let rows: Vec<Value> = rows.collect();
        ctx.out.document("status", json!({"drift": rows}))?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        ctx.out
            .line("no drift: this version knows everything in the logs")?;
        return Ok(Exit::Done);
    }
    let mut lines = vec![
        ["name", "count", "first seen", "example"]
            .map(String::from)
            .to_vec(),
    ];
    lines.extend(rows.iter().map(|row| {
        let line = row.line.map(|line| format!(":{line}")).unwrap_or_default();
        let first = time(row.first, ctx.zone);
        vec![
            row.name.clone(),
            count(row.count),
            first,
            format!("{}{line}", row.path),
        ]
    }));
    ctx.out.text(table(&lines, &[1]))?;
    Ok(Exit::Done)
}

/// Names first, then versions that are newer than known.
fn rows(status: &StoreStatus) -> Vec<Row> {
    let of_name = |row: &UnknownRow| Row {
        name: row.kind.clone(),
        count: row.count,
        first: row.first,
        path: row.path.clone(),
        line: Some(row.place.line),
    };
    let of_version = |row: &VersionRow| {
        Some(Row {
            name: versions::newer(row.agent, &row.version)?,
            count: row.sessions,
            first: row.first,
            path: row.path.clone(),
            line: None,
        })
    };
    let versions = status.versions.iter().filter_map(of_version);
    status.unknown.iter().map(of_name).chain(versions).collect()
}
