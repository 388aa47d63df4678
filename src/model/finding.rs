//! What a call came to, besides its digest: what summaries are made of (003 § 4). Knows facts that
//! a log states, but not how they are found (`stages::filter`) and told (`insight`).

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Something that a call came to. Words in it are masked; lists are cut, numbers are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// An edit tool or a patch changed a file.
    Changed {
        /// Absolute, where the working directory was known.
        path: String,
        /// Lines.
        added: u64,
        /// Lines.
        removed: u64,
    },
    /// What became of a file beside its lines.
    File {
        /// As in `Changed`; of what a command deletes or restores also a folder, or with `*`.
        path: String,
        /// See there.
        became: FileFate,
    },
    /// A command gave a file or folder another name.
    Moved {
        /// As in `File`.
        from: String,
        /// As in `File`.
        to: String,
        /// Git did: somebody kept it.
        by_git: bool,
    },
    /// A setting in a configuration file got another value.
    Set {
        /// As in `Changed`.
        path: String,
        /// With the sections that it stands in, as far as the edit shows them: `db.pool.size`.
        setting: String,
        /// Absent where it is new.
        old: Option<String>,
        /// Absent where it was removed.
        new: Option<String>,
        /// What it is called now, where only its name changed; or its section's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        renamed: Option<String>,
    },
    /// A test runner ran.
    Tests(TestCounts),
    /// How much of the code tests reached, in hundredths of a per cent, as a command printed it.
    Coverage(u32),
    /// A tool that checks said itself how it ended, where its command's exit code is that of something else.
    Checked {
        /// As its command names it: `cargo clippy`; or the runner of tasks that ran it: `npm`.
        tool: String,
        /// It found nothing wrong.
        passed: bool,
        /// Its line; empty where that says no more.
        said: String,
    },
    /// A commit's hook checked something.
    #[serde(alias = "staged")]
    HookChecked {
        /// The check, as the hook's runner names it.
        check: String,
        /// It ended well.
        passed: bool,
    },
    /// A command failed. The same command has the same key.
    Failed {
        /// See above.
        key: u32,
    },
    /// An edit failed; told by the file ([`file_key`]).
    Unchanged {
        /// See above.
        key: u32,
    },
    /// A command worked.
    Worked {
        /// As in `Failed`.
        key: u32,
    },
    /// A list of tasks, all of it.
    Plan(Vec<Task>),
    /// A file that says what is to be done was read from its beginning.
    PlanRead {
        /// As in `Changed`.
        path: String,
        /// Its first heading.
        title: String,
    },
    /// The agent wrote a plan for itself, outside of the project.
    PlanWritten {
        /// Its first heading.
        title: String,
    },
    /// One task changed.
    Task(Task),
    /// A person answered a question.
    Answered {
        /// The agent's.
        question: String,
        /// The person's.
        answer: String,
        /// The short name of the question; empty where it has none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        header: String,
        /// What stands beside the option that the answer is; `None`: it is no option's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        means: Option<String>,
    },
    /// A person approved a plan.
    Approved,
    /// A person refused the call.
    Refused {
        /// As in `Failed` or `Unchanged`; 0 where a call has none.
        key: u32,
    },
    /// Git made a commit.
    Commit {
        /// Abbreviated; empty where nothing printed it.
        hash: String,
        /// The first line of its message.
        subject: String,
        /// It was made of an older one (`--amend`).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        again: bool,
        /// As git printed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<CommitSize>,
    },
    /// Git listed a commit.
    Listed {
        /// Abbreviated.
        hash: String,
        /// The first line of its message.
        subject: String,
        /// It is where a remote's branch is.
        remote: bool,
    },
    /// A comment of an edit's text says that something is to be done.
    Todo {
        /// As in `Changed`.
        path: String,
        /// What.
        text: String,
        /// The edit took it away.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        gone: bool,
    },
    /// A list of checks that run elsewhere has one.
    CheckElsewhere {
        /// As a rule the first line of the commit's message.
        title: String,
        /// `queued`, `in_progress`, `completed`.
        state: String,
    },
    /// What the call did to a history, or asked of it, was in this folder, which isn't where the session works.
    Elsewhere(String),
    /// Commits were sent to others.
    Pushed,
    /// The last call of the log, behind this item, has no result there: what it was to do.
    Begun {
        /// See there.
        step: BegunStep,
        /// The branch, the commit's subject, the pull request's title, or the task; empty: the call doesn't say.
        named: String,
    },
    /// Git told how many commits of the branch that is checked out its remote one lacks.
    Ahead(u64),
    /// Git told that this branch and its remote one have commits of their own.
    Diverged {
        /// That the remote one lacks.
        here: u64,
        /// That only it has.
        there: u64,
    },
    /// Git told what changed in a file.
    Stat {
        /// From the repository's root; empty: the only one that was committed.
        path: String,
        /// Lines.
        added: u64,
        /// As `added`.
        removed: u64,
        /// Of what.
        of: Tree,
        /// How lines were added and removed is not known, only their sum (of a long bar, which git draws in
        /// proportion), or nothing at all where that is 0.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        drawn: bool,
    },
    /// A pull request was opened.
    PullRequest(
        /// Its address.
        String,
    ),
    /// A pull request or an issue was looked at.
    Titled {
        /// `#7`, or its address; empty: that of the branch.
        named: String,
        /// What it is called.
        title: String,
    },
    /// Git told how much differs from another branch or commit.
    Compared(CommitSize),
    /// What became of a pull request.
    PullRequestState {
        /// `#7`, or its address; empty: that of the branch.
        named: String,
        /// See there.
        state: PullRequestState,
        /// The call brought it there; `false`: it only looked.
        done: bool,
    },
    /// A sub-agent's log has a copy of this item, of any kind, from the log of the agent that started it.
    Inherited,
}

