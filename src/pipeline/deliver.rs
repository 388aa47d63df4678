//! The step `upload`: what waits in the store goes to one sink, batch by batch.
//!
//! Every batch is noted as sent before it is handed over, so that whatever happens then, the next
//! run asks the sink what arrived before it sends anything. Knows the order of these steps; refuses
//! to know what a sink is.

mod enrichment;
mod orders;
mod parcel;
mod purse;
pub mod scoped;
mod settling;

pub use orders::Orders;
pub use purse::TooDear;

use crate::model::delivery::{Fault, Landed, Outcome, Parcel, Receipt, State};
use crate::model::error::Error;
use crate::model::time::Time;
use crate::stages::upload::{Sink, upload};
use crate::store::{Due, SinkRow, Store};
use anyhow::Result;
use parcel::parcel;
use purse::Purse;
use serde::Serialize;
use settling::{ask_to_forget, settle_asked, settle_sent};
use std::time::Duration;
use uuid::Uuid;

/// Episodes of one batch. More: fewer requests; fewer: less to ask about after a crash.
const BATCH: usize = 250;
/// Receipts that are asked about at once.
const RECEIPTS: usize = 1_000;
/// An episode whose calls wait for their results settles after a day (architecture § 6).
pub const PENDING_MS: i64 = 86_400_000;

/// What a delivery did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Delivered {
    /// The sink's name.
    pub sink: String,
    /// Episodes that are there now and were not before, or in another revision.
    pub delivered: u64,
    /// UTF-8 bytes of them.
    pub bytes: u64,
    /// Found there although an earlier run didn't get to note it.
    pub found: u64,
    /// Attempts that failed and will be repeated.
    pub failed: u64,
    /// Given up in this run.
    pub dead: u64,
    /// Removed there, because they are no more here.
    pub forgotten: u64,
    /// No more here, and the sink can't remove them.
    pub kept: u64,
    /// Worked through by the sink: Graphiti took entities and facts from them.
    pub enriched: u64,
    /// There, and still to be worked through.
    pub to_enrich: u64,
    /// Taken by a sink that can't be asked whether they are there.
    pub unverified: u64,
    /// There, beside an older revision that the sink can't remove.
    pub beside: u64,
    /// US dollars that the sink's server spent, as estimated.
    pub usd: f64,
    /// Left out, because one alone costs more than a run may spend.
    pub too_dear: Vec<TooDear>,
    /// Why the run sent less than it could, where no sink is to blame: `budget` or `time`.
    pub stopped: Option<String>,
    /// Due and not sent in this run.
    pub waiting: u64,
    /// Why the sink was left. Never content.
    pub fault: Option<String>,
    /// It is left alone until then.
    pub paused_until: Option<Time>,
}

/// Delivers what is due. A sink that is away is a fact of the report, not an error.
///
/// # Errors
/// When the store fails, or nobody agrees any more.
pub fn deliver(
    store: &mut Store,
    name: &str,
    sink: &mut dyn Sink,
    orders: &Orders<'_>,
) -> Result<Delivered> {
    let row = store.sink(name, orders.address, orders.now)?;
    if orders.history {
        store.ask_for_history(row.n)?;
    }
    let mut done = Delivered {
        sink: name.to_owned(),
        ..Delivered::default()
    };
    let paused = row.paused_until.filter(|until| *until > orders.now);
    if let (Some(until), false) = (paused, orders.insist) {
        still(store, row.n, sink, orders, &mut done)?;
        (done.fault, done.paused_until) = (row.error, Some(until));
        return Ok(done);
    }
    let fault = steps(store, &row, sink, orders, &mut done)?.err();
    if fault.is_some() {
        // it may be that nobody agrees any more
        (orders.permitted)(store)?;
    }
    still(store, row.n, sink, orders, &mut done)?;
    store.clean(row.n, orders.only_logs)?;
    match fault {
        None => store.pause(row.n, 0, None, None)?,
        Some(fault) => {
            let failures = row.failures.saturating_add(1);
            let mut wait_ms = orders.retry.delay_ms(failures);
            if let Fault::Away(_, Some(asked)) = &fault {
                let asked_ms = i64::try_from(asked.as_millis()).unwrap_or(i64::MAX);
                wait_ms = wait_ms.max(asked_ms.min(orders.retry.longest_ms()));
            }
            let until = Time(orders.now.0.saturating_add(wait_ms));
            store.pause(row.n, failures, Some(until), Some(fault.reason()))?;
            (done.fault, done.paused_until) = (Some(fault.reason().to_owned()), Some(until));
        }
    }
    Ok(done)
}

