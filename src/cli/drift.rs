//! `status --drift`: what the logs say that this version doesn't know. Names, counts and places;
//! never content.

use super::ctx::Ctx;
use super::exit::Exit;
use crate::agents::versions;
use crate::model::human::{count, plural, table, time};
use crate::model::time::Time;
use crate::pipeline::disk_logs::logs_on_disk;
use crate::pipeline::drift_sample::samples;
use crate::store::{StoreStatus, UnknownRow, VersionRow};
use anyhow::Result;
use serde_json::{Value, json};

/// One name.
struct Row {
    name: String,
    /// Records, or of a version sessions.
    count: u64,
    /// Words in these records, which are not stored.
    words: u64,
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
                "words": row.words,
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
        ["name", "count", "words", "first seen", "example"]
            .map(String::from)
            .to_vec(),
    ];
    lines.extend(rows.iter().map(|row| {
        let line = row.line.map(|line| format!(":{line}")).unwrap_or_default();
        let first = time(row.first, ctx.zone);
        vec![
            row.name.clone(),
            count(row.count),
            count(row.words),
            first,
            format!("{}{line}", row.path),
        ]
    }));
    ctx.out.text(table(&lines, &[1, 2]))?;
    Ok(Exit::Done)
}

/// `doctor --report-drift`: a record of each name that this version doesn't know, without its content.
pub fn report(ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let found = logs_on_disk(&loaded.config.roots);
    let samples = samples(&ctx.reader()?.status()?.unknown, &found.files);
    if ctx.out.json {
        ctx.out.document("doctor", json!({"drift": samples}))?;
        return Ok(Exit::Done);
    }
    if samples.is_empty() {
        ctx.out
            .line("no drift: the logs say nothing that this version doesn't know")?;
    }
    for sample in samples {
        let times = match sample.count {
            1 => "once".to_owned(),
            times => format!("{} times", count(times)),
        };
        let words = plural(sample.words, "word");
        ctx.out.line(format!("{}: {times}, {words}", sample.name))?;
        match sample.record {
            Some(record) => ctx.out.text(format!("{record:#}\n"))?,
            None => ctx.out.line("its log is gone")?,
        }
    }
    Ok(Exit::Done)
}

/// Names first, then versions that are newer than known.
fn rows(status: &StoreStatus) -> Vec<Row> {
    let of_name = |row: &UnknownRow| Row {
        name: row.kind.clone(),
        count: row.count,
        words: row.words,
        first: row.first,
        path: row.path.clone(),
        line: Some(row.place.line),
    };
    let of_version = |row: &VersionRow| {
        Some(Row {
            name: versions::newer(row.agent, &row.version)?,
            count: row.sessions,
            words: 0,
            first: row.first,
            path: row.path.clone(),
            line: None,
        })
    };
    let versions = status.versions.iter().filter_map(of_version);
    status.unknown.iter().map(of_name).chain(versions).collect()
}
