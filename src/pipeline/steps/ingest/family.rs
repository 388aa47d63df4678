//! Files that may hold copies of one another's records belong to one family, which one worker
//! reads in an order that says who owns a record (architecture § 6, "Records once").

use super::file::FileWork;
use crate::model::fork::{KIN_MAX, Kin};
use crate::model::time::Time;
use crate::model::tombstone::Tombstones;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use xxhash_rust::xxh3::xxh3_64;

/// Files to read; boxed, since a hundred thousand are moved from list to list.
pub type Works = Vec<Box<FileWork>>;

/// Files to read that may share records, and what the store has of others.
#[derive(Debug, Default)]
pub struct Family {
    /// In reading order: the first that has a record owns it.
    pub works: Works,
    /// Its other files, where it has some.
    pub others: Option<Box<Others>>,
}

/// Files of a family that the store knows and that are not to be read.
#[derive(Debug, Default)]
pub struct Others {
    /// Their keys.
    pub keys: Vec<String>,
    /// Short ids of their records.
    pub ids: Vec<u64>,
}

impl Family {
    /// Of its first file.
    fn key(&self) -> &str {
        self.works.first().map_or("", |work| &work.slice.file.key)
    }
}

/// Groups works by their ties, transitively; families are ordered by their first file's key.
/// `also` are the ties of files that the store knows and that are not to be read: they join
/// families too.
pub fn families(
    works: Works,
    also: &[(String, Vec<String>)],
    tombstones: &Tombstones,
) -> Vec<Family> {
    let mut sets = Sets::of(works.len() + also.len());
    let count = works.len();
    let ties = works.iter().map(|work| work.ties().count()).sum();
    // two names with one hash make a family larger, which costs some time and changes nothing
    let mut names: Vec<(u64, u32)> = Vec::with_capacity(ties);
    let named = |tie: &str, member: usize| (xxh3_64(tie.as_bytes()), member as u32);
    for (member, work) in works.iter().enumerate() {
        names.extend(work.ties().map(|tie| named(&tie, member)));
    }
    for (n, (_, ties)) in also.iter().enumerate() {
        names.extend(ties.iter().map(|tie| named(tie, count + n)));
    }
    names.sort_unstable();
    for alike in names.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        sets.join(alike[0].1 as usize, alike[1].1 as usize);
    }
    drop(names);
    let mut all: Vec<Family> = Vec::with_capacity(count);
    let mut family_of: FxHashMap<usize, usize> = FxHashMap::default();
    for (member, work) in works.into_iter().enumerate() {
        match family_of.entry(sets.root(member)) {
            Entry::Occupied(family) => all[*family.get()].works.push(work),
            Entry::Vacant(family) => {
                family.insert(all.len());
                let works = vec![work];
                all.push(Family {
                    works,
                    others: None,
                });
            }
        }
    }
    for (n, (key, _)) in also.iter().enumerate() {
        if let Some(family) = family_of.get(&sets.root(count + n)) {
            let others = all[*family].others.get_or_insert_default();
            others.keys.push(key.clone());
        }
    }
    drop(family_of);
    for family in &mut all {
        in_reading_order(&mut family.works, tombstones);
    }
    all.sort_by(|a, b| a.key().cmp(b.key()));
    all
}

/// Forgotten sessions first, so that no fork owns what they say; then files that the store knows
/// (what they hold is theirs), main logs before sub-agents' (they share no records), origins before
/// their forks, then by the time of the first record, then by name.
fn in_reading_order(works: &mut Works, tombstones: &Tombstones) {
    if works.len() < 2 {
        return;
    }
    let mut kin: Vec<Option<Kin>> = works.iter().map(|work| new_kin(work)).collect();
    if kin.iter().flatten().count() > KIN_MAX {
        kin.fill(None);
    }
    let origins = |kin: &Option<Kin>, all: &[Option<Kin>]| match kin {
        None => 0,
        Some(kin) => all.iter().flatten().filter(|k| k.is_before(kin)).count(),
    };
    let mut ordered: Vec<(usize, Box<FileWork>)> = std::mem::take(works)
        .into_iter()
        .zip(&kin)
        .map(|(work, own)| (origins(own, &kin), work))
        .collect();
    let forgotten = |work: &FileWork| tombstones.holds(work.session());
    ordered.sort_by(|(n, a), (m, b)| {
        let (a, b) = ((!forgotten(a), place(a, *n)), (!forgotten(b), place(b, *m)));
        a.cmp(&b)
    });
    works.extend(ordered.into_iter().map(|(_, work)| work));
}

/// Of main logs that the store doesn't know.
fn new_kin(work: &FileWork) -> Option<Kin> {
    (work.before.is_none() && work.stream.is_none()).then(|| work.kin())
}

/// Where it comes among those that stay, with so many origins before it.
fn place(work: &FileWork, origins: usize) -> (bool, bool, usize, Option<Time>, &str) {
    (
        work.before.is_none(),
        work.stream.is_some(),
        origins,
        work.begun,
        &work.slice.file.key,
    )
}

/// Disjoint sets.
struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    /// So many members, each alone.
    fn of(members: usize) -> Sets {
        Sets {
            parent: (0..members).collect(),
        }
    }

    fn root(&mut self, mut member: usize) -> usize {
        while self.parent[member] != member {
            self.parent[member] = self.parent[self.parent[member]];
            member = self.parent[member];
        }
        member
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }
}
