//! The same episodes in another group (`graphiti.ingest_scopes`): a sink in front of a sink. There an
//! episode has an id of its own, so that two groups of one database can hold it.

use crate::model::delivery::{
    DeliveryError, DeliveryOutcome, DeliveryProgress, Landed, OutboundEpisode, Receipt, Traces,
};
use crate::model::extraction::GraphCounts;
use crate::stages::upload::{Enrichment, Sink};
use uuid::Uuid;

/// Gives the group that an episode goes to in this scope.
pub type GroupOf = dyn Fn(&OutboundEpisode) -> String;

/// A sink whose episodes go to the groups of a scope.
pub struct Scoped {
    sink: Box<dyn Sink>,
    scope: Uuid,
    group: Box<GroupOf>,
    /// Episodes that it works through at once.
    enriched_max: usize,
}

/// Ids of copies: UUIDv5, in a namespace that is UUIDv5 of the scope in this one, of the episode's id.
const IDS: Uuid = Uuid::from_u128(0x0b7c_91d4_52ae_5f60_8d13_e6a9_7740_3c2b);

impl Scoped {
    /// In front of `sink`, for the scope of this name.
    pub fn new(mut sink: Box<dyn Sink>, scope: &str, group: Box<GroupOf>) -> Scoped {
        let enriched_max = sink.enrichment().map(|server| server.batch_max());
        Scoped {
            enriched_max: enriched_max.unwrap_or(usize::MAX),
            sink,
            scope: Uuid::new_v5(&IDS, scope.as_bytes()),
            group,
        }
    }

    fn id(&self, id: Uuid) -> Uuid {
        Uuid::new_v5(&self.scope, id.as_bytes())
    }

    fn outbound(&self, outbound: &OutboundEpisode) -> OutboundEpisode {
        OutboundEpisode {
            id: self.id(outbound.id),
            group: (self.group)(outbound),
            ..outbound.clone()
        }
    }

    fn outbound_episodes(&self, batch: &[OutboundEpisode]) -> Vec<OutboundEpisode> {
        batch
            .iter()
            .map(|outbound| self.outbound(outbound))
            .collect()
    }

    fn receipts(&self, receipts: &[Receipt]) -> Vec<Receipt> {
        let there = |receipt: &Receipt| Receipt {
            id: self.id(receipt.id),
            ..receipt.clone()
        };
        receipts.iter().map(there).collect()
    }

    fn enricher(&mut self) -> Result<&mut dyn Enrichment, DeliveryError> {
        let none = || DeliveryError::Misconfigured("it works through nothing".into());
        self.sink.enrichment().ok_or_else(none)
    }
}

impl Sink for Scoped {
    fn replaces(&self) -> bool {
        self.sink.replaces()
    }

    fn batch_max(&self) -> usize {
        self.sink.batch_max()
    }

    fn place(&self, outbound: &OutboundEpisode) -> String {
        self.sink.place(&self.outbound(outbound))
    }

    fn check(&mut self) -> Result<String, DeliveryError> {
        self.sink.check()
    }

    fn deliver(
        &mut self,
        batch: &[OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let batch = self.outbound_episodes(batch);
        self.sink.deliver(&batch)
    }

    fn leave(&mut self) -> Option<DeliveryError> {
        self.sink.leave()
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        let receipts = self.receipts(receipts);
        self.sink.verify(&receipts)
    }

    fn settle(&mut self, sent: &[Receipt]) -> Result<(), DeliveryError> {
        let sent = self.receipts(sent);
        self.sink.settle(&sent)
    }

    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        let there = self.receipts(receipts);
        let kept = self.sink.forget(&there)?;
        let is_kept = |id: Uuid| kept.iter().any(|kept| kept.id == id);
        let here = receipts.iter().zip(&there);
        Ok(here
            .filter(|(_, there)| is_kept(there.id))
            .map(|(receipt, _)| receipt.clone())
            .collect())
    }

    fn traces(&mut self) -> Traces {
        self.sink.traces()
    }

    fn remove_place(&mut self, place: &str) -> Result<(), DeliveryError> {
        self.sink.remove_place(place)
    }

    fn enrichment(&mut self) -> Option<&mut dyn Enrichment> {
        let enriches = self.sink.enrichment().is_some();
        enriches.then_some(self as &mut dyn Enrichment)
    }
}

impl Enrichment for Scoped {
    fn batch_max(&self) -> usize {
        self.enriched_max
    }

    fn counts(&mut self, places: &[String]) -> Result<GraphCounts, DeliveryError> {
        self.enricher()?.counts(places)
    }

    fn progress(&mut self, receipts: &[Receipt]) -> Result<Vec<DeliveryProgress>, DeliveryError> {
        let receipts = self.receipts(receipts);
        self.enricher()?.progress(&receipts)
    }

    fn settle(&mut self, asked: &[Receipt]) -> Result<(), DeliveryError> {
        let asked = self.receipts(asked);
        self.enricher()?.settle(&asked)
    }

    fn enrich(&mut self, batch: &[OutboundEpisode]) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let batch = self.outbound_episodes(batch);
        self.enricher()?.enrich(&batch)
    }
}
