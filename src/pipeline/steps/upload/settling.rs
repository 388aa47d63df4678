//! What earlier runs left at a sink without knowing what became of it, and what is no more here: the
//! sink is asked, and nothing is taken for lost or removed while it may be under way.

use super::Orders;
use super::deliver::{Delivered, RECEIPTS, ask};
use crate::model::delivery::{Delivery, Fault, Landed, Receipt, State};
use crate::stages::upload::Sink;
use crate::store::Store;
use anyhow::Result;

/// What a sink holds of these; what is missing won't come any more. `asked`: what else may be under
/// way.
fn arrived(
    sink: &mut dyn Sink,
    receipts: &[Receipt],
    asked: &[Receipt],
) -> Result<Vec<Landed>, Fault> {
    let landed = ask(sink, receipts)?;
    if landed.iter().all(|landed| *landed != Landed::Missing) {
        return Ok(landed);
    }
    sink.settle(&[receipts, asked].concat())?;
    ask(sink, receipts)
}

/// What an earlier run handed over without noting the outcome: the sink is asked.
pub(super) fn settle_sent(
    store: &mut Store,
    n: i64,
    sink: &mut dyn Sink,
    orders: &Orders<'_>,
    done: &mut Delivered,
) -> Result<Result<(), Fault>> {
    let enriches = sink.enrichment().is_some();
    loop {
        let sent = store.receipts(n, &[State::Sent], None, RECEIPTS)?;
        if sent.is_empty() {
            return Ok(Ok(()));
        }
        let landed = match arrived(sink, &sent, &store.asked(n)?) {
            Ok(landed) => landed,
            Err(fault) => return Ok(Err(fault)),
        };
        let mut known = Vec::new();
        let mut again = Vec::new();
        for (receipt, landed) in sent.into_iter().zip(landed) {
            match landed {
                // handing it over again removes what it was before
                Landed::Missing | Landed::Beside => again.push(receipt),
                // and says that it is still to be worked through
                Landed::Once if enriches => again.push(receipt),
                Landed::Once | Landed::Twice => known.push(noted(&receipt, State::Seen)),
                Landed::Unknown => known.push(noted(&receipt, State::Unverified)),
            }
        }
        let is_seen = |delivery: &&Delivery| delivery.state == State::Seen;
        let seen = known.iter().filter(is_seen).count();
        done.found += seen as u64;
        done.unverified += (known.len() - seen) as u64;
        store.delivered(n, &known, orders.now)?;
        store.unsent(n, &again, orders.now)?;
    }
}

fn noted(receipt: &Receipt, state: State) -> Delivery {
    Delivery {
        id: receipt.id,
        revision: receipt.revision,
        state,
        attempts: 0,
        next_at: None,
        error: None,
        is_under_way: false,
    }
}

/// Waits until nothing is under way of what a sink was asked for, or stopped at.
pub(super) fn settle_asked(
    store: &mut Store,
    n: i64,
    sink: &mut dyn Sink,
) -> Result<Result<(), Fault>> {
    let asked = store.asked(n)?;
    let settled = match sink.enrichment() {
        Some(server) => server.settle(&asked),
        None => sink.settle(&asked),
    };
    if settled.is_ok() {
        store.settled(n)?;
    }
    Ok(settled)
}

/// What is no more here is removed there. What is under way comes to its end first: it would come
/// back, and a server may stumble over what is gone when its turn comes.
pub(super) fn ask_to_forget(
    store: &mut Store,
    n: i64,
    sink: &mut dyn Sink,
    done: &mut Delivered,
) -> Result<Result<(), Fault>> {
    let mut stuck = None;
    if sink.enrichment().is_some() && store.forgets_what_is_under_way(n)? {
        stuck = settle_asked(store, n, sink)?.err();
    }
    let mut after = None;
    loop {
        let gone = store.receipts(n, &[State::Gone], after, RECEIPTS)?;
        let Some(last) = gone.last() else {
            break;
        };
        after = Some(last.id);
        let kept = match sink.forget(&gone) {
            Ok(kept) => kept,
            Err(fault) => return Ok(Err(fault)),
        };
        // as long as some of it may come back, it is asked again
        if stuck.is_none() {
            done.kept += kept.len() as u64;
            done.forgotten += (gone.len() - kept.len()) as u64;
            store.forget_receipts(n, &gone, &kept)?;
        }
    }
    Ok(stuck.map_or(Ok(()), |fault| Err(removed_all_the_same(fault))))
}

/// What is to be forgotten doesn't wait for a server that may never go on.
fn removed_all_the_same(fault: Fault) -> Fault {
    let reason = format!(
        "{}; what is forgotten was removed there all the same, and is looked for again",
        fault.reason()
    );
    match fault {
        Fault::Away(_, wait) => Fault::Away(reason, wait),
        Fault::Batch(_) => Fault::Batch(reason),
        Fault::Setup(_) => Fault::Setup(reason),
    }
}
