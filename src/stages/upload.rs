//! Hands a batch to a sink and says what became of each episode: the one retry rule.
//!
//! Knows when an episode is tried again and when it is given up. Refuses to know where episodes
//! come from (`store`), how a sink works (`sinks`) and what time it is.

use crate::model::delivery::{
    Delivery, DeliveryError, DeliveryOutcome, DeliveryProgress, Landed, OutboundEpisode, Receipt,
    State, Traces,
};
use crate::model::extraction::GraphCounts;
use crate::model::time::Time;

/// One destination. Ids are ours; delivering what it has already changes nothing.
pub trait Sink {
    /// A changed episode takes the place of the one before. Otherwise a sink waits until episodes
    /// are sealed, or quiet for `upload.settle_after`.
    fn replaces(&self) -> bool;

    /// Episodes that it takes at once.
    fn batch_max(&self) -> usize {
        usize::MAX
    }

    /// Where it puts an episode: what it needs, besides the id, to find it again.
    fn place(&self, outbound: &OutboundEpisode) -> String;

    /// It can hold all these groups apart.
    ///
    /// # Errors
    /// `DeliveryError::Misconfigured` with the ones that it can't.
    fn tells_apart(&self, _groups: &[String]) -> Result<(), DeliveryError> {
        Ok(())
    }

    /// It answers and lets us in; gives a line for people.
    ///
    /// # Errors
    /// Why it doesn't.
    fn check(&mut self) -> Result<String, DeliveryError>;

    /// Takes a batch; an outcome for each episode, in order.
    ///
    /// # Errors
    /// When nothing of it, or nobody knows what of it, was taken.
    fn deliver(&mut self, batch: &[OutboundEpisode])
    -> Result<Vec<DeliveryOutcome>, DeliveryError>;

    /// Why it is to be left after what it said last; `None`: go on.
    fn leave(&mut self) -> Option<DeliveryError> {
        None
    }

    /// What it holds of these, in order.
    ///
    /// # Errors
    /// When it can't be asked.
    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError>;

    /// Waits until nothing is under way there: what was handed over before is there now, or will
    /// never be. As long as something of `sent` comes, the sink isn't given up.
    ///
    /// # Errors
    /// When it isn't known to be so.
    fn settle(&mut self, _sent: &[Receipt]) -> Result<(), DeliveryError> {
        Ok(())
    }

    /// Removes these and gives the ones that it can't remove. What is not there counts as removed.
    ///
    /// # Errors
    /// When it can't be asked.
    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError>;

    /// What was made of what it removed since it was asked last, and became of that.
    fn traces(&mut self) -> Traces {
        Traces::default()
    }

    /// Removes a place that has nothing in it any more, where it would be left behind empty.
    ///
    /// # Errors
    /// When it can't be asked.
    fn remove_place(&mut self, _place: &str) -> Result<(), DeliveryError> {
        Ok(())
    }

    /// What makes more of an episode once it is there; `None`: nothing does.
    fn enrichment(&mut self) -> Option<&mut dyn Enrichment> {
        None
    }
}

/// Works through episodes that a sink holds.
pub trait Enrichment {
    /// Episodes that it takes at once.
    fn batch_max(&self) -> usize;

    /// What these places hold of what was made of episodes.
    ///
    /// # Errors
    /// When it can't be asked.
    fn counts(&mut self, places: &[String]) -> Result<GraphCounts, DeliveryError>;

    /// Which of these it has done, in order.
    ///
    /// # Errors
    /// When it can't be asked.
    fn progress(&mut self, receipts: &[Receipt]) -> Result<Vec<DeliveryProgress>, DeliveryError>;

    /// Waits until nothing is under way: what was asked for before is done now, or never will be.
    /// As long as something of `asked` is done, it isn't given up.
    ///
    /// # Errors
    /// When it isn't known to be so.
    fn settle(&mut self, asked: &[Receipt]) -> Result<(), DeliveryError>;

    /// Does these, which the sink holds; an outcome for each, in order. What it is asked for twice
    /// may be done twice: [`Enrichment::settle`] comes before it is asked again.
    ///
    /// # Errors
    /// When nothing of it, or nobody knows what of it, was done.
    fn enrich(&mut self, batch: &[OutboundEpisode]) -> Result<Vec<DeliveryOutcome>, DeliveryError>;
}

/// `session_tracking.resilience.retry_queue` (000-037, 000-038).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryOptions {
    /// Failed attempts after the first before an episode is given up.
    pub max_retries: u32,
    /// Milliseconds before each of them; the last one repeats.
    pub delays_ms: Vec<i64>,
}

