//! Graphiti with nothing but its server: it takes no ids of ours, so an episode's name ends with its
//! key, and the listing of its group says whether it is there.
//!
//! The group is read before anything is posted, and what is missing is posted again only when nothing
//! is under way: a queue is first in, first out, so what is behind it all says so when it comes.

use super::queue::{End, PollPolicy, Work, follow, outcomes, settle, stalled};
use super::server::{GraphitiServer, ListedEpisode, PostedMessage};
use super::{canary_name, is_left_canary, post_canary, runs};
use crate::model::delivery::{DeliveryError, DeliveryOutcome, Landed, OutboundEpisode, Receipt};
use crate::model::time::Time;
use crate::sinks::group;
use crate::stages::upload::Sink;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// All that a group has.
pub(super) const ALL: u64 = 1_000_000_000;
/// Episodes of others that may have come meanwhile, in a listing of the newest.
const OTHERS: u64 = 32;

/// A server, and what it is known to have.
pub struct GraphitiServerSink {
    server: Box<dyn GraphitiServer>,
    poll: PollPolicy,
    window: usize,
    /// What it doesn't list is posted, and not waited for.
    is_unverified: bool,
    now: Time,
    groups: BTreeMap<String, Group>,
    /// Posted by us, and not known to be lost.
    posted: BTreeSet<Key>,
    /// The queues in which nothing of an earlier run is under way.
    settled: BTreeSet<String>,
    leave: Option<DeliveryError>,
}

/// An episode and its revision.
pub(super) type Key = (Uuid, u64);

/// What a group has, as far as it was read.
#[derive(Default)]
struct Group {
    /// Episodes of ours: the server's ids of their nodes, with their revisions. Nodes that share an
    /// id are counted.
    ours: BTreeMap<Uuid, BTreeMap<(String, usize), u64>>,
    /// When each node's episode happened.
    times: BTreeMap<String, Option<Time>>,
}

impl Group {
    fn add(&mut self, listed: Vec<ListedEpisode>) {
        let mut times_listed: BTreeMap<String, usize> = BTreeMap::new();
        for episode in listed {
            let nth = times_listed.entry(episode.uuid.clone()).or_default();
            *nth += 1;
            if let Some((id, revision)) = key_of(&episode.name) {
                let nodes = self.ours.entry(id).or_default();
                nodes.insert((episode.uuid.clone(), *nth), revision);
            }
            let at = episode.valid_at.as_deref().and_then(Time::parse);
            self.times.insert(episode.uuid, at);
        }
    }

    /// Nodes of an episode: those of this revision, and the others'.
    fn nodes(&self, id: Uuid, revision: u64) -> (usize, Vec<&str>) {
        let nodes = self.ours.get(&id).into_iter().flatten();
        let (same, other): (Vec<_>, Vec<_>) = nodes.partition(|(_, r)| **r == revision);
        (
            same.len(),
            other
                .into_iter()
                .map(|((uuid, _), _)| uuid.as_str())
                .collect(),
        )
    }

    fn landed(&self, id: Uuid, revision: u64) -> Landed {
        match self.nodes(id, revision) {
            (0, _) => Landed::Missing,
            (1, older) if older.is_empty() => Landed::Once,
            (1, _) => Landed::Beside,
            _ => Landed::Twice,
        }
    }
}

fn key(outbound: &OutboundEpisode) -> Key {
    (outbound.id, outbound.revision)
}

/// `Session 6b1f0a34, part 2: fix the tests [<id> <revision>]`. `is_newer`: an older revision may stay
/// beside it.
fn name_of(outbound: &OutboundEpisode, is_newer: bool) -> String {
    let (name, id, revision) = (&outbound.name, outbound.id, outbound.revision);
    let newer = if is_newer { NEWER } else { "" };
    format!("{name}{newer} [{id} {revision:016x}]").replace('\0', "")
}

/// What tells a revision from the one that it takes the place of.
const NEWER: &str = " (newer revision)";

