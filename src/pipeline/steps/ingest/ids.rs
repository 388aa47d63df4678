//! Which records a family has, by short id: what makes a record a copy (architecture § 6, "Records
//! once").

use crate::model::checkpoint::{COPY, short_id};
use crate::model::entry::{Entry, Identity};
use crate::model::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
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
    /// Stored as records of files that are read later.
    ahead: FxHashSet<u64>,
    /// How often each payload without an id of its own was met in this file.
    met: FxHashMap<u64, u32>,
    /// The record that was met last; its other entries come next.
    last: Option<(Span, Identity, RecordOrigin)>,
}

/// What is known of an entry's record.
#[derive(Clone, Copy, Debug)]
pub struct RecordOrigin {
    /// Its id, where it has one.
    pub id: Option<Uuid>,
    /// It was read before, in this file or another.
    pub copied: bool,
    /// It was read before in this file.
    pub(super) again: bool,
    /// This is its first entry.
    pub(super) first: bool,
}

impl Ids {
    /// Ids that count as copies wherever they are met.
    pub fn know(&mut self, ids: impl IntoIterator<Item = u64>) {
        self.others.extend(ids);
    }

    /// Files that are read one after the other own these already: none of them takes another's.
    pub fn expect(&mut self, ids: impl IntoIterator<Item = u64>) {
        self.ahead.extend(ids);
    }

    /// The file that owns these is read now.
    pub fn arrive(&mut self, ids: impl IntoIterator<Item = u64>) {
        for id in ids {
            self.ahead.remove(&id);
        }
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
        self.last = None;
    }

    /// What is known of an entry's record. Entries come in the order of the file.
    pub fn meet(&mut self, entry: &Entry) -> RecordOrigin {
        if let Some((place, identity, record)) = self.last
            && (place, identity) == (entry.place, entry.id)
        {
            return RecordOrigin {
                first: false,
                ..record
            };
        }
        let (id, copied, again) = self.admit(entry.id);
        let record = RecordOrigin {
            id,
            copied,
            again,
            first: true,
        };
        self.last = Some((entry.place, entry.id, record));
        record
    }

    /// The record's id, whether it is a copy, and whether this file has it already.
    fn admit(&mut self, id: Identity) -> (Option<Uuid>, bool, bool) {
        let id = match id {
            Identity::None => return (None, false, false),
            Identity::Own(id) | Identity::Part(id) => id,
            Identity::Nth(base) => self.nth(base),
        };
        let short = short_id(id);
        let elsewhere = [&self.others, &self.earlier, &self.ahead];
        let again = self.is_here(short);
        let copied = again || elsewhere.iter().any(|ids| ids.contains(&short));
        match copied {
            true => self.copies.insert(short),
            false => self.own.insert(short),
        };
        (Some(id), copied, again)
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
