//! One sink is brought up to the store: what waits goes there, batch by batch.
//!
//! Every batch is noted as sent before it is handed over, so that whatever happens then, the next
//! run asks the sink what arrived before it sends anything.

use super::cost_budget::CostBudget;
use super::options::DeliveryOptions;
use super::outbound::outbound;
use super::report::{SinkReport, Verified};
use crate::model::delivery::{DeliveryError, Landed, OutboundEpisode, Receipt, State};
use crate::model::error::Error;
use crate::model::time::Time;
use crate::pipeline::options::PENDING_MS;
use crate::stages::upload::{Sink, upload};
use crate::store::{Due, SinkRow, Store};
use anyhow::Result;
use std::collections::BTreeSet;
use std::time::Duration;
use uuid::Uuid;

/// Episodes of one batch. More: fewer requests; fewer: less to ask about after a crash.
const BATCH: usize = 250;
/// Receipts that are asked about at once.
pub(super) const RECEIPTS: usize = 1_000;

/// Why a delivery ends before everything is there.
#[derive(Debug)]
pub enum Interrupted {
    /// The sink is at fault, or away: a fact of the report.
    Sink(DeliveryError),
    /// The store fails, or nobody agrees any more: an error of the run.
    Failed(anyhow::Error),
}

impl From<DeliveryError> for Interrupted {
    fn from(fault: DeliveryError) -> Interrupted {
        Interrupted::Sink(fault)
    }
}

impl From<Error> for Interrupted {
    fn from(error: Error) -> Interrupted {
        Interrupted::Failed(error.into())
    }
}

/// A delivery to one sink that is going.
pub(super) struct Delivery<'d> {
    pub(super) store: &'d mut Store,
    /// The sink's number in the store.
    pub(super) n: i64,
    pub(super) sink: &'d mut dyn Sink,
    pub(super) orders: &'d DeliveryOptions<'d>,
    pub(super) done: SinkReport,
}

/// Delivers what is due. A sink that is away is a fact of the report, not an error.
///
/// # Errors
/// When the store fails, or nobody agrees any more.
pub fn deliver(
    store: &mut Store,
    name: &str,
    sink: &mut dyn Sink,
    orders: &DeliveryOptions<'_>,
) -> Result<SinkReport> {
    let row = store.sink(name, orders.address, orders.now)?;
    if orders.history {
        store.ask_for_history(row.n)?;
    }
    let mut delivery = Delivery {
        store,
        n: row.n,
        sink,
        orders,
        done: SinkReport {
            sink: name.to_owned(),
            ..SinkReport::default()
        },
    };
    let paused = row.paused_until.filter(|until| *until > orders.now);
    if let (Some(until), false) = (paused, orders.insist) {
        delivery.count_what_is_left()?;
        let mut done = delivery.done;
        (done.fault, done.paused_until) = (row.error, Some(until));
        done.is_untried = true;
        return Ok(done);
    }
    let fault = match delivery.steps() {
        Ok(()) => None,
        Err(Interrupted::Sink(fault)) => Some(fault),
        Err(Interrupted::Failed(error)) => return Err(error),
    };
    if fault.is_some() {
        // it may be that nobody agrees any more
        (orders.permitted)(delivery.store)?;
    }
    delivery.count_what_is_left()?;
    delivery.store.clean(row.n, orders.only_logs)?;
    delivery.pause(&row, fault)?;
    Ok(delivery.done)
}

