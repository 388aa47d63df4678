//! `sessions`: lists what is in the store, one session a line.

use super::activity::{self, ActivityFilter};
use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::session_filters::{self, Filters};
use crate::memory::session_activity::{Judge, Order};
use crate::memory::session_length::length_of;
use crate::memory::session_outcome::outcome_of;
use crate::model::activity::Activity;
use crate::model::human;
use crate::model::session::SessionLength;
use crate::model::summary::SessionOutcome;
use crate::store::{SessionFilter, SessionRow, Store, TYPED};
use anyhow::Result;
use serde_json::{Value, json};

/// List the stored sessions, the latest first
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    asked: ActivityFilter,
    /// What comes first: newest, oldest, longest (most text), project, strength (most to tell the
    /// kind of work by), or the most of one kind of work: building, fixing, …
    #[arg(long, value_name = "ORDER", default_value = "newest", value_parser = Order::parse)]
    sort: Order,
    /// The other way round
    #[arg(long)]
    reverse: bool,
    /// At most so many; 0: all
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        default_value_t = 20,
        allow_negative_numbers = true
    )]
    limit: u32,
}

/// Lists sessions.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let reach = session_filters::scope(&args.filters, ctx)?;
    let filter = session_filters::sessions(&reach, &args.filters, ctx)?;
    let judge = ctx.judge()?;
    let store = ctx.reader()?;
    let rows = listed(args, filter, &store, &judge)?;
    let gap_ms = ctx.settings()?.config.chunk.gap_ms;
    if ctx.out.json {
        let list = rows.iter().map(|(row, activity)| {
            let outcome = outcome_of(&store, &row.session.id)?;
            let length = length_of(&store, &row.session.id, gap_ms)?;
            document(row, activity, (outcome, length), ctx)
        });
        let list: Vec<Value> = list.collect::<Result<_>>()?;
        ctx.out.document("sessions", json!({"sessions": list}))?;
        return Ok(Exit::Done);
    }
    for (row, activity) in &rows {
        print(row, activity, (&store, gap_ms), ctx)?;
    }
    if rows.is_empty() {
        ctx.out.note("no session is stored for that")?;
    }
    Ok(Exit::Done)
}

/// The wanted sessions in the wanted order. Where the store's own order will do, only these are
/// judged.
fn listed(
    args: &Args,
    filter: SessionFilter,
    store: &Store,
    judge: &Judge,
) -> Result<Vec<(SessionRow, Activity)>> {
    let limit = (args.limit > 0).then_some(args.limit);
    let is_plain = args.sort == Order::Newest && !args.reverse && args.asked.activity.is_none();
    let filter = SessionFilter {
        limit: limit.filter(|_| is_plain),
        ..filter
    };
    let mut rows = Vec::new();
    for row in store.sessions(&filter)? {
        let activity = judge.activity(&store.activity(&row.session.id)?);
        let wanted = args.asked.activity.as_ref();
        if wanted.is_none_or(|wanted| wanted.fits(&activity)) {
            rows.push((row, activity));
        }
    }
    args.sort.sort(&mut rows);
    if args.reverse {
        rows.reverse();
    }
    rows.truncate(limit.map_or(usize::MAX, |n| n as usize));
    Ok(rows)
}

fn print(
    row: &SessionRow,
    activity: &Activity,
    (store, gap_ms): (&Store, i64),
    ctx: &mut Ctx,
) -> Result<()> {
    let session = &row.session;
    let length = length_of(store, &session.id, gap_ms)?;
    let title = human::title(row.title.as_deref().unwrap_or("(no title)"));
    let title = ctx.out.paint(Style::Bold, &title);
    ctx.out.record(format!(
        "{}  {}  {:<6}  {title}",
        store.session_shown(&session.id, TYPED)?,
        human::time(session.facts.ended.or(session.facts.started), ctx.zone),
        session.agent.as_str(),
    ))?;
    let place = session_filters::origin(session, ctx)?;
    let outcome = outcome_of(store, &session.id)?;
    let size = format!(
        "{}, {}{}, {}{}",
        human::plural(row.episodes, "episode"),
        human::bytes(row.body_bytes),
        length
            .map(|length| format!(" in {}", length.shown()))
            .unwrap_or_default(),
        outcome
            .map(|o| format!("{}, ", human::words(o.as_str())))
            .unwrap_or_default(),
        activity.profile(),
    );
    let line = ctx
        .out
        .paint(Style::Dim, &format!("          {place} {size}"));
    ctx.out.record(line)
}

/// A session as `--json` shows it; `show` uses it too.
pub fn document(
    row: &SessionRow,
    activity: &Activity,
    (outcome, length): (Option<SessionOutcome>, Option<SessionLength>),
    ctx: &mut Ctx,
) -> Result<Value> {
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
        "length": length,
        "outcome": outcome.map(SessionOutcome::as_str),
        "activity": activity::document(activity),
    });
    session_filters::veiled(document, &session.project_path, ctx)
}
