//! Accounts for every line of a file: its fate, the ids of its records, what it says of the session.
//!
//! Copies are taken out here, before anything is linked or cut. Rows of the open tail are kept
//! apart from settled ones, because the tail will be read again.

use crate::model::batch::Batch;
use crate::model::checkpoint::short_id;
use crate::model::entry::{Context, Entry, Fact, Identity, Queue, What};
use crate::model::ledger::{Fate, Ledger, REASONS_MAX, Reject};
use crate::model::session::SessionFacts;
use crate::model::source::Place;
use crate::model::time::Time;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use uuid::Uuid;

/// Characters of an unknown kind's name that are told: a name, not content.
const KIND_CHARS_MAX: usize = 80;

/// The records that a family is known to have.
#[derive(Debug, Default)]
pub struct Ids {
    /// Of the file that is being read, before the place that is being read.
    own: FxHashSet<u64>,
    /// Of the family's other files, and of earlier generations of this one.
    others: FxHashSet<u64>,
    /// How often each payload without an id of its own was met in this file.
    met: FxHashMap<u64, u32>,
}

impl Ids {
    /// Ids that count as copies wherever they are met.
    pub fn know(&mut self, ids: impl IntoIterator<Item = u64>) {
        self.others.extend(ids);
    }

    /// A new file begins, with these ids before the place where reading starts; what was read
    /// until now belongs to others.
    pub fn begin(&mut self, committed: &[u64]) {
        self.others.extend(self.own.drain());
        self.own.extend(committed.iter().copied());
        self.met.clear();
    }

    /// The record's id, and whether it is a copy.
    fn admit(&mut self, id: Identity) -> (Option<Uuid>, bool) {
        let id = match id {
            Identity::None => return (None, false),
            Identity::Own(id) => id,
            Identity::Nth(base) => self.nth(base),
        };
        let short = short_id(id);
        let copied = self.others.contains(&short) || self.own.contains(&short);
        self.own.insert(short);
        (Some(id), copied)
    }

    /// Equal payloads of one thread are told apart by counting them.
    fn nth(&mut self, base: Uuid) -> Uuid {
        let met = self.met.entry(short_id(base)).or_default();
        loop {
            let id = match *met {
                0 => base,
                n => Uuid::new_v5(&base, &n.to_le_bytes()),
            };
            *met += 1;
            if !self.own.contains(&short_id(id)) {
                return id;
            }
        }
    }
}

/// The rows that are not settled yet.
#[derive(Debug, Default)]
pub struct Account {
    rows: VecDeque<Row>,
    /// Lines of all rows.
    lines: usize,
    pending: u64,
    /// What a line that is no record says of its session.
    nothing: Arc<Context>,
    /// Kinds that nobody knew, first place of each; at most [`REASONS_MAX`].
    pub unknown: BTreeMap<String, Place>,
}

/// One line, or some in a row of which nothing but their number has to be known.
#[derive(Debug)]
struct Row {
    /// Of the last line.
    offset: u64,
    lines: u64,
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
    /// Short ids of their records.
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
                self.reject(reject);
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
                    self.value(&entry, id);
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
            self.reject(reject);
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
                self.lines -= row.lines as usize;
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
        self.lines
    }

    /// A value with an identity of its own begins.
    fn value(&mut self, entry: &Entry, id: Option<Uuid>) {
        let short = id.map(short_id);
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

    fn reject(&mut self, reject: &Reject) {
        let (reason, nothing) = (reject.reason.clone(), self.nothing.clone());
        self.line(reject.place, Fate::Rejected, reason, &nothing);
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
        self.join();
        self.lines += 1;
        self.rows.push_back(Row {
            offset: place.offset,
            lines: 1,
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

    /// The last row is complete: puts it to the one before where that loses nothing, so that a
    /// million blank lines are one row.
    fn join(&mut self) {
        if let Some(last) = self.rows.pop_back() {
            match self.rows.back_mut() {
                Some(row) if row.is_like(&last) => row.take(&last),
                _ => self.rows.push_back(last),
            }
        }
    }

    fn entry(&mut self, entry: &Entry, copied: bool) {
        let (fate, reason) = match copied {
            true => (Fate::Copied, "copy".into()),
            false => fate(&entry.what),
        };
        if let (Fate::Unknown, What::Unknown(kind)) = (fate, &entry.what)
            && self.unknown.len() < REASONS_MAX
        {
            self.unknown.entry(short(kind)).or_insert(entry.place);
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
    /// Both say nothing but that lines of this fate were there. Kept lines stay apart: the open
    /// tail may begin at any of them.
    fn is_like(&self, other: &Row) -> bool {
        let plain = |row: &Row| {
            row.fate != Fate::Kept
                && row.time.is_none()
                && row.model.is_none()
                && row.facts.is_empty()
        };
        plain(self)
            && plain(other)
            && (self.fate, &self.reason) == (other.fate, &other.reason)
            && Arc::ptr_eq(&self.context, &other.context)
    }

    fn take(&mut self, other: &Row) {
        self.offset = other.offset;
        self.lines += other.lines;
        self.glued += other.glued;
        self.more_ids.extend(other.ids);
        self.more_ids.extend(&other.more_ids);
    }

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
        self.ledger.add(row.fate, row.reason.clone(), row.lines);
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
        What::Unknown(kind) => return (Fate::Unknown, Cow::Owned(short(kind))),
    };
    (fate, reason.into())
}

/// A kind's name as it is told.
fn short(kind: &str) -> String {
    kind.chars().take(KIND_CHARS_MAX).collect()
}

/// Noise that counts a message matters to the fold; other noise and unknown kinds don't.
fn is_for_the_fold(entry: &Entry) -> bool {
    match &entry.what {
        What::Noise(_) => entry.message.is_some(),
        What::Unknown(_) => false,
        _ => true,
    }
}
