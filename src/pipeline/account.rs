//! Accounts for every line of a file: its fate, the ids of its records, what it says of the session.
//!
//! Copies are taken out here, before anything is linked or cut. Rows of the open tail are kept
//! apart from settled ones, because the tail will be read again.

use crate::model::batch::Batch;
use crate::model::checkpoint::{COPY, short_id};
use crate::model::entry::{Context, Entry, Fact, Identity, Queue, What};
use crate::model::ledger::{Fate, Ledger};
use crate::model::session::SessionFacts;
use crate::model::source::Place;
use crate::model::time::Time;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use uuid::Uuid;

/// The records that a family is known to have.
#[derive(Debug, Default)]
pub struct Ids {
    /// Of the file that is being read, before the place that is being read.
    own: FxHashSet<u64>,
    /// Of these, the ones that other files own: they count where equal payloads are counted.
    copies: FxHashSet<u64>,
    /// Of earlier generations of the file.
    earlier: FxHashSet<u64>,
    /// Of the family's other files.
    others: FxHashSet<u64>,
    /// How often each payload without an id of its own was met in this file.
    met: FxHashMap<u64, u32>,
}

impl Ids {
    /// Ids that count as copies wherever they are met.
    pub fn know(&mut self, ids: impl IntoIterator<Item = u64>) {
        self.others.extend(ids);
    }

    /// A new file begins, with these records before the place where reading starts, and these of
    /// earlier generations (marked as [`RecordIds`] are). What was read until now belongs to others.
    ///
    /// [`RecordIds`]: crate::model::checkpoint::RecordIds
    pub fn begin(&mut self, before: &[u64], earlier: impl IntoIterator<Item = u64>) {
        self.others.extend(self.own.drain());
        self.copies.clear();
        self.earlier.clear();
        self.met.clear();
        for id in before {
            match id & COPY {
                0 => self.own.insert(*id),
                _ => self.copies.insert(id & !COPY),
            };
        }
        for id in earlier {
            self.earlier.insert(id & !COPY);
            if id & COPY == 0 {
                self.others.insert(id);
            }
        }
    }

    /// The record's id, and whether it is a copy.
    fn admit(&mut self, id: Identity) -> (Option<Uuid>, bool) {
        let id = match id {
            Identity::None => return (None, false),
            Identity::Own(id) => id,
            Identity::Nth(base) => self.nth(base),
        };
        let short = short_id(id);
        let copied =
            self.is_here(short) || self.others.contains(&short) || self.earlier.contains(&short);
        match copied {
            true => self.copies.insert(short),
            false => self.own.insert(short),
        };
        (Some(id), copied)
    }

    /// The file that is being read has it already.
    fn is_here(&self, short: u64) -> bool {
        self.own.contains(&short) || self.copies.contains(&short)
    }

    /// Equal payloads of one thread are told apart by counting them.
    fn nth(&mut self, base: Uuid) -> Uuid {
        let mut met = self.met.get(&short_id(base)).copied().unwrap_or(0);
        loop {
            let id = match met {
                0 => base,
                n => Uuid::new_v5(&base, &n.to_le_bytes()),
            };
            met += 1;
            if !self.is_here(short_id(id)) {
                self.met.insert(short_id(base), met);
                return id;
            }
        }
    }
}

/// The rows that are not settled yet.
#[derive(Debug, Default)]
pub struct Account {
    rows: VecDeque<Row>,
    pending: u64,
    /// Kinds that nobody knew, first place of each.
    pub unknown: Vec<(String, Place)>,
}

/// One line.
#[derive(Debug)]
struct Row {
    offset: u64,
    fate: Fate,
    reason: Cow<'static, str>,
    ids: Option<u64>,
    more_ids: Vec<u64>,
    glued: u64,
    time: Option<Time>,
    context: Arc<Context>,
    model: Option<Arc<str>>,
    facts: Vec<Fact>,
}

/// What some lines amount to.
#[derive(Debug, Default)]
pub struct Settled {
    /// Short ids of their records, marked where they are copies.
    pub ids: Vec<u64>,
    /// Their fates.
    pub ledger: Ledger,
    /// What they say of the session.
    pub facts: SessionFacts,
}

