//! What earlier runs left at a sink without knowing what became of it, and what is no more here: the
//! sink is asked, and nothing is taken for lost or removed while it may be under way.

use super::delivery::{Delivery, Interrupted, RECEIPTS, ask};
use crate::model::delivery::{self, DeliveryError, Landed, Receipt, State};
use crate::stages::upload::Sink;

/// What a sink holds of these; what is missing won't come any more. `asked`: what else may be under
/// way.
fn arrived(
    sink: &mut dyn Sink,
    receipts: &[Receipt],
    asked: &[Receipt],
) -> Result<Vec<Landed>, DeliveryError> {
    let landed = ask(sink, receipts)?;
    if landed.iter().all(|landed| *landed != Landed::Missing) {
        return Ok(landed);
    }
    sink.settle(&[receipts, asked].concat())?;
    ask(sink, receipts)
}

impl Delivery<'_> {
    /// What an earlier run handed over without noting the outcome: the sink is asked.
    pub(super) fn settle_sent(&mut self) -> Result<(), Interrupted> {
        let (n, now) = (self.n, self.orders.now);
        let enriches = self.sink.enrichment().is_some();
        loop {
            let sent = self.store.receipts(n, &[State::Sent], None, RECEIPTS)?;
            if sent.is_empty() {
                return Ok(());
            }
            let landed = arrived(self.sink, &sent, &self.store.asked(n)?)?;
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
            let seen = known.iter().filter(|noted| noted.state == State::Seen);
            let seen = seen.count();
            self.done.found += seen as u64;
            self.done.unverified += (known.len() - seen) as u64;
            self.store.delivered(n, &known, now)?;
            self.store.unsent(n, &again, now)?;
        }
    }

    /// Waits until nothing is under way of what a sink was asked for, or stopped at.
    pub(super) fn settle_asked(&mut self) -> Result<(), Interrupted> {
        let asked = self.store.asked(self.n)?;
        match self.sink.enrichment() {
            Some(server) => server.settle(&asked)?,
            None => self.sink.settle(&asked)?,
        }
        Ok(self.store.settled(self.n)?)
    }

    /// What is no more here is removed there. What is under way comes to its end first: it would come
    /// back, and a server may stumble over what is gone when its turn comes.
    pub(super) fn ask_to_forget(&mut self) -> Result<(), Interrupted> {
        let mut stuck = None;
        if self.sink.enrichment().is_some() && self.store.forgets_what_is_under_way(self.n)? {
            match self.settle_asked() {
                Err(Interrupted::Sink(fault)) => stuck = Some(fault),
                settled => settled?,
            }
        }
        let mut after = None;
        loop {
            let gone = self
                .store
                .receipts(self.n, &[State::Gone], after, RECEIPTS)?;
            let Some(last) = gone.last() else {
                break;
            };
            after = Some(last.id);
            let kept = self.sink.forget(&gone)?;
            self.done.traces.join(&self.sink.traces());
            // as long as some of it may come back, it is asked again
            if stuck.is_none() {
                self.done.kept += kept.len() as u64;
                self.done.forgotten += (gone.len() - kept.len()) as u64;
                self.store.forget_receipts(self.n, &gone, &kept)?;
            }
        }
        match stuck {
            Some(fault) => Err(removed_all_the_same(fault).into()),
            None => Ok(()),
        }
    }
}

fn noted(receipt: &Receipt, state: State) -> delivery::Delivery {
    delivery::Delivery {
        id: receipt.id,
        revision: receipt.revision,
        state,
        attempts: 0,
        next_at: None,
        error: None,
        is_under_way: false,
    }
}

/// What is to be forgotten doesn't wait for a server that may never go on.
fn removed_all_the_same(fault: DeliveryError) -> DeliveryError {
    let reason = format!(
        "{}; what is forgotten was removed there all the same, and is looked for again",
        fault.reason()
    );
    match fault {
        DeliveryError::Unavailable(_, wait) => DeliveryError::Unavailable(reason, wait),
        DeliveryError::BatchRejected(_) => DeliveryError::BatchRejected(reason),
        DeliveryError::Misconfigured(_) => DeliveryError::Misconfigured(reason),
    }
}
