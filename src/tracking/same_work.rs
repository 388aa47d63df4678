//! Whether the work of a commit is somewhere else too: the same change on another base, the same contents of
//! the files that it touched, a commit that was written anew by the same hand in the same second, most of
//! its lines, or the disk, where it was not committed again yet.

use crate::host::content::read_small;
use crate::host::patch::{CommitPatch, PatchFile, PatchIds, telling_lines};
use crate::host::repository::Repository;
use crate::model::git::{CommitLine, GitOperation, OperationKind};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use uuid::Uuid;

/// What a file may be, after a commit or one of those that came on top of it.
type Versions = BTreeMap<String, BTreeSet<Option<String>>>;

/// Commits whose work is looked for.
pub(super) struct Work {
    /// The commits that they were made on.
    pub(super) base: Vec<String>,
    commits: Vec<LostCommit>,
    /// All of them as one change, where they have one base.
    whole: Option<WholeChange>,
}

struct WholeChange {
    files: Vec<PatchFile>,
    ids: Option<PatchIds>,
}

struct LostCommit {
    hash: String,
    patch: Rc<CommitPatch>,
    versions: Versions,
    /// The lines that each file gained; empty: too many files.
    gained: OnceCell<Vec<Gained>>,
}

/// A file with the lines that it gained; `None`: it has no lines.
type Gained = (PatchFile, Option<BTreeSet<String>>);

impl Work {
    /// How many commits' work is looked for.
    pub(super) fn count(&self) -> usize {
        self.commits.len()
    }
}

/// What was found of it.
#[derive(Default)]
pub(super) struct FoundWork {
    /// Commits whose work is there, each with the commit that has it; `None`: it is on the disk, or nothing is
    /// left to be found of it.
    pub(super) commits: BTreeMap<String, Option<String>>,
    /// Files on the disk that alone have some of it.
    pub(super) watched: BTreeSet<String>,
}

/// A shorter file many commits have.
const BLOB_BYTES_MIN: u64 = 64;
/// Of fewer lines all have to be there.
const LINES_MIN: usize = 4;
/// So many of ten lines are the same work.
const SHARE: usize = 9;
/// So many are where work that was only taken out of its commit was gone on with.
const SHARE_GONE_ON_WITH: usize = 5;
/// Commits right after lost work in which its lines are looked for in other files.
const MOVED_MAX: usize = 200;
/// Of a commit with more files the lines are not compared.
const FILES_MAX: usize = 200;
/// Larger files on the disk are not read.
const DISK_BYTES_MAX: u64 = 1 << 20;

fn is_most(brought: usize, there: usize, share: usize) -> bool {
    match brought {
        0 => false,
        few if few < LINES_MIN => there == few,
        many => there * 10 >= many * share,
    }
}

/// Looks for work in a repository; what it read it keeps.
pub(super) struct SameWork<'r> {
    repository: &'r Repository,
    /// The roots of its work trees.
    roots: Vec<PathBuf>,
    /// What is not to be read of them.
    excludes: &'r dyn Fn(&Path) -> bool,
    /// Commits that take something back, by what the operations say.
    reverting: HashSet<String>,
    patches: RefCell<HashMap<String, Option<Rc<CommitPatch>>>>,
    ids: RefCell<HashMap<String, Option<PatchIds>>>,
    touched: RefCell<HashMap<String, Rc<BTreeSet<String>>>>,
}

