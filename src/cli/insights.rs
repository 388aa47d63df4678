//! `insights`: what many sessions have in common.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::session_filters::{self, Filters};
use crate::insight::patterns::{InsightEntry, Insights, Patterns};
use crate::memory::places::Places;
use crate::memory::session_summary::{context_of, items_of};
use crate::model::human::{count, plural};
use crate::model::layout::markdown::plain;
use crate::model::layout::table::INDENT;
use crate::store::{SessionFilter, TYPED};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Show recurring failures and what works instead
///
/// Also shows steps that lead to success. Prints counts and rates with 95% confidence intervals.
/// Ignores what happened only once and what every session does. A sequence of steps is listed if
/// sessions with it are completed significantly more or less often than others.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    filters: Filters,
    /// List each project separately, after the total
    #[arg(long)]
    by_project: bool,
    /// Maximum sessions, newest first (0 = no limit)
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0)]
    limit: u32,
}

/// Prints insights.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let reach = session_filters::scope(&args.filters, ctx)?;
    let filter = session_filters::sessions(&reach, &args.filters, ctx)?;
    let store = ctx.reader()?;
    let mut all = Patterns::default();
    let mut projects: BTreeMap<(String, String), Patterns> = BTreeMap::new();
    let limit = (args.limit > 0).then_some(args.limit);
    let mut rows = store.sessions(&SessionFilter { limit, ..filter })?;
    let places = Places::of(&store)?;
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
            let key = places.project_of(&session.namespace, &session.project_path);
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
        ctx.out.note("nothing occurred often enough to report")?;
    }
    for ((namespace, path), own) in projects {
        ctx.out.line("")?;
        let place = session_filters::origin_of(&namespace, &path, ctx)?;
        print(&place, &own.insights(), ctx)?;
    }
    Ok(Exit::Done)
}

/// What is known of an entry stands below it.
const DETAIL: &str = "    ";
/// Where a line of that goes on.
const MORE: &str = "      ";

fn print(title: &str, found: &Insights, ctx: &mut Ctx) -> Result<()> {
    let title = ctx.out.paint(Style::Bold, title);
    ctx.out.line(title)?;
    if found.completed.of > 0 {
        let completed = found.completed.shown();
        let completed = completed.replace('(', "(95% interval: ");
        let others = match found.without_outcome {
            0 => String::new(),
            1 => "; 1 has no known outcome".to_owned(),
            many => format!("; {} have no known outcome", count(many)),
        };
        ctx.out
            .words("", INDENT, &format!("completed: {completed}{others}"))?;
    }
    let store = ctx.reader()?;
    // the whole id can be typed too
    let shown = |id: &str| {
        store
            .session_shown(id, TYPED)
            .unwrap_or_else(|_| id.to_owned())
    };
    for section in found.sections(shown) {
        ctx.out.line("")?;
        ctx.out.line(ctx.out.paint(Style::Dim, section.heading))?;
        for InsightEntry { line, details } in section.entries {
            ctx.out.words(INDENT, DETAIL, &plain(&line))?;
            for detail in details {
                ctx.out.words(DETAIL, MORE, &plain(&detail))?;
            }
        }
    }
    Ok(())
}
