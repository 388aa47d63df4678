//! A session as it is printed, on a terminal and as a page.

use crate::cli::ctx::Ctx;
use crate::memory::session_activity::Judge;
use crate::memory::session_summary::{shown_summary, title_in};
use crate::model::activity::Activity;
use crate::model::session::SessionLength;
use crate::model::summary::{SessionOutcome, Summary};
use crate::store::{Found, LlmSummary, SessionRow, Store};
use anyhow::Result;

/// A session as it is printed.
pub struct ShownSession {
    pub row: SessionRow,
    pub work: Work,
    pub summary: Summary,
    /// What came of asking a model about it.
    pub llm_summary: Option<LlmSummary>,
    pub episodes: Vec<Found>,
}

impl ShownSession {
    /// What it is called.
    pub fn title(&self) -> Option<String> {
        title_in(&self.row, &self.summary, &self.episodes)
    }
}

/// What is known of a session's work.
pub struct Work {
    pub activity: Activity,
    pub outcome: Option<SessionOutcome>,
    pub length: Option<SessionLength>,
}

/// A session with what is known of it, as its project lets it be shown.
pub fn shown_session(
    mut row: SessionRow,
    judge: &Judge,
    store: &Store,
    ctx: &mut Ctx,
) -> Result<ShownSession> {
    let mut episodes = store.episodes(&row.session.id)?;
    let hides = ctx.hides_paths_of(&row.session.project_path)?;
    if hides {
        row.session.cwd = None;
        episodes.iter_mut().for_each(name_only);
    }
    let (summary, llm_summary) = shown_summary(store, &row, &episodes, hides)?;
    let work = Work {
        activity: judge.activity(&store.activity(&row.session.id)?),
        outcome: summary.outcome,
        length: store.length(&row.session.id)?,
    };
    Ok(ShownSession {
        row,
        work,
        summary,
        llm_summary,
        episodes,
    })
}

/// The log's name without its folders.
pub fn name_only(found: &mut Found) {
    let name = found.path.rsplit('/').next().unwrap_or_default();
    found.path = name.to_owned();
}
