//! How stored sessions ended.

use super::session_summary::items_of;
use crate::insight::facts::SessionContext;
use crate::insight::outcome::{PENDING_CALL, SessionItem, outcome};
use crate::model::error::Error;
use crate::model::item::apart;
use crate::model::summary::SessionOutcome;
use crate::store::Store;

/// Most sessions' ends are in their last episodes.
const FIRST_LOOK: u32 = 2;

/// The outcome of the session with exactly this id; `None` where its end says nothing, or an older
/// program stored it. Reads the last two episodes, more only where these say nothing.
///
/// # Errors
/// When the store can't be read.
pub fn outcome_of(store: &Store, session: &str) -> Result<Option<SessionOutcome>, Error> {
    match look(store, session, Some(FIRST_LOOK))? {
        Look::Quiet => Ok(look(store, session, None)?.outcome()),
        Look::Absent => {
            let episodes = store.episodes(session)?;
            let items = items_of(store, &episodes)?;
            Ok(items.summary(&SessionContext::default().brief()).outcome)
        }
        found => Ok(found.outcome()),
    }
}

/// What a look found.
enum Look {
    Ended(SessionOutcome),
    /// These items say nothing; the ones before them may.
    Quiet,
    /// An older program stored them.
    Blank,
    /// There is no main log: only sub-agents' are here.
    Absent,
}

impl Look {
    fn outcome(self) -> Option<SessionOutcome> {
        match self {
            Look::Ended(outcome) => Some(outcome),
            Look::Quiet | Look::Blank | Look::Absent => None,
        }
    }
}

fn look(store: &Store, session: &str, limit: Option<u32>) -> Result<Look, Error> {
    let episodes = store.latest(session, limit)?;
    if episodes.is_empty() {
        return Ok(Look::Absent);
    }
    let mut outlines = Vec::with_capacity(episodes.len());
    for found in &episodes {
        outlines.push(store.outline(found.episode.id)?);
    }
    if outlines.iter().all(Vec::is_empty) {
        return Ok(Look::Blank);
    }
    let items = episodes.iter().zip(&outlines).flat_map(|(found, marks)| {
        let texts = apart(&found.episode.text, marks).unwrap_or_default();
        let own = texts
            .into_iter()
            .zip(marks)
            .map(|(text, mark)| SessionItem {
                kind: mark.kind,
                text,
                findings: &mark.findings,
            });
        own.rev()
    });
    let is_pending = episodes[0].episode.pending_calls > 0;
    let pending = is_pending.then_some(PENDING_CALL);
    Ok(outcome(pending.into_iter().chain(items)).map_or(Look::Quiet, Look::Ended))
}
