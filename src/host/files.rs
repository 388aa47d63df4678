//! Finds log files below the configured roots and says what `stat` says of them.
//!
//! Knows names and metadata; opens nothing.

use crate::model::source::{Agent, OddPlace, Root, SourceFile, Stat};
use globset::{Glob, GlobSet, GlobSetBuilder};
use rustix::fs::{AtFlags, Mode, OFlags, statat};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};
use xxhash_rust::xxh3::xxh3_64;

/// What a walk found.
#[derive(Debug, Default)]
pub struct FoundFile {
    /// Sorted by key; each logical file once (plain wins over `.zst`).
    pub files: Vec<SourceFile>,
    /// What could not be listed or read: (path, reason). Never fatal.
    pub problems: Vec<(PathBuf, String)>,
    /// Roots that don't exist.
    pub missing: Vec<PathBuf>,
    /// Symbolic links below the roots that were not followed: named like logs, inside of a folder that a
    /// link leads to, or to a folder around a root.
    pub links: u64,
}

/// Directories below a source are not followed deeper than this; only a hostile tree gets here.
const DEPTH_MAX: usize = 32;
/// Directories below one that a link leads to. More: a link to somebody's home has it all listed; fewer: logs
/// of sub-agents in a project's folder are not found.
const DEPTH_FOLLOWED_MAX: usize = 5;

/// Whether an agent's logs have such a name, which is without `.jsonl` and `.zst`.
pub type IsLog = dyn Fn(Agent, &[u8]) -> bool + Sync;

/// Lists the logs of all roots. Costs one `stat` per file. A link to a folder is followed, once, where the
/// folder isn't below a root anyway; links inside of it are not.
pub fn walk(roots: &[Root], is_log: &IsLog) -> FoundFile {
    let mut listing = Listing::default();
    let mut bases = Vec::new();
    for root in roots {
        if root.path.symlink_metadata().is_err() {
            listing.found.missing.push(root.path.clone());
            continue;
        }
        // two roots may lead to one folder by different links: its logs are found once
        let base = root.path.canonicalize();
        bases.push((root, base.unwrap_or_else(|_| root.path.clone())));
    }
    let mut linked = Vec::new();
    for (root, base) in &bases {
        let filter = RootFilter::of(root, is_log);
        for link in listing.list(base, Path::new(""), &filter, DEPTH_MAX) {
            linked.push((*root, base, link));
        }
    }
    let mut followed: Vec<PathBuf> = Vec::new();
    for (root, base, link) in linked {
        let Ok(real) = link.canonicalize() else {
            listing.found.links += 1;
            continue;
        };
        let is_walked = |(_, base): &(&Root, PathBuf)| real.starts_with(base);
        if bases.iter().any(is_walked) || followed.contains(&real) {
            continue;
        }
        // what is around a root is no folder of logs
        if bases.iter().any(|(_, base)| base.starts_with(&real)) {
            listing.found.links += 1;
            continue;
        }
        let below = link.strip_prefix(base).unwrap_or(&link).to_owned();
        let filter = RootFilter::of(root, is_log);
        let inside = listing.list(&real, &below, &filter, DEPTH_FOLLOWED_MAX);
        listing.found.links += inside.len() as u64;
        followed.push(real);
    }
    listing.described()
}

/// Which entries of a root are its logs.
struct RootFilter<'r> {
    agent: Agent,
    include: GlobSet,
    exclude: GlobSet,
    is_log: &'r IsLog,
}

