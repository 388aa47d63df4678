//! Decides what has to be read: compares what `stat` says now with what the store remembers.
//!
//! Knows names, sizes and times; reads nothing. Whether grown or touched files still begin with
//! what was read is checked when they are opened.

use crate::model::checkpoint::LastSeen;
use crate::model::source::{Agent, Slice, SourceChange, SourceFile, Stat};
use crate::model::time::Time;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the store remembers, by [`SourceFile::key`].
#[derive(Debug, Default)]
pub struct KnownLog(Vec<LastSeen>);

impl KnownLog {
    /// Of these, in any order.
    pub fn new(mut known: Vec<LastSeen>) -> KnownLog {
        known.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        KnownLog(known)
    }

    /// What is remembered of the file with this key.
    pub fn get(&self, key: &str) -> Option<&LastSeen> {
        let at = self.0.binary_search_by(|last| (*last.key).cmp(key));
        at.ok().map(|at| &self.0[at])
    }
}

/// Which files a run looks at.
#[derive(Clone, Debug, Default)]
pub struct DiscoverOptions {
    /// Files that the store doesn't know are read only when they, or one of their session, changed
    /// at or after this time. `None`: all.
    pub since: Option<Time>,
    /// Read everything again, whatever the stats say (`run --rebuild`).
    pub again: bool,
    /// Logs, and folders of logs, that an earlier run could not read, by path: they are looked at
    /// however old they are.
    pub due: BTreeSet<String>,
}

impl DiscoverOptions {
    /// An earlier run could not read this log.
    pub fn is_due(&self, key: &str) -> bool {
        let below = |folder: &String| Path::new(key).starts_with(folder);
        self.due.contains(key) || self.due.iter().any(below)
    }
}

/// What a run would do.
#[derive(Debug, Default)]
pub struct Discovered {
    /// What has to be read, ordered by key.
    pub slices: Vec<Slice>,
    /// Files that are as they were.
    pub unchanged: u64,
    /// Files outside the window that the store doesn't know.
    pub outside: Vec<SourceFile>,
    /// Keys of checkpoints whose file is gone; their episodes stay.
    pub vanished: Vec<String>,
}

impl Discovered {
    /// Files outside the window, and their bytes on disk.
    pub fn outside_sizes(&self) -> (u64, u64) {
        let bytes = self.outside.iter().map(|file| file.stat.size).sum();
        (self.outside.len() as u64, bytes)
    }
}

/// What logs of one session have in common, as far as their names tell.
pub type FamilyName = dyn Fn(&SourceFile) -> &str;

/// Slices of every file with news. `files` are ordered by key. Costs a look-up per file.
pub fn discover(
    files: &[SourceFile],
    known: &KnownLog,
    options: &DiscoverOptions,
    family: &FamilyName,
) -> Discovered {
    let mut found = Discovered::default();
    let (last_seen, gone) = beside(files, known);
    let recent = LazyCell::new(|| recent_families(files, options.since, family));
    let moves = moves(files, known, &gone);
    for (file, last) in files.iter().zip(last_seen) {
        let slice = |seen, from, line, was| Slice {
            file: file.clone(),
            from,
            line,
            seen,
            was,
        };
        // whatever the window: a log that was begun is read on
        if let Some(last) = last {
            let seen = match options.again {
                true => Some(SourceChange::Again),
                false => compare(file, last),
            };
            match seen {
                None => found.unchanged += 1,
                Some(seen @ (SourceChange::Replaced | SourceChange::Again)) => {
                    found.slices.push(slice(seen, 0, 0, None));
                }
                Some(seen) => {
                    found.slices.push(slice(seen, last.offset, last.line, None));
                }
            }
        } else if let Some(old) = moves.get(&*file.key) {
            let was = Some(old.key.as_str().into());
            let slice = slice(SourceChange::Grown, old.offset, old.line, was);
            found.slices.push(slice);
        } else if recent.as_ref().is_none_or(|r| r.contains(family(file)))
            || options.is_due(&file.key)
        {
            found.slices.push(slice(SourceChange::New, 0, 0, None));
        } else {
            found.outside.push(file.clone());
        }
    }
    let moved: BTreeSet<&str> = moves.values().map(|old| old.key.as_str()).collect();
    let lost = gone.iter().filter(|old| !moved.contains(old.key.as_str()));
    found.vanished = lost.map(|old| old.key.clone()).collect();
    found
}

/// For each file what is remembered of it, and what is remembered of files that are gone. Both are in order, so one
/// pass over both finds it.
fn beside<'k>(
    files: &[SourceFile],
    known: &'k KnownLog,
) -> (Vec<Option<&'k LastSeen>>, Vec<&'k LastSeen>) {
    let (mut last_seen, mut gone) = (Vec::with_capacity(files.len()), Vec::new());
    let mut left = known.0.iter().peekable();
    for file in files {
        while let Some(before) = left.next_if(|last| *last.key < *file.key) {
            gone.push(before);
        }
        last_seen.push(left.next_if(|last| *last.key == *file.key));
    }
    gone.extend(left);
    (last_seen, gone)
}

/// `None`: unchanged (architecture § 6, "Unchanged").
fn compare(file: &SourceFile, last: &LastSeen) -> Option<SourceChange> {
    let (now, then) = (file.stat, last.stat);
    if now == then {
        return None;
    }
    // sizes on disk say nothing about a compressed content's length
    Some(
        if file.is_packed() || last.compressed || now.size == then.size {
            SourceChange::Touched
        } else if now.size < last.read_to {
            SourceChange::Replaced
        } else {
            SourceChange::Grown
        },
    )
}

