//! `sessions`: lists what is in the store, one session a line.

use super::activity::{self, ActivityFilter};
use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::session_filters::{self, Filters};
use crate::memory::session_activity::{Judge, Order};
use crate::memory::session_outcome::outcome_of;
use crate::memory::session_summary::title_of;
use crate::model::activity::Activity;
use crate::model::human;
use crate::model::layout::markdown::plain;
use crate::model::layout::table::{TITLE_MIN, TextList};
use crate::model::session::SessionLength;
use crate::model::summary::{SessionOutcome, is_quiet};
use crate::model::time::Time;
use crate::store::{SessionFilter, SessionRow, Store, TYPED};
use anyhow::Result;
use serde_json::{Value, json};

/// List stored sessions, newest first
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    asked: ActivityFilter,
    /// Sort by: newest, oldest, longest (most text), project, strength (clearest kind of work), or the
    /// most of one kind of work: building, fixing, configuring, exploring, refactoring, reviewing,
    /// testing, documenting
    #[arg(long, value_name = "ORDER", default_value = "newest", value_parser = Order::parse)]
    sort: Order,
    /// Reverse order
    #[arg(long)]
    reverse: bool,
    /// Maximum sessions (0 = no limit)
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
    if ctx.out.json {
        let list = rows.iter().map(|(row, activity)| {
            let outcome = outcome_of(&store, &row.session.id)?;
            let length = store.length(&row.session.id)?;
            document(row, activity, (outcome, length), ctx)
        });
        let list: Vec<Value> = list.collect::<Result<_>>()?;
        ctx.out.document("sessions", json!({"sessions": list}))?;
        return Ok(Exit::Done);
    }
    let mut list = TextList {
        words_min: TITLE_MIN,
        heads: vec!["ID", "AGE", "PROJECT", "AGENT", "OUTCOME", "WORK", "TITLE"],
        rows: Vec::with_capacity(rows.len()),
    };
    for (row, activity) in &rows {
        list.rows.push(cells(row, activity, &store, ctx)?);
    }
    ctx.out.text(list.text(ctx.out.columns()))?;
    if rows.is_empty() {
        let why = session_filters::none_matches(&reach.scope, &store, ctx.zone)?;
        ctx.out.note(why)?;
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
    if matches!(args.sort, Order::Newest | Order::Oldest) {
        // nobody looks for these first, whichever way time runs
        rows.sort_by_key(|(row, _)| row.session.facts.ended.is_none());
    }
    rows.truncate(limit.map_or(usize::MAX, |n| n as usize));
    Ok(rows)
}

/// When a session went on last of which no log tells that: its latest episode's time.
fn last_episode(session: &str, store: &Store) -> Result<Option<Time>> {
    let last = store.latest(session, Some(1))?.into_iter().next();
    Ok(last.and_then(|found| found.episode.ended_at.or(found.episode.valid_at)))
}

/// What a list tells of a session, its title at the end.
fn cells(
    row: &SessionRow,
    activity: &Activity,
    store: &Store,
    ctx: &mut Ctx,
) -> Result<Vec<String>> {
    let session = &row.session;
    let facts = &session.facts;
    let ended = facts.ended.or(facts.started);
    let ended = ended.map_or_else(|| last_episode(&session.id, store), |at| Ok(Some(at)))?;
    let mut cells = vec![
        store.session_shown(&session.id, TYPED)?,
        session_filters::age(ended, ctx),
        session_filters::origin(session, ctx)?,
        session.agent.as_str().to_owned(),
        session_filters::outcome(outcome_of(store, &session.id)?, is_quiet(ended, ctx.now)),
    ];
    let title = title_of(row, store)?;
    let title = plain(title.as_deref().unwrap_or("(no title)"));
    let title = ctx.out.paint(Style::Bold, &human::title(&title));
    match ctx.verbose {
        false => cells.extend([activity.word().to_owned(), title]),
        true => {
            let length = store.length(&session.id)?.and_then(SessionLength::shown);
            let length = length.map(|length| format!(" in {length}"));
            let (episodes, bytes) = (
                human::plural(row.episodes, "episode"),
                human::bytes(row.body_bytes),
            );
            let size = format!("{episodes}, {bytes}{}", length.unwrap_or_default());
            cells.extend([format!("{} · {size}", activity.profile()), title]);
        }
    }
    Ok(cells)
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