impl<'r> SameWork<'r> {
    pub(super) fn new(
        repository: &'r Repository,
        roots: Vec<PathBuf>,
        excludes: &'r dyn Fn(&Path) -> bool,
    ) -> SameWork<'r> {
        SameWork {
            repository,
            roots,
            excludes,
            reverting: HashSet::new(),
            patches: RefCell::default(),
            ids: RefCell::default(),
            touched: RefCell::default(),
        }
    }

    /// Learns which commits take others back.
    pub(super) fn learn<'g>(&mut self, operations: impl Iterator<Item = &'g GitOperation>) {
        for git in operations {
            let by = git.effect.reverts.iter().map(|revert| revert.by.clone());
            self.reverting.extend(by);
        }
    }

    /// A commit is there to take another one back.
    pub(super) fn takes_back(&self, commit: &str) -> bool {
        self.reverting.contains(commit) || self.repository.undone(commit).is_some()
    }

    /// What a commit changes; `None`: it is gone.
    pub(super) fn patch(&self, commit: &str) -> Option<Rc<CommitPatch>> {
        if let Some(known) = self.patches.borrow().get(commit) {
            return known.clone();
        }
        let patch = self.repository.patch(commit).ok().map(Rc::new);
        let mut patches = self.patches.borrow_mut();
        patches.insert(commit.to_owned(), patch.clone());
        patch
    }

    /// A commit touches all files of another one, which it says that it takes back. What is gone is believed.
    pub(super) fn is_whole_in(&self, commit: &str, by: &str) -> bool {
        let (Some(commit), Some(by)) = (self.patch(commit), self.patch(by)) else {
            return true;
        };
        let paths: HashSet<&str> = by.files.iter().map(|file| &*file.path).collect();
        commit.files.iter().all(|file| paths.contains(&*file.path))
    }

    /// The ids of what a commit changes; `None`: it changes nothing, or is gone.
    pub(super) fn ids(&self, commit: &str) -> Option<PatchIds> {
        if let Some(known) = self.ids.borrow().get(commit) {
            return *known;
        }
        let patch = self.patch(commit)?;
        let ids = self.repository.patch_ids(&patch.files);
        self.ids.borrow_mut().insert(commit.to_owned(), ids);
        ids
    }

    /// The work of these commits, the latest first, of what an operation left; `None`: one of them is gone.
    pub(super) fn of(&self, commits: &[&CommitLine], git: &GitOperation) -> Option<Work> {
        let left = git.effect.left.iter().map(|commit| &*commit.hash);
        let wanted: Vec<&str> = commits.iter().map(|commit| &*commit.hash).collect();
        let left: Vec<&str> = match wanted.iter().all(|hash| left.clone().any(|l| l == *hash)) {
            true => left.collect(),
            false => wanted.clone(),
        };
        let (mut found, mut base) = (Vec::new(), BTreeSet::new());
        let mut versions = Versions::new();
        for hash in &left {
            let patch = self.patch(hash)?;
            if patch.is_merge() {
                continue;
            }
            for file in &patch.files {
                let known = versions.entry(file.path.clone()).or_default();
                known.insert(file.after.clone());
            }
            let is_left = |parent: &&String| !left.contains(&parent.as_str());
            base.extend(patch.parents.iter().filter(is_left).cloned());
            if wanted.contains(hash) {
                let paths = patch.files.iter().map(|file| &file.path);
                found.push(LostCommit {
                    hash: (*hash).to_owned(),
                    versions: paths.map(|p| (p.clone(), versions[p].clone())).collect(),
                    patch,
                    gained: OnceCell::new(),
                });
            }
        }
        let base: Vec<String> = base.into_iter().collect();
        let whole = match (&base[..], left.len()) {
            ([base], 2..) => self.repository.files_between(base, left[0]).ok(),
            _ => None,
        };
        let whole = whole.map(|files| WholeChange {
            ids: self.repository.patch_ids(&files),
            files,
        });
        Some(Work {
            base,
            commits: found,
            whole,
        })
    }

    /// Which of these commits' work is in what came after, or where it began.
    pub(super) fn find(&self, work: &Work, after: &[String], git: &GitOperation) -> FoundWork {
        let mut found = FoundWork::default();
        let waiting = |found: &FoundWork, hash: &String| !found.commits.contains_key(hash);
        for commit in &work.commits {
            let is_undone_by_itself = || work.base.iter().any(|base| self.has(base, commit));
            if commit.patch.files.is_empty() || is_undone_by_itself() {
                found.commits.insert(commit.hash.clone(), None);
            }
        }
        let operation = &git.operation;
        let is_sure = operation.is_mode_named && operation.mode.as_deref() == Some("hard");
        let share = match operation.kind == OperationKind::Reset && !is_sure {
            true => SHARE_GONE_ON_WITH,
            false => SHARE,
        };
        let mut used = HashSet::new();
        for other in after {
            if work.commits.iter().all(|c| !waiting(&found, &c.hash)) {
                return found;
            }
            let Some(patch) = self.patch(other) else {
                continue;
            };
            let is_whole = self.is_whole(work, other, &patch);
            for commit in work.commits.iter().filter(|c| c.hash != *other) {
                if !waiting(&found, &commit.hash) {
                    continue;
                }
                if is_whole || self.is_in(commit, other, &patch, share) {
                    used.insert(other.clone());
                    let commit = commit.hash.clone();
                    found.commits.insert(commit, Some(other.clone()));
                }
            }
        }
        self.find_rewritten(work, after, &used, &mut found);
        self.find_moved(work, after, &mut found);
        self.find_on_disk(work, git, &mut found);
        found
    }

    /// A commit has all of the work at once: a squash.
    fn is_whole(&self, work: &Work, other: &str, patch: &CommitPatch) -> bool {
        let Some(whole) = &work.whole else {
            return false;
        };
        let paths = |files: &[PatchFile]| -> Vec<String> {
            files.iter().map(|file| file.path.clone()).collect()
        };
        let is_same = |ids: PatchIds| whole.ids.is_some_and(|all| all.id == ids.id);
        whole.files.len() == patch.files.len()
            && paths(&whole.files) == paths(&patch.files)
            && self.ids(other).is_some_and(is_same)
    }

    /// Another commit has the same files, makes the same change, or has most of the lines.
    fn is_in(&self, commit: &LostCommit, other: &str, patch: &CommitPatch, share: usize) -> bool {
        let shares = patch
            .files
            .iter()
            .any(|file| commit.versions.contains_key(&file.path));
        let entry = |path: &str| self.repository.entry(other, path);
        let lines = |path: &str| self.repository.lines_of(&entry(path)?);
        shares
            && (self.has(other, commit)
                || self.is_same_patch(commit, other, patch)
                || self.has_lines(commit, entry, lines, share))
    }

    fn is_same_patch(&self, commit: &LostCommit, other: &str, patch: &CommitPatch) -> bool {
        commit.patch.has_files_of(patch)
            && self
                .ids(other)
                .is_some_and(|ids| self.ids(&commit.hash).is_some_and(|own| own.id == ids.id))
    }

    /// All files that the commit touched are in `other` as it, or one on top of it, left them.
    fn has(&self, other: &str, commit: &LostCommit) -> bool {
        commit
            .versions
            .iter()
            .all(|(path, versions)| versions.contains(&self.repository.entry(other, path)))
    }

    /// So many of ten lines that the commit brought are there; all of them where they are few. What has no
    /// lines has to be there as a whole. `entry`, `lines`: the object at a path, and its lines.
    fn has_lines(
        &self,
        commit: &LostCommit,
        entry: impl Fn(&str) -> Option<String>,
        lines: impl Fn(&str) -> Option<BTreeSet<String>>,
        share: usize,
    ) -> bool {
        let all = commit.gained.get_or_init(|| self.gained(&commit.patch));
        let (mut brought, mut there) = (0, 0);
        for (file, gained) in all {
            match gained {
                Some(gained) => {
                    brought += gained.len();
                    let now = lines(&file.path).unwrap_or_default();
                    there += gained.intersection(&now).count();
                }
                None if entry(&file.path) != file.after => return false,
                None => {}
            }
        }
        is_most(brought, there, share)
    }

    /// The lines that a commit brought are in the files that another one touched, whatever these are called.
    fn has_moved_lines(&self, commit: &LostCommit, other: &str) -> bool {
        let all = commit.gained.get_or_init(|| self.gained(&commit.patch));
        let known = all.iter().map(|(_, gained)| gained.as_ref());
        let Some(known) = known.collect::<Option<Vec<_>>>() else {
            return false;
        };
        let now = self.touched_lines(other);
        let (mut brought, mut there) = (0, 0);
        for line in known.into_iter().flatten() {
            brought += 1;
            there += usize::from(now.contains(line));
        }
        is_most(brought, there, SHARE)
    }

    /// The lines that these commits brought were taken to other files before, and are there at `at`; `between`: the
    /// commits up to it.
    pub(super) fn is_elsewhere_at(&self, work: &Work, at: &str, between: &[String]) -> bool {
        let patches: Vec<Rc<CommitPatch>> = between
            .iter()
            .take(MOVED_MAX)
            .filter_map(|other| self.patch(other))
            .collect();
        let touched = patches.iter().flat_map(|patch| &patch.files);
        let paths: BTreeSet<&str> = touched.map(|file| &*file.path).collect();
        let is_own = |path: &str| work.commits.iter().any(|c| c.versions.contains_key(path));
        let blobs = paths.into_iter().filter(|path| !is_own(path));
        let blobs = blobs.filter_map(|path| self.repository.entry(at, path));
        let lines = blobs.filter_map(|blob| self.repository.lines_of(&blob));
        let now: BTreeSet<String> = lines.flatten().collect();
        let is_there = |commit: &LostCommit| {
            let all = commit.gained.get_or_init(|| self.gained(&commit.patch));
            let lines: Vec<&String> = all
                .iter()
                .filter_map(|(_, g)| g.as_ref())
                .flatten()
                .collect();
            let there = lines.iter().filter(|line| now.contains(**line)).count();
            is_most(lines.len(), there, SHARE)
        };
        !work.commits.is_empty() && work.commits.iter().all(is_there)
    }

    /// The lines of the files that a commit touched, as it left them.
    fn touched_lines(&self, commit: &str) -> Rc<BTreeSet<String>> {
        if let Some(known) = self.touched.borrow().get(commit) {
            return known.clone();
        }
        let patch = self.patch(commit);
        let files = patch.iter().flat_map(|patch| &patch.files);
        let blobs = files.filter_map(|file| file.after.as_ref()).take(FILES_MAX);
        let lines = blobs.filter_map(|blob| self.repository.lines_of(blob));
        let lines: Rc<BTreeSet<String>> = Rc::new(lines.flatten().collect());
        let mut touched = self.touched.borrow_mut();
        touched.insert(commit.to_owned(), lines.clone());
        lines
    }

    fn gained(&self, patch: &CommitPatch) -> Vec<Gained> {
        if patch.files.len() > FILES_MAX {
            return Vec::new();
        }
        let files = patch.files.iter().filter(|file| file.after.is_some());
        let gained = files.map(|file| (file.clone(), self.repository.gained_lines(file)));
        gained.collect()
    }

    /// A rebase, an amend and a cherry-pick keep who wrote a commit, when, and what it is called.
    fn find_rewritten(
        &self,
        work: &Work,
        after: &[String],
        used: &HashSet<String>,
        found: &mut FoundWork,
    ) {
        let mut used = used.clone();
        for commit in &work.commits {
            if found.commits.contains_key(&commit.hash) {
                continue;
            }
            let is_it = |other: &&String| {
                let patch = self.patch(other).filter(|_| **other != commit.hash);
                patch.is_some_and(|patch| {
                    patch.authored == commit.patch.authored
                        && patch.shares_files_with(&commit.patch)
                })
            };
            let other = after
                .iter()
                .filter(|other| !used.contains(*other))
                .find(is_it);
            if let Some(other) = other {
                used.insert(other.clone());
                let commit = commit.hash.clone();
                found.commits.insert(commit, Some(other.clone()));
            }
        }
    }

    /// Files that came under other names.
    fn find_moved(&self, work: &Work, after: &[String], found: &mut FoundWork) {
        if work
            .commits
            .iter()
            .all(|c| found.commits.contains_key(&c.hash))
        {
            return;
        }
        let mut came: HashMap<String, String> = HashMap::new();
        for other in after {
            let patch = self.patch(other);
            for file in patch.iter().flat_map(|patch| &patch.files) {
                if let Some(blob) = &file.after {
                    came.entry(blob.clone()).or_insert_with(|| other.clone());
                }
            }
        }
        for commit in &work.commits {
            let mut blobs = commit.patch.files.iter().filter_map(|f| f.after.as_ref());
            let is_there = |blob: &String| {
                let is_long = self.repository.size(blob) >= Some(BLOB_BYTES_MIN);
                is_long && came.contains_key(blob)
            };
            let Some(first) = blobs.next().filter(|first| is_there(first)) else {
                continue;
            };
            if !found.commits.contains_key(&commit.hash) && blobs.all(is_there) {
                let by = came.get(first).cloned();
                found.commits.insert(commit.hash.clone(), by);
            }
        }
        let near = &after[after.len().saturating_sub(MOVED_MAX)..];
        for commit in &work.commits {
            let mut near = near.iter().filter(|other| **other != commit.hash);
            let is_found = found.commits.contains_key(&commit.hash);
            if let Some(other) = near.find(|other| !is_found && self.has_moved_lines(commit, other))
            {
                found
                    .commits
                    .insert(commit.hash.clone(), Some(other.clone()));
            }
        }
    }

    /// What a reset left in the files: exactly, or nearly all of its lines.
    fn find_on_disk(&self, work: &Work, git: &GitOperation, found: &mut FoundWork) {
        let operation = &git.operation;
        if operation.kind != OperationKind::Reset {
            return;
        }
        let stays = matches!(operation.mode.as_deref(), Some("soft" | "mixed"));
        for commit in &work.commits {
            if found.commits.contains_key(&commit.hash) {
                continue;
            }
            let root = self.roots.iter().find(|root| {
                self.is_on_disk(root, commit)
                    || stays && !self.is_reset_on_disk(root, commit, &operation.new)
            });
            if let Some(root) = root {
                let paths = commit.versions.keys();
                let paths = paths.map(|path| root.join(path).to_string_lossy().into_owned());
                found.watched.extend(paths);
                found.commits.insert(commit.hash.clone(), None);
            }
        }
    }

    fn is_on_disk(&self, root: &Path, commit: &LostCommit) -> bool {
        let is_so = |(path, versions): (&String, &BTreeSet<Option<String>>)| {
            versions.contains(&self.on_disk(root, path))
        };
        commit.versions.iter().all(is_so)
            || self.has_lines(
                commit,
                |path| self.on_disk(root, path),
                |path| {
                    let content = self.read(root, path)?;
                    Some(telling_lines(&String::from_utf8_lossy(&content)))
                },
                SHARE,
            )
    }

    /// All files are as the operation's new commit has them.
    fn is_reset_on_disk(&self, root: &Path, commit: &LostCommit, new: &str) -> bool {
        let mut paths = commit.versions.keys();
        paths.all(|path| self.on_disk(root, path) == self.repository.entry(new, path))
    }

    /// The object that a file would be; `None`: there is none, or it is not to be read.
    pub(super) fn on_disk(&self, root: &Path, path: &str) -> Option<String> {
        self.repository.blob_id(&self.read(root, path)?)
    }

    fn read(&self, root: &Path, path: &str) -> Option<Vec<u8>> {
        let path = root.join(path);
        match (self.excludes)(&path) {
            true => None,
            false => read_small(&path, DISK_BYTES_MAX),
        }
    }

    /// One of these commits makes the change with this id.
    pub(super) fn has_patch(&self, commits: &[String], id: Uuid) -> bool {
        commits
            .iter()
            .any(|commit| self.ids(commit).is_some_and(|ids| ids.id == id))
    }
}
