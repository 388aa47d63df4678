//! Files that may hold copies of one another's records belong to one family, which one worker
//! reads in an order that says who owns a record (architecture § 6, "Records once").

use super::file::FileWork;
use crate::model::fork::{KIN_MAX, Kin};
use crate::model::time::Time;
use rustc_hash::FxHashMap;

/// Files to read, in order, and short ids of records that files of the family hold which are not
/// to be read.
#[derive(Debug, Default)]
pub struct Family {
    /// In reading order: the first that has a record owns it.
    pub works: Vec<FileWork>,
    /// Committed ids of the other files of the family that the store knows.
    pub known: Vec<u64>,
}

/// Groups works by their ties, transitively; families are ordered by their first file's key.
/// `also` are the ties of files that the store knows and that are not to be read: they join
/// families too.
pub fn families(
    works: Vec<FileWork>,
    also: &[(String, Vec<String>)],
) -> Vec<(Family, Vec<String>)> {
    let mut sets = Sets::default();
    let mut names: FxHashMap<String, usize> = FxHashMap::default();
    let ties = works
        .iter()
        .map(|w| &w.ties)
        .chain(also.iter().map(|(_, ties)| ties));
    for (member, ties) in ties.enumerate() {
        sets.add(member);
        for tie in ties {
            match names.get(tie) {
                Some(other) => sets.join(member, *other),
                None => {
                    names.insert(tie.clone(), member);
                }
            }
        }
    }
    let mut families: FxHashMap<usize, (Family, Vec<String>)> = FxHashMap::default();
    let count = works.len();
    for (member, work) in works.into_iter().enumerate() {
        families
            .entry(sets.root(member))
            .or_default()
            .0
            .works
            .push(work);
    }
    for (n, (key, _)) in also.iter().enumerate() {
        if let Some(family) = families.get_mut(&sets.root(count + n)) {
            family.1.push(key.clone());
        }
    }
    let mut all: Vec<_> = families.into_values().collect();
    for (family, _) in &mut all {
        in_reading_order(&mut family.works);
    }
    // the map above has no order, and the output must not depend on it
    all.sort_by(|a, b| {
        a.0.works[0]
            .slice
            .file
            .key
            .cmp(&b.0.works[0].slice.file.key)
    });
    all
}

/// Forgotten sessions first, so that no fork owns what they say; then files that the store knows
/// (what they hold is theirs), main logs before sub-agents' (they share no records), origins before
/// their forks, then by the time of the first record, then by name.
fn in_reading_order(works: &mut Vec<FileWork>) {
    let mut kin: Vec<Option<Kin>> = works.iter().map(new_kin).collect();
    if kin.iter().flatten().count() > KIN_MAX {
        kin.fill(None);
    }
    let origins = |kin: &Option<Kin>, all: &[Option<Kin>]| match kin {
        None => 0,
        Some(kin) => all.iter().flatten().filter(|k| k.is_before(kin)).count(),
    };
    let mut ordered: Vec<(usize, FileWork)> = std::mem::take(works)
        .into_iter()
        .zip(&kin)
        .map(|(work, own)| (origins(own, &kin), work))
        .collect();
    ordered.sort_by(|a, b| reading_order(a).cmp(&reading_order(b)));
    works.extend(ordered.into_iter().map(|(_, work)| work));
}

/// Of main logs that the store doesn't know.
fn new_kin(work: &FileWork) -> Option<Kin> {
    (work.before.is_none() && work.stream.is_none()).then(|| work.kin())
}

fn reading_order(
    (origins, work): &(usize, FileWork),
) -> (bool, bool, bool, usize, Option<Time>, &str) {
    let stays = !work.tombstones.holds(&work.session);
    (
        stays,
        work.before.is_none(),
        work.stream.is_some(),
        *origins,
        work.course.begun,
        &work.slice.file.key,
    )
}

/// Disjoint sets.
#[derive(Default)]
struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    fn add(&mut self, member: usize) {
        debug_assert_eq!(member, self.parent.len());
        self.parent.push(member);
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