impl RetryOptions {
    /// The pause after so many failures in a row, 1 being the first.
    pub fn delay_ms(&self, failures: u32) -> i64 {
        let nth = failures.max(1) as usize - 1;
        let last = self.delays_ms.last().copied().unwrap_or_default();
        self.delays_ms.get(nth).copied().unwrap_or(last)
    }

    /// The longest pause of all.
    pub fn longest_ms(&self) -> i64 {
        self.delays_ms.iter().copied().max().unwrap_or_default()
    }
}

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadReport {
    /// Of the episodes that the sink spoke about.
    pub deliveries: Vec<Delivery>,
    /// Why the sink was left; what it didn't speak about still waits, unblamed.
    pub fault: Option<DeliveryError>,
}

/// Delivers `batch`. A batch that is refused as a whole is halved until the episode that is at fault
/// stands alone, so that it fails alone. `permitted` is asked before each part; without it nothing
/// more is handed over.
pub fn upload(
    batch: &[OutboundEpisode],
    sink: &mut dyn Sink,
    retry: &RetryOptions,
    now: Time,
    permitted: &mut dyn FnMut() -> bool,
) -> UploadReport {
    let mut uploaded = UploadReport::default();
    let mut waiting = vec![batch];
    while let Some(part) = waiting.pop() {
        if !permitted() {
            return uploaded;
        }
        match sink.deliver(part) {
            Ok(outcomes) => {
                let pairs = part.iter().zip(outcomes);
                let all = pairs.map(|(outbound, outcome)| delivery(outbound, outcome, retry, now));
                uploaded.deliveries.extend(all);
                if let Some(fault) = sink.leave() {
                    uploaded.fault = Some(fault);
                    return uploaded;
                }
            }
            Err(DeliveryError::BatchRejected(_)) if part.len() > 1 => {
                let (first, second) = part.split_at(part.len() / 2);
                waiting.extend([second, first]);
            }
            Err(DeliveryError::BatchRejected(reason)) => {
                let refused =
                    |outbound| delivery(outbound, DeliveryOutcome::Refused(reason), retry, now);
                uploaded.deliveries.extend(part.first().map(refused));
            }
            Err(fault) => {
                uploaded.fault = Some(fault);
                return uploaded;
            }
        }
    }
    uploaded
}

/// Noted with an episode that is there.
const BESIDE: &str = "an older revision stands beside it, which the sink can't remove";

