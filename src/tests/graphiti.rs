//! Graphiti's servers in memory, with their contracts and their faults (graphiti § 2, § 3), behind a
//! real HTTP server; and that nothing is lost or twice in them, with their database beside them and
//! without. `FAULT_SEEDS` sets how many schedules.

use super::faults::{Dice, EPISODES, HOUR_MS, many_episodes, stored};
use super::server::{Asked, Reply, Server};
use crate::model::consent::{Consent, Endpoint, Permit};
use crate::model::delivery::{
    DeliveryError, DeliveryOutcome, DeliveryProgress, Landed, OutboundEpisode, Receipt,
};
use crate::model::error::{Error, ErrorKind};
use crate::model::extraction::GraphCounts;
use crate::model::time::Time;
use crate::net::http::{Http, HttpOptions};
use crate::pipeline::steps::upload::delivery::{deliver, verify};
use crate::pipeline::steps::upload::options::DeliveryOptions;
use crate::pipeline::steps::upload::report::SinkReport;
use crate::sinks::database::Database;
use crate::sinks::graphiti::enriched::EnrichedSink;
use crate::sinks::graphiti::graphiti_server::GraphitiServerSink;
use crate::sinks::graphiti::mcp::GraphitiMcp;
use crate::sinks::graphiti::queue::PollPolicy;
use crate::sinks::graphiti::rest::Rest;
use crate::sinks::graphiti::server::{GraphitiServer, Permits};
use crate::stages::upload::{RetryOptions, Sink};
use crate::store::{Access, Store};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use uuid::Uuid;

/// An episode in the graph.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) uuid: Uuid,
    pub(super) group: String,
    pub(super) name: String,
    at: String,
    description: String,
    pub(super) is_marked: bool,
    /// How often it was worked through.
    pub(super) worked: u32,
}

/// The server's memory and its database.
pub(super) struct Mind {
    pub(super) nodes: Vec<Node>,
    pub(super) queue: VecDeque<(String, Value)>,
    pub(super) is_dead: bool,
    /// The worker lives on after a job that fails.
    pub(super) survives: bool,
    /// Episodes can be removed.
    pub(super) deletes: bool,
    /// Nothing is ever listed.
    pub(super) is_blind: bool,
    /// Words of jobs that always fail.
    pub(super) poison: Option<String>,
    /// Something goes wrong now and then.
    pub(super) is_moody: bool,
    /// Requests before the worker does half a job more.
    pub(super) pace: u32,
    asked: u32,
    /// It is spoken to over MCP: each group has a queue.
    pub(super) is_mcp: bool,
    /// Of MCP, that are open.
    pub(super) sessions: BTreeSet<String>,
    /// Episodes change and go while they are on their way.
    changes: bool,
    pub(super) dice: Dice,
    /// What the worker is at: the node as it will save it.
    at_work: Option<Node>,
    /// Ids that were posted and are in no graph.
    pub(super) strangers: u32,
    made: u128,
}

impl Mind {
    pub(super) fn new(seed: u64) -> Mind {
        Mind {
            nodes: Vec::new(),
            queue: VecDeque::new(),
            is_dead: false,
            survives: false,
            deletes: false,
            is_blind: false,
            poison: None,
            is_moody: false,
            pace: 1,
            asked: 0,
            is_mcp: false,
            sessions: BTreeSet::new(),
            changes: false,
            dice: Dice(seed),
            at_work: None,
            strangers: 0,
            made: 0,
        }
    }

    pub(super) fn restart(&mut self) {
        self.sessions.clear();
        self.queue.clear();
        self.at_work = None;
        self.is_dead = false;
    }

