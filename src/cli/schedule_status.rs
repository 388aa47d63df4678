//! `schedule status`: whether the timer does its work.

use super::ctx::Ctx;
use super::exit::Exit;
use crate::model::human::{ago, plural, time};
use crate::pipeline::schedule::installed;
use crate::pipeline::schedule::recurrence::Recurrence;
use crate::pipeline::schedule::runs::Runs;
use anyhow::Result;
use serde_json::json;
use std::path::Path;

/// Failed runs that are told one by one; the log has the others.
const FAILED_SHOWN: usize = 3;

/// Tells how the timer's runs went, and when the next one is due by the clock on the wall.
pub fn run(ctx: &mut Ctx) -> Result<Exit> {
    let files = installed(ctx.vars())?;
    let how = files.iter().find_map(|(path, _)| how(path));
    let recurrence = files
        .iter()
        .find_map(|(_, text)| Recurrence::installed_in(text));
    let pipeline = files.iter().find_map(|(_, text)| pipeline_in(text));
    let pipeline = pipeline.unwrap_or_else(|| "nightly".into());
    let next = recurrence
        .as_ref()
        .and_then(|recurrence| recurrence.next(ctx.now, ctx.zone));
    let runs = Runs::of(&pipeline, &ctx.home);
    if ctx.out.json {
        let failed = runs
            .failed
            .iter()
            .map(|run| json!({"at": run.at.rfc3339_millis(), "reason": run.reason}));
        let body = json!({
            "installed": how.is_some(),
            "how": how,
            "when": recurrence.map(|recurrence| recurrence.to_string()),
            "pipeline": pipeline,
            "last": runs.last.map(|at| at.rfc3339_millis()),
            "next": next.map(|at| at.rfc3339_millis()),
            "failed": failed.collect::<Vec<_>>(),
            "failed_since_last": runs.failed_since_last(),
        });
        ctx.out.document("schedule status", body)?;
        return Ok(Exit::Done);
    }
    match (how, &recurrence) {
        (None, _) => ctx.out.line("timer: none is installed")?,
        (Some(how), None) => ctx.out.line(format!("timer: {how}, run {pipeline}"))?,
        (Some(how), Some(recurrence)) => ctx
            .out
            .line(format!("timer: {how}, {recurrence}, run {pipeline}"))?,
    }
    match runs.last {
        Some(last) => {
            let (ago, at) = (ago(last, ctx.now), time(Some(last), ctx.zone));
            ctx.out.line(format!("last run: {ago} ({at})"))?;
        }
        None => ctx.out.line("last run: never")?,
    }
    if let Some(next) = next {
        ctx.out
            .line(format!("next run: {}", time(Some(next), ctx.zone)))?;
    }
    tell_failed(&runs, ctx)?;
    if how.is_none() {
        ctx.out.note("hint: sessionmill schedule install")?;
    }
    Ok(Exit::Done)
}

fn tell_failed(runs: &Runs, ctx: &mut Ctx) -> Result<()> {
    if runs.failed.is_empty() {
        return ctx.out.line("failed runs: none");
    }
    let since = match (runs.failed_since_last(), runs.last) {
        (0, _) => "none since the last run".to_owned(),
        (n, Some(_)) => format!("{n} since the last run"),
        (_, None) => "none went through yet".to_owned(),
    };
    let failed = runs.failed.len();
    ctx.out.line(format!("failed runs: {failed} ({since})"))?;
    for run in runs.failed.iter().rev().take(FAILED_SHOWN) {
        let at = time(Some(run.at), ctx.zone);
        ctx.out.words(&format!("  {at}  "), "    ", &run.reason)?;
    }
    if failed > FAILED_SHOWN {
        let more = plural((failed - FAILED_SHOWN) as u64, "earlier one");
        ctx.out
            .note(format!("{more} in {}", ctx.home.logs().display()))?;
    }
    Ok(())
}

/// What starts us, by the file that says so.
fn how(path: &Path) -> Option<&'static str> {
    match path.extension().and_then(|kind| kind.to_str()) {
        Some("timer") => Some("systemd"),
        Some("plist") => Some("launchd"),
        None if path == Path::new("crontab") => Some("cron"),
        _ => None,
    }
}

/// The pipeline that a unit, an agent or a crontab block runs.
fn pipeline_in(text: &str) -> Option<String> {
    let line = text.lines().find(|line| {
        line.contains("sessionmill") && line.contains(" run ") && !line.starts_with('#')
    });
    let words = match line {
        Some(line) => line.split(" run ").nth(1)?.split_whitespace().next()?,
        None => {
            let mut words = text.lines().map(str::trim);
            words.find(|line| *line == "<string>run</string>")?;
            let word = words.next()?.strip_prefix("<string>")?;
            word.strip_suffix("</string>")?
        }
    };
    Some(words.trim_matches(['"', '\'']).to_owned())
}