impl Delivery<'_> {
    /// What earlier runs left open comes first, and what is to be removed before what is new.
    fn steps(&mut self) -> Result<(), Interrupted> {
        (self.orders.permitted)(self.store)?;
        self.settle_sent()?;
        self.ask_to_forget()?;
        self.send()?;
        self.enrich()
    }

    /// A sink that failed is left alone for a while, longer each time; one that didn't is not.
    fn pause(&mut self, row: &SinkRow, fault: Option<DeliveryError>) -> Result<(), Error> {
        let Some(fault) = fault else {
            return self.store.pause(row.n, 0, None, None);
        };
        let (retry, now) = (&self.orders.retry, self.orders.now);
        let done = &self.done;
        let moved = done.delivered + done.found + done.enriched + done.forgotten;
        // what moved something was no failure: it goes on as soon as after the first one
        let failures = match moved {
            0 => row.failures.saturating_add(1),
            _ => 1,
        };
        let mut wait_ms = retry.delay_ms(failures);
        if let DeliveryError::Unavailable(_, Some(asked)) = &fault {
            let asked_ms = i64::try_from(asked.as_millis()).unwrap_or(i64::MAX);
            wait_ms = wait_ms.max(asked_ms.min(retry.longest_ms()));
        }
        let until = Time(now.0.saturating_add(wait_ms));
        self.store
            .pause(row.n, failures, Some(until), Some(fault.reason()))?;
        self.done.is_lasting = !matches!(fault, DeliveryError::Unavailable(..));
        self.done.fault = Some(fault.reason().to_owned());
        self.done.paused_until = Some(until);
        Ok(())
    }

    /// What is due, and what was sent and nobody knows of; what is still to be enriched.
    fn count_what_is_left(&mut self) -> Result<(), Error> {
        let sent = self
            .store
            .receipts(self.n, &[State::Sent], None, usize::MAX)?;
        self.done.waiting = (self.due()?.len() + sent.len()) as u64;
        self.done.dead_letters = self.store.dead(self.n)?;
        if self.sink.enrichment().is_some() {
            let kept_here = self.orders.kept_here;
            let waiting = self.store.to_enrich(self.n, kept_here, Time(i64::MAX))?;
            self.done.to_enrich = waiting.len() as u64;
        }
        Ok(())
    }

    fn due(&self) -> Result<Vec<i64>, Error> {
        let orders = self.orders;
        let settled_ms = match self.sink.replaces() {
            true => orders.settled_ms,
            false => orders.settle_after_ms.max(orders.settled_ms),
        };
        let due = Due {
            now: orders.now,
            settled_ms,
            pending_ms: PENDING_MS.max(settled_ms),
            kept_here: orders.kept_here,
            only_logs: orders.only_logs,
            history: false,
            without: orders.without,
        };
        self.store.due(self.n, &due)
    }

    /// What is due, batch by batch.
    fn send(&mut self) -> Result<(), Interrupted> {
        let due = self.due()?;
        if due.is_empty() {
            return Ok(());
        }
        self.sink.tells_apart(&self.store.groups()?)?;
        // a sink that enriches pays for that, and not for what it holds
        let is_paid = self.sink.enrichment().is_none();
        if is_paid && !self.store.asked(self.n)?.is_empty() {
            self.settle_asked()?;
        }
        let orders = self.orders;
        let mut purse = CostBudget::new(orders.extraction.filter(|_| is_paid), orders.usd_max);
        let many = BATCH
            .min(orders.on_their_way_max)
            .min(self.sink.batch_max());
        for rows in paced(&due, many, orders) {
            (orders.permitted)(self.store)?;
            if is_paid && (orders.is_late)() {
                self.done.stopped = Some("time".into());
                break;
            }
            let rows = self.still(rows, |delivery| delivery.due())?;
            let outbound_episodes = self.outgoing(&rows)?;
            let outbound_episodes = purse.pays(outbound_episodes, &mut self.done);
            self.send_batch(outbound_episodes)?;
            if self.done.stopped.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// The ones of these rows that are among `now`: others may forget and read while it takes its time.
    pub(super) fn still(
        &mut self,
        rows: &[i64],
        now: impl Fn(&Self) -> Result<Vec<i64>, Error>,
    ) -> Result<Vec<i64>, Error> {
        if !self.store.changed_elsewhere()? {
            return Ok(rows.to_vec());
        }
        let now: BTreeSet<i64> = now(self)?.into_iter().collect();
        Ok(rows
            .iter()
            .copied()
            .filter(|row| now.contains(row))
            .collect())
    }

    fn send_batch(&mut self, outbound_episodes: Vec<OutboundEpisode>) -> Result<(), Interrupted> {
        if outbound_episodes.is_empty() {
            return Ok(());
        }
        let (n, orders) = (self.n, self.orders);
        let receipts = self.receipts(&outbound_episodes);
        // it is called otherwise by now: the new place is noted only when the old one is empty
        let elsewhere = self.store.elsewhere(n, &receipts)?;
        if !elsewhere.is_empty() {
            if !self.store.asked(n)?.is_empty() {
                self.settle_asked()?;
            }
            self.sink.forget(&elsewhere)?;
        }
        let noted = self.store.sending(n, &receipts, orders.now)?;
        let outbound_episodes = only(outbound_episodes, &noted);
        if outbound_episodes.is_empty() {
            return Ok(());
        }
        let mut refused = None;
        let mut permitted = || {
            refused = (orders.permitted)(self.store).err();
            refused.is_none()
        };
        let mut uploaded = upload(
            &outbound_episodes,
            self.sink,
            &orders.retry,
            orders.now,
            &mut permitted,
        );
        if self.sink.enrichment().is_some() {
            // a database that lost it didn't lose that nobody came back from it
            for delivery in uploaded.deliveries.iter_mut() {
                let before = outbound_episodes.iter().find(|o| o.id == delivery.id);
                let attempts = before.map_or(0, |outbound| outbound.attempts);
                if delivery.state == State::Seen && attempts > 0 {
                    (delivery.attempts, delivery.next_at) = (attempts, Some(orders.now));
                }
            }
        }
        // what arrived before the consent was taken back is noted all the same
        self.store.delivered(n, &uploaded.deliveries, orders.now)?;
        if let Some(error) = refused {
            return Err(error.into());
        }
        let sent = |id| outbound_episodes.iter().find(|outbound| outbound.id == id);
        let done = &mut self.done;
        for delivery in &uploaded.deliveries {
            let Some(outbound) = sent(delivery.id) else {
                continue;
            };
            match delivery.state {
                State::Seen => {
                    done.delivered += 1;
                    done.bytes += outbound.content.len() as u64;
                    done.beside += u64::from(delivery.error.is_some());
                }
                State::Unverified => done.unverified += 1,
                State::Dead => done.dead += 1,
                State::Sent => {}
                _ => done.failed += 1,
            }
        }
        match uploaded.fault {
            Some(fault) => Err(fault.into()),
            None => Ok(()),
        }
    }

    /// Episodes by row number, as they are handed over.
    pub(super) fn outgoing(&self, rows: &[i64]) -> Result<Vec<OutboundEpisode>, Error> {
        let found = self.store.outgoing(self.n, rows)?.into_iter();
        found
            .map(|(found, attempts)| outbound(found, attempts, self.store, self.orders))
            .collect()
    }

    pub(super) fn receipts(&self, outbound_episodes: &[OutboundEpisode]) -> Vec<Receipt> {
        let receipt = |outbound: &OutboundEpisode| Receipt {
            id: outbound.id,
            revision: outbound.revision,
            place: self.sink.place(outbound),
        };
        outbound_episodes.iter().map(receipt).collect()
    }
}

/// What was noted: the others went or changed since they were read.
pub(super) fn only(
    mut outbound_episodes: Vec<OutboundEpisode>,
    noted: &BTreeSet<Uuid>,
) -> Vec<OutboundEpisode> {
    outbound_episodes.retain(|outbound| noted.contains(&outbound.id));
    outbound_episodes
}

/// Rows in batches of at most so many, as many as a run may send, at the rate that is allowed.
pub(super) fn paced<'a>(
    rows: &'a [i64],
    many: usize,
    orders: &'a DeliveryOptions<'_>,
) -> impl Iterator<Item = &'a [i64]> {
    let now = orders.episodes_max.unwrap_or(rows.len()).min(rows.len());
    let rate = orders.rate_per_minute;
    let many = rate.map_or(many, |rate| many.min(rate as usize)).max(1);
    let batches = rows[..now].chunks(many).enumerate();
    batches.map(move |(nth, rows)| {
        if let (Some(rate), true) = (rate, nth > 0) {
            let pause = 60.0 * many as f64 / f64::from(rate);
            (orders.wait)(Duration::from_secs_f64(pause));
        }
        rows
    })
}