    /// Half a job, as the worker does it: a node is read, and later saved as it was read. Jobs of a
    /// dead one wait for ever.
    fn work(&mut self) {
        self.asked += 1;
        let is_early = !self.asked.is_multiple_of(self.pace);
        if self.is_dead || is_early || (self.is_moody && self.dice.one_in(3)) {
            return;
        }
        if let Some(node) = self.at_work.take() {
            self.nodes.retain(|other| other.uuid != node.uuid);
            self.nodes.push(node);
            return;
        }
        let Some((group, job)) = self.next_job() else {
            return;
        };
        let poison = self.poison.as_deref();
        let is_poison = poison.is_some_and(|word| job["name"].as_str().unwrap().contains(word));
        if is_poison || (self.is_moody && self.dice.one_in(40)) {
            self.is_dead = !self.survives;
            return;
        }
        let Some(uuid) = job["uuid"].as_str() else {
            self.made += 1;
            let text = |key: &str| job[key].as_str().unwrap().to_owned();
            self.at_work = Some(Node {
                uuid: Uuid::from_u128(self.made),
                group,
                name: text("name"),
                at: text("timestamp"),
                description: text("source_description"),
                is_marked: false,
                worked: 1,
            });
            return;
        };
        let mut nodes = self.nodes.iter();
        match nodes.find(|node| node.uuid.to_string() == uuid && node.group == group) {
            Some(node) => {
                self.at_work = Some(Node {
                    is_marked: false,
                    worked: node.worked + 1,
                    ..node.clone()
                });
            }
            None => (self.is_dead, self.strangers) = (!self.is_mcp, self.strangers + 1),
        }
    }

    /// The first of the queue, or of any group's queue.
    fn next_job(&mut self) -> Option<(String, Value)> {
        if self.is_mcp && !self.queue.is_empty() {
            let any = self.dice.roll(self.queue.len() as u64) as usize;
            let of_group = |(group, _): &(String, Value)| *group == self.queue[any].0;
            let first = self.queue.iter().position(of_group)?;
            return self.queue.remove(first);
        }
        self.queue.pop_front()
    }

    pub(super) fn answer(&mut self, asked: &Asked) -> Reply {
        let route = if self.is_mcp {
            Mind::route_mcp
        } else {
            Mind::route
        };
        self.work();
        let fault = if self.is_moody { self.dice.roll(25) } else { 9 };
        match fault {
            0 => return says(500, json!("Internal Server Error")),
            1 => return Reply::Says(429, "retry-after: 7\r\n", String::new()),
            2 => return Reply::Cut(String::new()),
            // it is done, and the answer is lost
            3 => {
                route(self, asked);
                return Reply::Cut("{\"mess".into());
            }
            _ => {}
        }
        route(self, asked)
    }

    fn route(&mut self, asked: &Asked) -> Reply {
        let (verb, path) = asked.line.split_once(' ').unwrap_or_default();
        let parts: Vec<&str> = path.split(['/', '?']).collect();
        match (verb, parts[1]) {
            ("GET", "healthcheck") => says(200, json!({"status": "healthy"})),
            ("POST", "messages") => {
                let group = asked.body["group_id"].as_str().unwrap();
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
                assert!(group.chars().all(plain), "{group}");
                for message in asked.body["messages"].as_array().unwrap() {
                    self.queue.push_back((group.to_owned(), message.clone()));
                }
                says(202, json!({"success": true}))
            }
            ("GET", "episodes") => {
                let last_n = parts[3].strip_prefix("last_n=").unwrap().parse().unwrap();
                says(200, self.listing(parts[2], last_n))
            }
            ("DELETE", "episode") => {
                let status = if self.remove(parts[2]) { 200 } else { 404 };
                says(status, json!({}))
            }
            _ => says(404, json!({"detail": "Not Found"})),
        }
    }

    pub(super) fn remove(&mut self, uuid: &str) -> bool {
        let before = self.nodes.len();
        if self.deletes {
            self.nodes.retain(|node| node.uuid.to_string() != uuid);
        }
        self.nodes.len() < before
    }

    pub(super) fn listing(&self, group: &str, last_n: usize) -> Value {
        let of_group = |node: &&Node| node.group == group && !self.is_blind;
        let mut nodes: Vec<&Node> = self.nodes.iter().filter(of_group).collect();
        nodes.sort_by(|a, b| a.at.cmp(&b.at));
        let newest = nodes.into_iter().rev().take(last_n).rev();
        let tell = |node: &Node| {
            json!({"uuid": node.uuid, "name": node.name, "valid_at": node.at,
                "content": "not of interest", "entity_edges": []})
        };
        newest.map(tell).collect()
    }