/// The key at a name's end; `None`: it is not ours.
pub(super) fn key_of(name: &str) -> Option<Key> {
    let (_, key) = name.strip_suffix(']')?.rsplit_once('[')?;
    let (id, revision) = key.split_once(' ')?;
    Some((id.parse().ok()?, u64::from_str_radix(revision, 16).ok()?))
}

impl GraphitiServerSink {
    /// `window`: episodes that the server is given at once. `is_unverified`: what it doesn't list is
    /// posted, and not waited for.
    pub fn new(
        server: Box<dyn GraphitiServer>,
        poll: PollPolicy,
        window: usize,
        is_unverified: bool,
        now: Time,
    ) -> GraphitiServerSink {
        GraphitiServerSink {
            server,
            poll,
            window,
            is_unverified,
            now,
            groups: BTreeMap::new(),
            posted: BTreeSet::new(),
            settled: BTreeSet::new(),
            leave: None,
        }
    }

    /// Reads a group as a whole.
    fn read(&mut self, group: &str) -> Result<&Group, DeliveryError> {
        let mut whole = Group::default();
        whole.add(self.server.episodes(group, ALL)?);
        self.groups.insert(group.to_owned(), whole);
        Ok(&self.groups[group])
    }

    /// The same, where it isn't known from this run.
    fn known(&mut self, group: &str) -> Result<&Group, DeliveryError> {
        match self.groups.contains_key(group) {
            true => Ok(&self.groups[group]),
            false => self.read(group),
        }
    }

    /// The queue that a group's episodes wait in, by the group whose canaries come after them.
    fn queue_of(&self, group: &str) -> String {
        self.server.common_queue().unwrap_or(group).to_owned()
    }

    fn follow(
        &mut self,
        queue: String,
        items: Vec<(String, Key)>,
        oldest: Time,
    ) -> Result<(Vec<bool>, End), DeliveryError> {
        let mut newer: BTreeMap<String, u64> = BTreeMap::new();
        for (group, _) in &items {
            let times = self.groups.get(group).map(|group| &group.times);
            let times = times.into_iter().flat_map(BTreeMap::values);
            let many = times.filter(|at| at.is_none_or(|at| at >= oldest)).count();
            newer.insert(group.clone(), (many + items.len()) as u64 + OTHERS);
        }
        let poll = self.poll.clone();
        follow(&mut self.window_of(queue, items, newer), &poll)
    }

