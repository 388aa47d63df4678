//! `insights`: what many sessions have in common.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::session_filters::{self, Filters};
use crate::insight::patterns::{Insights, Patterns, Rate, Sequence};
use crate::insight::summary::short;
use crate::memory::session_summary::{context_of, items_of};
use crate::model::human::{count, plural, table, words};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Steps that lead to success, commands that fail, errors that come again
///
/// Counts and rates with their 95 % intervals over the stored sessions; what was seen once is left
/// out. A sequence is told where the sessions that have it are completed surely more, or less, often
/// than all of them.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    filters: Filters,
    /// Each project by itself, after all of them
    #[arg(long)]
    by_project: bool,
}

/// Prints insights.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let reach = session_filters::scope(&args.filters, ctx)?;
    let filter = reach.sessions(&args.filters, ctx)?;
    let store = ctx.reader()?;
    let mut all = Patterns::default();
    let mut projects: BTreeMap<(String, String), Patterns> = BTreeMap::new();
    let mut rows = store.sessions(&filter)?;
    // the oldest first: of ways to resolve an error, the last ones are shown
    rows.reverse();
    for row in &rows {
        let session = &row.session;
        let episodes = store.episodes(&session.id)?;
        let stored = items_of(&store, &episodes)?;
        let hides = ctx.hides_paths_of(&session.project_path)?;
        let (lines, mut summary) = (stored.lines(), stored.summary(&context_of(row, hides)));
        summary.shorten_paths(&session.project_path, hides);
        let resolved = &summary.errors_resolved;
        all.add(&session.id, &lines, summary.outcome, resolved);
        if args.by_project {
            let key = (session.namespace.clone(), session.project_path.clone());
            let own = projects.entry(key).or_default();
            own.add(&session.id, &lines, summary.outcome, resolved);
        }
    }
    let all = all.insights();
    if ctx.out.json {
        let projects = projects.into_iter().map(|((namespace, path), own)| {
            let own = own.insights();
            let own = json!({"namespace": namespace, "project_path": path, "insights": own});
            session_filters::veiled(own, &path, ctx)
        });
        let projects: Vec<Value> = projects.collect::<Result<_>>()?;
        let body = json!({"sessions": rows.len(), "insights": all, "projects": projects});
        ctx.out.document("insights", body)?;
        return Ok(Exit::Done);
    }
    print(&plural(rows.len() as u64, "session"), &all, ctx)?;
    if all.is_quiet() && reach.refusal().is_none() {
        ctx.out
            .note("nothing was seen often enough to tell; sessionmill backfill reads older logs")?;
    }
    for ((namespace, path), own) in projects {
        ctx.out.line("")?;
        let place = session_filters::origin_of(&namespace, &path, ctx)?;
        print(&place, &own.insights(), ctx)?;
    }
    Ok(Exit::Done)
}

fn print(title: &str, found: &Insights, ctx: &mut Ctx) -> Result<()> {
    let title = ctx.out.paint(Style::Bold, title);
    ctx.out.line(title)?;
    if found.completed.of > 0 {
        ctx.out
            .line(format!("completed: {}", rate(found.completed)))?;
    }
    sequences("Steps that lead to success", &found.leading, ctx)?;
    sequences("Steps that lead elsewhere", &found.misleading, ctx)?;
    if !found.failing.is_empty() {
        heading("Commands that fail", ctx)?;
        let head = ["failed", "mended", "passed", "again", "left", "command"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(found.failing.iter().map(|command| {
            let then = [command.mended, command.passed, command.again, command.left];
            let mut row = vec![rate(command.failed)];
            row.extend(then.map(count));
            row.push(short(&command.command, COMMAND_CHARS_MAX));
            row
        }));
        ctx.out.text(table(&rows, &[1, 2, 3, 4]))?;
    }
    if !found.errors.is_empty() {
        heading("Errors that come again", ctx)?;
    }
    for error in &found.errors {
        let times = plural(error.times, "time");
        let sessions = plural(error.sessions, "session");
        ctx.out
            .line(format!("{} ({times} in {sessions})", error.error))?;
        for resolved in &error.resolved {
            let resolution = &resolved.resolution.what;
            let session = ctx.session_shown(&resolved.session)?;
            ctx.out.line(format!(
                "  {} worked after {} changed [{session}:{}]",
                short(&resolution.call, COMMAND_CHARS_MAX),
                resolution.changed.join(", "),
                resolution.worked_at
            ))?;
        }
    }
    Ok(())
}

/// A command is recognised by its beginning.
const COMMAND_CHARS_MAX: usize = 100;

fn heading(text: &str, ctx: &mut Ctx) -> Result<()> {
    ctx.out.line("")?;
    let text = ctx.out.paint(Style::Dim, text);
    ctx.out.line(text)
}

fn sequences(title: &str, all: &[Sequence], ctx: &mut Ctx) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    heading(title, ctx)?;
    for sequence in all {
        let steps: Vec<String> = sequence.steps.iter().map(|step| named(step)).collect();
        let steps = steps.join(" › ");
        ctx.out
            .line(format!("{steps}: {}", rate(sequence.completed)))?;
    }
    Ok(())
}

/// A step as people call it: `$ vcs_look` is a command of a kind.
fn named(step: &str) -> String {
    match step.strip_prefix("$ ") {
        Some("help" | "other") | None => step.to_owned(),
        Some(class) => format!("$ {}", words(&class.replace("vcs", "git"))),
    }
}

/// `7 of 9, 78 % (45–94)`.
fn rate(rate: Rate) -> String {
    let percent = |share: f64| (share * 100.0).round();
    format!(
        "{} of {}, {} % ({}–{})",
        count(rate.hits),
        count(rate.of),
        percent(rate.rate),
        percent(rate.low),
        percent(rate.high)
    )
}
