//! The second half of a delivery to Graphiti: what is there is worked through, window by window, the
//! oldest first.
//!
//! That an episode is asked for is noted before it is, and taken back only when nothing is under way
//! any more, so that none is asked for twice in the dark.

use super::Orders;
use super::cost_budget::Purse;
use super::deliver::{Delivered, outgoing, paced, receipts};
use super::settling::settle_asked;
use crate::model::delivery::{Delivery, Fault, Outcome, Parcel, Progress, Receipt, State};
use crate::model::time::Time;
use crate::stages::upload::{RetryOptions, Sink};
use crate::store::Store;
use anyhow::Result;

/// Enriches what waits for it; nothing where the sink doesn't. The inner error is the sink's.
pub(super) fn enrich(
    store: &mut Store,
    n: i64,
    sink: &mut dyn Sink,
    orders: &Orders<'_>,
    done: &mut Delivered,
) -> Result<Result<(), Fault>> {
    let Some(many) = sink.enrichment().map(|server| server.batch_max()) else {
        return Ok(Ok(()));
    };
    let waits = store.to_enrich(n, orders.kept_here, orders.now)?;
    if waits.is_empty() {
        return Ok(Ok(()));
    }
    if !store.enrichment_is_settled(n)?
        && let Err(fault) = settle_asked(store, n, sink)?
    {
        return Ok(Err(fault));
    }
    let mut purse = Purse::new(orders.extraction, orders.usd_max);
    for rows in paced(&waits, many, orders) {
        (orders.permitted)(store)?;
        if (orders.is_late)() {
            done.stopped = Some("time".into());
            break;
        }
        let parcels = outgoing(store, n, rows, orders)?;
        let parcels = match look(store, n, parcels, sink, orders, done)? {
            Ok(parcels) => purse.pays(parcels, done),
            Err(fault) => return Ok(Err(fault)),
        };
        if let Err(fault) = window(store, n, &parcels, sink, orders, done)? {
            return Ok(Err(fault));
        }
        if done.stopped.is_some() {
            break;
        }
    }
    Ok(Ok(()))
}

/// The ones of these that have still to be enriched. What is done meanwhile is noted, and what isn't
/// there any more waits to be delivered again.
fn look(
    store: &mut Store,
    n: i64,
    parcels: Vec<Parcel>,
    sink: &mut dyn Sink,
    orders: &Orders<'_>,
    done: &mut Delivered,
) -> Result<Result<Vec<Parcel>, Fault>> {
    let asked = receipts(sink, &parcels);
    let progress = match sink.enrichment().map(|server| server.progress(&asked)) {
        Some(Ok(progress)) => progress,
        Some(Err(fault)) => return Ok(Err(fault)),
        None => Vec::new(),
    };
    let mut waits = Vec::new();
    let mut missing: Vec<Receipt> = Vec::new();
    let mut deliveries = Vec::new();
    for ((parcel, receipt), progress) in parcels.into_iter().zip(asked).zip(progress) {
        match progress {
            Progress::Waits => waits.push(parcel),
            Progress::Missing => missing.push(receipt),
            Progress::Done => deliveries.push(delivery(&parcel, Outcome::Seen, orders)),
        }
    }
    done.enriched += deliveries.len() as u64;
    store.enriched(n, &deliveries, orders.now)?;
    store.unsent(n, &missing, orders.now)?;
    Ok(Ok(waits))
}

fn window(
    store: &mut Store,
    n: i64,
    parcels: &[Parcel],
    sink: &mut dyn Sink,
    orders: &Orders<'_>,
    done: &mut Delivered,
) -> Result<Result<(), Fault>> {
    if parcels.is_empty() {
        return Ok(Ok(()));
    }
    store.asking(n, &receipts(sink, parcels), orders.now)?;
    let outcomes = match sink.enrichment().map(|server| server.enrich(parcels)) {
        Some(Ok(outcomes)) => outcomes,
        Some(Err(fault)) => return Ok(Err(fault)),
        None => Vec::new(),
    };
    let told = parcels.iter().zip(outcomes);
    let known = told.filter(|(_, outcome)| *outcome != Outcome::Unknown);
    let deliveries: Vec<Delivery> = known
        .map(|(parcel, outcome)| delivery(parcel, outcome, orders))
        .collect();
    for delivery in &deliveries {
        match (delivery.state, delivery.next_at) {
            (State::Enriched, _) => done.enriched += 1,
            (_, Some(_)) => done.failed += 1,
            (_, None) => done.dead += 1,
        }
    }
    store.enriched(n, &deliveries, orders.now)?;
    Ok(sink.leave().map_or(Ok(()), Err))
}

/// It is there whatever happens here. Given up: still seen, with failures and without a next time.
fn delivery(parcel: &Parcel, outcome: Outcome, orders: &Orders<'_>) -> Delivery {
    let RetryOptions { max_retries, .. } = orders.retry;
    let mut delivery = Delivery {
        id: parcel.id,
        revision: parcel.revision,
        state: State::Seen,
        attempts: parcel.attempts + 1,
        next_at: None,
        error: None,
        is_under_way: false,
    };
    match outcome {
        Outcome::Failed(reason) | Outcome::Stopped(reason) => {
            let next = orders.retry.delay_ms(delivery.attempts);
            let is_over = delivery.attempts > max_retries;
            delivery.next_at = (!is_over).then_some(Time(orders.now.0.saturating_add(next)));
            delivery.error = Some(reason);
        }
        Outcome::Refused(reason) => delivery.error = Some(reason),
        Outcome::Lost => {
            (delivery.attempts, delivery.next_at) = (parcel.attempts, Some(orders.now))
        }
        _ => (delivery.state, delivery.attempts) = (State::Enriched, 0),
    }
    delivery
}
