//! Graphiti with its database beside it: episodes are written to the database, where writing again
//! changes nothing, and the server works through them afterwards. That it did, the database says.
//!
//! An id is posted only after it was seen in its graph: an unknown one ends the server's worker, or is
//! lost without a word.

use super::queue::{End, PollPolicy, Work, follow, outcomes, settle, stalled};
use super::server::{GraphitiServer, PostedMessage};
use super::{CANARY_DESCRIPTION, canary_name, post_canary, runs};
use crate::model::delivery::{
    DeliveryError, DeliveryOutcome, DeliveryProgress, Landed, OutboundEpisode, Receipt, Traces,
};
use crate::model::extraction::GraphCounts;
use crate::model::time::Time;
use crate::sinks::database::Database;
use crate::stages::upload::{Enrichment, Sink};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A database and the server that works on it.
pub struct EnrichedSink {
    database: Box<dyn Database>,
    server: Box<dyn GraphitiServer>,
    poll: PollPolicy,
    window: usize,
    now: Time,
    leave: Option<DeliveryError>,
}

impl EnrichedSink {
    /// `window`: episodes that the server is given at once.
    pub fn new(
        database: Box<dyn Database>,
        server: Box<dyn GraphitiServer>,
        poll: PollPolicy,
        window: usize,
        now: Time,
    ) -> EnrichedSink {
        EnrichedSink {
            database,
            server,
            poll,
            window,
            now,
            leave: None,
        }
    }

    fn window_of(&mut self, queue: String, receipts: Vec<Receipt>) -> Window<'_> {
        Window {
            database: self.database.as_mut(),
            server: self.server.as_ref(),
            queue,
            receipts,
            now: self.now,
            canary: String::new(),
        }
    }

    /// These by the queues that they wait in, each called like the group whose canaries come after
    /// them; with the queue that there is in any case.
    fn by_queue(&self, receipts: &[Receipt]) -> BTreeMap<String, Vec<Receipt>> {
        let common = self.server.common_queue();
        let mut queues: BTreeMap<String, Vec<Receipt>> = BTreeMap::new();
        queues.extend(common.map(|queue| (queue.to_owned(), Vec::new())));
        for receipt in receipts {
            let queue = common.unwrap_or(&receipt.place).to_owned();
            queues.entry(queue).or_default().push(receipt.clone());
        }
        queues
    }

    /// Posts these, which are of one graph. What is refused is halved until it stands alone; gives
    /// why, for each that was.
    fn post(
        &self,
        outbound_episodes: &[OutboundEpisode],
    ) -> Result<BTreeMap<Uuid, String>, DeliveryError> {
        let mut refused = BTreeMap::new();
        let mut waiting = vec![outbound_episodes];
        while let Some(part) = waiting.pop() {
            let Some(first) = part.first() else { continue };
            // of a node that is there, its own content is taken
            let messages: Vec<PostedMessage<'_>> = part
                .iter()
                .map(|outbound| PostedMessage {
                    node: Some(outbound.id),
                    content: "",
                    ..PostedMessage::of(outbound, &outbound.name)
                })
                .collect();
            match self.server.post(&self.database.place(first), &messages) {
                Ok(()) => {}
                Err(DeliveryError::BatchRejected(reason)) if part.len() == 1 => {
                    refused.insert(first.id, reason);
                }
                Err(DeliveryError::BatchRejected(_)) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    waiting.extend([second, first]);
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(refused)
    }

    /// Waits for these, which were posted; what came of each.
    fn came_of(
        &mut self,
        posted: &[Receipt],
    ) -> Result<BTreeMap<Uuid, DeliveryOutcome>, DeliveryError> {
        let mut all = BTreeMap::new();
        for (queue, receipts) in self.by_queue(posted) {
            if receipts.is_empty() {
                continue;
            }
            let poll = self.poll.clone();
            let followed = follow(&mut self.window_of(queue, receipts.clone()), &poll);
            let (done, end) = match followed {
                Ok(followed) => followed,
                // it is one of these, or chance: they go alone from now on, until that is known
                Err(DeliveryError::Unavailable(why, wait)) => {
                    let reason = format!("{why} {WHILE_AT_IT}");
                    self.leave = Some(DeliveryError::Unavailable(why, wait));
                    let stopped =
                        |receipt: &Receipt| (receipt.id, DeliveryOutcome::Stopped(reason.clone()));
                    all.extend(receipts.iter().map(stopped));
                    return Ok(all);
                }
                Err(fault) => return Err(fault),
            };
            if end == End::Stalled {
                self.leave = Some(stalled(&self.poll));
            }
            let mut outcomes = outcomes(&done, end);
            let progress = self.database.progress(&receipts)?;
            for (outcome, progress) in outcomes.iter_mut().zip(progress) {
                if progress == DeliveryProgress::Missing {
                    *outcome = match end {
                        End::Settled => DeliveryOutcome::Lost,
                        End::Stalled => DeliveryOutcome::Unknown,
                    };
                }
            }
            all.extend(receipts.iter().map(|receipt| receipt.id).zip(outcomes));
        }
        Ok(all)
    }
}

/// Why it may be an episode's fault.
const WHILE_AT_IT: &str = "while it was worked through";

/// Nodes that the server was asked to work through, in one queue.
struct Window<'a> {
    database: &'a mut dyn Database,
    server: &'a dyn GraphitiServer,
    queue: String,
    receipts: Vec<Receipt>,
    now: Time,
    canary: String,
}

