//! Delivery under random faults: a sink that refuses, fails, hangs up half way, dies with us and lies
//! about what it has, while episodes change and go. `FAULT_SEEDS` sets how many schedules.

use super::forget::said;
use super::world::Desk;
use crate::cli::Exit;
use crate::model::delivery::{DeliveryError, DeliveryOutcome, Landed, OutboundEpisode, Receipt};
use crate::model::error::{Error, ErrorKind};
use crate::model::time::Time;
use crate::pipeline::steps::upload::delivery::{deliver, verify};
use crate::pipeline::steps::upload::options::DeliveryOptions;
use crate::pipeline::steps::upload::report::SinkReport;
use crate::stages::upload::{RetryOptions, Sink};
use crate::store::{Access, Store};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use uuid::Uuid;

/// Episodes of a schedule.
pub(super) const EPISODES: u64 = 200;
pub(super) const HOUR_MS: i64 = 3_600_000;

/// SplitMix64.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    pub(super) fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

/// Holds what it takes, and counts what it takes a second time.
struct Moody {
    dice: Dice,
    /// What it holds.
    held: BTreeMap<Uuid, u64>,
    /// Refused for ever, alone or with the whole batch.
    poison: BTreeSet<Uuid>,
    /// Something goes wrong now and then.
    is_moody: bool,
    /// It said that it doesn't have these: they may come again.
    lied: BTreeSet<Uuid>,
    /// Taken though they were there, in that revision, and it never lied about them.
    twice: u64,
    requests: u64,
    /// Somebody else at the store.
    other: Store,
}

impl Moody {
    fn take(&mut self, parcel: &OutboundEpisode) {
        let before = self.held.insert(parcel.id, parcel.revision);
        let is_again = before == Some(parcel.revision) && !self.lied.remove(&parcel.id);
        self.twice += u64::from(is_again);
    }

    /// An episode that is on its way changes, or goes.
    fn interfere(&mut self, batch: &[OutboundEpisode]) {
        let nth = self.dice.roll(batch.len() as u64) as usize;
        let id = batch[nth].id.simple();
        match self.dice.roll(40) {
            0..4 => self.other.tamper(&format!(
                "UPDATE episode SET revision = revision + 1 WHERE id = x'{id}'"
            )),
            4 => self
                .other
                .tamper(&format!("DELETE FROM episode WHERE id = x'{id}'")),
            _ => {}
        }
    }
}

impl Sink for Moody {
    fn replaces(&self) -> bool {
        true
    }

    fn place(&self, parcel: &OutboundEpisode) -> String {
        parcel.group.clone()
    }

    fn check(&mut self) -> Result<String, DeliveryError> {
        Ok(String::new())
    }

    fn deliver(
        &mut self,
        batch: &[OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        self.requests += 1;
        if self.is_moody {
            self.interfere(batch);
        }
        let fate = if self.is_moody {
            self.dice.roll(12)
        } else {
            11
        };
        let poisoned = |p: &OutboundEpisode| self.poison.contains(&p.id);
        match fate {
            0 => return Err(DeliveryError::Unavailable("away".into(), None)),
            1 => resume_unwind(Box::new("died before it was handed over")),
            2..5 if batch.iter().any(poisoned) => {
                return Err(DeliveryError::BatchRejected("poison".into()));
            }
            _ => {}
        }
        let some = match fate {
            5 => self.dice.roll(batch.len() as u64) as usize,
            _ => batch.len(),
        };
        let mut outcomes = Vec::new();
        for parcel in &batch[..some] {
            outcomes.push(if self.poison.contains(&parcel.id) {
                DeliveryOutcome::Refused("poison".into())
            } else if self.is_moody && self.dice.one_in(20) {
                DeliveryOutcome::Failed("not today".into())
            } else {
                self.take(parcel);
                DeliveryOutcome::Seen
            });
        }
        match fate {
            5 => Err(DeliveryError::Unavailable("hung up half way".into(), None)),
            6 => resume_unwind(Box::new("died before it was noted")),
            7 => Ok(outcomes.into_iter().take(1).collect()),
            _ => Ok(outcomes),
        }
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        self.requests += 1;
        if self.is_moody && self.dice.one_in(6) {
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        for receipt in receipts {
            let mut is_there = self.held.get(&receipt.id) == Some(&receipt.revision);
            if is_there && self.is_moody && self.dice.one_in(50) {
                self.lied.insert(receipt.id);
                is_there = false;
            }
            all.push(if is_there {
                Landed::Once
            } else {
                Landed::Missing
            });
        }
        Ok(all)
    }

    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        self.requests += 1;
        for receipt in receipts {
            if self.is_moody && self.dice.one_in(10) {
                return Err(DeliveryError::Unavailable("hung up".into(), None));
            }
            self.held.remove(&receipt.id);
        }
        Ok(Vec::new())
    }
}

/// One delivery that may die; `None` where it did.
fn attempt(path: &Path, sink: &mut Moody, now: Time) -> Option<SinkReport> {
    let mut store = Store::open(path, Access::ReadWrite).unwrap();
    let on_their_way_max = 1 + sink.dice.roll(60) as usize;
    let dice = RefCell::new(Dice(sink.dice.roll(u64::MAX)));
    let is_moody = sink.is_moody;
    let permitted = |_: &Store| match is_moody && dice.borrow_mut().one_in(10) {
        true => Err(Error::new(ErrorKind::Failed, "died after it was noted")),
        false => Ok(()),
    };
    let orders = DeliveryOptions {
        settled_ms: HOUR_MS,
        settle_after_ms: HOUR_MS,
        retry: RetryOptions {
            max_retries: 3,
            delays_ms: vec![HOUR_MS / 2, 2 * HOUR_MS],
        },
        on_their_way_max,
        insist: false,
        permitted: &permitted,
        ..DeliveryOptions::everything(now)
    };
    let run = || deliver(&mut store, "moody", sink, &orders);
    let done = catch_unwind(AssertUnwindSafe(run)).ok()?.ok()?;
    store.finish().unwrap();
    Some(done)
}

/// A home whose store holds the episodes, a session each.
pub(super) fn many_episodes() -> Desk {
    let desk = super::forget::desk();
    for nth in 0..EPISODES as u32 {
        let session = format!("session-{nth:03}");
        let text = said(&session, "/w/shop", nth, "user", &format!("word {nth}"));
        desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &text);
    }
    let ran = desk.run("sessionmill run --steps ingest");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    desk
}

