//! What was done to a repository, and what is kept of it. Plain values: knows no repository and no
//! format.

pub use super::git_cursor::HistoryCursor;
pub use super::git_kinds::OperationKind;
use super::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Hex digits of a commit that texts tell.
pub const HASH_DIGITS: usize = 12;

/// The beginning of a commit's hash, as texts tell it.
pub fn short_hash(hash: &str) -> &str {
    hash.get(..HASH_DIGITS).unwrap_or(hash)
}

/// A session may go on so long after its last words: what is done within it may be its doing.
pub const AFTER_MS: i64 = 120_000;

/// Of the ids of operations: UUIDv5 in this namespace (D49).
const IDS: Uuid = Uuid::from_u128(0x6c1f_40d2_37a8_5d5b_8a0e_91c4_57be_02f3);

/// The mode of a reset that a `merge --abort` writes into the log.
pub const MERGE_ABORT: &str = "merge --abort";

/// Where work is that is in no commit any more: [`Effect::kept_in`].
pub const KEPT_ON_DISK: &str = "the files on the disk";

/// One line of a reflog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogLine {
    /// Hex digits; empty: there was nothing.
    pub old: String,
    /// Hex digits; empty: there is nothing any more.
    pub new: String,
    /// Whole seconds.
    pub at: Time,
    /// `reset: moving to HEAD~1`.
    pub message: String,
    /// The offset behind its line break.
    pub to: u64,
}

/// An operation as a log tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefOperation {
    /// What it was.
    pub kind: OperationKind,
    /// `hard`, `fast-forward`, `aborted`; absent where nothing says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The command itself says the mode; otherwise the repository's state does, as of the last look.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_mode_named: bool,
    /// The commit before; empty: there was none.
    pub old: String,
    /// The commit after; empty: there is none.
    pub new: String,
    /// The linked work tree that it happened in, by its name; absent: the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The branch that it happened on; absent: HEAD was detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Of a checkout: where it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// When it was done.
    pub at: Time,
    /// Nobody wrote the time down; it is the file's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_is_guessed: bool,
    /// What the log says of it.
    pub message: String,
    /// Lines of the log that it is made of.
    pub steps: u32,
}

impl RefOperation {
    /// ` on main`; where it leads to another branch ` from side to main`.
    pub fn branches(&self) -> String {
        match (&self.branch, &self.to) {
            (Some(from), Some(to)) => format!(" from {from} to {to}"),
            (Some(on), None) => format!(" on {on}"),
            (None, Some(to)) => format!(" to {to}"),
            (None, None) => String::new(),
        }
    }

    /// `git_batch_id`: the same wherever and whenever it is read.
    pub fn id(&self, repository: &str) -> Uuid {
        let name = format!("{repository}\n{}\n{}\n{}", self.old, self.new, self.at.0);
        Uuid::new_v5(&IDS, name.as_bytes())
    }

    /// The id where another operation has [`RefOperation::id`]: one between the same commits in the same
    /// second, such as a branch that is made and what is thrown away on it.
    pub fn twin_id(&self, repository: &str) -> Uuid {
        let name = format!("{}\n{}", self.kind.as_str(), self.message);
        Uuid::new_v5(&self.id(repository), name.as_bytes())
    }

    /// The same line of a log: what is learned later, its kind too, counts for nothing.
    pub fn is_same_line(&self, other: &RefOperation) -> bool {
        let is_guessed = self.at_is_guessed || other.at_is_guessed;
        self.message == other.message && (!is_guessed || self.kind == other.kind)
    }

    /// `reset --hard`, `checkout`, `rebase (aborted)`, `merge --abort`.
    pub fn name(&self) -> String {
        let kind = self.kind.as_str();
        match (self.mode.as_deref(), self.kind) {
            (None, _) => kind.to_owned(),
            (Some(MERGE_ABORT), _) => MERGE_ABORT.to_owned(),
            (Some(mode), OperationKind::Reset) => format!("{kind} --{mode}"),
            (Some(mode), _) => format!("{kind} ({mode})"),
        }
    }
}