/// Which of the files that are gone each new file may be, by the new file's key: the one with its
/// name and inode, else its name, else its inode. Each is moved once. The fingerprints decide when
/// it is opened.
fn moves<'a>(
    files: &'a [SourceFile],
    known: &KnownLog,
    gone: &[&'a LastSeen],
) -> BTreeMap<&'a str, &'a LastSeen> {
    let mut moves: BTreeMap<&str, &LastSeen> = BTreeMap::new();
    if gone.is_empty() {
        return moves;
    }
    let mut moved = BTreeSet::new();
    for (by_name, by_inode) in [(true, true), (true, false), (false, true)] {
        let mark = |key: &'a str, agent: Agent, stat: Stat| {
            let name = by_name.then(|| key.rsplit('/').next());
            let inode = by_inode.then_some((stat.device, stat.inode));
            (agent, name, inode)
        };
        let left = gone.iter().filter(|old| !moved.contains(&old.key));
        // an inode of which nothing was read says nothing
        let left = left.filter(|old| by_name || old.read_to > 0);
        let mut left: BTreeMap<_, _> = left
            .map(|old| (mark(&old.key, old.agent, old.stat), *old))
            .collect();
        for file in files.iter().filter(|f| known.get(&f.key).is_none()) {
            if !moves.contains_key(&*file.key)
                && let Some(old) = left.remove(&mark(&file.key, file.agent, file.stat))
            {
                moved.insert(&old.key);
                moves.insert(&file.key, old);
            }
        }
    }
    moves
}

/// Families with a member that changed in the window; `None`: no window.
fn recent_families<'f>(
    files: &'f [SourceFile],
    since: Option<Time>,
    family: &FamilyName,
) -> Option<BTreeSet<&'f str>> {
    let since_ns = since?.0.saturating_mul(1_000_000);
    let recent = files.iter().filter(|f| f.stat.mtime_ns >= since_ns);
    Some(recent.map(family).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::registry;

    fn file(key: &str, size: u64, mtime: i64) -> SourceFile {
        let stat = Stat {
            size,
            mtime_ns: mtime,
            ctime_ns: mtime,
            device: 1,
            inode: size,
        };
        SourceFile {
            key: key.into(),
            odd_place: None,
            agent: Agent::new("claude"),
            stat,
            compressed: false,
        }
    }

    fn known(file: &SourceFile) -> KnownLog {
        let last = LastSeen {
            key: file.key.to_string(),
            agent: file.agent,
            stat: file.stat,
            compressed: false,
            offset: 10,
            line: 1,
            read_to: file.stat.size,
        };
        KnownLog::new(vec![last])
    }

    fn seen(now: &SourceFile, then: &SourceFile) -> Vec<(SourceChange, u64)> {
        let found = discover(
            std::slice::from_ref(now),
            &known(then),
            &DiscoverOptions::default(),
            &registry::family,
        );
        found.slices.iter().map(|s| (s.seen, s.from)).collect()
    }

    #[test]
    fn a_file_is_read_for_what_its_stat_says() {
        let then = file("/p/a.jsonl", 100, 5);
        assert_eq!(seen(&then, &then), []);
        assert_eq!(
            seen(&file("/p/a.jsonl", 150, 6), &then),
            [(SourceChange::Grown, 10)]
        );
        assert_eq!(
            seen(&file("/p/a.jsonl", 100, 6), &then),
            [(SourceChange::Touched, 10)]
        );
        assert_eq!(
            seen(&file("/p/a.jsonl", 50, 6), &then),
            [(SourceChange::Replaced, 0)]
        );
        let mut ctime_only = then.clone();
        ctime_only.stat.ctime_ns = 9;
        assert_eq!(seen(&ctime_only, &then), [(SourceChange::Touched, 10)]);
    }

    #[test]
    fn a_moved_file_is_recognised_and_a_vanished_one_is_named() {
        let then = file("/p/a.jsonl", 100, 5);
        let found = discover(
            &[file("/q/a.jsonl", 100, 5)],
            &known(&then),
            &DiscoverOptions::default(),
            &registry::family,
        );
        assert_eq!(found.slices[0].was.as_deref(), Some("/p/a.jsonl"));
        assert!(found.vanished.is_empty());
        let found = discover(
            &[],
            &known(&then),
            &DiscoverOptions::default(),
            &registry::family,
        );
        assert_eq!(found.vanished, ["/p/a.jsonl"]);
    }

    #[test]
    fn the_window_takes_sessions_whole_and_never_drops_a_known_file() {
        let day = 86_400_000_000_000;
        let files = [
            file("/p/new.jsonl", 1, 9 * day),
            file("/p/old.jsonl", 2, day),
            file("/p/s.jsonl", 3, day),
            file("/p/s/subagents/agent-1.jsonl", 4, 9 * day),
        ];
        let options = DiscoverOptions {
            since: Some(Time(8 * 86_400_000)),
            again: false,
            due: BTreeSet::new(),
        };
        let found = discover(&files, &KnownLog::default(), &options, &registry::family);
        let keys: Vec<&str> = found.slices.iter().map(|s| &*s.file.key).collect();
        assert_eq!(
            keys,
            ["/p/new.jsonl", "/p/s.jsonl", "/p/s/subagents/agent-1.jsonl"]
        );
        assert_eq!(found.outside_sizes(), (1, 2));
        let then = file("/p/old.jsonl", 1, 0);
        assert_eq!(
            discover(&files[1..2], &known(&then), &options, &registry::family)
                .slices
                .len(),
            1
        );
    }
}
