//! The reason of one operation: what it took back, what was said before it, and whether those words were the
//! reason of another undoing already.

use super::conversation_context::LONG_AGO_MS;
use super::reasons::{Conversation, UndoneWork, may_have_reason, why};
use crate::model::error::Error;
use crate::model::git::{CommitLine, Effect, Reason, RefOperation};
use crate::model::time::Time;
use crate::store::{GitUnit, Store};

/// Why an operation was done, as far as somebody said it. `units`: operations that are not stored yet, of a
/// repository with this namespace. A sentence is the reason of one undoing.
///
/// # Errors
/// When the store can't be read.
pub(super) fn quoted_reason(
    (operation, effect): (&RefOperation, &Effect),
    said: &Conversation,
    (units, namespace): (&[GitUnit], &str),
    store: &Store,
) -> Result<Option<Reason>, Error> {
    if !may_have_reason(operation) {
        return Ok(None);
    }
    let reverted = effect.reverts.iter().map(|revert| revert.commit.clone());
    let reverted: Vec<CommitLine> = reverted.collect();
    let undone = UndoneWork {
        operation,
        commits: match reverted.is_empty() {
            true => &effect.left,
            false => &reverted,
        },
        files: &effect.files,
    };
    let Some(reason) = why(said, &undone) else {
        return Ok(None);
    };
    let since = Time(operation.at.0 - LONG_AGO_MS);
    let rows = store.operations_between(namespace, since, operation.at)?;
    let stored = rows.iter().map(|row| &row.git);
    let known = units.iter().map(|unit| &unit.git).chain(stored);
    let mut told = known.filter_map(|git| git.reason.as_ref());
    let is_told = told.any(|told| (&told.session, told.line) == (&reason.session, reason.line));
    Ok((!is_told).then_some(reason))
}