impl<'r> RootFilter<'r> {
    fn of(root: &Root, is_log: &'r IsLog) -> RootFilter<'r> {
        RootFilter {
            agent: root.agent,
            include: globs(&root.include),
            exclude: globs(&root.exclude),
            is_log,
        }
    }

    fn wants_all(&self) -> bool {
        self.exclude.is_empty() && self.include.is_empty()
    }

    fn wants(&self, below: &Path) -> bool {
        !self.exclude.is_match(below) && (self.include.is_empty() || self.include.is_match(below))
    }

    /// A link to a folder is wanted as long as something in it may be.
    fn wants_folder(&self, below: &Path) -> bool {
        !self.exclude.is_match(below)
    }
}

/// Whether a root wants what is so called below it.
pub fn wanted(root: &Root) -> impl Fn(&Path) -> bool {
    let filter = RootFilter::of(root, &|_, _| true);
    move |below| filter.wants(below)
}

/// What was listed so far.
#[derive(Default)]
struct Listing {
    found: FoundFile,
    logs: Vec<(DirEntry, Agent)>,
}

impl Listing {
    /// Lists a folder that is called `name` below its root. Gives links to folders; links that are named like
    /// logs are counted.
    fn list(
        &mut self,
        base: &Path,
        name: &Path,
        filter: &RootFilter<'_>,
        depth: usize,
    ) -> Vec<PathBuf> {
        let mut links = Vec::new();
        for entry in WalkDir::new(base).max_depth(depth) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(e) => {
                    let path = e.path().unwrap_or(base).to_path_buf();
                    let reason = e
                        .io_error()
                        .map_or_else(|| "can't be listed".into(), ToString::to_string);
                    self.found.problems.push((path, reason));
                    continue;
                }
            };
            let kind = entry.file_type();
            let named = looks_like_a_log(entry.path(), filter.agent, filter.is_log);
            let below = || name.join(entry.path().strip_prefix(base).unwrap_or(entry.path()));
            let is_folder = kind.is_symlink() && entry.path().is_dir();
            // mostly nothing is left out, and names below roots need not be made
            let all = filter.wants_all();
            if is_folder && (all || filter.wants_folder(&below())) {
                links.push(entry.into_path());
            } else if named && !is_folder && (all || filter.wants(&below())) {
                match kind.is_symlink() {
                    // counted only here: a link to what isn't wanted is nobody's concern
                    true => self.found.links += 1,
                    false if kind.is_file() => self.logs.push((entry, filter.agent)),
                    false => {}
                }
                if self.logs.len() >= STATS_TOGETHER {
                    self.describe();
                }
            }
        }
        links
    }

    /// Of the entries that were listed, what files they are.
    fn describe(&mut self) {
        let logs = std::mem::take(&mut self.logs);
        let stats = stats(&logs);
        // a list of a hundred thousand that doubles needs three times its last size while it is copied
        let files = &mut self.found.files;
        if files.capacity() - files.len() < logs.len() {
            files.reserve_exact(logs.len().max(files.len() / 4));
        }
        for ((entry, agent), stat) in logs.into_iter().zip(stats) {
            match stat {
                Ok(stat) => self.found.files.push(describe(entry.path(), agent, stat)),
                Err(e) => {
                    let path = entry.into_path();
                    self.found.problems.push((path, e.to_string()));
                }
            }
        }
    }

    fn described(mut self) -> FoundFile {
        self.describe();
        let files = &mut self.found.files;
        // plain before compressed: during Codex's (de)compression both exist for a moment
        files.sort_by(|a, b| (&a.key, a.compressed).cmp(&(&b.key, b.compressed)));
        files.dedup_by(|next, kept| next.key == kept.key);
        self.found
    }
}

/// Entries whose `stat` is asked for together. More: memory; fewer: threads that begin.
const STATS_TOGETHER: usize = 8_192;

/// Fewer are not worth a thread.
const STATS_ALONE: usize = 256;

/// What `stat` says of each, in order: half of a run without news is spent waiting for it.
fn stats(logs: &[(DirEntry, Agent)]) -> Vec<walkdir::Result<Stat>> {
    let all = |logs: &[(DirEntry, Agent)]| -> Vec<_> {
        let mut folders = Folders::default();
        logs.iter()
            .map(|(entry, _)| folders.stat_of(entry))
            .collect()
    };
    if logs.len() <= STATS_ALONE {
        return all(logs);
    }
    let (one, other) = logs.split_at(logs.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| all(other));
        let mut stats = all(one);
        stats.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        stats
    })
}

/// The folder that the last entries were in, held open: by its name alone an entry is found in a third of the time
/// that its whole path takes.
#[derive(Default)]
struct Folders {
    /// Entries of it so far.
    met: usize,
    path: PathBuf,
    open: Option<OwnedFd>,
}

impl Folders {
    /// Fewer entries are not worth opening their folder.
    const ENTRIES_MIN: usize = 3;

    fn stat_of(&mut self, entry: &DirEntry) -> walkdir::Result<Stat> {
        let (folder, name) = folder_and_name(entry.path());
        if self.met == 0 || self.path != folder {
            (self.met, self.path, self.open) = (0, folder.to_owned(), None);
        }
        self.met += 1;
        if self.met == Folders::ENTRIES_MIN {
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            self.open = rustix::fs::open(folder, flags, Mode::empty()).ok();
        }
        let stat = self.open.as_ref().and_then(|folder| {
            let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            stat_of_raw(&stat)
        });
        // what can't be told so says why by its path
        stat.map_or_else(|| Ok(stat_of(&entry.metadata()?)), Ok)
    }
}

