//! What a stored session amounts to.

use crate::insight::facts::SessionContext;
use crate::insight::items::SessionItems;
use crate::insight::summary::{objective, sections, title};
use crate::model::error::Error;
use crate::model::summary::Summary;
use crate::store::{Found, LlmSummary, SessionRow, Store};
use crate::tracking::session_git::SessionGit;

/// The items of a session, of all of its episodes. Those that an older program stored have none.
///
/// # Errors
/// When the store can't be read.
pub fn items_of<'e>(store: &Store, episodes: &'e [Found]) -> Result<SessionItems<'e>, Error> {
    let with_outlines = episodes.iter().map(|found| {
        let outline = store.outline(found.episode.id)?;
        Ok((&found.episode, outline))
    });
    let with_outlines = with_outlines.collect::<Result<_, Error>>()?;
    Ok(SessionItems::with_outlines(with_outlines))
}

/// What a session is called in a list: as its log does, else by what its stored summary says was asked, else by its
/// first prompt; one without any, as a sub-agent's log alone, by that of its last episode.
///
/// # Errors
/// When the store can't be read.
pub fn title_of(row: &SessionRow, store: &Store) -> Result<Option<String>, Error> {
    let asked = match row.given_title() {
        Some(_) => None,
        None => store.summary_title(&row.session.id)?,
    };
    match named(row, asked) {
        None => Ok(last_title(&store.latest(&row.session.id, Some(1))?).map(str::to_owned)),
        named => Ok(named),
    }
}

/// The same of a session that is at hand: its summary, and all of its episodes.
pub fn title_in(row: &SessionRow, summary: &Summary, episodes: &[Found]) -> Option<String> {
    named(row, title(summary, row.title.as_deref()))
        .or_else(|| last_title(episodes).map(str::to_owned))
}

fn named(row: &SessionRow, asked: Option<String>) -> Option<String> {
    let given = row.given_title().map(str::to_owned);
    let asked = asked.filter(|asked| !asked.is_empty());
    given.or(asked).or_else(|| row.title.clone())
}

fn last_title(episodes: &[Found]) -> Option<&str> {
    let said = episodes.iter().rev();
    let mut titles = said.map(|found| found.episode.title.as_str());
    titles.find(|title| !title.is_empty())
}

/// What a session amounts to, with the commits that git tells of it and with paths as they may be shown,
/// and what came of asking a model about it. `episodes`: all of the session's.
///
/// # Errors
/// When the store can't be read.
pub fn shown_summary(
    store: &Store,
    row: &SessionRow,
    episodes: &[Found],
    hides_paths: bool,
) -> Result<(Summary, Option<LlmSummary>), Error> {
    let session = &row.session;
    let llm_summary = store.llm_summary(&session.id)?;
    let mut summary = match &llm_summary {
        Some(LlmSummary::Summarized(summary)) => Summary::clone(summary),
        _ => items_of(store, episodes)?.summary(&context_of(row, hides_paths)),
    };
    SessionGit::of_summary(store, episodes, &summary)?.tell(&mut summary);
    summary.shorten_paths(&session.project_path, hides_paths);
    Ok((summary, llm_summary))
}

/// The facts of a session's log, from all of its episodes, for readers who know the project; without what was decided,
/// checked and mended on the way.
///
/// # Errors
/// When the store can't be read.
pub fn ending_of(store: &Store, row: &SessionRow, episodes: &[Found]) -> Result<Summary, Error> {
    Ok(items_of(store, episodes)?.summary(&context_of(row, true).brief()))
}

/// What is known of a session beside its items; `hides`: without its project.
pub fn context_of(row: &SessionRow, hides: bool) -> SessionContext<'_> {
    let (session, title) = (&row.session, row.title.as_deref());
    let branch = session.branch.as_deref();
    SessionContext::new(title, &session.project_path, branch, hides)
}

/// The sections of a summary without an objective that only repeats the session's title.
pub fn sections_beside(summary: &Summary, title: &str) -> String {
    let sections = sections(summary);
    let objective = objective(summary).filter(|objective| *objective == title);
    match objective {
        Some(said) => sections.replacen(&format!("\n## Objective\n{said}\n"), "", 1),
        None => sections,
    }
}
