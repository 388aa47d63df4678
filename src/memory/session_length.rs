//! How long stored sessions took: at work, and by the clock.

use crate::model::error::Error;
use crate::model::session::SessionLength;
use crate::store::Store;

/// How long the session with exactly this id took; `None` where its log has no times. A gap of `gap_ms` is no
/// work.
///
/// # Errors
/// When the store can't be read.
pub fn length_of(
    store: &Store,
    session: &str,
    gap_ms: i64,
) -> Result<Option<SessionLength>, Error> {
    Ok(SessionLength::of(&store.spans(session)?, gap_ms))
}
