//! The second half of a delivery to Graphiti: what is there is worked through, window by window, the
//! oldest first.
//!
//! That an episode is asked for is noted before it is, and taken back only when nothing is under way
//! any more, so that none is asked for twice in the dark.

use super::cost_budget::CostBudget;
use super::delivery::{Delivery, Interrupted, only, paced};
use super::options::DeliveryOptions;
use crate::model::delivery::{
    self, DeliveryOutcome, DeliveryProgress, OutboundEpisode, Receipt, State,
};
use crate::model::time::Time;
use crate::stages::upload::RetryOptions;
use std::time::Duration;

/// Looks at most, and between two of them.
const COUNTS_MAX: u32 = 10;
const COUNT_AGAIN: Duration = Duration::from_millis(200);

impl Delivery<'_> {
    /// Enriches what waits for it; nothing where the sink doesn't.
    pub(super) fn enrich(&mut self) -> Result<(), Interrupted> {
        let Some(many) = self.sink.enrichment().map(|server| server.batch_max()) else {
            return Ok(());
        };
        let orders = self.orders;
        let waits = self.store.to_enrich(self.n, orders.kept_here, orders.now)?;
        if waits.is_empty() {
            return Ok(());
        }
        if !self.store.enrichment_is_settled(self.n)? {
            self.settle_asked()?;
        }
        let mut purse = CostBudget::new(orders.extraction, orders.usd_max);
        // what nobody came back from is worked through alone, behind the others
        let blamed = self.store.blamed(self.n)?;
        let (alone, waits): (Vec<i64>, Vec<i64>) =
            waits.into_iter().partition(|row| blamed.contains(row));
        let windows = paced(&waits, many, orders).chain(paced(&alone, 1, orders));
        for rows in windows {
            (orders.permitted)(self.store)?;
            if (orders.is_late)() {
                self.done.stopped = Some("time".into());
                break;
            }
            let rows = self.still(rows, |delivery| {
                let kept_here = delivery.orders.kept_here;
                delivery
                    .store
                    .to_enrich(delivery.n, kept_here, delivery.orders.now)
            })?;
            let outbound_episodes = self.outgoing(&rows)?;
            let outbound_episodes = self.still_to_enrich(outbound_episodes)?;
            let outbound_episodes = purse.pays(outbound_episodes, &mut self.done);
            self.enrich_window(outbound_episodes)?;
            if self.done.stopped.is_some() {
                break;
            }
        }
        self.count();
        Ok(())
    }

    /// What was made of the episodes so far: later estimates go by it, and nothing else does.
    fn count(&mut self) {
        if self.done.enriched > 0
            && let Ok(places) = self.store.places(self.n)
            && let Some(server) = self.sink.enrichment()
        {
            // facts and mentions are written after the node that says that it is done
            let mut last = server.counts(&places).ok();
            for _ in 0..COUNTS_MAX {
                (self.orders.wait)(COUNT_AGAIN);
                let now = server.counts(&places).ok();
                if std::mem::replace(&mut last, now) == now {
                    break;
                }
            }
            self.done.counted = last;
        }
    }

    /// The ones of these that have still to be enriched. What is done meanwhile is noted, and what isn't
    /// there any more waits to be delivered again.
    fn still_to_enrich(
        &mut self,
        outbound_episodes: Vec<OutboundEpisode>,
    ) -> Result<Vec<OutboundEpisode>, Interrupted> {
        let asked = self.receipts(&outbound_episodes);
        let progress = match self.sink.enrichment() {
            Some(server) => server.progress(&asked)?,
            None => Vec::new(),
        };
        let mut waits = Vec::new();
        let mut missing: Vec<Receipt> = Vec::new();
        let mut deliveries = Vec::new();
        for ((outbound, receipt), progress) in
            outbound_episodes.into_iter().zip(asked).zip(progress)
        {
            match progress {
                DeliveryProgress::Waits => waits.push(outbound),
                DeliveryProgress::Missing => missing.push(receipt),
                DeliveryProgress::Done => {
                    deliveries.push(attempt(&outbound, DeliveryOutcome::Seen, self.orders))
                }
            }
        }
        self.done.enriched += deliveries.len() as u64;
        self.store.enriched(self.n, &deliveries, self.orders.now)?;
        self.store.unsent(self.n, &missing, self.orders.now)?;
        Ok(waits)
    }

    fn enrich_window(
        &mut self,
        outbound_episodes: Vec<OutboundEpisode>,
    ) -> Result<(), Interrupted> {
        let receipts = self.receipts(&outbound_episodes);
        let noted = self.store.asking(self.n, &receipts, self.orders.now)?;
        let outbound_episodes = only(outbound_episodes, &noted);
        if outbound_episodes.is_empty() {
            return Ok(());
        }
        let outcomes = match self.sink.enrichment() {
            Some(server) => server.enrich(&outbound_episodes)?,
            None => Vec::new(),
        };
        let answered = outbound_episodes.iter().zip(outcomes);
        let known = answered.filter(|(_, outcome)| *outcome != DeliveryOutcome::Unknown);
        let deliveries: Vec<delivery::Delivery> = known
            .map(|(outbound, outcome)| attempt(outbound, outcome, self.orders))
            .collect();
        for delivery in &deliveries {
            match (delivery.state, delivery.next_at) {
                (State::Enriched, _) => self.done.enriched += 1,
                (_, Some(_)) => self.done.failed += 1,
                (_, None) => self.done.dead += 1,
            }
        }
        self.store.enriched(self.n, &deliveries, self.orders.now)?;
        match self.sink.leave() {
            Some(fault) => Err(fault.into()),
            None => Ok(()),
        }
    }
}

/// The attempt and its outcome. The episode is there whatever happens here. Given up: still seen, with
/// failures and without a next time.
fn attempt(
    outbound: &OutboundEpisode,
    outcome: DeliveryOutcome,
    orders: &DeliveryOptions<'_>,
) -> delivery::Delivery {
    let RetryOptions { max_retries, .. } = orders.retry;
    let mut delivery = delivery::Delivery {
        id: outbound.id,
        revision: outbound.revision,
        state: State::Seen,
        attempts: outbound.attempts + 1,
        next_at: None,
        error: None,
        is_under_way: false,
    };
    match outcome {
        DeliveryOutcome::Failed(reason) | DeliveryOutcome::Stopped(reason) => {
            let next = orders.retry.delay_ms(delivery.attempts);
            let is_over = delivery.attempts > max_retries;
            delivery.next_at = (!is_over).then_some(Time(orders.now.0.saturating_add(next)));
            delivery.error = Some(reason);
        }
        DeliveryOutcome::Refused(reason) => delivery.error = Some(reason),
        DeliveryOutcome::Lost => {
            (delivery.attempts, delivery.next_at) = (outbound.attempts, Some(orders.now))
        }
        _ => (delivery.state, delivery.attempts) = (State::Enriched, 0),
    }
    delivery
}