    /// Ours by key: how often each stands there.
    pub(super) fn named(&self) -> BTreeMap<String, u32> {
        let mut all = BTreeMap::new();
        for node in self.nodes.iter().filter(|node| node.name.ends_with(']')) {
            let (_, key) = node.name.rsplit_once('[').unwrap();
            *all.entry(key.trim_end_matches(']').to_owned()).or_default() += 1;
        }
        all
    }
}

pub(super) fn says(status: u16, value: Value) -> Reply {
    Reply::Says(status, "", value.to_string())
}

/// The same mind as a database that can be reached.
pub(super) struct Shelf(pub(super) Arc<Mutex<Mind>>);

impl Shelf {
    pub(super) fn mind(&self) -> MutexGuard<'_, Mind> {
        self.0.lock().unwrap()
    }
}

impl Sink for Shelf {
    fn replaces(&self) -> bool {
        true
    }
    fn place(&self, outbound: &OutboundEpisode) -> String {
        outbound.group.clone()
    }
    fn check(&mut self) -> Result<String, DeliveryError> {
        Ok(String::new())
    }
    fn deliver(
        &mut self,
        batch: &[OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let mut mind = self.mind();
        for outbound in batch {
            let known = mind.nodes.iter_mut().find(|node| node.uuid == outbound.id);
            match known {
                Some(node) if node.description == outbound.source_description => {
                    node.is_marked |= node.worked == 0;
                }
                Some(node) => {
                    node.description.clone_from(&outbound.source_description);
                    node.is_marked = true;
                }
                None => mind.nodes.push(Node {
                    uuid: outbound.id,
                    group: outbound.group.clone(),
                    name: outbound.name.clone(),
                    at: outbound.valid_at.rfc3339(),
                    description: outbound.source_description.clone(),
                    is_marked: true,
                    worked: 0,
                }),
            }
        }
        Ok(vec![DeliveryOutcome::Seen; batch.len()])
    }
    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        let landed = |progress: DeliveryProgress| match progress {
            DeliveryProgress::Missing => Landed::Missing,
            _ => Landed::Once,
        };
        let progress = self.progress(receipts)?;
        Ok(progress.into_iter().map(landed).collect())
    }
    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        let ids: BTreeSet<Uuid> = receipts.iter().map(|receipt| receipt.id).collect();
        self.mind().nodes.retain(|node| !ids.contains(&node.uuid));
        Ok(Vec::new())
    }
}

impl Database for Shelf {
    fn progress(&mut self, receipts: &[Receipt]) -> Result<Vec<DeliveryProgress>, DeliveryError> {
        let mut mind = self.mind();
        mind.work();
        let progress = |receipt: &Receipt| {
            let node = mind.nodes.iter().find(|node| node.uuid == receipt.id);
            match node {
                Some(n)
                    if !n
                        .description
                        .ends_with(&format!("{:016x}", receipt.revision)) =>
                {
                    DeliveryProgress::Missing
                }
                Some(node) if node.is_marked => DeliveryProgress::Waits,
                Some(_) => DeliveryProgress::Done,
                None => DeliveryProgress::Missing,
            }
        };
        Ok(receipts.iter().map(progress).collect())
    }
    fn counts(&mut self, _: &str) -> Result<GraphCounts, DeliveryError> {
        Ok(GraphCounts::default())
    }
    fn has(&mut self, graph: &str, name: &str) -> Result<bool, DeliveryError> {
        let mut mind = self.mind();
        mind.work();
        let is_it = |node: &Node| node.group == graph && node.name == name;
        Ok(mind.nodes.iter().any(is_it))
    }
    fn remove_described(&mut self, graph: &str, description: &str) -> Result<(), DeliveryError> {
        let is_it = |node: &Node| node.group == graph && node.description == description;
        self.mind().nodes.retain(|node| !is_it(node));
        Ok(())
    }
    fn empty(&mut self, graph: &str) -> Result<(), DeliveryError> {
        self.mind().nodes.retain(|node| node.group != graph);
        Ok(())
    }
}

/// A server with this mind.
pub(super) struct World {
    pub(super) mind: Arc<Mutex<Mind>>,
    pub(super) server: Server,
}

