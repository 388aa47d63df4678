//! A repository's commits and files, read with a library: no program is started, no hook runs, nothing
//! is written, and of the settings only the repository's own are read, as those of a stranger.
//! Refuses to know what a change means.

use super::content::is_binary;
use super::git_preflight::preflight;
use super::object_id::hex;
use super::reflog::WorkTree;
use crate::model::git::{CommitLine, Effect, FileChange, FileOperation};
use crate::model::time::Time;
use gix::bstr::ByteSlice;
use gix::diff::tree::{Recorder, State, recorder::Change};
use gix::objs::TreeRefIter;
use gix::{ObjectId, open, sec};
use imara_diff::{Algorithm, Diff, InternedInput};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Why a repository can't be read, or something in it. Never content.
pub type RepositoryError = String;

type Result<T> = std::result::Result<T, RepositoryError>;

/// Commits that are counted. More: a reset across a whole history takes seconds.
const COMMITS_MAX: usize = 1_000;
/// Commits that are named.
const COMMITS_TOLD: usize = 50;
/// Files that are named.
const FILES_TOLD: usize = 500;
/// Larger files' lines are not counted.
const LINES_BYTES_MAX: u64 = 1 << 20;

/// An open repository.
pub struct Repository {
    pub(super) git: gix::Repository,
    /// Where its history truly lies.
    places: BTreeSet<PathBuf>,
}

impl Repository {
    /// Opens the repository of a work tree.
    ///
    /// # Errors
    /// Why it can't be read: damaged, a format that nobody knows, a pipe where a file should be.
    pub fn open(tree: &WorkTree) -> Result<Repository> {
        let places = preflight(tree)?;
        let options = open::Options::isolated()
            .with(sec::Trust::Reduced)
            .bail_if_untrusted(false)
            .open_path_as_is(true);
        let opened = options.open(tree.git_dir.as_path());
        let git = opened.map_err(|error| fault("it can't be opened", &error))?;
        Ok(Repository {
            git: git.to_thread_local(),
            places,
        })
    }

    /// The folders, without links, that it reads.
    pub fn places(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().map(PathBuf::as_path)
    }

    /// The commit that HEAD is at; `None` before the first one.
    ///
    /// # Errors
    /// When HEAD is damaged.
    pub fn head(&self) -> Result<Option<String>> {
        let head = self.git.head();
        let head = head.map_err(|error| fault("its HEAD can't be read", &error))?;
        Ok(head.id().map(|id| hex(id.detach())))
    }

    /// The branch that HEAD is on; `None`: detached.
    pub fn branch(&self) -> Option<String> {
        let name = self.git.head_name().ok()??;
        Some(name.shorten().to_string())
    }

    /// Branches with their commits, by name. Those that can't be read are left out.
    ///
    /// # Errors
    /// When there is no telling which branches there are.
    pub fn branches(&self) -> Result<BTreeMap<String, String>> {
        let failed = |error: gix::error::Error| fault("its branches can't be read", &error);
        let platform = self.git.references().map_err(failed)?;
        let branches = platform.local_branches().map_err(failed)?;
        let mut all = BTreeMap::new();
        for mut branch in branches.flatten() {
            if let Ok(id) = branch.peel_to_id() {
                all.insert(branch.name().shorten().to_string(), hex(id.detach()));
            }
        }
        Ok(all)
    }

    /// The names of tags. Those that can't be read are left out.
    pub fn tags(&self) -> BTreeSet<String> {
        let Ok(platform) = self.git.references() else {
            return BTreeSet::new();
        };
        let tags = platform.tags().into_iter().flatten().flatten();
        tags.map(|tag| tag.name().shorten().to_string()).collect()
    }