impl Account {
    /// Takes copies and known noise out of a batch and writes each of its lines down. Afterwards
    /// ids are [`Identity::Own`] or [`Identity::None`].
    pub fn admit(&mut self, batch: Batch<Entry>, ids: &mut Ids) -> Batch<Entry> {
        let mut rejects = batch.rejects.iter().peekable();
        let mut kept = Vec::with_capacity(batch.items.len());
        let mut last: Option<(Place, Identity, Option<Uuid>, bool)> = None;
        self.pending += batch.pending;
        let batch_rejects = batch.rejects.clone();
        for mut entry in batch.items {
            while let Some(reject) = rejects.next_if(|r| r.place.offset < entry.place.offset) {
                self.line(
                    reject.place,
                    Fate::Rejected,
                    reject.reason.clone(),
                    &entry.context,
                );
            }
            let (id, copied) = match last {
                Some((place, identity, id, copied))
                    if place == entry.place && identity == entry.id =>
                {
                    (id, copied)
                }
                _ => {
                    let (id, copied) = ids.admit(entry.id);
                    last = Some((entry.place, entry.id, id, copied));
                    self.value(&entry, id.map(|id| short_id(id) | u64::from(copied)));
                    (id, copied)
                }
            };
            entry.id = id.map_or(Identity::None, Identity::Own);
            self.entry(&entry, copied);
            if !copied && is_for_the_fold(&entry) {
                kept.push(entry);
            }
        }
        for reject in rejects {
            let context = self
                .rows
                .back()
                .map(|r| r.context.clone())
                .unwrap_or_default();
            self.line(
                reject.place,
                Fate::Rejected,
                reject.reason.clone(),
                &context,
            );
        }
        Batch {
            items: kept,
            rejects: batch_rejects,
            delta: batch.delta,
            tally: batch.tally,
            glued: 0,
            pending: 0,
        }
    }

    /// What the lines before `from` amount to; they are forgotten here.
    pub fn settle(&mut self, from: u64) -> Settled {
        let mut settled = Settled::default();
        while self.rows.front().is_some_and(|row| row.offset < from) {
            if let Some(row) = self.rows.pop_front() {
                settled.add(&row);
            }
        }
        settled
    }

    /// What the remaining lines amount to.
    pub fn tail(&self) -> Settled {
        let mut tail = Settled::default();
        self.rows.iter().for_each(|row| tail.add(row));
        tail.ledger.pending = self.pending;
        tail
    }

    /// Lines that are not settled.
    pub fn open_lines(&self) -> usize {
        self.rows.len()
    }

    /// A value with an identity of its own begins.
    fn value(&mut self, entry: &Entry, short: Option<u64>) {
        match self.rows.back_mut() {
            Some(row) if row.offset == entry.place.offset => {
                row.glued += 1;
                row.more_ids.extend(short);
            }
            _ => {
                self.line(entry.place, Fate::Filtered, "empty".into(), &entry.context);
                if let Some(row) = self.rows.back_mut() {
                    row.ids = short;
                }
            }
        }
    }

    fn line(
        &mut self,
        place: Place,
        fate: Fate,
        reason: Cow<'static, str>,
        context: &Arc<Context>,
    ) {
        if let Some(row) = self.rows.back_mut()
            && row.offset == place.offset
        {
            row.strengthen(fate, reason);
            return;
        }
        self.rows.push_back(Row {
            offset: place.offset,
            fate,
            reason,
            ids: None,
            more_ids: Vec::new(),
            glued: 0,
            time: None,
            context: context.clone(),
            model: None,
            facts: Vec::new(),
        });
    }

    fn entry(&mut self, entry: &Entry, copied: bool) {
        let (fate, reason) = match copied {
            true => (Fate::Copied, "copy".into()),
            false => fate(&entry.what),
        };
        if let (Fate::Unknown, What::Unknown(kind)) = (fate, &entry.what)
            && !self.unknown.iter().any(|(known, _)| known == kind)
        {
            self.unknown.push((kind.clone(), entry.place));
        }
        let Some(row) = self.rows.back_mut() else {
            return;
        };
        row.strengthen(fate, reason);
        if copied {
            return;
        }
        row.context = entry.context.clone();
        if fate == Fate::Kept {
            row.time = row.time.or(entry.time);
        }
        if let Some(model) = entry.message.as_ref().and_then(|m| m.model.clone()) {
            row.model = Some(model);
        }
        if let What::Fact(fact) = &entry.what {
            row.facts.push(fact.clone());
        }
    }
}