/// What a sink holds of these; each of them was answered.
pub(super) fn ask(sink: &mut dyn Sink, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
    let landed = sink.verify(receipts)?;
    match landed.len() == receipts.len() {
        true => Ok(landed),
        false => Err(DeliveryError::BatchRejected(
            "it didn't answer for every episode".into(),
        )),
    }
}

/// Asks a sink for everything that it is said to have. With `requeue`, what is missing waits again.
///
/// # Errors
/// When the store fails, or the sink.
pub fn verify(
    store: &mut Store,
    (name, address): (&str, &str),
    sink: &mut dyn Sink,
    requeue: bool,
    now: Time,
) -> Result<Verified, Interrupted> {
    let mut verified = Verified {
        sink: name.to_owned(),
        ..Verified::default()
    };
    let Some(row) = store.known_sink(name, address)? else {
        return Ok(verified);
    };
    // these may well be there: sent again, they could be there twice
    let unverified = store.receipts(row.n, &[State::Unverified], None, usize::MAX)?;
    verified.unverified = unverified.len() as u64;
    let mut after = None;
    loop {
        let seen = store.receipts(row.n, &[State::Seen, State::Enriched], after, RECEIPTS)?;
        let Some(last) = seen.last() else {
            return Ok(verified);
        };
        after = Some(last.id);
        let landed = ask(sink, &seen)?;
        let mut missing = Vec::new();
        for (receipt, landed) in seen.into_iter().zip(landed) {
            match landed {
                Landed::Once => verified.landed += 1,
                Landed::Beside => {
                    verified.landed += 1;
                    verified.beside += 1;
                }
                Landed::Twice => verified.twice += 1,
                Landed::Missing => missing.push(receipt),
                Landed::Unknown => verified.unverified += 1,
            }
        }
        verified.missing += missing.len() as u64;
        verified.without_text += store.without_text(&missing)?;
        if requeue {
            verified.requeued += missing.len() as u64;
            store.unsent(row.n, &missing, now)?;
        }
    }
}
