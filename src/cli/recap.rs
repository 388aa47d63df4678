//! `recap`: what was worked on, decided, fixed and left open, over several sessions.

use super::ctx::Ctx;
use super::exit::Exit;
use super::session_filters::{self, Filters};
use crate::insight::recap::{RecapSession, markdown, recap};
use crate::memory::session_summary::summary_of;
use crate::memory::when::When;
use crate::model::human;
use crate::model::time::Time;
use crate::store::{Found, SessionFilter, TYPED};
use crate::tracking::session_git::SessionGit;
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeSet;

/// What was worked on, decided, fixed and left open, by project
///
/// As Markdown, from the sessions' own facts; each line names its session and the line of its log
/// (sessionmill show SESSION). Without --since: the last seven days.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    filters: Filters,
}

/// Days that are told without `--since`.
const DAYS: &str = "7d";

/// Prints the recap.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let reach = session_filters::scope(&args.filters, ctx)?;
    let days: When = DAYS.parse().map_err(anyhow::Error::msg)?;
    let since = args.filters.since(ctx);
    let since = since.unwrap_or_else(|| days.start(ctx.now, ctx.zone));
    let filter = SessionFilter {
        since: Some(since),
        ..reach.sessions(&args.filters, ctx)?
    };
    let until = filter.until;
    let sessions = recap_sessions(&filter, since, ctx)?;
    let recap = recap(sessions);
    if ctx.out.json {
        let body = json!({
            "since": since.rfc3339_millis(),
            "until": until.map(|until| until.rfc3339_millis()),
            "recap": recap,
        });
        ctx.out.document("recap", body)?;
        return Ok(Exit::Done);
    }
    let store = ctx.reader()?;
    // the whole id can be typed too
    let shown = |id: &str| {
        store
            .session_shown(id, TYPED)
            .unwrap_or_else(|_| id.to_owned())
    };
    let title = format!(
        "{} to {}",
        human::time(Some(since), ctx.zone),
        human::time(Some(until.unwrap_or(ctx.now)), ctx.zone)
    );
    let text = markdown(&recap, &title, shown);
    ctx.out.text(text)?;
    if recap.sessions == 0 && reach.refusal().is_none() {
        let latest = SessionFilter {
            since: None,
            until: None,
            limit: Some(1),
            ..filter
        };
        let latest = store.sessions(&latest)?;
        let ended = latest.first().and_then(|row| row.session.facts.ended);
        let day = ended.map(|at| ctx.zone.show(at).format("%Y-%m-%d").to_string());
        let since = day.unwrap_or_else(|| "30d".to_owned());
        ctx.out.note("nothing went on in that time")?;
        ctx.out
            .note(format!("hint: sessionmill recap --since {since}"))?;
    }
    Ok(Exit::Done)
}

/// The latest first.
fn recap_sessions(filter: &SessionFilter, since: Time, ctx: &mut Ctx) -> Result<Vec<RecapSession>> {
    let store = ctx.reader()?;
    let mut sessions = Vec::new();
    for row in store.sessions(filter)? {
        let episodes = store.episodes(&row.session.id)?;
        let mut summary = summary_of(&store, &row, &episodes)?;
        SessionGit::of_summary(&store, &episodes, &summary)?.tell(&mut summary);
        summary.retain_episodes(&within(&episodes, since, filter.until));
        let hides = ctx.hides_paths_of(&row.session.project_path)?;
        summary.shorten_paths(&row.session.project_path, hides);
        let path = &row.session.project_path;
        sessions.push(RecapSession {
            project: match path.rsplit('/').next().filter(|name| !name.is_empty()) {
                Some(name) if !hides => name.to_owned(),
                _ => row.session.namespace.clone(),
            },
            id: row.session.id,
            title: row.title,
            namespace: row.session.namespace,
            ended: row.session.facts.ended,
            summary,
        });
    }
    Ok(sessions)
}

/// Episodes that went on in that time.
fn within(episodes: &[Found], since: Time, until: Option<Time>) -> BTreeSet<uuid::Uuid> {
    let is_in = |found: &&Found| {
        let episode = &found.episode;
        let ended = episode.ended_at.or(episode.valid_at);
        ended.is_none_or(|at| at >= since)
            && until.is_none_or(|until| episode.valid_at.is_none_or(|at| at < until))
    };
    let within = episodes.iter().filter(is_in);
    within.map(|found| found.episode.id).collect()
}
