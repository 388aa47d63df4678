//! What one commit changes, as far as it takes to find the same change elsewhere: paths with the contents
//! before and after, and an id of the changed lines, which stays the same on another base.

use super::object_id::hex;
use super::repository::{Repository, RepositoryError, fault, id};
use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::diff::tree::recorder::Change;
use imara_diff::{Algorithm, Diff, InternedInput};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Of the ids of patches: UUIDv5 in this namespace.
const PATCH_IDS: Uuid = Uuid::from_u128(0x0b8e_35d1_7c42_5f6a_9d13_e2a7_46c0_58bf);

/// Larger files are compared as wholes.
const LINES_BYTES_MAX: u64 = 1 << 20;
/// A change of more files has no id of its lines.
const FILES_MAX: usize = 500;

/// A file in a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PatchFile {
    /// From the repository's root.
    pub path: String,
    /// The object before; `None`: it is new.
    pub before: Option<String>,
    /// The object after; `None`: it is gone.
    pub after: Option<String>,
}

/// What a commit changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitPatch {
    /// Against its first parent, by path; empty: it changes nothing.
    pub files: Vec<PatchFile>,
    /// Its parents.
    pub parents: Vec<String>,
    /// Its tree.
    pub tree: String,
    /// Who wrote it, when, and the first line of its message: what a rebase or an amend keeps.
    pub authored: (String, i64, String),
    /// When it was committed, in seconds.
    pub committed: i64,
}

impl CommitPatch {
    /// It joins histories; what it brings, others wrote. A stash is one too.
    pub fn is_merge(&self) -> bool {
        self.parents.len() > 1
    }

    /// The same files, whatever became of them.
    pub fn has_files_of(&self, other: &CommitPatch) -> bool {
        let paths = |patch: &CommitPatch| -> Vec<String> {
            patch.files.iter().map(|file| file.path.clone()).collect()
        };
        paths(self) == paths(other)
    }

    /// Some file is in both.
    pub fn shares_files_with(&self, other: &CommitPatch) -> bool {
        let paths: BTreeSet<&str> = self.files.iter().map(|file| &*file.path).collect();
        other.files.iter().any(|file| paths.contains(&*file.path))
    }
}

/// The ids of a change's lines, and of the opposite change's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchIds {
    /// The change.
    pub id: Uuid,
    /// The opposite one.
    pub opposite: Uuid,
    /// Lines that came or went, without empty ones.
    pub lines: u64,
}

impl Repository {
    /// What a commit changes.
    ///
    /// # Errors
    /// When it is gone.
    pub fn patch(&self, commit: &str) -> Result<CommitPatch, RepositoryError> {
        let found = self.commit(commit)?;
        let failed = |error: gix::error::Error| fault("a commit can't be read", &error);
        let author = found
            .author()
            .map_err(|error| fault("a commit can't be read", &error))?;
        let message = found
            .message_raw()
            .map(|raw| raw.to_str_lossy().into_owned());
        let subject = message.unwrap_or_default();
        let parents: Vec<String> = found.parent_ids().map(|id| hex(id.detach())).collect();
        let base = parents.first().map_or("", String::as_str);
        let files = self.files_between(base, commit)?;
        Ok(CommitPatch {
            files,
            tree: hex(found.tree_id().map_err(failed)?.detach()),
            authored: (
                author.name.to_string(),
                author.seconds(),
                subject.lines().next().unwrap_or_default().to_owned(),
            ),
            committed: found.time().map_err(failed)?.seconds,
            parents,
        })
    }

    /// Files that differ between two commits, by path; an empty hash is nothing.
    ///
    /// # Errors
    /// When a commit or a folder of it is gone.
    pub fn files_between(&self, old: &str, new: &str) -> Result<Vec<PatchFile>, RepositoryError> {
        let changes = self.tree_changes(old, new)?;
        let mut files: Vec<PatchFile> = changes.into_iter().filter_map(file).collect();
        files.sort();
        Ok(files)
    }

    /// Lines that a file gained, without blanks around them and without those that say little; `None`: it is
    /// gone, binary or large.
    pub fn gained_lines(&self, file: &PatchFile) -> Option<BTreeSet<String>> {
        let before = match &file.before {
            None => BTreeSet::new(),
            Some(blob) => self.lines_of(blob)?,
        };
        let after = self.lines_of(file.after.as_ref()?)?;
        Some(after.difference(&before).cloned().collect())
    }