/// A path's folder and its name there. Paths of a walk are joined by single slashes, so nothing has to be taken apart.
fn folder_and_name(path: &Path) -> (&Path, &OsStr) {
    let bytes = path.as_os_str().as_bytes();
    match memchr::memrchr(b'/', bytes) {
        Some(at) if at > 0 && at + 1 < bytes.len() => {
            let (folder, name) = (&bytes[..at], &bytes[at + 1..]);
            (
                Path::new(OsStr::from_bytes(folder)),
                OsStr::from_bytes(name),
            )
        }
        _ => {
            let name = path.file_name().unwrap_or(path.as_os_str());
            (path.parent().unwrap_or(path), name)
        }
    }
}

/// `None` where the system counts in other numbers. Their types differ by system.
fn stat_of_raw(stat: &rustix::fs::Stat) -> Option<Stat> {
    let signed = |number: i128| i64::try_from(number).ok();
    let unsigned = |number: i128| u64::try_from(number).ok();
    let (modified, rest) = (i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec));
    let (changed, rest_changed) = (i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec));
    Some(Stat {
        size: unsigned(i128::from(stat.st_size))?,
        mtime_ns: nanoseconds(signed(modified)?, signed(rest)?),
        ctime_ns: nanoseconds(signed(changed)?, signed(rest_changed)?),
        device: unsigned(i128::from(stat.st_dev))?,
        inode: unsigned(i128::from(stat.st_ino))?,
    })
}

/// One file as the walk would describe it.
///
/// # Errors
/// When it can't be `stat`ed.
pub fn source_file(path: &Path, agent: Agent) -> std::io::Result<SourceFile> {
    Ok(describe(path, agent, stat_of(&path.metadata()?)))
}

/// The files that this user can't open, and why. Opens each of them.
pub fn unreadable(files: &[SourceFile]) -> Vec<(PathBuf, String)> {
    // a database was opened when its logs were listed
    let files = files.iter().filter(|file| file.inside().is_none());
    let refused = |file: &SourceFile| {
        let error = std::fs::File::open(file.path()).err()?;
        // What vanished since the walk is no trouble.
        let there = error.kind() != std::io::ErrorKind::NotFound;
        there.then(|| (file.path().into_owned(), error.kind().to_string()))
    };
    files.filter_map(refused).collect()
}

fn describe(path: &Path, agent: Agent, stat: Stat) -> SourceFile {
    let known = path.to_str();
    let is_odd = known.is_none();
    let mut text = known.map_or_else(|| path.to_string_lossy().into_owned(), str::to_owned);
    if is_odd {
        // two names that aren't UTF-8 may read the same; their bytes tell them apart
        let hash = xxh3_64(path.as_os_str().as_encoded_bytes());
        text.insert_str(
            text.rfind('/').map_or(0, |at| at + 1),
            &format!("{hash:016x}-"),
        );
    }
    let compressed = text.ends_with(".zst");
    SourceFile {
        key: text.strip_suffix(".zst").unwrap_or(&text).into(),
        odd_place: is_odd.then(|| {
            let path = path.to_owned();
            Box::new(OddPlace { path, inside: None })
        }),
        agent,
        stat,
        compressed,
    }
}