#[cfg(test)]
impl RefOperation {
    /// `git reset --hard` from a…a to b…b on `feature/cache`.
    pub fn sample() -> RefOperation {
        RefOperation {
            kind: OperationKind::Reset,
            mode: Some("hard".into()),
            is_mode_named: true,
            old: "a".repeat(40),
            new: "b".repeat(40),
            tree: None,
            branch: Some("feature/cache".into()),
            to: None,
            at: Time(1_762_961_400_000),
            at_is_guessed: false,
            message: "reset: moving to HEAD~5".into(),
            steps: 1,
        }
    }
}

#[cfg(test)]
impl FileChange {
    /// A file that is gone.
    pub fn sample(path: &str) -> FileChange {
        FileChange {
            path: path.into(),
            operation: FileOperation::Delete,
            previous_path: None,
            blob: None,
            lines: Some((0, 40)),
        }
    }
}

/// The id of one of an operation's episodes beside its first one, which has the operation's own.
pub fn part_id(operation: Uuid, part: &str) -> Uuid {
    Uuid::new_v5(&operation, part.as_bytes())
}

/// A commit, as it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitLine {
    /// Hex digits.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// When it was made.
    pub at: Time,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOperation {
    /// It is new.
    Create,
    /// It has another content.
    Update,
    /// It is gone.
    Delete,
    /// The same content under another path in the same folder.
    Rename,
    /// The same content in another folder.
    Move,
}

impl FileOperation {
    /// Of a file that went from one path to another, with `/`.
    pub fn of_path(from: &[u8], to: &[u8]) -> FileOperation {
        let folder = |path: &[u8]| path.iter().rposition(|byte| *byte == b'/');
        match from[..folder(from).unwrap_or(0)] == to[..folder(to).unwrap_or(0)] {
            true => FileOperation::Rename,
            false => FileOperation::Move,
        }
    }

    /// The inverse of [`FileOperation::as_str`].
    pub fn parse(word: &str) -> Option<FileOperation> {
        let all = [
            FileOperation::Create,
            FileOperation::Update,
            FileOperation::Delete,
            FileOperation::Rename,
            FileOperation::Move,
        ];
        all.into_iter().find(|operation| operation.as_str() == word)
    }

    /// The word of `metadata.operation`.
    pub fn as_str(self) -> &'static str {
        match self {
            FileOperation::Create => "create",
            FileOperation::Update => "update",
            FileOperation::Delete => "delete",
            FileOperation::Rename => "rename",
            FileOperation::Move => "move",
        }
    }
}

/// A file that an operation changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// From the repository's root, with `/`.
    pub path: String,
    /// What became of it.
    pub operation: FileOperation,
    /// Where it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_path: Option<String>,
    /// The object that it is now; absent: it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Lines; absent where it is binary, large, or one of too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u64, u64)>,
}

/// A commit whose work a later one takes back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertedCommit {
    /// The commit that is taken back.
    pub commit: CommitLine,
    /// The hash of the one that does it.
    pub by: String,
}