    fn window_of(
        &mut self,
        queue: String,
        items: Vec<(String, Key)>,
        newer: BTreeMap<String, u64>,
    ) -> Window<'_> {
        Window {
            server: self.server.as_ref(),
            groups: &mut self.groups,
            queue,
            items,
            newer,
            now: self.now,
            canary: String::new(),
        }
    }

    /// The ones of these that aren't there.
    fn missing<'a>(
        &mut self,
        outbound_episodes: &[&'a OutboundEpisode],
    ) -> Result<Vec<&'a OutboundEpisode>, DeliveryError> {
        let mut missing = Vec::new();
        for outbound in outbound_episodes {
            let group = self.place(outbound);
            if self.known(&group)?.nodes(outbound.id, outbound.revision).0 == 0 {
                missing.push(*outbound);
            }
        }
        Ok(missing)
    }

    /// Whether anything was ever read back of what went through a queue, or it has to be tried out
    /// first.
    fn has_shown_something(&self, queue: &str) -> bool {
        let shows = |(name, group): (&String, &Group)| {
            self.queue_of(name) == queue && !group.times.is_empty()
        };
        self.settled.contains(queue) || self.groups.iter().any(shows)
    }

    /// Posts these. Of a batch that was refused in part, some may be under way: those are left out.
    fn post(&mut self, outbound_episodes: &[&OutboundEpisode]) -> Result<(), DeliveryError> {
        let is_new = |outbound: &&OutboundEpisode| !self.posted.contains(&key(outbound));
        let new: Vec<&OutboundEpisode> = outbound_episodes.iter().copied().filter(is_new).collect();
        let of_one_group = runs(&new, |outbound| group::graph_name(&outbound.group));
        for outbound_episodes in of_one_group.flat_map(|run| run.chunks(self.server.post_max())) {
            let names: Vec<String> = outbound_episodes
                .iter()
                .map(|outbound| {
                    let group = self.groups.get(&self.place(outbound));
                    let older = group.map(|g| g.nodes(outbound.id, outbound.revision).1);
                    name_of(outbound, older.is_some_and(|older| !older.is_empty()))
                })
                .collect();
            let messages: Vec<PostedMessage<'_>> = outbound_episodes
                .iter()
                .zip(&names)
                .map(|(outbound, name)| PostedMessage::of(outbound, name))
                .collect();
            self.server
                .post(&self.place(outbound_episodes[0]), &messages)?;
            self.posted
                .extend(outbound_episodes.iter().map(|outbound| key(outbound)));
        }
        Ok(())
    }

    /// Posts what isn't there and waits for it; what came of each, in order.
    fn bring(
        &mut self,
        queue: &str,
        missing: &[&OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let Some(oldest) = missing.iter().map(|outbound| outbound.valid_at).min() else {
            return Ok(Vec::new());
        };
        self.post(missing)?;
        if self.is_unverified {
            return Ok(vec![DeliveryOutcome::Unverified; missing.len()]);
        }
        let item = |outbound: &&OutboundEpisode| (self.place(outbound), key(outbound));
        let items = missing.iter().map(item).collect();
        let (done, end) = self.follow(queue.to_owned(), items, oldest)?;
        match end {
            End::Stalled => self.leave = Some(stalled(&self.poll)),
            End::Settled => {
                let is_known: BTreeSet<Key> =
                    missing.iter().map(|outbound| key(outbound)).collect();
                self.posted.retain(|posted| !is_known.contains(posted));
            }
        }
        Ok(outcomes(&done, end))
    }

    /// Delivers what goes through one queue; what came of each, in order.
    fn deliver_through(
        &mut self,
        queue: &str,
        outbound_episodes: &[&OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let mut missing = self.missing(outbound_episodes)?;
        if !missing.is_empty() && !self.has_shown_something(queue) {
            // what comes meanwhile is not missing any more
            self.settle_queue(queue.to_owned(), &[])?;
            missing = self.missing(outbound_episodes)?;
        }
        let brought = self.bring(queue, &missing)?;
        let mut brought: BTreeMap<Uuid, DeliveryOutcome> = missing
            .iter()
            .map(|outbound| outbound.id)
            .zip(brought)
            .collect();
        let mut outcomes = Vec::with_capacity(outbound_episodes.len());
        for outbound in outbound_episodes {
            let outcome = brought
                .remove(&outbound.id)
                .unwrap_or(DeliveryOutcome::Seen);
            outcomes.push(match outcome {
                DeliveryOutcome::Seen if !self.replace(outbound)? => DeliveryOutcome::Beside,
                outcome => outcome,
            });
        }
        Ok(outcomes)
    }

    /// Waits until nothing is under way in a queue.
    fn settle_queue(&mut self, queue: String, sent: &[&Receipt]) -> Result<(), DeliveryError> {
        if self.settled.contains(&queue) || self.is_unverified {
            return Ok(());
        }
        let item = |receipt: &&Receipt| (receipt.place.clone(), (receipt.id, receipt.revision));
        let items: Vec<(String, Key)> = sent.iter().map(item).collect();
        let groups = items
            .iter()
            .map(|(group, _)| (group.clone(), ALL))
            .collect();
        let poll = self.poll.clone();
        match settle(&mut self.window_of(queue.clone(), items, groups), &poll)? {
            End::Settled => {
                self.groups.clear();
                self.settled.insert(queue);
                Ok(())
            }
            End::Stalled if self.has_shown_something(&queue) => Err(stalled(&self.poll)),
            End::Stalled => {
                let reason = stalled(&self.poll).reason().to_owned();
                let why = self.server.unverifiable();
                Err(DeliveryError::Unavailable(
                    format!("{reason}{UNVERIFIABLE} ({why}). {INSIST}"),
                    None,
                ))
            }
        }
    }

    /// Removes what is there of these, as far as the server can; reads their groups then. Gives the
    /// ones that were there.
    fn remove(&mut self, receipts: &[Receipt]) -> Result<BTreeSet<Uuid>, DeliveryError> {
        let groups: BTreeSet<&str> = receipts.iter().map(|r| r.place.as_str()).collect();
        for group in &groups {
            self.read(group)?;
        }
        let mut listed = BTreeSet::new();
        for receipt in receipts {
            let nodes = self.groups[&receipt.place].ours.get(&receipt.id);
            for (uuid, _) in nodes.into_iter().flat_map(BTreeMap::keys) {
                self.server.delete(uuid)?;
                listed.insert(receipt.id);
            }
        }
        for group in groups.into_iter().filter(|_| !listed.is_empty()) {
            self.read(group)?;
        }
        Ok(listed)
    }

    /// Removes what an episode was before; `false`: the server keeps it.
    fn replace(&mut self, outbound: &OutboundEpisode) -> Result<bool, DeliveryError> {
        let group = self.place(outbound);
        let older = |group: &Group| {
            let (_, older) = group.nodes(outbound.id, outbound.revision);
            older.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        let before = older(self.known(&group)?);
        if before.is_empty() {
            return Ok(true);
        }
        for uuid in before {
            self.server.delete(&uuid)?;
        }
        Ok(older(self.read(&group)?).is_empty())
    }
}

/// Episodes that were posted, by group and key, into one queue.
struct Window<'a> {
    server: &'a dyn GraphitiServer,
    groups: &'a mut BTreeMap<String, Group>,
    queue: String,
    items: Vec<(String, Key)>,
    /// How many of the newest of a group hold them.
    newer: BTreeMap<String, u64>,
    now: Time,
    canary: String,
}

impl Work for Window<'_> {
    fn done(&mut self) -> Result<Vec<bool>, DeliveryError> {
        for (group, newest) in &self.newer {
            let listed = self.server.episodes(group, *newest)?;
            self.groups.entry(group.clone()).or_default().add(listed);
        }
        let is_there = |(group, (id, revision)): &(String, Key)| {
            let group = self.groups.get(group);
            group.is_some_and(|group| group.nodes(*id, *revision).0 > 0)
        };
        Ok(self.items.iter().map(is_there).collect())
    }

    fn send_canary(&mut self) -> Result<(), DeliveryError> {
        // somebody else's may be newer
        self.newer.values_mut().for_each(|newest| *newest = ALL);
        self.canary = canary_name(self.now);
        post_canary(self.server, &self.queue, &self.canary, self.now)
    }

    fn sees_canary(&mut self) -> Result<bool, DeliveryError> {
        let listed = self.server.episodes(&self.queue, ALL)?;
        let is_seen = listed.iter().any(|listed| listed.name == self.canary);
        for listed in listed.iter().filter(|_| is_seen) {
            if listed.name == self.canary || is_left_canary(&listed.name, self.now) {
                self.server.delete(&listed.uuid)?;
            }
        }
        Ok(is_seen)
    }
}

