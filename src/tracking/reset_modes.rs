//! What a reset did beside moving the branch. A log has no word for it: either the very command says it, or
//! the index, the files and what was committed next do; where neither does, it is a reset, and no more.

use super::same_work::SameWork;
use super::timed_calls::{TimedCall, timed_calls};
use crate::host::git;
use crate::host::patch::PatchFile;
use crate::host::reachability::Reachable;
use crate::host::reflog::WorkTree;
use crate::host::repository::Repository;
use crate::model::error::Error;
use crate::model::git::{AFTER_MS, MERGE_ABORT, OperationKind, RefOperation};
use crate::model::time::Time;
use crate::store::Store;
use std::path::{Path, PathBuf};

const MODES: [&str; 5] = ["hard", "soft", "mixed", "keep", "merge"];

/// Episodes in which the command of a reset is looked for.
const CHUNKS_MAX: u32 = 8;

/// Takes the mode of a reset from the very command, where a session of the project at this path ran it.
///
/// # Errors
/// When the store can't be read.
pub(super) fn name(reset: &mut RefOperation, project: &str, store: &Store) -> Result<(), Error> {
    let (since, until) = (Time(reset.at.0 - AFTER_MS), Time(reset.at.0 + AFTER_MS));
    let mut chunks = store.chunks_around(project, until, since, CHUNKS_MAX)?;
    chunks.retain(|found| git::is_of(Path::new(project), Path::new(&found.project_path)));
    for calls in chunks.iter().filter_map(timed_calls) {
        if let Some(mode) = of_command(&calls, reset) {
            reset.mode = Some(mode.to_owned());
            reset.is_mode_named = true;
        } else if is_stash(&calls, reset) {
            reset.kind = OperationKind::Stash;
        }
    }
    Ok(())
}

/// The mode as the command says it that wrote this line of the log: it goes where the line says, and ran
/// when it was written. `None`: none of these calls did.
fn of_command(calls: &[TimedCall], operation: &RefOperation) -> Option<&'static str> {
    let target = operation.message.strip_prefix("reset: moving to ")?;
    let mut running = calls
        .iter()
        .rev()
        .filter(|call| call.is_shell() && call.runs_at(operation.at));
    running.find_map(|call| mode_in(&call.text, target))
}

/// A stash whose own log is gone was a stash all the same, where one of these calls made it.
fn is_stash(calls: &[TimedCall], operation: &RefOperation) -> bool {
    let mut running = calls
        .iter()
        .filter(|call| call.is_shell() && call.runs_at(operation.at));
    operation.old == operation.new && running.any(|call| call.text.contains("git stash"))
}

fn mode_in(text: &str, target: &str) -> Option<&'static str> {
    if target == "HEAD" && text.contains("git merge --abort") {
        return Some(MERGE_ABORT);
    }
    let commands = text.split("git reset").skip(1);
    let mut modes = commands.filter_map(|command| mode_of(command, target));
    let first = modes.next()?;
    // quoted, in a comment, or one instead of the other: nobody knows which of them ran
    modes.all(|mode| mode == first).then_some(first)
}

/// The mode of a command behind `git reset`, where it goes to the target.
fn mode_of(command: &str, target: &str) -> Option<&'static str> {
    let command = command.split(['\n', ';', '|', '&', '`', ')']).next()?;
    let words = command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']));
    let (flags, names): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
    let names: Vec<&str> = names.into_iter().take_while(|name| *name != "→").collect();
    // `HEAD~`, `HEAD^` and the like stand in the log as they were typed
    if names.first().copied().unwrap_or("HEAD") != target {
        return None;
    }
    let named = |mode: &&'static str| {
        flags
            .iter()
            .any(|flag| flag.strip_prefix("--") == Some(mode))
    };
    Some(MODES.into_iter().find(named).unwrap_or("mixed"))
}

/// A repository's work trees as they are at the time of a look.
pub(super) struct Trees<'t> {
    pub(super) repository: &'t Repository,
    pub(super) work: &'t SameWork<'t>,
    pub(super) reachable: &'t Reachable,
    /// Work trees with their roots and the commits that their heads are at.
    pub(super) heads: Vec<(&'t WorkTree, PathBuf, String)>,
}

