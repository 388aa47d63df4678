//! How long stored sessions took: at work, and by the clock.

use crate::model::error::Error;
use crate::model::session::SessionLength;
use crate::model::time::Time;
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
    Ok(length(store.spans(session)?, gap_ms))
}

/// Of spans in the order in which they begin; those of several streams overlap.
fn length(spans: Vec<(Time, Time)>, gap_ms: i64) -> Option<SessionLength> {
    let (first, mut latest) = spans.first().copied()?;
    let mut resting_ms = 0;
    for (from, to) in spans {
        let gap = from.0.saturating_sub(latest.0);
        if gap >= gap_ms {
            resting_ms += gap;
        }
        latest = latest.max(to);
    }
    let wall_ms = latest.0.saturating_sub(first.0);
    Some(SessionLength {
        work_ms: u64::try_from(wall_ms - resting_ms).unwrap_or(0),
        wall_ms: u64::try_from(wall_ms).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_taken_out_and_streams_run_beside_one_another() {
        let of = |spans: &[(i64, i64)]| {
            let spans = spans.iter().map(|(from, to)| (Time(*from), Time(*to)));
            length(spans.collect(), 100).map(|length| (length.work_ms, length.wall_ms))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(0, 50)]), Some((50, 50)));
        assert_eq!(of(&[(0, 50), (149, 200)]), Some((200, 200)));
        assert_eq!(of(&[(0, 50), (150, 200)]), Some((100, 200)));
        assert_eq!(of(&[(0, 500), (20, 30), (520, 600)]), Some((600, 600)));
        assert_eq!(of(&[(0, 50), (9_000, 9_010)]), Some((60, 9_010)));
    }
}
