//! What the ways to show a session have in common: its head, where a part is from, a part's text.

use super::shown::Work;
use crate::agents::registry;
use crate::cli::activity;
use crate::cli::ctx::Ctx;
use crate::cli::out::Style;
use crate::cli::session_filters;
use crate::memory::session_activity::Judge;
use crate::model::episode::EpisodeSource;
use crate::model::human;
use crate::model::layout::markdown::rendered;
use crate::model::layout::table::COLUMNS_MAX;
use crate::model::layout::wrap::spoken;
use crate::model::session::Session;
use crate::model::session::SessionLength;
use crate::model::summary::is_quiet;
use crate::store::Found;
use anyhow::Result;

pub(super) fn text(found: &Found, ctx: &mut Ctx) -> Result<()> {
    let columns = ctx.out.columns().map(|columns| columns.min(COLUMNS_MAX));
    match found.episode.text.as_str() {
        "" => ctx
            .out
            .line("(stored by the sinks only: upload.keep_local is false)"),
        text if found.episode.source == EpisodeSource::SessionSummary => {
            ctx.out.text(rendered(text, columns))
        }
        text if found.episode.source == EpisodeSource::Session => {
            ctx.out.text(spoken(text, columns))
        }
        text => ctx.out.line(text),
    }
}

pub(super) fn head(session: &Session, work: &Work, ctx: &mut Ctx) -> Result<()> {
    let facts = &session.facts;
    let (from, to) = (
        human::time(facts.started, ctx.zone),
        human::time(facts.ended, ctx.zone),
    );
    let length = work.length.and_then(SessionLength::shown);
    let ago = facts.ended.map(|at| human::ago(at, ctx.now));
    let cells = [
        Some(session_filters::origin(session, ctx)?),
        Some(session.agent.as_str().to_owned()),
        ago,
        length,
        Some(session_filters::outcome(
            work.outcome,
            is_quiet(facts.ended, ctx.now),
        )),
        Some(activity::kind(&work.activity, ctx.verbose)),
    ];
    let cells: Vec<String> = cells
        .into_iter()
        .flatten()
        .filter(|cell| !cell.is_empty())
        .collect();
    ctx.out.words("", "", &cells.join(" · "))?;
    let id = format!("{} on {}, {from} to {to}", session.id, session.host);
    ctx.out.words("", "", &ctx.out.paint(Style::Dim, &id))?;
    if let Some(command) = registry::resume(session).filter(|_| ctx.verbose) {
        ctx.out.line(command)?;
    }
    Ok(())
}

/// A log by its name, with its folder where more is asked for.
fn log<'p>(path: &'p str, ctx: &Ctx) -> &'p str {
    match path.rsplit_once('/') {
        Some((_, name)) if !ctx.verbose => name,
        _ => path,
    }
}

/// `part 2, 2026-05-31 21:14, open, x.jsonl:12-80, fixing`.
pub(super) fn origin(found: &Found, judge: &Judge, ctx: &Ctx) -> String {
    let episode = &found.episode;
    let stream = episode
        .stream
        .as_ref()
        .map(|s| format!("sub-agent {s}, "))
        .unwrap_or_default();
    let open = match (episode.sealed, episode.pending_calls) {
        (true, _) => String::new(),
        (false, 0) if is_quiet(episode.ended_at.or(episode.valid_at), ctx.now) => String::new(),
        (false, 0) => ", may still grow".to_owned(),
        (false, calls) => format!(
            ", {} without a result yet",
            human::plural(calls.into(), "call")
        ),
    };
    let part = match episode.source {
        EpisodeSource::SessionSummary => "summary".to_owned(),
        EpisodeSource::Text | EpisodeSource::Message => "memory".to_owned(),
        source if source.has_doer() => format!("{} by {}", source.as_str(), found.agent.as_str()),
        source if source != EpisodeSource::Session => source.as_str().to_owned(),
        _ => format!("part {}", episode.part),
    };
    let when = human::time(episode.valid_at, ctx.zone);
    if found.path.is_empty() {
        // it was cut from no log
        return format!("{part}{open}, {when}");
    }
    let kind = activity::kind(&judge.activity(&episode.activity()), ctx.verbose);
    let gap = if kind.is_empty() { "" } else { ", " };
    format!(
        "{stream}{part}{open}, {when}, {}:{}-{}{gap}{kind}",
        log(&found.path, ctx),
        episode.lines.0,
        episode.lines.1,
    )
}