/// What somebody has to look whether it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BegunStep {
    /// A branch is made.
    Branch,
    /// A commit is made.
    Commit,
    /// Commits are sent to others.
    Push,
    /// A pull request is opened.
    PullRequest,
    /// A sub-agent works.
    Agent,
}

/// How much a commit or a diff changes, as git printed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitSize {
    /// Files.
    pub files: u64,
    /// Lines.
    pub added: u64,
    /// Lines.
    pub removed: u64,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFate {
    /// It was not there before.
    Created,
    /// It is not there any more.
    Deleted,
    /// A command that deletes files that nobody may have kept named it.
    Dropped,
    /// It is as it was in the last commit.
    Restored,
}

/// What a diff was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tree {
    /// The working tree.
    Work,
    /// What the next commit would hold.
    Staged,
    /// The last commit.
    Last,
}

/// How far a pull request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullRequestState {
    /// Open, and not to be merged yet.
    Draft,
    /// Open.
    Open,
    /// Merged.
    Merged,
    /// Closed without that.
    Closed,
}

impl PullRequestState {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            PullRequestState::Draft => "draft",
            PullRequestState::Open => "open",
            PullRequestState::Merged => "merged",
            PullRequestState::Closed => "closed",
        }
    }
}

/// The key of calls that change a file.
pub fn file_key(path: &str) -> u32 {
    xxh3_64(path.as_bytes()) as u32
}

/// The numbers of a test run, as its runner printed them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCounts {
    /// The runner: `pytest`, `cargo test`, …
    pub runner: String,
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests that were skipped.
    pub skipped: u64,
    /// Names of failed ones, the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// What its output says of each that failed, where that is no word on the code: `operation not permitted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Something that the runner printed is missing: the numbers are lower bounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The numbers are of packages, not of tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub packages: bool,
}

/// A task of a to-do list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its number, where later records name it by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its words; empty where the record has only its number.
    pub text: String,
    /// How far it is.
    pub state: TaskState,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Not begun.
    Open,
    /// Begun.
    Active,
    /// Done.
    Done,
    /// Taken off the list.
    Dropped,
}