    /// The lines of a file that say something; `None`: it is gone, binary or large.
    pub fn lines_of(&self, blob: &str) -> Option<BTreeSet<String>> {
        Some(telling_lines(&self.file(blob, LINES_BYTES_MAX)?))
    }

    /// The id that this repository would give a file.
    pub fn blob_id(&self, content: &[u8]) -> Option<String> {
        let kind = self.git.object_hash();
        let id = gix::objs::compute_hash(kind, gix::objs::Kind::Blob, content);
        Some(hex(id.ok()?))
    }

    /// The ids of a change's lines; `None`: it has no files, too many, or one that can't be read.
    pub fn patch_ids(&self, files: &[PatchFile]) -> Option<PatchIds> {
        if files.is_empty() || files.len() > FILES_MAX {
            return None;
        }
        let (mut forth, mut back, mut lines) = (Vec::new(), Vec::new(), 0);
        for file in files {
            forth.extend_from_slice(file.path.as_bytes());
            back.extend_from_slice(file.path.as_bytes());
            lines += self.add_lines(file, &mut forth, &mut back)?;
        }
        Some(PatchIds {
            id: Uuid::new_v5(&PATCH_IDS, &forth),
            opposite: Uuid::new_v5(&PATCH_IDS, &back),
            lines,
        })
    }

    fn add_lines(&self, file: &PatchFile, forth: &mut Vec<u8>, back: &mut Vec<u8>) -> Option<u64> {
        let content = |blob: &Option<String>| match blob {
            None => Some(Some(Vec::new())),
            Some(blob) => {
                let blob = id(blob)?;
                self.git.find_header(blob).ok()?;
                Some(self.text(blob, LINES_BYTES_MAX))
            }
        };
        let (before, after) = (content(&file.before)?, content(&file.after)?);
        let (Some(before), Some(after)) = (before, after) else {
            // binary, or large: the objects are the change
            let whole = |bytes: &mut Vec<u8>, a: &Option<String>, b: &Option<String>| {
                for blob in [a, b] {
                    bytes.push(0);
                    bytes.extend_from_slice(blob.as_deref().unwrap_or_default().as_bytes());
                }
            };
            whole(forth, &file.before, &file.after);
            whole(back, &file.after, &file.before);
            return Some(1);
        };
        let input = InternedInput::new(before.as_slice(), after.as_slice());
        let diff = Diff::compute(Algorithm::Histogram, &input);
        let mut lines = 0;
        for hunk in diff.hunks() {
            let went = hunk
                .before
                .map(|at| input.interner[input.before[at as usize]]);
            let came = hunk
                .after
                .map(|at| input.interner[input.after[at as usize]]);
            let (went, came): (Vec<&[u8]>, Vec<&[u8]>) = (went.collect(), came.collect());
            let all = went.iter().chain(&came);
            lines += all.filter(|line| !line.trim().is_empty()).count() as u64;
            for (bytes, went, came) in [(&mut *forth, &went, &came), (&mut *back, &came, &went)] {
                add(bytes, b'-', went);
                add(bytes, b'+', came);
            }
        }
        Some(lines)
    }
}

/// Shorter lines are in many files.
const LINE_CHARS_MIN: usize = 3;

/// The lines of a text that say something, without blanks around them.
pub fn telling_lines(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| line.len() >= LINE_CHARS_MIN);
    lines.map(str::to_owned).collect()
}

/// Without blanks, as git's own ids: who indents a file anew changes nothing of it.
fn add(bytes: &mut Vec<u8>, sign: u8, lines: &[&[u8]]) {
    for line in lines {
        bytes.push(sign);
        bytes.extend(line.iter().filter(|byte| !byte.is_ascii_whitespace()));
        bytes.push(b'\n');
    }
}

fn file(change: Change) -> Option<PatchFile> {
    let is_file = |mode: gix::objs::tree::EntryMode| !mode.is_tree();
    let (path, before, after): (_, Option<ObjectId>, Option<ObjectId>) = match change {
        Change::Addition {
            entry_mode,
            oid,
            path,
            ..
        } if is_file(entry_mode) => (path, None, Some(oid)),
        Change::Deletion {
            entry_mode,
            oid,
            path,
            ..
        } if is_file(entry_mode) => (path, Some(oid), None),
        Change::Modification {
            entry_mode,
            previous_oid,
            oid,
            path,
            ..
        } if is_file(entry_mode) => (path, Some(previous_oid), Some(oid)),
        _ => return None,
    };
    Some(PatchFile {
        path: path.to_string(),
        before: before.map(hex),
        after: after.map(hex),
    })
}