impl World {
    pub(super) fn new(mind: Mind) -> World {
        let mind = Arc::new(Mutex::new(mind));
        let its = Arc::clone(&mind);
        let server = Server::answering(move |asked| its.lock().unwrap().answer(asked));
        World { mind, server }
    }

    pub(super) fn mind(&self) -> MutexGuard<'_, Mind> {
        self.mind.lock().unwrap()
    }

    /// As it is spoken to.
    pub(super) fn graphiti(&self, token: Option<&str>) -> Box<dyn GraphitiServer> {
        let endpoint: Endpoint = self.server.endpoint.parse().unwrap();
        let agreed = Consent {
            scope: self.server.endpoint.clone(),
            given: true,
            text: String::new(),
            version: String::new(),
            at: Time(0),
        };
        let permits: Permits =
            Box::new(move |to: &Endpoint| Permit::of(to, std::slice::from_ref(&agreed)));
        let options = HttpOptions {
            timeout_ms: 20_000,
            ..HttpOptions::default()
        };
        let http = Http::new(&options).unwrap();
        match self.mind().is_mcp {
            true => Box::new(GraphitiMcp::new(http, endpoint, permits, token)),
            false => Box::new(Rest::new(http, endpoint, permits, token.map(str::to_owned))),
        }
    }

    /// Waits in no time; dies while it waits, now and then.
    pub(super) fn poll(&self) -> PollPolicy {
        let mind = Arc::clone(&self.mind);
        let time = Rc::new(Cell::new(Duration::ZERO));
        let clock = Rc::clone(&time);
        PollPolicy {
            stall: Duration::from_secs(60),
            clock: Rc::new(move || clock.get()),
            wait: Rc::new(move |pause| {
                time.set(time.get() + pause);
                let mut mind = mind.lock().unwrap();
                let dies = mind.is_moody && mind.dice.one_in(150);
                drop(mind);
                if dies {
                    resume_unwind(Box::new("died while it waited"));
                }
            }),
        }
    }

    pub(super) fn server_sink(&self, now: Time) -> GraphitiServerSink {
        GraphitiServerSink::new(self.graphiti(None), self.poll(), 12, false, now)
    }

    pub(super) fn enriched(&self, now: Time) -> EnrichedSink {
        let shelf = Box::new(Shelf(Arc::clone(&self.mind)));
        EnrichedSink::new(shelf, self.graphiti(None), self.poll(), 12, now)
    }

    pub(super) fn sink(&self, has_database: bool, now: Time) -> Box<dyn Sink> {
        match has_database {
            true => Box::new(self.enriched(now)),
            false => Box::new(self.server_sink(now)),
        }
    }
}

/// One run that may die; `None` where it did.
pub(super) fn attempt(
    path: &Path,
    world: &World,
    sink: &mut dyn Sink,
    now: Time,
) -> Option<SinkReport> {
    let mut store = Store::open(path, Access::ReadWrite).unwrap();
    let other = RefCell::new(Store::open(path, Access::ReadWrite).unwrap());
    let permitted = |_: &Store| {
        let mut mind = world.mind();
        if mind.is_moody && mind.changes {
            let n = 1 + mind.dice.roll(EPISODES);
            other.borrow_mut().tamper(&match mind.dice.roll(6) {
                0 => format!("DELETE FROM episode WHERE n = {n}"),
                _ => format!("UPDATE episode SET revision = revision + 1 WHERE n = {n}"),
            });
        }
        match mind.is_moody && mind.dice.one_in(30) {
            true => Err(Error::new(ErrorKind::Failed, "died after it was noted")),
            false => Ok(()),
        }
    };
    let orders = DeliveryOptions {
        settled_ms: HOUR_MS,
        settle_after_ms: HOUR_MS,
        retry: RetryOptions {
            max_retries: 5,
            delays_ms: vec![HOUR_MS / 2, 2 * HOUR_MS],
        },
        on_their_way_max: 100,
        permitted: &permitted,
        ..DeliveryOptions::everything(now)
    };
    let run = || deliver(&mut store, "graphiti", sink, &orders);
    let done = catch_unwind(AssertUnwindSafe(run)).ok()?.ok()?;
    store.finish().unwrap();
    Some(done)
}

