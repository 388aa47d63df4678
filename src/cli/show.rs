//! `show`: one episode or one session, whole, with where it came from and how to go on with it.

mod from_line;
mod page;
mod printed;
mod shown;

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::pages;
use super::{activity, session_filters, sessions};
use crate::agents::registry;
use crate::insight::summary::sections;
use crate::memory::session_activity::{Judge, Segment, segments};
use crate::memory::session_outcome::outcome_of;
use crate::memory::session_summary::sections_beside;
use crate::model::activity::ExchangeTally;
use crate::model::episode::{Episode, EpisodeSource};
use crate::model::error::{Error, ErrorKind};
use crate::model::file::FileFacts;
use crate::model::human;
use crate::model::layout::markdown::{plain, rendered};
use crate::model::layout::table::COLUMNS_MAX;
use crate::stages::score::explain::{self, WorkExplanation};
use crate::store::{Found, LlmSummary, SessionRow};
use anyhow::Result;
use printed::{head, origin, text};
use serde_json::{Value, json};
use shown::{ShownSession, Work, name_only, shown_session};
use std::path::{Path, PathBuf};

/// Show a session's summary or transcript, or one episode
///
/// On a terminal, the output goes through $PAGER.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Id of a session or an episode, or a prefix of it; ID:LINE opens the transcript at this line
    /// of the log
    #[arg(value_name = "SESSION|EPISODE")]
    id: String,
    /// Print the session's transcript instead of its summary
    #[arg(long)]
    full: bool,
    /// Include untrusted projects
    #[arg(long)]
    allow_untrusted: bool,
    /// Explain how the session's kind of work was determined, instead of showing it
    #[arg(long, conflicts_with = "full")]
    explain: bool,
    /// Write the session to this file, as a web page to read
    #[arg(long, value_name = "FILE", conflicts_with_all = ["full", "explain"])]
    html: Option<PathBuf>,
}

impl Args {
    /// A session's summary.
    pub(super) fn summary(id: String, allow_untrusted: bool) -> Args {
        Args {
            id,
            full: false,
            allow_untrusted,
            explain: false,
            html: None,
        }
    }

    /// The whole session.
    pub(super) fn transcript(id: String, allow_untrusted: bool) -> Args {
        Args {
            full: true,
            ..Args::summary(id, allow_untrusted)
        }
    }
}

/// Prints what has this id: a session before an episode.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let store = ctx.reader()?;
    let judge = ctx.judge()?;
    let seen = session_filters::seen(args.allow_untrusted, &store, ctx)?;
    let (id, line) = from_line::place(&args.id);
    let row = store.session_with_agents(id, seen.as_deref())?;
    // a forgotten session keeps its row, which is nothing to show
    let is_forgotten = match &row {
        Some(row) => store.is_forgotten(&row.session.id)?,
        None => false,
    };
    if let Some(row) = row.filter(|_| !is_forgotten) {
        if args.explain {
            let tally = store.activity(&row.session.id)?;
            return explain(&judge.explained(&tally), ctx);
        }
        let shown = shown_session(row, &judge, &store, ctx)?;
        if let Some(file) = &args.html {
            let file = ctx.env.cwd.join(file);
            let text = page::text(&shown, &store, ctx)?;
            pages::write(&file, &text)?;
            return tell_written(&file, text.len(), ctx);
        }
        return match line.filter(|_| !ctx.out.json) {
            Some(line) => from_line::show(&shown, line, (&store, &judge), ctx),
            None => show_session(&shown, args.full, &judge, ctx),
        };
    }
    if args.html.is_some() {
        let error = absent(id, is_forgotten).hinted("--html takes a session: sessionmill sessions");
        return Err(error.into());
    }
    if let Some(mut found) = store.episode_among(id, seen.as_deref())? {
        let mut row = store.session(&found.session)?;
        let work = judge.activity(&store.activity(&found.session)?);
        if ctx.hides_paths_of(&found.project_path)? {
            name_only(&mut found);
            row.iter_mut().for_each(|row| row.session.cwd = None);
        }
        let work = Work {
            activity: work,
            outcome: outcome_of(&store, &found.session)?,
            length: store.length(&found.session)?,
        };
        let facts = store.file_facts(found.episode.id)?;
        let shown = ShownEpisode {
            found,
            row,
            work,
            facts,
        };
        return show_episode(&shown, &judge, ctx);
    }
    Err(absent(id, is_forgotten).into())
}

/// Writes the page of the session with this id, for `report`.
pub(super) fn write_page(id: &str, file: &Path, ctx: &mut Ctx) -> Result<()> {
    let store = ctx.reader()?;
    let judge = ctx.judge()?;
    let Some(row) = store.session(id)? else {
        return Err(absent(id, false).into());
    };
    let shown = shown_session(row, &judge, &store, ctx)?;
    let text = page::text(&shown, &store, ctx)?;
    pages::write(file, &text)?;
    Ok(())
}