fn delivery(
    outbound: &OutboundEpisode,
    outcome: DeliveryOutcome,
    retry: &RetryOptions,
    now: Time,
) -> Delivery {
    let mut delivery = Delivery {
        id: outbound.id,
        revision: outbound.revision,
        state: State::Seen,
        attempts: outbound.attempts,
        next_at: None,
        error: None,
        is_under_way: matches!(outcome, DeliveryOutcome::Stopped(_)),
    };
    match outcome {
        DeliveryOutcome::Seen => delivery.attempts = 0,
        DeliveryOutcome::Beside => {
            delivery.attempts = 0;
            delivery.error = Some(BESIDE.into());
        }
        DeliveryOutcome::Unverified => delivery.state = State::Unverified,
        DeliveryOutcome::Unknown => delivery.state = State::Sent,
        DeliveryOutcome::Lost => (delivery.state, delivery.next_at) = (State::Queued, Some(now)),
        DeliveryOutcome::Refused(reason) => {
            delivery.attempts += 1;
            (delivery.state, delivery.error) = (State::Dead, Some(reason));
        }
        DeliveryOutcome::Failed(reason) | DeliveryOutcome::Stopped(reason) => {
            delivery.attempts += 1;
            delivery.error = Some(reason);
            let is_over = delivery.attempts > retry.max_retries;
            delivery.state = if is_over { State::Dead } else { State::Queued };
            let next = now.0.saturating_add(retry.delay_ms(delivery.attempts));
            delivery.next_at = (!is_over).then_some(Time(next));
        }
    }
    delivery
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn outbound(n: u128) -> OutboundEpisode {
        OutboundEpisode {
            id: Uuid::from_u128(n),
            revision: 1,
            group: "g".into(),
            name: "n".into(),
            content: "c".into(),
            source_description: "d".into(),
            session: "s".into(),
            namespace: "a1".into(),
            project: "p".into(),
            valid_at: Time(0),
            created_at: Time(0),
            attempts: 0,
        }
    }

    fn retry() -> RetryOptions {
        RetryOptions {
            max_retries: 2,
            delays_ms: vec![10, 30],
        }
    }

    /// Takes everything but what it was told not to, and counts requests.
    #[derive(Default)]
    struct Picky {
        poison: Vec<u128>,
        tired: Vec<u128>,
        away_after: Option<usize>,
        requests: usize,
        taken: Vec<u128>,
    }

    impl Sink for Picky {
        fn replaces(&self) -> bool {
            true
        }
        fn place(&self, _: &OutboundEpisode) -> String {
            String::new()
        }
        fn check(&mut self) -> Result<String, DeliveryError> {
            Ok(String::new())
        }
        fn deliver(
            &mut self,
            batch: &[OutboundEpisode],
        ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
            self.requests += 1;
            if self.away_after.is_some_and(|n| self.requests > n) {
                return Err(DeliveryError::Unavailable("away".into(), None));
            }
            if batch.iter().any(|p| self.poison.contains(&p.id.as_u128())) {
                return Err(DeliveryError::BatchRejected("poison".into()));
            }
            self.taken.extend(batch.iter().map(|p| p.id.as_u128()));
            let outcome = |p: &OutboundEpisode| match self.tired.contains(&p.id.as_u128()) {
                true => DeliveryOutcome::Failed("tired".into()),
                false => DeliveryOutcome::Seen,
            };
            Ok(batch.iter().map(outcome).collect())
        }
        fn verify(&mut self, _: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
            Ok(Vec::new())
        }
        fn forget(&mut self, _: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn one_bad_episode_fails_alone_and_soon() {
        let mut sink = Picky {
            poison: vec![77],
            ..Picky::default()
        };
        let batch: Vec<OutboundEpisode> = (0..128).map(outbound).collect();
        let done = upload(&batch, &mut sink, &retry(), Time(0), &mut || true);
        assert_eq!(done.fault, None);
        let dead: Vec<u128> = done
            .deliveries
            .iter()
            .filter(|d| d.state == State::Dead)
            .map(|d| d.id.as_u128())
            .collect();
        assert_eq!(dead, [77]);
        assert_eq!(
            sink.taken,
            (0..128).filter(|n| *n != 77).collect::<Vec<_>>()
        );
        assert!(sink.requests <= 2 * 7 + 1, "{}", sink.requests);
    }

    #[test]
    fn an_episode_is_tried_again_as_often_as_told_and_then_given_up() {
        let mut sink = Picky {
            tired: vec![5],
            ..Picky::default()
        };
        let mut outbound = outbound(5);
        for (attempts, state, next) in [
            (1, State::Queued, Some(110)),
            (2, State::Queued, Some(130)),
            (3, State::Dead, None),
        ] {
            let done = upload(
                &[outbound.clone()],
                &mut sink,
                &retry(),
                Time(100),
                &mut || true,
            );
            let delivery = &done.deliveries[0];
            assert_eq!((delivery.attempts, delivery.state), (attempts, state));
            assert_eq!(delivery.next_at, next.map(Time));
            outbound.attempts = delivery.attempts;
        }
    }

    #[test]
    fn a_sink_that_is_away_blames_no_episode() {
        let mut sink = Picky {
            poison: vec![3],
            away_after: Some(2),
            ..Picky::default()
        };
        let batch: Vec<OutboundEpisode> = (0..4).map(outbound).collect();
        let done = upload(&batch, &mut sink, &retry(), Time(0), &mut || true);
        assert!(matches!(done.fault, Some(DeliveryError::Unavailable(..))));
        let ids: Vec<u128> = done.deliveries.iter().map(|d| d.id.as_u128()).collect();
        assert_eq!(ids, [0, 1]);
    }

    #[test]
    fn without_permission_the_rest_of_a_batch_stays_here() {
        let mut sink = Picky {
            poison: vec![3],
            ..Picky::default()
        };
        let batch: Vec<OutboundEpisode> = (0..4).map(outbound).collect();
        let mut asked = 0;
        let mut permitted = || {
            asked += 1;
            asked <= 2
        };
        let done = upload(&batch, &mut sink, &retry(), Time(0), &mut permitted);
        let ids: Vec<u128> = done.deliveries.iter().map(|d| d.id.as_u128()).collect();
        assert_eq!((ids, done.fault, sink.requests), (vec![0, 1], None, 2));
    }

    #[test]
    fn the_last_delay_repeats() {
        let delays: Vec<i64> = (0..5).map(|n| retry().delay_ms(n)).collect();
        assert_eq!(delays, [10, 10, 30, 30, 30]);
    }
}