/// What a repository says of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Commits that were left: reachable from the old commit and not from the new one, the latest
    /// first; the first few.
    pub left: Vec<CommitLine>,
    /// How many there are; a lower bound where `left` was cut at the most that are counted.
    pub left_count: u64,
    /// Of those that were left or taken back, the commits whose work is nowhere any more, as far as the
    /// last look knows: no branch, remote branch, tag, stash or work tree has them, and no other commit
    /// has their change. The latest first; the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<CommitLine>,
    /// How many there are.
    #[serde(default)]
    pub lost_count: u64,
    /// A look judged what was left or taken back; otherwise nothing is known of what became of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_judged: bool,
    /// What was left is given up by a later operation, which has it in its own `lost`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lost_later: bool,
    /// Where the work is that was left and not lost: a branch, the hash of a commit, or
    /// [`KEPT_ON_DISK`]; absent where nothing was left, some is lost, or no name leads to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<String>,
    /// The commits that have the work of those that nothing points to any more.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept_by: BTreeMap<String, String>,
    /// Ids of the patches of `left`, by commit, as they were when the commits were seen first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub patches: BTreeMap<String, Uuid>,
    /// The first commit that a revert undid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<String>,
    /// The words that said why were forgotten with their session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reason_forgotten: bool,
    /// All that what came with it takes back: by its message, or by being the opposite change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverts: Vec<RevertedCommit>,
    /// Commits that it brought, the latest first; the first few.
    pub made: Vec<CommitLine>,
    /// Files that differ between the old commit and the new one, by path; the first few hundred.
    pub files: Vec<FileChange>,
    /// How many there are.
    pub files_count: u64,
    /// Lines that came, and lines that went, in `files`.
    pub lines: (u64, u64),
    /// Why some of this is not known: `its commits are gone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl Effect {
    /// As if nothing had ever been at the paths that are hidden: what came from there is new, what went
    /// there is gone.
    pub fn hide(&mut self, is_hidden: impl Fn(&str) -> bool) {
        for mut file in std::mem::take(&mut self.files) {
            let came_from = file.previous_path.take();
            match (is_hidden(&file.path), came_from) {
                (false, Some(before)) if is_hidden(&before) => {
                    file.operation = FileOperation::Create;
                    self.files.push(file);
                }
                (false, before) => self.files.push(FileChange {
                    previous_path: before,
                    ..file
                }),
                (true, Some(before)) if !is_hidden(&before) => self.files.push(FileChange {
                    path: before,
                    operation: FileOperation::Delete,
                    blob: None,
                    ..file
                }),
                (true, _) => {
                    let (added, removed) = file.lines.unwrap_or_default();
                    self.lines = (self.lines.0 - added, self.lines.1 - removed);
                    self.files_count -= 1;
                }
            }
        }
    }
}

/// How sure a reason is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Nobody said it in so many words.
    Medium,
    /// It was said plainly, of this work.
    #[default]
    High,
}

impl Confidence {
    /// The word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// The words that say why, and where they stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// As it was said.
    pub sentence: String,
    /// A person said it; otherwise the agent.
    pub by_user: bool,
    /// The session's id.
    pub session: String,
    /// The episode that tells it.
    pub episode: Uuid,
    /// The line of its record in the session's log.
    pub line: u64,
    /// How sure it is.
    #[serde(default)]
    pub confidence: Confidence,
}

impl Reason {
    /// Who said it.
    pub fn who(&self) -> &'static str {
        match self.by_user {
            true => "user",
            false => "agent",
        }
    }
}

/// An operation with everything that is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitOperation {
    /// What was done.
    pub operation: RefOperation,
    /// What it changed.
    pub effect: Effect,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

impl GitOperation {
    /// It took something back: commits that were left or reverted, or what was not committed.
    pub fn undoes(&self) -> bool {
        let (operation, leaves) = (&self.operation, self.effect.left_count > 0);
        match operation.kind {
            OperationKind::Revert | OperationKind::Amend | OperationKind::Stash => true,
            OperationKind::Reset => leaves || operation.old == operation.new,
            OperationKind::Rebase
            | OperationKind::Moved
            | OperationKind::Pull
            | OperationKind::WorktreeRemoved
            | OperationKind::BranchMoved
            | OperationKind::BranchDeleted => leaves,
            // a branch still has them
            OperationKind::Checkout => leaves && operation.branch.is_none(),
            _ => !self.effect.reverts.is_empty(),
        }
    }

    /// What is said of it may be another one after a later look.
    pub fn is_open(&self) -> bool {
        let operation = &self.operation;
        let is_move = operation.kind == OperationKind::Reset && operation.old != operation.new;
        self.effect.left_count > 0 && operation.kind.leaves()
            || !self.effect.reverts.is_empty()
            || is_move && !operation.is_mode_named
            || matches!(
                operation.kind,
                OperationKind::BranchDeleted | OperationKind::BranchRenamed
            )
    }