/// What a run leaves to do.
fn still(
    store: &Store,
    n: i64,
    sink: &mut dyn Sink,
    orders: &Orders<'_>,
    done: &mut Delivered,
) -> Result<()> {
    done.waiting = waiting(store, n, sink, orders)?;
    if sink.enrichment().is_some() {
        done.to_enrich = store.to_enrich(n, orders.kept_here, Time(i64::MAX))?.len() as u64;
    }
    Ok(())
}

/// The inner error is the sink's.
fn steps(
    store: &mut Store,
    row: &SinkRow,
    sink: &mut dyn Sink,
    orders: &Orders<'_>,
    done: &mut Delivered,
) -> Result<Result<(), Fault>> {
    (orders.permitted)(store)?;
    if let Err(fault) = settle_sent(store, row.n, sink, orders, done)? {
        return Ok(Err(fault));
    }
    if let Err(fault) = ask_to_forget(store, row.n, sink, done)? {
        return Ok(Err(fault));
    }
    if let Err(fault) = send(store, row.n, sink, orders, done)? {
        return Ok(Err(fault));
    }
    enrichment::enrich(store, row.n, sink, orders, done)
}

/// What is due, batch by batch.
fn send(
    store: &mut Store,
    n: i64,
    sink: &mut dyn Sink,
    orders: &Orders<'_>,
    done: &mut Delivered,
) -> Result<Result<(), Fault>> {
    let due = due(store, n, sink, orders)?;
    if due.is_empty() {
        return Ok(Ok(()));
    }
    if let Err(fault) = sink.tells_apart(&store.groups()?) {
        return Ok(Err(fault));
    }
    // a sink that enriches pays for that, and not for what it holds
    let is_paid = sink.enrichment().is_none();
    if is_paid
        && !store.asked(n)?.is_empty()
        && let Err(fault) = settle_asked(store, n, sink)?
    {
        return Ok(Err(fault));
    }
    let mut purse = Purse::new(orders.extraction.filter(|_| is_paid), orders.usd_max);
    let many = BATCH.min(orders.on_their_way_max).min(sink.batch_max());
    for rows in paced(&due, many, orders) {
        (orders.permitted)(store)?;
        if is_paid && (orders.is_late)() {
            done.stopped = Some("time".into());
            break;
        }
        let parcels = purse.pays(outgoing(store, n, rows, orders)?, done);
        if let Err(fault) = batch(store, n, &parcels, sink, orders, done)? {
            return Ok(Err(fault));
        }
        if done.stopped.is_some() {
            break;
        }
    }
    Ok(Ok(()))
}

/// Rows in batches of at most so many, as many as a run may send, at the rate that is allowed.
fn paced<'a>(
    rows: &'a [i64],
    many: usize,
    orders: &'a Orders<'_>,
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

/// Episodes by row number, as they are handed over.
fn outgoing(
    store: &Store,
    n: i64,
    rows: &[i64],
    orders: &Orders<'_>,
) -> Result<Vec<Parcel>, Error> {
    let found = store.outgoing(n, rows)?.into_iter();
    found
        .map(|(found, attempts)| parcel(found, attempts, store, orders))
        .collect()
}

fn receipts(sink: &dyn Sink, parcels: &[Parcel]) -> Vec<Receipt> {
    let receipt = |parcel: &Parcel| Receipt {
        id: parcel.id,
        revision: parcel.revision,
        place: sink.place(parcel),
    };
    parcels.iter().map(receipt).collect()
}

fn due(store: &Store, n: i64, sink: &dyn Sink, orders: &Orders<'_>) -> Result<Vec<i64>, Error> {
    let settled_ms = match sink.replaces() {
        true => orders.settled_ms,
        false => orders.settle_after_ms.max(orders.settled_ms),
    };
    let due = Due {
        now: orders.now,
        settled_ms,
        pending_ms: PENDING_MS.max(settled_ms),
        kept_here: orders.kept_here,
        only_logs: orders.only_logs,
    };
    store.due(n, &due)
}

/// What is due, and what was sent and nobody knows of.
fn waiting(store: &Store, n: i64, sink: &dyn Sink, orders: &Orders<'_>) -> Result<u64, Error> {
    let sent = store.receipts(n, &[State::Sent], None, usize::MAX)?;
    Ok((due(store, n, sink, orders)?.len() + sent.len()) as u64)
}

