//! A sink's smoke test.

use crate::model::delivery::{DeliveryError, DeliveryOutcome, Landed, OutboundEpisode, Receipt};
use crate::model::time::Time;
use crate::stages::upload::Sink;
use uuid::Uuid;

/// Writes an episode that says nothing, reads it back and removes it. It stands in a group of its
/// own, which is removed with it. `false`: the sink can't remove it.
///
/// # Errors
/// At which of these the sink failed.
pub fn smoke(sink: &mut dyn Sink, now: Time) -> Result<bool, DeliveryError> {
    // what an earlier test left is not taken for this one's
    let id = format!("sessionmill:smoke:{}", now.0);
    let outbound = OutboundEpisode {
        id: Uuid::new_v5(&Uuid::NAMESPACE_URL, id.as_bytes()),
        revision: 1,
        group: "sessionmill_smoke".into(),
        name: "Smoke test".into(),
        content: "This episode was written to see whether it can be.".into(),
        source_description: format!("smoke test, revision {:016x}", 1),
        session: "smoke-test".into(),
        namespace: "0000000000000000".into(),
        project: "sessionmill".into(),
        valid_at: now,
        created_at: now,
        attempts: 0,
    };
    let receipt = [Receipt {
        id: outbound.id,
        revision: outbound.revision,
        place: sink.place(&outbound),
    }];
    match sink.enrichment() {
        Some(server) => server.settle(&receipt)?,
        None => sink.settle(&receipt)?,
    }
    match sink.deliver(&[outbound])?.pop() {
        Some(DeliveryOutcome::Seen | DeliveryOutcome::Beside) => {}
        Some(
            DeliveryOutcome::Refused(reason)
            | DeliveryOutcome::Failed(reason)
            | DeliveryOutcome::Stopped(reason),
        ) => {
            return Err(DeliveryError::BatchRejected(reason));
        }
        Some(DeliveryOutcome::Unknown | DeliveryOutcome::Lost | DeliveryOutcome::Unverified)
        | None => {
            let silent = || DeliveryError::BatchRejected("it said nothing about an episode".into());
            return Err(sink.leave().unwrap_or_else(silent));
        }
    }
    let landed = sink.verify(&receipt)?;
    let kept = sink.forget(&receipt)?;
    let left = sink.verify(&receipt)?;
    if left.as_slice() == [Landed::Missing] {
        sink.remove_place(&receipt[0].place)?;
    }
    match (landed.as_slice(), left.as_slice()) {
        ([Landed::Once], [Landed::Missing]) => Ok(true),
        ([Landed::Once], _) if !kept.is_empty() => Ok(false),
        ([Landed::Once], _) => Err(DeliveryError::BatchRejected(
            "what was removed is still there".into(),
        )),
        _ => Err(DeliveryError::BatchRejected(
            "what was written was not read back".into(),
        )),
    }
}