impl Row {
    /// A line is classed once, by the strongest fate of any value on it (DESIGN § 4, 9).
    fn strengthen(&mut self, fate: Fate, reason: Cow<'static, str>) {
        if fate > self.fate || (fate == self.fate && self.reason == "empty") {
            (self.fate, self.reason) = (fate, reason);
        }
    }
}

impl Settled {
    fn add(&mut self, row: &Row) {
        self.ids.extend(row.ids);
        self.ids.extend(&row.more_ids);
        self.ledger.count(row.fate, row.reason.clone());
        self.ledger.glued += row.glued;
        if row.fate == Fate::Copied {
            return;
        }
        let facts = &mut self.facts;
        if let Some(time) = row.time {
            facts.started = Some(facts.started.map_or(time, |t| t.min(time)));
            facts.ended = facts.ended.max(Some(time));
        }
        update(&mut facts.version, &row.context.version);
        update(&mut facts.branch, &row.context.branch);
        if let Some(model) = &row.model
            && !facts.models.contains(&**model)
        {
            facts.models.insert(model.to_string());
        }
        row.facts.iter().for_each(|fact| learn(facts, fact));
    }
}

fn update(slot: &mut Option<String>, stated: &Option<String>) {
    if stated.is_some() && slot != stated {
        slot.clone_from(stated);
    }
}

fn learn(facts: &mut SessionFacts, fact: &Fact) {
    match fact {
        Fact::Title { text, custom: true } => facts.custom_title = Some(text.clone()),
        Fact::Title {
            text,
            custom: false,
        } => facts.ai_title = Some(text.clone()),
        Fact::Summary {
            text,
            leaf: Some(leaf),
        } => facts.summaries.push((*leaf, text.clone())),
        Fact::Summary { leaf: None, .. } => {}
        Fact::PullRequest(url) => {
            facts.pull_requests.insert(url.clone());
        }
        Fact::Compaction => facts.compactions += 1,
        Fact::Interrupted => facts.interruptions += 1,
        Fact::ForkedFrom(other) => facts.forked_from = Some(other.clone()),
        Fact::Parent(other) => facts.parent = Some(other.clone()),
        Fact::RolledBack { .. } | Fact::TurnEnd | Fact::Context => {}
    }
}

/// What becomes of a value that is not a copy.
fn fate(what: &What) -> (Fate, Cow<'static, str>) {
    let (fate, reason) = match what {
        What::Prompt { .. } => (Fate::Kept, "prompt"),
        What::Queue(Queue::Enqueue(text)) if text.is_empty() => (Fate::Filtered, "machine text"),
        What::Queue(Queue::Enqueue(_)) => (Fate::Kept, "queued prompt"),
        What::Queue(_) => (Fate::Filtered, "queue operation"),
        What::Said(_) => (Fate::Kept, "answer"),
        What::Call(_) => (Fate::Kept, "tool call"),
        What::Result(_) => (Fate::Kept, "tool result"),
        What::Failure(_) => (Fate::Kept, "agent error"),
        What::Fact(Fact::Title { .. } | Fact::Summary { .. }) => (Fate::Kept, "title"),
        What::Fact(Fact::PullRequest(_)) => (Fate::Kept, "pull request"),
        What::Fact(Fact::Compaction) => (Fate::Kept, "compaction"),
        What::Fact(Fact::Interrupted) => (Fate::Kept, "interruption"),
        What::Fact(Fact::RolledBack { .. }) => (Fate::Kept, "rollback"),
        What::Fact(Fact::ForkedFrom(_) | Fact::Parent(_)) => (Fate::Kept, "session"),
        What::Fact(Fact::TurnEnd) => (Fate::Filtered, "turn end"),
        What::Fact(Fact::Context) => (Fate::Filtered, "context"),
        What::Noise(reason) => return (Fate::Filtered, reason.clone()),
        What::Unknown(kind) => return (Fate::Unknown, Cow::Owned(kind.clone())),
    };
    (fate, reason.into())
}

/// Noise that counts a message matters to the fold; other noise and unknown kinds don't.
fn is_for_the_fold(entry: &Entry) -> bool {
    match &entry.what {
        What::Noise(_) => entry.message.is_some(),
        What::Unknown(_) => false,
        _ => true,
    }
}
