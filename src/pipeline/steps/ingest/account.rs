//! Accounts for every line of a file: its fate, the ids of its records, what it says of the session.
//!
//! Copies are taken out here, before anything is linked or cut. Rows of the open tail are kept
//! apart from settled ones, because the tail will be read again. A row takes the lines after it
//! with which no tail can begin, so that memory grows with what was said, not with progress lines.

use super::course::{self, LineCourse};
use super::ids::{Ids, RecordOrigin};
use crate::model::batch::Batch;
use crate::model::checkpoint::short_id;
use crate::model::entry::{Context, Entry, EntryKind, Fact, Identity, Queue};
use crate::model::ledger::{Fate, Ledger, REASONS_MAX, Reject, Unknown};
use crate::model::session::SessionFacts;
use crate::model::source::Span;
use crate::model::time::Time;
use crate::model::tombstone::{FORGOTTEN, Tombstones};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

/// Characters of an unknown name that are told: a name, not content.
const KIND_CHARS_MAX: usize = 80;

/// Kinds of lines that one row takes. Larger: longer searches; smaller: more rows where many kinds
/// alternate.
const KINDS_MAX: usize = 16;

/// The rows that are not settled yet.
#[derive(Debug, Default)]
pub struct Account {
    rows: VecDeque<Row>,
    /// Of all rows, in their order.
    ids: VecDeque<u64>,
    /// In all rows.
    lines: usize,
    pending: u64,
    /// What a line that is no record says of its session.
    nothing: Arc<Context>,
    /// Records that are older stay out.
    forgotten_before: Option<Time>,
    /// Copies may be of sessions that somebody wanted forgotten.
    copies_are_mute: bool,
    /// The last time that was stated, for records without one.
    time: Option<Time>,
    /// Names that nobody knew, first place of each; at most [`REASONS_MAX`].
    pub unknown: Vec<Unknown>,
    /// Meetings of one that are not settled yet.
    drift: VecDeque<Drift>,
    /// Where the last line begins with which a tail may.
    opened: u64,
}

/// A line, and the lines after it that joined it: they settle together.
#[derive(Debug)]
struct Row {
    offset: u64,
    fate: Fate,
    reason: Cow<'static, str>,
    /// An open tail may begin with it.
    opens: bool,
    /// The lines that joined it, by kind.
    joined: Vec<(Fate, Cow<'static, str>, u64)>,
    /// How many of [`Account::ids`] are its own.
    ids: usize,
    glued: u64,
    time: Option<Time>,
    context: Arc<Context>,
    model: Option<Arc<str>>,
    facts: Vec<Fact>,
    course: LineCourse,
}

/// Meetings of one unknown name on lines that settle together.
#[derive(Debug)]
struct Drift {
    /// Of the first of these lines.
    offset: u64,
    name: String,
    times: u64,
    words: u64,
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
    /// One that keeps out what was said before a time, and the words of copied calls where sessions
    /// are forgotten; `time` is the last one before its records.
    pub fn forgetting(
        before: Option<Time>,
        tombstones: &Tombstones,
        time: Option<Time>,
    ) -> Account {
        Account {
            forgotten_before: before,
            copies_are_mute: !tombstones.sessions.is_empty(),
            time,
            ..Account::default()
        }
    }

    /// Why the fold doesn't get an entry that it could understand.
    fn withheld(&mut self, entry: &Entry, copied: bool) -> Option<(Fate, &'static str)> {
        self.time = entry.time.or(self.time);
        match copied {
            true => Some((Fate::Copied, "copy")),
            false => self.is_old().then_some((Fate::Filtered, FORGOTTEN)),
        }
    }

    /// What is said now is to be forgotten.
    fn is_old(&self) -> bool {
        let limit = self.time.zip(self.forgotten_before);
        limit.is_some_and(|(at, end)| at < end)
    }

