//! `status --ledger FILE[:LINE]`: why is my session, or this line, not here?

use super::ctx::Ctx;
use super::exit::Exit;
use super::ledger_lines::lines;
use crate::config::Loaded;
use crate::model::checkpoint::Checkpoint;
use crate::model::error::{Error, ErrorKind};
use crate::model::human::bytes;
use crate::model::source::SourceFile;
use crate::pipeline::disk_logs::logs_on_disk;
use crate::pipeline::explain::{Verdict, explain};
use crate::pipeline::progress::Silent;
use crate::pipeline::status::backlog;
use crate::store::{FileAccount, Store};
use anyhow::Result;
use serde_json::{Value, json};

/// Accounts for the logs that `typed` means, or for one line of one log.
pub fn run(typed: &str, ctx: &mut Ctx) -> Result<Exit> {
    let (name, line) = split(typed);
    let store = ctx.reader()?;
    let keys = store.files_like(name)?;
    match (keys.as_slice(), line) {
        ([], _) => absent(name, ctx),
        ([key], Some(line)) => one_line(key, line, &store, ctx),
        (_, Some(_)) => {
            let error = Error::usage(format!("several logs match {name}"));
            Err(error
                .hinted(format!("write more of the path: {}", keys.join(", ")))
                .into())
        }
        (_, None) => all(&keys, &store, ctx),
    }
}

/// `FILE:LINE`, where LINE is a number; everything else is a file.
fn split(typed: &str) -> (&str, Option<u64>) {
    let parts = typed.rsplit_once(':');
    let parts = parts.and_then(|(name, line)| Some((name, Some(line.parse().ok()?))));
    parts.unwrap_or((typed, None))
}

fn all(keys: &[String], store: &Store, ctx: &mut Ctx) -> Result<Exit> {
    let accounts = keys.iter().map(|key| store.account(key));
    let accounts: Vec<FileAccount> = accounts
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .collect();
    if ctx.out.json {
        let list: Vec<Value> = accounts.iter().map(document).collect();
        ctx.out.document("status", json!({"accounts": list}))?;
        return Ok(Exit::Done);
    }
    for account in &accounts {
        let checkpoint = &account.checkpoint;
        ctx.out.line(&checkpoint.path)?;
        ctx.out.line(format!(
            "session {}, read to byte {} of {}, {}",
            checkpoint.session,
            checkpoint.read_to,
            bytes(checkpoint.stat.size),
            match checkpoint.line {
                0 => "may still grow from its first line on".to_owned(),
                line => format!("may still grow after line {line}"),
            }
        ))?;
        ctx.out.text(lines(&account.ledger))?;
        for unknown in &account.unknown {
            let (kind, place) = (&unknown.name, unknown.place);
            ctx.out
                .line(format!("unknown: {kind}, first at line {}", place.line))?;
        }
        for reject in &account.rejects {
            ctx.out.line(format!(
                "rejected: line {}: {}",
                reject.place.line, reject.reason
            ))?;
        }
        ctx.out.line("")?;
    }
    Ok(Exit::Done)
}

fn document(account: &FileAccount) -> Value {
    let checkpoint = &account.checkpoint;
    json!({
        "path": checkpoint.path,
        "session": checkpoint.session,
        "stream": checkpoint.stream,
        "generation": checkpoint.generation,
        "offset": checkpoint.offset,
        "line": checkpoint.line,
        "read_to": checkpoint.read_to,
        "ledger": account.ledger,
        "rejects": account.rejects,
        "unknown": account.unknown.iter().map(|u| json!({"kind": u.name, "line": u.place.line})).collect::<Vec<_>>(),
    })
}

fn one_line(key: &str, number: u64, store: &Store, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let found = logs_on_disk(&loaded.config.roots);
    let Some(file) = found.files.iter().find(|file| *file.key == *key) else {
        let error = Error::new(ErrorKind::Failed, format!("{key} was deleted from disk"));
        return Err(error
            .hinted(format!("sessionmill status --ledger {key}"))
            .into());
    };
    let line = explain(file, number)?;
    let (episodes, verdict) = match store.checkpoint(key)? {
        Some(log) if line.end <= log.read_to => {
            let episodes = episodes(&log, number, store)?;
            let verdict = match episodes.is_empty() {
                // first: the lines of a forgotten session are in no episode either
                true if store.tombstones()?.holds(&log.session) => Verdict::Forgotten,
                true => Verdict::of(&line, store.holders(&log, &line.ids)?),
                false => Verdict::Within,
            };
            (episodes, verdict)
        }
        _ => (Vec::new(), Verdict::Unread),
    };
    if ctx.out.json {
        let body = json!({
            "path": key,
            "line": number,
            "read": verdict != Verdict::Unread,
            "records": line.records,
            "episodes": episodes,
            "verdict": verdict.text(),
        });
        ctx.out.document("status", body)?;
        return Ok(Exit::Done);
    }
    ctx.out
        .line(format!("{key}:{number}, {}", bytes(line.bytes)))?;
    for record in &line.records {
        ctx.out.line(format!("  {record}"))?;
    }
    for id in &episodes {
        ctx.out.line(format!("  within episode {id}"))?;
    }
    if let Some(text) = verdict.text() {
        ctx.out.line(format!("  {text}"))?;
    }
    Ok(Exit::Done)
}

/// Ids of the episodes of this log that were cut from bytes around a line.
fn episodes(log: &Checkpoint, line: u64, store: &Store) -> Result<Vec<String>> {
    let all = store.episodes(&log.session)?;
    let here = all.into_iter().filter(|found| {
        let (first, last) = found.episode.lines;
        found.path == log.path && (first..=last).contains(&line)
    });
    Ok(here.map(|found| found.episode.id.to_string()).collect())
}

/// The store doesn't know it: say what the next run will do with it, if it is there at all.
fn absent(name: &str, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let config = &loaded.config;
    let found = logs_on_disk(&config.roots).files;
    let file = found
        .iter()
        .find(|file| *file.key == *name || file.key.contains(name));
    let (state, hint) = match file {
        None => (
            "no log with that name is below the sources",
            "sessionmill status   (lists the folders)",
        ),
        Some(file) if config.excluded.covers(&file.key) => (
            "it is excluded",
            "sessionmill config get session_tracking.excluded_paths",
        ),
        Some(file) => fate(file, &loaded, ctx)?,
    };
    let name = file.map_or(name, |file| &file.key);
    let error = Error::new(
        ErrorKind::Failed,
        format!("{name} is not in the store: {state}"),
    );
    Err(error.hinted(hint).into())
}

fn fate(file: &SourceFile, loaded: &Loaded, ctx: &mut Ctx) -> Result<(&'static str, &'static str)> {
    let pipeline = ctx.pipeline("nightly")?;
    let cx = ctx.pipeline_context(loaded, &Silent);
    let alone = backlog(std::slice::from_ref(file), &pipeline, None, &cx)?;
    Ok(match alone.slices.is_empty() {
        true => ("it is older than the window", "sessionmill backfill"),
        false => (
            "no run has read it yet, or its project is left out",
            "sessionmill run",
        ),
    })
}
