//! Kinds of git operations, and what follows from the kind alone.

use serde::{Deserialize, Serialize};

/// What kind of operation it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// A new commit.
    Commit,
    /// The last commit was replaced.
    Amend,
    /// The branch was moved.
    Reset,
    /// Another branch or commit was checked out (`switch` says the same).
    Checkout,
    /// Another branch was merged.
    Merge,
    /// Commits were put on another base, or replaced one by one.
    Rebase,
    /// A commit was copied.
    CherryPick,
    /// A commit was undone by another one.
    Revert,
    /// What others made was taken over.
    Pull,
    /// Changes were put aside.
    Stash,
    /// Changes that were put aside were taken back.
    StashPop,
    /// Commits were looked at, one after the other.
    Bisect,
    /// A mailed patch was committed.
    Apply,
    /// A work tree was added.
    WorktreeAdded,
    /// A work tree is no more.
    WorktreeRemoved,
    /// A branch is no more.
    BranchDeleted,
    /// A branch was renamed.
    BranchRenamed,
    /// A branch was moved without being checked out: `branch -f`, `update-ref`.
    BranchMoved,
    /// HEAD is elsewhere, and no log says how.
    Moved,
    /// A reflog line that nobody knows.
    Other,
}

impl OperationKind {
    /// As people call it.
    pub fn as_str(self) -> &'static str {
        match self {
            OperationKind::Commit => "commit",
            OperationKind::Amend => "amend",
            OperationKind::Reset => "reset",
            OperationKind::Checkout => "checkout",
            OperationKind::Merge => "merge",
            OperationKind::Rebase => "rebase",
            OperationKind::CherryPick => "cherry-pick",
            OperationKind::Revert => "revert",
            OperationKind::Pull => "pull",
            OperationKind::Stash => "stash",
            OperationKind::StashPop => "stash pop",
            OperationKind::Bisect => "bisect",
            OperationKind::Apply => "am",
            OperationKind::WorktreeAdded => "worktree added",
            OperationKind::WorktreeRemoved => "worktree removed",
            OperationKind::BranchDeleted => "branch deleted",
            OperationKind::BranchRenamed => "branch renamed",
            OperationKind::BranchMoved => "branch moved",
            OperationKind::Moved => "moved",
            OperationKind::Other => "other",
        }
    }

    /// People's own work, told by the session that did it: no conversation is kept beside it.
    pub fn is_plain_work(self) -> bool {
        matches!(self, OperationKind::Commit | OperationKind::Other)
    }

    /// Git itself wrote into the work tree.
    pub fn writes_files(self) -> bool {
        !matches!(
            self,
            OperationKind::Commit
                | OperationKind::Amend
                | OperationKind::WorktreeAdded
                | OperationKind::WorktreeRemoved
                | OperationKind::BranchDeleted
                | OperationKind::BranchRenamed
                | OperationKind::BranchMoved
                | OperationKind::Bisect
                | OperationKind::Other
        )
    }

    /// Commits may come with it, and one of them may take another one back.
    pub fn may_bring_commits(self) -> bool {
        matches!(
            self,
            OperationKind::Commit
                | OperationKind::Revert
                | OperationKind::Merge
                | OperationKind::Pull
                | OperationKind::CherryPick
                | OperationKind::Rebase
                | OperationKind::Apply
                | OperationKind::Reset
                | OperationKind::Moved
        )
    }

    /// What was before it is left behind.
    pub fn leaves(self) -> bool {
        !matches!(
            self,
            OperationKind::Commit
                | OperationKind::CherryPick
                | OperationKind::Apply
                | OperationKind::StashPop
                | OperationKind::WorktreeAdded
                | OperationKind::BranchRenamed
                | OperationKind::Bisect
                | OperationKind::Other
        )
    }
}