    /// Takes copies, what is forgotten and known noise out of a batch and writes each of its lines down. Afterwards
    /// ids are [`Identity::Own`] or [`Identity::None`].
    pub fn admit(&mut self, batch: Batch<Entry>, ids: &mut Ids) -> Batch<Entry> {
        let mut rejects = batch.rejects.iter().peekable();
        let mut kept = Vec::with_capacity(batch.items.len());
        self.pending += batch.pending;
        let batch_rejects = batch.rejects.clone();
        for mut entry in batch.items {
            while let Some(reject) = rejects.next_if(|r| r.place.offset < entry.place.offset) {
                self.refuse(reject);
            }
            let record = ids.meet(&entry);
            if record.first {
                self.value(
                    &entry,
                    record.id.map(|id| short_id(id) | u64::from(record.copied)),
                );
            }
            self.course(&entry, record);
            entry.id = record.id.map_or(Identity::None, Identity::Own);
            let withheld = self.withheld(&entry, record.copied);
            self.entry(&entry, withheld);
            match withheld {
                None if is_for_the_fold(&entry) => kept.push(entry),
                Some((Fate::Copied, _)) if !self.is_old() => {
                    kept.extend(course::copy(entry, self.copies_are_mute));
                }
                _ => {}
            }
        }
        for reject in rejects {
            self.refuse(reject);
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
        let (mut settled, mut ids) = (Settled::default(), 0);
        while self.rows.front().is_some_and(|row| row.offset < from) {
            if let Some(row) = self.rows.pop_front() {
                settled.add(&row);
                ids += row.ids;
                self.lines -= row.lines();
            }
        }
        let met = self.drift.partition_point(|drift| drift.offset < from);
        for drift in self.drift.drain(..met) {
            settled
                .ledger
                .drifted(&drift.name, drift.times, drift.words);
        }
        settled.ids = match ids == self.ids.len() {
            true => std::mem::take(&mut self.ids).into(), // no second copy of a long tail's
            false => self.ids.drain(..ids).collect(),
        };
        settled
    }

    /// What all lines that are left amount to.
    pub fn finish(&mut self) -> Settled {
        let mut tail = self.settle(u64::MAX);
        tail.ledger.pending = self.pending;
        tail
    }

    /// Lines that are not settled.
    pub fn open_lines(&self) -> usize {
        self.lines
    }

    /// The file breaks off: instead of what is pending there is a refused record.
    pub fn break_off(&mut self, reject: &Reject) {
        self.pending = 0;
        self.refuse(reject);
    }

    /// What a line says of how its log goes on, whoever owns its record.
    fn course(&mut self, entry: &Entry, record: RecordOrigin) {
        let id = record.id.map(short_id);
        if let Some(row) = self.rows.back_mut() {
            row.course.learn(entry, id.filter(|_| !record.again));
        }
    }

    fn refuse(&mut self, reject: &Reject) {
        let (reason, nothing) = (reject.reason.clone(), self.nothing.clone());
        self.line(reject.place, Fate::Rejected, reason, &nothing);
    }

    /// A value with an identity of its own begins.
    fn value(&mut self, entry: &Entry, short: Option<u64>) {
        match self.rows.back_mut() {
            Some(row) if row.offset == entry.place.offset => {
                row.glued += u64::from(!matches!(entry.id, Identity::Part(_)));
            }
            _ => self.line(entry.place, Fate::Filtered, "empty".into(), &entry.context),
        }
        if let (Some(row), Some(short)) = (self.rows.back_mut(), short) {
            row.ids += 1;
            self.ids.push_back(short);
        }
    }

    fn line(&mut self, place: Span, fate: Fate, reason: Cow<'static, str>, context: &Arc<Context>) {
        if let Some(row) = self.rows.back_mut()
            && row.offset == place.offset
        {
            row.strengthen(fate, reason);
            return;
        }
        self.join_last();
        self.lines += 1;
        self.rows.push_back(Row {
            offset: place.offset,
            fate,
            reason,
            opens: false,
            joined: Vec::new(),
            ids: 0,
            glued: 0,
            time: None,
            context: context.clone(),
            model: None,
            facts: Vec::new(),
            course: LineCourse::default(),
        });
    }

    /// The last line is told: it joins the row before it where a tail can't begin with it. The
    /// line that is being told never does, so that an unterminated one stays in the tail.
    fn join_last(&mut self) {
        let last = self.rows.len().wrapping_sub(1);
        let joins = |row: &Row| self.rows.get(last).is_some_and(|next| row.takes(next));
        if self.rows.get(last.wrapping_sub(1)).is_some_and(joins)
            && let Some(next) = self.rows.pop_back()
            && let Some(row) = self.rows.back_mut()
        {
            row.join(next);
        }
        self.join_drift();
    }

    /// The last name joins its earlier meetings where no tail can begin between them.
    fn join_drift(&mut self) {
        while let Some(last) = self.drift.pop_back() {
            let mut near = self.drift.iter_mut().rev().take(KINDS_MAX);
            let same = near.find(|drift| drift.name == last.name);
            match same.filter(|drift| drift.offset >= self.opened) {
                Some(drift) => {
                    drift.times += last.times;
                    drift.words += last.words;
                }
                None => return self.drift.push_back(last),
            }
        }
    }

    fn drifted(&mut self, name: &str, words: u64, entry: &Entry) {
        self.drift.push_back(Drift {
            offset: entry.place.offset,
            name: name.to_owned(),
            times: 1,
            words,
        });
        if self.unknown.len() < REASONS_MAX && !self.unknown.iter().any(|known| known.name == name)
        {
            self.unknown.push(Unknown {
                name: name.to_owned(),
                place: entry.place,
                time: entry.time,
            });
        }
    }

    fn entry(&mut self, entry: &Entry, withheld: Option<(Fate, &'static str)>) {
        let (fate, reason) = match withheld {
            Some((fate, reason)) => (fate, reason.into()),
            None => fate(&entry.what),
        };
        if let (Fate::Unknown, EntryKind::Unknown(unknown)) = (fate, &entry.what) {
            self.drifted(&short(&unknown.name), unknown.words, entry);
        }
        let Some(row) = self.rows.back_mut() else {
            return;
        };
        row.strengthen(fate, reason);
        if withheld.is_some() {
            return;
        }
        if may_begin_a_tail(entry) {
            row.opens = true;
            self.opened = row.offset;
        }
        row.context = entry.context.clone();
        if fate == Fate::Kept {
            row.time = row.time.or(entry.time);
        }
        if let Some(model) = entry.message.as_ref().and_then(|m| m.model.clone()) {
            row.model = Some(model);
        }
        if let EntryKind::Fact(fact) = &entry.what {
            row.facts.push(fact.clone());
        }
    }
}

impl Row {
    /// A line is classed once, by the strongest fate of any value on it (architecture § 4, 9).
    fn strengthen(&mut self, fate: Fate, reason: Cow<'static, str>) {
        if fate > self.fate || (fate == self.fate && self.reason == "empty") {
            (self.fate, self.reason) = (fate, reason);
        }
    }

    fn lines(&self) -> usize {
        1 + self
            .joined
            .iter()
            .map(|(.., lines)| *lines as usize)
            .sum::<usize>()
    }

    /// Nothing but its kind and its ids would be lost by counting `next` here.
    fn takes(&self, next: &Row) -> bool {
        let (mine, its) = (&*self.context, &*next.context);
        let alike = (&mine.version, &mine.branch) == (&its.version, &its.branch);
        let context = next.fate == Fate::Copied || self.fate != Fate::Copied && alike;
        let model = next.model.is_none() || next.model == self.model;
        !next.opens
            && context
            && model
            && next.time.is_none()
            && next.facts.is_empty()
            && next.joined.is_empty()
            && !next.course.turns()
            && (self.joined.len() < KINDS_MAX || self.joined.iter().any(|kind| next.is(kind)))
    }

    fn is(&self, (fate, reason, _): &(Fate, Cow<'static, str>, u64)) -> bool {
        self.fate == *fate && self.reason == *reason
    }

    fn join(&mut self, mut next: Row) {
        self.ids += next.ids;
        self.glued += next.glued;
        self.course.join(std::mem::take(&mut next.course));
        match self.joined.iter_mut().find(|kind| next.is(kind)) {
            Some((.., lines)) => *lines += 1,
            None => self.joined.push((next.fate, next.reason, 1)),
        }
    }
}

impl Settled {
    fn add(&mut self, row: &Row) {
        self.ledger.count(row.fate, row.reason.clone());
        for (fate, reason, lines) in &row.joined {
            self.ledger.add(*fate, reason.clone(), *lines);
        }
        self.ledger.glued += row.glued;
        row.course.tell(&mut self.facts);
        if row.fate == Fate::Copied || row.reason == FORGOTTEN {
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
        Fact::RolledBack { .. }
        | Fact::Stopped(_)
        | Fact::Expanded(_)
        | Fact::TurnEnd(_)
        | Fact::Context => {}
    }
}

/// What becomes of a value that is not a copy.
pub(in crate::pipeline) fn fate(what: &EntryKind) -> (Fate, Cow<'static, str>) {
    let (fate, reason) = match what {
        EntryKind::Prompt { .. } => (Fate::Kept, "prompt"),
        EntryKind::Queue(Queue::Enqueue(text)) if text.is_empty() => {
            (Fate::Filtered, "machine text")
        }
        EntryKind::Queue(Queue::Enqueue(_)) => (Fate::Kept, "queued prompt"),
        EntryKind::Queue(_) => (Fate::Filtered, "queue operation"),
        EntryKind::Said(_) => (Fate::Kept, "answer"),
        EntryKind::Call(_) => (Fate::Kept, "tool call"),
        EntryKind::Result(_) => (Fate::Kept, "tool result"),
        EntryKind::Failure(_) => (Fate::Kept, "agent error"),
        EntryKind::Fact(Fact::Title { .. } | Fact::Summary { .. }) => (Fate::Kept, "title"),
        EntryKind::Fact(Fact::PullRequest(_)) => (Fate::Kept, "pull request"),
        EntryKind::Fact(Fact::Compaction) => (Fate::Kept, "compaction"),
        EntryKind::Fact(Fact::Stopped(_)) => (Fate::Kept, "stopped model"),
        EntryKind::Fact(Fact::Interrupted) => (Fate::Kept, "interruption"),
        EntryKind::Fact(Fact::RolledBack { .. }) => (Fate::Kept, "rollback"),
        EntryKind::Fact(Fact::ForkedFrom(_) | Fact::Parent(_)) => (Fate::Kept, "session"),
        EntryKind::Fact(Fact::Expanded(_)) => (Fate::Kept, "expanded command"),
        EntryKind::Fact(Fact::TurnEnd(_)) => (Fate::Filtered, "turn end"),
        EntryKind::Fact(Fact::Context) => (Fate::Filtered, "context"),
        EntryKind::Noise(reason) => return (Fate::Filtered, reason.clone()),
        EntryKind::Unknown(unknown) => return (Fate::Unknown, Cow::Owned(short(&unknown.name))),
        EntryKind::Copied(_) => (Fate::Copied, "copy"),
    };
    (fate, reason.into())
}

/// An unknown name as it is told.
fn short(name: &str) -> String {
    name.chars().take(KIND_CHARS_MAX).collect()
}

/// Tails begin with items, and noise gives none; neither does what the fold doesn't get.
fn may_begin_a_tail(entry: &Entry) -> bool {
    !matches!(entry.what, EntryKind::Noise(_) | EntryKind::Unknown(_))
}

/// Noise that counts a message matters to the fold; other noise and unknown kinds don't.
fn is_for_the_fold(entry: &Entry) -> bool {
    match &entry.what {
        EntryKind::Noise(_) => entry.message.is_some(),
        EntryKind::Unknown(_) | EntryKind::Copied(_) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::registry;
    use crate::host::read::{LogBlock, Shape};
    use crate::model::source::Agent;
    use crate::stages::parse::{ParseState, parse};
    use uuid::Uuid;

    const LINE: usize = 100;

    fn line(nth: usize, kind: &str, rest: &str) -> String {
        let id = format!("00000000-0000-4000-8000-{nth:012}");
        let line = format!("{{\"type\":\"{kind}\",\"uuid\":\"{id}\"{rest}}}");
        format!("{line:<width$}\n", width = LINE - 1)
    }

    fn prompt(nth: usize) -> String {
        line(nth, "user", ",\"message\":{\"content\":\"w\"}")
    }

    /// Progress lines, some of another kind among them.
    fn noise(from: usize, count: usize) -> String {
        let kind = |nth: usize| {
            if nth.is_multiple_of(3) {
                "mode"
            } else {
                "progress"
            }
        };
        (from..from + count).map(|n| line(n, kind(n), "")).collect()
    }

    fn account(text: &str) -> Account {
        let (mut account, mut ids) = (Account::default(), Ids::default());
        let mut bytes = text.as_bytes().to_vec();
        let block = LogBlock {
            offset: 0,
            line: 0,
            bytes: &mut bytes,
            shape: Shape::Lines,
        };
        let batch = parse(
            registry::dialect(Agent::new("claude")),
            &mut ParseState::default(),
            block,
        );
        account.admit(batch, &mut ids);
        account
    }

    #[test]
    fn lines_that_begin_no_tail_take_no_rows() {
        let text = prompt(0) + &noise(1, 1_000) + &prompt(1_001) + &noise(1_002, 10);
        let mut account = account(&text);
        assert_eq!(account.open_lines(), 1_012);
        assert!(account.rows.len() <= 4, "{} rows", account.rows.len());
        let settled = account.settle(1_001 * LINE as u64);
        assert_eq!((settled.ids.len(), settled.ledger.total()), (1_001, 1_001));
        assert_eq!(settled.ledger.of(Fate::Kept), 1);
        assert_eq!(account.open_lines(), 11);
        let tail = account.finish();
        assert_eq!((tail.ids.len(), tail.ledger.total()), (11, 11));
        assert_eq!(
            settled.ids[1_000],
            short_id(Uuid::from_u128(0x4000_8000_0000_0000_1000))
        );
    }

    #[test]
    fn rows_cut_at_every_prompt_and_nothing_is_counted_twice() {
        let text: String = (0..20)
            .map(|n| prompt(n * 10) + &noise(n * 10 + 1, 9))
            .collect();
        for cut in 0..=20 {
            let mut account = account(&text);
            let settled = account.settle((cut * 10 * LINE) as u64);
            let tail = account.finish();
            assert_eq!(
                (settled.ledger.total(), settled.ids.len()),
                (cut as u64 * 10, cut * 10)
            );
            assert_eq!(
                (tail.ledger.total(), tail.ids.len()),
                (200 - cut as u64 * 10, 200 - cut * 10)
            );
            assert_eq!(settled.ledger.of(Fate::Kept), cut as u64);
        }
    }

    #[test]
    fn lines_of_one_fate_behind_an_open_tail_are_one_row() {
        let mut account = account(&(prompt(0) + &"{}\n".repeat(5_000)));
        // the last line may be unterminated: it stands alone
        assert_eq!((account.rows.len(), account.drift.len()), (2, 2));
        let ledger = account.finish().ledger;
        assert_eq!(
            (ledger.of(Fate::Unknown), ledger.drift["no type"]),
            (5_000, 5_000)
        );
    }
}
