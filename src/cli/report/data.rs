//! What `report` shows, as one compact JSON document: sessions, and what points to them by number.

use crate::cli::ctx::Ctx;
use crate::insight::summary::{SummarySections, TestsTold};
use crate::memory::cost::{Costs, prices};
use crate::memory::session_summary::title_of;
use crate::memory::stats::{StatsSum, stage_bytes};
use crate::model::activity::Dimension;
use crate::model::file_name;
use crate::model::human;
use crate::model::layout::markdown::plain;
use crate::model::spending::HALF_HOUR_MS;
use crate::model::time::Time;
use crate::store::{SessionFilter, SessionRow, Store, TYPED, Workload};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Characters of a title, a decision, what is open: people read beginnings here, the session has the rest.
const TEXT_CHARS_MAX: usize = 160;

/// Points of a kind, the latest first: more make a page that nobody reads to its end, and a big one.
const POINTS_MAX: usize = 1_000;

/// Names that many rows share; a row has the number.
#[derive(Default)]
struct Names {
    numbers: BTreeMap<String, usize>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.numbers.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }
}

/// Everything while it is collected.
#[derive(Default)]
struct Collected {
    projects: Names,
    agents: Names,
    models: Names,
    tools: Names,
    sessions: Vec<Value>,
    /// By id.
    numbers: BTreeMap<String, usize>,
    work: Vec<Value>,
    spent: Vec<Value>,
    decisions: Vec<Value>,
    open: Vec<Value>,
}

/// Of the sessions that `filter` lets through.
pub fn collect(filter: &SessionFilter, ctx: &mut Ctx) -> Result<Value> {
    let store = ctx.reader()?;
    let mut all = Collected::default();
    sessions(&mut all, filter, &store, ctx)?;
    let usage = store.usage(filter)?;
    let prices = prices(&ctx.home)?;
    let costs = Costs::of(&usage, filter, &prices, ctx.zone);
    for row in &usage {
        let one = std::slice::from_ref(row);
        let own = Costs::of(one, filter, &prices, ctx.zone);
        let Some(session) = all.numbers.get(&row.session).copied() else {
            continue;
        };
        for (day, models) in &own.days {
            for (model, sum) in models {
                let model = all.models.number(model);
                let usage = &sum.usage;
                all.spent.push(json!([
                    session,
                    day,
                    model,
                    usage.input,
                    usage.output,
                    usage.cache_read,
                    usage.cache_write,
                    (sum.usd * 1e4).round() / 1e4,
                    u8::from(sum.unpriced > 0),
                ]));
            }
        }
    }
    let tools = tools(&mut all, filter, &store, ctx)?;
    let stages = stages(&mut all, filter, &store, ctx)?;
    let undone = undone(&mut all, filter, &store, ctx)?;
    let unpriced = costs.unpriced().into_iter();
    Ok(json!({
        "made": human::time(Some(ctx.now), ctx.zone),
        "today": day(ctx.now, ctx),
        "prices_as_of": costs.as_of,
        "unpriced": unpriced.map(|(model, tokens)| json!([model, tokens])).collect::<Vec<_>>(),
        "unrecorded": costs.unrecorded.total(),
        "kinds": Dimension::ALL.map(Dimension::as_str),
        "projects": all.projects.names,
        "agents": all.agents.names,
        "models": all.models.names,
        "tool_names": all.tools.names,
        "sessions": all.sessions,
        "work": all.work,
        "spent": all.spent,
        "tools": tools,
        "stages": stages,
        "decisions": all.decisions,
        "open": all.open,
        "undone": undone,
    }))
}

fn day(time: Time, ctx: &Ctx) -> String {
    ctx.zone.show(time).format("%Y-%m-%d").to_string()
}

/// The sessions with their work by day, and what their summaries say.
fn sessions(
    all: &mut Collected,
    filter: &SessionFilter,
    store: &Store,
    ctx: &mut Ctx,
) -> Result<()> {
    let judge = ctx.judge()?;
    let summaries: BTreeMap<String, String> = store.summary_texts(filter)?.into_iter().collect();
    let mut loads_of: BTreeMap<String, Vec<Workload>> = BTreeMap::new();
    for row in store.workload(filter)? {
        loads_of.entry(row.session.clone()).or_default().push(row);
    }
    for row in store.sessions(filter)? {
        let id = row.session.id.clone();
        let loads = loads_of.remove(&id).unwrap_or_default();
        // git operations and files stand in sessions that have no log
        if loads.is_empty() {
            continue;
        }
        let number = all.sessions.len();
        let work = judge.activity(&store.activity(&id)?);
        let kinds = Dimension::ALL.map(|d| (work.intensity(d) * 100.0).round() as u64);
        let text = summaries.get(&id).map_or("", String::as_str);
        let told = SummarySections::of(text);
        let session = session(all, &row, (&loads, &kinds, told), store, ctx)?;
        all.sessions.push(session);
        points(all, number, told);
        days(all, number, &loads, ctx);
        all.numbers.insert(id, number);
    }
    Ok(())
}

