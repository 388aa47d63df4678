//! What a stored session amounts to.

use crate::insight::items::SessionItems;
use crate::model::error::Error;
use crate::model::session::Session;
use crate::model::summary::Summary;
use crate::store::{Found, LlmSummary, Store};
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

/// What a session amounts to, with the commits that git tells of it and with paths as they may be shown,
/// and what came of asking a model about it. `episodes`: all of the session's.
///
/// # Errors
/// When the store can't be read.
pub fn told_of(
    store: &Store,
    session: &Session,
    episodes: &[Found],
    hides_paths: bool,
) -> Result<(Summary, Option<LlmSummary>), Error> {
    let telling = store.llm_summary(&session.id)?;
    let mut summary = match &telling {
        Some(LlmSummary::Summarized(told)) => Summary::clone(told),
        _ => summary_of(store, episodes)?,
    };
    SessionGit::of_summary(store, episodes, &summary)?.tell(&mut summary);
    summary.shorten_paths(&session.project_path, hides_paths);
    Ok((summary, telling))
}

/// The facts of a session's log, from all of its episodes.
///
/// # Errors
/// When the store can't be read.
pub fn summary_of(store: &Store, episodes: &[Found]) -> Result<Summary, Error> {
    Ok(items_of(store, episodes)?.summary())
}