    /// A commit.
    ///
    /// # Errors
    /// When it is gone.
    pub(super) fn commit(&self, commit: &str) -> Result<gix::Commit<'_>> {
        let gone = || "its commits are gone".to_owned();
        let id = id(commit).ok_or_else(gone)?;
        self.git.find_commit(id).map_err(|_| gone())
    }

    /// The first parent of a commit; `None`: it has none, or it is gone.
    pub fn parent(&self, commit: &str) -> Option<String> {
        let commit = self.git.find_commit(id(commit)?).ok()?;
        let parent = commit.parent_ids().next()?;
        Some(hex(parent.detach()))
    }

    /// What lies between two commits; either may be empty: nothing. What can't be read is said in
    /// [`Effect::missing`]; what a commit undid, [`Repository::undone`] says.
    pub fn effect(&self, old: &str, new: &str) -> Effect {
        let mut effect = Effect::default();
        let told = self
            .between(old, &[new.to_owned()])
            .map(|(left, count)| (effect.left, effect.left_count) = (left, count))
            .and_then(|()| self.between(new, &[old.to_owned()]))
            .map(|(made, _)| effect.made = made)
            .and_then(|()| self.changes(old, new, &mut effect));
        effect.missing = told.err();
        effect
    }

    /// What goes with a branch that was at `tip`: commits that are in none of the histories of `others`,
    /// and what they changed.
    pub fn effect_of_dropping(&self, tip: &str, others: &[String]) -> Effect {
        let mut effect = Effect::default();
        let told = self.between(tip, others).and_then(|(left, count)| {
            (effect.left, effect.left_count) = (left, count);
            let base = effect.left.last().map(|first| self.parent(&first.hash));
            base.map_or(Ok(()), |base| {
                self.changes(tip, &base.unwrap_or_default(), &mut effect)
            })
        });
        effect.missing = told.err();
        effect
    }

    /// Commits of `from`'s history that are not of `without`'s, the latest first: the first few, and
    /// how many there are. An empty hash is no commit, and has no history.
    pub(super) fn between(&self, from: &str, without: &[String]) -> Result<(Vec<CommitLine>, u64)> {
        let failed = |error: gix::error::Error| fault("commits are missing", &error);
        let Some(from) = id(from) else {
            return Ok((Vec::new(), 0));
        };
        let without: Vec<ObjectId> = without.iter().filter_map(|commit| id(commit)).collect();
        if without.contains(&from) {
            return Ok((Vec::new(), 0));
        }
        let walk = self.git.rev_walk([from]).with_hidden(without);
        let (mut told, mut count) = (Vec::new(), 0);
        for info in walk.all().map_err(failed)?.take(COMMITS_MAX) {
            let info = info.map_err(failed)?;
            count += 1;
            if told.len() < COMMITS_TOLD {
                told.extend(self.commit_line(&hex(info.id)));
            }
        }
        Ok((told, count))
    }

    /// A commit as it is told; `None`: it is gone.
    pub fn commit_line(&self, hash: &str) -> Option<CommitLine> {
        let commit = self.commit(hash).ok()?;
        let message = commit.message_raw().ok()?.to_str_lossy();
        Some(CommitLine {
            hash: hash.to_owned(),
            subject: message.lines().next().unwrap_or_default().to_owned(),
            at: Time(commit.time().ok()?.seconds * 1_000),
        })
    }

    /// The first commit that a revert says it undoes; `None`: it says none, or is gone.
    pub fn undone(&self, commit: &str) -> Option<String> {
        self.all_undone(commit).into_iter().next()
    }

    /// The commits that a commit says it reverts, in the message's order.
    pub fn all_undone(&self, commit: &str) -> Vec<String> {
        let Ok(commit) = self.commit(commit) else {
            return Vec::new();
        };
        let message = commit
            .message_raw()
            .map(|raw| raw.to_str_lossy().into_owned());
        let message = message.unwrap_or_default();
        let named = message
            .lines()
            .filter_map(|line| line.strip_prefix("This reverts commit "));
        let hash = |after: &str| -> String {
            let digits = after.chars().take_while(char::is_ascii_hexdigit);
            digits.collect()
        };
        let hashes = named.map(hash);
        hashes
            .filter(|hash| matches!(hash.len(), 40 | 64))
            .collect()
    }

    /// Commits that a merge brought: those that its first parent doesn't have, without merges.
    pub fn brought_by(&self, merge: &str) -> Vec<CommitLine> {
        let Some(before) = self.parent(merge) else {
            return Vec::new();
        };
        let brought = self.between(merge, &[before]).unwrap_or_default().0;
        let is_merge = |hash: &str| {
            let commit = self.commit(hash);
            commit.is_ok_and(|commit| commit.parent_ids().count() > 1)
        };
        let plain = brought.into_iter().filter(|commit| !is_merge(&commit.hash));
        plain.collect()
    }

    /// Files that differ, by path.
    fn changes(&self, old: &str, new: &str, effect: &mut Effect) -> Result<()> {
        let mut files = changed(self.tree_changes(old, new)?);
        effect.files_count = files.len() as u64;
        files.truncate(FILES_TOLD);
        for (file, before) in files {
            let lines = self.lines(before, file.blob.as_deref().and_then(id));
            let (added, removed) = lines.unwrap_or_default();
            effect.lines = (effect.lines.0 + added, effect.lines.1 + removed);
            effect.files.push(FileChange { lines, ..file });
        }
        Ok(())
    }

    /// What differs between the trees of two commits, folders too; an empty hash is nothing.
    pub(super) fn tree_changes(&self, old: &str, new: &str) -> Result<Vec<Change>> {
        let mut recorder = Recorder::default();
        let (before, after) = (self.tree(old)?, self.tree(new)?);
        gix::diff::tree(
            TreeRefIter::from_bytes(&before, self.git.object_hash()),
            TreeRefIter::from_bytes(&after, self.git.object_hash()),
            State::default(),
            &self.git.objects,
            &mut recorder,
        )
        .map_err(|error| fault("its files are missing", &error))?;
        Ok(recorder.records)
    }

    /// A commit's tree as it is stored; nothing's tree is empty.
    pub(super) fn tree(&self, commit: &str) -> Result<Vec<u8>> {
        let Some(commit) = id(commit) else {
            return Ok(Vec::new());
        };
        let failed = |error: gix::error::Error| fault("its commits are gone", &error);
        let commit = self.git.find_commit(commit).map_err(failed)?;
        Ok(commit.tree().map_err(failed)?.detach().data)
    }

    /// Lines that came and lines that went.
    fn lines(&self, old: Option<ObjectId>, new: Option<ObjectId>) -> Option<(u64, u64)> {
        let text = |id: Option<ObjectId>| match id {
            None => Some(Vec::new()),
            Some(id) => self.text(id, LINES_BYTES_MAX),
        };
        let (old, new) = (text(old)?, text(new)?);
        let input = InternedInput::new(old.as_slice(), new.as_slice());
        let diff = Diff::compute(Algorithm::Histogram, &input);
        Some((
            u64::from(diff.count_additions()),
            u64::from(diff.count_removals()),
        ))
    }

    /// The object that a commit has at a path; `None`: it has none there, or can't be read.
    pub fn entry(&self, commit: &str, path: &str) -> Option<String> {
        let tree = self.git.find_commit(id(commit)?).ok()?.tree().ok()?;
        let entry = tree.lookup_entry_by_path(path).ok()??;
        Some(hex(entry.object_id()))
    }

    /// Two commits have other contents at a path.
    pub fn differs(&self, old: &str, new: &str, path: &str) -> bool {
        old != new && self.entry(old, path) != self.entry(new, path)
    }

    /// An object's bytes; `None`: it is gone.
    pub fn size(&self, object: &str) -> Option<u64> {
        Some(self.git.find_header(id(object)?).ok()?.size())
    }

    /// A file's content; `None`: it is gone, longer than this, or binary.
    pub fn file(&self, blob: &str, bytes_max: u64) -> Option<String> {
        String::from_utf8(self.text(id(blob)?, bytes_max)?).ok()
    }

    pub(super) fn text(&self, id: ObjectId, bytes_max: u64) -> Option<Vec<u8>> {
        let size = self.git.find_header(id).ok()?.size();
        if size > bytes_max {
            return None;
        }
        let data = self.git.find_blob(id).ok()?.detach().data;
        (!is_binary(&data)).then_some(data)
    }
}