    /// Work was given up with it: commits that it left, or took back, are nowhere any more, nor is their
    /// change. As far as the last look at the repository knows.
    pub fn gives_up(&self) -> bool {
        self.effect.lost_count > 0
    }

    /// As [`GitOperation::gives_up`]; `None`: it left or took back something, and no look judged it yet.
    pub fn is_given_up(&self) -> Option<bool> {
        let effect = &self.effect;
        let has_work = effect.left_count > 0 || !effect.reverts.is_empty();
        let is_open = has_work && !effect.is_judged && self.is_open();
        (!is_open || self.gives_up()).then(|| self.gives_up())
    }

    /// As [`RefOperation::name`]; a commit that is the opposite of another one is a revert, whatever the
    /// log calls it.
    pub fn name(&self) -> String {
        match self.operation.kind {
            OperationKind::Commit if !self.effect.reverts.is_empty() => {
                OperationKind::Revert.as_str().to_owned()
            }
            _ => self.operation.name(),
        }
    }

    /// The commit that somebody wrote with it, here; `None`: it wrote none, brought others' commits, or
    /// the commit is gone.
    pub fn commit(&self) -> Option<&CommitLine> {
        let writes = matches!(
            self.operation.kind,
            OperationKind::Commit
                | OperationKind::Amend
                | OperationKind::Merge
                | OperationKind::Revert
        );
        let mut made = self.effect.made.iter();
        let commit = made.find(|commit| commit.hash == self.operation.new);
        commit.filter(|_| writes && self.operation.mode.as_deref() != Some("fast-forward"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_has_one_id_wherever_it_is_read() {
        let hard = RefOperation::sample();
        let reset = RefOperation {
            mode: None,
            ..hard.clone()
        };
        assert_eq!(
            reset.id("r"),
            hard.id("r"),
            "what is learned later changes no id"
        );
        assert_ne!(reset.id("r"), reset.id("other"));
        let later = RefOperation {
            at: Time(2_000),
            ..reset.clone()
        };
        assert_ne!(reset.id("r"), later.id("r"));
        assert_eq!(hard.name(), "reset --hard");
        assert_eq!(hard.branches(), " on feature/cache");
        let away = RefOperation {
            to: Some("main".into()),
            ..hard
        };
        assert_eq!(away.branches(), " from feature/cache to main");
    }

    #[test]
    fn before_a_look_nobody_knows_what_is_given_up() {
        let git = |left_count, is_judged, lost_count| GitOperation {
            operation: RefOperation::sample(),
            effect: Effect {
                left_count,
                is_judged,
                lost_count,
                ..Effect::default()
            },
            reason: None,
        };
        assert_eq!(git(1, false, 0).is_given_up(), None);
        assert_eq!(git(1, true, 0).is_given_up(), Some(false));
        assert_eq!(git(1, true, 1).is_given_up(), Some(true));
        assert_eq!(
            git(0, false, 0).is_given_up(),
            Some(false),
            "nothing was left"
        );
    }

    #[test]
    fn what_is_hidden_never_was() {
        let change = |path: &str, before: Option<&str>| FileChange {
            previous_path: before.map(str::to_owned),
            operation: FileOperation::Move,
            lines: Some((2, 1)),
            ..FileChange::sample(path)
        };
        let mut effect = Effect {
            files: vec![
                change("a", Some("b")),
                change("x/c", None),
                change("d", Some("x/d")),
                change("x/e", Some("e")),
                change("x/f", Some("x/g")),
            ],
            files_count: 700,
            lines: (10, 5),
            ..Effect::default()
        };
        effect.hide(|path| path.starts_with("x/"));
        let told = effect.files.iter();
        let told: Vec<_> = told
            .map(|file| (&*file.path, file.previous_path.as_deref(), file.operation))
            .collect();
        let wants = [
            ("a", Some("b"), FileOperation::Move),
            ("d", None, FileOperation::Create),
            ("e", None, FileOperation::Delete),
        ];
        assert_eq!(told, wants);
        assert_eq!((effect.files_count, effect.lines), (698, (6, 3)));
    }
}
