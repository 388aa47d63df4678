//! What is forgotten in the moment before it would be sent, or worked through, isn't: others may forget while a
//! delivery is under way.

use super::faults::many_episodes;
use super::world::Desk;
use crate::model::delivery::{
    DeliveryError, DeliveryOutcome, DeliveryProgress, Landed, OutboundEpisode, Receipt,
};
use crate::model::extraction::GraphCounts;
use crate::model::time::Time;
use crate::pipeline::steps::upload::delivery::deliver;
use crate::pipeline::steps::upload::options::DeliveryOptions;
use crate::stages::upload::{Enrichment, Sink};
use crate::store::{Access, Store};
use std::cell::RefCell;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Looks where an episode goes right before it is noted as sent, and so does whoever forgets it.
struct Slow {
    /// Somebody else at the store.
    other: Store,
    /// Is forgotten at the next look.
    doomed: RefCell<Option<Uuid>>,
    held: BTreeSet<Uuid>,
    asked: BTreeSet<Uuid>,
}

impl Sink for Slow {
    fn replaces(&self) -> bool {
        true
    }
    fn place(&self, outbound: &OutboundEpisode) -> String {
        let mut doomed = self.doomed.borrow_mut();
        if let Some(id) = doomed.take_if(|id| *id == outbound.id) {
            let id = id.simple();
            self.other
                .tamper(&format!("DELETE FROM episode WHERE id = x'{id}'"));
        }
        outbound.group.clone()
    }
    fn check(&mut self) -> Result<String, DeliveryError> {
        Ok(String::new())
    }
    fn deliver(
        &mut self,
        batch: &[OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        self.held.extend(batch.iter().map(|outbound| outbound.id));
        Ok(vec![DeliveryOutcome::Seen; batch.len()])
    }
    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        Ok(vec![Landed::Once; receipts.len()])
    }
    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        for receipt in receipts {
            self.held.remove(&receipt.id);
        }
        Ok(Vec::new())
    }
    fn enrichment(&mut self) -> Option<&mut dyn Enrichment> {
        Some(self)
    }
}

impl Enrichment for Slow {
    fn batch_max(&self) -> usize {
        50
    }
    fn counts(&mut self, _: &[String]) -> Result<GraphCounts, DeliveryError> {
        Ok(GraphCounts::default())
    }
    fn progress(&mut self, receipts: &[Receipt]) -> Result<Vec<DeliveryProgress>, DeliveryError> {
        Ok(vec![DeliveryProgress::Waits; receipts.len()])
    }
    fn settle(&mut self, _: &[Receipt]) -> Result<(), DeliveryError> {
        Ok(())
    }
    fn enrich(&mut self, batch: &[OutboundEpisode]) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        self.asked.extend(batch.iter().map(|outbound| outbound.id));
        Ok(vec![DeliveryOutcome::Seen; batch.len()])
    }
}

/// A store full of what is to be delivered, its ids, and where it is delivered to.
fn scene(desk: &Desk) -> (Store, Vec<Uuid>, Slow) {
    let path = desk.path(".graphiti/sessionmill.db");
    let open = || Store::open(&path, Access::ReadWrite).unwrap();
    let store = open();
    let ids = store.deliverable().into_iter().map(|(id, _)| id).collect();
    let sink = Slow {
        other: open(),
        doomed: RefCell::new(None),
        held: BTreeSet::new(),
        asked: BTreeSet::new(),
    };
    (store, ids, sink)
}

#[test]
fn what_is_forgotten_right_before_it_would_be_sent_is_not() {
    let desk = many_episodes();
    let (mut store, ids, mut sink) = scene(&desk);
    sink.doomed = RefCell::new(Some(ids[7]));
    let orders = DeliveryOptions::everything(Time::parse("2026-06-01T12:00:00Z").unwrap());
    deliver(&mut store, "slow", &mut sink, &orders).unwrap();
    assert!(sink.doomed.borrow().is_none(), "it was forgotten");
    assert!(!sink.held.contains(&ids[7]) && !sink.asked.contains(&ids[7]));
    assert_eq!(sink.held.len(), ids.len() - 1, "the others arrived");
    assert_eq!(sink.asked, sink.held);
}

#[test]
fn what_is_forgotten_right_before_it_would_be_worked_through_is_not() {
    let desk = many_episodes();
    let (mut store, ids, mut sink) = scene(&desk);
    let now = Time::parse("2026-06-01T12:00:00Z").unwrap();
    // a run that had no time left for it
    let sent_only = DeliveryOptions {
        is_late: &|| true,
        ..DeliveryOptions::everything(now)
    };
    deliver(&mut store, "slow", &mut sink, &sent_only).unwrap();
    assert_eq!((sink.held.len(), sink.asked.len()), (ids.len(), 0));
    sink.doomed = RefCell::new(Some(ids[7]));
    let orders = DeliveryOptions::everything(now);
    deliver(&mut store, "slow", &mut sink, &orders).unwrap();
    assert!(sink.doomed.borrow().is_none(), "it was forgotten");
    assert!(!sink.asked.contains(&ids[7]), "nobody works at it");
    assert_eq!(sink.asked.len(), ids.len() - 1);
    // and the next one removes what is there
    deliver(&mut store, "slow", &mut sink, &orders).unwrap();
    assert!(!sink.held.contains(&ids[7]));
}