impl Sink for GraphitiServerSink {
    fn replaces(&self) -> bool {
        false
    }

    fn batch_max(&self) -> usize {
        self.window
    }

    fn place(&self, outbound: &OutboundEpisode) -> String {
        group::graph_name(&outbound.group)
    }

    fn tells_apart(&self, groups: &[String]) -> Result<(), DeliveryError> {
        group::check_distinct(groups)
    }

    fn check(&mut self) -> Result<String, DeliveryError> {
        self.server.check()?;
        Ok("the server answers (to try a delivery: --smoke)".into())
    }

    fn deliver(
        &mut self,
        batch: &[OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let mut queues: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (nth, outbound) in batch.iter().enumerate() {
            let queue = self.queue_of(&self.place(outbound));
            queues.entry(queue).or_default().push(nth);
        }
        let mut outcomes = vec![DeliveryOutcome::Unknown; batch.len()];
        for (queue, members) in queues {
            let outbound_episodes: Vec<&OutboundEpisode> =
                members.iter().map(|nth| &batch[*nth]).collect();
            let delivered = self.deliver_through(&queue, &outbound_episodes)?;
            for (nth, outcome) in members.into_iter().zip(delivered) {
                outcomes[nth] = outcome;
            }
        }
        Ok(outcomes)
    }

    fn leave(&mut self) -> Option<DeliveryError> {
        self.leave.take()
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        let groups: BTreeSet<&str> = receipts.iter().map(|r| r.place.as_str()).collect();
        for group in groups {
            self.read(group)?;
        }
        let landed = |receipt: &Receipt| {
            let group = &self.groups[&receipt.place];
            match group.landed(receipt.id, receipt.revision) {
                Landed::Missing if self.is_unverified => Landed::Unknown,
                landed => landed,
            }
        };
        Ok(receipts.iter().map(landed).collect())
    }

    fn settle(&mut self, sent: &[Receipt]) -> Result<(), DeliveryError> {
        let common = self.server.common_queue().map(str::to_owned);
        let queues = sent.iter().map(|receipt| self.queue_of(&receipt.place));
        let queues: BTreeSet<String> = queues.chain(common).collect();
        for queue in queues {
            let is_in = |receipt: &&Receipt| self.queue_of(&receipt.place) == queue;
            let sent: Vec<&Receipt> = sent.iter().filter(is_in).collect();
            self.settle_queue(queue, &sent)?;
        }
        Ok(())
    }

    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        // what is under way would come afterwards: what is there goes now, and what came then
        let were_listed = self.remove(receipts)?;
        let is_settled = |receipt: &Receipt| self.settled.contains(&self.queue_of(&receipt.place));
        if !receipts.iter().all(is_settled) {
            self.settle(receipts)?;
            self.remove(receipts)?;
        }
        let is_kept = |receipt: &&Receipt| {
            let is_listed = self.groups[&receipt.place].ours.contains_key(&receipt.id);
            is_listed || self.is_unverified && !were_listed.contains(&receipt.id)
        };
        Ok(receipts.iter().filter(is_kept).cloned().collect())
    }
}