/// `[id, page, title, project, agent, first day, started, ended, outcome, kinds, prompts, calls, failures,
/// tests passed, failed, runs, failed runs]`.
fn session(
    all: &mut Collected,
    row: &SessionRow,
    (loads, kinds, told): (&[Workload], &[u64], SummarySections<'_>),
    store: &Store,
    ctx: &mut Ctx,
) -> Result<Value> {
    let own = &row.session;
    let name = ctx.bare_project_name(&own.namespace)?;
    let sum = |of: fn(&Workload) -> u64| loads.iter().map(of).sum::<u64>();
    let tests = told.tests();
    let TestsTold {
        passed,
        failed,
        runs,
        failed_runs,
    } = tests.unwrap_or_default();
    let minutes = |time: Option<Time>| time.map(|time| time.0.div_euclid(60_000));
    let began = own.facts.started.or(own.facts.ended);
    let title = title_of(row, store)?.unwrap_or_default();
    Ok(json!([
        store.session_shown(&own.id, TYPED)?,
        file_name::own(&own.id),
        cut(&plain(&human::whole_title(&title))),
        all.projects.number(&name),
        all.agents.number(own.agent.as_str()),
        began.map(|time| day(time, ctx)),
        minutes(began),
        minutes(own.facts.ended),
        told.outcome().unwrap_or_default(),
        kinds,
        sum(|load| load.prompts),
        sum(|load| load.calls),
        sum(|load| load.failures),
        passed,
        failed,
        runs,
        failed_runs,
    ]))
}

/// `[session, day, prompts, calls, failures]`.
fn days(all: &mut Collected, number: usize, loads: &[Workload], ctx: &Ctx) {
    let mut days: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    for load in loads {
        let Some(half_hour) = load.half_hour else {
            continue;
        };
        let day = day(Time(half_hour * HALF_HOUR_MS), ctx);
        let sums = days.entry(day).or_default();
        let parts = [load.prompts, load.calls, load.failures];
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum += part;
        }
    }
    let rows = days.into_iter();
    all.work
        .extend(rows.map(|(day, [a, b, c])| json!([number, day, a, b, c])));
}

/// Decisions, `[session, text, by a person, undone]`, and what is open, `[session, text]`.
fn points(all: &mut Collected, number: usize, told: SummarySections<'_>) {
    for (title, by_person) in [("Key Decisions", 1), ("Decisions by the Agent", 0)] {
        // the last line counts those that aren't listed
        let is_one = |point: &&str| !(point.starts_with("and ") && point.ends_with(" more"));
        for point in told.points(title).filter(is_one) {
            let undone = u8::from(point.contains(" (undone "));
            if all.decisions.len() < POINTS_MAX {
                let row = json!([number, cut(&plain(point)), by_person, undone]);
                all.decisions.push(row);
            }
        }
    }
    for point in told.points("Next Steps") {
        if all.open.len() < POINTS_MAX {
            all.open.push(json!([number, cut(&plain(point))]));
        }
    }
}

/// `[project, agent, tool, calls, failed]`.
fn tools(
    all: &mut Collected,
    filter: &SessionFilter,
    store: &Store,
    ctx: &mut Ctx,
) -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for row in store.project_tools(filter)? {
        let name = ctx.bare_project_name(&row.namespace)?;
        rows.push(json!([
            all.projects.number(&name),
            all.agents.number(row.agent.as_str()),
            all.tools.number(&row.tool),
            row.tally.calls,
            row.tally.failed,
        ]));
    }
    Ok(rows)
}

/// `[project, agent, bytes of logs, of what was said, of what is kept, of what is stored]`.
fn stages(
    all: &mut Collected,
    filter: &SessionFilter,
    store: &Store,
    ctx: &mut Ctx,
) -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for row in &store.stats(filter)?.rows {
        let name = ctx.bare_project_name(&row.namespace)?;
        let [log, said, kept, stored] = stage_bytes(&StatsSum::of(std::slice::from_ref(row)));
        if log == 0 {
            continue;
        }
        rows.push(json!([
            all.projects.number(&name),
            all.agents.number(row.agent.as_str()),
            log,
            said,
            kept,
            stored,
        ]));
    }
    Ok(rows)
}

/// Git operations that took work back, the latest first: `[day, project, what, what was lost, why, who said
/// so, session]`.
fn undone(
    all: &mut Collected,
    filter: &SessionFilter,
    store: &Store,
    ctx: &mut Ctx,
) -> Result<Vec<Value>> {
    let mut operations = store.operations(filter.namespaces.as_deref())?;
    operations.sort_by_key(|row| std::cmp::Reverse(row.git.operation.at));
    let mut rows = Vec::new();
    for row in operations {
        let (git, at) = (&row.git, row.git.operation.at);
        let is_early = filter.since.is_some_and(|since| at < since);
        let is_late = filter.until.is_some_and(|until| at >= until);
        let takes_back = git.gives_up() || !git.effect.reverts.is_empty();
        if is_early || is_late || !takes_back || rows.len() >= POINTS_MAX {
            continue;
        }
        let lost = git.effect.lost.iter();
        let reverted = git.effect.reverts.iter().map(|revert| &revert.commit);
        let commits = lost.chain(reverted).take(5);
        let commits: Vec<String> = commits.map(|commit| cut(&commit.subject)).collect();
        let reason = git.reason.as_ref();
        let session = reason.and_then(|reason| all.numbers.get(&reason.session));
        let name = ctx.bare_project_name(&row.project.namespace)?;
        rows.push(json!([
            day(at, ctx),
            all.projects.number(&name),
            format!("{}{}", git.name(), git.operation.branches()),
            commits,
            reason.map(|reason| cut(&reason.sentence)),
            reason.map(|reason| reason.who()),
            session,
        ]));
    }
    Ok(rows)
}

/// A text's beginning.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}
