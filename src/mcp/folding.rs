//! Hits that would flood a list: ordinary operations of one repository and day are one entry, and so are the
//! versions of a file. Rollbacks stand by themselves.

use super::git_days::{Done, day_of};
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::store::{FileVersion, GitRow, Hit, Store};
use std::collections::BTreeMap;

/// What an entry of a list tells.
#[derive(Debug)]
pub enum ListEntry<'h> {
    /// A hit by itself.
    Hit(&'h Hit),
    /// Work was given up with it.
    Rollback(&'h Hit, Box<GitRow>),
    /// Operations of one repository and day, in the order of the hits; the first hit stands for them.
    Day(&'h Hit, Vec<Done>),
    /// Versions of one file: the one that is shown, and the others.
    File(&'h Hit, FileVersion, Vec<&'h Hit>),
}

/// What entries are folded by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Day((i64, String)),
    File((i64, Vec<u8>)),
}

/// Entries in the order of their first hits. Of a file's versions the live one is shown, where it was found.
pub fn fold<'h>(store: &Store, hits: &[&'h Hit]) -> Result<Vec<ListEntry<'h>>, Error> {
    let mut entries: Vec<ListEntry<'h>> = Vec::new();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    for &hit in hits {
        let (key, entry) = entry(store, hit)?;
        let place = key.map(|key| *places.entry(key).or_insert(entries.len()));
        match place.and_then(|place| entries.get_mut(place)) {
            Some(known) => known.join(entry),
            None => entries.push(entry),
        }
    }
    Ok(entries)
}

/// A hit as an entry of its own, and what it is folded by; `None`: by nothing.
fn entry<'h>(store: &Store, hit: &'h Hit) -> Result<(Option<Key>, ListEntry<'h>), Error> {
    let alone = (None, ListEntry::Hit(hit));
    match hit.source {
        EpisodeSource::GitMetadata => {
            let Some(row) = store.operation(hit.episode)? else {
                return Ok(alone);
            };
            if row.git.gives_up() {
                return Ok((None, ListEntry::Rollback(hit, Box::new(row))));
            }
            let key = Key::Day(day_of(&row));
            let by = hit.agent;
            Ok((Some(key), ListEntry::Day(hit, vec![Done { row, by }])))
        }
        EpisodeSource::FilesystemWatch | EpisodeSource::GitBulkUpdate => {
            let Some(version) = store.file_version(hit.episode)? else {
                return Ok(alone);
            };
            if version.versions < 2 {
                return Ok(alone);
            }
            let key = Key::File(version.file.clone());
            Ok((Some(key), ListEntry::File(hit, version, Vec::new())))
        }
        _ => Ok(alone),
    }
}

impl<'h> ListEntry<'h> {
    /// The hit that stands for it.
    pub fn hit(&self) -> &'h Hit {
        match self {
            ListEntry::Hit(hit) | ListEntry::Rollback(hit, _) => hit,
            ListEntry::Day(hit, _) | ListEntry::File(hit, ..) => hit,
        }
    }

    fn join(&mut self, other: ListEntry<'h>) {
        match (self, other) {
            (ListEntry::Day(_, done), ListEntry::Day(_, more)) => done.extend(more),
            (ListEntry::File(shown, version, others), ListEntry::File(hit, ..)) => {
                let is_live = version.live == Some(hit.episode);
                others.push(if is_live {
                    std::mem::replace(shown, hit)
                } else {
                    hit
                });
            }
            // a key is of one kind of entries
            _ => {}
        }
    }
}