fn tell_written(file: &Path, length: usize, ctx: &mut Ctx) -> Result<Exit> {
    match ctx.out.json {
        true => ctx
            .out
            .document("show", json!({"html": {"file": file, "bytes": length}}))?,
        false => {
            let size = human::bytes(length as u64);
            ctx.out.did(format!("wrote {} ({size})", file.display()))?;
        }
    }
    Ok(Exit::Done)
}

fn explain(explained: &[WorkExplanation], ctx: &mut Ctx) -> Result<Exit> {
    match ctx.out.json {
        true => ctx
            .out
            .document("explain", json!({"explained": explained}))?,
        false => ctx.out.text(explain::text(explained))?,
    }
    Ok(Exit::Done)
}

/// An episode as it is printed, with its session, where that is stored.
struct ShownEpisode {
    found: Found,
    row: Option<SessionRow>,
    work: Work,
    /// Where it is a file's.
    facts: Option<FileFacts>,
}

fn llm_summary_document(llm_summary: &LlmSummary) -> Value {
    let (state, error) = match llm_summary {
        LlmSummary::Pending { error, .. } => ("waiting", error.as_deref()),
        LlmSummary::Summarized(_) => ("told", None),
        LlmSummary::Refused(why) => ("refused", Some(why.as_str())),
    };
    json!({"state": state, "error": error})
}

fn absent(id: &str, forgotten: bool) -> Error {
    let message = match forgotten {
        true => format!("session {id} was forgotten"),
        false => format!("no session or episode begins with {id}"),
    };
    let error = Error::new(ErrorKind::Failed, message);
    match forgotten {
        true => error,
        false => error.hinted("sessionmill sessions"),
    }
}

fn show_session(shown: &ShownSession, full: bool, judge: &Judge, ctx: &mut Ctx) -> Result<Exit> {
    let ShownSession {
        row,
        work,
        summary,
        llm_summary,
        episodes,
    } = shown;
    // they aren't stored: they follow the gap that is set now
    let gap_ms = ctx.settings()?.config.chunk.gap_ms;
    let segments = segments(episodes.iter().map(|found| &found.episode), gap_ms);
    if ctx.out.json {
        let session = sessions::document(row, &work.activity, (work.outcome, work.length), ctx)?;
        let document = |found: &Found, ctx: &mut Ctx| document(found, judge, ctx);
        let episodes = session_filters::documents(episodes, document, ctx)?;
        ctx.out.document(
            "show",
            json!({
                "session": session,
                "resume": registry::resume(&row.session),
                "summary": summary,
                "telling": llm_summary.as_ref().map(llm_summary_document),
                "segments": segments.iter().map(|s| segment_document(s, judge)).collect::<Vec<_>>(),
                "episodes": episodes,
            }),
        )?;
        return Ok(Exit::Done);
    }
    ctx.out.page(&ctx.env.vars)?;
    let title = shown.title();
    let title = title.as_deref().unwrap_or("(no title)");
    let shown = human::whole_title(title);
    ctx.out
        .words("", "", &ctx.out.paint(Style::Bold, &plain(&shown)))?;
    head(&row.session, work, ctx)?;
    tell_lone(episodes, ctx)?;
    let shown = ctx.session_shown(&row.session.id)?;
    let mut next = format!("Continue: sessionmill resume {shown}");
    if full || sections_beside(summary, title).trim().is_empty() {
        if segments.len() > 1 {
            for segment in &segments {
                let line = segment_line(segment, judge, ctx);
                ctx.out.line(line)?;
            }
        }
        // what sums the session up is no part of what was said
        let said = episodes.iter();
        let said = said.filter(|found| found.episode.source != EpisodeSource::SessionSummary);
        for found in said {
            ctx.out.line("")?;
            let rule = format!("--- {}", origin(found, judge, ctx));
            ctx.out.wrapped(ctx.out.paint(Style::Dim, &rule))?;
            text(found, ctx)?;
        }
    } else {
        let columns = ctx.out.columns().map(|columns| columns.min(COLUMNS_MAX));
        ctx.out.text(rendered(&sections(summary), columns))?;
        if let Some(LlmSummary::Refused(why)) = llm_summary {
            ctx.out.note(format!("facts only: {why}"))?;
        }
        next = format!("Transcript: sessionmill show {shown} --full\n{next}");
    }
    ctx.out.line("")?;
    for line in next.lines() {
        ctx.out.line(ctx.out.paint(Style::Dim, line))?;
    }
    Ok(Exit::Done)
}

/// Says where a sub-agent's log is all that is stored: the id above is its parent's.
fn tell_lone(episodes: &[Found], ctx: &mut Ctx) -> Result<()> {
    let Some(stream) = lone_stream(episodes.iter().map(|found| &found.episode)) else {
        return Ok(());
    };
    let lone = format!("Only its sub-agent's log is stored: {stream}");
    ctx.out.words("", "", &ctx.out.paint(Style::Dim, &lone))
}

/// The sub-agent whose log is all that is stored of a session, which bears its parent's id.
fn lone_stream<'f>(episodes: impl Iterator<Item = &'f Episode>) -> Option<&'f str> {
    let said = episodes.filter(|episode| episode.source == EpisodeSource::Session);
    let mut streams = said.map(|episode| episode.stream.as_deref());
    let first = streams.next()??;
    streams.all(|stream| stream == Some(first)).then_some(first)
}