impl Trees<'_> {
    /// The mode as the repository's state says it, `None` where it doesn't; `next`: the operation that went on
    /// from where the reset went; `came_back`: whether later commits have some of what it left. Where its work
    /// tree is gone, or somewhere else, it is what it was.
    pub(super) fn mode(
        &self,
        operation: &RefOperation,
        next: Option<&RefOperation>,
        came_back: impl Fn(&[PatchFile]) -> bool,
    ) -> Option<String> {
        let is_its = |tree: &WorkTree| tree.name == operation.tree;
        match self.heads.iter().find(|(tree, ..)| is_its(tree)) {
            Some(head) => self
                .mode_at(head, operation, next, came_back)
                .map(str::to_owned),
            None => operation.mode.clone(),
        }
    }

    fn mode_at(
        &self,
        (tree, root, head): &(&WorkTree, PathBuf, String),
        operation: &RefOperation,
        next: Option<&RefOperation>,
        came_back: impl Fn(&[PatchFile]) -> bool,
    ) -> Option<&'static str> {
        let (old, new) = (&operation.old, &operation.new);
        let files = self.repository.files_between(new, old);
        let mut files = files.ok()?;
        // of what is only executable now, or no more, contents tell nothing
        files.retain(|file| file.before != file.after);
        if files.is_empty() {
            return None;
        }
        let is_there = match next {
            None => head == new,
            Some(next) => self.reachable.is_in_history(&next.new, head),
        };
        if !is_there {
            return None;
        }
        let on_disk = |file: &PatchFile| self.work.on_disk(root, &file.path);
        let is_on_disk = files.iter().all(|file| on_disk(file) == file.after);
        let is_gone = files
            .iter()
            .all(|file| on_disk(file) != file.after || file.after.is_none());
        match next {
            None => {
                let paths = files.iter().map(|file| file.path.as_str());
                let staged = self.repository.staged(tree, paths)?;
                let staged = |file: &PatchFile| staged.get(&file.path).cloned();
                let is_reset = files.iter().all(|file| on_disk(file) == file.before);
                match () {
                    () if files.iter().all(|file| staged(file) == file.after) => Some("soft"),
                    () if files.iter().any(|file| staged(file) != file.before) => None,
                    () if is_on_disk => Some("mixed"),
                    () => is_reset.then_some("hard"),
                }
            }
            // what was staged would be in the next commit, and what was kept on the disk still there
            Some(next) if next.kind == OperationKind::Commit => {
                let committed = |file: &PatchFile| self.repository.entry(&next.new, &file.path);
                let is_left_out = files.iter().all(|file| committed(file) == file.before);
                match is_left_out && !came_back(&files) {
                    true if is_on_disk => Some("mixed"),
                    true if is_gone => Some("hard"),
                    _ => None,
                }
            }
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(text: &str, target: &str, later_ms: i64) -> Option<&'static str> {
        let operation = RefOperation {
            message: format!("reset: moving to {target}"),
            ..RefOperation::sample()
        };
        let at = Time(operation.at.0 + later_ms);
        let call = TimedCall {
            began: at,
            ended: at,
            text: text.to_owned(),
            findings: Vec::new(),
        };
        of_command(&[call], &operation)
    }

    #[test]
    fn the_mode_is_the_very_commands() {
        let soft = "Bash(git reset --soft HEAD~1) → exit 0";
        assert_eq!(mode(soft, "HEAD~1", 500), Some("soft"));
        assert_eq!(mode(soft, "HEAD~2", 500), None, "another reset");
        assert_eq!(mode(soft, "HEAD~1", 3_600_000), None, "long before");
        let mixed = "Bash(git reset HEAD~1) → exit 0";
        assert_eq!(mode(mixed, "HEAD~1", 0), Some("mixed"));
        let chain = "Bash(cd x && git reset --hard && ls) → exit 0";
        assert_eq!(mode(chain, "HEAD", 0), Some("hard"));
        assert_eq!(mode("Bash(ls --hard)", "HEAD", 0), None);
        let abort = "Bash(git merge --abort) → exit 0";
        assert_eq!(mode(abort, "HEAD", 0), Some(MERGE_ABORT));
    }
}