/// As the store compares it.
pub fn stat_of(meta: &Metadata) -> Stat {
    Stat {
        size: meta.size(),
        mtime_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
        ctime_ns: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        device: meta.dev(),
        inode: meta.ino(),
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// `<stem>.jsonl`, plain or compressed, with a stem as the agent's logs have.
fn looks_like_a_log(path: &Path, agent: Agent, is_log: &IsLog) -> bool {
    let name = folder_and_name(path).1.as_bytes();
    let plain = name.strip_suffix(b".zst").unwrap_or(name);
    let stem = plain.strip_suffix(b".jsonl");
    stem.is_some_and(|stem| is_log(agent, stem))
}

/// Globs that don't compile were refused by the configuration; here they match nothing.
fn globs(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|p| Glob::new(p).ok()) {
        set.add(glob);
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::registry;

    fn touch(dir: &Path, name: &str) {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}\n").unwrap();
    }

    fn names(agent: Agent, dir: &Path, exclude: &[&str]) -> Vec<String> {
        let exclude = exclude.iter().map(ToString::to_string).collect();
        let root = Root {
            path: dir.to_path_buf(),
            agent,
            include: vec![],
            exclude,
            named: false,
        };
        let base = dir.canonicalize().unwrap();
        let found = walk(&[root], &registry::is_log);
        let below = |f: &SourceFile| {
            f.path()
                .strip_prefix(&base)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        };
        found.files.iter().map(below).collect()
    }

    #[test]
    fn each_agents_logs_are_told_from_what_lies_beside_them() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "p/a.jsonl",
            "p/a/subagents/agent-1.jsonl",
            "p/journal.jsonl",
            "p/notes.md",
        ] {
            touch(dir.path(), name);
        }
        std::fs::create_dir(dir.path().join("p/dir.jsonl")).unwrap();
        let link = |to: &str, at: &str| {
            std::os::unix::fs::symlink(dir.path().join(to), dir.path().join(at)).unwrap();
        };
        link("", "p/loop.jsonl");
        link("p/a", "p/elsewhere");
        link("p/a.jsonl", "p/subagents.jsonl");
        link("p/notes.md", "p/latest.md");
        assert_eq!(
            names(Agent::new("claude"), dir.path(), &[]),
            ["p/a.jsonl", "p/a/subagents/agent-1.jsonl"]
        );
        assert_eq!(
            names(Agent::new("claude"), dir.path(), &["**/subagents/**"]),
            ["p/a.jsonl"]
        );
        let root = Root {
            path: dir.path().to_path_buf(),
            agent: Agent::new("claude"),
            include: vec![],
            exclude: vec!["p/loop*".into()],
            named: false,
        };
        assert_eq!(
            walk(&[root], &registry::is_log).links,
            1,
            "counted where a log may be behind it"
        );
    }

    #[test]
    fn folders_behind_links_are_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in [
            "logs/p/a.jsonl",
            "far/q/b.jsonl",
            "far/q/b/subagents/agent-1.jsonl",
            "far/r/c.jsonl",
        ] {
            touch(&base, name);
        }
        let link = |to: &str, at: &str| {
            std::os::unix::fs::symlink(base.join(to), base.join(at)).unwrap();
        };
        link("far/q", "logs/q");
        link("far/q", "logs/again");
        link("logs/p", "logs/same");
        link("far/r", "far/q/deeper");
        link("", "logs/around");
        link("nowhere", "logs/gone");
        let root = |exclude: &[&str]| Root {
            path: base.join("logs"),
            agent: Agent::new("claude"),
            include: vec![],
            exclude: exclude.iter().map(ToString::to_string).collect(),
            named: false,
        };
        let found = walk(&[root(&[])], &registry::is_log);
        let keys = |found: &FoundFile| -> Vec<String> {
            let below = |file: &SourceFile| file.path().strip_prefix(&base).unwrap().to_owned();
            let all = found.files.iter().map(below);
            all.map(|path| path.to_string_lossy().into_owned())
                .collect()
        };
        let wants = [
            "far/q/b.jsonl",
            "far/q/b/subagents/agent-1.jsonl",
            "logs/p/a.jsonl",
        ];
        assert_eq!(keys(&found), wants);
        assert_eq!(found.links, 2, "one around the root, one inside of a link");
        let some = walk(&[root(&["q", "again/**"])], &registry::is_log);
        assert_eq!(keys(&some), ["logs/p/a.jsonl"]);
    }

    #[test]
    fn a_plain_file_hides_its_compressed_copy() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "rollout-a.jsonl",
            "rollout-a.jsonl.zst",
            "rollout-b.jsonl.zst",
            "history.jsonl",
        ] {
            touch(dir.path(), name);
        }
        assert_eq!(
            names(Agent::new("codex"), dir.path(), &[]),
            ["rollout-a.jsonl", "rollout-b.jsonl.zst"]
        );
    }

    #[test]
    fn names_that_are_not_utf8_are_told_apart() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().unwrap();
        for name in [&b"a\xff.jsonl"[..], b"a\xfe.jsonl"] {
            std::fs::write(dir.path().join(std::ffi::OsStr::from_bytes(name)), "{}").unwrap();
        }
        let root = Root {
            path: dir.path().into(),
            agent: Agent::new("claude"),
            include: vec![],
            exclude: vec![],
            named: false,
        };
        assert_eq!(walk(&[root], &registry::is_log).files.len(), 2);
    }

    #[test]
    fn a_root_that_is_not_there_is_named() {
        let root = Root {
            path: "/nonexistent".into(),
            agent: Agent::new("codex"),
            include: vec![],
            exclude: vec![],
            named: false,
        };
        assert_eq!(
            walk(&[root], &registry::is_log).missing,
            [PathBuf::from("/nonexistent")]
        );
    }
}