fn show_episode(shown: &ShownEpisode, judge: &Judge, ctx: &mut Ctx) -> Result<Exit> {
    let (found, work, row) = (&shown.found, &shown.work, shown.row.as_ref());
    if ctx.out.json {
        let session = row
            .map(|row| sessions::document(row, &work.activity, (work.outcome, work.length), ctx));
        let session = session.transpose()?;
        let body = json!({
            "episode": document(found, judge, ctx)?,
            "session": session,
            "resume": row.and_then(|row| registry::resume(&row.session)),
            "file": shown.facts.as_ref().map(FileFacts::document),
        });
        ctx.out.document("show", body)?;
        return Ok(Exit::Done);
    }
    ctx.out.page(&ctx.env.vars)?;
    let title = plain(&human::whole_title(&found.episode.title));
    let title = ctx.out.paint(Style::Bold, &title);
    ctx.out.words("", "", &title)?;
    match row {
        Some(row) => head(&row.session, work, ctx)?,
        None => {
            let (namespace, path) = (&found.namespace, &found.project_path);
            let place = session_filters::origin_of(namespace, path, ctx)?;
            ctx.out.line(place)?;
        }
    }
    let origin = ctx.out.paint(Style::Dim, &origin(found, judge, ctx));
    ctx.out.wrapped(origin)?;
    ctx.out.line("")?;
    text(found, ctx)?;
    if row.is_some() && !found.session.is_empty() {
        let session = ctx.session_shown(&found.session)?;
        let next = format!("For all of the session: sessionmill show {session}");
        ctx.out.line("")?;
        ctx.out.words("", "", &ctx.out.paint(Style::Dim, &next))?;
    }
    Ok(Exit::Done)
}

/// `2026-05-31 21:14 to 22:02, 3 episodes, fixing`.
fn segment_line(segment: &Segment<'_>, judge: &Judge, ctx: &Ctx) -> String {
    let kind = activity::kind(&judge.activity(&segment.tally()), ctx.verbose);
    let gap = if kind.is_empty() { "" } else { ", " };
    format!(
        "  {} to {}, {}{gap}{kind}",
        human::time(segment.from, ctx.zone),
        human::time(segment.to, ctx.zone),
        human::plural(segment.episodes.len() as u64, "episode"),
    )
}

fn segment_document(segment: &Segment<'_>, judge: &Judge) -> Value {
    let ids = segment.episodes.iter().map(|e| e.id.to_string());
    json!({
        "from": segment.from.map(|t| t.rfc3339_millis()),
        "to": segment.to.map(|t| t.rfc3339_millis()),
        "episodes": ids.collect::<Vec<_>>(),
        "activity": activity::document(&judge.activity(&segment.tally())),
    })
}

fn exchange_document(exchange: &ExchangeTally, judge: &Judge) -> Value {
    json!({
        "line": exchange.line,
        "activity": activity::document(&judge.activity(&exchange.tally)),
    })
}

fn document(found: &Found, judge: &Judge, ctx: &mut Ctx) -> Result<Value> {
    let episode = &found.episode;
    let exchanges = episode
        .exchanges
        .iter()
        .map(|e| exchange_document(e, judge));
    let document = json!({
        "id": episode.id.to_string(),
        "session": found.session,
        "agent": found.agent.as_str(),
        "source": episode.source.as_str(),
        "stream": episode.stream,
        "part": episode.part,
        "sealed": episode.sealed,
        "title": episode.title,
        "namespace": found.namespace,
        "project_path": found.project_path,
        "host": found.host,
        "valid_at": episode.valid_at.map(|t| t.rfc3339_millis()),
        "ended_at": episode.ended_at.map(|t| t.rfc3339_millis()),
        "indexed_at": found.indexed_at.rfc3339_millis(),
        "path": found.path,
        "bytes": [episode.bytes.from, episode.bytes.to],
        "lines": [episode.lines.0, episode.lines.1],
        "message_count": episode.message_count,
        "duration_minutes": episode.duration_minutes,
        "completed_tasks": episode.completed_tasks,
        "pending_calls": episode.pending_calls,
        "files_modified": episode.files_modified,
        "files": episode.files,
        "made_by": found.made_by,
        "group": found.group,
        "activity": activity::document(&judge.activity(&episode.activity())),
        "exchanges": exchanges.collect::<Vec<_>>(),
        "text": episode.text,
    });
    session_filters::veiled(document, &found.project_path, ctx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sub_agents_log_alone_is_told_by_its_own_id() {
        let of = |stream: Option<&str>| Episode {
            source: EpisodeSource::Session,
            stream: stream.map(str::to_owned),
            ..Episode::default()
        };
        let (main, one, other) = (of(None), of(Some("a")), of(Some("b")));
        assert_eq!(lone_stream([&one, &one].into_iter()), Some("a"));
        assert_eq!(lone_stream([&one, &other].into_iter()), None);
        assert_eq!(lone_stream([&main, &one].into_iter()), None);
        assert_eq!(lone_stream([].into_iter()), None);
    }
}