impl Window<'_> {
    /// Those of a group that is nothing but theirs go with what was made of them.
    fn remove_canaries(&mut self) -> Result<(), DeliveryError> {
        match self.server.common_queue() {
            Some(group) => self.database.empty(group),
            None => self
                .database
                .remove_described(&self.queue, CANARY_DESCRIPTION),
        }
    }
}

impl Work for Window<'_> {
    fn done(&mut self) -> Result<Vec<bool>, DeliveryError> {
        self.server.permitted()?;
        let progress = self.database.progress(&self.receipts)?.into_iter();
        Ok(progress
            .map(|progress| progress != DeliveryProgress::Waits)
            .collect())
    }

    fn send_canary(&mut self) -> Result<(), DeliveryError> {
        self.remove_canaries()?;
        self.canary = canary_name(self.now);
        post_canary(self.server, &self.queue, &self.canary, self.now)
    }

    fn sees_canary(&mut self) -> Result<bool, DeliveryError> {
        self.server.permitted()?;
        let is_seen = self.database.has(&self.queue, &self.canary)?;
        if is_seen && self.server.common_queue().is_none() {
            self.remove_canaries()?;
        }
        Ok(is_seen)
    }
}

impl Sink for EnrichedSink {
    fn replaces(&self) -> bool {
        self.database.replaces()
    }

    fn place(&self, outbound: &OutboundEpisode) -> String {
        self.database.place(outbound)
    }

    fn tells_apart(&self, groups: &[String]) -> Result<(), DeliveryError> {
        self.database.tells_apart(groups)
    }

    fn check(&mut self) -> Result<String, DeliveryError> {
        let database = self.database.check()?;
        self.server.check()?;
        Ok(format!("database: {database}; the server answers"))
    }

    fn deliver(
        &mut self,
        batch: &[OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        self.database.deliver(batch)
    }

    fn leave(&mut self) -> Option<DeliveryError> {
        self.leave.take()
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        self.database.verify(receipts)
    }

    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        self.database.forget(receipts)
    }

    fn traces(&mut self) -> Traces {
        self.database.traces()
    }

    fn remove_place(&mut self, place: &str) -> Result<(), DeliveryError> {
        self.database.remove_place(place)
    }

    fn enrichment(&mut self) -> Option<&mut dyn Enrichment> {
        Some(self)
    }
}

impl Enrichment for EnrichedSink {
    fn batch_max(&self) -> usize {
        self.window
    }

    fn counts(&mut self, places: &[String]) -> Result<GraphCounts, DeliveryError> {
        let mut all = GraphCounts::default();
        for place in places {
            let counts = self.database.counts(place)?;
            all.episodes += counts.episodes;
            all.mentions += counts.mentions;
            all.facts += counts.facts;
        }
        Ok(all)
    }

    fn progress(&mut self, receipts: &[Receipt]) -> Result<Vec<DeliveryProgress>, DeliveryError> {
        self.database.progress(receipts)
    }

    fn settle(&mut self, asked: &[Receipt]) -> Result<(), DeliveryError> {
        for (queue, receipts) in self.by_queue(asked) {
            let poll = self.poll.clone();
            if settle(&mut self.window_of(queue, receipts), &poll)? == End::Stalled {
                let reason = stalled(&self.poll).reason().to_owned();
                let other = "or it works on another database than this sink's";
                return Err(DeliveryError::Unavailable(
                    format!("{reason}; {other}"),
                    None,
                ));
            }
        }
        Ok(())
    }

    fn enrich(&mut self, batch: &[OutboundEpisode]) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let receipt = |outbound: &OutboundEpisode| Receipt {
            id: outbound.id,
            revision: outbound.revision,
            place: self.database.place(outbound),
        };
        let mut refused = BTreeMap::new();
        let of_one_group = runs(batch, |outbound| self.database.place(outbound));
        for outbound_episodes in of_one_group.flat_map(|run| run.chunks(self.server.post_max())) {
            refused.extend(self.post(outbound_episodes)?);
        }
        let posted = batch.iter().filter(|p| !refused.contains_key(&p.id));
        let receipts: Vec<Receipt> = posted.map(receipt).collect();
        let mut came = self.came_of(&receipts)?;
        let mut outcome = |outbound: &OutboundEpisode| match refused.remove(&outbound.id) {
            Some(reason) => DeliveryOutcome::Refused(reason),
            None => came
                .remove(&outbound.id)
                .unwrap_or(DeliveryOutcome::Unknown),
        };
        Ok(batch.iter().map(&mut outcome).collect())
    }
}