fn batch(
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
    let receipts = receipts(sink, parcels);
    // it is called otherwise by now: the new place is noted only when the old one is empty
    let elsewhere = store.elsewhere(n, &receipts)?;
    if !elsewhere.is_empty() {
        if !store.asked(n)?.is_empty()
            && let Err(fault) = settle_asked(store, n, sink)?
        {
            return Ok(Err(fault));
        }
        if let Err(fault) = sink.forget(&elsewhere) {
            return Ok(Err(fault));
        }
    }
    store.sending(n, &receipts, orders.now)?;
    let mut refused = None;
    let mut permitted = || {
        refused = (orders.permitted)(store).err();
        refused.is_none()
    };
    let uploaded = upload(parcels, sink, &orders.retry, orders.now, &mut permitted);
    store.delivered(n, &uploaded.deliveries, orders.now)?;
    if let Some(error) = refused {
        return Err(error.into());
    }
    for (delivery, parcel) in uploaded
        .deliveries
        .iter()
        .filter_map(|d| Some((d, parcels.iter().find(|p| p.id == d.id)?)))
    {
        match delivery.state {
            State::Seen => {
                done.delivered += 1;
                done.bytes += parcel.content.len() as u64;
                done.beside += u64::from(delivery.error.is_some());
            }
            State::Unverified => done.unverified += 1,
            State::Dead => done.dead += 1,
            State::Sent => {}
            _ => done.failed += 1,
        }
    }
    Ok(match uploaded.fault {
        Some(fault) => Err(fault),
        None => Ok(()),
    })
}

/// What a sink holds of these; each of them was answered.
fn ask(sink: &mut dyn Sink, receipts: &[Receipt]) -> Result<Vec<Landed>, Fault> {
    let landed = sink.verify(receipts)?;
    match landed.len() == receipts.len() {
        true => Ok(landed),
        false => Err(Fault::Batch("it didn't answer for every episode".into())),
    }
}

/// What a sink holds of everything that the store has a receipt of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The sink's name.
    pub sink: String,
    /// There, once, in the revision that was sent.
    pub landed: u64,
    /// Not there, or in another revision.
    pub missing: u64,
    /// There more than once.
    pub twice: u64,
    /// Of those that are there, the ones with an older revision beside them.
    pub beside: u64,
    /// Nobody can say of these whether they are there.
    pub unverified: u64,
    /// Missing ones that wait again.
    pub requeued: u64,
    /// Missing ones whose text was left to the sinks.
    pub without_text: u64,
}

/// Asks a sink for everything that it is said to have. With `requeue`, what is missing waits again.
///
/// # Errors
/// When the store fails; the inner error is the sink's.
pub fn verify(
    store: &mut Store,
    (name, address): (&str, &str),
    sink: &mut dyn Sink,
    requeue: bool,
    now: Time,
) -> Result<Result<Verified, Fault>> {
    let mut verified = Verified {
        sink: name.to_owned(),
        ..Verified::default()
    };
    let Some(row) = store.known_sink(name, address)? else {
        return Ok(Ok(verified));
    };
    let unverified = store.receipts(row.n, &[State::Unverified], None, usize::MAX)?;
    verified.unverified = unverified.len() as u64;
    let mut after = None;
    loop {
        let seen = store.receipts(row.n, &[State::Seen, State::Enriched], after, RECEIPTS)?;
        let Some(last) = seen.last() else {
            return Ok(Ok(verified));
        };
        after = Some(last.id);
        let landed = match ask(sink, &seen) {
            Ok(landed) => landed,
            Err(fault) => return Ok(Err(fault)),
        };
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

/// Writes an episode that says nothing, reads it back and removes it. It stands in a group of its
/// own, so that a graph of that name may stay behind, empty. `false`: the sink can't remove it.
///
/// # Errors
/// At which of these the sink failed.
pub fn smoke(sink: &mut dyn Sink, now: Time) -> Result<bool, Fault> {
    // what an earlier test left is not taken for this one's
    let id = format!("sessionmill:smoke:{}", now.0);
    let parcel = Parcel {
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
        id: parcel.id,
        revision: parcel.revision,
        place: sink.place(&parcel),
    }];
    match sink.enrichment() {
        Some(server) => server.settle(&receipt)?,
        None => sink.settle(&receipt)?,
    }
    match sink.deliver(&[parcel])?.pop() {
        Some(Outcome::Seen | Outcome::Beside) => {}
        Some(Outcome::Refused(reason) | Outcome::Failed(reason) | Outcome::Stopped(reason)) => {
            return Err(Fault::Batch(reason));
        }
        Some(Outcome::Unknown | Outcome::Lost | Outcome::Unverified) | None => {
            let silent = || Fault::Batch("it said nothing about an episode".into());
            return Err(sink.leave().unwrap_or_else(silent));
        }
    }
    let landed = sink.verify(&receipt)?;
    let kept = sink.forget(&receipt)?;
    match (landed.as_slice(), sink.verify(&receipt)?.as_slice()) {
        ([Landed::Once], [Landed::Missing]) => Ok(true),
        ([Landed::Once], _) if !kept.is_empty() => Ok(false),
        ([Landed::Once], _) => Err(Fault::Batch("what was removed is still there".into())),
        _ => Err(Fault::Batch("what was written was not read back".into())),
    }
}
