//! `recap`: what was worked on, decided, fixed and left open, over several sessions.

use super::ctx::Ctx;
use super::exit::Exit;
use super::pages::{self, Page};
use super::session_filters::{self, Filters};
use crate::insight::recap::{markdown, recap};
use crate::memory::reach::Reach;
use crate::memory::recap_sessions::recap_sessions;
use crate::memory::when::When;
use crate::model::error::Error;
use crate::model::human;
use crate::model::layout::markdown::rendered;
use crate::model::layout::table::COLUMNS_MAX;
use crate::model::shell;
use crate::model::time::Time;
use crate::store::{SessionFilter, Store, TYPED};
use anyhow::Result;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Recap recent work: done, decided, fixed, still open
///
/// Covers the last seven days unless --since is given, by project. Each line names its session and
/// the line of the log; sessionmill show 7072595a:211 opens it there. In a pipe, the output is
/// Markdown.
#[derive(clap::Args, Debug, Default)]
pub struct Args {
    #[command(flatten)]
    filters: Filters,
    /// Maximum sessions, newest first (0 = no limit)
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0)]
    limit: u32,
    /// Print Markdown, also on a terminal
    #[arg(long, conflicts_with = "html")]
    markdown: bool,
    /// Write the recap to this file, as a web page to send
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Prints nothing where nothing was done.
    #[arg(skip)]
    is_reward: bool,
}

impl Args {
    /// The last week of work, or nothing.
    pub(super) fn reward() -> Args {
        Args {
            is_reward: true,
            ..Args::default()
        }
    }
}

/// Days that are told without `--since`.
const DAYS: &str = "7d";

/// When the last session ended that the filter lets through, whenever that was.
fn last_end(store: &Store, filter: &SessionFilter) -> Result<Option<Time>> {
    let any = SessionFilter {
        since: None,
        limit: Some(1),
        ..filter.clone()
    };
    let last = store.sessions(&any)?.into_iter().next();
    Ok(last.and_then(|row| row.session.facts.ended.or(row.session.facts.started)))
}

/// The days that are told. Those that nobody named are the last ones with a session, which is said.
fn days(args: &Args, reach: &Reach, store: &Store, ctx: &mut Ctx) -> Result<SessionFilter> {
    let days: When = DAYS.parse().map_err(anyhow::Error::msg)?;
    let asked = args.filters.since(ctx);
    let mut filter = SessionFilter {
        since: Some(asked.unwrap_or_else(|| days.start(ctx.now, ctx.zone))),
        limit: (args.limit > 0).then_some(args.limit),
        ..session_filters::sessions(reach, &args.filters, ctx)?
    };
    if asked.is_none()
        && let (Some(since), Some(until)) = (filter.since, filter.until)
        && until <= since
    {
        let message = "--until is before the last 7 days, which a recap is of";
        let hint = "add --since, for example --since 2026-01-01";
        return Err(Error::usage(message).hinted(hint).into());
    }
    let one = SessionFilter {
        limit: Some(1),
        ..filter.clone()
    };
    if asked.is_none()
        && store.sessions(&one)?.is_empty()
        && let Some(last) = last_end(store, &filter)?
    {
        ctx.out
            .note("no session in the last 7 days; here is the last week with sessions")?;
        filter.since = Some(days.start(last, ctx.zone));
        filter.until = filter.until.or(Some(Time(last.0 + 1)));
    }
    Ok(filter)
}

/// Prints the recap.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let reach = session_filters::scope(&args.filters, ctx)?;
    let store = ctx.reader()?;
    let filter = days(args, &reach, &store, ctx)?;
    let found = recap_sessions(&store, &filter, |path| ctx.hides_paths_of(path))?;
    let (since, until) = (filter.since.unwrap_or(ctx.now), filter.until);
    let recap = recap(found.sessions, &found.done, ctx.now);
    if args.is_reward && recap.sessions == 0 {
        return Ok(Exit::Done);
    }
    if let Some(file) = args.html.as_ref().filter(|_| ctx.out.json) {
        let error = Error::usage("recap --html has no --json");
        let instead = format!(
            "sessionmill recap --html {}",
            shell::word(&file.to_string_lossy())
        );
        return Err(error.hinted(instead).into());
    }
    if ctx.out.json {
        let body = json!({
            "since": since.rfc3339_millis(),
            "until": until.map(|until| until.rfc3339_millis()),
            "recap": recap,
        });
        ctx.out.document("recap", body)?;
        return Ok(Exit::Done);
    }
    // the whole id can be typed too
    let shown = |id: &str| {
        store
            .session_shown(id, TYPED)
            .unwrap_or_else(|_| id.to_owned())
    };
    let title = human::span(since, until.unwrap_or(ctx.now), ctx.zone);
    let text = markdown(&recap, &title, shown);
    match &args.html {
        Some(file) => write_page(file, &title, &text, ctx)?,
        None => {
            let columns = ctx.out.columns().filter(|_| !args.markdown);
            let columns = columns.map(|columns| columns.min(COLUMNS_MAX));
            ctx.out.text(match columns {
                Some(_) => rendered(&text, columns),
                None => text,
            })?;
        }
    }
    if recap.sessions == 0 && reach.refusal().is_none() {
        let any = SessionFilter {
            until: None,
            ..filter
        };
        let ended = last_end(&store, &any)?;
        let day = ended.map(|at| ctx.zone.show(at).format("%Y-%m-%d").to_string());
        let since = day.unwrap_or_else(|| "30d".to_owned());
        ctx.out
            .note(format!("hint: sessionmill recap --since {since}"))?;
    }
    Ok(Exit::Done)
}

fn write_page(file: &Path, title: &str, markdown: &str, ctx: &mut Ctx) -> Result<()> {
    let file = ctx.env.cwd.join(file);
    let body = format!(
        "<main class=\"recap\">\n{}</main>\n<footer class=\"note\"><p>Written by sessionmill. Nothing on this \
         page runs or is loaded. It holds words of sessions: read it before you send it on.</p></footer>",
        pages::html(markdown, 0),
    );
    let page = Page {
        title: &format!("Recap: {title}"),
        body: &body,
        ..Page::default()
    };
    let text = page.text();
    pages::write(&file, &text)?;
    let size = human::bytes(text.len() as u64);
    ctx.out.did(format!("wrote {} ({size})", file.display()))
}