pub(super) fn start() -> Time {
    Time::parse("2026-06-01T12:00:00Z").unwrap()
}

/// Everything that is wanted is there once, in its revision and worked through, and nothing else.
fn assert_whole(mind: &Mind, wanted: &BTreeMap<Uuid, u64>, has_database: bool, what: &str) {
    assert!(wanted.len() as u64 == EPISODES || mind.changes, "{what}");
    // one that is forgotten goes at once, and may have been posted
    assert!(mind.changes || mind.strangers == 0, "{what}");
    if has_database {
        let ours = mind
            .nodes
            .iter()
            .filter(|node| !node.name.starts_with("canary"));
        let ours: Vec<&Node> = ours.collect();
        assert_eq!(ours.len(), wanted.len(), "{what}");
        for node in ours {
            let revision = format!("{:016x}", wanted[&node.uuid]);
            assert!(node.description.ends_with(&revision), "{what}: {node:?}");
            assert!(!node.is_marked && node.worked > 0, "{what}: {node:?}");
            assert!(mind.changes || node.worked == 1, "{what}: {node:?}");
        }
    } else {
        let named: BTreeSet<(String, u32)> = mind.named().into_iter().collect();
        let once = wanted.iter().map(|(id, r)| (format!("{id} {r:016x}"), 1));
        let differ: Vec<_> = named
            .symmetric_difference(&once.collect())
            .cloned()
            .collect();
        assert!(differ.is_empty(), "{what}: {differ:?}");
    }
}

/// Runs until nothing is left to do. Whoever minds the server restarts it now and then.
fn comes_right(template: &Path, seed: u64, is_mcp: bool, has_database: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    std::fs::copy(template, &path).unwrap();
    let world = World::new(Mind::new(seed));
    world.mind().is_mcp = is_mcp;
    let mut now = start();
    for round in 0..60 {
        let mut mind = world.mind();
        mind.is_moody = round < 40;
        mind.survives = seed % 4 == 3;
        mind.changes = seed % 2 == 1;
        mind.deletes = true;
        if mind.dice.one_in(2) || !mind.is_moody {
            mind.restart();
        }
        drop(mind);
        let mut sink = world.sink(has_database, now);
        let done = attempt(&path, &world, sink.as_mut(), now);
        now = Time(now.0 + HOUR_MS);
        let is_done = done.is_some_and(|done| done.waiting + done.to_enrich + done.failed == 0);
        if round > 40 && is_done {
            break;
        }
    }
    let what = format!("seed {seed}, MCP: {is_mcp}, database: {has_database}");
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    assert_eq!(store.dead_letters(None).unwrap().len(), 0, "{what}");
    let wanted = stored(&path);
    assert_whole(&world.mind(), &wanted, has_database, &what);
    let mut sink = world.sink(has_database, now);
    let checked = verify(&mut store, ("graphiti", ""), sink.as_mut(), false, now).unwrap();
    let counts = [
        checked.landed,
        checked.missing,
        checked.twice,
        checked.beside,
    ];
    assert_eq!(counts, [wanted.len() as u64, 0, 0, 0], "{what}");
    // again is nothing
    world.server.asked();
    drop(store);
    let bytes = std::fs::read(&path).unwrap();
    attempt(&path, &world, sink.as_mut(), now).unwrap();
    assert_eq!(world.server.asked().len(), 0, "{what}: asked for nothing");
    assert!(bytes == std::fs::read(&path).unwrap(), "{what}: wrote");
}

#[test]
fn nothing_is_lost_or_twice_in_graphiti_whatever_goes_wrong() {
    let desk = many_episodes();
    let template = desk.path(".graphiti/sessionmill.db");
    let seeds = std::env::var("FAULT_SEEDS").ok();
    let seeds = seeds.and_then(|n| n.parse().ok()).unwrap_or(6);
    for seed in 0..seeds {
        for (is_mcp, has_database) in [(false, true), (false, false), (true, true), (true, false)] {
            comes_right(&template, seed, is_mcp, has_database);
        }
    }
}