/// `None`: empty, or no hash.
pub(super) fn id(hash: &str) -> Option<ObjectId> {
    ObjectId::from_hex(hash.as_bytes()).ok()
}

/// What went wrong, without what the library says of objects: its first line names places only.
pub(super) fn fault(what: &str, error: &dyn std::fmt::Display) -> RepositoryError {
    let said = error.to_string();
    let said = said.lines().next().unwrap_or_default();
    match said.is_empty() {
        true => what.to_owned(),
        false => format!("{what}: {said}"),
    }
}

/// A changed file, with the object that it was before.
type Changed = (FileChange, Option<ObjectId>);

/// Files by path. One that came with the content of one that went was moved.
fn changed(records: Vec<Change>) -> Vec<Changed> {
    let mut gone: BTreeMap<ObjectId, Vec<String>> = BTreeMap::new();
    for record in &records {
        if let Change::Deletion {
            oid,
            path,
            entry_mode,
            ..
        } = record
            && entry_mode.is_blob_or_symlink()
        {
            gone.entry(*oid).or_default().push(path.to_string());
        }
    }
    let mut all: Vec<Changed> = records
        .into_iter()
        .filter_map(|record| came(record, &mut gone))
        .collect();
    for (oid, paths) in gone {
        let file = |path| change(path, FileOperation::Delete, None, None);
        all.extend(paths.into_iter().map(|path| (file(path), Some(oid))));
    }
    all.sort_by(|a, b| a.0.path.cmp(&b.0.path));
    all
}