/// Ids and revisions of what is stored.
pub(super) fn stored(path: &Path) -> BTreeMap<Uuid, u64> {
    let store = Store::open(path, Access::ReadOnly).unwrap();
    let dump = store.deliverable().into_iter();
    dump.collect()
}

fn comes_right(template: &Path, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    std::fs::copy(template, &path).unwrap();
    let mut dice = Dice(seed);
    let before = stored(&path);
    assert_eq!(before.len() as u64, EPISODES);
    let mut sink = Moody {
        poison: before.keys().filter(|_| dice.one_in(40)).copied().collect(),
        dice,
        held: BTreeMap::new(),
        is_moody: true,
        lied: BTreeSet::new(),
        twice: 0,
        requests: 0,
        other: Store::open(&path, Access::ReadWrite).unwrap(),
    };
    let mut now = Time::parse("2026-06-01T12:00:00Z").unwrap();
    for round in 0..80 {
        sink.is_moody = round < 40;
        attempt(&path, &mut sink, now);
        now = Time(now.0 + HOUR_MS);
    }
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    let dead = store.dead_letters(None).unwrap();
    assert!(dead.iter().all(|d| !d.error.is_empty()), "seed {seed}");
    let dead: BTreeSet<Uuid> = dead.into_iter().map(|d| d.id).collect();
    let mut wanted = stored(&path);
    wanted.retain(|id, _| !dead.contains(id));
    let mut held = sink.held.clone();
    // a letter may have died after an earlier revision of it was taken
    held.retain(|id, _| !dead.contains(id));
    assert_eq!(held, wanted, "seed {seed}");
    assert_eq!(sink.twice, 0, "seed {seed}");
    let checked = verify(&mut store, ("moody", ""), &mut sink, false, now).unwrap();
    assert_eq!(checked.missing, 0, "seed {seed}");
    // again is nothing
    let (bytes, requests) = (std::fs::read(&path).unwrap(), sink.requests);
    let again = attempt(&path, &mut sink, now).unwrap();
    assert_eq!((again.delivered, again.waiting), (0, 0), "seed {seed}");
    assert_eq!(sink.requests, requests, "seed {seed}: asked for nothing");
    assert!(bytes == std::fs::read(&path).unwrap(), "seed {seed}: wrote");
    // what was given up is there once the reason is gone
    sink.poison.clear();
    store.settle_dead(None, &[], true, now).unwrap();
    attempt(&path, &mut sink, now).unwrap();
    assert_eq!(sink.held, stored(&path), "seed {seed}");
}

#[test]
fn nothing_is_lost_or_sent_twice_whatever_goes_wrong() {
    let desk = many_episodes();
    let template = desk.path(".graphiti/sessionmill.db");
    let seeds = std::env::var("FAULT_SEEDS").ok();
    let seeds = seeds.and_then(|n| n.parse().ok()).unwrap_or(12);
    for seed in 0..seeds {
        comes_right(&template, seed);
    }
}
