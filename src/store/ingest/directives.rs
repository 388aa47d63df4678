//! Directives in a log's prompts, on their way in. What becomes of them is `memory`'s.

use crate::model::memory::PromptDirective;
use crate::model::time::Time;
use rusqlite::{Connection, params};

/// Notes a prompt's directives; those that are known stay what they became.
pub(crate) fn note_said(
    db: &Connection,
    session: &str,
    said: &[PromptDirective],
    now: Time,
) -> rusqlite::Result<()> {
    for said in said {
        let scope = match &said.scope {
            Ok(scope) => scope.as_str(),
            Err(word) => word,
        };
        db.prepare_cached(
            "INSERT OR IGNORE INTO memory (id, kind, scope, origin, state, session, text, at, reason)
             VALUES (?1, ?2, ?3, 'directive', 'said', ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            said.id.as_bytes(),
            said.kind.as_str(),
            scope,
            session,
            said.text,
            said.at.unwrap_or(now).0,
            said.is_marked.then_some("marked")
        ])?;
    }
    Ok(())
}
