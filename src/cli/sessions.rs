//! `sessions`: lists what is in the store, one session a line.

use super::ctx::Ctx;
use super::exit::Exit;
use super::human;
use super::out::Style;
use super::places::{self, Filters};
use crate::model::activity::{Activity, Dimension, MIN_STRENGTH, MIXED};
use crate::rules::classify::Classifier;
use crate::stages::score::signals;
use crate::store::{SessionFilter, SessionRow, Store};
use anyhow::Result;
use serde_json::{Value, json};

/// List the stored sessions, the latest first
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    filters: Filters,
    /// At most so many; 0: all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    limit: u32,
}

/// Lists sessions.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let reach = places::scope(&args.filters, ctx)?;
    let filter = SessionFilter {
        limit: (args.limit > 0).then_some(args.limit),
        ..reach.sessions(&args.filters, ctx)?
    };
    let store = ctx.reader()?;
    let rows = store.sessions(&filter)?;
    if ctx.out.json {
        let list = rows
            .iter()
            .map(|row| Ok(with_activity(document(row, ctx)?, &activity(&store, row)?)));
        let list: Vec<Value> = list.collect::<Result<_>>()?;
        ctx.out.document("sessions", json!({"sessions": list}))?;
        return Ok(Exit::Done);
    }
    let length = places::telling_length(rows.iter().map(|row| row.session.id.as_str()));
    for row in &rows {
        print(row, &activity(&store, row)?, length, ctx)?;
    }
    if rows.is_empty() {
        ctx.out.note("no session is stored for that")?;
    }
    Ok(Exit::Done)
}

/// What kind of work a session was, by today's tables.
fn activity(store: &Store, row: &SessionRow) -> Result<Activity> {
    let tally = store.activity(&row.session.id)?;
    let signals = signals(&tally, &Classifier::default());
    Ok(Activity::of(signals, MIN_STRENGTH))
}

fn with_activity(mut document: Value, activity: &Activity) -> Value {
    document["activity"] = json!({
        "vector": activity.vector,
        "signals": activity.signals,
        "strength": activity.strength,
        "primary": activity.primary.map_or(MIXED, Dimension::as_str),
        "profile": activity.profile(),
    });
    document
}

fn print(row: &SessionRow, activity: &Activity, length: usize, ctx: &mut Ctx) -> Result<()> {
    let session = &row.session;
    let title = ctx
        .out
        .paint(Style::Bold, row.title.as_deref().unwrap_or("(no title)"));
    ctx.out.line(format!(
        "{}  {}  {:<6}  {title}",
        places::short(&session.id, length),
        human::time(session.facts.ended.or(session.facts.started), ctx.zone),
        session.agent.as_str(),
    ))?;
    let place = places::origin(session, ctx)?;
    let size = format!(
        "{}, {}, {}",
        human::plural(row.episodes, "episode"),
        human::bytes(row.body_bytes),
        activity.profile(),
    );
    let line = ctx
        .out
        .paint(Style::Dim, &format!("          {place} {size}"));
    ctx.out.line(line)
}

/// A session as `--json` shows it; `show` uses it too.
pub fn document(row: &SessionRow, ctx: &mut Ctx) -> Result<Value> {
    let session = &row.session;
    let facts = &session.facts;
    let document = json!({
        "id": session.id,
        "agent": session.agent.as_str(),
        "title": row.title,
        "namespace": session.namespace,
        "project_path": session.project_path,
        "cwd": session.cwd,
        "branch": session.branch,
        "host": session.host,
        "file": session.file,
        "started": facts.started.map(|t| t.rfc3339_millis()),
        "ended": facts.ended.map(|t| t.rfc3339_millis()),
        "models": facts.models,
        "pull_requests": facts.pull_requests,
        "forked_from": facts.forked_from,
        "compactions": facts.compactions,
        "interruptions": facts.interruptions,
        "episodes": row.episodes,
        "sealed": row.sealed,
        "body_bytes": row.body_bytes,
        "files": row.files,
    });
    places::veiled(document, &session.project_path, ctx)
}