/// What else it may be that never showed anything.
const UNVERIFIABLE: &str = "; or this server is unverifiable: what it takes can't be read back";
const INSIST: &str = "deliver run --unverified posts all the same";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_with_its_key_and_no_other_name_does() {
        let id = Uuid::from_u128(7);
        let name = format!("Session [x], part 1: a [b] [{id} {:016x}]", 0x2a);
        assert_eq!(key_of(&name), Some((id, 0x2a)));
        for name in [
            "",
            "x",
            "[x]",
            "a [b c]",
            &format!("[{id}]"),
            &name[1..name.len() - 1],
        ] {
            assert_eq!(key_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_group_tells_what_it_has_once_twice_and_beside() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let listed = |uuid: &str, id: Uuid, revision: u64| ListedEpisode {
            uuid: uuid.into(),
            name: format!("x [{id} {revision:016x}]"),
            valid_at: None,
        };
        let mut group = Group::default();
        group.add(vec![
            listed("a", one, 1),
            listed("b", one, 2),
            listed("c", two, 1),
        ]);
        group.add(vec![listed("c", two, 1)]);
        assert_eq!(group.landed(one, 1), Landed::Beside);
        assert_eq!(group.landed(one, 3), Landed::Missing);
        assert_eq!(group.landed(two, 1), Landed::Once);
        group.add(vec![listed("d", two, 1)]);
        assert_eq!(group.landed(two, 1), Landed::Twice);
        let mut group = Group::default();
        group.add(vec![listed("c", two, 1), listed("c", two, 1)]);
        assert_eq!(group.landed(two, 1), Landed::Twice, "one id, two nodes");
    }
}