/// What is new, or has another content; `None`: a folder, a submodule, or what went.
fn came(record: Change, gone: &mut BTreeMap<ObjectId, Vec<String>>) -> Option<Changed> {
    match record {
        Change::Addition {
            entry_mode,
            oid,
            path,
            ..
        } if entry_mode.is_blob_or_symlink() => {
            let path = path.to_string();
            let before = gone.get_mut(&oid).and_then(Vec::pop);
            let operation = match &before {
                None => FileOperation::Create,
                Some(before) => FileOperation::of_path(before.as_bytes(), path.as_bytes()),
            };
            let was = before.is_some().then_some(oid);
            Some((change(path, operation, before, Some(oid)), was))
        }
        Change::Modification {
            entry_mode,
            previous_oid,
            oid,
            path,
            ..
        } if entry_mode.is_blob_or_symlink() => {
            let file = change(path.to_string(), FileOperation::Update, None, Some(oid));
            Some((file, Some(previous_oid)))
        }
        _ => None,
    }
}

fn change(
    path: String,
    operation: FileOperation,
    previous_path: Option<String>,
    blob: Option<ObjectId>,
) -> FileChange {
    FileChange {
        path,
        operation,
        previous_path,
        blob: blob.map(hex),
        lines: None,
    }
}

#[cfg(test)]
mod tests {
    use crate::host::object_id::blob_id;
    use serde_json::Value;
    use std::io::Write;
    use std::path::PathBuf;

    /// Bytes as the golden file writes them: hex, or a byte and how often.
    fn bytes(written: &str) -> Vec<u8> {
        let hex = |text: &str| -> Vec<u8> {
            let digits = text.as_bytes().chunks(2);
            let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            digits.map(byte).collect()
        };
        match written.split_once(" x ") {
            Some((byte, times)) => hex(byte).repeat(times.parse().unwrap()),
            None => hex(written),
        }
    }

    #[test]
    fn files_have_the_ids_that_git_gives_them() {
        let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/golden");
        let folder = std::env::var_os("GOLDEN_DIR").map_or(beside, PathBuf::from);
        let Ok(text) = std::fs::read_to_string(folder.join("git_blob_hash.json")) else {
            let _ = writeln!(std::io::stderr(), "passed over: no golden folder");
            return;
        };
        let golden: Value = serde_json::from_str(&text).unwrap();
        for case in golden["cases"].as_array().unwrap() {
            let data = bytes(case["data_hex"].as_str().unwrap());
            assert_eq!(blob_id(&data).as_deref(), case["want"].as_str(), "{case}");
        }
    }
}
